"""Worlds and robots in code: build them, or read a file and change it. What is made is SDF, checked when it is loaded."""

from __future__ import annotations

import functools
import math
import os
import pathlib
import struct
import xml.etree.ElementTree as ET
import zlib
from fractions import Fraction
from typing import Any, Callable, Iterable, Literal, Mapping, Optional, Sequence, TypeVar, Union, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import suggestion, tick_length
from ._files import replace_file
from .errors import InputError

__all__ = ["RobotSpec", "WorldSpec"]

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
            raise InputError(f"{value} is not a finite number")
        return repr(float(value))
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, (Sequence, np.ndarray)):
        return " ".join(_text(each) for each in value)
    raise InputError(f"{value!r} is neither a number, a text nor a list of numbers")


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
        raise InputError(f"'{name}' cannot be a name: give letters, digits and _, without blanks and dots")
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
            raise InputError("parameters are those of a behavior: give behavior=, too")
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


class RobotSpec(_Spec):
    """A robot (or an obstacle with joints) in code: links, joints, docks, sensors, a mind.

    ::

        cart = volvox.RobotSpec("cart")
        cart.add_link("body", "box", (0.1, 0.06, 0.03), mass=0.3)
        cart.add_link("wheel", "cylinder", (0.02, 0.01), mass=0.03, pose=(0, 0.04, 0, math.pi / 2, 0, 0))
        cart.add_joint("axle", "body", "wheel", axis=(0, 0, 1), effort=0.2, velocity=10, motor=(0, 0.1))
        cart.add_dock("front", "body", (0.05, 0, 0), kind="cart")

    SI units, rad; poses are x, y, z, roll, pitch, yaw. What is wrong is said by volvox.load(), with its line.
    """

    _kind = "model"

    def __init__(self, name: str, *, static: bool = False, self_collide: bool = False) -> None:
        root = ET.Element("sdf", version="1.9")
        model = _put(root, "model", name=_robot_name(name))
        if static:
            _put(model, "static", True)
        if self_collide:
            _put(model, "self_collide", True)
        super().__init__(root)

    @classmethod
    def read(cls, robot: PathLike) -> RobotSpec:
        """A robot of Volvox by its name ("superbot"), or an SDF file, to be changed."""
        file = pathlib.Path(_core.robot_file(os.fspath(robot)))
        if file.suffix != ".sdf":
            raise InputError(f"{file} is not SDF: only SDF can be changed; load() takes it as it is")
        spec = cls.__new__(cls)
        root = _parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
        _anchor(root, file.parent)
        _Spec.__init__(spec, root)
        return spec

    def _child(self, tag: str, name: str, key: str = "name") -> ET.Element:
        all_of = [each for each in self._top if each.tag == tag]
        for each in all_of:
            if each.get(key) == name:
                return each
        what = tag.rsplit("}", 1)[-1]
        raise InputError(f"'{self.name}' has no {what} '{name}'; {suggestion(name, [e.get(key, '') for e in all_of])}")

    @_whole
    def add_link(
        self,
        name: str,
        shape: str,
        size: Union[float, Numbers],
        *,
        mass: float,
        pose: Optional[Numbers] = None,
        inertia: Optional[Numbers] = None,
        friction: float = 0.7,
        color: Optional[Numbers] = None,
    ) -> None:
        """A rigid part of one shape: "box" (x, y, z), "sphere" (radius), "cylinder" or "capsule" (radius, length), m.

        mass in kg. inertia: ixx, iyy, izz in kg m^2; without it, that of the solid shape. add_shape() adds further ones.
        """
        if not (isinstance(mass, (int, float)) and 0 < mass < math.inf):
            raise InputError(f"the mass of '{name}' is {mass!r}; give kg, more than 0")
        link = _put(self._top, "link", name=_name_is_good(name))
        if pose is not None:
            _put(link, "pose", _pose(pose))
        inertial = _put(link, "inertial")
        self.add_shape(name, shape, size, friction=friction, color=color)
        _put(inertial, "mass", mass)
        moments = _put(inertial, "inertia")
        given = _moments(shape, size, mass) if inertia is None else [float(each) for each in inertia]
        if len(given) != 3:
            raise InputError(f"the inertia of '{name}' is {inertia!r}; give ixx, iyy, izz in kg m^2")
        for axis, value in zip(("ixx", "iyy", "izz"), given):
            _put(moments, axis, value)

    @_whole
    def add_shape(
        self,
        link: str,
        shape: str,
        size: Union[float, Numbers],
        *,
        pose: Optional[Numbers] = None,
        friction: float = 0.7,
        color: Optional[Numbers] = None,
        seen_only: bool = False,
    ) -> None:
        """A further shape of a link, at `pose` in its frame. It adds no mass. seen_only: nothing touches it."""
        holder = self._child("link", link)
        count = len(holder.findall("visual"))
        made = ET.Element("link")  # added to the link once it is whole
        for tag in ("visual",) if seen_only else ("collision", "visual"):
            element = _put(made, tag, name=f"{shape}{count}")
            if pose is not None:
                _put(element, "pose", _pose(pose))
            _geometry(element, shape, size)
            if tag == "visual":
                _look(element, color)
            else:
                _put(_put(_put(_put(element, "surface"), "friction"), "ode"), "mu", friction)
        holder.extend(made)

    @_whole
    def add_joint(
        self,
        name: str,
        parent: str,
        child: str,
        type: Literal["revolute", "continuous", "prismatic", "fixed", "ball"] = "revolute",
        *,
        axis: Numbers = (0, 0, 1),
        pose: Optional[Numbers] = None,
        lower: Optional[float] = None,
        upper: Optional[float] = None,
        effort: Optional[float] = None,
        velocity: Optional[float] = None,
        damping: Optional[float] = None,
        friction: Optional[float] = None,
        motor: Optional[tuple[float, float]] = None,
    ) -> None:
        """Connects two links ("world" as the parent holds the robot in place). The axis is in the frame of the joint, which
        is that of the child, moved by `pose`.

        lower, upper: rad or m. effort: N m or N. velocity: rad/s or m/s. motor: kp, kd of its servo; kp = 0: velocity only.
        """
        for link in {parent, child} - {"world"}:
            self._child("link", link)
        joint = _put(self._top, "joint", name=_name_is_good(name), type=type)
        if pose is not None:
            _put(joint, "pose", _pose(pose))
        _put(joint, "parent", parent)
        _put(joint, "child", child)
        if type not in ("fixed", "ball"):
            holder = _put(joint, "axis")
            _put(holder, "xyz", _vector(axis, 3, "an axis"))
            limits = {"lower": lower, "upper": upper, "effort": effort, "velocity": velocity}
            if any(value is not None for value in limits.values()):
                limit = _put(holder, "limit")
                for tag, value in limits.items():
                    if value is not None:
                        _put(limit, tag, value)
            if damping is not None or friction is not None:
                dynamics = _put(holder, "dynamics")
                for tag, value in (("damping", damping), ("friction", friction)):
                    if value is not None:
                        _put(dynamics, tag, value)
        if motor is not None:
            _put(self._top, _ours("motor"), joint=name, kp=motor[0], kd=motor[1])

    @_whole
    def add_dock(self, name: str, link: str, pose: Numbers = (0, 0, 0), **attributes: object) -> None:
        """A dock, whose x axis points out of the robot. attributes: those of <volvox:dock> (docs/formats.md), such as
        kind, gender, symmetry, capture_distance (m), latch_time (s), axial, shear (N), bending, torsion (N m)."""
        self._child("link", link)
        _put(self._top, _ours("dock"), name=_name_is_good(name), link=link, pose=_pose(pose), **attributes)

    def change_dock(self, name: str, **attributes: object) -> None:
        """Changes attributes of a dock; None removes one."""
        dock = self._child(_ours("dock"), name)
        texts = {key: None if value is None else _text(value) for key, value in attributes.items()}
        for key, text in texts.items():
            if text is None:
                dock.attrib.pop(key, None)
            else:
                dock.set(key, text)

    @_whole
    def add_sensor(self, name: str, type: str, link: str, pose: Numbers = (0, 0, 0), **attributes: object) -> None:
        """A sensor of Volvox: range, camera, accelerometer, ... with its parameters (docs/formats.md)."""
        self._child("link", link)
        _put(self._top, _ours("sensor"), name=_name_is_good(name), type=type, link=link, pose=_pose(pose), **attributes)

    @_whole
    def set_mind(self, behavior: str, **parameters: object) -> None:
        """The behavior of modules of this robot, unless their world gives them another. A robot with a mind is a module."""
        for mind in self._top.findall(_ours("mind")):
            self._top.remove(mind)
        _mind(self._top, behavior, parameters)

    def remove(self, name: str) -> None:
        """Takes a link, joint, dock or sensor away, and the motors of that joint."""
        found = [each for each in self._top if each.get("name") == name or each.get("joint") == name]
        if not found:
            raise InputError(f"'{self.name}' has no '{name}'; {suggestion(name, [e.get('name', '') for e in self._top if e.get('name')])}")
        for each in found:
            self._top.remove(each)


Robot = Union[str, RobotSpec]


class WorldSpec(_Spec):
    """A world in code, which volvox.load() takes.

    ::

        spec = volvox.WorldSpec("two snakes")
        spec.add_ground()
        for i in range(2):
            spec.add_population(f"s{i}_", "superbot", count=5, pose=(0, 0.3 * i, 0.0425), from_="back", to="front",
                                behavior="snake")
        spec.add_box("step", (0.2, 1, 0.02), pose=(0.8, 0.15, 0.01))
        world = volvox.load(spec)

    WorldSpec.read() begins with an experiment or a file. SI units, rad; poses are x, y, z, roll, pitch, yaw.
    """

    def __init__(
        self,
        name: str = "volvox",
        *,
        gravity: Numbers = (0, 0, -9.81),
        duration: float = 20.0,
        dt: Union[str, float, Fraction] = "1/60",
        engine: Optional[str] = None,
    ) -> None:
        if not name or name == "world":  # SDF keeps this name for itself
            raise InputError(f"a world cannot be named '{name}'; give another name")
        root = ET.Element("sdf", version="1.9")
        world = _put(root, "world", name=name)
        _put(world, "gravity", _vector(gravity, 3, "the gravity"))
        _put(world, _ours("run"), duration=duration, dt=tick_length(dt), engine=engine)
        super().__init__(root)

    @classmethod
    def read(cls, world: PathLike) -> WorldSpec:
        """An experiment by its name, an SDF file, or SDF as text. Settings (`${modules}`) stay: load() sets them. An
        experiment that is written in C++ loses what its class does: scripts and metrics."""
        text = os.fspath(world)
        where = "the text"
        folder = pathlib.Path.cwd()
        if not text.lstrip().startswith("<"):
            where = _core.experiment_file(text)
            if not where:
                raise InputError(f"'{text}' makes its world in C++, and has no SDF that could be changed")
            if not where.endswith(".sdf"):
                raise InputError(f"{where} is not SDF: only SDF can be changed; load() takes it as it is")
            folder = pathlib.Path(where).parent
            text = pathlib.Path(where).read_text(encoding="utf-8", errors="replace")
        root = _parse(text.lstrip(), where)
        _anchor(root, folder)
        spec = cls.__new__(cls)
        _Spec.__init__(spec, root)
        return spec

    # --- What is there -----------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Of modules, populations, models and included robots."""
        return [self._name_of(each) for each in self._things()]

    def _things(self) -> Iterable[ET.Element]:
        tags = {_ours("module"), _ours("population"), "model", "include"}
        return [each for each in self._top if each.tag in tags]

    @staticmethod
    def _name_of(element: ET.Element) -> str:
        return element.get("name") or element.findtext("name") or (element.findtext("uri") or "").rsplit("/", 1)[-1]

    def find(self, name: str) -> ET.Element:
        """The element of a module, population or model, for what has no method here."""
        for each in self._things():
            if self._name_of(each) == name:
                return each
        raise InputError(f"there is no '{name}' in this world; {suggestion(name, self.names)}")

    def _new(self, name: str) -> str:
        if name in self.names:
            raise InputError(f"there is a '{name}' already; give another name, or remove() it first")
        return _name_is_good(name)

    def _robot(self, robot: Robot) -> str:
        if not isinstance(robot, RobotSpec):
            return robot
        file = f"{_robot_name(robot.name)}.sdf"
        text = robot.sdf()
        if self._files.get(file, text) != text:
            raise InputError(f"two robots are named '{robot.name}': give one another name")
        self._files[file] = text
        return file

    # --- Robots ------------------------------------------------------------------------------

    @_whole
    def add_module(
        self,
        name: str,
        robot: Robot,
        *,
        pose: Optional[Numbers] = None,
        velocity: Optional[Numbers] = None,
        joints: Optional[Mapping[str, float]] = None,
        behavior: Optional[str] = None,
        parameters: Optional[Mapping[str, object]] = None,
    ) -> None:
        """One robot: a name ("superbot"), a file or a RobotSpec. Without a pose, a connection gives it. joints: positions at
        the start, rad or m. velocity: linear and angular. behavior and its parameters: else those of the robot."""
        made = _put(self._top, _ours("module"), name=self._new(name), robot=self._robot(robot), pose=_pose(pose))
        self._fill(made, velocity, joints, behavior, parameters)

    @_whole
    def add_population(
        self,
        name: str,
        robot: Robot,
        *,
        type: Literal["chain", "ring", "grid", "lattice"] = "chain",
        pose: Numbers = (0, 0, 0),
        velocity: Optional[Numbers] = None,
        joints: Optional[Mapping[str, float]] = None,
        behavior: Optional[str] = None,
        parameters: Optional[Mapping[str, object]] = None,
        **attributes: object,
    ) -> None:
        """Many robots, named NAME0, NAME1, ... Chains and rings take count, from_, to and turn; grids and lattices count_x,
        count_y, count_z, spacing_x, spacing_y, spacing_z (m), jitter (m), random_yaw and seed."""
        made = _put(
            self._top, _ours("population"), name=self._new(name), type=type, robot=self._robot(robot), pose=_pose(pose), **attributes
        )
        self._fill(made, velocity, joints, behavior, parameters)

    @staticmethod
    def _fill(
        made: ET.Element,
        velocity: Optional[Numbers],
        joints: Optional[Mapping[str, float]],
        behavior: Optional[str],
        parameters: Optional[Mapping[str, object]],
    ) -> None:
        if velocity is not None:
            made.set("velocity", _vector(velocity, 6, "a velocity (m/s, rad/s)"))
        for joint, position in (joints or {}).items():
            _put(made, _ours("joint"), name=joint, position=position)
        _mind(made, behavior, parameters)

    @_whole
    def connect(self, from_: str, to: str, *, turn: int = 0) -> None:
        """Engages two docks, "a.front" and "b.back": the module that has no pose gets it from the other."""
        for dock in (from_, to):
            if dock.count(".") != 1:
                raise InputError(f"'{dock}' is not a dock: give MODULE.DOCK")
        _put(self._top, _ours("connect"), from_=from_, to=to, turn=turn)

    # --- Surroundings ------------------------------------------------------------------------

    @_whole
    def add_ground(self, *, friction: float = 0.7, name: str = "ground") -> None:
        """A plane at z = 0."""
        collision = self._obstacle(name, None, None)
        _put(_put(_put(collision, "geometry"), "plane"), "normal", (0, 0, 1))
        self._rub(collision, friction)

    @_whole
    def add_box(
        self,
        name: str,
        size: Numbers,
        *,
        pose: Numbers = (0, 0, 0),
        mass: Optional[float] = None,
        friction: float = 0.7,
        color: Optional[Numbers] = None,
    ) -> None:
        """A box of x, y, z m around its pose. With a mass (kg) it moves; without one it is fixed."""
        self._add_shape(name, "box", size, pose, mass, friction, color)

    @_whole
    def add_sphere(
        self,
        name: str,
        radius: float,
        *,
        pose: Numbers = (0, 0, 0),
        mass: Optional[float] = None,
        friction: float = 0.7,
        color: Optional[Numbers] = None,
    ) -> None:
        """A sphere. With a mass (kg) it moves; without one it is fixed."""
        self._add_shape(name, "sphere", radius, pose, mass, friction, color)

    @_whole
    def add_cylinder(
        self,
        name: str,
        radius: float,
        length: float,
        *,
        pose: Numbers = (0, 0, 0),
        mass: Optional[float] = None,
        friction: float = 0.7,
        color: Optional[Numbers] = None,
    ) -> None:
        """A cylinder about its z axis. With a mass (kg) it moves; without one it is fixed."""
        self._add_shape(name, "cylinder", (radius, length), pose, mass, friction, color)

    def _add_shape(
        self,
        name: str,
        shape: str,
        size: Union[float, Numbers],
        pose: Numbers,
        mass: Optional[float],
        friction: float,
        color: Optional[Numbers],
    ) -> None:
        robot = RobotSpec(self._new(name), static=mass is None)
        robot.add_link("body", shape, size, mass=1.0 if mass is None else mass, friction=friction, color=color)
        self.add_model(robot, pose=pose)

    @_whole
    def add_mesh(
        self, name: str, file: PathLike, *, pose: Numbers = (0, 0, 0), scale: float = 1.0, friction: float = 0.7, color: Optional[Numbers] = None
    ) -> None:
        """A fixed obstacle from an OBJ, STL, PLY, OFF, DAE or glTF file."""
        path = pathlib.Path(file).resolve()
        if not path.exists():
            raise InputError(f"there is no file {path}")
        for element in self._obstacle(name, pose, color, seen=True):
            made = _put(_put(element, "geometry"), "mesh")
            _put(made, "uri", str(path))
            _put(made, "scale", (scale, scale, scale))
            if element.tag == "collision":
                self._rub(element, friction)

    @_whole
    def add_terrain(
        self,
        name: str,
        heights: npt.ArrayLike,
        size: Numbers,
        *,
        pose: Numbers = (0, 0, 0),
        friction: float = 0.7,
        color: Optional[Numbers] = None,
    ) -> None:
        """A terrain of (rows, columns) heights in m, over size = x, y m around the pose: heights[0, 0] is at the smallest x
        and y, columns go along x. Heights are kept to 1/65535 of their range."""
        field = np.asarray(heights, dtype=np.float64)
        if field.ndim != 2 or min(field.shape) < 2 or not np.isfinite(field).all():
            raise InputError(f"heights has the shape {field.shape}; give at least 2 x 2 finite numbers, in m")
        if len(size) != 2 or not all(0 < each < math.inf for each in size):
            raise InputError(f"the size of a terrain is {size!r}; give x and y in m")
        low, range_ = float(field.min()), float(np.ptp(field)) or 1.0
        file = f"{self._new(name)}.png"
        # White is 65535 in the file, and the image's top is at the largest y.
        self._files[file] = _png(np.rint((field - low) / range_ * 65535).astype(np.uint16)[::-1])
        for element in self._obstacle(name, pose, color, seen=True):
            made = _put(_put(element, "geometry"), "heightmap")
            _put(made, "uri", file)
            _put(made, "size", (*size, range_))
            _put(made, "pos", (0, 0, low))
            if element.tag == "collision":
                self._rub(element, friction)

    @_whole
    def add_model(self, robot: RobotSpec, *, pose: Numbers = (0, 0, 0)) -> None:
        """A RobotSpec as part of this file, by its own name: obstacles with joints or docks."""
        model = ET.fromstring(ET.tostring(robot._top))
        model.set("name", self._new(robot.name))
        at = model.find("pose")
        if at is None:
            at = ET.Element("pose")
            model.insert(0, at)
        at.text = _pose(pose)
        self._top.append(model)

    def _obstacle(self, name: str, pose: Optional[Numbers], color: Optional[Numbers], *, seen: bool = False) -> Any:
        model = _put(self._top, "model", name=self._new(name))
        _put(model, "static", True)
        if pose is not None:
            _put(model, "pose", _pose(pose))
        link = _put(model, "link", name="body")
        collision = _put(link, "collision", name="shape")
        if not seen:
            return collision
        visual = _put(link, "visual", name="shape")
        _look(visual, color)
        return [collision, visual]

    @staticmethod
    def _rub(collision: ET.Element, friction: float) -> None:
        _put(_put(_put(_put(collision, "surface"), "friction"), "ode"), "mu", friction)

    # --- Changes -----------------------------------------------------------------------------

    @_whole
    def add_setting(self, name: str, value: object, description: str = "", **limits: object) -> None:
        """A setting that load(settings=...) changes; ${NAME} in any text stands for it. limits: min, max, whole, choices."""
        parameter = ET.Element(_ours("parameter"), {"name": name, "value": _text(value)})
        parameter.attrib.update({key: _text(limit) for key, limit in limits.items()})
        parameter.text = description or name
        self._top.insert(0, parameter)

    @_whole
    def add_extension(self, name: str, **attributes: object) -> None:
        """An extension around the run, of Volvox or of a plugin: "joystick", "socket", "ros2", ... (docs/real_time.md)."""
        _put(self._top, _ours("extension"), name=name, **attributes)

    @_whole
    def add_plugin(self, file: PathLike, extension: str = "", **parameters: object) -> None:
        """Loads a plugin with the world (docs/plugins.md): its behaviors, sensors and engines are then known; with the name
        of an extension, that one is started with the parameters. ROS 2: add_plugin("volvox_ros2", "ros2", rate=50)."""
        plugin = _put(self._top, "plugin", filename=os.fspath(file), name=extension or pathlib.Path(file).stem)
        for key, value in parameters.items():
            _put(plugin, key, value)

    def change(self, name: str, *, pose: Optional[Numbers] = None, robot: Optional[Robot] = None, **attributes: object) -> None:
        """Changes attributes of a module or population (count=8, from_="front"), or the pose of anything."""
        element = self.find(name)
        ours = element.tag in (_ours("module"), _ours("population"))
        if attributes and not ours:
            raise InputError(f"'{name}' is a <{element.tag}>: only its pose can be changed; for more, find('{name}')")
        where = _pose(pose)
        texts = {key.rstrip("_"): _text(value) for key, value in attributes.items()}
        if robot is not None:
            texts["robot"] = _text(self._robot(robot))  # the last that may be refused
        if where is not None and ours:
            element.set("pose", where)
        elif where is not None:
            at = element.find("pose")
            if at is None:
                at = ET.Element("pose")
                element.insert(0, at)
            at.text = where
        element.attrib.update(texts)

    @_whole
    def set_behavior(self, name: str, behavior: str, **parameters: object) -> None:
        """Gives a module or population another mind."""
        element = self.find(name)
        made = ET.Element("try")
        _mind(made, behavior, parameters)
        for mind in element.findall(_ours("mind")):
            element.remove(mind)
        element.extend(made)

    def remove(self, name: str) -> None:
        """Takes a module, population or model away, and the connections of its docks."""
        self._top.remove(self.find(name))
        for each in self._top.findall(_ours("connect")):
            if name in (each.get("from", "").split(".")[0], each.get("to", "").split(".")[0]):
                self._top.remove(each)
