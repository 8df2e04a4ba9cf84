"""A robot that goes SDF -> MJCF -> the MuJoCo of PyPI falls, swings, rolls and moves as in our engines."""

from __future__ import annotations

import math
import pathlib
import re
from typing import Any

import numpy as np
import pytest
from conftest import GROUND, chain, command, world_text

import volvox

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")

INERTIA = "<inertia><ixx>{0}</ixx><iyy>{0}</iyy><izz>{0}</izz></inertia>"


def empty(inside: str) -> str:
    return (
        '<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="test"><volvox:run duration="4" dt="1/60" substep="1/960"/>'
        f"{inside}</world></sdf>"
    )


def sphere(name: str, pose: str, more: str = "") -> str:
    inertia = INERTIA.format(0.4 * 0.5 * 0.05**2)
    return (
        f'<model name="{name}"><pose>{pose}</pose><link name="ball"><inertial><mass>0.5</mass>{inertia}</inertial>'
        f'<collision name="c"><geometry><sphere><radius>0.05</radius></sphere></geometry></collision></link>{more}</model>'
    )


class Other:
    """The same world in MuJoCo."""

    def __init__(self, world: volvox.World, actuated: bool = False) -> None:
        text, self.left_out = world.mjcf()
        self.model = mujoco.MjModel.from_xml_string(text)
        if not actuated:
            self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        mujoco.mj_forward(self.model, self.data)

    def run_to(self, time: float) -> None:
        while self.data.time < time - 1e-9:
            mujoco.mj_step(self.model, self.data)

    def where(self, body: str) -> Any:
        return self.data.body(body).xpos


def link(world: volvox.World, name: str) -> Any:
    return world.poses[world.link_names.index(name)]


def test_what_stands_where_it_stood() -> None:
    """Every link of a bent and docked robot has the same pose."""
    for given in ("remod3d/rolling_track", "remod3d/atron_car", "roles/walker", "remod3d/wheelbot"):
        with volvox.load(given) as world:
            other = Other(world)
            for i, name in enumerate(world.link_names):
                body = other.data.body(name)
                assert np.allclose(body.xpos, world.poses[i, :3], atol=1e-6), (given, name)
                assert abs(abs(np.dot(body.xquat, world.poses[i, 3:])) - 1) < 1e-6, (given, name)
            total = sum(other.model.body_mass)
            assert total > 0 and other.model.nu == len(world.motor_names)


def test_it_falls() -> None:
    with volvox.load(chain("commanded").replace("0 0 0.05 0 0 0", "0 0 3 0.3 0.2 0.1"), behaviors={"commanded": "commanded"}) as world:
        other = Other(world)
        name = world.link_names[world.module_links[1]]
        start = link(world, name)[2]
        world.step(30)
        other.run_to(0.5)
        assert link(world, name)[2] == pytest.approx(start - 9.81 * 0.125, abs=0.01)
        assert other.where(name)[2] == pytest.approx(link(world, name)[2], abs=0.006)


@pytest.mark.parametrize("engine", ["native", "bullet"])
def test_it_swings(engine: str) -> None:
    """A pendulum of 0.5 m that begins horizontally."""
    joint = (
        '<joint name="pivot" type="revolute"><pose relative_to="__model__">-0.5 0 0 0 0 0</pose><parent>world</parent><child>ball</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
    )
    with volvox.load(empty(sphere("bob", "0.5 0 2 0 0 0", joint)), engine=engine) as world:
        other = Other(world)
        apart, lowest = [], 2.0
        for tick in range(1, 121):
            world.step()
            other.run_to(tick / 60)
            apart.append(float(np.linalg.norm(other.where("bob.ball") - link(world, "bob.ball")[:3])))
            lowest = min(lowest, float(other.where("bob.ball")[2]))
        assert lowest == pytest.approx(1.5, abs=0.01) and max(apart) < 0.02, (lowest, max(apart))


@pytest.mark.parametrize("engine", ["native", "bullet"])
def test_it_rolls(engine: str) -> None:
    """A ball on a slope of 10 degrees: 5/7 g sin(slope)."""
    slope = math.radians(10)
    ground = GROUND.replace("<static>", f"<pose>0 0 0 0 {slope} 0</pose><static>")
    height = 0.05 / math.cos(slope)
    with volvox.load(empty(ground + sphere("roller", f"0 0 {height} 0 0 0")), engine=engine) as world:
        other = Other(world)
        world.step(60)
        other.run_to(1)
        expected = 5 / 7 * 9.81 * math.sin(slope) / 2 * math.cos(slope)
        assert link(world, "roller.ball")[0] == pytest.approx(expected, rel=0.03)
        assert other.where("roller.ball")[0] == pytest.approx(expected, rel=0.03)


def test_motors_and_docks() -> None:
    """Docked SuperBots lift their pitch joints; the welds stay closed."""
    with volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": "commanded"}) as world:
        other = Other(world, actuated=True)
        assert any("docks" in each for each in other.left_out)
        assert other.model.neq == 2, "an engaged dock is a weld"
        for name in world.motor_names:
            other.data.ctrl[other.model.actuator(name).id] = 0.4 if name.endswith(".pitch") else 0.0
        world.act("pitch", 0.4), world.act("yaw", 0.0), world.act("roll", 0.0)
        world.step(120)
        other.run_to(2)
        theirs = [float(other.data.joint(name).qpos[0]) for name in world.motor_names]
        assert theirs == pytest.approx(list(world.joint_positions[world.motor_joints]), abs=0.03)
        for a, b in (("s0.back", "s1.front"), ("s0.front", "s1.back")):
            gap = np.linalg.norm(other.data.site(a).xpos - other.data.site(b).xpos)
            if gap < 0.05:
                assert gap < 2e-4, "the dock is closed"
                break
        else:
            pytest.fail("no docks of s0 and s1 meet")
        assert other.where("s1." + world.link_names[world.module_links[1]].split(".")[1])[2] == pytest.approx(
            world.poses[world.module_links[1], 2], abs=0.01
        )


def test_the_command(tmp_path: pathlib.Path) -> None:
    done = command("export", "superbot", "--mjcf", "superbot.xml", cwd=tmp_path)
    assert done.returncode == 0 and "left out" in done.stderr, done.stderr
    text = (tmp_path / "superbot.xml").read_text()
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "superbot.xml"))
    assert model.nu == 3 and "Left out or changed" in text
    with volvox.load("remod3d/snake", settings={"modules": 3}) as world:
        command("export", "remod3d/snake", "--set", "modules=3", "--mjcf", "snake.xml", cwd=tmp_path)
        assert (tmp_path / "snake.xml").read_text() == world.mjcf()[0]
    for words, what in (
        (["superbot"], "nothing is to be written"),
        (["superbot", "--mjcf", "x.xml", "--every", "3"], "belongs to --page"),
        (["superbot", "--csv", "--mjcf", "x.xml"], "only one of"),
        (["superbt", "--mjcf", "x.xml"], "superb"),
        (["superbot", "--mjcf", "no/such/x.xml"], "x.xml"),
        (["superbot", "--mjcf", "x.xml", "--set", "a=1"], "no parameters"),
    ):
        done = command("export", *words, cwd=tmp_path)
        assert done.returncode == 2 and re.search(what, done.stderr), (words, done.stderr)
    assert not list(tmp_path.glob("x.xml"))


def test_terrain_and_names() -> None:
    """A height field stands where ours does, and names that XML would stumble over are kept."""
    with volvox.load("remod3d/terrain", settings={"pool": "false"}) as world:
        other = Other(world)
        stones = [i for i, name in enumerate(world.link_names) if name.startswith("obstacle")]
        world.step(60)
        other.run_to(1)
        apart = [abs(other.where(world.link_names[i])[2] - world.poses[i, 2]) for i in stones]
        assert len(stones) > 200 and np.median(apart) < 0.004 < np.ptp(world.poses[stones, 2]) / 20, "they lie on the same hills"
    odd = sphere("a", "0 0 1 0 0 0").replace('name="a"', 'name="a &amp; b"')
    with volvox.load(world_text(odd)) as world:
        assert Other(world).where(world.link_names[-1])[2] == pytest.approx(1)
