"""The golden scenes end in the state that the repository says: at any number of threads, with every instruction set that the
machine has, and when the run was saved half way and restored."""
import os
import sys
import tempfile
import unittest

import golden


def measured(run):
    """The metrics, without those that say how much time and memory the computer took."""
    return {name: value for name, value in run["metrics"].items()
            if not name.endswith(("_ms", "_us", "late_ticks", "drift_s", "bytes_per_catom"))}


class Golden(unittest.TestCase):
    def setUp(self):
        self.enterContext(temporary := tempfile.TemporaryDirectory(prefix="volvox golden "))
        self.folder = temporary.name

    def compare(self, states):
        """states: (scene, what was special, state hash). Fails with a table of all that differ."""
        differ = [f"  {scene.name:<12} {special:<24} {scene.state_hash:<18} {state}"
                  for scene, special, state in states if state != scene.state_hash]
        header = f"  {'scene':<12} {'run':<24} {'golden':<18} now"
        if differ:
            self.fail("\n".join(["the state is not the golden one:", header, *differ,
                                 'If that is meant: tests/golden/renew VOLVOX "the reason", in the commit that changes it.']))

    def state(self, scene, *options, **environment):
        return golden.run(self.program, scene, *options, folder=self.folder, **environment)["state_hash"]

    def test_any_number_of_threads(self):
        self.compare((scene, f"--threads {threads}", self.state(scene, "--threads", threads))
                     for scene in golden.read() for threads in golden.THREADS)

    def test_every_instruction_set(self):
        sets = golden.instruction_sets(self.program)
        self.assertIn("sse2", sets)
        self.compare((scene, f"VOLVOX_ISA={isa}", self.state(scene, "--threads", 2, VOLVOX_ISA=isa))
                     for scene in golden.read() for isa in sets[:-1])  # the last is what the others ran with

    def test_saved_half_way_and_restored(self):
        """The engine native restores exactly, at another number of threads too."""
        def states():
            for scene in golden.read():
                whole = golden.run(self.program, scene, "--threads", 1, folder=self.folder)
                for saving, restoring in ((1, 3), (2, 1)):
                    self.state(scene.half(), "--threads", saving, "--save", "half.snap")
                    rest = golden.run(self.program, scene, "--threads", restoring, "--restore", "half.snap", folder=self.folder)
                    yield scene, f"restored, {saving} -> {restoring} threads", rest["state_hash"]
                    self.assertEqual(measured(rest), measured(whole), scene.name)
        self.compare(list(states()))

    def test_an_instruction_set_that_is_not_there(self):
        unknown = golden.asked_for(self.program, "avx3")
        self.assertEqual(unknown.returncode, 2, unknown.stderr)
        self.assertIn("sse2, avx2 or avx512", unknown.stderr)
        for isa in set(golden.INSTRUCTION_SETS) - set(golden.instruction_sets(self.program)):
            lacking = golden.asked_for(self.program, isa)
            self.assertEqual(lacking.returncode, 2, lacking.stderr)
            self.assertIn("processor", lacking.stderr)


if __name__ == "__main__":
    Golden.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
