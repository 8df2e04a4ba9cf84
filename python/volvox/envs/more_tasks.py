"""Further tasks: a track that rolls, a pit that is crossed, quadrotors in formation."""

from __future__ import annotations

from typing import Mapping

import numpy as np

from ..errors import InputError
from ..world import World, load
from ..world_spec import WorldSpec
from .tasks import Floats, Snake, Task, _Gait

__all__ = ["Formation", "Pit", "Track", "Wave"]


class Track(_Gait):
    """A ring of six SuperBots (remod3d/rolling_track) shall roll along x, 10 points a metre. The actions move the yaw and pitch
    joints about the 30 degrees at which the ring is round; the roll joints hold. A module sees its joints and which way is
    up."""

    name = "Track"
    experiment = "remod3d/rolling_track"
    behavior = "track"
    joints = ("yaw", "pitch")
    held: Mapping[str, float] = {"roll": np.pi / 2}
    reach = 0.5
    camera = "left"
    rest = np.pi / 6

    def __init__(self, ground: str = "flat") -> None:
        super().__init__()
        self.settings = {"disturbed": False, "ground": ground}

    def act(self, world: World, actions: Floats) -> None:
        world.command(self.rest + np.clip(actions, -1, 1).ravel() * self.reach, motors=self._columns(world).ravel())

    def observe(self, world: World) -> Floats:
        seen = super().observe(world)
        seen[:, : len(self.joints)] -= self.rest / self.reach
        return seen


class Wave(Snake):
    """A chain of SuperBots (remod3d/snake) shall crawl along x by a wave of its pitch joints, 10 points a metre. One action for the
    whole chain, once a period of the wave: how high it is at the one end and at the other, and how much each module lags behind
    the one before it. An action of zeros is no wave: all modules bend as one. What is seen is what the modules of Snake see."""

    name = "Wave"
    joints = ("pitch",)
    held: Mapping[str, float] = {"roll": 0.0, "yaw": 0.0}
    reach = 0.6  # of the highest wave, so that the motors keep up with it
    shared_action = True
    commands_per_step = 15  # of 4 ticks: one period
    seconds = 4.0
    frequency = 1.0  # Hz
    lag = 1.5  # rad from module to module for an action of 1

    def __init__(self, modules: int = 5) -> None:
        super().__init__(modules)
        self.action_size = 3

    def act(self, world: World, actions: Floats) -> None:
        first, last, lag = np.clip(actions, -1, 1).ravel()
        modules = len(world.module_names)
        heights = 0.5 * self.reach * np.linspace(1 + first, 1 + last, modules)
        angles = heights * np.sin(2 * np.pi * self.frequency * world.time + self.lag * lag * np.arange(modules))
        world.command(angles, motors=self._columns(world).ravel())

    def scatter(self, world: World, random: np.random.Generator) -> None:
        self.act(world, np.array([[*random.uniform(-1, -0.8, 2), random.uniform(-1, 1)]]))
        world.step(self.ticks_per_step)


class Pit(Task):
    """A chain of Scouts (arenas/pit_snake) shall cross a pit: 10 points a metre of its last module, and 10 beyond the pit, which
    ends it, as a fall does. The actions are the angle of the hinge and the speed of both wheels. A module sees its hinge,
    which way is up, where it is before the pit's near edge (m) and how fast it goes along x (m/s)."""

    name = "Pit"
    experiment = "arenas/pit_snake"
    behavior = "roll_on"
    action_size = 2
    observation_size = 6
    seconds = 10.0
    camera = "left"
    bend = 0.5  # rad of the hinge for an action of 1
    speed = 0.4  # m/s of the wheels

    def __init__(self, modules: int = 8, pit: float = 0.4) -> None:
        if not (isinstance(modules, int) and 1 <= modules <= 12):
            raise InputError(f"{modules} Scouts are not possible; give 1 to 12")
        self.settings = {"modules": modules, "pit": pit}
        self.pit = pit
        self.radius = 0.048  # m: the height of the axle

    def act(self, world: World, actions: Floats) -> None:
        given = np.clip(actions, -1, 1)
        world.act("hinge", given[:, 0] * self.bend)
        for wheel in ("wheel_left", "wheel_right"):
            world.act(wheel, given[:, 1] * self.speed / self.radius, control="velocity")

    def observe(self, world: World) -> Floats:
        from .tasks import _up

        links = world.module_links
        hinges = [world.joint_names.index(f"{module}.hinge") for module in world.module_names]
        return np.column_stack(
            [
                world.joint_positions[hinges],
                _up(world.poses[links, 3:]),
                -world.poses[links, 0],
                world.velocities[links, 0],
            ]
        )

    def _last(self, world: World) -> float:
        return float(world.poses[world.module_links, 0].min())

    def _fallen(self, world: World) -> bool:
        return bool(world.poses[world.module_links, 2].min() < 0)

    def _beyond(self, world: World) -> bool:
        return self._last(world) > self.pit + 0.06 and not self._fallen(world)

    def progress(self, world: World) -> float:
        return 10.0 * self._last(world) + 10.0 * float(self._beyond(world)) - 10.0 * float(self._fallen(world))

    def finished(self, world: World) -> bool:
        return self._fallen(world) or self._beyond(world)


class Formation(Task):
    """Quadrotors, which start on the ground side by side, shall form a ring above it and stay there: 10 points for each metre that
    they come nearer to their places, on average; a robot that turns over or falls ends it. The actions are the speeds of the
    rotors front, left, back and right, 0 at hovering. A robot sees, in the world's axes, the way to its place (m), its
    velocity (m/s), its own z axis, its angular velocity (rad/s), and the way to the middle of all (m)."""

    name = "Formation"
    behavior = "commanded"
    action_size = 4
    observation_size = 15
    ticks_per_step = 2
    seconds = 6.0
    hover = 472.0  # rad/s of the rotors
    rotors = ("front", "left", "back", "right")

    def __init__(self, robots: int = 4, radius: float = 1.0, height: float = 1.2) -> None:
        if not (isinstance(robots, int) and 1 <= robots <= 100):
            raise InputError(f"{robots} quadrotors are not possible; give 1 to 100")
        spec = WorldSpec("formation", dt="1/100", duration=self.seconds)
        spec.add_ground()
        for i in range(robots):
            spec.add_module(f"q{i}", "quadrotor", pose=(0.8 * (i - (robots - 1) / 2), 0, 0.6), behavior=self.behavior)
        self.spec = spec
        angle = np.pi - (np.arange(robots) + 0.5) * 2 * np.pi / robots * 0.5  # in the order in which they stand: no ways cross
        self.goals = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(robots, height)])

    def load(self, seed: int = 1, threads: int = 1) -> World:
        return load(self.spec, seed=seed, threads=threads)

    def act(self, world: World, actions: Floats) -> None:
        for rotor, action in zip(self.rotors, np.clip(actions, -1, 1).T):
            world.act(rotor, self.hover * (1 + 0.4 * action))

    def observe(self, world: World) -> Floats:
        links = world.module_links
        at = world.poses[links, :3]
        w, x, y, z = world.poses[links, 3:].T
        up = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        return np.concatenate(
            [self.goals - at, world.velocities[links, :3], up, world.velocities[links, 3:], at.mean(axis=0) - at], axis=1
        )

    def progress(self, world: World) -> float:
        return -10.0 * float(np.linalg.norm(self.goals - world.poses[world.module_links, :3], axis=1).mean())

    def finished(self, world: World) -> bool:
        links = world.module_links
        _, x, y, _ = world.poses[links, 3:].T
        return bool((1 - 2 * (x * x + y * y) < 0.2).any() or (world.poses[links, 2] < 0.15).any())
