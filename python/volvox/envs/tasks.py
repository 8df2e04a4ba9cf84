"""Tasks out of experiments: which world, what modules see and do, and what is rewarded.

All arrays have a row a module. Actions are in [-1, 1]. SI units, world frame.
"""

from __future__ import annotations

from typing import ClassVar, Iterable, Mapping, Optional, Union

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
    """Ticks after each command."""
    commands_per_step: int = 1
    """How often an action is commanded in one step of an environment: more for actions that say how to move for a while."""
    seconds: float = 10.0
    """The length of an episode, s; then it is truncated."""
    action_size: int = 1
    """Numbers for each module; where actions are shared, for all of them together."""
    shared_action: bool = False
    """Whether one action is for the whole robot: actions then have one row. Such a task has no parallel_env."""
    observation_size: int = 1
    """Numbers for each module."""
    camera: str = "corner"
    joins: bool = False
    """Whether modules that begin apart become agents (parallel_env) only when they dock to the others."""

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
    held: Mapping[str, float] = {}
    """Joints that hold a position, rad: what is not commanded is limp."""
    reach: float = 1.0
    """The position that an action of 1 means, rad."""

    def __init__(self) -> None:
        self.action_size = len(self.joints)
        self.observation_size = 2 * len(self.joints) + 6
        self._motors: Optional[npt.NDArray[np.int32]] = None

    def _motors_of(self, world: World, joints: Iterable[str]) -> npt.NDArray[np.int32]:
        names = {name: i for i, name in enumerate(world.motor_names)}
        rows = [[names[f"{module}.{joint}"] for joint in joints] for module in world.module_names]
        return np.array(rows, np.int32)

    def _columns(self, world: World) -> npt.NDArray[np.int32]:
        """The motors of the joints, a row a module: the same in all worlds of the task."""
        if self._motors is None:
            self._motors = self._motors_of(world, self.joints)
        return self._motors

    def load(self, seed: int = 1, threads: int = 1) -> World:
        world = super().load(seed, threads)
        if self.held:  # commands hold until they are changed, also in the snapshot that is every episode's start
            targets = np.tile(list(self.held.values()), len(world.module_names))
            world.command(targets, motors=self._motors_of(world, self.held).ravel())
        return world

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
    """A chain of SuperBots (remod3d/snake) shall crawl along x, 10 points a metre. The roll joints hold."""

    name = "Snake"
    experiment = "remod3d/snake"
    behavior = "snake"
    joints: tuple[str, ...] = ("pitch", "yaw")
    held: Mapping[str, float] = {"roll": 0.0}
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


def _cart(name: str, pose: str) -> str:
    """A cart of 0.4 kg on four driven wheels, 115 mm long, with a dock at its front."""
    wheels = "".join(
        f"""
    <link name="{end}_{side}_wheel"><pose>{x} {y} 0 0 0 0</pose>
      <inertial><mass>0.03</mass><inertia><ixx>4e-6</ixx><iyy>6e-6</iyy><izz>4e-6</izz></inertia></inertial>
      <collision name="tyre"><pose degrees="true">0 0 0 90 0 0</pose>
        <geometry><cylinder><radius>0.02</radius><length>0.012</length></cylinder></geometry></collision></link>
    <joint name="{end}_{side}" type="continuous"><parent>chassis</parent><child>{end}_{side}_wheel</child>
      <axis><xyz>0 1 0</xyz><limit><effort>0.2</effort><velocity>10</velocity></limit></axis></joint>
    <volvox:motor joint="{end}_{side}" kp="1" kd="0.1"/>"""
        for end, x in (("front", 0.04), ("rear", -0.04))
        for side, y in (("left", 0.045), ("right", -0.045))
    )
    return f"""
  <model name="{name}"><pose>{pose}</pose>
    <link name="chassis">
      <inertial><mass>0.28</mass><inertia><ixx>1.8e-4</ixx><iyy>3.1e-4</iyy><izz>4.5e-4</izz></inertia></inertial>
      <collision name="box"><geometry><box><size>0.11 0.075 0.024</size></box></geometry></collision></link>{wheels}
    <volvox:dock name="front" link="chassis" pose="0.06 0 0 0 0 0" kind="cart" symmetry="2"
      capture_distance="0.015" latch_time="0.5" axial="20" shear="20" bending="1" torsion="1"/>
    <volvox:mind behavior="driven"/>
  </model>"""


_CARTS = f"""<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="dock">
  <volvox:run duration="20" dt="1/60"/>
  <model name="ground"><static>true</static>
    <link name="ground"><collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link>
  </model>{_cart("left", "-0.3 0 0.02 0 0 0")}{_cart("right", "0.3 0 0.02 0 0 3.14159265358979")}
</world>
</sdf>
"""


class Dock(Task):
    """Two carts, which face each other, shall dock: 10 points for each metre that their docks come nearer, and 10 when they
    are engaged, which ends it. The actions are the speeds of the left and the right wheels. A cart sees where the other
    dock lies in the frame of its own (ahead and left, in m, and the cosine and sine of the angle by which they do not
    face each other), its own speed in m/s and its rate of turn in rad/s."""

    name = "Dock"
    experiment = _CARTS
    behavior = "driven"
    action_size = 2
    observation_size = 6
    seconds = 20.0
    camera = "top"
    speed = 8.0  # rad/s of the wheels for an action of 1: 0.16 m/s

    def act(self, world: World, actions: Floats) -> None:
        # The motors of a cart: front left and right, rear left and right.
        world.command(np.tile(np.clip(actions, -1, 1), (1, 2)).ravel() * self.speed, "velocity")

    def scatter(self, world: World, random: np.random.Generator) -> None:
        self.act(world, random.uniform(-1, 1, (2, 2)))
        world.step(20)
        self.act(world, np.zeros((2, 2)))
        world.step(10)

    def _docks(self, world: World) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
        """Where the docks are, which way they point, and the chassis of both carts. All in the plane."""
        chassis = world.module_links
        w, x, y, z = world.poses[chassis, 3:].T
        heading = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        return world.poses[chassis, :2] + 0.06 * ahead, ahead, chassis

    def observe(self, world: World) -> Floats:
        at, ahead, chassis = self._docks(world)
        left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        gap = at[::-1] - at
        facing = -ahead[::-1]
        velocity = world.velocities[chassis]
        return np.stack(
            [
                (gap * ahead).sum(axis=1),
                (gap * left).sum(axis=1),
                (facing * ahead).sum(axis=1),
                (facing * left).sum(axis=1),
                (velocity[:, :2] * ahead).sum(axis=1),
                velocity[:, 5],
            ],
            axis=1,
        )

    def progress(self, world: World) -> float:
        at, _, _ = self._docks(world)
        return 10.0 * float(self.finished(world)) - 10.0 * float(np.linalg.norm(at[0] - at[1]))

    def finished(self, world: World) -> bool:
        return bool(world.dock_phases[0] == 2)


TASKS: dict[str, type[Task]] = {task.name: task for task in (Snake, Walker, Dock)}
"""The tasks that have a name, by it; Gymnasium knows each as "volvox/NAME-v0". Reconfigure, which acts on graphs, is no Task."""


def task_named(task: Union[str, Task, None]) -> Task:
    """A task by its name."""
    if isinstance(task, Task):
        return task
    known: Optional[type[Task]] = TASKS.get(task) if isinstance(task, str) else None
    if known is None:
        raise InputError(f"there is no task '{task}'; use one of {', '.join(TASKS)}, or a volvox.envs.Task")
    return known()
