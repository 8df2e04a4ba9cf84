"""The package itself: its command, its types, its pages."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, command

import volvox


def test_the_command_and_its_exit_status(tmp_path: pathlib.Path) -> None:
    version = command("--version")
    assert version.returncode == 0 and volvox.__version__ in version.stdout
    assert command("run", "no/such").returncode == 2
    assert "remod3d/snake" in command("list", "--names", cwd=tmp_path).stdout
    found = command("info", "superbot", cwd=tmp_path).stdout
    assert str(pathlib.Path(volvox.__file__).parent / "_native") in found, "it finds the robots of the wheel"
    script = shutil.which("volvox", path=str(pathlib.Path(sys.executable).parent))
    if script:
        assert subprocess.run([script, "run", "no/such"], capture_output=True).returncode == 2


def test_the_package_has_what_it_needs() -> None:
    inside = pathlib.Path(volvox.__file__).parent
    assert (inside / "py.typed").is_file()
    robots = {file.relative_to(ROOT / "robots") for file in (ROOT / "robots").glob("*/*.sdf")}
    missing = [robot for robot in robots if not (inside / "_native/share/volvox/robots" / robot).is_file()]
    assert len(robots) >= 8 and not missing, missing
    worlds = {file.relative_to(ROOT / "experiments") for file in (ROOT / "experiments").glob("*/*/world.sdf")}
    missing = [world for world in worlds if not (inside / "_native/share/volvox/experiments" / world).is_file()]
    assert len(worlds) >= 20 and not missing, missing
    assert (inside / "_native/share/doc/volvox/LICENSE").is_file()
    if (ROOT / "web/dist/index.html").is_file():
        assert (inside / "_native/share/volvox/web/dist/index.html").is_file()


def test_types(tmp_path: pathlib.Path) -> None:
    """mypy --strict over the package, and over a user's program with a mistake."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    for needed in ("gymnasium", "pettingzoo", "pandas"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    base = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*base, "--config-file", str(ROOT / "pyproject.toml"), "-p", "volvox"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    good = "import volvox\nworld = volvox.load('remod3d/snake')\nworld.step(3)\nx: float = world.poses.sum() + world.time\n"
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "bad.py").write_text(good + "world.step('three')\nworld.poses = 3\n")
    assert subprocess.run([*base, "good.py"], capture_output=True, cwd=tmp_path).returncode == 0
    wrong = subprocess.run([*base, "bad.py"], capture_output=True, text=True, cwd=tmp_path)
    assert wrong.returncode == 1 and wrong.stdout.count("bad.py:") >= 2


def test_everything_public_is_documented() -> None:
    missing = [name for name in volvox.__all__ if name != "__version__" and not getattr(volvox, name).__doc__]
    for owner in (volvox.World, volvox.Population, volvox.Recording, volvox.Behavior, volvox.Report):
        for name, member in vars(owner).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)) and not member.__doc__:
                missing.append(f"{owner.__name__}.{name}")
    assert not missing


def examples() -> list[tuple[str, str]]:
    found = []
    for page in ("README.md", "docs/python.md", "python/README.md"):
        for i, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)):
            found.append((f"{page}:{i}", code))
    return found


@pytest.mark.parametrize(("where", "code"), examples(), ids=[where for where, _ in examples()])
def test_the_examples_of_the_pages_run(where: str, code: str, tmp_path: pathlib.Path) -> None:
    for needed in ("gymnasium", "pettingzoo", "pandas"):
        if (needed in code or (needed == "gymnasium" and "volvox.envs" in code)) and importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    # What a page says is printed, is printed.
    for line in re.findall(r"#> (.*)", code):
        assert line in done.stdout
