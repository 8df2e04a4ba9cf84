"""The training example, shortened: it learns from what it did, and the same seed learns the same."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("gymnasium", reason="gymnasium is not installed")


def example() -> Any:
    spec = importlib.util.spec_from_file_location("train_gait", ROOT / "python/examples/train_gait.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_short_training() -> None:
    gait = example()
    said: list[str] = []
    first, second, other = (gait.train(seed, 2 * 4 * 32, num_envs=4, horizon=32, say=said.append) for seed in (1, 1, 2))
    weights = [torch.cat([p.detach().reshape(-1) for p in policy.parameters()]) for policy in (first, second, other)]
    assert torch.equal(weights[0], weights[1]), "the same seed learns the same"
    assert not torch.equal(weights[0], weights[2])
    torch.manual_seed(1)
    begin = torch.cat([p.detach().reshape(-1) for p in gait.Policy(60, 10).parameters()])
    assert begin.shape == weights[0].shape and not torch.equal(begin, weights[0]), "it has learned something"
    assert all(bool(torch.isfinite(each).all()) for each in weights) and "steps" in said[-1]
    assert gait.speed_of(first, episodes=1) == gait.speed_of(second, episodes=1)
    assert gait.hand_made_speed(2.0) > 0


def test_the_policy_can_learn() -> None:
    """With a made-up reward that is easy, ten updates of the same loop suffice: the larger the first action, the better."""
    gait = example()

    class Easy(gait.Crawl):  # type: ignore[name-defined, misc]
        def effort(self, actions: Any) -> float:
            return -float(actions[0, 0])

        def progress(self, world: Any) -> float:
            return 0.0

    gait.Crawl = Easy
    policy = gait.train(1, 10 * 4 * 64, num_envs=4, horizon=64, say=lambda _: None)
    with torch.no_grad():
        mean = policy.mean(torch.zeros(1, 60))[0]
    assert mean[0] > 0.08 and mean[0] > 2 * mean[1:].abs().max(), mean
