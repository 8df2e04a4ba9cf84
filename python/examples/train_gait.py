#!/usr/bin/env python3
"""Trains a snake of five SuperBots to crawl, by the proximal policy optimization (PPO) of Stable-Baselines3, and compares it
with the gait that was made by hand.

    pip install volvox[train]                 # Stable-Baselines3, and with it torch
    python train_gait.py                      # half a minute of processor time
    python train_gait.py --seed 3 --steps 8192 --out gait.zip --film gait.html

The task is volvox/Wave: once a period of 1 s the policy sees what the modules sense and chooses the wave that runs along the
snake: how high it is at both ends, and how much each module lags behind the one before it. It begins with modules that all bend as one,
which leads nowhere. The same seed, steps and machine give the same policy.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

import volvox
from volvox.envs import Wave
from volvox.envs.sb3 import WorldVecEnv


def hand_made_speed(seconds: float = 20.0) -> float:
    """m/s of the gait that comes with the experiment, once all modules know the phase of its waves."""
    with volvox.load("remod3d/snake", settings={"modules": 5}, duration=seconds) as world:
        return float(world.run().metrics["forward_speed_m_s"])


def measure(model: PPO, seed: int = 1000, episodes: int = 4, seconds: int = 10) -> dict[str, float]:
    """What the policy does without its noise, from starts that it was not trained on: m/s along x from rest, the mean over
    episodes, and in the worst of them."""
    task = Wave()
    task.seconds = seconds + 10.0  # longer than is looked at, so that no episode begins anew
    envs = WorldVecEnv(task, episodes)
    envs.seed(seed)
    seen = envs.reset()
    worlds = list(envs.worlds.population)
    begin, start = [world.centre_of_mass[0] for world in worlds], worlds[0].time
    while worlds[0].time < start + seconds:
        seen, _, _, _ = envs.step(model.predict(seen, deterministic=True)[0])
    speeds = [(world.centre_of_mass[0] - x) / (worlds[0].time - start) for world, x in zip(worlds, begin)]
    envs.close()
    return {"m_s": float(np.mean(speeds)), "worst_m_s": float(np.min(speeds))}


class Tell(BaseCallback):
    """Says now and then how fast the snake is while it explores."""

    def __init__(self, say: Any) -> None:
        super().__init__()
        self.say = say

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        recent = [episode["r"] / episode["l"] for episode in self.model.ep_info_buffer or []]
        if recent and self.num_timesteps % 1024 == 0:
            period = 1 / Wave.frequency
            self.say(f"{self.num_timesteps:8d} steps: {np.mean(recent) / 10 / period:.4f} m/s while it explores")


def train(seed: int, steps: int, threads: int = 1, num_envs: int = 32, task: Any = None, say: Any = print) -> PPO:
    """A policy after so many steps of one second."""
    torch.set_num_threads(threads)
    gamma = 0.0  # a period's wave is paid within the period
    envs = VecNormalize(WorldVecEnv(task or Wave(), num_envs, threads=threads), norm_obs=False, norm_reward=True, gamma=gamma)
    model = PPO(
        "MlpPolicy", envs, seed=seed, n_steps=4, batch_size=2 * num_envs, n_epochs=10, gamma=gamma, device="cpu",
        learning_rate=lambda left: 8e-3 * left, policy_kwargs={"log_std_init": -0.5, "net_arch": [32]},
    )  # fmt: skip
    model.learn(steps, callback=Tell(say))
    envs.close()
    return model


def film(model: PPO, file: str) -> None:
    """Writes a page in which the gait can be looked at."""
    with Wave().load() as world:
        world.record("gait_recording")
        for _ in range(8):
            action = model.predict(Wave().observe(world).astype(np.float32).ravel(), deterministic=True)[0]
            for _ in range(Wave.commands_per_step):
                Wave().act(world, action)
                world.step(Wave.ticks_per_step)
    volvox.Recording("gait_recording").save_page(file, every=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3072)
    parser.add_argument("--threads", type=int, default=1, help="of the worlds and of torch; more only where cores are idle")
    parser.add_argument("--out", help="a file for the policy (.zip)")
    parser.add_argument("--film", help="a page to write (.html), in which the gait can be looked at")
    arguments = parser.parse_args()
    hand = hand_made_speed()
    print(f"by hand: {hand:.4f} m/s", flush=True)
    begun, processor = time.perf_counter(), time.process_time()
    model = train(arguments.seed, arguments.steps, arguments.threads, say=lambda text: print(text, flush=True))
    minutes, processor = (time.perf_counter() - begun) / 60, time.process_time() - processor
    found = measure(model)
    print(json.dumps({"seed": arguments.seed, "steps": arguments.steps, "hand_made_m_s": round(hand, 4), "learned_m_s": round(found["m_s"], 4),
                      "worst_m_s": round(found["worst_m_s"], 4), "ratio": round(found["m_s"] / hand, 2),
                      "minutes": round(minutes, 2), "processor_s": round(processor, 1)}))  # fmt: skip
    if arguments.out:
        model.save(arguments.out)
    if arguments.film:
        film(model, arguments.film)


if __name__ == "__main__":
    main()
