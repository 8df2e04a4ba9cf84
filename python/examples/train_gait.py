#!/usr/bin/env python3
"""Trains a snake of five SuperBots to crawl, by proximal policy optimization (PPO) on torch, and compares it with the gait
that was made by hand.

    pip install torch gymnasium
    python train_gait.py                      # 400,000 steps: minutes on two cores
    python train_gait.py --seed 3 --steps 1000000 --threads 2 --out policy.pt

The policy sees what the modules of the task volvox/Snake see, and a clock; it commands all pitch and yaw joints, 15 times a
second. The same seed, steps and machine give the same policy.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch
from torch import nn

import volvox
import volvox.envs
from volvox.envs.tasks import Snake

HAND_MADE = {"modules": 5, "sync": "clock"}


class Crawl(Snake):
    """The task Snake with a clock: without one, a gait must be found in the joints alone."""

    frequency = 0.7  # Hz
    seconds = 6.0

    def __init__(self) -> None:
        super().__init__(modules=5)
        self.observation_size += 2

    def observe(self, world: volvox.World) -> Any:
        angle = 2 * np.pi * self.frequency * world.time
        clock = np.tile([np.sin(angle), np.cos(angle)], (len(world.module_names), 1))
        return np.concatenate([super().observe(world), clock], axis=1)


class Policy(nn.Module):
    """A Gaussian policy and a value function, two hidden layers each."""

    def __init__(self, seen: int, actions: int) -> None:
        super().__init__()

        def layers(out: int, gain: float) -> nn.Sequential:
            sizes = [seen, 64, 64, out]
            made: list[nn.Module] = []
            for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
                made.append(nn.Linear(a, b))
                nn.init.orthogonal_(made[-1].weight, gain if i == 2 else 2**0.5)
                nn.init.zeros_(made[-1].bias)
                if i < 2:
                    made.append(nn.Tanh())
            return nn.Sequential(*made)

        self.mean, self.value = layers(actions, 0.01), layers(1, 1.0)
        self.log_deviation = nn.Parameter(torch.full((actions,), -0.7))

    def distribution(self, seen: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.mean(seen), self.log_deviation.exp())


def hand_made_speed(seconds: float = 10.0) -> float:
    """m/s of the gait that comes with the experiment."""
    with volvox.load("remod3d/snake", settings=HAND_MADE, duration=seconds) as world:
        return abs(float(world.run().metrics["forward_speed_m_s"]))


def speed_of(policy: Policy, seed: int = 1000, episodes: int = 4) -> float:
    """m/s along x of the policy without its noise, the mean over episodes that it was not trained on."""
    envs = volvox.envs.make_vec(Crawl(), num_envs=episodes)
    seen, _ = envs.reset(seed=seed)
    worlds = list(envs.population)
    begin = [world.centre_of_mass[0] for world in worlds]
    start = worlds[0].time
    for _ in range(int(Crawl.seconds / (worlds[0].dt * Crawl.ticks_per_step)) - 1):
        with torch.no_grad():
            actions = policy.mean(torch.as_tensor(seen)).clamp(-1, 1)
        seen, _, _, _, _ = envs.step(actions.numpy())
    passed = worlds[0].time - start
    speed = float(np.mean([world.centre_of_mass[0] - x for world, x in zip(worlds, begin)])) / passed
    envs.close()
    return speed


def train(seed: int, steps: int, threads: int = 1, num_envs: int = 16, horizon: int = 128, say: Any = print) -> Policy:
    """PPO with clipped ratios and generalized advantages."""
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    envs = volvox.envs.make_vec(Crawl(), num_envs=num_envs, threads=threads)
    size, actions_size = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    policy = Policy(size, actions_size)
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-4, eps=1e-5)
    gamma, smoothing, clip, epochs, batches = 0.98, 0.95, 0.2, 6, 4
    seen = torch.zeros(horizon, num_envs, size)
    done = torch.zeros(horizon, num_envs)  # whether the step before ended an episode
    taken = torch.zeros(horizon, num_envs, actions_size)
    logs, rewards, values = (torch.zeros(horizon, num_envs) for _ in range(3))
    now = torch.as_tensor(envs.reset(seed=seed * 10007)[0])
    over = torch.zeros(num_envs)
    updates = max(1, steps // (horizon * num_envs))
    begun = time.perf_counter()
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = 5e-4 * (1 - update / updates)
        for t in range(horizon):
            seen[t], done[t] = now, over
            with torch.no_grad():
                distribution = policy.distribution(now)
                taken[t] = distribution.sample()
                logs[t] = distribution.log_prob(taken[t]).sum(1)
                values[t] = policy.value(now).squeeze(1)
            following, reward, terminated, truncated, _ = envs.step(taken[t].clamp(-1, 1).numpy())
            rewards[t] = torch.as_tensor(reward, dtype=torch.float32)
            now, over = torch.as_tensor(following), torch.as_tensor(terminated | truncated, dtype=torch.float32)
        with torch.no_grad():
            last = policy.value(now).squeeze(1)
            advantages = torch.zeros_like(rewards)
            carried = torch.zeros(num_envs)
            for t in reversed(range(horizon)):
                ended = over if t == horizon - 1 else done[t + 1]
                coming = last if t == horizon - 1 else values[t + 1]
                error = rewards[t] + gamma * coming - values[t]  # episodes are cut off, not ended: the value goes on
                carried = error + gamma * smoothing * (1 - ended) * carried
                advantages[t] = carried
            returns = advantages + values
        # A step after an ended episode only resets it: nothing is learned from it.
        used = (done == 0).reshape(-1).nonzero().squeeze(1)
        flat = [part.reshape(horizon * num_envs, *part.shape[2:])[used] for part in (seen, taken, logs, advantages, returns)]
        for _ in range(epochs):
            for index in torch.randperm(len(used)).chunk(batches):
                s, a, old, adv, ret = (part[index] for part in flat)
                distribution = policy.distribution(s)
                ratio = (distribution.log_prob(a).sum(1) - old).exp()
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - clip, 1 + clip)).mean()
                loss = loss + 0.5 * (policy.value(s).squeeze(1) - ret).square().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimizer.step()
        if update % 10 == 9 or update == updates - 1:
            rate = (update + 1) * horizon * num_envs / (time.perf_counter() - begun)
            mean = float(rewards.sum() / (horizon * num_envs)) / 10 / (Crawl.ticks_per_step / 60)
            say(f"{(update + 1) * horizon * num_envs:8d} steps: {mean:.4f} m/s while it explores, {rate:.0f} steps a second")
    envs.close()
    return policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400_000)
    parser.add_argument("--threads", type=int, default=1, help="of the worlds and of torch; more only where cores are idle")
    parser.add_argument("--out", help="a file for the policy")
    arguments = parser.parse_args()
    hand = hand_made_speed()
    print(f"by hand: {hand:.4f} m/s")
    begun = time.perf_counter()
    policy = train(arguments.seed, arguments.steps, arguments.threads)
    learned = speed_of(policy)
    print(json.dumps({"seed": arguments.seed, "steps": arguments.steps, "hand_made_m_s": round(hand, 4), "learned_m_s": round(learned, 4),
                      "ratio": round(learned / hand, 2), "minutes": round((time.perf_counter() - begun) / 60, 2)}))  # fmt: skip
    if arguments.out:
        torch.save(policy.state_dict(), arguments.out)


if __name__ == "__main__":
    main()
