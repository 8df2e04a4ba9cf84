"""The contract of `volvox bench particles`: every scene, at a small size. Times are not asserted."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

KEYS = ["scene", "n", "device", "threads", "frames_per_s", "density_error_mean", "state_hash"]


class BenchParticles(CommandTest):
    def bench(self, *arguments):
        return json.loads(self.run_program("bench", "particles", *arguments, "--json").stdout)["results"]

    def test_every_scene(self):
        rows = self.bench("--n", "1000", "--threads", "1,2", "--frames", "20")
        self.assertEqual([(row["scene"], row["threads"]) for row in rows], [(scene, threads) for scene in ["fluid", "snake", "debris", "cloth"] for threads in [1, 2]])
        for row in rows:
            for key in KEYS:
                self.assertIn(key, row)
            self.assertEqual(row["device"], "cpu")
            self.assertGreater(row["frames_per_s"], 0)
            self.assertRegex(row["state_hash"], "^[0-9a-f]{16}$")
            if row["scene"] in ["fluid", "snake"]:
                self.assertLess(row["density_error_mean"], 0.03)
            else:
                self.assertIsNone(row["density_error_mean"])
        for one, two in zip(rows[::2], rows[1::2]):
            self.assertEqual(one["state_hash"], two["state_hash"])

    def test_a_gpu_or_a_word_why_not(self):
        cpu, auto = self.bench("--scenes", "fluid", "--n", "500", "--frames", "3"), self.bench("--scenes", "fluid", "--n", "500", "--frames", "3", "--device", "auto")
        done = self.run_program("bench", "particles", "--scenes", "fluid", "--n", "500", "--frames", "3", "--device", "cuda", "--json")
        cuda = json.loads(done.stdout)["results"]
        self.assertEqual(cuda[0]["state_hash"], cpu[0]["state_hash"])
        self.assertEqual(auto[0]["device"], "cpu")
        self.assertIn(cuda[0]["device"], ["cpu", "cuda"])

    # A world steps its particles in parts, with the engine.
    def test_a_world_on_a_gpu_or_a_word_why_not(self):
        def run(device, **more):
            done = self.run_program("run", "remod3d/fluid", "--set", "spacing=0.08", "--duration", "0.1", "--device", device, "--quiet", "--out", device, **more)
            return done, json.loads(pathlib.Path(self.folder, device, "summary.json").read_text())
        (_, cpu), (_, auto), (said, cuda) = run("cpu"), run("auto"), run("cuda")
        for summary in [cpu, auto, cuda]:
            self.assertEqual(summary["state_hash"], cpu["state_hash"])
            self.assertIs(summary["reproducible"], True)
        self.assertEqual("on_gpu" in cuda["metrics"], "GPU" not in said.stderr)
        self.assertNotIn("on_gpu", cpu["metrics"])
        done, absent = run("cuda", VOLVOX_CUDA_LIBRARY="/nowhere/lib.so")
        self.assertIn("/nowhere/lib.so", done.stderr)
        self.assertIn("/nowhere/lib.so", absent["warnings"][0])
        self.assertEqual(absent["state_hash"], cpu["state_hash"])
        self.run_program("run", "remod3d/fluid", "--device", "abacus", status=2)

    def test_table_and_list(self):
        self.assertIn("frames/s", self.run_program("bench", "particles", "--scenes", "cloth", "--n", "100", "--frames", "2").stdout)
        self.assertIn("debris", self.run_program("bench", "particles", "--list").stdout)

    def test_bad_input(self):
        for arguments, says in [(["--scenes", "tides"], "fluid, snake, debris, cloth"), (["--n", "0"], "--n"), (["--threads", "0"], "--threads"),
                                (["--device", "abacus"], "--device"), (["--n", "10000000000"], "--n")]:
            with self.subTest(arguments=arguments):
                done = self.run_program("bench", "particles", *arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)
                self.assertIn("fix: ", done.stderr)

    def test_too_little_memory_is_said_before_loading(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        done = subprocess.run([self.program, "bench", "particles", "--scenes", "fluid", "--n", "10000000"], preexec_fn=limit, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("10000000 particles need about", done.stderr)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
