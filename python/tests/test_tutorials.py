"""The tutorials (docs/tutorials): every block is executed, in order, in one folder; docs/site/README.md says how."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Iterator, NamedTuple

import pytest
from conftest import ROOT, command

PAGES = sorted((ROOT / "docs/tutorials").glob("[0-9]*.md"))
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PREFIX = ROOT / "build/python/prefix"  # where cmake/python_tests has installed Volvox


class Block(NamedTuple):
    language: str
    file: str
    code: str
    line: int


def blocks(page: pathlib.Path) -> Iterator[Block]:
    text = page.read_text()
    for found in BLOCK.finditer(text):
        yield Block(found[1], found[2] or "", found[3], text.count("\n", 0, found.start()) + 1)


def run(block: Block, folder: pathlib.Path) -> str:
    binaries = str(pathlib.Path(sys.executable).parent)
    environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ["PATH"], PREFIX=str(PREFIX))
    words = [sys.executable, "-c", block.code] if block.language == "python" else ["bash", "-e", "-o", "pipefail", "-c", block.code]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=300, env=environment)
    assert done.returncode == 0, f"line {block.line}: {done.stdout}{done.stderr}"
    return done.stdout


def test_there_are_tutorials() -> None:
    assert len(PAGES) >= 12


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_tutorial(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if "cmake" in page.read_text() and not PREFIX.is_dir():
        pytest.skip("Volvox is not installed in build/python/prefix: cmake/python_tests does it")
    if "gymnasium" in page.read_text():
        pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    expected = 0
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.code)
        elif block.language in ("python", "sh"):
            printed = run(block, tmp_path)
            for line in re.findall(r"#> (.*)", block.code):
                assert line in printed, f"line {block.line}: '{line}' is not in what it printed:\n{printed}"
                expected += 1
    assert expected > 0, "a tutorial says what it prints"


def test_the_cpp_of_the_readme_runs(tmp_path: pathlib.Path) -> None:
    """In the project that `volvox new behavior my_walk` makes, as the README says."""
    if not PREFIX.is_dir() or not (shutil.which("g++") or shutil.which("c++")) or not shutil.which("cmake"):
        pytest.skip("there is no compiler or CMake, or Volvox is not installed in build/python/prefix")
    (program,) = [found[3] for found in BLOCK.finditer((ROOT / "README.md").read_text()) if found[1] == "cpp"]
    assert command("new", "behavior", "my_walk", cwd=tmp_path).returncode == 0
    source = tmp_path / "my_walk/my_walk.cpp"
    made = source.read_text()
    source.write_text(made[: made.index("class MyWalk")] + program + made[made.index("int main") :])

    def run(*words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path / "my_walk", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    run("cmake", "--build", "build")
    reports = [json.loads(run("build/my_walk", "run", "world.sdf", "--duration", "2", "--json", "--quiet", "--threads", n)) for n in ("1", "2")]
    assert reports[0]["state_hash"] == reports[1]["state_hash"]
    assert reports[0]["metrics"]["messages_sent"] > 100, "all tell their neighbours"
