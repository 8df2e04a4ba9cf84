"""The engine mujoco3: the MuJoCo of PyPI as a plugin (src/volvox/mujoco3), beside Debian's in one process."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import volvox

pytest.importorskip("mujoco", reason="mujoco is not installed")


@pytest.fixture(scope="module")
def plugin() -> str:
    """Built by cmake/mujoco3."""
    done = subprocess.run([str(ROOT / "cmake/mujoco3")], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("the plugin is built with build/python/venv, which is not there")
    assert done.returncode == 0, done.stderr
    return str(ROOT / "build/mujoco3/libvolvox_mujoco3.so")


def test_bodies_fall_and_swing(plugin: str) -> None:
    """Against closed forms: a free fall, and the period of a pendulum of small swing."""
    spec = volvox.WorldSpec("fall", duration=3, dt="1/240")
    spec.add_box("crate", (0.1, 0.1, 0.1), pose=(1, 0, 5), mass=1)
    arm = volvox.RobotSpec("arm")
    arm.add_link("rod", "box", (0.02, 0.02, 0.5), mass=1, pose=(0, 0, 2))
    arm.add_joint("hinge", "world", "rod", "continuous", axis=(0, 1, 0), pose=(0, 0, 0.25))
    arm.set_mind("idle")
    spec.add_module("arm", arm, pose=(0, 0, 0), joints={"hinge": 0.1})
    with volvox.load(spec, engine="mujoco3", plugins=[plugin]) as world:
        crate, hinge = world.link_names.index("crate.body"), world.joint_names.index("arm.hinge")
        world.step(120)
        fallen = 9.81 * 120 * 121 / 2 / 240**2  # as semi-implicit Euler has it, 10 mm more than without steps
        assert world.poses[crate, 2] == pytest.approx(5 - fallen, abs=1e-9)
        zeros, last = [], 1.0
        for _ in range(600):
            world.step()
            angle = float(world.joint_positions[hinge])
            if last < 0 <= angle:
                zeros.append(world.time)
            last = angle
        period = 2 * np.pi * np.sqrt((0.5**2 + 0.02**2) / 12 / (9.81 * 0.25) + 0.25 / 9.81)
        assert np.diff(zeros).mean() == pytest.approx(period, rel=0.005)


def test_it_crawls_as_the_older_one(plugin: str) -> None:
    ways = {}
    for engine in ("mujoco", "mujoco3"):
        if engine not in volvox.engines() and engine == "mujoco":
            pytest.skip("Debian's MuJoCo is not here")
        with volvox.load("remod3d/snake", settings={"modules": 5}, duration=4, engine=engine, plugins=[plugin]) as world:
            ways[engine] = world.run().metrics["distance_m"]
    assert ways["mujoco3"] == pytest.approx(ways["mujoco"], rel=0.05) and ways["mujoco3"] != ways["mujoco"]


def test_the_same_bits_again(plugin: str, tmp_path: pathlib.Path) -> None:
    hashes = set()
    for threads in (1, 2, 1):
        with volvox.load("remod3d/snake", settings={"modules": 3}, engine="mujoco3", plugins=[plugin], threads=threads) as world:
            world.step(60)
            hashes.add(world.state_hash)
    assert len(hashes) == 1
    with volvox.load("remod3d/snake", settings={"modules": 3}, engine="mujoco3", plugins=[plugin], duration=0.3) as world:
        world.record(tmp_path)
        world.run(out=tmp_path)
    assert volvox.Recording(tmp_path).verify().same


def test_what_is_missing_is_said(plugin: str) -> None:
    with pytest.raises(volvox.InputError, match="mujoco3"):
        volvox.load("remod3d/snake", engine="mujoco3")  # without the plugin
    code = f"import volvox; volvox.load('remod3d/snake', engine='mujoco3', plugins=[{plugin!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, VOLVOX_MUJOCO3="/nowhere.so"))
    assert done.returncode == 1 and "pip install mujoco" in done.stderr
