"""Trials a second of MuJoCo's rollout beside `volvox bench evolve`, on the same body (python -m pip install mujoco).

    python bench/mujoco_rollout.py build/release/bin/volvox [--trials 12] [--threads 1]

The body is that of evolution/gait, as `volvox export --mjcf` writes it. Each trial moves its joints by sines of random
amplitude and lag within the ranges of the task; Volvox's trials do so by coupled oscillators. Time is processor time.
A row has the largest gap of a dock (in MuJoCo a weld): time and error are bought with each other. "soft" has MuJoCo's own
default for welds instead of the stiff ones of the export. Where MuJoCo says that it is unstable, it begins that trial anew:
such a row says nothing about speed.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import mujoco
import numpy as np
from mujoco import rollout


def controls(model, trials, steps, seed):
    """Angles for the position servos: (trials, steps, controls)."""
    draw = np.random.default_rng(seed)
    times = np.arange(steps) * model.opt.timestep
    amplitude, lag = draw.uniform(0, 0.6, (trials, 1, model.nu)), draw.uniform(0, 6.28, (trials, 1, model.nu))
    frequency = draw.uniform(0.3, 1.2, (trials, 1, 1))
    return amplitude * np.sin(2 * np.pi * frequency * times[None, :, None] + lag)


def dock_error(model, control):
    """The largest distance of two welded frames over a trial, m; NaN if it is no longer a number."""
    data, largest = mujoco.MjData(model), 0.0
    for step, row in enumerate(control):
        data.ctrl[:] = row
        mujoco.mj_step(model, data)
        if step % 8 == 0:
            welds = data.efc_pos[: data.ne].reshape(-1, 6)
            largest = max(largest, float(np.linalg.norm(welds[:, :3], axis=1).max(initial=0)))
    return largest if np.isfinite(data.qpos).all() else float("nan")


def measure(model, trials, threads, duration, repeats):
    steps = round(duration / model.opt.timestep)
    control = controls(model, trials, steps, 1)
    datas = [mujoco.MjData(model) for _ in range(threads)]
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, datas[0], state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    rates = []
    for data in datas:
        data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number = 0
    for _ in range(repeats):
        begin = time.process_time()
        rollout.rollout(model, datas, initial_state=np.tile(state, (trials, 1)), control=control)
        rates.append(trials / (time.process_time() - begin))
    unstable = sum(data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number for data in datas)
    return float(np.median(rates)), dock_error(model, control[0]), unstable


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volvox")
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    ours = json.loads(subprocess.run([arguments.volvox, "bench", "evolve", "--trials", str(arguments.trials), "--threads", str(arguments.threads),
                                      "--repeats", str(arguments.repeats), "--json"], check=True, capture_output=True, text=True).stdout)
    row = ours["results"][0]
    rows = [("volvox, population", ours["substep_s"], row["trials_per_cpu_s"], ours["dock_error_max_mm"], 0)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "gait.xml")
        subprocess.run([arguments.volvox, "export", "evolution/gait", "--mjcf", str(file)], check=True, capture_output=True)
        model = mujoco.MjModel.from_xml_path(str(file))
        stiff, fine = (model.eq_solref.copy(), model.eq_solimp.copy()), model.opt.timestep
        for substep, soft in [(ours["substep_s"], False), (ours["substep_s"], True), (1e-3, True), (fine, False)]:
            model.opt.timestep = substep
            model.eq_solref[:], model.eq_solimp[:] = ([0.02, 1], [0.9, 0.95, 0.001, 0.5, 2]) if soft else stiff
            rate, error, unstable = measure(model, arguments.trials, arguments.threads, ours["trial_s"], arguments.repeats)
            rows.append((f"mujoco {mujoco.__version__}, rollout{', soft' if soft else ''}", substep, rate, error * 1e3, unstable))
    print(f"{arguments.trials} trials of {ours['trial_s']} s, {ours['modules']} SuperBots, {arguments.threads} threads\n")
    print("| | substep, ms | trials / processor second | dock error, mm | unstable | volvox is faster by |\n|---|---|---|---|---|---|")
    for name, substep, rate, error, unstable in rows:
        print(f"| {name} | {1e3 * substep:.3g} | {rate:.3g} | {error:.3g} | {unstable} times | {'-' if unstable else format(rows[0][2] / rate, '.3g')} |")


if __name__ == "__main__":
    main()
