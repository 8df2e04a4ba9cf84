#!/usr/bin/env python3
"""The same chains of modules in Volvox, in MuJoCo (world.mjcf()) and in DART, Gazebo's default engine (built from the same numbers),
in one run and in alternation: processor time for a simulated second, one thread each, how fast the chains
crawl, and by how much (root mean square) the servos miss what they are told.

    pip install mujoco dartpy
    python python/bench/peers.py [--chains 1,10] [--modules 6] [--seconds 2] [--repeats 3]

A module is two boxes with a servo between them; a chain is docked, and a wave runs along it. Every engine has the step that its
people use: Volvox 1/240 s, MuJoCo 2 ms, DART 1 ms (what Gazebo sets); --same gives all of them 1 ms. DART's docks are weld
constraints, as Gazebo's DetachableJoint makes them, and its servos springs with dampers, which it takes
implicitly, without a limit of torque (servos as its motors hold still beside welds; explicit ones explode). dartpy and
Gazebo's plugin both use DART's own solver; Gazebo's other parts (entities, transport, rendering) are not in the figure.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any, Callable

import numpy as np

import volvox

AMPLITUDE, RATE, LAG = 0.5, 4.0, 1.2
KP, KD, EFFORT, SPEED = 20.0, 0.5, 2.0, 4.0


def world_of(chains: int, modules: int) -> volvox.WorldSpec:
    hinge = volvox.RobotSpec("hinge")
    hinge.add_link("rear", "box", (0.06, 0.06, 0.06), mass=0.1, pose=(-0.03, 0, 0))
    hinge.add_link("fore", "box", (0.06, 0.06, 0.06), mass=0.1, pose=(0.03, 0, 0))
    hinge.add_joint("hinge", "rear", "fore", axis=(0, 1, 0), pose=(-0.03, 0, 0), lower=-1.2, upper=1.2, effort=EFFORT, velocity=SPEED, motor=(KP, KD))
    hinge.add_dock("front", "fore", (0.03, 0, 0), symmetry=4)
    hinge.add_dock("back", "rear", (-0.03, 0, 0, 0, 0, np.pi), symmetry=4)
    hinge.set_mind("commanded")
    spec = volvox.WorldSpec("chains", duration=1000)
    spec.add_ground()
    for chain in range(chains):
        spec.add_population(f"c{chain}_", hinge, count=modules, pose=(0, 0.3 * chain, 0.0305), from_="front", to="back")
    return spec


def wave(seconds: float, places: np.ndarray) -> np.ndarray:
    return AMPLITUDE * np.sin(RATE * seconds + LAG * places)


class Ours:
    name = "Volvox, native, 1/240 s"

    def __init__(self, spec: volvox.WorldSpec, modules: int, step: float | None) -> None:
        self.world = volvox.load(spec, substep=step)
        self.places = np.array([int(name.split("_")[1].split(".")[0]) for name in self.world.motor_names], float)

    def advance(self, seconds: float) -> None:
        for _ in range(round(60 * seconds)):
            self.world.command(wave(self.world.time, self.places))
            self.world.step()

    def places_x(self) -> np.ndarray:
        return np.array(self.world.poses[self.world.module_links, 0])

    def errors(self) -> np.ndarray:
        return self.world.joint_positions[self.world.motor_joints] - wave(self.world.time, self.places)


class Mujoco:
    name = "MuJoCo, 2 ms"

    def __init__(self, spec: volvox.WorldSpec, modules: int, step: float | None) -> None:
        import mujoco

        self.mujoco = mujoco
        with volvox.load(spec) as world:
            text, _ = world.mjcf()
            self.links = [world.link_names[i] for i in world.module_links]
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.timestep = step or 0.002
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        names = [self.model.actuator(i).name for i in range(self.model.nu)]
        self.places = np.array([int(name.split("_")[1].split(".")[0]) for name in names], float)
        self.bodies = [self.model.body(name).id for name in self.links]

    def advance(self, seconds: float) -> None:
        end = self.data.time + seconds
        while self.data.time < end - 1e-9:
            self.data.ctrl[:] = wave(self.data.time, self.places)
            self.mujoco.mj_step(self.model, self.data, max(1, round(1 / 60 / self.model.opt.timestep)))

    def places_x(self) -> np.ndarray:
        self.mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.xpos[self.bodies, 0])

    def errors(self) -> np.ndarray:
        return self.data.actuator_length - wave(self.data.time, self.places)


class Dart:
    name = "DART, 1 ms"

    def __init__(self, spec: volvox.WorldSpec, modules: int, step: float | None) -> None:
        import dartpy

        d = dartpy.dynamics
        with volvox.load(spec) as world:
            pairs = [(world.dock_modules[i], world.dock_modules[int(j)]) for i, j in enumerate(world.dock_partners) if int(j) > i]
            names = list(world.module_names)
            at = {name: np.array(world.poses[i, :3]) for i, name in enumerate(world.link_names)}
        self.world: Any = dartpy.simulation.World()
        self.world.setGravity([0, 0, -9.81])
        self.world.setTimeStep(step or 0.001)

        def box(body: Any, size: list[float], mass: float) -> None:
            shape = d.BoxShape(size)
            body.createShapeNode(shape)
            node = body.getShapeNode(0)
            node.createCollisionAspect()
            node.createDynamicsAspect()
            node.getDynamicsAspect().setFrictionCoeff(0.7)
            body.setInertia(d.Inertia(mass, [0, 0, 0], shape.computeInertia(mass)))

        ground = d.Skeleton("ground")
        _, body = ground.createWeldJointAndBodyNodePair(None)
        box(body, [20, 20, 0.1], 1)
        move = dartpy.math.Isometry3()
        move.set_translation([0, 0, -0.05])
        ground.getJoint(0).setTransformFromParentBodyNode(move)
        self.world.addSkeleton(ground)
        self.robots, self.joints = [], []
        for name in names:
            robot = d.Skeleton(name)
            free, rear = robot.createFreeJointAndBodyNodePair(None)
            box(rear, [0.06, 0.06, 0.06], 0.1)
            hinge, fore = robot.createRevoluteJointAndBodyNodePair(rear)
            box(fore, [0.06, 0.06, 0.06], 0.1)
            hinge.setAxis([0, 1, 0])
            for set_it, x in ((hinge.setTransformFromParentBodyNode, 0.03), (hinge.setTransformFromChildBodyNode, -0.03)):
                move = dartpy.math.Isometry3()
                move.set_translation([x, 0, 0])
                set_it(move)
            hinge.setSpringStiffness(0, KP)
            hinge.setDampingCoefficient(0, KD)
            robot.setPositions([0, 0, 0, *at[f"{name}.rear"], 0])
            robot.disableSelfCollisionCheck()
            self.world.addSkeleton(robot)
            self.robots.append(robot)
            self.joints.append(hinge)
        solver = self.world.getConstraintSolver()
        for a, b in pairs:  # what is docked does not collide, as in the others
            first, second = self.robots[min(a, b)].getBodyNode(1), self.robots[max(a, b)].getBodyNode(0)
            solver.addConstraint(dartpy.constraint.WeldJointConstraint(first, second))
            solver.getCollisionOption().collisionFilter.addBodyNodePairToBlackList(first, second)
        self.places = np.array([int(name.split("_")[1]) for name in names], float)

    def advance(self, seconds: float) -> None:
        end = self.world.getTime() + seconds
        steps = max(1, round(1 / 60 / self.world.getTimeStep()))
        while self.world.getTime() < end - 1e-9:
            targets = wave(self.world.getTime(), self.places)
            for joint, target in zip(self.joints, targets):
                joint.setRestPosition(0, float(target))
            for _ in range(steps):
                self.world.step()

    def places_x(self) -> np.ndarray:
        return np.array([robot.getBodyNode(0).getTransform().translation()[0] for robot in self.robots])

    def errors(self) -> np.ndarray:
        return np.array([joint.getPosition(0) for joint in self.joints]) - wave(self.world.getTime(), self.places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chains", default="1,10")
    parser.add_argument("--modules", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated, in a repeat")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--same", action="store_true", help="steps of 1 ms for all")
    a = parser.parse_args()
    kinds: list[Callable[..., Any]] = [Ours, Mujoco, Dart]
    for module, kind in (("mujoco", Mujoco), ("dartpy", Dart)):
        try:
            __import__(module)
        except ImportError:
            print(f"without {kind.name}: pip install {module}")
            kinds.remove(kind)
    print(f"volvox {volvox.__version__}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; chains of {a.modules}")
    for chains in map(int, a.chains.split(",")):
        spec = world_of(chains, a.modules)
        running = [kind(spec, a.modules, 0.001 if a.same else None) for kind in kinds]
        begins = [each.places_x() for each in running]
        times: list[list[float]] = [[] for _ in running]
        for each in running:
            each.advance(0.5)
        missed: list[list[float]] = [[] for _ in running]
        for _ in range(a.repeats):
            for each, measured, off in zip(running, times, missed):
                spent = 0.0
                for _ in range(round(10 * a.seconds)):
                    begin = time.process_time()
                    each.advance(0.1)
                    spent += time.process_time() - begin
                    off.append(float(np.mean(each.errors() ** 2)))
                measured.append(spent / a.seconds)
        for each, measured, begin_x, off in zip(running, times, begins, missed):
            moved = float(np.mean(each.places_x() - begin_x)) / (0.5 + a.repeats * a.seconds)
            least, median = min(measured) * 1e3, statistics.median(measured) * 1e3
            print(f"{chains:>4} chains  {'1 ms ' if a.same else ''}{each.name:<26}{median:>10.1f} ms of processor time a simulated second (least {least:.1f}); "
                  f"{1e3 * moved:+.0f} mm/s; servos off by {np.sqrt(np.mean(off)):.2f} rad")


if __name__ == "__main__":
    main()
