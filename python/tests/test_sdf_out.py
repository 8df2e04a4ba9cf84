"""Worlds as plain SDF for Gazebo."""

from __future__ import annotations

import math
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import volvox


def load_again(text: str) -> volvox.World:
    """sdformat, Gazebo's own reader, takes it: our reader is built on it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", volvox.VolvoxWarning)
        return volvox.load(text)


@pytest.mark.parametrize("experiment", ["remod3d/snake", "remod3d/rolling_track", "remod3d/wheelbot"])
def test_a_world_is_what_it_was(experiment: str) -> None:
    with volvox.load(experiment) as world:
        world.step(5)
        text, left_out = world.sdf()
        assert "volvox:" not in text and "xmlns" not in text
        names = [name for name in world.link_names if world.link_modules[world.link_names.index(name)] >= 0]
        with load_again(text) as again:
            for name in names:
                assert np.allclose(world.poses[world.link_names.index(name), :3], again.poses[again.link_names.index(name), :3], atol=1e-6)
            assert set(world.joint_names) <= set(again.joint_names)
    engaged = int((world.dock_phases == 2).sum()) // 2
    root = ET.fromstring(text)
    assert len([p for p in root.iter("plugin") if "Detachable" in p.get("name", "")]) == engaged
    assert any("minds" in words for words in left_out)
    assert not engaged or any("docks capture" in words for words in left_out)


def test_limits_follow_joints_that_are_bent() -> None:
    arm = volvox.RobotSpec("arm")
    arm.add_link("a", "box", (0.1, 0.1, 0.1), mass=1)
    arm.add_link("b", "box", (0.1, 0.1, 0.1), mass=1, pose=(0.2, 0, 0))
    arm.add_joint("j", "a", "b", axis=(0, 0, 1), lower=-1, upper=1.5, effort=5, velocity=3, motor=(10, 1))
    arm.set_mind("idle")
    spec = volvox.WorldSpec("bent", gravity=(0, 0, 0))
    spec.add_module("m", arm, pose=(0, 0, 1, 0, 0, math.pi / 3), joints={"j": 0.5})
    with volvox.load(spec) as world:
        text, left_out = world.sdf()
    root = ET.fromstring(text)
    assert [float(root.findtext(f".//limit/{tag}") or 0) for tag in ("lower", "upper")] == pytest.approx([-1.5, 1.0])
    servo = next(p for p in root.iter("plugin") if "JointPosition" in p.get("name", ""))
    assert (servo.findtext("p_gain"), servo.findtext("topic")) == ("10.0", "/m/j/command")
    assert any("positions of joints" in words for words in left_out)
    with load_again(text) as again:
        assert again.poses[again.link_names.index("m.b"), 2] == pytest.approx(1)


def test_closed_worlds_and_c_plus_plus() -> None:
    with volvox.load("arenas/pit_snake") as world:
        _, left_out = world.sdf()
        assert any("obstacles" in words for words in left_out)
    with pytest.raises(volvox.ClosedError):
        world.sdf()


def test_a_population_of_a_robot_made_in_code() -> None:
    """Its file has no name that Volvox knows: it lies beside the world."""
    arm = volvox.RobotSpec("arm")
    arm.add_link("a", "box", (0.1, 0.1, 0.1), mass=1)
    arm.add_dock("front", "a", (0.05, 0, 0))
    arm.add_dock("back", "a", (-0.05, 0, 0, 0, 0, math.pi))
    arm.set_mind("idle")
    spec = volvox.WorldSpec("row", gravity=(0, 0, 0))
    spec.add_population("m", arm, count=3, pose=(0, 0, 1), from_="front", to="back")
    with volvox.load(spec) as world:
        text, _ = world.sdf()
        names = list(world.module_names)
    root = ET.fromstring(text)
    assert [model.get("name") for model in root.iter("model")] == names == ["m0", "m1", "m2"]
    with load_again(text) as again:
        assert again.poses[again.link_names.index("m2.a"), :3] == pytest.approx([0.2, 0, 1])
