"""The evolutions of experiments/evolution: a few generations of each over seeds that nobody tuned with, and the organisms that are kept there."""
import csv
import json
import os
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "tests"))
from command import CommandTest

def bar_of(task):
    return float(re.search(r'"bar": *([0-9.]+)', (HERE.parent / task / "task.json").read_text())[1])


SEEDS = (11, 12, 13)  # test_seeds of experiments/study.h
BARS = {task: bar_of(task) for task in ("gait", "organism", "pit")}


class Evolution(CommandTest):
    def test_breeding_is_better_than_chance(self):
        """Whole evolutions take minutes (README.md). With most seeds the second generation has something better than all that chance
        gave the first, or the bar was reached; and winners do alone what they did in their trials."""
        for task, bar in BARS.items():
            better = 0
            for seed in SEEDS:
                out = f"{task}-{seed}"
                found = json.loads(self.run_program("evolve", f"evolution/{task}", "--seed", seed, "--generations", 2, "--gallery", 0,
                                                    "--json", "--quiet", "--out", out, timeout=600).stdout)
                first = next(csv.DictReader(self.read(out, "generations.csv").splitlines()))
                better += found["best_fitness"] >= bar or found["best_fitness"] > float(first["best"])
                if task != "pit":  # whose fitness is no metric of its own
                    trials = [self.run_json(f"{out}/best.json", "--set", f"trial={k}", "--quiet")["metrics"]["moved_m"] for k in (1, 2)]
                    self.assertEqual(min(trials), found["best_fitness"], out)
            self.assertGreaterEqual(better, 2, f"{task}: of {len(SEEDS)} seeds")

    def test_what_was_bred_walks_on_other_grounds(self):
        """It was bred on 0.8 and 1.2 times the friction of 0.7."""
        for friction in (0.5, 0.75, 1):
            walk = self.run_json(HERE.parent / "gait/genome.json", "--set", f"friction={friction}", "--quiet")
            self.assertGreater(walk["metrics"]["moved_m"], BARS["gait"], friction)
            self.assertEqual(walk["metrics"]["docks_broken"], 0)

    def test_what_was_bred_crosses_the_pit(self):
        for seed in SEEDS:
            run = self.run_json("evolution/pit", "--seed", seed, "--set", "spread=0.005", "--quiet")
            self.assertEqual(run["metrics"]["crossed"], 1, seed)
        deep = self.run_json("evolution/pit", "--set", "pit=1", "--quiet")
        self.assertEqual(deep["metrics"]["crossed"], 0, "a pit of 1 m is wider than what it was bred for")


if __name__ == "__main__":
    Evolution.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
