"""Worlds of catoms that the ranks of a real mpirun share: the same hash, snapshot and results at 1, 2 and 4 ranks; a rank that dies ends the run with a clear
error, and the last snapshot goes on."""
import json
import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from mpirun import MpiTest

WORLD = """<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="cells"><volvox:run duration="0.5"/>
<volvox:population name="c" type="cells" lattice="fcc" cells="6x6x6" program="tree" capacity="3"/></world></sdf>"""


def ranks_of(process):
    """The processes that mpirun has started, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == process:
                    words = dict(word.split("=", 1) for word in (entry / "environ").read_text().split("\0") if "=" in word)
                    found[int(words["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
            except (OSError, IndexError, KeyError):
                pass
    return found


class LatticeRanks(MpiTest):
    def same_at_any_number(self, name, *arguments, files=()):
        """What one process, 2 and 4 ranks come to; returns that of one."""
        first = json.loads(self.run_program("run", *arguments, "--json", "--out", f"{name}1").stdout)
        own = ("bytes_per_catom", "ranks", "mb_between_ranks")
        metrics = lambda report: {key: value for key, value in report["metrics"].items() if key not in own}
        for ranks in [2, 4]:
            out, _ = self.mpirun(ranks, "run", *arguments, "--json", "--out", f"{name}{ranks}")
            found = json.loads(out)
            self.assertEqual(found["state_hash"], first["state_hash"], name)
            self.assertEqual(found["status"], "done")
            self.assertEqual(metrics(found), metrics(first), name)
            self.assertEqual(found["metrics"]["ranks"], ranks)
            for file in files:
                self.assertEqual(self.read(f"{name}{ranks}", file), self.read(f"{name}1", file), file)
        return first

    def test_flood_gradient_and_motion(self):
        self.same_at_any_number("flood", "dprsim/flood", "--set", "side=9", "--duration", "0.4", files=["reached.csv"])
        self.same_at_any_number("gradient", "dprsim/gradient", "--set", "side=7", "--set", "capacity=3", "--duration", "0.3", files=["distances.csv"])
        self.same_at_any_number("shape", "dprsim/shape", "--set", "catoms=40", "--duration", "0.6", files=["filled.csv"])

    def test_meld_and_sdf(self):
        self.same_at_any_number("meld", "dprsim/meld", "--set", "program=line", "--set", "lattice=hex", "--set", "cells=7x5", "--duration", "0.6",
                                files=["facts.csv", "colors.csv", "colors.svg"])
        self.write("w/world.sdf", WORLD)
        self.same_at_any_number("world", "w/world.sdf")

    def test_bench(self):
        hash_of = lambda text: json.loads(text)["results"][0]["state_hash"]
        for scene in ["flood", "moves", "meld"]:
            alone = hash_of(self.run_program("bench", "lattice", "--scenes", scene, "--n", "2000", "--json").stdout)
            out, _ = self.mpirun(2, "bench", "lattice", "--scenes", scene, "--n", "2000", "--json")
            self.assertEqual(hash_of(out), alone, scene)
            row = json.loads(out)["results"][0]
            self.assertEqual(row["ranks"], 2)
            self.assertGreater(row["bytes_between_ranks"], 0)

    def test_a_snapshot_goes_on_at_any_number_of_ranks(self):
        world = ["dprsim/gradient", "--set", "side=7", "--set", "capacity=2"]
        whole = json.loads(self.run_program("run", *world, "--duration", "0.4", "--json", "--out", "a").stdout)["state_hash"]
        self.run_program("run", *world, "--duration", "0.2", "--save", "one.snapshot", "--quiet", "--out", "b")
        self.mpirun(2, "run", *world, "--duration", "0.2", "--save", "two.snapshot", "--quiet", "--out", "c")
        self.assertEqual(pathlib.Path(self.folder, "one.snapshot").read_bytes(), pathlib.Path(self.folder, "two.snapshot").read_bytes())
        out, _ = self.mpirun(4, "run", *world, "--duration", "0.4", "--restore", "two.snapshot", "--json", "--out", "d")
        self.assertEqual(json.loads(out)["state_hash"], whole)

    def test_a_rank_that_dies_ends_the_run_and_the_last_snapshot_is_kept(self):
        world = ["dprsim/flood", "--set", "side=8", "--set", "capacity=1"]
        snapshot = pathlib.Path(self.folder, "kept.snapshot")
        said = set()
        for victim in [1, 2, 1, 2, 1, 2, 1, 2]:
            if victim in said:
                continue
            snapshot.unlink(missing_ok=True)
            process = self.start(3, "run", *world, "--duration", "100000", "--save", "kept.snapshot", "--save-every", "0.05", "--out", "k")
            for _ in range(2400):
                if snapshot.exists() and len(ranks_of(process.pid)) == 3:
                    break
                time.sleep(0.05)
            os.kill(ranks_of(process.pid)[victim], signal.SIGKILL)
            out, errors = process.communicate(timeout=120)
            self.assertNotEqual(process.returncode, 0)
            # mpirun ends the others a second later: where the machine is busy, that is too short to say it.
            if f"rank {victim} does not answer any more" in errors:
                said.add(victim)
                self.assertIn("--restore", errors)
            self.assertIn(f"rank {victim}", errors)  # mpirun names it, too
            found = json.loads(self.run_program("run", *world, "--restore", "kept.snapshot", "--json", "--out", "l", "--duration", "3").stdout)
            whole = json.loads(self.run_program("run", *world, "--json", "--out", "m", "--duration", "3").stdout)
            self.assertEqual(found["state_hash"], whole["state_hash"])
        self.assertEqual(said, {1, 2})

    def test_what_cannot_be_shared_is_refused(self):
        _, errors = self.mpirun(2, "run", "dprsim/walkers", status=2)
        self.assertIn("dprsim/walkers cannot be shared by ranks", errors)
        _, errors = self.mpirun(2, "run", "dprsim/flood", "--record", status=2)
        self.assertIn("do not show, record or pace", errors)
        _, errors = self.mpirun(2, "run", "dprsim/flood", status=2, VOLVOX_MPI_LIBRARY="/nowhere/libvolvox_mpi.so")
        self.assertIn("built without MPI", errors)
        _, errors = self.mpirun(2, "run", "dprsim/flood", "--set", "lattice=round", status=2)
        self.assertEqual(errors.count("lattice=round"), 1, errors)  # the first rank speaks

    def test_a_rank_that_cannot_keep_files_is_no_end_of_waiting(self):
        for folder in ["/nowhere", "/proc"]:  # is not there; nothing can be made in it
            own = f'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then export TMPDIR={folder}; fi; exec "$0" "$@"'
            process = self.start(2, "run", "dprsim/flood", "--set", "side=5", "--duration", "0.1", through=["sh", "-c", own])
            try:
                _, errors = process.communicate(timeout=120)
            finally:
                process.kill()
            self.assertNotEqual(process.returncode, 0)
            self.assertIn("rank 1 cannot go on", errors)
            self.assertIn("set TMPDIR to another folder", errors)


if __name__ == "__main__":
    MpiTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
