"""What load() takes beside SDF and URDF: xacro and MJCF."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Union

from ._arguments import warn
from .errors import InputError
from .world_spec import WorldSpec

__all__ = ["converted", "urdf_of_xacro"]

Source = Union[str, "os.PathLike[str]"]


def converted(source: Source) -> Union[str, WorldSpec]:
    """The same, or what can be loaded in its place: a world out of MJCF, URDF as text out of xacro."""
    text = os.fspath(source)
    if text.endswith(".xacro"):
        return urdf_of_xacro(text)
    if text.lstrip().startswith("<mujoco") or (text.endswith(".xml") and _is_mjcf(text)):
        from .mjcf import read_mjcf

        spec, left_out = read_mjcf(text)
        if left_out:
            name = "the MJCF" if text.lstrip().startswith("<") else text
            warn(f"{name} says what Volvox cannot: {'; '.join(left_out)}")
        return spec
    return text


def _is_mjcf(file: str) -> bool:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return re.search(r"<mujoco\b", opened.read(100_000)) is not None
    except OSError:
        return False  # the reader of SDF says what is wrong


# Files of xacro have Python in them, which may have no end (${9**9**9}) or take all memory: it is expanded in a process with limits.
_EXPAND = """
import sys
sys.path[:] = sys.argv[4:]
import json, resource
for what, limit in ((resource.RLIMIT_CPU, int(sys.argv[2])), (resource.RLIMIT_AS, int(sys.argv[3]))):
    resource.setrlimit(what, (limit, limit))
try:
    import xacro
    answer = {"text": xacro.process_file(sys.argv[1]).toxml()}
except Exception as error:  # of many kinds: its own, of the XML parser, of the Python within the file
    answer = {"reason": f"{type(error).__name__}: {error}"}
json.dump(answer, sys.stdout)
"""
_SECONDS, _BYTES = 20, 4 << 30


def _expanded(path: pathlib.Path) -> str:
    # -I, and our own places of modules without the current folder: a json.py beside a model is not to be run.
    here = os.getcwd()
    places = [place for place in sys.path if place and os.path.abspath(place) != here]
    words = [sys.executable, "-I", "-c", _EXPAND, str(path), str(_SECONDS), str(_BYTES), *places]
    try:
        # Waiting takes no processor time: a file that includes a pipe would never end.
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=3 * _SECONDS)
        answer = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        answer = {"reason": f"it takes more than {_SECONDS} s or {_BYTES >> 30} GB"}
    if "text" not in answer:
        reason = answer["reason"]
        raise InputError(f"{path}: xacro cannot read it: {reason}", [(str(path), 0, reason, "mend the file")])
    return str(answer["text"])


def urdf_of_xacro(file: Source) -> str:
    """URDF as text. Files that it names (meshes) get their whole path: beside the file, or in a package around it."""
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise InputError(f"there is no file {path}; give the path of a .xacro file")
    if importlib.util.find_spec("xacro") is None:
        raise InputError(f"{path.name} is xacro, which is not installed; run: pip install xacro")
    text = _expanded(path)

    def whole(match: re.Match[str]) -> str:
        name = match[2]
        if "://" not in name:
            there = path.parent / name
            return f'{match[1]}"{there}"' if there.exists() else match[0]
        if name.startswith("package://"):
            for folder in path.parents:
                there = folder / name.removeprefix("package://")
                if there.exists():
                    return f'{match[1]}"{there}"'
        return match[0]

    return re.sub(r'(filename=)"([^"]*)"', whole, text)
