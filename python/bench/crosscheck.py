#!/usr/bin/env python3
"""The same robots in our engines and, by way of MJCF, in the MuJoCo of PyPI: how they fall, swing, roll and move, against closed forms
and against each other. Prints the table of docs/crosscheck.md.

    pip install mujoco
    python python/bench/crosscheck.py [--plugin build/mujoco3/libvolvox_mujoco3.so]

MuJoCo steps 0.5 ms; our engines have substeps of 1/240 s, as `volvox run` has.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any, Callable, NamedTuple, Optional

import mujoco
import numpy as np

import volvox

GRAVITY, LENGTH, SLOPE = 9.81, 0.5, math.radians(10)


class Scene(NamedTuple):
    name: str
    world: Callable[[], Any]
    seconds: float
    measure: Callable[["Side"], float]
    unit: str
    exact: Optional[float]


class Side:
    """A world in one engine: where its links and joints are, and steps of 1/60 s."""

    def __init__(self, world: volvox.World, other: bool) -> None:
        self.world, self.time = world, 0.0
        if other:
            self.model = mujoco.MjModel.from_xml_string(world.mjcf()[0])
            self.model.opt.timestep = 0.0005
            self.data = mujoco.MjData(self.model)
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
            mujoco.mj_forward(self.model, self.data)
        self.other = other

    def step(self) -> None:
        self.time += 1 / 60
        if not self.other:
            self.world.step()
            return
        while self.data.time < self.time - 1e-9:
            mujoco.mj_step(self.model, self.data)

    def place(self, link: str) -> Any:
        if not self.other:
            return self.world.poses[self.world.link_names.index(link), :3]
        return self.data.body(link).xpos

    def joint(self, name: str) -> float:
        if not self.other:
            return float(self.world.joint_positions[self.world.joint_names.index(name)])
        return float(self.data.joint(name).qpos[0])

    def command(self, motor: str, target: float) -> None:
        if self.other:
            self.data.ctrl[self.model.actuator(motor).id] = target
        else:
            self.world.command([target], motors=[motor])


def falling() -> Any:
    return volvox.WorldSpec.read("remod3d/snake"), {"modules": 3}


def swinging() -> Any:
    spec = volvox.WorldSpec("swing", duration=100)
    arm = volvox.RobotSpec("arm")
    arm.add_link("bob", "sphere", 0.05, mass=0.5, pose=(LENGTH, 0, 2))
    arm.add_joint("hinge", "world", "bob", "continuous", axis=(0, 1, 0), pose=(-LENGTH, 0, 0))
    arm.set_mind("idle")
    spec.add_module("arm", arm, pose=(0, 0, 0))
    return spec, {}


def rolling() -> Any:
    spec = volvox.WorldSpec("roll", duration=100)
    spec.add_box("slope", (20, 4, 1), pose=(0, 0, -0.5 / math.cos(SLOPE), 0, SLOPE, 0))
    roller = volvox.RobotSpec("roller")
    roller.add_link("ball", "sphere", 0.05, mass=0.5)
    roller.set_mind("idle")
    spec.add_module("roller", roller, pose=(0, 0, 0.05 / math.cos(SLOPE)))
    return spec, {}


def lifting() -> Any:
    return "remod3d/snake", {"modules": 3}


def fall_of(side: Side) -> float:
    start = float(side.place("s1.tail")[2])
    for _ in range(30):
        side.step()
    return start - float(side.place("s1.tail")[2])


def period_of(side: Side) -> float:
    """Of the swing from the horizontal, by the times at which it passes the lowest point."""
    passed, before = [], 1.0
    for _ in range(400):
        side.step()
        angle = math.atan2(float(side.place("arm.bob")[0]), 2 - float(side.place("arm.bob")[2]))
        if before > 0 >= angle:
            passed.append(side.time - (1 / 60) * angle / (angle - before))
        before = angle
    return (passed[-1] - passed[0]) / (len(passed) - 1)


def roll_of(side: Side) -> float:
    for _ in range(60):
        side.step()
    return float(np.hypot(*side.place("roller.ball")[[0, 2]] - np.array([0, 0.05 / math.cos(SLOPE)])))


def lift_of(side: Side) -> float:
    for name in side.world.motor_names:
        side.command(name, 0.4 if name.endswith("s1.pitch") else 0.0)
    for _ in range(120):
        side.step()
    return side.joint("s1.pitch")


def droop_of(side: Side) -> float:
    for name in side.world.motor_names:
        side.command(name, 0.4 if name.endswith("s1.pitch") else 0.0)
    for _ in range(120):
        side.step()
    return float(side.place("s1.tail")[2])


def agm(a: float, b: float) -> float:
    for _ in range(8):
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


PERIOD = 2 * math.pi / agm(1, math.cos(math.pi / 4)) * math.sqrt((LENGTH**2 + 0.4 * 0.05**2) / (GRAVITY * LENGTH))
SCENES = [
    Scene("a SuperBot of a docked chain falls for 0.5 s", falling, 0.5, fall_of, "m", GRAVITY / 8),
    Scene("a pendulum of 0.5 m swings from the horizontal: its period", swinging, 6.7, period_of, "s", PERIOD),
    Scene("a ball rolls down 10 degrees for 1 s", rolling, 1, roll_of, "m", 5 / 14 * GRAVITY * math.sin(SLOPE)),
    Scene("the middle SuperBot of three lifts its pitch to 0.4 rad", lifting, 2, lift_of, "rad", None),
    Scene("the height of its tail then", lifting, 2, droop_of, "m", None),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", help="the engine mujoco3 (cmake/mujoco3)")
    a = parser.parse_args()
    warnings.simplefilter("ignore")
    engines = ["native", "bullet", "ode", "mujoco"] + (["mujoco3"] if a.plugin else [])
    engines = [engine for engine in engines if engine in volvox.engines() or engine == "mujoco3"]
    print("| | closed form | " + " | ".join(engines) + f" | MuJoCo {mujoco.__version__} from PyPI, by MJCF |")
    print("|---|---|" + "---|" * (len(engines) + 1))
    for scene in SCENES:
        values = []
        for engine in [*engines, ""]:
            spec, settings = scene.world()
            if scene.world is falling:
                spec.change("s", pose=(0, 0, 3, 0.3, 0.2, 0.1))
            arguments: dict[str, Any] = {"plugins": [a.plugin]} if engine == "mujoco3" else {}
            with volvox.load(spec, settings=settings, engine=engine or "native", behaviors={"snake": "commanded"} if settings else None, **arguments) as world:
                values.append(scene.measure(Side(world, other=not engine)))
        exact = "-" if scene.exact is None else f"{scene.exact:.4f}"
        print(f"| {scene.name}, {scene.unit} | {exact} | " + " | ".join(f"{value:.4f}" for value in values) + " |")


if __name__ == "__main__":
    main()
