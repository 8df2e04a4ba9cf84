"""Results are never taken for those of other files or settings: sweeps, snapshots and recordings know what they were made of."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, NECK, WORLD_BEGIN, CommandTest

WORLD = WORLD_BEGIN + GROUND + """
  <volvox:parameter name="height" value="0.3" min="0.1" max="1"/>
  <volvox:parameter name="shape" value="block" />
  <volvox:run duration="0.5" dt="1/60"/>
  <include><uri>bot.sdf</uri><name>bot</name><pose>0 0 ${height} 0 0 0</pose></include>
  <include><uri>${shape}.sdf</uri><name>thing</name><pose>1 0 0.5 0 0 0</pose></include>
</world></sdf>
"""
BOT = '<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><model name="bot">\n' + NECK + '<volvox:mind behavior="idle"/></model></sdf>\n'
THING = """<sdf version="1.9"><model name="thing"><link name="l">
  <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
  <collision name="c"><geometry><mesh><uri>part.obj</uri></mesh></geometry></collision></link></model></sdf>
"""
PART = "v 0 0 0\nv {0} 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


class ChangedFiles(CommandTest):
    def setUp(self):
        super().setUp()
        for name, text in [("w.sdf", WORLD), ("bot.sdf", BOT), ("block.sdf", THING), ("cube.sdf", THING), ("part.obj", PART.format("0.1"))]:
            self.write(name, text)

    def edits(self):
        """Of each file that the world is made of, one after the other: its name, while it is changed."""
        for name, old, new in [("w.sdf", 'name="w"', 'name="v"'), ("bot.sdf", "<mass>2<", "<mass>3<"), ("block.sdf", "<mass>1<", "<mass>4<"),
                               ("part.obj", "v 0.1 0 0", "v 0.12 0 0")]:
            text = self.read(name)
            self.assertIn(old, text)
            self.write(name, text.replace(old, new, 1))
            yield name
            self.write(name, text)

    def clone(self, name):
        """A resource path of its own, with the experiment g/mine in it."""
        for file in ["bot.sdf", "block.sdf", "part.obj"]:
            self.write(f"{name}/experiments/g/mine/{file}", self.read(file))
        self.write(f"{name}/experiments/g/mine/world.sdf", WORLD)
        return {"VOLVOX_RESOURCE_PATH": os.path.join(self.folder, name)}

    def summary(self, *names):
        return json.loads(self.read(*names, "summary.json"))


class Summaries(ChangedFiles):
    def test_a_summary_names_its_files(self):
        self.run_program("run", "w.sdf", "--quiet", "--out", "r")
        files = self.summary("r")["files"]
        self.assertEqual(sorted(os.path.basename(file) for file in files), ["block.sdf", "bot.sdf", "part.obj", "w.sdf"])
        for file, fingerprint in files.items():
            self.assertTrue(os.path.isabs(file))
            self.assertEqual(len(fingerprint), 16)


class Sweeps(ChangedFiles):
    SWEEP = ["sweep", "w.sdf", "--vary", "height=0.2,0.3", "--jobs", "1", "--out", "s"]

    def sweep(self, *more, **options):
        return json.loads(self.run_program(*self.SWEEP, "--json", *more, **options).stdout)

    def test_the_runs_of_other_files_are_not_shown_as_those_of_these(self):
        first = self.sweep()
        table = self.read("s", "sweep.csv")
        for name in self.edits():
            done = self.run_program(*self.SWEEP, "--json", status=2)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"{name} has changed", done.stderr)
            self.assertEqual(done.stderr.count("has changed"), 1)
            self.assertIn("\n  fix: ", done.stderr)
            self.assertEqual(self.read("s", "sweep.csv"), table)
        again = self.sweep()
        self.assertEqual((again["found_finished"], again["results"]), (2, first["results"]))

    def test_a_file_of_one_value_only(self):
        command = ["--vary", "shape=block,cube", "--seeds", "1"]
        self.sweep(*command)
        cube = self.read("cube.sdf")
        self.write("cube.sdf", cube.replace("<mass>1<", "<mass>5<"))
        self.assertIn("cube.sdf has changed", self.run_program(*self.SWEEP, *command, status=2).stderr)
        self.write("cube.sdf", cube)
        self.assertEqual(self.sweep(*command)["found_finished"], 4)

    def test_a_sweep_goes_on_where_its_project_was_moved(self):
        first = self.sweep()
        for name in ["w.sdf", "bot.sdf", "block.sdf", "part.obj"]:
            self.write(f"there/{name}", self.read(name))
        self.write("bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        there = ["sweep", "there/w.sdf", *self.SWEEP[2:], "--json"]
        again = json.loads(self.run_program(*there).stdout)
        self.assertEqual((again["found_finished"], again["results"]), (2, first["results"]))
        self.write("there/w.sdf", WORLD.replace('name="w"', 'name="v"'))  # another world of this name
        self.assertIn("w.sdf has changed", self.run_program(*there, status=2).stderr)

    def test_a_sweep_of_an_experiment_goes_on_in_another_clone(self):
        a, b = self.clone("a"), self.clone("b")
        command = ["sweep", "g/mine", *self.SWEEP[2:], "--json"]
        first = json.loads(self.run_program(*command, **a).stdout)
        shutil.rmtree(os.path.join(self.folder, "s", "runs", first["results"][0]["run"]))
        self.write("a/experiments/g/mine/bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        again = json.loads(self.run_program(*command, **b).stdout)
        self.assertEqual((again["found_finished"], again["results"]), (1, first["results"]))
        self.assertIn("bot.sdf has changed", self.run_program(*command, status=2, **a).stderr)

    def test_a_run_that_read_something_else_is_refused(self):
        """A file that the plan does not read: of a combination of values, or a plugin."""
        first = self.sweep()
        name = first["results"][1]["run"]
        summary = self.summary("s", "runs", name)
        file = next(file for file in summary["files"] if file.endswith("bot.sdf"))
        summary["files"][file] = "0123456789abcdef"
        self.write(f"s/runs/{name}/summary.json", json.dumps(summary))
        done = self.run_program(*self.SWEEP, status=2)
        self.assertIn("bot.sdf has changed", done.stderr)
        self.assertIn(name, done.stderr)
        shutil.rmtree(os.path.join(self.folder, "s", "runs", name))
        self.assertEqual(self.sweep()["found_finished"], 1)
        again = self.sweep()
        self.assertEqual((again["found_finished"], again["results"]), (2, first["results"]))

    def test_a_file_changes_while_the_sweep_runs(self):
        process = subprocess.Popen([self.program, *self.SWEEP[:-2], "--seeds", "3", "--duration", "20", "--out", "s"], cwd=self.folder, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        runs = os.path.join(self.folder, "s", "runs")
        while not (os.path.isdir(runs) and os.listdir(runs)):
            self.assertIsNone(process.poll())
            time.sleep(0.005)
        self.write("bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        said = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("bot.sdf has changed", said)
        self.assertIn("failed", self.read("s", "sweep.csv"))

    def test_another_program_is_said(self):
        self.sweep()
        self.assertNotIn("another build", self.run_program(*self.SWEEP).stderr)
        plan = json.loads(self.read("s", "sweep.json"))
        self.write("s/sweep.json", json.dumps({**plan, "program": ["0123456789abcdef"]}))
        self.assertIn("2 of these runs were made by another build", self.run_program(*self.SWEEP, "--quiet").stderr)

    def test_other_plugins_are_another_sweep(self):
        self.sweep()
        done = self.run_program(*self.SWEEP, "--plugin", "nothing", status=2)
        self.assertIn("plugin", done.stderr)


class Snapshots(ChangedFiles):
    def setUp(self):
        super().setUp()
        self.run_program("run", "w.sdf", "--duration", "0.2", "--save", "a.snap", "--quiet", "--out", "first")

    def restore(self, *more, **options):
        return self.run_program("run", "w.sdf", "--restore", "a.snap", "--quiet", "--out", "r", *more, **options)

    def test_a_restored_run_says_so(self):
        whole = self.run_json("w.sdf")
        self.assertNotIn("restored", whole)
        self.restore()
        summary = self.summary("r")
        self.assertEqual(summary["state_hash"], whole["state_hash"])
        self.assertEqual(summary["restored"]["file"], os.path.join(os.path.realpath(self.folder), "a.snap"))
        self.assertEqual((summary["restored"]["tick"], summary["restored"]["differences"]), (12, []))
        self.assertAlmostEqual(summary["restored"]["time_s"], 0.2)
        self.assertIn("a.snap", self.read("r", "report.html"))
        self.assertIn("a.snap", self.run_program("run", "w.sdf", "--restore", "a.snap").stdout)

    def test_another_setting_is_refused_and_named(self):
        for more, says in [(["--set", "height=0.5"], ["height", "0.3", "0.5"]), (["--set", "shape=cube"], ["shape", "block", "cube"]), (["--seed", "7"], ["seed", "1", "7"]),
                           (["--dt", "1/100"], ["dt", "1/60", "1/100"]), (["--substep", "1/480"], ["substep"]),
                           (["--precision", "double"], ["precision", "mixed", "double"])]:
            with self.subTest(more=more):
                done = self.restore(*more, status=2)
                for word in says:
                    self.assertIn(word, done.stderr.split("fix:")[0])
                self.assertIn("a.snap", done.stderr)
                self.assertIn("fix: ", done.stderr)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "r")))

    def test_a_changed_file_is_refused_and_named(self):
        for name in self.edits():
            self.assertIn(f"{name} has changed", self.restore(status=2).stderr)

    def test_two_files_that_were_swapped(self):
        heavy = THING.replace("<mass>1<", "<mass>5<")
        self.write("cube.sdf", heavy)
        self.write("both.sdf", WORLD.replace("bot.sdf", "cube.sdf"))
        self.run_program("run", "both.sdf", "--duration", "0.2", "--save", "both.snap", "--quiet", "--out", "first")
        self.write("block.sdf", heavy)
        self.write("cube.sdf", THING)
        said = self.run_program("run", "both.sdf", "--restore", "both.snap", "--quiet", status=2).stderr
        self.assertIn("block.sdf has changed", said)
        self.assertIn("cube.sdf has changed", said)

    def test_another_world_is_refused_and_named(self):
        self.write("other.sdf", WORLD.replace("0.3", "0.4"))
        said = self.run_program("run", "other.sdf", "--restore", "a.snap", status=2).stderr
        self.assertIn("other.sdf", said)
        self.assertIn("w.sdf", said)

    def test_the_way_out_is_written_into_the_results(self):
        self.write("bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        done = self.restore("--set", "height=0.5", "--accept-changes", "--record")
        self.assertIn("bot.sdf has changed", done.stderr)
        differences = " ".join(self.summary("r")["restored"]["differences"])
        self.assertIn("bot.sdf has changed", differences)
        self.assertIn("height", differences)
        self.assertIn("bot.sdf has changed", self.read("r", "report.html"))
        self.run_program("replay", "r", "--verify", "--quiet")
        self.restore("--seed", "3", "--accept-changes", status=2)  # another stream of chance: the state does not fit
        self.assertIn("--restore", self.run_program("run", "w.sdf", "--accept-changes", status=2).stderr)

    def test_the_same_files_elsewhere(self):
        """A snapshot may be taken to another machine."""
        for name in ["w.sdf", "bot.sdf", "block.sdf", "part.obj"]:
            self.write(f"there/{name}", self.read(name))
        self.run_program("run", "there/w.sdf", "--restore", "a.snap", "--quiet", "--out", "r")

    def test_snapshots_of_before_are_called_that(self):
        with open(os.path.join(self.folder, "a.snap"), "rb") as file:
            bytes = file.read()
        self.write("old.snap", bytes[:-9] + bytes[-8:])
        self.assertIn("old.snap", self.run_program("run", "w.sdf", "--restore", "old.snap", status=2).stderr)


    def test_a_snapshot_goes_on_in_its_own_precision(self):
        mixed = ["run", "w.sdf", "--precision", "mixed", "--quiet"]
        self.run_program(*mixed, "--duration", "0.2", "--save", "mixed.snap", "--out", "first")
        self.run_program(*mixed, "--out", "whole")
        self.run_program("run", "w.sdf", "--restore", "mixed.snap", "--quiet", "--out", "rest")
        whole, rest = self.summary("whole"), self.summary("rest")
        self.assertEqual((rest["precision"], rest["state_hash"]), ("mixed", whole["state_hash"]))
        refused = self.run_program("run", "w.sdf", "--restore", "mixed.snap", "--precision", "double", status=2).stderr
        self.assertIn("the precision was mixed, now it is double", refused)
        # Accepted changes are of files and settings: the engine's own state is of one precision.
        self.run_program("run", "w.sdf", "--restore", "mixed.snap", "--precision", "double", "--accept-changes", status=2)


class Recordings(ChangedFiles):
    def setUp(self):
        super().setUp()
        self.run_program("run", "w.sdf", "--record", "--quiet", "--out", "r")

    def test_a_recording_is_verified_in_its_precision(self):
        self.run_program("run", "w.sdf", "--precision", "double", "--record", "--quiet", "--out", "d")
        mixed, double = self.summary("r"), self.summary("d")
        self.assertEqual((mixed["precision"], double["precision"]), ("mixed", "double"))
        self.assertNotEqual(mixed["state_hash"], double["state_hash"])
        self.run_program("replay", "d", "--verify", "--quiet")
        self.run_program("replay", "r", "--verify", "--quiet")

    def test_other_engines_know_double_alone(self):
        said = self.run_program("run", "w.sdf", "--engine", "bullet", "--precision", "mixed", status=2).stderr
        self.assertIn("'bullet' knows double precision only", said)
        self.run_program("run", "w.sdf", "--engine", "bullet", "--precision", "double", "--quiet")

    def test_a_changed_file_is_named_before_anything_is_run(self):
        for name in self.edits():
            done = self.run_program("replay", "r", "--verify", status=2)
            self.assertIn(f"{name} has changed", done.stderr)
            self.assertIn("\n  fix: ", done.stderr)
            self.assertEqual(done.stdout, "")
        self.run_program("replay", "r", "--verify")

    def test_also_one_that_cannot_be_read_any_more(self):
        self.write("bot.sdf", "<sdf")
        self.assertIn("bot.sdf has changed", self.run_program("replay", "r", "--verify", status=2).stderr)
        os.remove(os.path.join(self.folder, "bot.sdf"))
        self.assertIn("bot.sdf", self.run_program("replay", "r", "--verify", status=2).stderr)

    def test_it_can_be_compared_all_the_same(self):
        self.write("bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        done = self.run_program("replay", "r", "--verify", "--accept-changes", status=1)
        self.assertIn("bot.sdf has changed", done.stderr)
        self.assertIn("the first difference is at tick", done.stdout)
        self.write("bot.sdf", BOT + "<!-- nothing -->")
        self.run_program("replay", "r", "--verify", "--accept-changes")

    def test_in_another_clone(self):
        a, b = self.clone("a"), self.clone("b")
        self.run_program("run", "g/mine", "--record", "--quiet", "--out", "q", **a)
        self.write("a/experiments/g/mine/bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        self.run_program("replay", "q", "--verify", **b)
        self.assertIn("bot.sdf has changed", self.run_program("replay", "q", "--verify", status=2, **a).stderr)
        self.write("b/experiments/g/mine/bot.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        self.assertIn("bot.sdf has changed", self.run_program("replay", "q", "--verify", status=2, **b).stderr)

    def test_a_robot_that_hides_the_first(self):
        """bot.sdf is the same, but another one is found before it."""
        self.write("elsewhere/robots/hidden/hidden.sdf", BOT)
        self.write("w.sdf", WORLD.replace("bot.sdf", "model://hidden"))
        environment = {"VOLVOX_RESOURCE_PATH": os.path.join(self.folder, "elsewhere")}
        self.run_program("run", "w.sdf", "--record", "--quiet", "--out", "q", **environment)
        self.run_program("replay", "q", "--verify", **environment)
        self.write("robots/hidden/hidden.sdf", BOT.replace("<mass>2<", "<mass>3<"))
        self.assertIn("hidden.sdf has changed", self.run_program("replay", "q", "--verify", status=2, **environment).stderr)


class Genomes(ChangedFiles):
    GENOME = {"volvox": "genome 1", "task": "t", "experiment": "w.sdf", "mind": {"parameters": {}}, "trials": [{}, {"noise": 0.02}]}

    def setUp(self):
        super().setUp()
        self.write("g.json", json.dumps(self.GENOME))

    def test_a_genome_is_one_of_the_files(self):
        self.run_program("run", "g.json", "--record", "--quiet", "--out", "r", "--duration", "0.2", "--save", "a.snap")
        files = self.summary("r")["files"]
        self.assertEqual(sorted(os.path.basename(file) for file in files), ["block.sdf", "bot.sdf", "g.json", "part.obj", "w.sdf"])
        sweep = ["sweep", "g.json", "--vary", "height=0.2,0.3", "--jobs", "1", "--out", "s"]
        self.run_program(*sweep)
        self.run_program("replay", "r", "--verify", "--quiet")
        self.run_program("run", "g.json", "--restore", "a.snap", "--quiet")
        self.write("g.json", json.dumps({**self.GENOME, "trials": [{"friction": 0.5}]}))
        for command in [["replay", "r", "--verify"], ["run", "g.json", "--restore", "a.snap"], sweep]:
            self.assertIn("g.json has changed", self.run_program(*command, status=2).stderr, command)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
