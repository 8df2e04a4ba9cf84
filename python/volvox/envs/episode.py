"""One world that is played again and again: what the environments of all kinds share."""

from __future__ import annotations

from typing import Optional

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..world import World
from .tasks import Task

__all__ = ["Episode"]

Floats = npt.NDArray[np.float64]


class Episode:
    """A world with its start, to which every episode returns, and the bookkeeping of the reward."""

    def __init__(self, task: Task, world: World, start: Optional[bytes] = None) -> None:
        self.task = task
        self.world = world
        self.start = world.snapshot() if start is None else start
        self.modules = len(world.module_names)
        self.rows = 1 if task.shared_action else self.modules
        """of an action"""
        self.most_steps = max(1, round(task.seconds / (world.dt * task.ticks_per_step * task.commands_per_step)))
        self.steps = 0
        self._before = 0.0

    def reset(self, random: np.random.Generator) -> Floats:
        """Begins an episode."""
        self.world.restore(self.start)
        self.task.scatter(self.world, random)
        self.steps = 0
        self._before = self.task.progress(self.world)
        return self.task.observe(self.world)

    def act(self, actions: Floats) -> None:
        """Before the ticks of a command."""
        if actions.shape != (self.rows, self.task.action_size):
            rows = "one row for all modules" if self.task.shared_action else "a row for each module"
            raise InputError(f"actions have the shape {actions.shape}; give {(self.rows, self.task.action_size)}, {rows}")
        if not np.isfinite(actions).all():
            raise InputError("there is a NaN or an infinity in the actions; give finite numbers")
        self._effort = self.task.effort(actions)
        self.task.act(self.world, actions)

    def result(self) -> tuple[Floats, float, bool, bool]:
        """After them: observation, reward, terminated, truncated."""
        self.steps += 1
        now = self.task.progress(self.world)
        reward = now - self._before - self._effort
        self._before = now
        return (
            self.task.observe(self.world),
            reward,
            self.task.finished(self.world),
            self.steps >= self.most_steps,
        )
