"""One world as a pettingzoo.ParallelEnv: each module is an agent."""

from __future__ import annotations

import functools
from typing import Any, Optional, Union

import gymnasium
import numpy as np
import pettingzoo

from .._arguments import floats
from ..errors import InputError
from .episode import Episode
from .single import Array
from .tasks import Task, task_named

__all__ = ["ModulesEnv"]


class ModulesEnv(pettingzoo.ParallelEnv[str, Array, Array]):
    """A task with one world. All agents get the reward of the whole.

    Agents come and go as modules dock and break off. A module is an agent as long as it is attached to the organism of
    most modules (of equals, that of the first module); one that breaks off is terminated. Where modules begin apart, all
    are agents from the start, unless the task says `joins`: then a module becomes an agent when it docks. An agent that is
    gone cannot come back, as PettingZoo has it: with lives=2, a module that docks again is a new agent, "s3#2".
    """

    metadata: dict[str, Any] = {"name": "volvox", "render_modes": ["rgb_array"], "render_fps": 15, "is_parallelizable": True}

    def __init__(
        self,
        task: Union[str, Task],
        *,
        render_mode: Optional[str] = None,
        world_seed: int = 1,
        threads: int = 1,
        lives: int = 1,
    ) -> None:
        if lives < 1:
            raise InputError(f"{lives} lives are not possible; give 1 or more")
        self.task = task_named(task)
        if self.task.shared_action:
            raise InputError(f"the task {self.task.name} has one action for the whole robot; use make() or make_vec()")
        self.render_mode = render_mode
        self.world = self.task.load(world_seed, threads)
        self._episode = Episode(self.task, self.world)
        modules = self.world.module_names
        self.lives = lives
        self.possible_agents: list[str] = modules + [f"{name}#{k}" for k in range(2, lives + 1) for name in modules]
        self.agents: list[str] = []
        self._module = {agent: i % len(modules) for i, agent in enumerate(self.possible_agents)}
        self._lived = [0] * len(modules)
        self._all_the_time = not self.task.joins and len(set(self.world.organisms.tolist())) > 1
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
        """Begins an episode. The agents are the modules that are attached."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        seen = self._episode.reset(self._random).astype(np.float32)
        self.agents, self._lived = [], [0] * self._episode.modules
        self._let_join()
        return self._each(seen), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Acts, and simulates the ticks of one step. Modules without an action get zeros."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        unknown = set(actions) - set(self.agents)
        if unknown:
            raise InputError(f"there is no agent {', '.join(sorted(unknown))} now; there are: {', '.join(self.agents)}")
        given = np.zeros((self._episode.modules, self.task.action_size))
        for agent, wanted in actions.items():
            action = floats(wanted, f"the action of {agent}")
            if action.shape != (self.task.action_size,):
                raise InputError(f"the action of {agent} has the shape {action.shape}; give ({self.task.action_size},)")
            given[self._module[agent]] = action
        for _ in range(self.task.commands_per_step):
            self._episode.act(given)
            self.world.step(self.task.ticks_per_step)
        seen, reward, terminated, truncated = self._episode.result()
        attached = self._attached()
        before = list(self.agents)
        gone = {agent: terminated or not attached[self._module[agent]] for agent in before}
        self.agents = [agent for agent in before if not gone[agent] and not truncated]
        if not truncated and not terminated:
            self._let_join()
        now = before + [agent for agent in self.agents if agent not in gone]  # also who came in this step
        return (
            {agent: seen[self._module[agent]].astype(np.float32) for agent in now},
            {agent: float(reward) for agent in now},
            {agent: gone.get(agent, False) for agent in now},
            {agent: truncated for agent in now},
            {agent: {} for agent in now},
        )

    def _each(self, seen: Any) -> dict[str, Array]:
        return {agent: seen[self._module[agent]] for agent in self.agents}

    def _let_join(self) -> None:
        """Modules that are attached and have a life left become agents."""
        active = {self._module[agent] for agent in self.agents}
        for i, attached in enumerate(self._attached()):
            if attached and i not in active and self._lived[i] < self.lives:
                self.agents.append(self.possible_agents[self._lived[i] * self._episode.modules + i])
                self._lived[i] += 1

    def _attached(self) -> list[bool]:
        if self._all_the_time:
            return [True] * self._episode.modules
        organisms = self.world.organisms
        names, first, counts = np.unique(organisms, return_index=True, return_counts=True)
        largest = min(range(len(names)), key=lambda k: (-counts[k], first[k]))
        return [bool(each) for each in organisms == names[largest]]

    def state(self) -> Array:
        """What all modules see, one after another."""
        return self.task.observe(self.world).astype(np.float32).ravel()

    def render(self) -> Any:
        """A picture, where render_mode is rgb_array."""
        return self.world.picture(self.task.camera) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Closes the world."""
        self.world.close()
