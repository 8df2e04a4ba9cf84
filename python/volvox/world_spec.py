"""Worlds in code: build one, or read a file and change it. What is made is SDF, checked when it is loaded."""

from __future__ import annotations

import math
import os
import pathlib
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Any, Iterable, Literal, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import suggestion, tick_length
from ._sdf import (
    Numbers,
    PathLike,
    _anchor,
    _look,
    _mind,
    _name_is_good,
    _ours,
    _parse,
    _png,
    _pose,
    _put,
    _read_utf8,
    _robot_name,
    _Spec,
    _text,
    _vector,
    _whole,
)
from .errors import InputError
from .robot_spec import RobotSpec

__all__ = ["WorldSpec"]

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
                raise InputError(f"'{text}' makes its world in C++, and has no SDF that could be changed; change its settings, or build a world with WorldSpec(NAME)")
            if not where.endswith(".sdf"):
                raise InputError(f"{where} is not SDF: only SDF can be changed; load() takes it as it is")
            folder = pathlib.Path(where).parent
            text = _read_utf8(pathlib.Path(where))
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
            raise InputError(f"two robots are named '{robot.name}'; give one another name")
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
                raise InputError(f"'{dock}' is not a dock; give MODULE.DOCK")
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
            raise InputError(f"there is no file {path}; give the path of a mesh")
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
