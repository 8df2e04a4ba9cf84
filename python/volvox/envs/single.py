"""One world as a gymnasium.Env."""

from __future__ import annotations

from typing import Any, Optional, Union

import gymnasium
import numpy as np
import numpy.typing as npt

from .._arguments import floats
from ..errors import InputError
from .episode import Episode
from .tasks import Task, task_named

__all__ = ["WorldEnv"]

Array = npt.NDArray[np.float32]


def spaces(task: Task, modules: int) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """Observation and action of so many modules, one after another."""
    return (
        gymnasium.spaces.Box(-np.inf, np.inf, (modules * task.observation_size,), np.float32),
        gymnasium.spaces.Box(-1.0, 1.0, ((1 if task.shared_action else modules) * task.action_size,), np.float32),
    )


class WorldEnv(gymnasium.Env[Any, Any]):
    """A task with one world. Observations and actions are those of the modules one after another."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}

    def __init__(
        self, task: Union[str, Task], *, render_mode: Optional[str] = None, world_seed: int = 1, threads: int = 1
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"there is no render mode '{render_mode}'; use rgb_array, or None")
        self.task = task_named(task)
        self.render_mode = render_mode
        self.world = self.task.load(world_seed, threads)
        self._episode = Episode(self.task, self.world)
        self.observation_space, self.action_space = spaces(self.task, self._episode.modules)
        self._begun = False

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        self._begun = True
        return self._episode.reset(self.np_random).astype(np.float32).ravel(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Acts, and simulates the ticks of one step."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        actions = floats(action, "the action")
        if actions.shape != self.action_space.shape:
            raise InputError(f"the action has the shape {actions.shape}; give {self.action_space.shape}")
        for _ in range(self.task.commands_per_step):
            self._episode.act(actions.reshape(self._episode.rows, -1))
            self.world.step(self.task.ticks_per_step)
        seen, reward, terminated, truncated = self._episode.result()
        return seen.astype(np.float32).ravel(), reward, terminated, truncated, {"time_s": self.world.time}

    def render(self) -> Any:
        """A picture, where render_mode is rgb_array."""
        return self.world.picture(self.task.camera) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Closes the world."""
        self.world.close()
