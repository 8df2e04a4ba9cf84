"""What the tests of the package share. They use the package as it is installed, from outside of the source tree."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any, Iterator

import pytest

import volvox

ROOT = pathlib.Path(__file__).resolve().parents[2]

GROUND = """<model name="ground"><static>true</static><link name="g"><collision name="c">
  <geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>"""


def world_text(inside: str, run: str = '<volvox:run duration="1" dt="1/60"/>') -> str:
    """A world with a ground."""
    return f"""<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="test">{run}{GROUND}{inside}</world></sdf>"""


def chain(behavior: str, count: int = 3, parameters: str = "") -> str:
    """SuperBots in a row."""
    return world_text(
        f'<volvox:population name="m" type="chain" robot="superbot" count="{count}" pose="0 0 0.05 0 0 0" from="back" to="front">'
        f'<volvox:mind behavior="{behavior}">{parameters}</volvox:mind></volvox:population>'
    )


def command(*words: str, cwd: Any = None) -> subprocess.CompletedProcess[str]:
    """Runs `python -m volvox`."""
    return subprocess.run([sys.executable, "-m", "volvox", *words], capture_output=True, text=True, timeout=300, cwd=cwd)


def command_json(*words: str, cwd: Any = None) -> dict[str, Any]:
    """What `volvox ... --json` prints."""
    done = command(*words, "--json", "--quiet", cwd=cwd)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture
def snake() -> Iterator[volvox.World]:
    """Five SuperBots in a snake."""
    with volvox.load("remod3d/snake", settings={"modules": 5}) as world:
        yield world
