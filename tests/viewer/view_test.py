"""volvox run --view: when the run begins."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest
from watcher import Watcher


class View(CommandTest):
    def serve(self, *arguments):
        self.process = subprocess.Popen([self.program, *arguments, "--no-browser"], cwd=self.folder, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.said = self.process.stderr.readline()
        if "has not been built" in self.said:
            self.skipTest(self.said)
        self.assertIn("http://", self.said, self.said)

    def run_viewed(self, *more):
        self.serve("run", "remod3d/snake", "--set", "modules=3", "--duration", "0.5", "--view", "--out", "out", *more)

    def watch(self):
        port, query = re.search(r":(\d+)/(\S*)", self.said).groups()
        watcher = Watcher(int(port), query)
        self.addCleanup(watcher.close)
        return watcher

    def end(self, status=0):
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(60), status)

    def test_a_short_run_is_not_over_before_somebody_looks(self):
        self.run_viewed()
        self.assertIn("waits for it to be opened, at most 10 s", self.said)
        time.sleep(2)  # four times as long as the run
        states = self.watch().texts("state")
        self.assertFalse(next(states)["ended"])
        self.assertEqual(next(state for state in states if state["ended"])["tick"], 30)
        self.end()

    def test_it_begins_if_nobody_comes(self):
        self.run_viewed()
        for _ in range(600):
            # The address is told before earlier results are removed and the summary is begun.
            if os.path.exists(os.path.join(self.folder, "out", "summary.json")) and json.loads(self.read("out", "summary.json"))["status"] == "done":
                break
            time.sleep(0.1)
        self.end()
        self.assertEqual(json.loads(self.read("out", "summary.json"))["status"], "done")

    def test_ctrl_c_while_it_waits(self):
        self.run_viewed()
        self.end(status=1)  # it has not begun
        self.assertEqual(json.loads(self.read("out", "summary.json"))["status"], "stopped")

    def test_paused_until_somebody_presses_play(self):
        self.run_viewed("--paused")
        self.assertIn("press play", self.said)
        first = self.watch()
        states = first.texts("state")
        state = next(states)
        self.assertEqual((state["tick"], state["paused"]), (0, True))
        time.sleep(1)
        again = next(self.watch().texts("state"))
        self.assertEqual((again["tick"], again["paused"]), (0, True))
        first.send('{"type":"play"}')
        self.assertEqual(next(state for state in states if state["ended"])["tick"], 30)
        self.end()

    def test_paused_is_for_viewers(self):
        self.assertIn("--view", self.run_program("run", "remod3d/snake", "--paused", status=2).stderr)

    def test_a_replay_waits(self):
        self.run_program("run", "remod3d/snake", "--set", "modules=3", "--duration", "0.5", "--record", "--quiet", "--out", "out")
        self.serve("replay", "out")
        time.sleep(1.5)
        self.assertLess(next(self.watch().texts("state"))["tick"], 10)
        self.end()


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
