#!/usr/bin/env python3
"""Rewrites the measured tables of docs/benchmarks.md from the output of `volvox bench engines --json`.

    build/release/bin/volvox bench engines --scenes all --threads 1,2 --repeats 3 --json > engines.json
    bench/update_page.py engines.json [more.json ...]

Several files are merged; where two have the same row, the later one counts. Ratios between rows of different files are reckoned, too: measure such files one after the other.
"""
import datetime
import json
import pathlib
import platform
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: bench/update_page.py writes what is between these lines -->\n", "<!-- end of measured -->\n"


def figure(value, digits=3):
    """A number without exponent, so that numbers are easy to compare."""
    if value is None:
        return ""
    if abs(value) < 1e-4:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def put_together(files):
    rows = {}
    for file in files:
        for row in json.loads(pathlib.Path(file).read_text())["results"]:
            rows[row["scene"], row["n"], row["engine_as_chosen"], row["threads"]] = row
    for row in rows.values():
        for bullet in rows.values():
            same_work = all(row[key] == bullet[key] for key in ("scene", "n", "threads"))
            if bullet["engine"] == "bullet" and same_work and row["ms_per_step"] and bullet["ms_per_step"]:
                row["times_faster_than"].setdefault(bullet["engine_as_chosen"], bullet["ms_per_step"] / row["ms_per_step"])
    return list(rows.values())


def tables(rows):
    bullets = sorted({name for row in rows for name in row["times_faster_than"]})
    threads = any(row["threads"] > 1 for row in rows)
    heading = ["engine", *(["threads"] if threads else []), "ms a step", *(f"times faster than {b}" for b in bullets),
               *(["of one thread"] if threads else []), "hinge mm / deg", "dock mm / deg", "lift m", "penetration mm", "contacts", "memory MB"]
    for scene, n in dict.fromkeys((row["scene"], row["n"]) for row in rows):
        yield f"\n#### {scene}, n = {n}\n"
        yield "| " + " | ".join(heading) + " |\n|" + "---|" * len(heading) + "\n"
        events = []
        for row in (row for row in rows if (row["scene"], row["n"]) == (scene, n)):
            pair = lambda key: "" if row[f"{key}_max_mm"] is None else f"{figure(row[f'{key}_max_mm'])} / {figure(row[f'{key}_max_deg'])}"
            time = figure(row["ms_per_step"]) if row["ms_per_step"] is not None else "none"
            if row["failure"]:
                time += f" ({row['failure'].splitlines()[0]})"
            cells = [row["engine_as_chosen"], *([str(row["threads"])] if threads else []), time,
                     *(figure(row["times_faster_than"].get(b)) for b in bullets), *([figure(row["part_of_one_thread"], 2)] if threads else []),
                     pair("hinge"), pair("dock"), figure(row["lift_m"]), figure(row["penetration_max_mm"]), figure(row["contacts_mean"]), f"{row['rss_mb']:.0f}"]
            yield "| " + " | ".join(cells) + " |\n"
            if row["dock_event_us"] is not None and row["threads"] == 1:
                events.append(f"{row['engine_as_chosen']} {row['dock_event_us']:.0f} / {row['undock_event_us']:.0f}")
        if events:
            yield f"\nA docking / an undocking costs, beyond a step without (us): {', '.join(events)}.\n"
    yield "\n#### Settings\n"
    for name in dict.fromkeys(row["engine_as_chosen"] for row in rows):
        settings = next((row["settings"] for row in rows if row["engine_as_chosen"] == name and row["settings"]), "did not start")
        yield f"- **{name}**: {settings}\n"


def main(files):
    if not files:
        sys.exit(__doc__)
    rows = put_together(files)
    repeats = max((len(row["ms_of_repeats"]) for row in rows), default=1)
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    date = datetime.date.fromtimestamp(max(pathlib.Path(file).stat().st_mtime for file in files))
    seconds = sorted({f"{row['simulated_s']:g}" for row in rows if row["simulated_s"]}, key=float)
    measured = (f"{date:%-d %B %Y}, {processor()}; {' to '.join(dict.fromkeys((seconds[0], seconds[-1])))} s simulated, median of {repeats} repeat{'s' if repeats > 1 else ''}. "
                "0: below 0.0001.\n" + "".join(tables(rows)))
    PAGE.write_text(before + BEGIN + measured + END + after)


main(sys.argv[1:])
