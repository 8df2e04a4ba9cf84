"""Bad files, behaviors and snapshots: a message with file, line and fix; never a crash, never a silent default."""
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

SDF = '<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">\n'
GROUND = """<model name="ground"><static>true</static><link name="ground">
  <collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>\n"""


def world(*content):
    return SDF + '<world name="w">\n' + "\n".join(content) + "\n</world>\n</sdf>\n"


def box(inside="", mass="1", geometry="<box><size>0.1 0.1 0.1</size></box>"):
    """A model of one link; `inside` is added to the model after the link."""
    return f"""<model name="thing">
<link name="body">
  <inertial><mass>{mass}</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
  <collision name="shape"><geometry>{geometry}</geometry></collision>
</link>
{inside}
</model>"""


class BadFiles(CommandTest):
    def assert_complains(self, text, *says, line_of=None, name="world.sdf"):
        """Runs the file. The message must name the file, the line that contains `line_of`, and a fix."""
        self.write(name, text)
        done = self.run_program("run", name, "--duration", "0.1", "--quiet", status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn(name, done.stderr)
        self.assertIn("\n  fix: ", done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)
        if line_of is not None:
            line = text[:text.index(line_of)].count("\n") + 1
            self.assertRegex(done.stderr, rf"{re.escape(name)}:{line}: ", f"the line of {line_of}")

    def test_a_good_file_runs(self):  # otherwise the tests below would prove nothing
        self.write("world.sdf", world(GROUND, box()))
        self.assertEqual(self.run_json("world.sdf", "--duration", "0.1")["status"], "done")

    def test_missing_file(self):
        done = self.run_program("run", "nowhere/world.sdf", status=2)
        self.assertIn("nowhere/world.sdf", done.stderr)
        self.assertIn("\n  fix: ", done.stderr)

    def test_a_robot_is_no_experiment(self):
        done = self.run_program("run", "superbot", status=2)
        self.assertIn("'superbot' is a robot", done.stderr)
        self.assertIn("volvox view superbot", done.stderr)

    def test_an_experiment_is_no_robot(self):
        done = self.run_program("view", "remod3d/snake", status=2)
        self.assertIn("volvox run remod3d/snake --view", done.stderr)

    def test_a_new_behavior_does_not_replace_one_of_ours(self):
        done = self.run_program("new", "behavior", "idle", status=2)
        self.assertIn("there is a behavior named 'idle' already", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "idle")))

    def test_cells_that_are_neither_a_box_nor_a_file(self):
        for experiment in ["dprsim/flood", "dprsim/meld"]:
            done = self.run_program("run", experiment, "--cells", "12by8", status=2)
            self.assertIn("write a box as 30x20x10", done.stderr)
        flood = self.run_json("dprsim/flood", "--cells", "5x4x3", "--duration", "0.5")
        self.assertEqual(flood["metrics"]["catoms"], 60)

    def test_a_program_for_another_lattice(self):
        done = self.run_program("run", "dprsim/meld", "--set", "program=line", status=1)
        self.assertIn("--lattice hex", done.stderr)

    def test_expressions_have_no_comparison(self):
        self.assert_complains(world('<volvox:parameter name="n" value="1"/>', f'<gravity>0 0 ${{n==1}}</gravity>'), "no comparisons")

    def test_files_of_other_kinds(self):
        urdf = "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
        self.write("r.xml", urdf)
        self.assertEqual(self.run_json("r.xml", "--duration", "0.1")["status"], "done")
        self.write("r.xacro", urdf)
        self.write("r.txt", urdf)
        self.write("project/world.sdf", world(GROUND))
        for name, fix in [("r.xacro", "xacro r.xacro > r.urdf"), ("r.txt", ".sdf, .urdf"), ("project", "project/world.sdf")]:
            for command in [["run"], ["info"], ["view"], ["crosscheck"]]:
                done = self.run_program(*command, name, status=2)
                self.assertIn(name, done.stderr)
                self.assertIn(fix, done.stderr, command)
                self.assertNotIn("there is no", done.stderr)
        self.assert_complains("<mujoco/>", "begins with <mujoco>", name="m.xml")

    def test_no_modules_at_all(self):
        self.write("r.urdf", "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>")
        self.write("w.sdf", world(GROUND, box()))
        for file in ["r.urdf", "w.sdf"]:
            done = self.run_program("run", file, "--duration", "0.1", "--quiet")
            self.assertIn("nothing here has a mind", done.stderr)
            self.assertIn("<volvox:mind", done.stderr)
        self.write("good.sdf", world(GROUND, box('<volvox:mind behavior="idle"/>')))
        cells = '<volvox:population name="c" type="cells" cells="4x4"/>'  # catoms run programs: nothing lacks a mind
        self.write("cells.sdf", world(cells))
        for file in ["good.sdf", "cells.sdf"]:
            self.assertNotIn("has a mind", self.run_program("run", file, "--duration", "0.1", "--quiet").stderr)

    def test_expressions(self):
        """Mistakes in ${...} are named with line and column."""
        for expression, says, offset in [("2*", "is missing here", 2), ("1+wid", "no parameter wid", 2), ("(1", "is not closed", 2), ("1/0", "divides by zero", 2),
                                         ("2 2", "'2' is not expected", 2), ("word*2", "which is not a number", 0), ("sqr(4)", "did you mean sqrt?", 0), ("index", "index has no meaning", -2),
                                         ("(" * 400, "nested too deeply", 32)]:
            line = f'<volvox:module name="a" robot="superbot" pose="0 0 ${{{expression}}} 0 0 0"/>'
            text = world('<volvox:parameter name="width" value="2"/>', '<volvox:parameter name="word" value="x"/>', line)
            with self.subTest(expression=expression):
                self.assert_complains(text, f"column {line.index('${') + 2 + offset + 1}: ", says, line_of="<volvox:module ")
        self.assert_complains(world('<volvox:parameter name="loop" value="${loop}"/>'), "in a circle", line_of="<volvox:parameter ")
        self.assert_complains(world('<volvox:module name="a${" robot="superbot" pose="0 0 1 0 0 0"/>'), "no } follows", line_of="<volvox:module ")
        self.assert_complains(world('<volvox:module name="a${n:-1}" robot="superbot" pose="0 0 ${n:-2} 0 0 0"/>'), "the default of n is 2 here, but 1", line_of="<volvox:module ")

    def test_an_expression_within_another(self):
        self.assert_complains(world('<volvox:parameter name="a" value="1"/><volvox:module name="m" robot="superbot" pose="0 0 ${zz:-${a}} 0 0 0"/>'),
                              "${zz:-${a} has a ${...} within another", line_of="<volvox:module ")

    def test_only_our_own_messages(self):
        text = world('<light name="l"/>')
        self.assert_complains(text, "type", line_of="<light")
        self.assertTrue(self.run_program("run", "world.sdf", status=2).stderr.startswith("volvox: world.sdf:"))

    def test_malformed_xml(self):
        self.assert_complains(SDF + '<world name="w">\n<model name="a">\n</world>\n</sdf>\n')
        self.assert_complains("")
        self.assert_complains("hello")
        self.assert_complains(b"\x00\xff\xfe binary \x01".decode("latin-1"))

    def test_not_sdf(self):
        self.assert_complains("<html><body/></html>")
        self.assert_complains(SDF + "</sdf>")

    def test_bad_urdf(self):
        self.assert_complains("<robot name='r'><link name='a'/><joint name='j' type='fixed'><parent link='a'/></joint></robot>",
                              name="robot.urdf")

    def test_unknown_element_of_ours(self):
        self.assert_complains(world(GROUND, '<volvox:modul name="a" robot="superbot"/>'), "volvox:modul", line_of="<volvox:modul ")
        self.assert_complains(world(GROUND, box('<volvox:dok name="d" link="body"/>')), "volvox:dok", line_of="<volvox:dok ")

    def test_unknown_attribute_of_ours(self):
        self.assert_complains(world(GROUND, '<volvox:module name="a" robot="superbot" poze="0 0 1 0 0 0"/>'), "poze",
                              line_of="<volvox:module ")

    def test_missing_robot(self):
        self.assert_complains(world(GROUND, '<volvox:module name="a" robot="superbott" pose="0 0 1 0 0 0"/>'), "superbott", "superbot",
                              line_of="<volvox:module ")

    def test_the_ground_of_gazebo(self):
        for name, says in [("ground_plane", "<plane><normal>0 0 1</normal></plane>"), ("sun", "leave this <include> out")]:
            self.assert_complains(world(f"<include><uri>model://{name}</uri></include>"), says, line_of="<include>")

    def test_a_world_without_a_ground(self):
        self.write("world.sdf", world('<volvox:module name="m" robot="superbot" pose="0 0 1 0 0 0"/>'))
        self.assertIn("falls for ever", self.run_program("run", "world.sdf", "--duration", "0.1", "--quiet").stderr)
        self.assertEqual(self.run_program("run", "world.sdf", "--duration", "0.1", "--quiet", "--engine", "none").stderr, "")
        self.write("world.sdf", world(GROUND, '<volvox:module name="m" robot="superbot" pose="0 0 1 0 0 0"/>'))
        self.assertEqual(self.run_program("run", "world.sdf", "--duration", "0.1", "--quiet").stderr, "")

    def test_missing_mesh(self):
        self.assert_complains(world(box(geometry="<mesh>\n<uri>gone.obj</uri></mesh>")), "gone.obj")
        self.assert_complains(world(box(geometry='<empty/>\n<volvox:hull mesh="gone.obj"/>')), "gone.obj", line_of="<volvox:hull")

    def test_unreadable_mesh(self):
        self.write("bad.obj", b"v 0 0\nf 1 2 9\n\x00\x01")
        self.assert_complains(world(box(geometry="<mesh><uri>bad.obj</uri></mesh>")), "bad.obj")

    def test_unreadable_image(self):
        terrain = """<model name="terrain"><static>true</static><link name="l"><collision name="c"><geometry>
<heightmap><uri>bad.png</uri><size>4 4 1</size></heightmap></geometry></collision></link></model>"""
        self.assert_complains(world(terrain), "bad.png")
        self.write("bad.png", b"\x89PNG\r\n\x1a\n and then nothing of use")
        self.assert_complains(world(terrain), "bad.png")

    def test_hull_of_three_points(self):
        self.assert_complains(world(box(geometry="<empty/>\n<volvox:hull>0 0 0  1 0 0  0 1 0</volvox:hull>")), "4",
                              line_of="<volvox:hull")

    def test_hull_that_is_flat(self):
        self.assert_complains(world(box(geometry="<empty/>\n<volvox:hull>0 0 0  1 0 0  0 1 0  1 1 0</volvox:hull>")),
                              line_of="<volvox:hull")

    def test_hull_of_words(self):
        self.assert_complains(world(box(geometry="<empty/>\n<volvox:hull>0 0 0  1 0 zero  0 1 0  0 0 1</volvox:hull>")), "number",
                              line_of="<volvox:hull")

    def test_dock_on_no_link(self):
        self.assert_complains(world(box('<volvox:dock name="front" link="boddy" pose="0 0 0 0 0 0"/>')), "boddy", "body",
                              line_of="<volvox:dock")

    def test_motor_on_no_joint(self):
        self.assert_complains(world(box('<volvox:motor joint="elbow" kp="1" kd="1"/>')), "elbow", line_of="<volvox:motor")

    def test_mass(self):
        for mass in ["0", "-1", "nan", "heavy"]:
            with self.subTest(mass=mass):
                self.assert_complains(world(box(mass=mass)))

    def test_unknown_behavior_sensor_noise(self):
        self.assert_complains(world(GROUND, box('<volvox:mind behavior="idel"/>')), "idel", "idle")
        self.assert_complains(world(GROUND, box('<volvox:sensor name="s" type="nose" link="body"/>\n<volvox:mind behavior="idle"/>')),
                              "nose", line_of="<volvox:sensor")
        self.assert_complains(world(GROUND, box("""<volvox:sensor name="s" type="gyroscope" link="body"/>
<volvox:percept name="s"><volvox:noise type="pink"/></volvox:percept>
<volvox:mind behavior="idle"/>""")), "pink")

    def test_interfaces(self):
        for element, says in (('<volvox:radio name="r" power="-1"/>', "power"), ('<volvox:radio name="r" bit_rate="0"/>', "bit_rate"),
                              ('<volvox:wire dock="front"/>', "front"), ('<volvox:bus name="b" kind="lin"/>', "lin")):
            self.assert_complains(world(GROUND, box(element + '\n<volvox:mind behavior="idle"/>')), says, line_of=element)

    def test_unknown_parameter(self):
        self.assert_complains(world(GROUND, """<volvox:module name="a" robot="superbot" pose="0 0 0.05 0 0 0">
<volvox:mind behavior="alternate"><volvox:parameter name="amplitud" value="1"/></volvox:mind></volvox:module>"""), "amplitud", "amplitude")
        self.assert_complains(world(GROUND, """<volvox:module name="a" robot="superbot" pose="0 0 0.05 0 0 0">
<volvox:mind behavior="alternate"><volvox:parameter name="amplitude" value="much"/></volvox:mind></volvox:module>"""), "much")
        self.assert_complains(world(GROUND, box('<volvox:sensor name="s" type="range" link="body" rays="0"/>\n<volvox:mind behavior="idle"/>')),
                              "rays", line_of="<volvox:sensor")

    def test_connections(self):
        two = ['<volvox:module name="a" robot="superbot" pose="0 0 0.05 0 0 0"/>', '<volvox:module name="b" robot="superbot"/>']
        self.assert_complains(world(*two, '<volvox:connect from="a.frnt" to="b.back"/>'), "frnt", "front", line_of="<volvox:connect")
        self.assert_complains(world(*two, '<volvox:connect from="a.front" to="c.back"/>'), "c", line_of="<volvox:connect")
        self.assert_complains(world(*two), "b")  # b has no pose
        self.assert_complains(world(*two, '<volvox:connect from="a.front" to="b.back"/>', '<volvox:connect from="b.front" to="a.back"/>'),
                              "mm")  # a straight chain does not close
        self.assert_complains(world(two[0], two[0]), "a")  # the same name twice

    def test_population(self):
        for count in ["0", "-3", "1e9", "ten", "99999999999999999999"]:
            with self.subTest(count=count):
                self.assert_complains(world(f'<volvox:population name="s" type="chain" robot="superbot" count="{count}" '
                                            'pose="0 0 0.05 0 0 0" from="back" to="front"/>'), line_of="<volvox:population")
        self.assert_complains(world('<volvox:population name="s" type="crowd" robot="superbot" count="3" pose="0 0 0 0 0 0"/>'), "crowd",
                              line_of="<volvox:population")

    def test_run(self):
        for attributes in ['dt="0"', 'dt="fast"', 'duration="-1"', 'duration="nan"', 'substep="0"']:
            with self.subTest(attributes=attributes):
                self.assert_complains(world(f"<volvox:run {attributes}/>"), line_of="<volvox:run")
        self.assert_complains(world('<volvox:run dt="10"/>'), "a tick of 10 s", "0.1 s", "<volvox:run>", line_of="<volvox:run")
        self.assert_complains(world('<volvox:run engine="nativ"/>'), "no physics engine 'nativ'", "'native'", line_of="<volvox:run")

    def test_a_robot_that_is_its_own_part(self):
        self.assert_complains(SDF + '<model name="a"><include><uri>a.sdf</uri></include></model></sdf>', "<include>", name="a.sdf")


class BadBehaviors(CommandTest):
    """Status 1: the run failed. The message names the module, the behavior and what it did."""

    behaviors = None  # the command with the bad behaviors

    def write_world(self, behavior):
        self.write("world.sdf", world(GROUND, f"""<volvox:module name="alice" robot="superbot" pose="0 0 0.0425 0 0 0">
<volvox:mind behavior="{behavior}"/></volvox:module>"""))

    def assert_fails(self, behavior, *says):
        self.write_world(behavior)
        done = self.run_program("run", "world.sdf", "--duration", "0.3", "--json", status=1, program=self.behaviors)
        report = json.loads(done.stdout)
        self.assertEqual(report["status"], "failed")
        for words in ["alice", behavior, *says]:
            self.assertIn(words, report["failure"])
            self.assertIn(words, done.stderr)
        self.assertEqual(json.loads(self.read("runs", "world", "001", "summary.json"))["status"], "failed")

    def test_nan_command(self):
        self.assert_fails("commands_nan", "pitch", "not a number")

    def test_infinite_command(self):
        self.assert_fails("commands_infinity", "pitch")

    def test_exceptions(self):
        self.assert_fails("throws", "thrown on purpose")

    def test_exceptions_that_are_not(self):
        self.assert_fails("throws_a_number", "unknown type")

    def test_percept_that_is_not_there(self):
        self.assert_fails("senses_nothing", "pich.angle")

    def test_percept_of_another_type(self):
        self.assert_fails("senses_another_type", "pitch.angle", "double", "bool")

    def test_dock_that_is_not_there(self):
        self.assert_fails("sends_nowhere", "frnt")

    def test_a_bad_start_is_bad_input(self):
        self.write_world("starts_badly")
        done = self.run_program("run", "world.sdf", status=2, program=self.behaviors)
        for words in ["alice", "starts_badly", "no_such_joint", "world.sdf:"]:
            self.assertIn(words, done.stderr)

    def test_a_parameter_that_is_read_late(self):
        self.write("world.sdf", world(GROUND, '<volvox:module name="alice" robot="superbot" pose="0 0 0.1 0 0 0"><volvox:mind behavior="reads_late">'
                                      '<volvox:parameter name="gain" value="2"/></volvox:mind></volvox:module>'))
        done = self.run_program("run", "world.sdf", status=2, program=self.behaviors)
        for words in ["world.sdf:", "'gain', or does not read it in start()", "read it in start() and to keep the value"]:
            self.assertIn(words, done.stderr)

    def test_an_experiment_that_throws(self):
        self.assertIn("thrown on purpose", self.run_program("run", "throwing", status=1, program=self.behaviors).stderr)

    def test_an_experiment_that_throws_at_its_begin(self):
        done = self.run_program("run", "throwing_at_its_begin", "--out", "r", status=1, program=self.behaviors)
        self.assertIn("thrown at the begin", done.stderr)
        summary = json.loads(self.read("r", "summary.json"))
        self.assertEqual((summary["status"], summary["ticks"]), ("failed", 0))
        self.assertIn("thrown at the begin", summary["failure"])

    def test_what_threw_at_its_begin_is_not_restored(self):
        self.write_world("idle")
        self.run_program("run", "world.sdf", "--duration", "0.1", "--save", "a.snap", "--out", "first")
        done = self.run_program("run", "throwing_at_its_begin", "--restore", "a.snap", "--out", "r", status=1, program=self.behaviors)
        self.assertIn("thrown at the begin", done.stderr)
        self.assertNotIn("restored", json.loads(self.read("r", "summary.json")))

    def test_a_behavior_without_listed_state_cannot_be_saved(self):
        self.write_world("lists_no_state")
        done = self.run_program("run", "world.sdf", "--duration", "0.1", "--save", "a.snap", status=2, program=self.behaviors)
        for words in ["lists_no_state", "alice", "VOLVOX_STATE"]:
            self.assertIn(words, done.stderr)


class BadSnapshots(CommandTest):
    RUN = ["run", "remod3d/snake", "--set", "modules=3", "--quiet"]

    def assert_refused(self, file, *says, options=()):
        done = self.run_program(*self.RUN, "--duration", "0.4", "--restore", file, *options, status=2)
        self.assertIn("\n  fix: ", done.stderr)
        for words in [file, *says]:
            self.assertIn(words, done.stderr)

    def test_snapshots(self):
        self.assert_refused("gone.snap")
        self.run_program(*self.RUN, "--duration", "0.2", "--save", "good.snap")
        self.run_program(*self.RUN, "--duration", "0.4", "--restore", "good.snap")
        with open(os.path.join(self.folder, "good.snap"), "rb") as file:
            good = file.read()
        for name, content in {"empty.snap": b"", "text.snap": b"hello, this is no snapshot at all",
                              "cut.snap": good[:len(good) // 2], "shorter.snap": good[:-1], "longer.snap": good + b"\0",
                              "doubled.snap": good + good, "noise.snap": bytes(range(256)) * 8,
                              "huge.snap": b"\xff" * 64}.items():
            with self.subTest(name=name):
                self.write(name, content)
                self.assert_refused(name)

    def test_flipped_bytes_are_found(self):
        self.run_program(*self.RUN, "--duration", "0.1", "--save", "good.snap")
        with open(os.path.join(self.folder, "good.snap"), "rb") as file:
            good = file.read()
        for place in range(0, len(good), max(1, len(good) // 25)):
            bad = bytearray(good)
            bad[place] ^= 0xFF
            self.write("flipped.snap", bytes(bad))
            with self.subTest(place=place):
                self.assert_refused("flipped.snap")

    def test_snapshot_of_another_run(self):
        self.run_program(*self.RUN, "--duration", "0.2", "--save", "good.snap")
        for options in [["--seed", "2"], ["--dt", "1/50"], ["--set", "modules=4"]]:
            self.assert_refused("good.snap", "another run", options=options)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    BadBehaviors.behaviors = os.path.abspath(sys.argv.pop(1))
    unittest.main()
