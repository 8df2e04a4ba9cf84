"""Worlds as learning environments: Gymnasium, and PettingZoo with a module for an agent.

::

    import gymnasium
    import volvox.envs

    env = gymnasium.make("volvox/Snake-v0")                   # one world
    envs = volvox.envs.make_vec("Snake", num_envs=64, threads=2)  # many, stepped together
    agents = volvox.envs.parallel_env("Snake")                # each module an agent

Needs gymnasium, and parallel_env() pettingzoo: pip install volvox[envs].
"""

from __future__ import annotations

from typing import Any, Optional, Union

import gymnasium

from .more_tasks import Formation, Pit, Track, Wave
from .reconfigure import Reconfigure
from .single import WorldEnv
from .tasks import TASKS, Dock, Snake, Task, Walker
from .vector import WorldVectorEnv

TASKS.update({task.name: task for task in (Formation, Pit, Track, Wave)})

__all__ = ["Dock", "Formation", "Pit", "Reconfigure", "Snake", "TASKS", "Task", "Track", "Walker", "Wave", "WorldEnv", "WorldVectorEnv", "make", "make_vec", "parallel_env"]


def make(task: Union[str, Task], *, render_mode: Optional[str] = None, seed: int = 1, threads: int = 1) -> WorldEnv:
    """A gymnasium.Env. The seed is that of the world; reset(seed=...) has the one of the starts."""
    return WorldEnv(task, render_mode=render_mode, world_seed=seed, threads=threads)


def make_vec(task: Union[str, Task], num_envs: int, *, threads: int = 1, seed: int = 1) -> WorldVectorEnv:
    """A gymnasium.vector.VectorEnv: so many worlds, stepped together over threads."""
    return WorldVectorEnv(task, num_envs, threads=threads, world_seed=seed)


def parallel_env(
    task: Union[str, Task], *, render_mode: Optional[str] = None, seed: int = 1, threads: int = 1, lives: int = 1
) -> Any:
    """A pettingzoo.ParallelEnv: each module is an agent, as long as it is attached to the others. lives: how often a module
    that docks again becomes a (new) agent."""
    from .parallel import ModulesEnv

    return ModulesEnv(task, render_mode=render_mode, world_seed=seed, threads=threads, lives=lives)


for _name in TASKS:
    gymnasium.register(id=f"volvox/{_name}-v0", entry_point="volvox.envs:make", kwargs={"task": _name}, vector_entry_point="volvox.envs:make_vec")
gymnasium.register(id="volvox/Reconfigure-v0", entry_point="volvox.envs:Reconfigure")
