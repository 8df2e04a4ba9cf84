"""The contract of `volvox bench engines`: every scene, at a small size, on native and bullet. Times are not asserted."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

KEYS = ["scene", "engine", "threads", "n", "dt", "ms_per_step", "hinge_max_mm", "hinge_max_deg", "dock_max_mm",
        "dock_max_deg", "lift_m", "penetration_max_mm", "rss_mb"]
SIZES = {"pile": 20, "heap": 52, "S4": 20, "track": 6}
WITHOUT_HINGES = ["spheres", "stack", "lattice"]
WITHOUT_DOCKS = ["S1", "S3", "pile", "spheres", "stack", "beside"]
# Error bounds of native and of other engines in these small runs; mm and degrees.
NATIVE = {"hinge_max_mm": 0.5, "hinge_max_deg": 0.2, "dock_max_mm": 0.5, "dock_max_deg": 0.2, "penetration_max_mm": 5}
PEER = {"hinge_max_mm": 10, "hinge_max_deg": 15, "dock_max_mm": 10, "dock_max_deg": 15, "penetration_max_mm": 20}


class BenchEngines(CommandTest):
    def bench(self, *arguments, status=0):
        done = self.run_program("bench", "engines", *arguments, "--json", status=status)
        return json.loads(done.stdout)["results"]

    def test_every_scene(self):
        names = [line.split()[0] for line in self.run_program("bench", "engines", "--list").stdout.splitlines()[1:]]
        for needed in ["S1", "S2", "S3", "S4", "pile", "heap", "spheres", "stack", "track", "lattice", "hit", "beside", "dock", "events"]:
            self.assertIn(needed, names)
        for scene in names:
            rows = self.bench("--scenes", scene, "--n", str(SIZES.get(scene, 8)), "--engines", "native,bullet", "--seconds", "0.5")
            self.assertEqual([row["engine"] for row in rows], ["native", "bullet"])
            for row in rows:
                with self.subTest(scene=scene, engine=row["engine"]):
                    self.check(row, NATIVE if row["engine"] == "native" else PEER)

    def check(self, row, bounds):
        self.assertEqual(list(row)[:len(KEYS)], KEYS)
        self.assertIsNone(row["failure"])
        self.assertAlmostEqual(row["dt"], 1 / 60)
        self.assertEqual(row["threads"], 1)
        self.assertEqual(row["n"], SIZES.get(row["scene"], 8))
        self.assertGreater(row["ms_per_step"], 0)
        self.assertGreater(row["rss_mb"], 1)
        self.assertGreater(row["times_faster_than"]["bullet"], 0)
        self.assertIn("substeps", row["settings"])
        for key, bound in bounds.items():
            absent = WITHOUT_HINGES if key.startswith("hinge") else WITHOUT_DOCKS if key.startswith("dock") else []
            if row["scene"] in absent:
                self.assertIsNone(row[key], key)
            else:
                self.assertGreaterEqual(row[key], 0, key)
                self.assertLess(row[key], bound, key)

    def test_sizes_threads_substeps_and_repeats_make_rows(self):
        rows = self.bench("--scenes", "S2", "--n", "3,6", "--engines", "native,bullet@1/60", "--threads", "1,2", "--seconds", "0.2", "--repeats", "2")
        self.assertEqual([(row["n"], row["engine"], row["threads"]) for row in rows],
                         [(n, engine, threads) for n in (3, 6) for engine, threads in (("native", 1), ("native", 2), ("bullet", 1))])
        self.assertAlmostEqual(rows[2]["substep_s"], 1 / 60)
        self.assertEqual(len(rows[0]["ms_of_repeats"]), 2)
        self.assertGreater(rows[1]["part_of_one_thread"], 0)
        self.assertEqual(rows[0]["state_hash"], rows[1]["state_hash"], "threads must not change the state")
        self.assertEqual(list(rows[0]["times_faster_than"]), ["bullet@1/60"])

    def test_precisions_make_rows(self):
        rows = self.bench("--scenes", "S1", "--n", "4", "--engines", "native@mixed,native@double,native", "--seconds", "0.2")
        self.assertEqual([row["settings"].split()[0] for row in rows], ["mixed", "double", "mixed"])
        self.assertEqual(rows[0]["state_hash"], rows[2]["state_hash"])
        self.assertNotEqual(rows[0]["state_hash"], rows[1]["state_hash"])
        done = self.run_program("bench", "engines", "--scenes", "S1", "--n", "4", "--engines", "bullet@mixed", status=2)
        self.assertIn("'bullet' knows double precision only", done.stderr)

    def test_the_same_seed_gives_the_same_state(self):
        run = lambda seed: self.bench("--scenes", "pile", "--n", "4", "--engines", "native", "--seconds", "0.2", "--seed", seed)[0]["state_hash"]
        self.assertEqual(run("3"), run("3"))
        self.assertNotEqual(run("3"), run("4"))

    def test_a_peer_that_is_too_slow_is_told_and_not_fatal(self):
        done = self.run_program("bench", "engines", "--scenes", "S1", "--n", "8", "--engines", "bullet@1/1000000,native", "--seconds", "0.1", "--limit", "1", "--json")
        row, native = json.loads(done.stdout)["results"]
        self.assertIn("1 of 2 rows could not be measured", done.stderr)
        self.assertIn("settles", row["failure"])
        self.assertIsNone(row["ms_per_step"])
        self.assertIsNone(row["penetration_max_mm"])
        self.assertEqual(row["times_faster_than"], {})
        self.assertGreater(native["ms_per_step"], 0)

    def test_nothing_measured_is_a_failure(self):
        rows = self.bench("--scenes", "S2", "--n", "200", "--engines", "bullet", "--seconds", "3", "--limit", "0.05", status=1)
        self.assertIn("settles", rows[0]["failure"])

    def test_what_was_measured_is_told_when_interrupted(self):
        for which in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(signal=which):
                command = [self.program, "bench", "engines", "--scenes", "S1,S2", "--n", "8", "--engines", "native,bullet@1/1000000", "--seconds", "0.1", "--json"]
                with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                    said = ""
                    while "[2/4]" not in said:  # the first row is measured by then, and the second takes minutes
                        self.assertTrue(letter := process.stderr.read(1), said)
                        said += letter
                    process.send_signal(which)
                    printed, rest = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 1)
                self.assertIn("interrupted", rest)
                told = json.loads(printed)
                self.assertTrue(told["interrupted"])
                self.assertEqual([(row["scene"], row["engine"]) for row in told["results"]], [("S1", "native")])
                self.assertGreater(told["results"][0]["ms_per_step"], 0)

    def test_our_own_failure_is_one(self):
        self.bench("--scenes", "S2", "--n", "200", "--engines", "native", "--seconds", "3", "--limit", "0.01", status=1)

    def test_the_table_names_the_settings(self):
        done = self.run_program("bench", "engines", "--scenes", "S1", "--n", "2", "--engines", "native,bullet", "--seconds", "0.1")
        for words in ["x bullet", "native: ", "bullet: ", "iterations", "dt 1/60"]:
            self.assertIn(words, done.stdout)
        self.assertIn("[1/2] S1 of 2 on native", done.stderr)

    def test_the_table_names_the_threads(self):
        done = self.run_program("bench", "engines", "--scenes", "events", "--n", "8", "--engines", "native", "--threads", "1,2", "--seconds", "0.2")
        for words in ["1 thread: docking costs", "2 threads: docking costs", "sweeps, 1 thread\n", "sweeps, 2 threads\n"]:
            self.assertIn(words, done.stdout)

    def test_bad_input(self):
        for arguments, says in [(["--scenes", "S9"], "S9"), (["--scenes", ""], "names no scene"), (["--scenes", ","], "names no scene"), (["--engines", "bulet"], "bullet"), (["--engines", "native@0"], "native@1/240"), (["--engines", "native@2"], "native@1/240"),
                                (["--engines", ","], "names no engine"), (["--engines", ""], "names no engine"), (["--n", ","], "names no number"),
                                (["--engines", "none"], "moves nothing"), (["--n", "0"], "--n"), (["--n", "3,x"], "x"),
                                (["--threads", "0"], "--threads"), (["--seconds", "nan"], "nan"), (["--scenes", "track", "--n", "2"], "at least 6")]:
            with self.subTest(arguments=arguments):
                done = self.run_program("bench", "engines", *arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)
                self.assertIn("fix: ", done.stderr)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
