"""What worlds and robots in code share: elements of SDF, and the file of them."""

from __future__ import annotations

import functools
import math
import os
import pathlib
import struct
import xml.etree.ElementTree as ET
import zlib
from fractions import Fraction
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, Union, cast

import numpy as np
import numpy.typing as npt

from ._arguments import suggestion
from ._files import replace_file
from .errors import InputError

_URI = "https://volvox.sim/sdf"
_FILES = ("uri", "filename")  # elements whose text is a file
ET.register_namespace("volvox", _URI)

Numbers = Sequence[float]
PathLike = Union[str, "os.PathLike[str]"]


def _ours(tag: str) -> str:
    return f"{{{_URI}}}{tag}"


def _text(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise InputError(f"{value} is not a finite number; give one that is")
        return repr(float(value))
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, (Sequence, np.ndarray)):
        return " ".join(_text(each) for each in value)
    raise InputError(f"{value!r} is neither a number, a text nor a list of numbers; give one of them")


def _vector(values: Numbers, length: int, what: str) -> str:
    if isinstance(values, str) or len(values) != length:
        raise InputError(f"{what} is {values!r}; give {length} numbers")
    return _text(values)


def _pose(values: Optional[Numbers]) -> Optional[str]:
    if values is None:
        return None
    return _vector([*values, 0.0, 0.0, 0.0] if len(values) == 3 else values, 6, "a pose (x, y, z in m, roll, pitch, yaw in rad)")


def _put(parent: ET.Element, tag: str, text: Optional[object] = None, **attributes: object) -> ET.Element:
    element = ET.SubElement(parent, tag)
    for name, value in attributes.items():
        if value is not None:
            element.set(name.rstrip("_"), _text(value))
    if text is not None:
        element.text = _text(text)
    return element


def _name_is_good(name: str) -> str:
    if not isinstance(name, str) or not name or any(c in name for c in " .\t\n\"'<>&"):
        raise InputError(f"'{name}' cannot be a name; give letters, digits and _, without blanks and dots")
    return name


def _robot_name(name: str) -> str:
    if name == "world":  # SDF keeps this name for itself, and load() writes world.sdf
        raise InputError("a robot cannot be named 'world'; give another name")
    return _name_is_good(name)


def _geometry(parent: ET.Element, shape: str, size: Union[float, Numbers]) -> None:
    """A shape of SDF. size, in m: of a box x, y, z; of a sphere the radius; of a cylinder or capsule radius, length."""
    lengths = [float(each) for each in (size if isinstance(size, (Sequence, np.ndarray)) else [size])]
    wanted = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}
    if shape not in wanted:
        raise InputError(f"there is no shape '{shape}'; {suggestion(shape, list(wanted))}")
    if len(lengths) != wanted[shape] or not all(0 < each < math.inf for each in lengths):
        raise InputError(f"the size of a {shape} is {size!r}; give {wanted[shape]} positive number(s), in m")
    made = _put(_put(parent, "geometry"), shape)
    if shape == "box":
        _put(made, "size", lengths)
    else:
        _put(made, "radius", lengths[0])
        if len(lengths) == 2:
            _put(made, "length", lengths[1])


def _moments(shape: str, size: Union[float, Numbers], mass: float) -> tuple[float, float, float]:
    """About the axes of a solid shape of even density, kg m^2."""
    lengths = [float(each) for each in (size if isinstance(size, (Sequence, np.ndarray)) else [size])]
    if shape == "box":
        x, y, z = lengths
        return mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12
    if shape == "sphere":
        return (0.4 * mass * lengths[0] ** 2,) * 3
    r, length = lengths
    if shape == "cylinder":
        across = mass * (3 * r * r + length * length) / 12
        return across, across, mass * r * r / 2
    tube, ball = math.pi * r * r * length, 4 / 3 * math.pi * r**3  # a capsule: a cylinder and two halves of a sphere
    m, b = mass * tube / (tube + ball), mass * ball / (tube + ball)
    across = m * (3 * r * r + length * length) / 12 + b * (0.4 * r * r + length * length / 4 + 3 / 8 * r * length)
    return across, across, m * r * r / 2 + 0.4 * b * r * r


def _look(parent: ET.Element, color: Optional[Numbers]) -> None:
    if color is not None:
        _put(_put(parent, "material"), "diffuse", _vector([*color, 1.0] if len(color) == 3 else color, 4, "a color (0 to 1)"))


def _mind(parent: ET.Element, behavior: Optional[str], parameters: Optional[Mapping[str, object]]) -> None:
    if behavior is None:
        if parameters:
            raise InputError("parameters are those of a behavior; give behavior=, too")
        return
    mind = _put(parent, _ours("mind"), behavior=behavior)
    for name, value in (parameters or {}).items():
        _put(mind, _ours("parameter"), name=name, value=value)


def _png(levels: npt.NDArray[np.uint16]) -> bytes:
    """A grayscale picture of 16 bits."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = levels.astype(">u2")
    body = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", levels.shape[1], levels.shape[0], 16, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(body, 6)) + chunk(b"IEND", b"")


def _parse(text: str, file: str) -> ET.Element:
    try:
        return ET.fromstring(text)
    except ET.ParseError as error:
        line = error.position[0]
        raise InputError(f"{file}:{line}: this is not XML: {error}", [(file, line, str(error), "mend the file")]) from None


def _read_utf8(file: pathlib.Path) -> str:
    """The parser of XML takes no other bytes, and what stood for them would be saved in their place."""
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} (0x{content[error.start]:02x}) is not UTF-8"
        raise InputError(f"{file}:{line}: {what}: only UTF-8 can be changed; load() takes the file as it is", [(str(file), line, what, "write the file as UTF-8")]) from None


def _anchor(root: ET.Element, folder: pathlib.Path) -> None:
    """Files that are named relative to `folder` get their whole path, so that the SDF can be written elsewhere."""

    def whole(path: str) -> str:
        there = folder / path
        return str(there.resolve()) if path and "://" not in path and "${" not in path and there.exists() else path

    for element in root.iter():
        if element.tag in _FILES and element.text:
            element.text = whole(element.text.strip())
        for name in ("robot", "mesh", "filename"):
            value = element.get(name)
            if value and (name != "robot" or value.endswith((".sdf", ".urdf"))):
                element.set(name, whole(value))


Method = TypeVar("Method", bound=Callable[..., Any])


def _whole(method: Method) -> Method:
    """What is refused changes nothing: takes back what the call has added to the world or robot, and to its files. What
    changes an element that was there before checks all first: a copy of the tree at every call would cost too much."""

    @functools.wraps(method)
    def guarded(self: Any, *arguments: Any, **named: Any) -> Any:
        before, files = list(self._top), dict(self._files)
        try:
            return method(self, *arguments, **named)
        except BaseException:
            self._top[:] = before
            self._files = files
            raise

    return cast(Method, guarded)


class _Spec:
    """What worlds and robots share: a tree of SDF, and the files that go with it."""

    _kind = "world"

    def __init__(self, root: ET.Element) -> None:
        self.root = root
        """The whole file, as xml.etree.ElementTree: for what has no method here."""
        found = root if root.tag == self._kind else root.find(self._kind)
        if found is None:
            raise InputError(f"there is no <{self._kind}> in this SDF; give a file with one")
        self._top = found
        self._files: dict[str, Union[str, bytes]] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._top.get("name", "")

    def sdf(self) -> str:
        """As SDF. Robots and terrains that were made in code are files beside it: save() writes all."""
        ET.indent(self.root)
        return '<?xml version="1.0"?>\n' + ET.tostring(self.root, encoding="unicode") + "\n"

    def save(self, file: PathLike, *, overwrite: bool = False) -> pathlib.Path:
        """Writes FILE.sdf, and beside it the files that it needs: NAME.sdf of a robot, NAME.png of a terrain. If there are
        other files of these names, nothing is written; overwrite: they are replaced. `volvox run FILE.sdf` runs a world."""
        path = pathlib.Path(file)
        if path.name in self._files:
            raise InputError(f"{path.name} is the file of a robot or terrain beside this world; save the world by another name")
        beside = {path.parent / name: content.encode() if isinstance(content, str) else content for name, content in self._files.items()}
        for there, content in beside.items():
            if not overwrite and there.exists() and not (there.is_file() and there.read_bytes() == content):
                raise InputError(f"there is another {there} already; save to another folder, or give overwrite=True")
        path.parent.mkdir(parents=True, exist_ok=True)
        for there, content in beside.items():
            replace_file(there, content)
        replace_file(path, self.sdf().encode(errors="surrogateescape"))
        return path

    def __repr__(self) -> str:
        return f"<volvox.{type(self).__name__} {self.name}>"
