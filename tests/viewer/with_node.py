"""Runs a test written for Node.js. If something is missing, says what and skips the test (status 77).

with_node.py SCRIPT VOLVOX [needed package of web/node_modules]... [--chromium]"""
import os
import pathlib
import shutil
import sys

script, program, *needed = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parent.parent.parent


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


if not shutil.which("node"):
    skip("Node.js is not installed (apt-get install nodejs npm)")
environment = {**os.environ, "VOLVOX": os.path.abspath(program), "VOLVOX_ROOT": str(root)}
if "--chromium" in needed:
    chromium = shutil.which("chromium")
    if not chromium:
        skip("Chromium is not installed (apt-get install --no-install-recommends chromium)")
    environment["CHROMIUM"] = chromium
    if not (root / "web/dist/index.html").exists():
        skip("the viewer has not been built: npm --prefix web ci && npm --prefix web run build")
for package in needed:
    if package != "--chromium" and not (root / "web/node_modules" / package / "package.json").exists():
        skip(f"{package} is not installed: npm --prefix web ci")
os.execvpe("node", ["node", "--test", "--test-reporter=spec", str(pathlib.Path(script).resolve())], environment)
