"""The contract of `volvox bench lattice`: every scene, at a small size. Times are not asserted."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

KEYS = ["scene", "n", "threads", "messages", "messages_per_s", "bytes_per_module", "moves_per_s", "load_s", "peak_mb", "state_hash"]


class BenchLattice(CommandTest):
    def bench(self, *arguments):
        return json.loads(self.run_program("bench", "lattice", *arguments, "--json").stdout)["results"]

    def test_flood(self):
        rows = self.bench("--n", "1000,8000", "--threads", "1,2")
        self.assertEqual([(row["n"], row["threads"]) for row in rows], [(1000, 1), (1000, 2), (8000, 1), (8000, 2)])
        for row in rows:
            for key in KEYS:
                self.assertIn(key, row)
            side = round(row["n"] ** (1 / 3))
            self.assertEqual(row["messages"], 2 * 3 * side * side * (side - 1) - (row["n"] - 1))
            self.assertGreater(row["messages_per_s"], 0)
            self.assertIsNone(row["moves_per_s"])
            self.assertRegex(row["state_hash"], "^[0-9a-f]{16}$")
        self.assertEqual(rows[0]["state_hash"], rows[1]["state_hash"])
        self.assertEqual(rows[2]["state_hash"], rows[3]["state_hash"])
        self.assertNotEqual(rows[0]["state_hash"], rows[2]["state_hash"])

    def test_bytes_a_module(self):
        self.assertLess(self.bench("--n", "1000000")[0]["bytes_per_module"], 200)

    def test_every_scene(self):
        names = [line.split()[0] for line in self.run_program("bench", "lattice", "--list").stdout.splitlines()[1:]]
        rows = self.bench("--scenes", "all", "--n", "500")
        self.assertEqual([row["scene"] for row in rows], names)
        moves = next(row for row in rows if row["scene"] == "moves")
        self.assertGreater(moves["moves_per_s"], 0)

    def test_table(self):
        self.assertIn("bytes/module", self.run_program("bench", "lattice", "--n", "100").stdout)

    def test_bad_input(self):
        for arguments, says in [(["--scenes", "tides"], "flood, gradient, tree, moves"), (["--scenes", ","], "names no scene"), (["--n", "0"], "--n"), (["--n", "x"], "x"),
                                (["--n", ","], "names no number"), (["--threads", "0"], "--threads")]:
            with self.subTest(arguments=arguments):
                done = self.run_program("bench", "lattice", *arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)
                self.assertIn("fix: ", done.stderr)

    def test_too_little_memory_is_said_before_loading(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        done = subprocess.run([self.program, "bench", "lattice", "--n", "500000000"], preexec_fn=limit, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("500000000 modules need about", done.stderr)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
