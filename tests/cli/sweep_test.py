"""volvox sweep: runs over values and seeds, which can be resumed after a kill."""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

SNAKE = ["sweep", "remod3d/snake", "--set", "modules=3", "--duration", "0.1"]


class Sweep(CommandTest):
    def sweep_json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, "--json", **options).stdout)

    def rows(self, folder):
        return list(csv.DictReader(io.StringIO(self.read(folder, "sweep.csv"))))

    def test_every_value_and_seed_is_a_run_like_one_of_volvox_run(self):
        found = self.sweep_json(*SNAKE, "--vary", "amplitude=0.1:0.3:2", "--vary", "engine=native,bullet", "--seeds", "2", "--seed", "5", "--jobs", "3", "--out", "s")
        self.assertEqual([(r["settings"]["amplitude"], r["settings"]["engine"], r["seed"]) for r in found["results"]],
                         [(a, e, s) for a in ["0.1", "0.3"] for e in ["native", "bullet"] for s in [5, 6]])
        alone = self.run_json("remod3d/snake", "--set", "modules=3", "--set", "amplitude=0.3", "--duration", "0.1", "--engine", "bullet", "--seed", "6")
        self.assertEqual(found["results"][-1]["state_hash"], alone["state_hash"])
        self.assertEqual(found["results"][-1]["metrics"], alone["metrics"])
        rows = self.rows("s")
        self.assertEqual(len(rows), 8)
        self.assertEqual({row["status"] for row in rows}, {"done"})
        self.assertEqual(float(rows[-1]["distance_m"]), alone["metrics"]["distance_m"])
        self.assertEqual((rows[-1]["lift_m"], alone["metrics"]["lift_m"]), ("", None), "it is measured after the first second")
        for row in rows:
            summary = json.loads(self.read("s", "runs", row["run"], "summary.json"))
            self.assertEqual((summary["seed"], summary["settings"]["amplitude"], summary["engine"]), (int(row["seed"]), row["amplitude"], row["engine"]))
        for plot in found["plots"]:
            words = " ".join(xml.etree.ElementTree.parse(os.path.join(self.folder, "s", plot)).getroot().itertext())
            self.assertIn("8 runs", words)
        self.assertIn("by_amplitude.svg", found["plots"])
        self.assertIn("by_engine.svg", found["plots"])

    def test_bands_hold_the_mean_of_the_seeds(self):
        self.run_program("sweep", "remod3d/scatter", "--set", "robot=atron", "--duration", "0.2", "--vary", "modules=2,4", "--seeds", "3", "--quiet", "--out", "s")
        means = [sum(float(r["moved_m"]) for r in self.rows("s") if r["modules"] == n) / 3 for n in ["2", "4"]]
        svg = self.read("s", "plots", "moved_m_by_modules.svg")
        self.assertEqual(svg.count("<circle"), 2)
        self.assertEqual(svg.count("<polygon"), 1)
        self.assertNotEqual(means[0], means[1])
        heights = [float(circle.split('cy="')[1].split('"')[0]) for circle in svg.split("<circle")[1:]]
        self.assertEqual(heights[0] > heights[1], means[0] < means[1])  # y points down in SVG

    def test_what_has_finished_is_not_repeated(self):
        command = [*SNAKE, "--vary", "amplitude=0.1,0.2", "--seeds", "2", "--out", "s"]
        first = self.sweep_json(*command)
        whole = os.path.join(self.folder, "s", "runs", first["results"][0]["run"], "summary.json")
        cut = os.path.join(self.folder, "s", "runs", first["results"][2]["run"], "summary.json")
        before = os.stat(whole).st_mtime_ns
        with open(cut, "r+") as file:
            file.truncate(40)
        second = self.sweep_json(*command)
        self.assertEqual((first["found_finished"], second["found_finished"]), (0, 3))
        self.assertEqual(second["results"], first["results"])
        self.assertEqual(os.stat(whole).st_mtime_ns, before)

    def test_a_summary_that_is_nonsense_is_run_again(self):
        command = ["sweep", "remod3d/snake", "--set", "modules=3", "--seeds", "3", "--duration", "0.1", "--out", "s"]
        first = self.sweep_json(*command)
        for result, (key, value) in zip(first["results"], [("status", 7), ("state_hash", None), ("settings", "none")]):
            file = pathlib.Path(self.folder, "s", "runs", result["run"], "summary.json")
            summary = json.loads(file.read_text())
            file.write_text(json.dumps({**summary, key: value}))
        second = self.sweep_json(*command)
        self.assertEqual(second["found_finished"], 0)
        self.assertEqual(second["results"], first["results"])

    def test_it_goes_on_after_a_kill(self):
        command = ["sweep", "remod3d/snake", "--set", "modules=6", "--vary", "amplitude=0.1,0.2,0.3,0.4", "--seeds", "2", "--duration", "4", "--jobs", "1", "--out", "s"]
        process = subprocess.Popen([self.program, *command, "--quiet"], cwd=self.folder)
        runs = os.path.join(self.folder, "s", "runs")
        finished = lambda: sorted(n for n in os.listdir(runs) if not n.endswith(".unfinished")) if os.path.isdir(runs) else []
        while not finished():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        kept = {name: os.stat(os.path.join(runs, name, "summary.json")).st_mtime_ns for name in finished()}
        self.assertGreater(len(kept), 0)
        self.assertLess(len(kept), 8)
        found = self.sweep_json(*command)
        self.assertGreaterEqual(found["found_finished"], len(kept))  # one may have ended just before the kill
        self.assertEqual([r["status"] for r in found["results"]], ["done"] * 8)
        for name, written in kept.items():
            self.assertEqual(os.stat(os.path.join(runs, name, "summary.json")).st_mtime_ns, written)
        whole = self.sweep_json(*command[:-1], "undisturbed")
        self.assertEqual([r["state_hash"] for r in found["results"]], [r["state_hash"] for r in whole["results"]])
        self.assertEqual([n for n in os.listdir(runs) if n.endswith(".unfinished")], [])

    def children_of(self, process):
        with open(f"/proc/{process}/task/{process}/children") as file:
            return [int(child) for child in file.read().split()]

    def test_ctrl_c_stops_the_children(self):
        command = ["sweep", "remod3d/scatter", "--vary", "modules=20,30", "--duration", "100000", "--jobs", "2", "--out", "s"]
        process = subprocess.Popen([self.program, *command], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        children = []
        while len(children) < 2:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
            children = self.children_of(process.pid)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1)
        self.assertIn("--out s\n", said)
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertEqual([row["status"] for row in self.rows("s")], ["waiting", "waiting"])

    def test_a_run_that_fails_does_not_stop_the_rest(self):
        self.write("world.sdf", WORLD)
        done = self.run_program("sweep", "world.sdf", "--vary", "does=throws,idle,throws_a_number", "--jobs", "1", "--duration", "0.2", "--out", "s",
                                status=1, program=self.bad_behaviors)
        self.assertEqual([row["status"] for row in self.rows("s")], ["failed", "done", "failed"])
        self.assertIn("does=throws_seed=1", done.stderr)
        self.assertIn("2 of 3 runs failed", done.stderr)
        self.assertIn("on purpose", self.rows("s")[0]["failure"])

    def test_many_long_keys(self):
        keys = [f"parameter_with_a_name_of_many_words_{i}" for i in range(8)]
        declared = "".join(f'<volvox:parameter name="{key}" value="0"/>' for key in keys)
        self.write("w.sdf", WORLD.replace("<model", declared + "<model", 1))
        found = self.sweep_json("sweep", "w.sdf", "--duration", "0.05", *[word for key in keys for word in ["--vary", f"{key}={1 if key != keys[-1] else '1,2'}"]], "--out", "s")
        self.assertEqual([r["status"] for r in found["results"]], ["done"] * 2)
        self.assertEqual(len({r["run"] for r in found["results"]}), 2)

    def test_another_sweep_into_the_folder_is_refused(self):
        command = [*SNAKE, "--vary", "amplitude=0.1,0.2", "--quiet", "--out", "s"]
        self.run_program(*command)
        table = self.read("s", "sweep.csv")
        for change in [["--seeds", "2"], ["--set", "frequency=1"], ["--engine", "bullet"], ["--vary", "frequency=1,2"]]:
            done = self.run_program(*command, *change, status=2)
            self.assertIn("another sweep", done.stderr)
            self.assertIn("\n  fix: ", done.stderr)
        self.assertEqual(self.read("s", "sweep.csv"), table)
        self.write("s/sweep.json", "{")
        self.assertIn("sweep.json", self.run_program(*command, status=2).stderr)

    def test_two_at_once_in_one_folder_are_refused(self):
        command = [self.program, "sweep", "remod3d/scatter", "--vary", "modules=20,30", "--duration", "100000", "--jobs", "1", "--quiet", "--out", "s"]
        first = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        try:
            while not self.children_of(first.pid):
                self.assertIsNone(first.poll())
                time.sleep(0.01)
            self.assertIn(f"process {first.pid} is writing", self.run_program(*command[1:], status=2).stderr)
        finally:
            first.terminate()
            first.wait(20)

    def test_bad_input(self):
        for arguments, says in [(["--vary", "amplitude"], "KEY=A:B:N"), (["--vary", "=1,2"], "KEY=A:B:N"), (["--vary", "amplitude=1:2"], "A:B:N"),
                                (["--vary", "amplitude=a:2:3"], "A:B:N"), (["--vary", "amplitude=0.1:nan:3"], "A:B:N"), (["--vary", "amplitude=0.1:0.2:0"], "A:B:N"),
                                (["--vary", "amplitude=0.1:0.2:1"], "at least two"), (["--vary", "amplitude=,"], "no values"),
                                (["--vary", "amplitude=0.1,0.1"], "twice"), (["--vary", "modules=4,5"], "twice"), (["--vary", "amplitude=1", "--vary", "amplitude=2"], "twice"),
                                (["--vary", "amplitud=0.1,0.2"], "amplitud"), (["--vary", "amplitude=0.1:9:3"], "from 0 to 1.5"), (["--vary", "engine=native,bulet"], "bulet"),
                                (["--vary", "dt=1/60,fast"], "fast"), (["--vary", "duration=1,-1"], "-1"),
                                (["--vary", "amplitude=0.1,0.2", "--seeds", "0"], "0"), (["--vary", "amplitude=0.1,0.2", "--jobs", "x"], "x"),
                                (["--vary", "amplitude=0:1:1000", "--vary", "frequency=0:1:1000", "--seeds", "2"], "million"),
                                (["--vary", "amplitude=0.1,0.2", "--out", "/proc/volvox"], "/proc/volvox")]:
            with self.subTest(arguments=arguments):
                done = self.run_program(*SNAKE, *arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)
                self.assertIn("\n  fix: ", done.stderr)
                self.assertEqual(os.listdir(self.folder), [], "bad input leaves nothing behind")
        done = self.run_program("sweep", "remod3d/scatter", "--vary", "modules=2:5:3", status=2)
        self.assertIn("3.5", done.stderr)  # no half modules
        self.assertIn("remod3d/snak", self.run_program("sweep", "remod3d/snak", "--vary", "a=1,2", status=2).stderr)

    def test_seeds_alone(self):
        found = self.sweep_json("sweep", "remod3d/scatter", "--set", "modules=2", "--duration", "0.1", "--seeds", "3")
        self.assertEqual(len({result["state_hash"] for result in found["results"]}), 3)
        self.assertIs(found["seeds_change_nothing"], False)
        self.write("w.sdf", WORLD)
        command = ["sweep", "w.sdf", "--duration", "0.1", "--seeds", "2", "--out", "w"]
        said = self.run_program(*command).stdout
        self.assertIn("seeds  change nothing here", said)
        self.assertIn("plots  none: there is no --vary", said)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "w", "plots")))
        same = self.run_program("sweep", "w.sdf", "--duration", "0.1", "--vary", "does=idle,hold", "--out", "same").stdout
        if "none: no metric changes" not in same:  # what is named is there
            self.assertTrue(os.path.exists(os.path.join(self.folder, "same", "by_does.svg")), same)
        self.assertIs(self.sweep_json(*command)["seeds_change_nothing"], True)

    def test_words_go_to_standard_output_and_progress_does_not(self):
        done = self.run_program(*SNAKE, "--vary", "amplitude=0.1,0.2", "--seeds", "2")
        self.assertIn("95 % confidence", done.stdout)
        self.assertIn(os.path.join("runs", "sweep_remod3d_snake", "001", "sweep.csv"), done.stdout)
        self.assertNotIn("\x1b", done.stdout + done.stderr)


WORLD = """<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="w">
<volvox:parameter name="does" value="idle">what it does</volvox:parameter>
<model name="ground"><static>true</static><link name="ground">
  <collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<volvox:module name="m" robot="superbot" pose="0 0 0.05 0 0 0"><volvox:mind behavior="${does}"/></volvox:module>
</world></sdf>
"""


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    Sweep.bad_behaviors = os.path.abspath(sys.argv.pop(1))
    unittest.main()
