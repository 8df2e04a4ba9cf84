"""Robots in code: build one, or read a file and change it. What is made is SDF, checked when it is loaded."""

from __future__ import annotations

import math
import os
import pathlib
import xml.etree.ElementTree as ET
from typing import Literal, Optional, Union

from . import _core
from ._arguments import suggestion
from ._sdf import (
    Numbers,
    PathLike,
    _anchor,
    _geometry,
    _look,
    _mind,
    _moments,
    _name_is_good,
    _ours,
    _parse,
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

__all__ = ["RobotSpec"]


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
        root = _parse(_read_utf8(file), str(file))
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
