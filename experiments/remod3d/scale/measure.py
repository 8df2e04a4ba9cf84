#!/usr/bin/env python3
"""Measures section IV.G of the ReMod3D paper: frames per second at dt = 1/30 s, and the largest populations in real time.

  python3 measure.py build/release/bin/volvox [--threads N] [--json]
  python3 measure.py build/release/bin/volvox --modules 10000 --threads 2    # disconnected SuperBots alone
  python3 measure.py build/release/bin/volvox --figure-1                     # the other scenes of figure 1, at 1/60 s

The time of a frame is the processor time of a long run minus that of a short one, so neither loading nor other
programs on the machine count. With several threads it is divided by their number, as if they shared the work
ideally. The largest population in real time is found by doubling, then by bisection.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

DT = 1 / 30
CASES = [  # name, the paper's modules, its frames per second, its modules in real time, arguments of volvox run
    ("disconnected SuperBots", 1000, 4, 200, ["remod3d/scatter"]),
    ("snake of SuperBots", 1000, 3, 150, ["remod3d/snake"]),
    ("disconnected ATRONs", 1500, 3, 275, ["remod3d/scatter", "--set", "robot=atron"]),
]

FIGURE_1 = [  # the scenes that the paper runs at 60 frames per second
    ("(a) complex structure", ["remod3d/complex_structure"]),
    ("(d) manipulator", ["remod3d/manipulator"]),
    ("(e) rolling track", ["remod3d/rolling_track"]),
    ("(f) eight shape", ["remod3d/eight_shape"]),
    ("(g) terrain", ["remod3d/terrain"]),
    ("(h) wheelbot", ["remod3d/wheelbot"]),
]


def cpu_seconds(volvox, arguments, seconds, threads):
    """Processor time of a whole run, in s."""
    with tempfile.TemporaryDirectory() as folder:
        command = [volvox, "run", *arguments, "--duration", str(seconds), "--threads", str(threads), "--quiet", "--out", folder]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(command)} failed")
        return usage.ru_utime + usage.ru_stime


def frames_a_second(volvox, arguments, dt, threads, seconds, settle):
    short = cpu_seconds(volvox, arguments, settle, threads)
    spent = cpu_seconds(volvox, arguments, settle + seconds, threads) - short
    return seconds / dt / max(spent, 1e-9) * threads


def largest_in_real_time(frames, begin, most):
    """The largest number of modules that runs at 30 frames per second, within 10 %."""
    low, high = 1, begin
    while high < most and frames(high) >= 30:
        low, high = high, min(2 * high, most)
    if high == most and frames(most) >= 30:
        return most
    while high - low > max(1, low // 10):
        middle = (low + high) // 2
        low, high = (middle, high) if frames(middle) >= 30 else (low, middle)
    return low


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volvox", help="path of the volvox command")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2, help="simulated time of each measurement")
    parser.add_argument("--settle", type=float, default=1, help="simulated time before it, not counted")
    parser.add_argument("--scale", type=float, default=1, help="fraction of the paper's modules, to try the script")
    parser.add_argument("--no-largest", action="store_true", help="leave out the search for the largest population")
    parser.add_argument("--modules", type=int, help="measure only this many disconnected SuperBots")
    parser.add_argument("--figure-1", action="store_true", help="measure the other scenes of figure 1 instead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def frames_of(arguments, dt, seconds=options.seconds):
        return frames_a_second(options.volvox, arguments, dt, options.threads, seconds, options.settle)

    def population(arguments, modules):
        return frames_of([*arguments, "--set", f"modules={modules}", "--dt", "1/30"], DT)

    if options.figure_1:
        print("| figure 1 | frames/s, dt = 1/60 s | paper |\n|---|---|---|")
        for what, arguments in FIGURE_1:  # few modules: longer runs, for enough processor time
            frames = frames_of([*arguments, "--dt", "1/60"], 1 / 60, 10 * options.seconds)
            print(f"| {what} | {frames:.0f} | 60 |", flush=True)
        return
    if options.modules:
        frames = population(CASES[0][4], options.modules)
        print(f"{options.modules} {CASES[0][0]}, {options.threads} threads: {frames:.1f} frames/s, {frames * DT:.2f} times real time")
        return
    rows = []
    for what, modules, paper_frames, paper_largest, arguments in CASES:
        count = max(3, round(modules * options.scale))
        measure = lambda n, arguments=arguments: population(arguments, n)
        frames = measure(count)
        # A snake has at most 1000 modules; beyond 100,000, memory would limit the others, not time.
        most = 1000 if "snake" in arguments[0] else 100_000
        largest = None if options.no_largest else largest_in_real_time(measure, min(most, max(3, round(count * frames / 30))), most)
        rows.append({"what": what, "modules": count, "frames_a_second": frames, "paper_frames_a_second": paper_frames,
                     "times_real_time": frames * DT, "largest_in_real_time": largest, "paper_largest_in_real_time": paper_largest})
    if options.json:
        print(json.dumps({"threads": options.threads, "results": rows}, indent=2))
        return
    print("| | modules | frames/s | paper | times real time | largest in real time | paper |\n|---|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['what']} | {r['modules']} | {r['frames_a_second']:.0f} | {r['paper_frames_a_second']} | {r['times_real_time']:.1f} | "
              f"{r['largest_in_real_time'] or '-'} | {r['paper_largest_in_real_time']} |")


if __name__ == "__main__":
    main()
