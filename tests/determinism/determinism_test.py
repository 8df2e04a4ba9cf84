"""Runs have the same bits at any number of threads, in every repetition, and across save and restore."""
import filecmp
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, WORLD_BEGIN, CommandTest

SCATTER = ["remod3d/scatter", "--set", "modules=20"]
SNAKE = ["remod3d/snake"]
CELLS = WORLD_BEGIN + GROUND + """<volvox:population name="c" type="cells" lattice="cubic" cells="8x8x8" program="flood"/>
<volvox:module name="m" robot="superbot" pose="2 2 0.4 0 0.3 0"><volvox:mind behavior="hold"/></volvox:module>
</world></sdf>
"""
FLOOD = ["vouivre/checkerboard", "--set", "simulation=8"]  # wires and radio


class Determinism(CommandTest):
    def state(self, *arguments):
        return self.run_json(*arguments, "--quiet")["state_hash"]

    def engines(self):
        return {engine["name"] for engine in json.loads(self.run_program("list", "engines", "--json").stdout)["engines"]}

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_threads(self):
        for experiment in [SCATTER, [*SCATTER, "--set", "robot=atron"], SNAKE, FLOOD]:
            with self.subTest(experiment=experiment):
                states = {self.state(*experiment, "--duration", "2", "--threads", threads) for threads in (1, 2, 3)}
                self.assertEqual(len(states), 1, states)

    def test_everything_that_is_reported_repeats(self):
        first, second = (self.run_json(*SNAKE, "--duration", "1") for _ in range(2))
        for key in first:
            if key not in ("wall_time_s", "real_time_factor"):
                self.assertEqual(first[key], second[key], key)

    def test_the_seed_matters(self):
        self.assertNotEqual(self.state(*SCATTER, "--duration", "0.5", "--seed", "1"),
                            self.state(*SCATTER, "--duration", "0.5", "--seed", "2"))

    def test_a_restored_run_is_the_run(self):
        """Engine none has no caches: a restored run equals an uninterrupted one, bit by bit."""
        for experiment in [SCATTER, SNAKE, FLOOD]:
            with self.subTest(experiment=experiment):
                whole = self.run_json(*experiment, "--engine", "none", "--duration", "4")
                self.run_json(*experiment, "--engine", "none", "--duration", "2", "--save", "half.snap")
                rest = self.run_json(*experiment, "--engine", "none", "--duration", "4", "--restore", "half.snap", "--threads", "2")
                self.assertEqual(whole["state_hash"], rest["state_hash"])
                self.assertEqual(whole["metrics"], rest["metrics"])
                self.assertEqual(whole["ticks"], rest["ticks"])

    def test_a_cold_restore_repeats(self):
        """Restored runs agree with each other bit by bit, whatever an engine does with its caches."""
        for experiment in [SCATTER, SNAKE]:
            with self.subTest(experiment=experiment):
                for threads in (1, 2):
                    self.run_json(*experiment, "--duration", "2", "--threads", threads, "--save", f"half{threads}.snap")
                self.assertTrue(filecmp.cmp(self.path("half1.snap"), self.path("half2.snap"), shallow=False))
                restored = [self.run_json(*experiment, "--duration", "3", "--threads", threads, "--restore", "half1.snap",
                                          "--save", f"end{threads}.snap") for threads in (1, 2, 3)]
                self.assertEqual(len({run["state_hash"] for run in restored}), 1)
                self.assertEqual(restored[0]["metrics"], restored[2]["metrics"])
                self.assertTrue(filecmp.cmp(self.path("end1.snap"), self.path("end3.snap"), shallow=False))

    def test_a_cold_restore_is_near_to_the_run(self):
        """A restored run stays close to the run that was never saved, for a while."""
        whole = self.run_json(*SNAKE, "--duration", "2.2")
        self.run_json(*SNAKE, "--duration", "2", "--save", "half.snap")
        rest = self.run_json(*SNAKE, "--duration", "2.2", "--restore", "half.snap")
        for metric, value in whole["metrics"].items():
            self.assertAlmostEqual(value, rest["metrics"][metric], delta=max(0.02, 0.1 * abs(value)), msg=metric)

    def test_another_engine_takes_over(self):
        """The same bits every time and at any number of threads (docs/decisions/0070), also where cells of a lattice are beside the modules."""
        self.write("cells.sdf", CELLS)
        for experiment in [SCATTER, ["cells.sdf"]]:
            self.run_json(*experiment, "--engine", "native", "--duration", "0.5", "--save", "half.snap")
            for engine in {"mujoco", "bullet"} & self.engines():
                with self.subTest(experiment=experiment, engine=engine):
                    go_on = [*experiment, "--engine", engine, "--duration", "1", "--restore"]
                    ends = [self.run_json(*go_on, "half.snap", "--threads", threads, "--save", f"end{threads}.snap") for threads in (1, 2, 3)]
                    self.assertEqual({run["state_hash"] for run in ends}, {ends[0]["state_hash"]})
                    self.assertTrue(filecmp.cmp(self.path("end1.snap"), self.path("end3.snap"), shallow=False))
                    again = self.run_json(*go_on, "end1.snap")
                    self.assertEqual((again["state_hash"], again["engine"]), (ends[0]["state_hash"], engine))

    def test_restoring_at_the_end_changes_nothing(self):
        saved = self.run_json(*SNAKE, "--duration", "1", "--save", "end.snap")
        again = self.run_json(*SNAKE, "--duration", "1", "--restore", "end.snap", "--save", "again.snap")
        self.assertEqual(saved["state_hash"], again["state_hash"])
        self.assertEqual(saved["metrics"], again["metrics"])
        self.assertTrue(filecmp.cmp(self.path("end.snap"), self.path("again.snap"), shallow=False))


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
