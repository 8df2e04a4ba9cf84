"""What load() takes beside SDF and URDF: xacro and MJCF."""

from __future__ import annotations

import os
import pathlib
import re
import warnings
from typing import Union

from .errors import InputError, VolvoxWarning
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
            warnings.warn(f"{name} says what Volvox cannot: {'; '.join(left_out)}", VolvoxWarning, stacklevel=3)
        return spec
    return text


def _is_mjcf(file: str) -> bool:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return re.search(r"<mujoco\b", opened.read(100_000)) is not None
    except OSError:
        return False  # the reader of SDF says what is wrong


def urdf_of_xacro(file: Source) -> str:
    """URDF as text. Files that it names (meshes) get their whole path: beside the file, or in a package around it."""
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        import xacro
    except ImportError:
        raise InputError(f"{path.name} is xacro, which is not installed; run: pip install xacro") from None
    try:
        text: str = xacro.process_file(str(path)).toxml()
    except Exception as error:  # of many kinds: its own, of the XML parser, of the Python within the file
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: xacro cannot read it: {reason}", [(str(path), 0, reason, "mend the file")]) from None

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
