"""Installs Volvox into a temporary folder and uses it as another project would."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=600, **options)
    if done.returncode != 0:
        sys.exit(f"failed: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: expected that {what}")


def check_installed(prefix, folder):
    for file in ["bin/volvox", "share/man/man1/volvox.1", "share/bash-completion/completions/volvox",
                 "share/volvox/robots/superbot/superbot.sdf", "share/volvox/experiments/remod3d/snake/world.sdf",
                 "include/volvox/cli/cli.h", "share/doc/Volvox/LICENSE", "share/doc/Volvox/CITATION.cff", "share/doc/Volvox/README.md",
                 "share/doc/Volvox/docs/formats.md", "share/zsh/site-functions/_volvox", "share/fish/vendor_completions.d/volvox.fish"]:
        expect((prefix / file).is_file(), f"{file} is installed")
    expect(not list(prefix.glob("include/**/test/*")), "tests are not installed")
    volvox = prefix / "bin" / "volvox"
    for file, words in [("share/man/man1/volvox.1", ["help", "--man"]), ("share/bash-completion/completions/volvox", ["completion", "bash"])]:
        expect((prefix / file).read_text() == run(volvox, *words, cwd=folder), f"{file} is what volvox {' '.join(words)} prints")
    expect(str(prefix) in run(volvox, "info", "superbot", cwd=folder), "it finds the robots that were installed with it")
    listed = run(volvox, "list", "--names", cwd=folder).split()
    expect({"remod3d/snake", "remod3d/scatter", "superbot", "atron", "conro", "wheelbot"} <= set(listed), f"all is there: {listed}")
    report = json.loads(run(volvox, "run", "remod3d/snake", "--duration", "0.2", "--json", cwd=folder))
    expect(report["status"] == "done", "the installed command runs")
    return volvox


# Follows the instructions that `volvox new` prints.
def check_project(volvox, prefix, folder, kind):
    name = f"my_{kind}"
    said = run(volvox, "new", kind, name, cwd=folder)
    configure, build, command = re.findall(r"^  (cmake -B .*|cmake --build .*|\./build/.*)$", said, re.MULTILINE)
    project = folder / name
    # CMake looks for packages beside the folders of PATH: there it finds the installed one, and nothing half-made in the
    # folder of a build.
    path = f"{pathlib.Path(sys.argv[1]) / 'bin'}:{prefix / 'bin'}:{os.environ['PATH']}"
    run(*shlex.split(configure), "-G", "Ninja", cwd=project, env={**os.environ, "PATH": path})
    found = re.search(r"Volvox_DIR:PATH=(.*)", (project / "build" / "CMakeCache.txt").read_text()).group(1)
    expect(found.startswith(str(prefix)), f"the installed Volvox is taken, not {found}")
    built = run(*shlex.split(build), cwd=project)
    expect("warning" not in built, f"the new {kind} builds without a warning:\n{built}")
    report = json.loads(run(*shlex.split(command), "--duration", "1", "--json", cwd=project))
    expect(report["status"] == "done" and max(report["modules"], report["metrics"].get("messages", 0)) > 1, f"the new {kind} runs: {report}")
    again = json.loads(run(*shlex.split(command), "--duration", "1", "--threads", "2", "--json", cwd=project))
    expect(report["state_hash"] == again["state_hash"], f"the new {kind} is deterministic")
    run(*shlex.split(command), "--duration", "0.5", "--save", "half.snap", "--quiet", cwd=project)
    run(*shlex.split(command), "--restore", "half.snap", "--duration", "1", "--quiet", cwd=project)
    return report


def check_pkg_config(prefix, folder):
    (config,) = prefix.glob("lib*/**/volvox.pc")
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "volvox", env={**os.environ, "PKG_CONFIG_PATH": str(config.parent)}))
    (folder / "main.cpp").write_text('#include <volvox/base/math.h>\nint main() { return volvox::sin(0) == 0 ? 0 : 1; }\n')
    run("c++", "main.cpp", "-o", "main", *flags, f"-Wl,-rpath,{config.parent.parent}", cwd=folder)
    run(folder / "main")


# A plugin is a separate project, built only against the installed Volvox.
def check_plugin(volvox, prefix, folder):
    project = folder / "plugin"
    shutil.copytree(pathlib.Path(sys.argv[2]) / "examples" / "07_plugin", project)
    expect(len((project / "CMakeLists.txt").read_text().splitlines()) <= 20, "twenty lines of CMake are enough")
    run("cmake", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project)
    expect("warning" not in run("cmake", "--build", "build", cwd=project), "the plugin builds without a warning")
    environment = {**os.environ, "VOLVOX_PLUGIN_PATH": str(project / "build")}
    told = run(volvox, "info", "patrol", cwd=project, env=environment)
    done = subprocess.run([volvox, "run", "world.sdf", "--json"], cwd=project, env=environment, text=True, capture_output=True, timeout=120)
    expect("log book: 8 turns" in done.stderr and json.loads(done.stdout)["status"] == "done", f"the plugin runs: {done.stdout}{done.stderr}")
    again = json.loads(run(volvox, "run", "world.sdf", "--json", "--threads", "2", cwd=project, env=environment))
    expect(again["state_hash"] == json.loads(done.stdout)["state_hash"], "the plugin is deterministic")
    print(f"plugin: {re.search('loaded in .*', told).group()}")


with tempfile.TemporaryDirectory(prefix="volvox install ") as temporary:  # a space in the path must not matter
    folder = pathlib.Path(temporary)
    prefix = folder / "prefix"
    run("cmake", "--install", sys.argv[1], "--prefix", prefix)
    volvox = check_installed(prefix, folder)
    check_pkg_config(prefix, folder)
    check_plugin(volvox, prefix, folder)
    for kind in ["behavior", "robot", "codemodule", "experiment"]:
        report = check_project(volvox, prefix, folder, kind)
        print(f"{kind}: {report['modules']} modules, {report['ticks']} ticks, state {report['state_hash']}")
    expect(report["metrics"]["highest_m"] > 0.02, "the new experiment reports its metric")
