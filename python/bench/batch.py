#!/usr/bin/env python3
"""A batch of snakes: environment steps a second of processor time, Volvox's Population against MuJoCo's rollout on the same robot
(its MJCF), with the same random commands, in one run and in alternation.

    pip install mujoco
    python batch.py --worlds 256 --threads 2 --steps 15

An environment step is 4 ticks of 1/60 s. MuJoCo steps 0.5 ms, with which its servos are stable (docs/decisions/0091), or what
--timestep says; Volvox has substeps of 1/240 s. Prints processor and wall time; the first is what a loaded machine leaves."""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

import mujoco
import mujoco.rollout
import numpy as np

import volvox


def timed(work: Callable[[], None]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - processor, time.perf_counter() - wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--modules", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=15, help="environment steps in a repeat")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--timestep", type=float, default=0.0005, help="of MuJoCo, s")
    a = parser.parse_args()

    def load() -> volvox.World:
        return volvox.load("remod3d/snake", settings={"modules": a.modules}, behaviors={"snake": "commanded"})

    worlds = [load() for _ in range(a.worlds)]
    population = volvox.Population(worlds, a.threads)
    motors = len(worlds[0].motor_names)
    text, _ = worlds[0].mjcf()
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = a.timestep
    data = [mujoco.MjData(model) for _ in range(a.threads)]
    start = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, start, 0)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(model, start, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.tile(state, (a.worlds, 1))
    per_step = round(4 / 60 / a.timestep)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(model.nu)]
    order = [worlds[0].motor_names.index(name) for name in names]
    random = np.random.default_rng(1)
    rates: dict[str, list[tuple[float, float]]] = {"volvox": [], "mujoco": []}
    for _ in range(a.repeats):
        targets = random.uniform(-0.4, 0.4, (a.steps, a.worlds, motors))

        def ours() -> None:
            for step in range(a.steps):
                for world, wanted in zip(worlds, targets[step]):
                    world.command(wanted)
                population.step(4)

        rates["volvox"].append(timed(ours))
        controls = np.repeat(targets.transpose(1, 0, 2)[:, :, order], per_step, axis=1)
        result: list[Any] = []
        rates["mujoco"].append(timed(lambda: result.append(mujoco.rollout.rollout(model, data, states, controls))))
        states = np.ascontiguousarray(result[0][0][:, -1, :size])
    count = a.worlds * a.steps
    speed = {name: [statistics.median(count / each[k] for each in all_of) for k in (0, 1)] for name, all_of in rates.items()}
    for name, (processor, wall) in speed.items():
        print(f"{name}: {processor:.0f} environment steps a second of processor time, {wall:.0f} of wall time")
    print(f"ratio {speed['volvox'][0] / speed['mujoco'][0]:.2f} by processor time")
    print(f"the last state of MuJoCo is finite: {bool(np.isfinite(states).all())}")


if __name__ == "__main__":
    main()
