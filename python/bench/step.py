"""What Python costs: stepping the same world from C++ and from Python, in alternation; import time; size of the package.

    python python/bench/step.py [--modules 1,10,1000] [--repeats 5] [--apart]

--apart: the modules lie beside each other, undocked, which C++ steps several times as fast: the harder comparison.

Processor time, not wall time: other programs may run. C++ is one call of World.step() for all ticks, with the gait as a C++
behavior. The others call step() for each tick: `read` also reads all poses and joints, `command` has the same gait as a
vectorised controller in Python.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import numpy as np

import volvox

GAIT = {"amplitude": 0.3, "wavelength": 6.0, "frequency": 0.5}


def world_of(modules: int, behaviors: dict[str, Any], apart: bool) -> volvox.World:
    """A snake that knows its phase by the clock, or as many modules apart."""
    across = math.isqrt(modules - 1) + 1
    rows = -(-modules // across)
    place = f'type="grid" count_x="{rows}" count_y="{across}" spacing_x="0.25" spacing_y="0.15"' if apart else f'type="chain" count="{modules}" from="back" to="front"'
    parameters = "".join(f'<volvox:parameter name="{name}" value="{value}"/>' for name, value in GAIT.items())
    text = f"""<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="bench"><volvox:run duration="60" dt="1/60"/>
      <model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane>
      </geometry></collision></link></model>
      <volvox:population name="s" robot="superbot" pose="0 0 0.0425 0 0 0" {place}>
      <volvox:mind behavior="snake">{parameters}</volvox:mind></volvox:population></world></sdf>"""
    return volvox.load(text, behaviors=behaviors)


class Gait:
    """The same waves as the C++ behavior snake, for all modules at once."""

    state = ()

    def __init__(self, world: volvox.World) -> None:
        self.pitch = np.array([name.endswith(".pitch") for name in world.motor_names])
        self.yaw = np.array([name.endswith(".yaw") for name in world.motor_names])
        self.targets = np.zeros(len(world.motor_names))

    def step(self, world: volvox.World) -> None:
        """Commands all motors."""
        phase = 2 * np.pi * GAIT["frequency"] * world.time
        rise = min(world.time, 1.0)
        self.targets[self.pitch] = rise * GAIT["amplitude"] * np.sin(phase)
        self.targets[self.yaw] = rise * 0.1 * np.sin(phase)
        world.command(self.targets)


def prepare(kind: str, modules: int, apart: bool) -> Callable[[int], None]:
    """A world of that kind, and how to step it."""
    world = world_of(modules, {"snake": "commanded"} if kind == "command" else {}, apart)
    if kind == "command":
        world.add_controller(Gait(world))
    if kind == "C++":
        return world.step
    poses, joints = world.poses, world.joint_positions

    def steps(ticks: int) -> None:
        for _ in range(ticks):
            world.step()
            if kind == "read":
                poses[-1, 0] + joints[-1]

    return steps


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", default="1,10,1000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--apart", action="store_true", help="undocked modules instead of a snake")
    arguments = parser.parse_args()
    print(f"volvox {volvox.__version__}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'modules':>8}{'C++ us/tick':>14}{'step':>9}{'read':>9}{'command':>9}   (ratios to C++)")
    for modules in map(int, arguments.modules.split(",")):
        ticks = max(10, min(2000, 20000 // modules))
        times: dict[str, list[float]] = {kind: [] for kind in ("C++", "step", "read", "command")}
        for _ in range(arguments.repeats):
            for kind, measured in times.items():
                step = prepare(kind, modules, arguments.apart)
                step(10)
                begin = time.process_time()
                step(ticks)
                measured.append((time.process_time() - begin) / ticks)
        base = statistics.median(times["C++"])
        ratios = [statistics.median(b / a for a, b in zip(times["C++"], times[kind])) for kind in ("step", "read", "command")]
        print(f"{modules:>8}{base * 1e6:>14.1f}" + "".join(f"{ratio:>9.3f}" for ratio in ratios))
    code = "import time; a = time.process_time(); import numpy; b = time.process_time(); import volvox; print(b - a, time.process_time() - b)"
    imports = [tuple(map(float, subprocess.check_output([sys.executable, "-c", code], text=True).split())) for _ in range(5)]
    print(f"import: numpy {min(i[0] for i in imports):.3f} s, volvox {min(i[1] for i in imports):.3f} s of processor time")
    inside = pathlib.Path(volvox.__file__).parent
    print(f"installed: {sum(f.stat().st_size for f in inside.rglob('*') if f.is_file()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
