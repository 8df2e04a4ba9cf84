"""Tasks out of experiments: which world, what modules see and do, and what is rewarded.

All arrays have a row a module. Actions are in [-1, 1]. SI units, world frame.
"""

from __future__ import annotations

import math
from typing import ClassVar, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..world import World, load

__all__ = ["Dock", "Snake", "TASKS", "Task", "Walker", "task_named"]

Floats = npt.NDArray[np.float64]


class Task:
    """What an environment does. Derive from it for a task of your own."""

    name: ClassVar[str] = "Task"
    experiment: str = ""
    """An experiment, a file, or SDF as text."""
    behavior: str = ""
    """The behavior of its modules, which the environment replaces."""
    settings: Mapping[str, object] = {}
    ticks_per_step: int = 4
    seconds: float = 10.0
    """The length of an episode, s; then it is truncated."""
    action_size: int = 1
    """Numbers for each module."""
    observation_size: int = 1
    """Numbers for each module."""
    camera: str = "corner"

    def load(self, seed: int = 1, threads: int = 1) -> World:
        """The world, at its start."""
        return load(self.experiment, settings=self.settings, seed=seed, threads=threads, behaviors={self.behavior: "commanded"})

    def scatter(self, world: World, random: np.random.Generator) -> None:
        """Makes the start of an episode, out of the start of the world, a little different each time."""
        self.act(world, random.uniform(-0.1, 0.1, (len(world.module_names), self.action_size)))
        world.step(self.ticks_per_step)

    def act(self, world: World, actions: Floats) -> None:
        """Commands the modules."""
        raise NotImplementedError

    def observe(self, world: World) -> Floats:
        """What the modules see: (modules, observation_size)."""
        raise NotImplementedError

    def progress(self, world: World) -> float:
        """The reward of a step is how much this has grown, less effort()."""
        raise NotImplementedError

    def effort(self, actions: Floats) -> float:
        """What a step costs."""
        return 0.001 * float(np.square(actions).mean())

    def finished(self, world: World) -> bool:
        """Whether the episode has reached its end, good or bad."""
        return False


def _up(quaternions: Floats) -> Floats:
    """The z axis of the world in the frames of these rotations: the way that gravity does not pull."""
    w, x, y, z = quaternions.T
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)


class _Gait(Task):
    """Robots of modules with joints that shall go along x. A module sees its joints and which way is up; its actions are
    the positions of its joints."""

    joints: tuple[str, ...] = ()
    reach: float = 1.0
    """The position that an action of 1 means, rad."""

    def __init__(self) -> None:
        self.action_size = len(self.joints)
        self.observation_size = 2 * len(self.joints) + 6
        self._motors: Optional[npt.NDArray[np.int32]] = None

    def _columns(self, world: World) -> npt.NDArray[np.int32]:
        """The motors of the joints, a row a module: the same in all worlds of the task."""
        if self._motors is None:
            names = {name: i for i, name in enumerate(world.motor_names)}
            rows = [[names[f"{module}.{joint}"] for joint in self.joints] for module in world.module_names]
            self._motors = np.array(rows, np.int32)
        return self._motors

    def act(self, world: World, actions: Floats) -> None:
        motors = self._columns(world).ravel()
        world.command(np.clip(actions, -1, 1).ravel() * self.reach, motors=motors)

    def observe(self, world: World) -> Floats:
        motors = self._columns(world)
        joints = world.motor_joints[motors]
        links = world.module_links
        return np.concatenate(
            [
                world.joint_positions[joints] / self.reach,
                world.joint_velocities[joints] / world.motor_speed[motors],
                _up(world.poses[links, 3:]),
                world.velocities[links, :3],
            ],
            axis=1,
        )

    def progress(self, world: World) -> float:
        return 10.0 * world.centre_of_mass[0]


class Snake(_Gait):
    """A chain of SuperBots (remod3d/snake) shall crawl along x, 10 points a metre."""

    name = "Snake"
    experiment = "remod3d/snake"
    behavior = "snake"
    joints = ("pitch", "yaw")
    reach = 0.8
    camera = "left"

    def __init__(self, modules: int = 5, breakable: bool = False) -> None:
        super().__init__()
        self.settings = {"modules": modules, "breakable": breakable, "sync": "clock"}


class Walker(_Gait):
    """A body of two CONROs, four legs and a head (roles/walker) shall walk along x, 10 points a metre. It ends when it
    lies on its back."""

    name = "Walker"
    experiment = "roles/walker"
    behavior = "conro_roles"
    joints = ("pitch", "yaw")
    reach = 0.9
    ticks_per_step = 6

    def finished(self, world: World) -> bool:
        body = world.module_links[:1]
        return bool(_up(world.poses[body, 3:])[0, 2] < 0)


_SCOUTS = """<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="dock">
  <volvox:run duration="20" dt="1/60"/>
  <model name="ground">
    <static>true</static>
    <link name="ground"><collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link>
  </model>
  <volvox:module name="seeker" robot="scout" pose="-0.3 0 0.048 0 0 0"><volvox:mind behavior="roll_on"/></volvox:module>
  <volvox:module name="sought" robot="scout" pose="0.3 0 0.048 0 0 0"><volvox:mind behavior="roll_on"/></volvox:module>
</world>
</sdf>
"""


class Dock(Task):
    """Two Scouts shall dock, the front of `seeker` to the back of `sought`: 10 points for each metre that the docks come
    nearer, 10 when they are engaged, which ends it. The actions are the speeds of the left and the right wheel. A module
    sees where the dock that it wants lies in its own frame (ahead and left, in m, and the cosine and sine of the angle
    between the docks), and its own speed and rate of turn."""

    name = "Dock"
    experiment = _SCOUTS
    behavior = "roll_on"
    action_size = 2
    observation_size = 6
    seconds = 20.0
    camera = "top"
    speed = 6.0  # rad/s of the wheels for an action of 1: 0.29 m/s

    def act(self, world: World, actions: Floats) -> None:
        wheels = np.array(
            [i for i, name in enumerate(world.motor_names) if name.rpartition(".")[2] in ("wheel_left", "wheel_right")], np.int32
        )
        hinges = np.array([i for i, name in enumerate(world.motor_names) if name.endswith(".hinge")], np.int32)
        world.command(np.clip(actions, -1, 1).ravel() * self.speed, "velocity", motors=wheels)
        world.command(np.zeros(len(hinges)), motors=hinges)

    def scatter(self, world: World, random: np.random.Generator) -> None:
        self.act(world, random.uniform(-1, 1, (2, 2)))
        world.step(20)
        self.act(world, np.zeros((2, 2)))
        world.step(10)

    def _docks(self, world: World) -> tuple[int, int]:
        return world.dock_names.index("seeker.front"), world.dock_names.index("sought.back")

    def _plane(self, world: World, link: str) -> tuple[Floats, float]:
        pose = world.poses[world.link_names.index(link)]
        w, x, y, z = pose[3:]
        return pose[:2], math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    def _ends(self, world: World) -> tuple[Floats, float, Floats, float]:
        """Positions and headings of both docks, in the plane. A Scout's docks lie 60 mm from its hinge; the rear half's
        frame points backwards."""
        at, heading = self._plane(world, "seeker.front")
        other, turned = self._plane(world, "sought.rear")
        reach = 0.06
        return (
            at + reach * np.array([math.cos(heading), math.sin(heading)]),
            heading,
            other + reach * np.array([math.cos(turned), math.sin(turned)]),
            turned,
        )

    def observe(self, world: World) -> Floats:
        front, heading, back, turned = self._ends(world)
        rows = []
        for mine, angle, wanted, facing, link in (
            (front, heading, back, turned, "seeker.front"),
            (back, turned, front, heading, "sought.rear"),
        ):
            ahead = np.array([math.cos(angle), math.sin(angle)])
            left = np.array([-ahead[1], ahead[0]])
            gap = wanted - mine
            off = facing + math.pi - angle  # 0: the docks face each other
            velocity = world.velocities[world.link_names.index(link)]
            rows.append([gap @ ahead, gap @ left, math.cos(off), math.sin(off), velocity[:2] @ ahead, velocity[5]])
        return np.array(rows)

    def progress(self, world: World) -> float:
        front, _, back, _ = self._ends(world)
        return 10.0 * float(self.finished(world)) - 10.0 * float(np.hypot(*(front - back)))

    def finished(self, world: World) -> bool:
        mine, _ = self._docks(world)
        return bool(world.dock_phases[mine] == 2)


TASKS: dict[str, type[Task]] = {task.name: task for task in (Snake, Walker, Dock)}


def task_named(task: Union[str, Task, None]) -> Task:
    """A task by its name."""
    if isinstance(task, Task):
        return task
    known: Optional[type[Task]] = TASKS.get(task) if isinstance(task, str) else None
    if known is None:
        raise InputError(f"there is no task '{task}': use one of {', '.join(TASKS)}, or a volvox.envs.Task")
    return known()
