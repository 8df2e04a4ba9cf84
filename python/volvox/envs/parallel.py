"""One world as a pettingzoo.ParallelEnv: each module is an agent."""

from __future__ import annotations

import functools
from typing import Any, Optional, Union

import gymnasium
import numpy as np
import pettingzoo

from ..errors import InputError
from .episode import Episode
from .single import Array
from .tasks import Task, task_named

__all__ = ["ModulesEnv"]


class ModulesEnv(pettingzoo.ParallelEnv[str, Array, Array]):
    """A task with one world. All agents get the reward of the whole. A module that breaks off the organism of most modules
    is terminated, as its agent is; modules that begin apart stay agents."""

    metadata: dict[str, Any] = {"name": "volvox", "render_modes": ["rgb_array"], "render_fps": 15, "is_parallelizable": True}

    def __init__(
        self, task: Union[str, Task], *, render_mode: Optional[str] = None, world_seed: int = 1, threads: int = 1
    ) -> None:
        self.task = task_named(task)
        self.render_mode = render_mode
        self.world = self.task.load(world_seed, threads)
        self._episode = Episode(self.task, self.world)
        self.possible_agents: list[str] = list(self.world.module_names)
        self.agents: list[str] = []
        self._together = len(set(self.world.organisms.tolist())) == 1
        self._random = np.random.default_rng()

    @functools.lru_cache(maxsize=None)
    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Array]:
        """What one module sees."""
        return gymnasium.spaces.Box(-np.inf, np.inf, (self.task.observation_size,), np.float32)

    @functools.lru_cache(maxsize=None)
    def action_space(self, agent: str) -> gymnasium.spaces.Space[Array]:
        """What one module does."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.task.action_size,), np.float32)

    def reset(
        self, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Begins an episode with all modules."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        seen = self._episode.reset(self._random).astype(np.float32)
        return dict(zip(self.agents, seen)), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Acts, and simulates the ticks of one step. Modules without an action get zeros."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        unknown = set(actions) - set(self.agents)
        if unknown:
            raise InputError(f"there is no agent {', '.join(sorted(unknown))} now: {', '.join(self.agents)}")
        given = np.zeros((self._episode.modules, self.task.action_size))
        for i, agent in enumerate(self.possible_agents):
            if agent in actions:
                action = np.asarray(actions[agent], dtype=np.float64)
                if action.shape != (self.task.action_size,):
                    raise InputError(f"the action of {agent} has the shape {action.shape}; give ({self.task.action_size},)")
                given[i] = action
        self._episode.act(given)
        self.world.step(self.task.ticks_per_step)
        seen, reward, terminated, truncated = self._episode.result()
        attached = self._attached()
        index = {agent: i for i, agent in enumerate(self.possible_agents)}
        now = self.agents
        gone = {agent: terminated or not attached[index[agent]] for agent in now}
        self.agents = [agent for agent in now if not gone[agent] and not truncated]
        return (
            {agent: seen[index[agent]].astype(np.float32) for agent in now},
            {agent: float(reward) for agent in now},
            gone,
            {agent: truncated for agent in now},
            {agent: {} for agent in now},
        )

    def _attached(self) -> list[bool]:
        if not self._together:
            return [True] * len(self.possible_agents)
        organisms = self.world.organisms
        names, counts = np.unique(organisms, return_counts=True)
        return [bool(each) for each in organisms == names[counts.argmax()]]

    def state(self) -> Array:
        """What all modules see, one after another."""
        return self.task.observe(self.world).astype(np.float32).ravel()

    def render(self) -> Any:
        """A picture, where render_mode is rgb_array."""
        return self.world.picture(self.task.camera) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Closes the world."""
        self.world.close()
