"""MJCF in: models of MuJoCo as worlds of Volvox. MuJoCo's own compiler reads them (pip install mujoco), so that defaults, includes,
meshes and inertias are what they are there."""

from __future__ import annotations

import os
import pathlib
import re
import xml.etree.ElementTree as ET
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._sdf import _mind, _ours, _png, _put
from .errors import InputError
from .robot_spec import RobotSpec
from .world_spec import WorldSpec

__all__ = ["read_mjcf"]

Floats = npt.NDArray[np.float64]

# Of a body with several joints in one place: this part of its mass goes into the links between them, which cannot be without.
_SHARE = 0.02


def read_mjcf(model: Union[str, os.PathLike[str]]) -> tuple[WorldSpec, list[str]]:
    """A world out of an MJCF file, or MJCF as text, and what could not be said, in words.

    Each tree of bodies becomes a model, named for its first body; bodies without joints are part of their parents. Hinges,
    slides and balls become joints, with limits, damping and friction; actuators of joints become motors, commanded in the
    units of the joint (rad, rad/s, N m); geoms become colliders, or are only seen where nothing touches them; welds between
    two trees become docks that are engaged. Trees with motors get the mind "commanded".

    Needs MuJoCo (pip install mujoco), version 3 or later.
    """
    return _Reader(_compile(model)).read()


_MOST_COPIES = 100_000  # that <replicate>, <composite> and <flexcomp> of a model may make
_COPYING = ("replicate", "composite", "flexcomp")


def _check_counts(text: str) -> None:
    """MuJoCo has no limit: <replicate count="1000000000"> takes all memory."""
    is_text = text.lstrip().startswith("<")
    copies = _copies(text, "the text", [pathlib.Path.cwd()], {}) if is_text else _copies_of_file(pathlib.Path(text), [pathlib.Path(text).parent], {})
    _refuse_many("the text" if is_text else text, copies)


def _refuse_many(name: str, copies: int) -> None:
    if copies > _MOST_COPIES:
        what = f"{copies} copies of parts; give at most {_MOST_COPIES}"
        raise InputError(f"{name}: {what}", [(name, 0, what, "give smaller counts")])


def _copies_of_file(file: pathlib.Path, folders: list[pathlib.Path], known: dict[pathlib.Path, int]) -> int:
    """Of a file that others may include. What cannot be read, and cycles, are MuJoCo's to refuse."""
    file = pathlib.Path(os.path.normpath(file))
    if file not in known:
        known[file] = 0  # while it is read: a file that includes itself
        try:
            if file.is_file():  # a pipe or device would not end
                known[file] = _copies(file.read_bytes(), str(file), folders, known)
        except OSError:
            pass
    return known[file]


def _copies(text: Union[str, bytes], name: str, folders: list[pathlib.Path], known: dict[pathlib.Path, int]) -> int:
    """How many copies all parts make: what is nested multiplies, what stands side by side adds up."""
    parser: Any = ET.XMLPullParser(("start", "end"))
    open_elements = [(1, 0)]  # of each: its own copies, and those of what is inside
    try:
        parser.feed(text.decode("utf-8", "replace") if isinstance(text, bytes) else text.lstrip())
    except ET.ParseError:
        pass  # what comes before is counted; MuJoCo says what is wrong
    try:
        for event, element in parser.read_events():
            if event == "start":
                own = 1
                if element.tag in _COPYING:
                    for count in re.findall(r"\d+", element.get("count", "")):
                        own *= max(1, int(count[:12]))
                inside = 0
                if element.tag == "include" and element.get("file"):
                    # Beside the file that includes it, or beside the first one.
                    beside = [folder / element.get("file", "") for folder in reversed(folders)]
                    found = next((each for each in beside if each.is_file()), beside[0])
                    inside = _copies_of_file(found, [folders[0], found.parent], known)
                open_elements.append((own, inside))
            else:
                own, inside = open_elements.pop()
                made = own * max(1, inside) if element.tag in _COPYING else inside
                _refuse_many(name, made)
                open_elements[-1] = (open_elements[-1][0], open_elements[-1][1] + made)
    except ET.ParseError:
        pass
    while len(open_elements) > 1:  # of a file that ends too soon
        own, inside = open_elements.pop()
        open_elements[-1] = (open_elements[-1][0], open_elements[-1][1] + own * inside)
    return open_elements[0][1]


def _compile(model: Union[str, os.PathLike[str]]) -> Any:
    try:
        import mujoco
    except ImportError:
        raise InputError("MJCF is read by MuJoCo itself, which is not installed; run: pip install mujoco") from None
    text = os.fspath(model)
    _check_counts(text)
    try:
        if text.lstrip().startswith("<"):
            return mujoco.MjModel.from_xml_string(text)
        if not pathlib.Path(text).exists():
            raise InputError(f"there is no file {text}; give the path of an MJCF file")
        return mujoco.MjModel.from_xml_path(text)
    except ValueError as error:
        line = re.search(r"line (\d+)", str(error))
        name = "the text" if text.lstrip().startswith("<") else text
        raise InputError(f"{name}: MuJoCo cannot read it: {error}", [(name, int(line[1]) if line else 0, str(error), "mend the file")]) from None


def _matrix(q: Any) -> Floats:
    w, x, y, z = np.asarray(q, dtype=np.float64) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _rpy(m: Floats) -> list[float]:
    """Roll, pitch and yaw of a rotation, as SDF has them."""
    pitch = float(np.arctan2(-m[2, 0], np.hypot(m[0, 0], m[1, 0])))
    if abs(abs(pitch) - np.pi / 2) < 1e-9:  # roll and yaw turn about the same axis
        return [float(np.arctan2(-m[1, 2], m[1, 1])), pitch, 0.0]
    return [float(np.arctan2(m[2, 1], m[2, 2])), pitch, float(np.arctan2(m[1, 0], m[0, 0]))]


class _Pose:
    """A place and a rotation."""

    def __init__(self, at: Any = (0, 0, 0), turn: Any = None) -> None:
        self.at: Floats = np.asarray(at, dtype=np.float64)
        self.turn: Floats = np.eye(3) if turn is None else turn

    def __mul__(self, other: _Pose) -> _Pose:
        return _Pose(self.at + self.turn @ other.at, self.turn @ other.turn)

    def inverse(self) -> _Pose:
        return _Pose(-self.turn.T @ self.at, self.turn.T)

    def numbers(self) -> list[float]:
        return [*self.at.tolist(), *_rpy(self.turn)]


class _Reader:
    def __init__(self, m: Any) -> None:
        import mujoco

        self.m = m
        self.enum = mujoco
        self.left_out: list[str] = []
        data = mujoco.MjData(m)
        data.qpos[:] = m.qpos0
        mujoco.mj_kinematics(m, data)
        self.pose = [_Pose(data.xpos[b], data.xmat[b].reshape(3, 3)) for b in range(m.nbody)]
        gravity = m.opt.gravity
        self.spec = WorldSpec(self.name("model", 0) or "mjcf", gravity=gravity.tolist(), duration=20)
        self.used: set[str] = set()

    def name(self, kind: str, i: int) -> str:
        if kind == "model":
            return re.sub(r"\W", "_", self.m.names.split(b"\0", 1)[0].decode("utf-8", "replace"))
        objects = {"body": "mjOBJ_BODY", "joint": "mjOBJ_JOINT", "geom": "mjOBJ_GEOM", "actuator": "mjOBJ_ACTUATOR"}
        try:
            given = self.enum.mj_id2name(self.m, getattr(self.enum.mjtObj, objects[kind]), i)
        except UnicodeDecodeError:  # a name that is not UTF-8
            given = None
        return re.sub(r"\W", "_", given) if given else f"{kind}{i}"

    def new(self, name: str, taken: set[str]) -> str:
        found = name
        while found in taken:
            found += "_"
        taken.add(found)
        return found

    def leave_out(self, words: str) -> None:
        if words not in self.left_out:
            self.left_out.append(words)

    # --- The whole ---------------------------------------------------------------------------

    def read(self) -> tuple[WorldSpec, list[str]]:
        m = self.m
        self.say_what_cannot_be_said()
        self.motors = self.read_motors()
        fixed = [b for b in range(m.nbody) if m.body_weldid[b] == 0]
        self.obstacles(fixed)
        self.model_of: dict[int, str] = {}  # by body, and its link
        self.link_of: dict[int, str] = {}
        for root in range(1, m.nbody):
            if m.body_weldid[root] == root and m.body_weldid[m.body_parentid[root]] == 0:
                self.tree(root)
        self.welds()
        return self.spec, self.left_out

    def say_what_cannot_be_said(self) -> None:
        m = self.m
        for count, words in (
            (m.ntendon, "tendons"),
            (m.nsensor, "sensors"),
            (m.nflex if hasattr(m, "nflex") else 0, "flexible bodies"),
            (getattr(m, "nskin", 0), "skins"),
            (m.nexclude, "pairs of bodies that do not touch"),
            (m.npair, "pairs of geoms with contacts of their own"),
            (m.nkey, "keyframes: the world begins with qpos0"),
            (m.nmocap, "bodies that are moved from outside (mocap): they stay where they are"),
            (getattr(m, "nplugin", 0), "plugins"),
        ):
            if count:
                self.leave_out(f"{count} {words}")
        if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
            self.leave_out("the air: density, viscosity and wind")
        if np.any(m.dof_armature):
            self.leave_out("armature: the inertia of rotors")
        if np.any(m.jnt_stiffness):
            self.leave_out("springs of joints (stiffness)")
        if np.any(m.body_gravcomp):
            self.leave_out("gravity compensation")
        moving = [m.jnt_qposadr[j] for j in range(m.njnt) if m.jnt_type[j] in (2, 3)]
        if np.any(m.qpos0[moving]):
            self.leave_out("references of joints (ref): positions are counted from where the world begins")

    # --- Motors ------------------------------------------------------------------------------

    def read_motors(self) -> dict[int, tuple[float, float, float]]:
        """By joint: kp, kd and the largest torque."""
        m, found = self.m, {}
        for a in range(m.nu):
            name = self.name("actuator", a)
            joint = int(m.actuator_trnid[a, 0])
            kind = self.enum.mjtTrn(int(m.actuator_trntype[a])).name
            if kind not in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT") or m.jnt_type[joint] not in (2, 3):
                self.leave_out(f"the actuator '{name}', which does not drive a hinge or a slide")
                continue
            if m.actuator_gaintype[a] != 0 or m.actuator_biastype[a] not in (0, 1) or m.actuator_dyntype[a] != 0:
                self.leave_out(f"the law of the actuator '{name}': it is a motor without a delay")
            gear = float(m.actuator_gear[a, 0])
            gain = float(m.actuator_gainprm[a, 0])
            bias = m.actuator_biasprm[a] if m.actuator_biastype[a] == 1 else np.zeros(3)
            kp, kd = max(0.0, -float(bias[1])) * gear * gear, max(0.0, -float(bias[2])) * gear * gear
            limit = np.inf
            if m.actuator_forcelimited[a]:
                limit = abs(gear) * float(np.abs(m.actuator_forcerange[a]).max())
            elif kp == 0 and kd == 0 and m.actuator_ctrllimited[a]:
                limit = abs(gain * gear) * float(np.abs(m.actuator_ctrlrange[a]).max())
            if m.jnt_actfrclimited[joint]:
                limit = min(limit, float(np.abs(m.jnt_actfrcrange[joint]).max()))
            if joint in found:
                self.leave_out(f"the actuator '{name}': its joint has another motor")
                continue
            if kp > 0 and kd == 0:
                kd = 1e-3 * kp  # our servo needs a damping; this one is small beside the joint's
                self.leave_out("servos without a damping of their own: they have one of a thousandth of their stiffness")
            if gear != 1:
                self.leave_out("gears: motors are commanded in the units of their joints")
            found[joint] = (kp, kd if kd > 0 else 1.0, limit)
        return found

    # --- Bodies ------------------------------------------------------------------------------

    def obstacles(self, fixed: list[int]) -> None:
        """All geoms that are welded to the world, in one model."""
        m = self.m
        if not any(m.geom_bodyid[g] in fixed for g in range(m.ngeom)):
            return
        robot = RobotSpec("surroundings", static=True)
        link = _put(robot._top, "link", name="body")
        for g in range(m.ngeom):
            if m.geom_bodyid[g] in fixed:
                self.geom(link, g, self.pose[int(m.geom_bodyid[g])], moves=False)
        self.used.add("surroundings")
        if link.find("collision") is not None or link.find("visual") is not None:
            self.spec.add_model(robot)

    def tree(self, root: int) -> None:
        m = self.m
        name = self.new(self.name("body", root), self.used)
        robot = RobotSpec(name)
        frame = self.pose[root]
        names: set[str] = set()  # links and joints share them
        bodies = [root]
        for b in range(root + 1, m.nbody):
            if m.body_weldid[b] == b and int(m.body_weldid[m.body_parentid[b]]) in bodies:
                bodies.append(b)
        motors = False
        for b in bodies:
            self.model_of[b] = name
            self.link_of[b] = self.new(self.name("body", b), names)
        for b in bodies:
            parent = int(m.body_weldid[m.body_parentid[b]])
            motors |= self.body(robot, b, "world" if parent == 0 else self.link_of[parent], frame, names)
        if motors:
            _mind(robot._top, "commanded", None)
        self.spec.add_model(robot, pose=frame.numbers())

    def inertia(self, b: int) -> tuple[float, Floats, Floats]:
        """Mass, centre and inertia about it, in the frame of b, of a body and all that is welded to it."""
        m = self.m
        parts = [k for k in range(m.nbody) if m.body_weldid[k] == b]
        mass = float(sum(m.body_mass[k] for k in parts))
        placed = [(self.pose[b].inverse() * self.pose[k] * _Pose(m.body_ipos[k], _matrix(m.body_iquat[k])), k) for k in parts]
        centre = sum((m.body_mass[k] * p.at for p, k in placed), np.zeros(3)) / max(mass, 1e-300)
        total = np.zeros((3, 3))
        for p, k in placed:
            d = p.at - centre
            total += p.turn @ np.diag(m.body_inertia[k]) @ p.turn.T + m.body_mass[k] * (d @ d * np.eye(3) - np.outer(d, d))
        return mass, centre, total

    def link(self, robot: RobotSpec, name: str, pose: _Pose, mass: float, centre: Floats, moments: Floats) -> ET.Element:
        link = _put(robot._top, "link", name=name)
        _put(link, "pose", pose.numbers())
        inertial = _put(link, "inertial")
        _put(inertial, "pose", [*centre.tolist(), 0.0, 0.0, 0.0])
        _put(inertial, "mass", mass)
        inertia = _put(inertial, "inertia")
        for tag, i, j in (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)):
            _put(inertia, tag, float(moments[i, j]))
        return link

    def body(self, robot: RobotSpec, b: int, parent: str, frame: _Pose, names: set[str]) -> bool:
        """A link, its joints to its parent and, between several joints, links that share its mass. Whether it has motors."""
        m = self.m
        name, pose = self.link_of[b], frame.inverse() * self.pose[b]
        mass, centre, moments = self.inertia(b)
        moving = [j for j in range(m.njnt) if m.jnt_bodyid[j] == b and m.jnt_type[j] != 0]
        between = max(0, len(moving) - 1)
        if between:
            self.leave_out(f"several joints in one place: {100 * _SHARE:.0f} % of the body's mass is in a link between each two")
        for _ in range(between):
            self.link(robot, self.new(name + "_between", names), pose, _SHARE * mass, centre, _SHARE * moments)
        rest = 1 - _SHARE * between
        link = self.link(robot, name, pose, rest * mass, centre, rest * moments)
        for g in range(m.ngeom):
            if m.body_weldid[m.geom_bodyid[g]] == b:
                self.geom(link, g, self.pose[b].inverse() * self.pose[int(m.geom_bodyid[g])], moves=True)
        links = [each.get("name", "") for each in robot._top.findall("link")][-1 - between : -1] + [name]
        motors = False
        for j, child in zip(moving, links):
            motors |= self.joint(robot, j, parent, child, names)
            parent = child
        return motors

    def joint(self, robot: RobotSpec, j: int, parent: str, child: str, names: set[str]) -> bool:
        m = self.m
        name = self.new(self.name("joint", j), names)
        kind = int(m.jnt_type[j])  # 1 ball, 2 slide, 3 hinge
        at = m.jnt_pos[j].tolist()
        if kind == 1:
            if m.jnt_limited[j]:
                self.leave_out(f"the limit of the ball '{name}'")
            robot.add_joint(name, parent, child, "ball", pose=at)
            return False
        limited = bool(m.jnt_limited[j])
        zero = float(m.qpos0[m.jnt_qposadr[j]])
        dof = int(m.jnt_dofadr[j])
        motor = self.motors.get(j)
        effort = motor[2] if motor is not None and np.isfinite(motor[2]) else None
        robot.add_joint(
            name,
            parent,
            child,
            "prismatic" if kind == 2 else "revolute" if limited else "continuous",
            axis=m.jnt_axis[j].tolist(),
            pose=at,
            lower=float(m.jnt_range[j, 0]) - zero if limited else None,
            upper=float(m.jnt_range[j, 1]) - zero if limited else None,
            effort=effort,
            damping=float(m.dof_damping[dof]) or None,
            friction=float(m.dof_frictionloss[dof]) or None,
            motor=None if motor is None else motor[:2],
        )
        return motor is not None

    # --- Geoms -------------------------------------------------------------------------------

    def geom(self, link: ET.Element, g: int, frame: _Pose, *, moves: bool) -> None:
        m = self.m
        kind = self.enum.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
        placed = frame * _Pose(m.geom_pos[g], _matrix(m.geom_quat[g]))
        size = m.geom_size[g].tolist()
        name = f"{self.name('geom', g)}_{g}"
        if moves and kind in ("plane", "hfield"):
            self.leave_out(f"the {kind} '{name}', which moves")
            return
        tags = ["visual"] if m.geom_contype[g] == 0 and m.geom_conaffinity[g] == 0 else ["collision", "visual"]
        for tag in tags:
            element = _put(link, tag, name=name)
            _put(element, "pose", placed.numbers())
            geometry = _put(element, "geometry")
            if not self.shape(geometry, kind, size, g):
                link.remove(element)
                self.leave_out(f"the geom '{name}' of the type {kind}")
                return
            if tag == "collision":
                friction = 0.0 if m.geom_condim[g] == 1 else float(m.geom_friction[g, 0])
                _put(_put(_put(_put(element, "surface"), "friction"), "ode"), "mu", friction)
            else:
                material = int(m.geom_matid[g])
                color = m.geom_rgba[g] if material < 0 else m.mat_rgba[material]
                _put(_put(element, "material"), "diffuse", color.tolist())

    def shape(self, geometry: ET.Element, kind: str, size: list[float], g: int) -> bool:
        m = self.m
        if kind == "box":
            _put(_put(geometry, "box"), "size", [2 * each for each in size])
        elif kind == "sphere":
            _put(_put(geometry, "sphere"), "radius", size[0])
        elif kind in ("capsule", "cylinder"):
            made = _put(geometry, kind)
            _put(made, "radius", size[0])
            _put(made, "length", 2 * size[1])
        elif kind == "ellipsoid":
            _put(_put(geometry, "ellipsoid"), "radii", size)
        elif kind == "plane":
            _put(_put(geometry, "plane"), "normal", (0, 0, 1))
        elif kind == "mesh":
            _put(_put(geometry, "mesh"), "uri", self.mesh(int(m.geom_dataid[g])))
        elif kind == "hfield":
            self.terrain(geometry, int(m.geom_dataid[g]))
        else:
            return False
        return True

    def mesh(self, k: int) -> str:
        m, file = self.m, f"mesh{k}.obj"
        if file not in self.spec._files:
            points = m.mesh_vert[m.mesh_vertadr[k] : m.mesh_vertadr[k] + m.mesh_vertnum[k]]
            faces = m.mesh_face[m.mesh_faceadr[k] : m.mesh_faceadr[k] + m.mesh_facenum[k]] + 1
            self.spec._files[file] = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.astype(float).tolist()) + "".join(
                f"f {a} {b} {c}\n" for a, b, c in faces.tolist()
            )
        return file

    def terrain(self, geometry: ET.Element, k: int) -> None:
        m, file = self.m, f"terrain{k}.png"
        rows, columns = int(m.hfield_nrow[k]), int(m.hfield_ncol[k])
        first = int(m.hfield_adr[k])
        heights = np.asarray(m.hfield_data[first : first + rows * columns]).reshape(rows, columns)  # from 0 to 1
        self.spec._files[file] = _png(np.rint(heights * 65535).astype(np.uint16)[::-1])
        made = _put(geometry, "heightmap")
        _put(made, "uri", file)
        x, y, z, _ = m.hfield_size[k].tolist()
        _put(made, "size", (2 * x, 2 * y, z))

    # --- Welds -------------------------------------------------------------------------------

    def welds(self) -> None:
        m = self.m
        docks = 0
        for e in range(m.neq):
            kind = self.enum.mjtEq(int(m.eq_type[e])).name.removeprefix("mjEQ_").lower()
            ends = [int(m.body_weldid[int(each)]) for each in (m.eq_obj1id[e], m.eq_obj2id[e])] if kind == "weld" else []
            bodies = int(getattr(m, "eq_objtype", np.full(m.neq, 1))[e]) == 1
            if not ends or not bodies or 0 in ends or self.model_of[ends[0]] == self.model_of[ends[1]]:
                self.leave_out(f"an equality of the type {kind}" + (" within one tree, or to the world" if kind == "weld" else ""))
                continue
            if not m.eq_active0[e]:
                self.leave_out("welds that are not active")
                continue
            at = self.pose[ends[1]]  # the docks meet where the second body is
            names = []
            for k, b in enumerate(ends):
                # Both x axes point out of their modules, towards each other; z axes agree.
                facing = _Pose((0, 0, 0), np.eye(3) if k == 0 else np.diag([-1.0, -1.0, 1.0]))
                place = self.pose[b].inverse() * at * facing
                element = self.spec.find(self.model_of[b])
                _put(element, _ours("dock"), name=f"weld{e}", link=self.link_of[b], pose=place.numbers(), kind=f"weld{e}")
                names.append(f"{self.model_of[b]}.weld{e}")
            self.spec.connect(*names)
            docks += 1
        if docks:
            self.leave_out(f"{docks} welds are docks that are engaged and do not break")
