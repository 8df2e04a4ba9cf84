"""The programs that READMEs and docs tell people to run are those that ./start builds."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
cmake = (root / "CMakeLists.txt").read_text()
built = set(re.search(r"set\(programs\s+([^)]*)\)", cmake).group(1).split()) | {"volvox"}
if not re.search(r"^build release volvox_command programs\b", (root / "start").read_text(), re.MULTILINE):
    sys.exit("./start does not build the target 'programs'")

pages = [*root.glob("*.md"), *root.glob("docs/*.md")]
for folder in ["bench", "experiments", "robots"]:
    pages += (root / folder).glob("**/README.md")
mistakes = []
for page in pages:
    for number, line in enumerate(page.read_text().splitlines(), 1):
        named = re.findall(r"build/release/bin/(\w+)", line) + re.findall(r"`(bench_\w+|net_bench|\w+_figures)\b", line)
        mistakes += [f"{page.relative_to(root)}:{number}: ./start does not build {name}" for name in named if name not in built]
declared = "".join(file.read_text() for folder in ["bench", "experiments"] for file in [*(root / folder).glob("*.txt"), *(root / folder).glob("*.cmake")])
mistakes += [f"CMakeLists.txt: no program is named {name}" for name in built - {"volvox"} if not re.search(rf"add_executable\({name}\b", declared)]
sys.exit("\n".join(mistakes) or 0)
