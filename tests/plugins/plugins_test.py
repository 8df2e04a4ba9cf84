"""Plugins as real shared libraries: their contents work, failures name the plugin, and objects are freed in order."""
import json
import os
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, WORLD_BEGIN, CommandTest

PLUGINS = ""

ROBOT = """<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<model name="lookout">
  <link name="foot">
    <inertial><mass>2</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
    <collision name="foot"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision>
  </link>
  <link name="head">
    <pose>0 0 0.08 0 0 0</pose>
    <inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial>
  </link>
  <joint name="neck" type="continuous"><parent>foot</parent><child>head</child>
    <axis><xyz>0 0 1</xyz><limit><effort>1</effort><velocity>6</velocity></limit></axis></joint>
  <volvox:motor joint="neck" kp="2" kd="0.2"/>
  {extra}
</model>
</sdf>
"""

WORLD = WORLD_BEGIN + """  <volvox:run duration="0.3" dt="1/60"/>
  {plugins}
""" + GROUND + """  <volvox:module name="first" robot="robot.sdf" pose="0 0 0.05 0 0 0">
    <volvox:mind behavior="{behavior}">{parameters}</volvox:mind></volvox:module>
  <volvox:module name="second" robot="robot.sdf" pose="0 1 0.05 0 0 0">
    <volvox:mind behavior="{second}">{parameters}</volvox:mind></volvox:module>
</world>
</sdf>
"""


SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(SOURCE, "src", "volvox", "plugin", "abi.h")) as header:
    ABI = int(re.search(r"define VOLVOX_PLUGIN_ABI_VERSION (\d+)u", header.read()).group(1))


class PluginTest(CommandTest):
    def world(self, plugin="good", behavior="actor", second=None, deed=None, extra="", more=""):
        self.write("robot.sdf", ROBOT.format(extra=extra))
        parameters = f'<volvox:parameter name="deed" value="{deed}"/>' if deed else ""
        plugins = (f'<plugin filename="{plugin}" name="{plugin}"/>\n' if plugin else "\n") + more
        return self.write("world.sdf", WORLD.format(plugins=plugins, behavior=behavior, second=second or behavior, parameters=parameters))

    def volvox(self, *arguments, **options):
        return self.run_program(*arguments, **{"VOLVOX_PLUGIN_PATH": "", **options})

    def folder_of(self, *names):
        folder = os.path.join(self.folder, "_".join(names))
        os.makedirs(folder, exist_ok=True)
        for name in names:
            os.symlink(os.path.join(PLUGINS, f"lib{name}.so"), os.path.join(folder, f"lib{name}.so"))
        return folder

    def run_world(self, *arguments, status=0, plugin="good", **options):
        path = os.path.join(PLUGINS, f"lib{plugin}.so") if plugin else None
        world = self.world(plugin=path, **{k: options.pop(k) for k in list(options) if k in ("behavior", "second", "deed", "extra", "more")})
        return self.volvox("run", world, "--out", "out", *arguments, status=status, **options)

    def report(self, *arguments, **options):
        return json.loads(self.run_world("--json", *arguments, **options).stdout)


class Offers(PluginTest):
    def test_a_behavior_runs_with_the_same_bits_at_any_number_of_threads_and_after_a_restore(self):
        whole = self.report()
        self.assertEqual(whole["status"], "done")
        self.assertEqual(self.report("--threads", "2")["state_hash"], whole["state_hash"])
        self.report("--duration", "0.15", "--save", "half.snap")
        self.assertEqual(self.report("--restore", "half.snap")["state_hash"], whole["state_hash"])

    def test_a_sensor_a_noise_an_engine_and_a_propagation(self):
        extra = ('<volvox:sensor name="height" type="altitude" link="foot"/>'
                 '<volvox:percept name="height"><volvox:noise type="shift"/></volvox:percept>'
                 '<volvox:radio name="radio" link="foot"/>')
        channel = '<volvox:channel name="air" propagation="constant" gain="0.5"/>'
        self.assertEqual(self.report("--engine", "still", extra=extra, more=channel)["engine"], "still")

    def test_an_observer_sees_anothers_reading_without_a_copy(self):
        self.assertEqual(self.report(second="mimic")["status"], "done")

    def test_a_renderer_by_name(self):
        world = self.world(plugin=os.path.join(PLUGINS, "libgood.so"))
        self.volvox("picture", world, "-o", "grey.png", "--size", "32x32", "--renderer", "fog")
        self.assertGreater((pathlib.Path(self.folder) / "grey.png").stat().st_size, 50)

    def test_a_run_exchanges_its_renderer_by_name(self):
        world = self.world(plugin=os.path.join(PLUGINS, "libgood.so"))
        film = ["run", world, "--quiet", "--out", "out", "--size", "64x48", "--video"]
        done = self.volvox(*film, "film.mkv", "--renderer", "picture,fog@0.2", status=None)
        if "ffmpeg" in done.stderr or "no pictures" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = [self.volvox("picture", world, "-o", f"{at}.png", "--at", at, "--size", "64x48", "--renderer", "picture,fog@0.2") and
                  (pathlib.Path(self.folder) / f"{at}.png").read_bytes() for at in ["0.1", "0.2", "0.3"]]
        self.assertNotEqual(frames[0], frames[1])
        self.assertEqual(frames[1], frames[2])  # fog: grey
        for bad in ["fog,picture", "picture@1", "picture,fog@x", "picture,frog@1", ""]:
            self.volvox(*film, "bad.mkv", f"--renderer={bad}", status=2)

    def test_given_on_the_command_line(self):
        world = self.world(plugin=None)
        self.volvox("run", world, "--plugin", os.path.join(PLUGINS, "libgood.so"), "--out", "out")
        self.volvox("run", world, "--plugin", "good", "--out", "out", VOLVOX_PLUGIN_PATH=self.folder_of("good"))

    def test_list_and_info(self):
        path = self.folder_of("good")
        listed = json.loads(self.volvox("list", "plugins", "--json", VOLVOX_PLUGIN_PATH=path).stdout)
        self.assertIn({"name": "good", "description": "something of everything"}, listed["plugins"])
        told = self.volvox("info", "good", VOLVOX_PLUGIN_PATH=path).stdout
        for offer in ["actor", "altitude", "shift", "constant", "still", "fog", "journal_a", "loaded in"]:
            self.assertIn(offer, told)
        self.assertIn("actor", self.volvox("list", "behaviors", VOLVOX_PLUGIN_PATH=path).stdout)

    def test_a_recorded_run_replays(self):
        self.run_world("--record", "--quiet")
        self.volvox("replay", "out", "--verify", "--quiet")


class Files(PluginTest):
    """Only the plugins that a run uses are among its files."""

    def setUp(self):
        super().setUp()
        self.copies = os.path.join(self.folder, "copies")
        os.makedirs(self.copies)
        for name in ["good", "actors"]:
            shutil.copy(os.path.join(PLUGINS, f"lib{name}.so"), self.copies)

    def rebuild(self, name):
        with open(os.path.join(self.copies, f"lib{name}.so"), "ab") as file:
            file.write(b"another build")

    def files(self):
        return sorted(os.path.basename(file) for file in json.loads(self.read("out", "summary.json"))["files"])

    def test_of_a_run(self):
        path = {"VOLVOX_PLUGIN_PATH": os.path.join(self.copies, "libgood.so")}
        for behavior, more, plugins in [("idle", [], []), ("actor", [], ["libgood.so"]), ("idle", ["--engine", "still"], ["libgood.so"]), ("idle", ["--plugin", "good"], ["libgood.so"]),
                                        ("idle", ["--isolate"], []), ("actor", ["--isolate"], ["libgood.so"])]:
            with self.subTest(behavior=behavior, more=more):
                world = self.world(plugin=None, behavior=behavior)
                self.volvox("run", world, "--quiet", "--out", "out", *more, **({**path, "VOLVOX_PLUGIN_PATH": self.copies} if "good" in more else path))
                self.assertEqual(self.files(), [*plugins, "robot.sdf", "world.sdf"])

    def test_another_one_may_be_rebuilt(self):
        path = {"VOLVOX_PLUGIN_PATH": self.copies}
        self.volvox("run", self.world(plugin=None, behavior="idle"), "--quiet", "--record", "--save", "a.snap", "--out", "out", **path)
        self.rebuild("good")
        self.volvox("replay", "out", "--verify", **path)
        self.volvox("run", "world.sdf", "--quiet", "--restore", "a.snap", "--duration", "0.5", "--out", "r", **path)

    def test_one_in_use_may_not(self):
        self.volvox("run", self.world(plugin=os.path.join(self.copies, "libgood.so")), "--quiet", "--record", "--out", "out")
        self.volvox("replay", "out", "--verify")
        self.rebuild("good")
        self.assertIn("libgood.so has changed", self.volvox("replay", "out", "--verify", status=2).stderr)

    def test_a_sweep_by_another_path(self):
        world = self.world(plugin=None)
        command = ["sweep", world, "--seeds", "2", "--jobs", "1", "--out", "s", "--json", "--plugin"]
        self.volvox(*command, "copies/libgood.so")
        self.assertEqual(json.loads(self.volvox(*command, "./copies/../copies/libgood.so").stdout)["found_finished"], 2)


class Order(PluginTest):
    def journal(self, **options):
        journal = os.path.join(self.folder, "journal.txt")
        if os.path.exists(journal):
            os.remove(journal)
        self.run_world("--engine", "still", "--quiet", VOLVOX_TEST_JOURNAL=journal, **options)
        with open(journal) as file:
            return file.read().split("\n")[:-1]

    EXTENSIONS = '<volvox:extension name="journal_a"/><volvox:extension name="journal_b"{deed}/>'

    def test_first_in_last_out(self):
        self.assertEqual(self.journal(more=self.EXTENSIONS.format(deed="")),
                         ["journal_a init", "journal_b init", "engine made", "behavior made", "behavior made",
                          "behavior gone", "behavior gone", "engine gone", "journal_b shutdown", "journal_b gone",
                          "journal_a shutdown", "journal_a gone", "library gone"])

    def test_what_was_made_is_freed_in_order_when_something_fails(self):
        self.assertEqual(self.journal(more=self.EXTENSIONS.format(deed=' deed="fail"'), status=2),
                         ["journal_a init", "journal_b gone", "journal_a shutdown", "journal_a gone", "library gone"])
        lines = self.journal(more=self.EXTENSIONS.format(deed=""), deed="throw", status=1)
        self.assertEqual(lines[-7:], ["behavior gone", "engine gone", "journal_b shutdown", "journal_b gone", "journal_a shutdown", "journal_a gone", "library gone"])


class Failures(PluginTest):
    def expect(self, *words, status, **options):
        done = self.run_world("--quiet", status=status, **options)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_when_loaded(self):
        self.expect("world.sdf:5", "is not there", "VOLVOX_PLUGIN_PATH", status=2, plugin="missing")
        self.expect("world.sdf:5", "libmoody.so", "not in the mood", status=2, plugin="moody")
        self.expect("libfuture.so", "plugin 'future'", f"version {ABI + 1} of the interface, this is version {ABI}", status=2, plugin="future")
        self.expect("libold.so", "plugin 'old'", f"version {ABI - 1} of the interface, this is version {ABI}", "build it again", status=2, plugin="old")
        self.expect("libforeign.so", "gcc 4", "build it again", status=2, plugin="foreign")
        self.expect("libempty.so", "not a plugin of Volvox", status=2, plugin="empty")
        world = self.world(plugin=self.write("libtext.so", "no library at all"))
        self.assertIn("cannot be loaded", self.volvox("run", world, status=2).stderr)

    def test_plugins_of_other_simulators_are_passed_over(self):
        world = self.world(plugin="libgazebo_ros_camera.so", behavior="spin")
        self.assertIn("another simulator", self.volvox("run", world, "--out", "o", status=None).stderr)

    def test_behaviors(self):
        self.expect("plugin 'good'", "libgood.so", "no behavior today", "world.sdf:10", status=2, behavior="throws_when_made")
        self.expect("plugin 'good'", "made nothing", status=2, behavior="nothing")
        self.expect("plugin 'good'", "thrown in start", status=2, deed="throw in start")
        self.expect("plugin 'good'", "module 'first'", "thrown on purpose", status=1, deed="throw")
        self.expect("plugin 'good'", "unknown type", status=1, deed="throw a number")
        self.expect("plugin 'good'", "not a number", "'neck'", status=1, deed="nan")

    def test_sensors_noise_engines_propagation_and_extensions(self):
        sensor = '<volvox:sensor name="height" type="{}" link="foot"/>'
        self.expect("plugin 'good'", "'altitude_nan'", "not a number", status=2, extra=sensor.format("altitude_nan"))
        self.expect("plugin 'good'", "the sensor is blind", status=2, extra=sensor.format("altitude_blind"))
        noise = '<volvox:{0} name="{1}"><volvox:noise type="shift_nan"/></volvox:{0}>'
        self.expect("plugin 'good'", "'shift_nan'", status=2, extra=noise.format("percept", "neck.angle"))
        self.expect("plugin 'good'", "'shift_nan'", status=1, extra=noise.format("action", "neck"))
        done = self.run_world("--engine", "lost", status=1)
        self.assertIn("plugin 'good'", done.stderr)
        self.assertIn("'lost' moved a body to a place that is not a number", done.stderr)
        extension = '<volvox:extension name="journal_a" deed="{}"/>'
        self.expect("the journal is full", "turn the page", "world.sdf:6", status=2, more=extension.format("fail"))
        self.expect("no ink", status=2, more=extension.format("throw"))
        self.expect("extension 'journal_a'", "out of ink", status=1, more=extension.format("throw later"))
        self.expect("'dead'", "journal_a", status=2, more='<volvox:extension name="journal_a" dead="x"/>')
        self.expect("no extension named 'journal_c'", "did you mean", status=2, more='<volvox:extension name="journal_c"/>')
        radio = '<volvox:radio name="radio" link="foot"/>'
        self.expect("no law of propagation", "'constnt'", "world.sdf:6", status=2, extra=radio, more='<volvox:channel name="air" propagation="constnt"/>')

    def test_a_half_copied_one_on_the_path_does_not_stop_a_command(self):
        folder = os.path.join(self.folder, "half")
        os.makedirs(folder)
        with open(os.path.join(PLUGINS, "libgood.so"), "rb") as file:
            whole = file.read()
        for part in range(0, 5):
            with open(os.path.join(folder, "libgood.so"), "wb") as file:
                file.write(whole[:len(whole) * part // 5])
            self.assertIn("left out", self.volvox("list", "engines", VOLVOX_PLUGIN_PATH=folder).stderr)
        self.assertIn("left out", self.volvox("list", "plugins", VOLVOX_PLUGIN_PATH=folder).stderr)
        os.remove(os.path.join(folder, "libgood.so"))
        os.mkfifo(os.path.join(folder, "libpipe.so"))
        self.assertIn("not a file", self.volvox("list", "engines", VOLVOX_PLUGIN_PATH=folder).stderr)

    def test_a_bad_one_on_the_path_does_not_stop_a_run(self):
        world = self.world(plugin=None, behavior="actor")
        done = self.volvox("run", world, "--out", "o", VOLVOX_PLUGIN_PATH=self.folder_of("good", "future"))
        self.assertIn("left out", done.stderr)
        self.assertIn("libfuture.so", done.stderr)


class Isolated(PluginTest):
    def test_the_same_bits_as_in_one_process(self):
        together = self.report(plugin="actors")
        apart = self.report("--isolate", plugin="actors")
        self.assertEqual(apart["state_hash"], together["state_hash"])
        self.assertEqual(apart["metrics"]["isolated_disabled"], 0)
        self.assertGreater(apart["metrics"]["isolated_round_trip_us"], 0)
        self.assertEqual(apart["metrics"]["isolated_calls"], 2 * 2 * apart["ticks"])  # step and end_tick of two modules
        self.assertEqual(self.report("--isolate", "--threads", "2", plugin="actors")["state_hash"], together["state_hash"])

    def test_a_crash_a_hang_or_an_exit_ends_that_process_alone(self):
        for deed, words in {"crash": "crashed (signal 11", "hang": "did not answer within 0.3 s", "exit": "exit status 7"}.items():
            done = self.run_world("--isolate=0.3", "--json", plugin="actors", deed=deed)
            for word in [words, "plugin 'actors'", "module 'first'", "disabled"]:
                self.assertIn(word, done.stderr, deed)
            report = json.loads(done.stdout)
            self.assertEqual(report["status"], "done", deed)
            self.assertEqual(report["metrics"]["isolated_disabled"], 1, deed)
            self.assertIn(words, "".join(report["warnings"]), deed)
            self.assertIs(report["reproducible"], deed != "hang", "a hang is found by the wall clock")

    def test_a_replay_isolates_as_the_run_did(self):
        for plugin, path in [(os.path.join(PLUGINS, "libactors.so"), ""), (None, self.folder_of("good"))]:  # from the world; from the user's path
            world = self.world(plugin=plugin, deed="crash")
            self.volvox("run", world, "--isolate", "--record", "--out", "r", VOLVOX_PLUGIN_PATH=path)
            warnings = "".join(json.loads(self.read("r", "summary.json"))["warnings"])
            self.assertIn("crashed (signal 11", warnings)
            self.assertEqual("cannot be isolated" in warnings, path != "")
            self.assertIn("every state hash is the same", self.volvox("replay", "r", "--verify", VOLVOX_PLUGIN_PATH=path).stdout)

    LOOKOUT = '<volvox:sensor name="view" type="lookout" link="head"{}/>'

    def test_sensors_read_the_same_bits(self):
        for options in [{}, {"behavior": "on_board"}]:
            options = {"plugin": "actors", "extra": self.LOOKOUT.format(' max_range="4"'), **options}
            together = self.report(**options)
            self.assertNotEqual(together["state_hash"], self.report(**{**options, "extra": ""})["state_hash"])
            apart = self.report("--isolate", **options)
            self.assertEqual(apart["state_hash"], together["state_hash"])
            self.assertEqual(apart["metrics"]["isolated_disabled"], 0)
            self.assertEqual(self.report("--isolate", "--threads", "2", **options)["state_hash"], together["state_hash"])

    def test_who_looks_around_after_another_has_read_sees_the_present(self):
        options = {"plugin": "actors", "extra": '<volvox:sensor name="height" type="altitude" link="foot"/><volvox:sensor name="near" type="crowd" link="foot"/>',
                   "more": '<volvox:module name="falling" robot="robot.sdf" pose="0 0.5 0.6 0 0 0"><volvox:mind behavior="actor"/></volvox:module>'}
        self.assertEqual(self.report("--isolate", **options)["state_hash"], self.report(**options)["state_hash"])

    def test_a_sensor_that_crashes_or_hangs_ends_that_process_alone(self):
        for deed, words in {"crash": "crashed (signal 11", "hang": "did not answer within 0.3 s"}.items():
            done = self.run_world("--isolate=0.3", "--json", plugin="actors", behavior="spin", extra=self.LOOKOUT.format(f' deed="{deed}"'))
            for word in [words, "plugin 'actors'", "sensor 'view' of module", "disabled, and the run goes on"]:
                self.assertIn(word, done.stderr, deed)
            report = json.loads(done.stdout)
            self.assertEqual(report["status"], "done", deed)
            self.assertEqual(report["metrics"]["isolated_disabled"], 1, deed)

    def test_what_an_isolated_sensor_does_wrong_is_named(self):
        blinded = self.run_world("--isolate", plugin="actors", extra=self.LOOKOUT.format(' deed="throw"')).stderr
        for word in ["blinded", "sensor 'view' of module", "disabled, and the run goes on"]:
            self.assertIn(word, blinded)
        self.assertIn("max_range", self.run_world("--isolate", plugin="actors", extra=self.LOOKOUT.format(' max_range="far"'), status=2).stderr)
        self.assertIn("'colour'", self.run_world("--isolate", plugin="actors", extra=self.LOOKOUT.format(' colour="red"'), status=2).stderr)
        self.assertIn("a type of its own, Own", self.run_world("--isolate", plugin="actors", extra='<volvox:sensor name="o" type="own" link="foot"/>', status=2).stderr)

    def test_what_throws_is_disabled_and_the_rest_goes_on(self):
        for deed, words in {"throw": "thrown on purpose", "throw a number": "unknown type", "throw in start": "thrown in start", "nan": "not a number"}.items():
            done = self.run_world("--isolate", "--json", plugin="actors", deed=deed)
            for word in [words, "plugin 'actors'", "module 'first'", "module 'second'", "disabled, and the run goes on"]:
                self.assertIn(word, done.stderr, deed)
            report = json.loads(done.stdout)
            self.assertEqual((report["status"], report["metrics"]["isolated_disabled"], report["reproducible"]), ("done", 1, True), deed)
        # Only the module that throws: the other one is called on.
        report = self.report("--isolate", plugin="actors", deed="first throws")
        self.assertGreater(report["metrics"]["isolated_calls"], 2 * report["ticks"])
        self.assertNotIn("module 'second'", "".join(report["warnings"]))

    def test_garbage_in_the_shared_memory_harms_nobody(self):
        for _ in range(5):
            done = self.run_world("--isolate=0.5", "--json", plugin="actors", deed="garbage")
            self.assertEqual(json.loads(done.stdout)["status"], "done")

    def test_what_a_plugin_has_started_ends_with_the_run(self):
        # run_program waits until nobody holds the run's output any more.
        done = self.run_world("--isolate", "--json", plugin="actors", deed="daemon")
        self.assertEqual(json.loads(done.stdout)["status"], "done")

    def test_memory_has_a_limit(self):
        for path in [None, self.folder_of("actors")]:  # from the world; from the user's path
            world = {"plugin": None, "VOLVOX_PLUGIN_PATH": path} if path else {"plugin": "actors"}
            done = self.run_world("--isolate=20,200", "--json", deed="eat memory", **world)
            self.assertEqual(json.loads(done.stdout)["status"], "done")
            self.assertIn("disabled, and the run goes on", done.stderr)
        self.assertIn("no memory", self.run_world("--isolate=1,0", plugin="actors", status=2).stderr)

    def test_a_replay_has_the_same_limit(self):
        world = self.world(plugin=os.path.join(PLUGINS, "libactors.so"), deed="eat memory")
        self.volvox("run", world, "--isolate=20,200", "--record", "--out", "r")
        self.assertIn("every state hash is the same", self.volvox("replay", "r", "--verify").stdout)

    def test_log_lines_have_a_limit(self):
        for arguments in [[], ["--isolate"]]:
            done = self.run_world("--duration", "0.12", *arguments, plugin="actors", deed="talk")
            ticks = [line for line in done.stderr.split("\n") if "more log lines of this" in line]
            self.assertLess(done.stderr.count("\n"), 1100 * len(ticks))
            if not arguments:
                self.assertIn("399000 more", ticks[0])
            else:
                self.assertIn("199900 more log lines of this call were dropped", done.stderr)

    def test_a_behavior_that_is_linked_in_is_said_not_to_be_isolated(self):
        done = self.run_world("--isolate", plugin="actors", second="hold")
        self.assertIn("not isolated: hold", done.stderr)
        self.assertNotIn("not isolated", self.run_world("--isolate", plugin="actors").stderr)

    def test_what_cannot_be_isolated_says_so(self):
        self.assertIn("looks at other modules", self.run_world("--isolate", plugin="actors", second="mimic", status=2).stderr)
        self.assertIn("cannot be isolated", self.run_world("--isolate").stderr)
        self.assertIn("crashed", self.run_world("--isolate", plugin="moody", status=2, VOLVOX_TEST_CRASH="1").stderr)
        self.assertIn("is no time", self.run_world("--isolate=soon", plugin="actors", status=2).stderr)


if __name__ == "__main__":
    CommandTest.program, PLUGINS = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main()
