"""Many worlds as a gymnasium.vector.VectorEnv, stepped together over threads."""

from __future__ import annotations

from typing import Any, Optional, Union

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from .._arguments import floats
from ..errors import InputError
from ..population import Population
from .episode import Episode
from .single import Array, spaces
from .tasks import Task, task_named

__all__ = ["WorldVectorEnv"]


class WorldVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """So many worlds of one task. An episode that has ended begins anew in the next step (AutoresetMode.NEXT_STEP)."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, task: Union[str, Task], num_envs: int = 1, *, threads: int = 1, world_seed: int = 1) -> None:
        if num_envs < 1:
            raise InputError(f"{num_envs} environments are not possible; give 1 or more")
        self.task = task_named(task)
        self.num_envs = num_envs
        worlds = [self.task.load(world_seed) for _ in range(num_envs)]
        start = worlds[0].snapshot()
        self.population = Population(worlds, threads)
        self._episodes = [Episode(self.task, world, start) for world in worlds]
        self._modules = self._episodes[0].modules
        self.single_observation_space, self.single_action_space = spaces(self.task, self._modules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._random = [np.random.default_rng() for _ in range(num_envs)]
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._seen = np.zeros((num_envs, self._modules * self.task.observation_size), dtype=np.float32)
        self._begun = False

    def reset(
        self, *, seed: Union[None, int, list[Optional[int]]] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins all episodes. With a number as the seed, environment i has seed + i; with options["reset_mask"] (a
        boolean array), only those of the mask begin."""
        seeds = [None] * self.num_envs if seed is None else [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"{len(seeds)} seeds for {self.num_envs} environments; give one for each, or one number")
        mask = (options or {}).get("reset_mask")
        if mask is not None and (np.asarray(mask).shape != (self.num_envs,) or np.asarray(mask).dtype != np.bool_):
            raise InputError(f"reset_mask is not possible; give {self.num_envs} booleans")
        for i, episode in enumerate(self._episodes):
            if mask is not None and not mask[i]:
                continue
            if seeds[i] is not None:
                self._random[i] = np.random.default_rng(seeds[i])
            self._seen[i] = episode.reset(self._random[i]).ravel()
            self._over[i] = False
        self._begun = True
        return self._seen.copy(), {}

    def step(
        self, actions: Array
    ) -> tuple[Array, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Acts in all worlds, and simulates the ticks of one step."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        given = floats(actions, "the actions")
        if given.shape != self.action_space.shape:
            raise InputError(f"the actions have the shape {given.shape}; give {self.action_space.shape}")
        if not np.isfinite(given).all():  # before one of the worlds is told
            raise InputError("there is a NaN or an infinity in the actions; give finite numbers")
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        for i, episode in enumerate(self._episodes):
            if self._over[i]:
                self._seen[i] = episode.reset(self._random[i]).ravel()
        going = np.flatnonzero(~self._over).tolist()
        for _ in range(self.task.commands_per_step):
            for i in going:
                self._episodes[i].act(given[i].reshape(self._episodes[i].rows, -1))
            self.population.step(self.task.ticks_per_step, going)
        for i in going:
            seen, rewards[i], terminated[i], truncated[i] = self._episodes[i].result()
            self._seen[i] = seen.ravel()
        self._over = terminated | truncated
        return self._seen.copy(), rewards, terminated, truncated, {}

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the worlds."""
        self.population.close()
