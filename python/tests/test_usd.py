"""Worlds as USD, opened again by usd-core."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import volvox

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
pytest.importorskip("mujoco", reason="mujoco is not installed")

from pxr import Gf, Usd, UsdGeom, UsdPhysics  # noqa: E402


def frame(stage: Any, joint: Any, side: int) -> Any:
    """Where a joint is in the world, as seen from one of its bodies."""
    name = ("Body0", "Body1")[side]
    targets = getattr(joint, f"Get{name}Rel")().GetTargets()
    at, turn = getattr(joint, f"GetLocalPos{side}Attr")().Get(), getattr(joint, f"GetLocalRot{side}Attr")().Get()
    local = Gf.Matrix4d().SetTransform(Gf.Rotation(Gf.Quatd(turn)), Gf.Vec3d(at))
    body = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(targets[0])) if targets else Gf.Matrix4d(1)
    return local * body


def complaints(stage: Any) -> list[str]:
    """Of all validators that usd-core has: rigid bodies, joints, colliders, extents, references, ..."""
    validation = pytest.importorskip("pxr.UsdValidation", reason="usd-core has no validators")
    validators = validation.ValidationRegistry().GetOrLoadAllValidators()
    assert any("RigidBody" in validator.GetMetadata().name for validator in validators)
    context = validation.ValidationContext(validators)
    return [error.GetErrorAsString() for error in context.Validate(stage)]


@pytest.mark.parametrize("experiment, settings", [("remod3d/snake", {"modules": 3}), ("remod3d/rolling_track", {"disturbed": False}), ("remod3d/wheelbot", {})])
def test_a_world_is_what_it_was(experiment: str, settings: dict[str, Any], tmp_path: pathlib.Path) -> None:
    file = tmp_path / "world.usda"
    with volvox.load(experiment, settings=settings) as world:
        left_out = world.usd(file)
        modules = [i for i in range(len(world.link_names)) if world.link_modules[i] >= 0]
        poses = {world.link_names[i].replace(".", "_"): world.poses[i].copy() for i in modules}
        angles = {name.replace(".", "_"): float(angle) for name, angle in zip(world.joint_names, world.joint_positions)}
        engaged = int((world.dock_phases == 2).sum()) // 2
        motors = {name.replace(".", "_") for name in world.motor_names}
    assert any("minds" in words for words in left_out) and not any("welds" in words for words in left_out)
    stage = Usd.Stage.Open(str(file))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    bodies = {prim.GetName(): prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)}
    assert set(poses) <= set(bodies)
    for name, pose in poses.items():
        placed = UsdGeom.XformCache().GetLocalToWorldTransform(bodies[name])
        assert np.allclose(placed.ExtractTranslation(), pose[:3], atol=1e-6)
        turn = placed.ExtractRotationQuat()
        assert abs(np.dot([turn.GetReal(), *turn.GetImaginary()], pose[3:])) == pytest.approx(1, abs=1e-9)
        assert UsdPhysics.MassAPI(bodies[name]).GetMassAttr().Get() > 0
    fixed = [UsdPhysics.FixedJoint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.FixedJoint)]
    assert len(fixed) == engaged
    for joint in fixed:
        assert Gf.IsClose(frame(stage, joint, 0), frame(stage, joint, 1), 1e-6)
    turning = [UsdPhysics.RevoluteJoint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.RevoluteJoint)]
    assert {joint.GetPrim().GetName() for joint in turning} == set(angles)
    for joint in turning:
        name = joint.GetPrim().GetName()
        outer, inner = frame(stage, joint, 0), frame(stage, joint, 1)
        assert np.allclose(outer.ExtractTranslation(), inner.ExtractTranslation(), atol=1e-6)
        turned = (inner * outer.GetInverse()).ExtractRotation()
        angle = np.radians(turned.GetAngle()) * np.sign(turned.GetAxis()[0])
        assert (angle - angles[name] + np.pi) % (2 * np.pi) - np.pi == pytest.approx(0, abs=1e-5), name
        assert (name in motors) == joint.GetPrim().HasAPI(UsdPhysics.DriveAPI, "angular")
    assert complaints(stage) == []


def test_a_servo_and_its_limits(tmp_path: pathlib.Path) -> None:
    arm = volvox.RobotSpec("arm")
    arm.add_link("a", "box", (0.1, 0.2, 0.3), mass=1)
    arm.add_link("b", "sphere", 0.05, mass=0.5, pose=(0.2, 0, 0))
    arm.add_joint("j", "a", "b", axis=(0, 0, 1), lower=-1, upper=1.5, effort=5, velocity=3, motor=(10, 1))
    arm.set_mind("idle")
    spec = volvox.WorldSpec("arm", gravity=(0, 0, -3))
    spec.add_module("1st", arm, pose=(0, 0, 1))
    with volvox.load(spec) as world:
        world.usd(tmp_path / "arm.usdc")
        world.usd(tmp_path / "arm.usdc")  # replaces it
        with pytest.raises(volvox.InputError, match="ends in .usda"):
            world.usd(tmp_path / "arm.obj")
        with pytest.raises(volvox.InputError, match="cannot be written"):
            world.usd(tmp_path / "nowhere" / "\0.usda")
    stage = Usd.Stage.Open(str(tmp_path / "arm.usdc"))
    joint = next(UsdPhysics.RevoluteJoint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.RevoluteJoint))
    assert joint.GetPrim().GetName() == "_1st_j"
    assert joint.GetLowerLimitAttr().Get() == pytest.approx(np.degrees(-1)) and joint.GetUpperLimitAttr().Get() == pytest.approx(np.degrees(1.5))
    drive = UsdPhysics.DriveAPI(joint.GetPrim(), "angular")
    assert drive.GetStiffnessAttr().Get() == pytest.approx(np.radians(10)) and drive.GetMaxForceAttr().Get() == pytest.approx(5)
    scene = UsdPhysics.Scene(stage.GetPrimAtPath("/World/physics"))
    assert scene.GetGravityMagnitudeAttr().Get() == pytest.approx(3)
    box = next(UsdGeom.Cube(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Cube) and prim.HasAPI(UsdPhysics.CollisionAPI))
    bounds = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default", "guide"]).ComputeWorldBound(box.GetPrim()).ComputeAlignedRange()
    assert np.allclose(bounds.GetSize(), (0.1, 0.2, 0.3))


def test_paths_are_used_once(tmp_path: pathlib.Path) -> None:
    import mujoco
    from volvox.usd import _Writer

    text = "<mujoco><worldbody>" + "".join(
        f'<body name="{name}" pos="{i} 0 0"><joint name="{joint}"/><geom size=".1"/></body>'
        for i, (name, joint) in enumerate((("physics", "a.b_c"), ("joints", "a_b.c"), ("ground", "d")))
    )
    writer = _Writer(mujoco, mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>"), [])
    writer.write(str(tmp_path / "w.usda"))
    stage = Usd.Stage.Open(str(tmp_path / "w.usda"))
    assert sum(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in stage.Traverse()) == 3
    assert sum(prim.IsA(UsdPhysics.RevoluteJoint) for prim in stage.Traverse()) == 3
    assert stage.GetPrimAtPath("/World/physics").IsA(UsdPhysics.Scene) and stage.GetPrimAtPath("/World/joints").IsA(UsdGeom.Scope)
