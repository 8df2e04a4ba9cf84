"""SDF out: a world as plain SDF for Gazebo (gz-sim), without the elements of Volvox."""

from __future__ import annotations

import copy
import pathlib
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Optional

import numpy as np

from ._sdf import _URI, _anchor, _parse, _put
from .errors import InputError
from .mjcf import _matrix, _Pose
from .robot_spec import RobotSpec

if TYPE_CHECKING:
    from .world import World

__all__ = ["plain_sdf"]

_DETACHABLE = ("gz-sim-detachable-joint-system", "gz::sim::systems::DetachableJoint")
_SERVO = ("gz-sim-joint-position-controller-system", "gz::sim::systems::JointPositionController")


def plain_sdf(world: World) -> tuple[str, list[str]]:
    """The world as it is now, and what Gazebo's SDF cannot say. See World.sdf()."""
    return _Writer(world).write()


class _Writer:
    def __init__(self, world: World) -> None:
        self.world = world
        self.left_out: list[str] = []
        self.robots: dict[str, ET.Element] = {}
        self.root = ET.Element("sdf", version="1.9")
        name = pathlib.Path(world.experiment).stem
        self.top = _put(self.root, "world", name=name if name not in ("", "world") else "volvox")

    def leave_out(self, words: str) -> None:
        if words not in self.left_out:
            self.left_out.append(words)

    def write(self) -> tuple[str, list[str]]:
        world = self.world
        self.surroundings()
        for i, name in enumerate(world.module_names):
            self.module(i, name)
        self.docks()
        if world.particle_kind_names:
            self.leave_out("water, debris and cloth")
        if world.module_names:
            self.leave_out("minds: modules do nothing by themselves")
        if np.any(world.velocities[world.module_links]):
            self.leave_out("velocities: all begins at rest")
        ET.indent(self.root)
        text = ET.tostring(self.root, encoding="unicode")  # names may have bytes that are not UTF-8
        return '<?xml version="1.0"?>\n' + text.encode(errors="surrogateescape").decode(errors="replace") + "\n", self.left_out

    # --- Obstacles ---------------------------------------------------------------------------

    def surroundings(self) -> None:
        """Gravity, light and obstacles, as the world file has them, with the settings of the run."""
        file = self.world.file
        _put(_put(self.top, "physics", name="step", type="ignored"), "max_step_size", 0.001)
        inside: Optional[ET.Element] = None
        if file.endswith(".sdf"):
            text = pathlib.Path(file).read_text(encoding="utf-8", errors="replace")
            for name, value in self.world.settings.items():
                text = text.replace("${" + name + "}", value)
            root = _parse(text, file)
            _anchor(root, pathlib.Path(file).parent)
            inside = root.find("world")
        if inside is None:
            self.leave_out("obstacles: they are made in C++, or stand in no world file")
            return
        gravity = inside.find("gravity")
        if gravity is not None:
            self.top.append(gravity)
        modules = set(self.world.module_names)
        for model in inside.findall("model"):
            if model.get("name") in modules:
                continue
            if "${" in ET.tostring(model, encoding="unicode"):
                self.leave_out(f"the obstacle '{model.get('name')}', which is computed")
                continue
            self.top.append(self.plain(model))
        for include in inside.findall("include"):
            self.leave_out(f"the included model '{include.findtext('uri')}'")

    # --- Modules -----------------------------------------------------------------------------

    def robot(self, i: int, name: str) -> ET.Element:
        kind = self.world.module_models[i]
        if kind not in self.robots:
            try:
                self.robots[kind] = RobotSpec.read(kind)._top
            except InputError:
                own = self.own_model(name)
                if own is None:
                    raise InputError(f"the robot '{kind}' of '{name}' has no SDF file by its name; save the robot as a file, or leave it out") from None
                return own
        return self.robots[kind]

    def own_model(self, name: str) -> Optional[ET.Element]:
        """Of a module that stands in the world file, or in a file beside it."""
        file = pathlib.Path(self.world.file)
        if file.suffix != ".sdf":
            return None
        root = _parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
        _anchor(root, file.parent)
        for model in root.iter("model"):
            if model.get("name") == name:
                return model
        placed = [each for tag in ("module", "population") for each in root.iter(f"{{{_URI}}}{tag}")]
        for place in placed:  # members of a population have its name and a number
            beside, given = place.get("robot", ""), place.get("name", "")
            is_it = name == given or (place.tag.endswith("population") and re.fullmatch(re.escape(given) + r"[\d_]+", name) is not None)
            if is_it and beside.endswith(".sdf") and pathlib.Path(beside).exists():
                found = _parse(pathlib.Path(beside).read_text(encoding="utf-8", errors="replace"), beside)
                _anchor(found, pathlib.Path(beside).parent)
                return found.find("model")
        return None

    def module(self, i: int, name: str) -> None:
        world = self.world
        source = self.robot(i, name)
        motors = {each.get("joint", ""): each for each in source.findall(f"{{{_URI}}}motor")}
        model = self.plain(source)
        model.set("name", name)
        for pose in model.findall("pose"):
            model.remove(pose)
        for link in model.findall("link"):  # where they are now, so that joints that are bent stay bent
            row = world.poses[world.link_names.index(f"{name}.{link.get('name')}")]
            for pose in link.findall("pose"):
                link.remove(pose)
            at = ET.Element("pose")
            at.text = " ".join(repr(float(n)) for n in _Pose(row[:3], _matrix(row[3:])).numbers())
            link.insert(0, at)
        for joint in model.findall("joint"):
            self.joint(name, joint, model, motors.get(joint.get("name", "")))
        self.top.append(model)

    def joint(self, name: str, joint: ET.Element, model: ET.Element, motor: Optional[ET.Element]) -> None:
        world = self.world
        full = f"{name}.{joint.get('name')}"
        position = float(world.joint_positions[world.joint_names.index(full)]) if full in world.joint_names else 0.0
        if abs(position) > 1e-9:
            self.leave_out("positions of joints: they are counted from where the world begins, and limits are moved by as much")
            limit = joint.find("axis/limit")
            for tag in ("lower", "upper"):
                bound = None if limit is None else limit.find(tag)
                if bound is not None and bound.text and abs(float(bound.text)) < 1e15:
                    bound.text = repr(float(bound.text) - position)
        if motor is None:
            return
        kp, kd = float(motor.get("kp", "0")), float(motor.get("kd", "0"))
        if kp == 0:
            self.leave_out("motors that turn by speed (kp = 0)")
            return
        plugin = _put(model, "plugin", filename=_SERVO[0], name=_SERVO[1])
        for tag, value in (("joint_name", joint.get("name", "")), ("topic", f"/{name}/{joint.get('name')}/command"), ("p_gain", kp), ("d_gain", kd)):
            _put(plugin, tag, value)

    def plain(self, source: ET.Element) -> ET.Element:
        """Without our elements; hulls of meshes become meshes."""
        model = copy.deepcopy(source)
        for parent in list(model.iter()):
            for child in list(parent):
                if not child.tag.startswith(f"{{{_URI}}}"):
                    continue
                parent.remove(child)
                tag = child.tag.rsplit("}", 1)[-1]
                if tag == "hull":
                    for empty in parent.findall("empty"):
                        parent.remove(empty)
                    if child.get("mesh"):
                        _put(_put(parent, "mesh"), "uri", child.get("mesh"))
                        self.leave_out("convex hulls: they are meshes")
                    else:
                        _put(parent, "empty")
                        self.leave_out("convex hulls by points: such a shape is not touched")
                elif tag in ("sensor", "actuator", "radio", "bus", "wire", "latch", "flush"):
                    self.leave_out({"sensor": "sensors of Volvox", "actuator": "thrusters, rotors, tyres and lamps", "latch": "jaws of docks",
                                    "flush": "friction of flush faces that follows their load"}.get(tag, "radios, buses and wires"))
        return model

    # --- Docks -------------------------------------------------------------------------------

    def docks(self) -> None:
        """Engaged docks are joints that can be detached, by a topic; free ones cannot be said."""
        world = self.world
        models = {model.get("name"): model for model in self.top.findall("model")}
        links = {}
        for i, name in enumerate(world.module_names):
            for dock in self.robot(i, name).findall(f"{{{_URI}}}dock"):
                links[f"{name}.{dock.get('name')}"] = dock.get("link", "")
        for a, b in enumerate(world.dock_partners.tolist()):
            if b <= a or world.dock_phases[a] != 2:
                continue
            first, second = world.dock_names[a], world.dock_names[b]
            if first not in links or second not in links:
                self.leave_out("docks of obstacles")
                continue
            plugin = _put(models[first.split(".")[0]], "plugin", filename=_DETACHABLE[0], name=_DETACHABLE[1])
            _put(plugin, "parent_link", links[first])
            _put(plugin, "child_model", second.split(".")[0])
            _put(plugin, "child_link", links[second])
            _put(plugin, "detach_topic", f"/{first.replace('.', '/')}/detach")
            self.leave_out("that docks capture, bear loads and break: engaged ones are joints that a topic detaches")
        if np.any(world.dock_phases != 2):
            self.leave_out("docks that are free")

