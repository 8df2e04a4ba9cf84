"""Worlds for Stable-Baselines3, whose algorithms want a kind of vector environment of their own.

::

    from stable_baselines3 import PPO
    from volvox.envs.sb3 import WorldVecEnv

    model = PPO("MlpPolicy", WorldVecEnv("Snake", num_envs=32, threads=2))

Needs stable-baselines3, and with it torch: pip install volvox[train].
"""

from __future__ import annotations

from typing import Any, Iterable, Optional, Union

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from ..errors import InputError
from .single import Array
from .tasks import Task
from .vector import WorldVectorEnv

__all__ = ["WorldVecEnv"]

Indices = Union[None, int, Iterable[int]]


class WorldVecEnv(VecEnv):
    """So many worlds of one task, stepped together over threads. An episode that has ended begins anew in the same step, as
    Stable-Baselines3 expects; its last observation is infos[i]["terminal_observation"]."""

    def __init__(self, task: Union[str, Task], num_envs: int = 1, *, threads: int = 1, world_seed: int = 1) -> None:
        self.worlds = WorldVectorEnv(task, num_envs, threads=threads, world_seed=world_seed)
        self._actions: Optional[Array] = None
        self._return = np.zeros(num_envs)
        self._length = np.zeros(num_envs, dtype=np.int64)
        super().__init__(num_envs, self.worlds.single_observation_space, self.worlds.single_action_space)

    def reset(self) -> Array:
        """Begins all episodes, with the seeds of seed(), if it was called."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        seen, _ = self.worlds.reset(seed=seeds)
        self._reset_seeds()
        self._return[:] = 0
        self._length[:] = 0
        return seen

    def step_async(self, actions: Array) -> None:
        """What the worlds shall do in the next step_wait()."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Simulates the ticks of one step in all worlds."""
        if self._actions is None:
            raise InputError("nothing was begun; call step(actions), or step_async(actions) before step_wait()")
        seen, rewards, terminated, truncated, _ = self.worlds.step(self._actions)
        self._actions = None
        self._return += rewards
        self._length += 1
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over).tolist():
            infos[i] = {
                "terminal_observation": seen[i].copy(),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {"r": float(self._return[i]), "l": int(self._length[i])},
            }
        if over.any():
            seen, _ = self.worlds.reset(options={"reset_mask": over})
            self._return[over] = 0
            self._length[over] = 0
        return seen, rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Closes the worlds."""
        self.worlds.close()

    def _chosen(self, indices: Indices) -> int:
        return len(list(self._get_indices(indices)))

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the worlds' common environment, once for each."""
        if attr_name == "render_mode":
            return [None] * self._chosen(indices)
        return [getattr(self.worlds, attr_name)] * self._chosen(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused: all worlds share one task."""
        raise InputError(f"{attr_name} cannot be set for single worlds; give the task what it needs when it is made")

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> list[Any]:
        """Refused: all worlds share one environment."""
        raise InputError(f"{method_name} cannot be called for single worlds; use .worlds, the environment of all")

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Indices = None) -> list[bool]:
        """No world is wrapped."""
        return [False] * self._chosen(indices)
