"""The tutorials (docs/tutorials): every block is executed, in order, in one folder; docs/site/README.md says how."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Iterator, NamedTuple

import pytest
from conftest import ROOT

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


def test_the_cpp_of_the_readme_compiles(tmp_path: pathlib.Path) -> None:
    compiler = shutil.which("g++") or shutil.which("c++")
    if not PREFIX.is_dir() or compiler is None:
        pytest.skip("there is no compiler, or Volvox is not installed in build/python/prefix")
    programs = [found[3] for found in BLOCK.finditer((ROOT / "README.md").read_text()) if found[1] == "cpp"]
    assert programs
    for program in programs:
        (tmp_path / "readme.cpp").write_text(program)
        words = [compiler, "-std=c++20", "-fsyntax-only", f"-I{PREFIX}/include", "readme.cpp"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stderr
