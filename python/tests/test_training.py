"""Stable-Baselines3: its view of our worlds, and the training example, shortened."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import volvox

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("gymnasium", reason="gymnasium is not installed")
pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")


def example() -> Any:
    spec = importlib.util.spec_from_file_location("train_gait", ROOT / "python/examples/train_gait.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weights(model: Any) -> Any:
    return torch.cat([p.detach().reshape(-1) for p in model.policy.parameters()])


def test_episodes_begin_anew_in_the_same_step() -> None:
    from volvox.envs.sb3 import WorldVecEnv

    task = volvox.envs.Snake(modules=3)
    task.seconds = 3 * 4 / 60  # three steps
    envs, plain = WorldVecEnv(task, 2), volvox.envs.make_vec(task, 2)
    envs.seed(5)
    first = envs.reset()
    assert np.array_equal(first, plain.reset(seed=5)[0])
    action = np.full((2, 6), 0.3, np.float32)
    for _ in range(2):
        seen, rewards, over, infos = envs.step(action)
        told = plain.step(action)
        assert np.array_equal(seen, told[0]) and np.allclose(rewards, told[1]) and not over.any() and infos == [{}, {}]
    seen, _, over, infos = envs.step(action)
    last = plain.step(action)[0]
    assert over.all() and all(info["TimeLimit.truncated"] and info["episode"]["l"] == 3 for info in infos)
    assert np.array_equal([info["terminal_observation"] for info in infos], last)
    assert not np.array_equal(seen, last) and not np.array_equal(seen, first), "another start"
    with pytest.raises(volvox.InputError, match="shape"):
        envs.step(action[:1])
    with pytest.raises(volvox.InputError, match="cannot be set"):
        envs.set_attr("task", None)
    envs.close()
    plain.close()


def test_a_short_training() -> None:
    gait = example()
    said: list[str] = []
    first, second, other = (gait.train(seed, 2 * 4 * 4, num_envs=4, say=said.append) for seed in (1, 1, 2))
    assert torch.equal(weights(first), weights(second)), "the same seed learns the same"
    assert not torch.equal(weights(first), weights(other))
    found = gait.measure(first, episodes=1, seconds=2)
    assert found == gait.measure(second, episodes=1, seconds=2) and all(np.isfinite(value) for value in found.values())
    assert 0.03 < gait.hand_made_speed(6) < 0.05, "that of modules which know the phase"


def test_the_policy_can_learn() -> None:
    """With a reward that is easy, few updates of the same loop suffice: the larger the lag, the better."""
    gait = example()

    class Easy(gait.Wave):  # type: ignore[name-defined, misc]
        commands_per_step = 1
        seconds = 4 * 4 / 60

        def effort(self, actions: Any) -> float:
            return -float(actions[0, 2])

        def progress(self, world: Any) -> float:
            return 0.0

    said: list[str] = []
    model = gait.train(1, 16 * 4 * 16, num_envs=16, task=Easy(), say=said.append)
    action = model.predict(np.zeros(40, np.float32), deterministic=True)[0]
    assert action[2] > 0.15 and action[2] > 2 * np.abs(action[:2]).max(), action
    assert len(said) == 1 and "steps" in said[0]
