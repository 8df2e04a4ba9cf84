"""USD out: a world at its start as a stage with rigid bodies, joints and drives (UsdPhysics), for Omniverse, Isaac and Blender.

MuJoCo's compiler reads what World.mjcf() writes, so that shapes, masses and joints are what MuJoCo would simulate. Needs
mujoco and usd-core: pip install volvox[usd].
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from .errors import InputError

if TYPE_CHECKING:
    from .world import World

__all__ = ["write_usd"]

Floats = npt.NDArray[np.float64]


def write_usd(world: World, file: Union[str, os.PathLike[str]]) -> list[str]:
    """See World.usd()."""
    try:
        import mujoco
        import pxr  # noqa: F401
    except ImportError as missing:
        raise InputError(f"USD needs {missing.name}; pip install volvox[usd]") from None
    path = os.fspath(file)
    if not path.endswith((".usd", ".usda", ".usdc")):
        raise InputError(f"'{path}' is no name of a USD file; give one that ends in .usda (text), .usdc or .usd")
    text, left_out = world.mjcf()
    # What is said there of MuJoCo alone: its mixture of friction.
    left_out = [words.replace(": MuJoCo takes the larger of two, Volvox the geometric mean", ": Volvox takes the geometric mean") for words in left_out]
    left_out = [words.replace("welds, free ones are sites", "fixed joints, free ones are left out") for words in left_out]
    writer = _Writer(mujoco, mujoco.MjModel.from_xml_string(text), left_out)
    # Beside it, then renamed: what fails half way leaves the last good file.
    there = pathlib.Path(path)
    part = there.with_name(f"{there.stem}.{os.getpid()}.part{there.suffix}")
    try:
        writer.write(str(part))
        os.replace(part, there)
    except InputError:
        raise InputError(f"{path} cannot be written; give a folder that is there, with room") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written ({error}); give a folder that is there, with room") from None
    finally:
        if "\0" not in path:
            part.unlink(missing_ok=True)
    return writer.left_out


def _turn_to(axis: Floats) -> Floats:
    """The rotation w, x, y, z that takes the x axis to this one."""
    axis = axis / np.linalg.norm(axis)
    if axis[0] < -1 + 1e-12:
        return np.array([0.0, 0.0, 0.0, 1.0])
    turned = np.array([1 + axis[0], 0.0, -axis[2], axis[1]])
    return np.asarray(turned / np.linalg.norm(turned))


def _times(a: Floats, b: Floats) -> Floats:
    """The product of two rotations w, x, y, z."""
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def _rotated(turn: Floats, point: Floats) -> Floats:
    return np.asarray(point + 2 * np.cross(turn[1:], np.cross(turn[1:], point) + turn[0] * point))


class _Writer:
    def __init__(self, mujoco: Any, model: Any, left_out: list[str]) -> None:
        self.mujoco, self.model, self.left_out = mujoco, model, left_out
        self.data = mujoco.MjData(model)
        if model.nkey > 0:
            mujoco.mj_resetDataKeyframe(model, self.data, 0)
        mujoco.mj_forward(model, self.data)
        self.paths: dict[int, str] = {}
        self.used = {"/World", "/World/physics", "/World/joints"}  # the paths of all prims

    def leave_out(self, words: str) -> None:
        if words not in self.left_out:
            self.left_out.append(words)

    def write(self, path: str) -> None:
        from pxr import Gf, Usd, UsdGeom, UsdPhysics

        try:
            self.stage = Usd.Stage.CreateNew(path)
        except Exception as error:
            raise InputError(f"{path} cannot be written ({error}); give a folder that is there, with room") from None
        UsdGeom.SetStageUpAxis(self.stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(self.stage, 1.0)
        UsdPhysics.SetStageKilogramsPerUnit(self.stage, 1.0)
        self.stage.SetDefaultPrim(UsdGeom.Xform.Define(self.stage, "/World").GetPrim())
        scene = UsdPhysics.Scene.Define(self.stage, "/World/physics")
        gravity = np.array(self.model.opt.gravity)
        size = float(np.linalg.norm(gravity))
        scene.CreateGravityMagnitudeAttr(size)
        scene.CreateGravityDirectionAttr(Gf.Vec3f(*(gravity / size if size > 0 else np.array([0, 0, -1.0]))))
        UsdGeom.Scope.Define(self.stage, "/World/joints")
        for body in range(self.model.nbody):
            self.body(body)
        for joint in range(self.model.njnt):
            self.joint(joint)
        for weld in range(self.model.neq):
            self.weld(weld)
        self.stage.GetRootLayer().documentation = "Written by Volvox. Left out or changed: " + "; ".join(self.left_out)
        self.stage.GetRootLayer().Save()

    def name(self, kind: str, index: int, fallback: str) -> str:
        found = self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, kind), index) or f"{fallback}{index}"
        plain = re.sub(r"\W", "_", found, flags=re.ASCII)
        return plain if not plain[0].isdigit() else "_" + plain

    def new(self, path: str) -> str:
        """Names that differ in signs which USD does not have get the same path: the later one is made longer."""
        while path in self.used:
            path += "_"
        self.used.add(path)
        return path

    def place(self, prim: Any, at: Floats, turn: Floats) -> None:
        from pxr import Gf, UsdGeom

        shape = UsdGeom.Xformable(prim)
        shape.AddTranslateOp().Set(Gf.Vec3d(*map(float, at)))
        shape.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(*map(float, turn)))

    # --- Bodies ------------------------------------------------------------------------------

    def body(self, body: int) -> None:
        """All stand side by side below the world: rigid bodies of USD are not nested."""
        from pxr import Gf, UsdGeom, UsdPhysics

        model = self.model
        path = "/World/ground" if body == 0 else f"/World/{self.name('mjOBJ_BODY', body, 'body')}"
        path = self.paths[body] = self.new(path)
        prim = UsdGeom.Xform.Define(self.stage, path).GetPrim()
        self.place(prim, self.data.xpos[body], self.data.xquat[body])
        moves = body != 0 and model.body_weldid[body] != 0
        if moves:
            UsdPhysics.RigidBodyAPI.Apply(prim)
            mass = UsdPhysics.MassAPI.Apply(prim)
            mass.CreateMassAttr(float(model.body_mass[body]))
            mass.CreateCenterOfMassAttr(Gf.Vec3f(*map(float, model.body_ipos[body])))
            mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*map(float, model.body_inertia[body])))
            mass.CreatePrincipalAxesAttr(Gf.Quatf(*map(float, model.body_iquat[body])))
        for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            self.geom(geom, path, moves)

    def geom(self, geom: int, parent: str, moves: bool) -> None:
        from pxr import Gf, UsdGeom, UsdPhysics

        model, kinds = self.model, self.mujoco.mjtGeom
        kind, size = int(model.geom_type[geom]), [float(each) for each in model.geom_size[geom]]
        touches = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
        path = f"{parent}/{'collision' if touches else 'visual'}{geom}"
        if kind == kinds.mjGEOM_PLANE:
            shape = UsdGeom.Plane.Define(self.stage, path)
            shape.CreateAxisAttr("Z")
            shape.CreateWidthAttr(2 * size[0] or 100.0)
            shape.CreateLengthAttr(2 * size[1] or 100.0)
        elif kind == kinds.mjGEOM_SPHERE:
            shape = UsdGeom.Sphere.Define(self.stage, path)
            shape.CreateRadiusAttr(size[0])
        elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
            shape = (UsdGeom.Cylinder if kind == kinds.mjGEOM_CYLINDER else UsdGeom.Capsule).Define(self.stage, path)
            shape.CreateAxisAttr("Z")
            shape.CreateRadiusAttr(size[0])
            shape.CreateHeightAttr(2 * size[1])
        elif kind == kinds.mjGEOM_MESH:
            shape = self.mesh(path, int(model.geom_dataid[geom]))
        elif kind == kinds.mjGEOM_BOX:
            shape = UsdGeom.Cube.Define(self.stage, path)
            shape.CreateSizeAttr(2.0)
        else:
            self.leave_out("terrains by heights")
            return
        self.place(shape.GetPrim(), model.geom_pos[geom], model.geom_quat[geom])
        if kind == kinds.mjGEOM_BOX:
            UsdGeom.Xformable(shape).AddScaleOp().Set(Gf.Vec3f(*size))
        shape.CreateDisplayColorAttr([Gf.Vec3f(*map(float, model.geom_rgba[geom][:3]))])
        if not touches:
            return
        UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
        if kind == kinds.mjGEOM_MESH:  # MuJoCo's meshes touch as their hulls
            UsdPhysics.MeshCollisionAPI.Apply(shape.GetPrim()).CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
        if moves:
            shape.CreatePurposeAttr(UsdGeom.Tokens.guide)

    def mesh(self, path: str, mesh: int) -> Any:
        from pxr import UsdGeom, Vt

        model = self.model
        at, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        first, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        shape = UsdGeom.Mesh.Define(self.stage, path)
        shape.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(model.mesh_vert[at : at + count], np.float32)))
        shape.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(faces, 3, np.int32)))
        shape.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(model.mesh_face[first : first + faces], np.int32).ravel()))
        shape.CreateSubdivisionSchemeAttr("none")
        return shape

    # --- Joints ------------------------------------------------------------------------------

    def between(self, joint: Any, first: int, second: int, at: list[Floats], turns: list[Floats]) -> None:
        """The bodies of a joint, and where it is in their frames. The ground is no body: the world stands for it."""
        from pxr import Gf

        if first != 0:
            joint.CreateBody0Rel().SetTargets([self.paths[first]])
        joint.CreateBody1Rel().SetTargets([self.paths[second]])
        joint.CreateLocalPos0Attr(Gf.Vec3f(*map(float, at[0])))
        joint.CreateLocalPos1Attr(Gf.Vec3f(*map(float, at[1])))
        joint.CreateLocalRot0Attr(Gf.Quatf(*map(float, turns[0])))
        joint.CreateLocalRot1Attr(Gf.Quatf(*map(float, turns[1])))

    def joint(self, joint: int) -> None:
        from pxr import UsdPhysics

        model, kinds = self.model, self.mujoco.mjtJoint
        kind, body = int(model.jnt_type[joint]), int(model.jnt_bodyid[joint])
        if kind == kinds.mjJNT_FREE:
            return  # what no joint holds is free
        if kind == kinds.mjJNT_BALL or model.body_jntnum[body] != 1:
            self.leave_out("joints with more than one axis")
            return
        turns = kind == kinds.mjJNT_HINGE
        made = UsdPhysics.RevoluteJoint if turns else UsdPhysics.PrismaticJoint
        prim = made.Define(self.stage, self.new(f"/World/joints/{self.name('mjOBJ_JOINT', joint, 'joint')}"))
        prim.CreateAxisAttr("X")
        place, turn = model.jnt_pos[joint], _turn_to(model.jnt_axis[joint])
        outer = model.body_quat[body]
        self.between(prim, int(model.body_parentid[body]), body, [model.body_pos[body] + _rotated(outer, place), place], [_times(outer, turn), turn])
        unit = 180 / np.pi if turns else 1.0
        if model.jnt_limited[joint]:
            prim.CreateLowerLimitAttr(float(model.jnt_range[joint, 0]) * unit)
            prim.CreateUpperLimitAttr(float(model.jnt_range[joint, 1]) * unit)
        for motor in range(model.nu):
            if model.actuator_trntype[motor] == self.mujoco.mjtTrn.mjTRN_JOINT and model.actuator_trnid[motor, 0] == joint:
                self.drive(prim, motor, turns, unit)

    def drive(self, joint: Any, motor: int, turns: bool, unit: float) -> None:
        from pxr import UsdPhysics

        model = self.model
        stiffness, damping = -float(model.actuator_biasprm[motor, 1]), -float(model.actuator_biasprm[motor, 2])
        drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular" if turns else "linear")
        drive.CreateTypeAttr("force")
        drive.CreateStiffnessAttr(stiffness / unit)
        drive.CreateDampingAttr(damping / unit)
        if model.actuator_forcelimited[motor]:
            drive.CreateMaxForceAttr(float(model.actuator_forcerange[motor, 1]))
        if stiffness > 0:
            drive.CreateTargetPositionAttr(float(self.data.ctrl[motor]) * unit)

    def weld(self, weld: int) -> None:
        """An engaged dock: the two bodies stay as they are at the start."""
        from pxr import UsdPhysics

        model = self.model
        if model.eq_type[weld] != self.mujoco.mjtEq.mjEQ_WELD:
            self.leave_out("couplings of joints")
            return
        if not model.eq_active0[weld]:
            return
        first, second = int(model.eq_obj1id[weld]), int(model.eq_obj2id[weld])
        back = self.data.xquat[first] * np.array([1, -1, -1, -1])
        at = _rotated(back, self.data.xpos[second] - self.data.xpos[first])
        made = UsdPhysics.FixedJoint.Define(self.stage, self.new(f"/World/joints/{self.name('mjOBJ_EQUALITY', weld, 'dock')}"))
        none = np.array([1.0, 0, 0, 0])
        self.between(made, first, second, [at, np.zeros(3)], [_times(back, self.data.xquat[second]), none])
        made.CreateExcludeFromArticulationAttr(True)  # a ring of docks is no tree
