"""The contract of the volvox command: exit status, streams, --json, help and completion."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest, WORLD_BEGIN

COMMANDS = ["help", "version", "run", "list", "info", "bench", "sweep", "new", "replay", "view", "export", "docs", "completion"]
SHORT = ["remod3d/snake", "--set", "modules=3", "--duration", "0.2"]


def all_commands(test, *words):
    """The words and the options of every command and subcommand, from its --help."""
    text = test.run_program(*words, "--help").stdout
    options = {option for line in text.splitlines() if line.startswith("  -") for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", line[:40].split("  ")[1])}
    if words:
        yield list(words), options
    for line in text.partition("\nSubcommands:\n")[2].partition("\n\n")[0].splitlines():
        if re.match(r"  \w", line):
            yield from all_commands(test, *words, line.split()[0])


class Help(CommandTest):
    def test_alone_says_what_to_try_first(self):
        done = self.run_program()
        self.assertIn("volvox run remod3d/snake", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_help_everywhere(self):
        self.assertIn("run", self.run_program("--help").stdout)
        for command in COMMANDS:
            done = self.run_program(command, "--help")
            self.assertIn("--help", done.stdout, command)
            self.assertEqual(done.stderr, "", command)

    def test_version_everywhere(self):
        version = self.run_program("--version").stdout
        self.assertRegex(version, r"^volvox \d+\.\d+\.\d+\n$")
        for command in COMMANDS:
            self.assertEqual(self.run_program(command, "--version").stdout, version, command)

    def test_help_and_version_are_commands(self):
        self.assertEqual(self.run_program("help").stdout, self.run_program("--help").stdout)
        self.assertEqual(self.run_program("version").stdout, self.run_program("--version").stdout)
        for words in [["run"], ["scan", "build"], ["bench", "engines"]]:
            self.assertEqual(self.run_program("help", *words).stdout, self.run_program(*words, "--help").stdout)
        self.assertIn("did you mean: volvox run?", self.run_program("help", "rnu", status=2).stderr)

    def test_the_man_page_has_every_command_and_option(self):
        page = self.run_program("help", "--man").stdout
        sections = {part.split('"')[0]: part for part in page.replace("\\-", "-").split('.SS "')[1:]}
        for words, options in all_commands(self):
            section = sections[" ".join(["volvox", *words])]
            for option in options:
                self.assertIn(option, section, words)
        run = self.run_program("help", "--man", "run").stdout
        self.assertEqual(run, self.run_program("help", "run", "--man").stdout)
        self.assertEqual(run.count('.SS "'), 1)
        self.assertIn(sections["volvox run"].split(".SH EXIT")[0][:200], run.replace("\\-", "-"))
        self.assertIn('.SS "volvox scan build"', self.run_program("help", "--man", "scan", "build").stdout)
        self.assertIn("rnu", self.run_program("help", "--man", "rnu", status=2).stderr)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z"], input=page, text=True, capture_output=True, timeout=60)
            self.assertEqual(done.stderr, "")

    def test_help_of_run_names_every_option_of_the_contract(self):
        text = self.run_program("run", "--help").stdout
        for option in ["--engine", "--duration", "--dt", "--seed", "--threads", "--set", "--out", "--json", "--quiet", "--view", "--record", "--real-time"]:
            self.assertIn(option, text)


class Readme(CommandTest):
    def test_its_first_run_is_what_the_program_prints(self):
        """Except for the time it took: the same seed gives the same bits, so readers can compare."""
        shown = (pathlib.Path(__file__).parent.parent.parent / "README.md").read_text()
        printed = self.run_program("run", "remod3d/snake").stdout
        for line in printed.splitlines():
            if "x real time" not in line and "results in" not in line:
                self.assertIn(line.rstrip(), shown)


class Docs(CommandTest):
    def test_the_site_is_found_or_how_to_build_it_is_said(self):
        found = self.run_program("docs", "--no-browser", status=None)
        if found.returncode == 0:
            self.assertTrue(os.path.isfile(found.stdout.strip()), found.stdout)
        else:
            self.assertEqual(found.returncode, 2)
            self.assertIn("docs/build", found.stderr)
        os.makedirs(os.path.join(self.folder, "mine/site"))
        with open(os.path.join(self.folder, "mine/site/index.html"), "w") as page:
            page.write("<html></html>")
        mine = os.path.join(self.folder, "mine")
        found = self.run_program("docs", "--no-browser", VOLVOX_RESOURCE_PATH=mine)
        self.assertEqual(found.stdout.strip(), os.path.join(mine, "site/index.html"))

    def test_errors_name_a_page_and_docs_opens_it(self):
        mine = os.path.join(self.folder, "mine")
        for page in ["index", "docs/formats", "docs/concepts", "reference/sdf"]:
            os.makedirs(os.path.dirname(os.path.join(mine, "site", page)), exist_ok=True)
            with open(os.path.join(mine, "site", page + ".html"), "w") as file:
                file.write("<html></html>")
        with open(os.path.join(self.folder, "bad.sdf"), "w") as file:
            file.write('<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w"><volvox:population name="s" robot="superbot" cuont="3"/></world></sdf>')
        for arguments, page in [(["run", "bad.sdf"], "reference/sdf#population"), (["run", "remod3d/snake", "--engine", "natve"], "concepts#engine")]:
            complaint = self.run_program(*arguments, status=2).stderr
            self.assertIn("more: volvox docs", complaint)
            self.assertIn(page, complaint.splitlines()[-1])
            name, _, place = page.partition("#")
            opened = self.run_program("docs", page, "--no-browser", VOLVOX_RESOURCE_PATH=mine).stdout.strip()
            file, _, at = opened.partition("#")
            self.assertEqual((os.path.isfile(file), pathlib.Path(file).stem, at), (True, pathlib.Path(name).stem, place))
        missing = self.run_program("docs", "fromats", "--no-browser", status=2, VOLVOX_RESOURCE_PATH=mine).stderr
        self.assertIn("did you mean formats?", missing)
        self.run_program("docs", "../../secret", "--no-browser", status=2, VOLVOX_RESOURCE_PATH=mine)


class RealTime(CommandTest):
    def test_a_paced_run_keeps_time_and_its_bits(self):
        free = json.loads(self.run_program("run", *SHORT, "--json").stdout)
        paced = json.loads(self.run_program("run", *SHORT, "--json", "--real-time=0.5", "--threads", "2", "--out", "paced").stdout)
        self.assertEqual(paced["state_hash"], free["state_hash"])
        self.assertIs(paced["reproducible"], True)
        self.assertGreaterEqual(paced["wall_time_s"], 0.4)  # never early; how late depends on the machine
        self.assertEqual(paced["real_time"]["tick_ms"]["count"], paced["ticks"])
        for metric in ["tick_median_ms", "tick_p99_ms", "late_ticks", "drift_s"]:
            self.assertIn(metric, paced["metrics"])
            self.assertNotIn(metric, free["metrics"])
        report = (pathlib.Path(self.folder) / "paced" / "report.html").read_text()
        self.assertIn("Real time", report)
        self.assertIn("woken late by", report)

    def test_late_ticks_are_reported(self):
        done = self.run_program("run", *SHORT, "--real-time=1000", "--dt", "1/1000", "--out", "late")
        self.assertIn("real time is broken", done.stderr)
        self.assertRegex(done.stdout, r"[1-9]\d* of 200 ticks of 0.001 ms were late")

    def test_a_speed_that_is_none_is_refused(self):
        for speed in ["0", "-1", "nan", "fast", "1e9", "2x"]:
            done = self.run_program("run", *SHORT, f"--real-time={speed}", status=2)
            self.assertIn("is not a speed", done.stderr, speed)


class Run(CommandTest):
    def test_json_is_one_object_with_the_keys_of_the_contract(self):
        done = self.run_program("run", *SHORT, "--json", "--seed", "7", "--threads", "2", "--dt", "1/50")
        report = json.loads(done.stdout)
        for key, value in {"experiment": "remod3d/snake", "engine": "native", "seed": 7, "dt": "1/50", "threads": 2,
                           "modules": 3, "ticks": 10, "sim_time_s": 0.2, "status": "done"}.items():
            self.assertEqual(report[key], value, key)
        self.assertGreater(report["wall_time_s"], 0)
        self.assertGreater(report["real_time_factor"], 0)
        self.assertRegex(report["state_hash"], r"^[0-9a-f]{16}$")
        for metric in ["distance_m", "speed_m_s", "dock_error_max_mm", "dock_error_max_deg"]:
            self.assertIsInstance(report["metrics"][metric], (int, float), metric)
        self.assertIsNone(report["metrics"]["lift_m"], "not measured within the first second")

    def test_the_table_goes_to_standard_output_and_progress_does_not(self):
        done = self.run_program("run", "remod3d/scatter", "--set", "modules=100", "--duration", "4")
        self.assertIn("docks_engaged", done.stdout)
        self.assertIn(os.path.join("runs", "remod3d_scatter", "001"), done.stdout)
        self.assertNotIn("%", done.stdout)
        self.assertNotIn("\x1b", done.stdout + done.stderr)  # no terminal: no colour, no bar

    def test_quiet_says_nothing(self):
        done = self.run_program("run", *SHORT, "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_writes_its_folder(self):
        self.run_program("run", *SHORT, "--quiet")
        self.run_program("run", *SHORT, "--quiet")
        self.run_program("run", *SHORT, "--quiet", "--out", "my results/a")
        for folder in ["runs/remod3d_snake/001", "runs/remod3d_snake/002", "my results/a"]:
            summary = json.loads(self.read(folder, "summary.json"))
            self.assertEqual(summary["settings"]["modules"], "3")
            self.assertEqual(summary["status"], "done")
            rows = self.read(folder, "metrics.csv").splitlines()
            self.assertTrue(rows[0].startswith("time_s,"))
            self.assertEqual({row.count(",") for row in rows}, {rows[0].count(",")})

    def test_worlds_of_one_name_have_folders_of_their_own(self):
        for folder in ["a", "b"]:
            self.write(f"{folder}/world.sdf", WORLD_BEGIN + '<volvox:module name="m" robot="superbot" pose="0 0 1 0 0 0"/></world></sdf>')
            self.run_program("run", f"{folder}/world.sdf", "--duration", "0.1", "--quiet")
            self.assertEqual(json.loads(self.read("runs", f"{folder}_world", "001", "summary.json"))["file"], f"{folder}/world.sdf")
        self.run_program("run", os.path.join(self.folder, "a", "world.sdf"), "--duration", "0.1", "--quiet")
        self.assertIn("002", os.listdir(os.path.join(self.folder, "runs", "a_world")))
        self.run_program("sweep", "a/world.sdf", "--duration", "0.1", "--quiet")
        self.assertTrue(os.path.isdir(os.path.join(self.folder, "runs", "sweep_a_world", "001")))

    def test_a_path_too_long_for_one_folder(self):
        deep = "/".join(["a_folder_with_quite_a_long_name"] * 12)
        for name in ["one", "two"]:
            self.write(f"{deep}/{name}.sdf", WORLD_BEGIN + "</world></sdf>")
            self.run_program("run", f"{deep}/{name}.sdf", "--duration", "0.1", "--quiet")
        runs = os.listdir(os.path.join(self.folder, "runs"))
        self.assertEqual(len(runs), 2)
        self.assertLessEqual(max(map(len, runs)), 200)

    def test_runs_at_the_same_time_never_share_a_folder(self):
        together = [subprocess.Popen([self.program, "run", *SHORT, "--quiet"], cwd=self.folder) for _ in range(6)]
        self.assertEqual([process.wait(60) for process in together], [0] * 6)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "runs", "remod3d_snake"))), 6)

    def test_options_may_stand_before_the_experiment(self):
        self.assertEqual(self.run_json("--set", "modules=4", "--set", "amplitude=0.2", "remod3d/snake", "--duration", "0.1")["modules"], 4)

    def test_no_time_at_all(self):
        self.assertEqual(self.run_json("remod3d/snake", "--duration", "0")["ticks"], 0)

    def test_a_robot_alone_stands_on_a_ground(self):
        robot = self.run_program("info", "superbot").stdout.split("volvox run ")[1].splitlines()[0].strip()
        self.assertEqual(self.run_json(robot, "--duration", "0.5")["modules"], 1)

    def test_every_robot_and_engine_runs(self):
        for robot in ["superbot", "atron"]:
            self.run_json("remod3d/scatter", "--set", f"robot={robot}", "--set", "modules=2", "--duration", "0.2")
        for engine in self.run_program("list", "engines", "--names").stdout.split():
            self.assertEqual(self.run_json(*SHORT, "--engine", engine)["engine"], engine)


class BadOptions(CommandTest):
    """Exit status 2; the problem and a fix on standard error; nothing on standard output."""

    def assert_complains(self, *arguments, says):
        done = self.run_program(*arguments, status=2)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("volvox: "), done.stderr)
        self.assertIn("\n  fix: ", done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)
        self.assertEqual(os.listdir(self.folder), [], "bad input leaves nothing behind")

    def test_commands(self):
        self.assert_complains("rnu", says=["volvox run"])
        self.assert_complains("--nonsense", says=["volvox --help"])
        self.assert_complains("run", "--durration", "3", says=["volvox run has no option '--durration'", "did you mean --duration?"])
        self.assert_complains("run", "remod3d/snake", "--seeds=3", says=["'--seeds'", "did you mean --seed?", "--seeds is an option of volvox sweep"])
        self.assert_complains("run", "remod3d/snake", "--strobe", "3", says=["'--strobe'", "--strobe is an option of volvox picture"])
        self.assert_complains("scan", "build", "a", "--trianglse", "3", says=["volvox scan build has no option '--trianglse'", "--triangles"])
        self.assert_complains("--verison", says=["did you mean --version?"])
        self.assert_complains("run", says=["volvox run --help"])
        self.assert_complains("run", "remod3d/snake", "more", says=["more"])
        for flag in ["--record=3", "--json=no", "--view=1"]:
            self.assert_complains("run", "remod3d/snake", flag, says=[flag.split("=")[0] + " takes no value", "volvox run --help"])
        self.assert_complains("list", "--json=3", says=["--json takes no value"])

    def test_names(self):
        self.assert_complains("run", "remod3d/snak", says=["remod3d/snak", "did you mean 'remod3d/snake'"])
        self.assert_complains("run", "remod3d/snake", "--engine", "bulet", says=["bulet", "did you mean 'bullet'", "none"])
        self.assert_complains("info", "superbott", says=["superbott", "did you mean 'superbot'"])
        self.assert_complains("list", "robot", says=["robot", "use one of", "robots"])
        self.assert_complains("list", "robts", says=["robts", "did you mean 'robots'?"])
        self.assert_complains("list", "robot", "--names", says=["robot", "use one of", "robots"])
        self.assert_complains("info", "remod3d/snak", "--names", says=["remod3d/snak"])
        self.assert_complains("completion", "tcsh", says=["tcsh", "bash, zsh, fish"])
        self.assert_complains("bench", "remod3d/nothing", says=["remod3d/nothing"])
        self.assert_complains("bench", "--engines", "bulet", says=["bulet"])
        self.assert_complains("bench", "--engines", ",", says=["names no engine"])

    def test_settings(self):
        snake = ["run", "remod3d/snake", "--set"]
        self.assert_complains(*snake, "moduls=3", says=["moduls", "modules", "world.sdf"])
        self.assert_complains(*snake, "modules=2", says=["world.sdf:", "from 3 to 1000"])
        self.assert_complains(*snake, "modules=many", says=["many"])
        self.assert_complains(*snake, "modules", says=["KEY=VALUE"])
        self.assert_complains(*snake, "=3", says=["KEY=VALUE"])
        self.assert_complains("run", "remod3d/scatter", "--set", "robot=catt", says=["catt", "superbot", "atron"])
        for experiment, key in [("remod3d/scatter", "modules"), ("remod3d/snake", "modules"), ("remod3d/track_to_snake", "opener"), ("remod3d/terrain", "obstacles"),
                                ("remod3d/wheelbot", "obstacles"), ("remod3d/manipulator", "targets"), ("remod3d/breakage", "spheres"), ("vouivre/checkerboard", "pitch"),
                                ("vouivre/cross", "pitch"), ("arenas/objects", "boxes"), ("arenas/pit_snake", "modules"), ("arenas/rangefinder", "rays"), ("arenas/reconstruct", "triangles"),
                                ("roles/caterpillar", "modules"), ("roles/sidewinder", "dead"), ("roles/walker", "silent"), ("swarmsimx/formation", "robots"), ("swarmsimx/formation", "pillars")]:
            with self.subTest(experiment=experiment, key=key):
                self.assert_complains("run", experiment, "--set", f"{key}=2.5", says=[f"{key}=2.5", "a whole number from"])

    def test_numbers(self):
        for option, values in {"--dt": ["0", "-1/60", "1/0", "abc", "nan", "1e9", "1/60x", ""],
                               "--duration": ["-1", "nan", "inf", "long"],
                               "--substep": ["0", "nan", "2"],
                               "--precision": ["single", "Mixed"],
                               "--seed": ["-1", "1.5", "x", "99999999999999999999999"],
                               "--threads": ["0", "-2", "1.5", "many"]}.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assert_complains("run", "remod3d/snake", option, value, says=[value])

    def test_a_tick_longer_than_the_run(self):
        self.assert_complains("run", "remod3d/snake", "--dt", "10", "--duration", "1", says=["a tick of 10 s", "whole run, 1 s", "--dt", "--duration"])
        self.assert_complains("run", "remod3d/snake", "--duration", "0.01", says=["world.sdf:", "a tick of 1/60 s", "whole run, 0.01 s"])
        self.run_program("run", *SHORT, "--dt", "0.2")

    def test_places_that_cannot_be_written(self):
        self.assert_complains("run", *SHORT, "--out", "/proc/volvox", says=["/proc/volvox", "--out"])
        self.assert_complains("run", *SHORT, "--save", "/proc/volvox.snap", says=["/proc/volvox.snap", "--save"])
        self.assert_complains("new", "behavior", "a", "--in", "/proc/volvox", says=["/proc/volvox", "--in"])

    def test_new(self):
        self.assert_complains("new", "toaster", "a", says=["toaster", "behavior, robot, experiment, task, codemodule"])
        for name in ["A", "1a", "a-b", "../a", "a b", "a_"]:
            self.assert_complains("new", "robot", name, says=[name, "small letters"])
        for name in ["test", "all"]:
            self.assert_complains("new", "robot", name, says=[name, "CMake has a target", f"my_{name}"])


class ListInfoBench(CommandTest):
    def test_list(self):
        text = self.run_program("list").stdout
        for name in ["remod3d/snake", "remod3d/scatter", "superbot", "atron", "conro", "wheelbot", "bullet", "none",
                     "idle", "accelerometer", "gaussian"]:
            self.assertIn(name, text)
        self.assertNotIn("cannot be", text)

    def test_worlds_are_listed_with_the_first_sentence_of_their_comment(self):
        listed = self.run_program("list", "experiments").stdout
        self.assertIn("A thousand robots that drive about and bump into each other", listed)
        self.assertNotIn("world.sdf", listed)

    def test_list_as_json(self):
        everything = json.loads(self.run_program("list", "--json").stdout)
        self.assertIn("superbot", [robot["name"] for robot in everything["robots"]])
        self.assertEqual(list(json.loads(self.run_program("list", "engines", "--json").stdout)), ["engines"])

    def test_info_about_everything_that_is_listed(self):
        for thing in self.run_program("list", "--names").stdout.split():
            self.assertIn(thing, self.run_program("info", thing).stdout)

    def test_every_kind_has_names(self):
        for kind in ["experiments", "robots", "engines", "behaviors", "sensors", "actuators", "noise", "renderers", "extensions"]:
            names = self.run_program("list", kind, "--names").stdout.split()
            self.assertEqual(names, [thing["name"] for thing in json.loads(self.run_program("list", kind, "--json").stdout)[kind]])
            self.assertTrue(names, kind)

    def test_info_tells_what_is_perceived_at_first(self):
        self.assertRegex(self.run_program("info", "superbot").stdout, r'front.dock +DockState +\{"enabled": true')

    def test_robots_beside_the_world(self):
        """`volvox new robot` says that nothing is to be built, and info and list find the robot in the project."""
        said = self.run_program("new", "robot", "my_bot").stdout
        self.assertIn("An SDF needs no build", said)
        self.assertIn("needs no build", self.read("my_bot", "README.md"))
        project = os.path.join(self.folder, "my_bot")
        for arguments, says in [(["info", "my_bot"], "bend"), (["list", "robots", "--names"], "my_bot"), (["run", "world.sdf", "--duration", "0.1"], "3 modules")]:
            done = subprocess.run([self.program, *arguments], cwd=project, text=True, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(says, done.stdout)

    def test_info_of_a_world_file_lists_its_parameters(self):
        self.write("w.sdf", WORLD_BEGIN + '<volvox:parameter name="depth" value="3">how deep</volvox:parameter></world></sdf>')
        self.assertRegex(self.run_program("info", "w.sdf").stdout, r"depth +3 +how deep")

    def test_names_from_outside_do_not_reach_the_terminal(self):
        evil = "\x1b]0;owned\x07"
        self.write(f"robots/{evil}/{evil}.sdf", '<sdf version="1.9"><model name="x"><link name="a"/></model></sdf>')
        self.write(f"experiments/{evil}/world.sdf", WORLD_BEGIN + f'<volvox:parameter name="a" value="1">{"&#27;[31m"}</volvox:parameter></world></sdf>')
        for arguments in [["list"], ["list", "--names"], ["list", "robots"], ["info", evil], ["info", f"robots/{evil}/{evil}.sdf"], ["info", f"experiments/{evil}/world.sdf"],
                          ["info", f"experiments/{evil}/world.sdf", "--names"], ["complete", "run", ""]]:
            done = self.run_program(*arguments, status=None, VOLVOX_RESOURCE_PATH=self.folder)
            self.assertNotIn("\x1b", done.stdout + done.stderr, arguments)

    def test_info_of_a_behavior_lists_its_parameters_and_their_defaults(self):
        text = self.run_program("info", "snake").stdout
        self.assertRegex(text, r"amplitude +0\.\d")
        self.assertIn("default", text)
        for name in self.run_program("list", "behaviors", "--names").stdout.split():
            self.assertIn(name, self.run_program("info", name).stdout)

    def test_info_of_a_robot_says_how_to_look_at_it(self):
        self.assertIn("volvox view", self.run_program("info", "superbot").stdout)

    def test_info_of_a_robot_lists_what_its_mind_has(self):
        text = self.run_program("info", "superbot").stdout
        for percept_or_action in ["percept", "yaw.angle", "front.load", "gyroscope", "action", "JointCommand"]:
            self.assertIn(percept_or_action, text)

    def test_info_of_an_engine_is_about_it_alone(self):
        text = self.run_program("info", "native").stdout
        self.assertIn("native", text)
        self.assertNotIn("Bullet", text)
        everything = self.run_program("info", "engines").stdout
        self.assertGreaterEqual(everything.count("what it cannot do:"), 2)

    def test_info_of_an_experiment_lists_its_parameters(self):
        self.assertIn("3 to 1000", self.run_program("info", "remod3d/snake").stdout)
        self.assertIn("superbot|atron", self.run_program("info", "remod3d/scatter").stdout)

    def test_bench(self):
        results = json.loads(self.run_program("bench", "remod3d/scatter", "--modules", "5", "--seconds", "0.05", "--json").stdout)["results"]
        self.assertEqual([result["engine"] for result in results], ["native", "none"])
        for result in results:
            self.assertEqual(result["modules"], 5)
            self.assertGreater(result["ticks_per_s"], 0)
            self.assertLessEqual(sum(result["phases_ms"].values()), result["ms_per_tick"] * 1.01)
            self.assertIn("move", result["phases_ms"])
            self.assertGreater(result["cpu_ms_per_tick"], 0)

    def test_bench_suggests_its_subcommands_and_takes_counts_as_people_write_them(self):
        self.assertIn("did you mean: volvox bench lattice?", self.run_program("bench", "latice", status=2).stderr)
        results = json.loads(self.run_program("bench", "lattice", "--scenes", "flood", "--n", "1e3", "--json").stdout)["results"]
        self.assertEqual([result["n"] for result in results], [1000])
        for bad in ["1.5", "0", "-3", "1e30", "1e3x"]:
            self.assertIn("is not a whole number", self.run_program("bench", "lattice", "--n=" + bad, status=2).stderr)

    def test_what_an_experiment_wrote_is_not_taken_for_another_run_s(self):
        self.run_program("run", "dprsim/flood", "--set", "side=3", "--duration", "3", "--out", "again", "--quiet")
        with open(os.path.join(self.folder, "again", "summary.json")) as file:
            own = json.load(file)["own_files"]
        self.assertIn("reached.svg", own)
        mine = os.path.join(self.folder, "again", "mine.png")
        open(mine, "wb").close()
        self.run_program("run", *SHORT, "--out", "again", "--quiet")
        for name in own:
            self.assertFalse(os.path.exists(os.path.join(self.folder, "again", name)), name)
        self.assertTrue(os.path.exists(mine))

    def test_bench_takes_the_length_of_a_tick(self):
        command = ["bench", "remod3d/swarm", "--engines", "native", "--seconds", "0.05", "--json"]
        long, short = [json.loads(self.run_program(*command, "--dt", dt).stdout)["results"][0] for dt in ["1/20", "1/240"]]
        self.assertEqual(long["modules"], 1024)
        self.assertGreater(long["cpu_ms_per_tick"], short["cpu_ms_per_tick"])
        self.assertIn("0.5x", self.run_program("bench", "remod3d/swarm", "--dt", "0.5x", status=2).stderr)

    def test_crosscheck_puts_engines_side_by_side(self):
        command = ["crosscheck", "remod3d/snake", "--engines", "native,bullet", "--set", "modules=3", "--duration", "0.3"]
        table = self.run_program(*command, "--csv", "histories.csv").stdout
        self.assertIn("off by", table)
        self.assertIn("lift_m", table)
        with open(os.path.join(self.folder, "histories.csv")) as file:
            self.assertEqual({line.split(",")[0] for line in file}, {"engine", "native", "bullet"})
        printed = json.loads(self.run_program(*command, "--json", "--out", "side by side").stdout)
        self.assertEqual([result["engine"] for result in printed["results"]], ["native", "bullet"])
        self.assertEqual(printed["folder"], "side by side")
        for picture in ["histories.svg", "disagreements.svg"]:
            words = "".join(xml.etree.ElementTree.parse(os.path.join(self.folder, "side by side", picture)).getroot().itertext())
            for word in ["remod3d/snake", "native", "bullet"]:
                self.assertIn(word, words)
        self.assertEqual(len(self.read("side by side", "findings.txt").splitlines()), len(printed["findings"]))
        self.assertIn("runs/crosscheck_remod3d_snake/001", table)

    def test_crosscheck_says_in_words_what_differs(self):
        done = self.run_program("crosscheck", "remod3d/snake", "--engines", "native,bullet", "--set", "modules=12", "--duration", "1", "--tolerance", "0.01")
        self.assertIn("Where they disagree", done.stdout)
        self.assertRegex(done.stdout, r"dock_error_max_deg: native \S+, but bullet \S+ \((far more|\d+ times as much|\d+ % more)\)")
        self.write("fall.sdf", '<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="fall"><volvox:module name="a" robot="superbot" pose="0 0 9 0 0 0"/></world></sdf>')
        same = self.run_program("crosscheck", "fall.sdf", "--engines", "native,bullet", "--duration", "0.2", "--out", "same")
        self.assertIn("The engines agree.", same.stdout)
        self.assertIn("The engines agree", self.read("same", "findings.txt"))

    def test_crosscheck_of_nonsense(self):
        for options, says in [(["--engines", "nativ"], "nativ"), (["--engines", ","], "names no engine"), (["--engines", ""], "names no engine"),
                              (["--engines", "native"], "two different engines"), (["--engines", "native,native"], "two different engines"),
                              (["--duration", "0"], "above zero")]:
            with self.subTest(options=options):
                done = self.run_program("crosscheck", "remod3d/snake", *options, status=2)
                self.assertIn(says, done.stderr)
                self.assertIn("fix: ", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_crosscheck_calls_rounding_no_difference(self):
        """In free flight momentum and centre of mass are constant except for rounding, which differs between engines."""
        command = ["crosscheck", "remod3d/breakage", "--engines", "native,bullet", "--duration", "0.5", "--json", "--out", "rounding"]
        printed = json.loads(self.run_program(*command).stdout)
        native, bullet = (result["metrics"]["momentum_error"] for result in printed["results"])
        self.assertNotEqual(native, bullet)
        self.assertLess(max(native, bullet), 1e-6)
        self.assertTrue(printed["findings"], "the number of broken docks does differ")
        for finding in printed["findings"]:
            self.assertNotRegex(finding, "^momentum_error|^moved_m|^the [xy] of the centre")

    def test_an_interrupted_run_keeps_its_results(self):
        command = [self.program, "run", "remod3d/scatter", "--duration", "100000", "--out", "interrupted", "--save", "stop.snap", "--quiet"]
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(1.5)
        except subprocess.TimeoutExpired:
            process.send_signal(2)
        self.assertIn("stopped at", process.communicate(timeout=20)[1])
        self.assertEqual(process.returncode, 1)
        with open(os.path.join(self.folder, "interrupted", "summary.json")) as file:
            self.assertEqual(json.load(file)["status"], "stopped")
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "stop.snap")), 1000)

    def test_a_full_disk_is_a_failure(self):
        for arguments in [["list"], ["info", "superbot"], ["net", "flood", "--nodes", "9", "--json"],
                          ["run", "remod3d/snake", "--set", "modules=3", "--duration", "0.1", "--json"]]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([self.program, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("volvox:", done.stderr)

    def test_info_shows_the_interfaces(self):
        said = self.run_program("info", "catom").stdout
        self.assertRegex(said, r"f0\s+wire")
        self.assertRegex(said, r"radio\s+radio")

    def test_net_flood(self):
        flood = json.loads(self.run_program("net", "flood", "--nodes", "100", "--mode", "wired", "--json").stdout)
        self.assertEqual(flood["reached"], 100)
        for key in ["deliveries", "collisions", "weak", "drops", "sim_time_s", "cpu_s", "link_updates", "events", "peak_mb"]:
            self.assertIn(key, flood)
        self.assertIn("100 of 100", self.run_program("net", "flood", "--nodes", "100", "--mode", "wired", "--pcap", "f.pcapng").stdout)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "f.pcapng")), 1000)
        self.run_program("net", "flood", "--mode", "psychic", status=2)
        cloud = json.loads(self.run_program("net", "flood", "--nodes", "2000", "--mode", "culled", "--layout", "random", "--dimension", "3", "--spacing", "2", "--json").stdout)
        self.assertEqual((cloud["layout"], cloud["dimension"]), ("random", 3))
        self.assertAlmostEqual(cloud["cull_radius_m"], 10 ** 0.5 * cloud["range_m"])
        self.run_program("net", "flood", "--dimension", "4", status=2)

    def test_net_flood_with_another_packet(self):
        # Wires of a square of 3 x 3: four hops from the corner to the corner, 100 bytes at 8000 bit/s each.
        flood = json.loads(self.run_program("net", "flood", "--nodes", "9", "--mode", "wired", "--rate", "8000", "--payload", "100", "--source", "0", "--json").stdout)
        self.assertAlmostEqual(flood["latency_s"]["max"], 4 * 0.1)
        self.assertEqual([flood[key] for key in ("source", "payload", "bit_rate", "slot_s")], [0, 100, 8000, None])
        # A window of one slot has no backoff; the slot is of no account then.
        one = [json.loads(self.run_program("net", "flood", "--nodes", "2", "--window", "1", "--slot", slot, "--json").stdout) for slot in ("0.001", "0.1")]
        self.assertEqual([flood["latency_s"]["max"] for flood in one], [0.070666667] * 2)
        self.assertEqual([flood["slot_s"] for flood in one], [0.001, 0.1])
        self.assertIn("the source, node 9, is not among the 9 nodes", self.run_program("net", "flood", "--nodes", "9", "--source", "9", status=2).stderr)
        for option, value in (("--payload", "0"), ("--payload", "65536"), ("--rate", "0"), ("--slot", "-1"), ("--source", "-1")):
            self.assertIn(option, self.run_program("net", "flood", option, value, status=2).stderr)

    def test_net_flood_says_what_is_wrong_or_useless(self):
        self.assertIn("'1.5' is not a whole number from 1 to 10000000", self.run_program("net", "flood", "--nodes", "1.5", status=2).stderr)
        for arguments in [["--nodes", "1.5"], ["--nodes", "many"], ["--nodes", "0"], ["--seed", "-1"], ["--range", "nan"], ["--window", "2.5"]]:
            with self.subTest(arguments=arguments):
                done = self.run_program("net", "flood", *arguments, status=2)
                self.assertIn(arguments[1], done.stderr)
                self.assertIn("see: volvox net flood --help", done.stderr)
        for mode, option in [("exact", "--cull"), ("wired", "--range"), ("wired", "--window")]:
            done = self.run_program("net", "flood", "--nodes", "9", "--mode", mode, option, "5", "--json")
            self.assertIn(f"{option} does nothing in the mode {mode}", done.stderr)
            json.loads(done.stdout)
        self.assertEqual(self.run_program("net", "flood", "--nodes", "9", "--mode", "culled", "--cull", "5", "--json").stderr, "")

    def test_frames_of_a_run_as_a_capture(self):
        done = self.run_program("run", "vouivre/checkerboard", "--duration", "1", "--pcap", "f.pcapng", "--json", "--out", "r")
        capture = pathlib.Path(self.folder, "f.pcapng").read_bytes()
        self.assertEqual(capture[:4], bytes.fromhex("0a0d0d0a"))
        self.assertGreaterEqual(capture.count(bytes.fromhex("06000000")), json.loads(done.stdout)["metrics"]["frames_sent"], "a packet block each")
        for metric in ["frames_weak", "frames_aborted"]:
            self.assertIn(metric, json.loads(done.stdout)["metrics"])
        report = self.read("r", "report.html")
        self.assertNotIn("Kinetic energy", report, "nothing moves")
        refused = self.run_program("run", "remod3d/scatter", "--set", "modules=2", "--duration", "0.1", "--pcap", "none.pcapng", status=2)
        self.assertIn("no module of this run has a wire, a radio or a bus", refused.stderr)
        refused = self.run_program("run", "vouivre/checkerboard", "--duration", "0.1", "--pcap", "/proc/f.pcapng", status=2)
        self.assertIn("/proc/f.pcapng", refused.stderr)

    def test_a_run_without_what_was_asked_for_is_marked_failed(self):
        refused = ["run", "vouivre/checkerboard", "--duration", "0.1", "--out", "r"]
        for more, why in [(["--pcap", "/nonexistent/a"], "the capture cannot be written"), (["--video", "x.gif"], "")]:
            self.run_program(*refused, *more, status=2)
            summary = json.loads(self.read("r", "summary.json"))
            self.assertEqual(summary["status"], "failed", more)
            self.assertIn(why, summary["failure"])
        self.run_program("run", *SHORT, "--pcap", "a", "--out", "none", status=2)
        self.assertFalse((pathlib.Path(self.folder) / "none").exists(), "refused before anything is written")
        done = self.run_program(*refused, "--pcap", "/dev/full", "--json", status=1)
        for summary in [json.loads(self.read("r", "summary.json")), json.loads(done.stdout)]:
            self.assertEqual(summary["status"], "failed")
            self.assertIn("/dev/full", summary["failure"])
        self.assertIn("/dev/full", self.read("r", "report.html"))
        limited = subprocess.run(["bash", "-c", 'ulimit -f 20; trap "" XFSZ; exec "$@"', "-", self.program, "run", "remod3d/snake", "--duration", "2", "--record", "--out", "big"],
                                 cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(limited.returncode, 1, limited.stderr)
        summary = json.loads(self.read("big", "summary.json"))
        self.assertEqual(summary["status"], "failed")
        self.assertIn("recording.mcap", summary["failure"])

    def test_a_flood_is_refused_before_it_is_run(self):
        refused = self.run_program("net", "flood", "--nodes", "10000000", "--mode", "culled", "--pcap", "/nonexistent/x", status=2)
        self.assertIn("the capture cannot be written", refused.stderr)

    def test_what_is_not_understood_is_named(self):
        for arguments in [["run", *SHORT, "--threads", "1.5"], ["scan", "build", "a", "-o", "b", "--triangles", "10.5"], ["bench", "--threads", "1.5"]]:
            self.assertIn(f"'{arguments[-1]}' is not a whole number from", self.run_program(*arguments, status=2).stderr)
        for arguments, words in [(["net", "flod"], ["'flod'", "did you mean: volvox net flood?"]), (["scan", "biuld"], ["'biuld'", "volvox scan build?"]), (["net"], ["subcommand"])]:
            for word in words:
                self.assertIn(word, self.run_program(*arguments, status=2).stderr)

    def test_warnings_are_in_the_results(self):
        self.write("world.sdf", '<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w"><volvox:run duration="0.1" engine="none"/>'
                   '<volvox:module name="a" robot="catom" pose="0 0 1 0 0 0"><volvox:mind behavior="idle"/></volvox:module></world></sdf>')
        done = self.run_program("run", "world.sdf", "--out", "r", "--json")
        summary = json.loads(self.read("r", "summary.json"))
        self.assertEqual(len(summary["warnings"]), 1, summary["warnings"])
        self.assertIn("which the world does not describe", summary["warnings"][0])
        self.assertEqual(done.stderr.count("which the world does not describe"), 1, "told once")
        quiet = self.run_program("run", "world.sdf", "--out", "r", "--quiet")
        self.assertIn("which the world does not describe", quiet.stderr, "--quiet does not hide warnings")
        self.assertEqual(quiet.stdout, "")
        self.assertIn("which the world does not describe", self.read("r", "report.html"))

    def test_what_was_not_measured_is_null(self):
        for experiment in ["remod3d/snake", "remod3d/wheelbot", "remod3d/manipulator", "remod3d/breakage", "swarmsimx/figure_eight", "swarmsimx/formation", "roles/sidewinder",
                           "vouivre/checkerboard"]:
            with self.subTest(experiment=experiment):
                metrics = json.loads(self.run_program("run", experiment, "--duration", "0", "--json").stdout)["metrics"]
                values = [value for value in metrics.values() if value is not None]
                self.assertLess(len(values), len(metrics))
                self.assertTrue(all(-1 < value < 1e8 for value in values), metrics)
        self.assertRegex(self.run_program("run", "remod3d/snake", "--duration", "0").stdout, r"sync_time_s +- ")

    def test_bench_of_a_world_without_parameters(self):
        self.write("empty.sdf", '<sdf version="1.9"><world name="empty"/></sdf>')
        self.run_program("bench", "empty.sdf", "--seconds", "0.02", "--json")


class Completion(CommandTest):
    def complete(self, *words):
        """The completions that bash offers for the last word."""
        script = f"""source <("$1" completion bash)
            shift
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _volvox 2>/dev/null
            printf '%s\\n' "${{COMPREPLY[@]}}\""""
        done = subprocess.run(["bash", "-c", script, "bash", self.program, self.program, *words], cwd=self.folder, text=True,
                              capture_output=True, timeout=60)
        return done.stdout.split()

    def test_after_an_equals_sign(self):
        """bash takes it for a word of its own."""
        self.assertEqual(self.complete("run", "remod3d/snake", "--engine", "=", "bu"), ["bullet"])
        self.assertIn("native", self.complete("run", "remod3d/snake", "--engine", "="))
        self.assertEqual(self.complete("run", "remod3d/scatter", "--set", "robot", "=", "at"), ["atron"])
        self.assertEqual(len(self.complete("run", "remod3d/snake", "--set", "modules", "=")), 1, "its default")
        self.assertEqual(self.complete("run", "remod3d/snake", "--dt", "=", "1/60", "--engine", "bu"), ["bullet"])
        self.assertEqual(self.offered("run", "remod3d/snake", "--engine=bu"), ["--engine=bullet"])
        self.assertEqual(self.offered("run", "remod3d/scatter", "--set=robot=at"), ["--set=robot=atron"])

    def test_files_by_what_is_in_them(self):
        for name in ["a.snap", "a.mcap", "a.so", "a.txt"]:
            self.write(name, "")
        for words, file in [(["run", "remod3d/snake", "--restore", "a"], "a.snap"), (["run", "remod3d/snake", "--plugin", "a"], "a.so"),
                            (["replay", "a"], "a.mcap"), (["export", "a"], "a.mcap")]:
            self.assertEqual(self.offered(*words), [file])

    def test_the_script_is_valid(self):
        subprocess.run(["bash", "-n"], input=self.run_program("completion", "bash").stdout, text=True, check=True)

    def test_it_completes(self):
        self.assertEqual(self.complete("ru"), ["run"])
        self.assertEqual(self.complete("run", "remod3d/sn"), ["remod3d/snake"])
        self.assertEqual(self.complete("run", "remod3d/snake", "--engine", "bu"), ["bullet"])
        self.assertEqual(self.complete("run", "remod3d/snake", "--precision", "m"), ["mixed"])
        self.assertEqual(self.complete("evolve", "evolution/gait", "--device", ""), ["auto", "cpu"])
        self.assertEqual(self.complete("bench", "robots", "--device", ""), ["cpu", "cuda"])
        self.assertEqual(self.complete("bench", "particles", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(self.complete("sweep", "remod3d/snake", "--ranks", "s"), ["slurm"])
        self.assertEqual(self.complete("run", "remod3d/snake", "--set", "mod"), ["modules="])
        self.assertEqual(self.complete("sweep", "remod3d/snake", "--vary", "amp"), ["amplitude="])
        self.assertEqual(self.complete("info", "wheel"), ["wheelbot"])
        self.assertEqual(self.complete("new", "rob"), ["robot"])
        self.write("my_world.sdf", "")
        self.assertEqual(self.complete("run", "my_"), ["my_world.sdf"])
        self.write("tree_of_mine.meld", "")
        self.assertEqual(self.complete("run", "tree_"), ["tree_of_mine.meld"])
        self.assertEqual(self.complete("run", "tree_of_mine.meld", "--lattice", "he"), ["hex"])
        self.assertEqual(self.complete("new", "code"), ["codemodule"])

    def offered(self, *words):
        """What all shells are told; the scripts only pass it on."""
        return [line.split("\t")[0] for line in self.run_program("complete", *words).stdout.splitlines()]

    def test_it_knows_every_command_and_option(self):
        for words, options in all_commands(self):
            self.assertIn(words[-1], self.offered(*words))
            self.assertEqual(options - set(self.offered(*words, "-")), set(), words)
        self.assertEqual(self.complete("scan", "ref"), ["refine"])
        self.assertEqual(self.complete("help", "scan", "ref"), ["refine"])
        self.assertIn("--durati", [option[:8] for option in self.complete("run", "remod3d/snake", "--engine", "none", "--")])

    def test_files_and_folders(self):
        self.write("a folder/robot.urdf", "")
        self.write("note.txt", "")
        self.assertEqual(self.offered("run", "a"), ["arenas/explore", "arenas/objects", "arenas/pit_snake", "arenas/rangefinder", "arenas/reconstruct", "arenas/room", "a folder/"])
        self.assertEqual(self.offered("run", "a folder/"), ["a folder/robot.urdf"])
        self.assertEqual(self.offered("run", "no"), [])
        self.assertEqual(self.offered("scan", "build", "no"), ["note.txt"])
        self.assertEqual(self.offered("run", "x", "--out", ""), ["a folder/"])

    def test_every_shell(self):
        for shell in ["bash", "zsh", "fish"]:
            script = self.run_program("completion", shell).stdout
            self.assertIn(" complete ", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)

    # What is typed, and the words or the line that it becomes.
    TYPED = [("volvox scan ref", "refine", "volvox scan refine "), ("volvox run remod3d/sn", "remod3d/snake", "volvox run remod3d/snake "),
             ("volvox run remod3d/snake --set mod", "modules=", "volvox run remod3d/snake --set modules="),
             ("volvox run my_", "my_world.sdf", "volvox run my_world.sdf "), ("volvox run a\\ fo", "a folder/", "volvox run a\\ folder/"),
             ("volvox run 'a fo", "a folder/", "volvox run 'a folder/")]

    def shell_environment(self):
        self.write("a folder/robot.urdf", "")
        self.write("my_world.sdf", "")
        path = os.path.dirname(self.program) + os.pathsep + os.environ["PATH"]
        return {**os.environ, "PATH": path, "HOME": str(self.folder), "TERM": "dumb"}

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        environment = self.shell_environment()
        for typed, word, _ in self.TYPED:
            done = subprocess.run(["fish", "--no-config", "-c", "volvox completion fish | source; complete -C $argv[1]", typed], cwd=self.folder,
                                  env=environment, text=True, capture_output=True, timeout=60)
            self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], [word], typed + done.stderr)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes(self):
        environment = self.shell_environment()
        for typed, _, line in self.TYPED:
            self.assertEqual(self.zsh_line(typed, environment), line)

    def zsh_line(self, typed, environment):
        """The line of an interactive zsh after Tab. zsh completes on a terminal only; Ctrl-X is bound to print the line."""
        setup = ("PS1=; autoload -U compinit; compinit -D -u; source <(volvox completion zsh); show() { print -r -- \"line<$BUFFER>\" }; "
                 "zle -N show; bindkey '^X' show; print rea''dy\n")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        try:
            os.write(terminal, setup.encode())
            self.read_until(terminal, rb"ready\r")
            os.write(terminal, typed.encode() + b"\t\x18")
            return self.read_until(terminal, rb"line<(.*?)>").group(1).decode()
        finally:
            os.close(terminal)  # hangs up, which ends the shell
            os.waitpid(process, 0)

    def read_until(self, terminal, pattern):
        text, end = b"", time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 65536)
            found = re.search(pattern, text, re.DOTALL)
            if found:
                return found
        self.fail(f"zsh says only {text!r}")


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
