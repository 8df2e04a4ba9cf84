"""Recordings through the command: the recording of a killed run, the result of --verify, the files of export."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

SNAKE = ["run", "remod3d/snake", "--set", "modules=3", "--quiet", "--record", "--out", "results"]


class Recording(CommandTest):
    def verify(self, *more, status=0):
        return json.loads(self.run_program("replay", "results", "--verify", "--json", "--quiet", *more, status=status).stdout)

    def test_a_recorded_run_is_the_same_again_at_any_number_of_threads(self):
        self.run_program(*SNAKE, "--duration", "1", "--seed", "5", "--engine", "bullet", "--dt", "1/50")
        for threads in ["1", "3"]:
            self.assertEqual(self.verify("--threads", threads), {"same": True, "ticks": 50, "of_ticks": 50, "complete": True})

    def test_a_killed_run_opens_up_to_its_last_chunk(self):
        run = subprocess.Popen([self.program, *SNAKE, "--duration", "1e6"], cwd=self.folder, stderr=subprocess.PIPE)
        file = os.path.join(self.folder, "results", "recording.mcap")
        try:  # until it has written several chunks
            deadline = time.monotonic() + 50
            while not (os.path.exists(file) and os.path.getsize(file) > 3_000_000):
                self.assertLess(time.monotonic(), deadline, "it records too slowly")
                time.sleep(0.05)
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait()
            run.stderr.close()
        with open(file, "rb") as recording:
            recording.seek(-8, os.SEEK_END)
            self.assertNotEqual(recording.read(), b"\x89MCAP0\r\n", "it was not closed")
        self.assertEqual(json.loads(self.read("results", "summary.json"))["status"], "running", "it did not end")
        done = self.run_program("export", "results", "--csv")
        self.assertIn("cut off", done.stderr)
        rows = self.read("results", "csv", "state.csv").splitlines()
        self.assertGreater(len(rows), 60)
        found = self.verify(status=1)
        self.assertTrue(found["same"])
        self.assertFalse(found["complete"], "it is the same as far as it goes")
        self.assertEqual((found["ticks"], found["of_ticks"]), (len(rows) - 2, 60_000_000))
        self.flip_bits(file)

    def flip_bits(self, file):
        """Whatever bit of a recording is flipped, its numbers are as they were, or it is refused."""
        with open(file, "rb") as recording:
            whole = recording.read()
        tables = sorted(os.listdir(os.path.join(self.folder, "results", "csv")))
        truth = {name: self.read("results", "csv", name) for name in tables}
        refused = 0
        for k in range(40):
            place = k * (len(whole) - 1) // 39
            damaged = bytearray(whole)
            damaged[place] ^= 1 << k % 8
            with open(file, "wb") as recording:
                recording.write(damaged)
            done = self.run_program("export", "results", "--csv", "--out", "flipped", status=None)
            if done.returncode == 0:  # a part at the end is left out
                self.assertIn("cut off", done.stderr)
                for name in tables:
                    self.assertTrue(truth[name].startswith(self.read("flipped", name)), (place, name))
                continue
            self.assertEqual(done.returncode, 2)
            refused += 1
        self.assertGreaterEqual(refused, 38)
        with open(file, "wb") as recording:
            recording.write(whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 4]) + whole[len(whole) // 2 + 1:])
        self.assertIn("damaged", self.run_program("replay", "results", "--verify", "--quiet", status=2).stderr)

    def test_a_reused_folder_keeps_no_other_runs_recording(self):
        self.run_program(*SNAKE, "--duration", "0.5", "--seed", "5")
        self.run_program("run", "remod3d/snake", "--set", "modules=4", "--duration", "0.5", "--quiet", "--out", "results")
        self.assertIn("recording", self.run_program("replay", "results", "--verify", "--quiet", status=2).stderr)

    def test_what_an_earlier_run_left_is_removed_and_that_is_said(self):
        self.assertEqual(self.run_program(*SNAKE, "--duration", "0.1").stderr, "")
        self.run_program("export", "results", "--csv")
        self.write("results/csv/mine.txt", "notes")
        self.write("results/recording.1.mcap", "")
        again = self.run_program("run", "remod3d/snake", "--set", "modules=4", "--duration", "0.1", "--quiet", "--out", "results")
        for word in ["results", "recording.mcap", "recording.1.mcap", "tables"]:
            self.assertIn(word, again.stderr)
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "results"))), ["csv", "metrics.csv", "report.html", "summary.json"])
        self.assertEqual(os.listdir(os.path.join(self.folder, "results", "csv")), ["mine.txt"], "what others wrote stays")
        last = self.run_program("run", "remod3d/snake", "--set", "modules=4", "--duration", "0.1", "--out", "results")
        self.assertIn("results of an earlier run were removed", last.stderr)

    def test_a_recording_that_ends_early_verifies_nothing(self):
        self.run_program(*SNAKE, "--duration", "0.5")
        said = self.run_program("replay", "results", "--verify").stdout
        self.assertIn("30 ticks were run again", said)
        file = os.path.join(self.folder, "results", "recording.mcap")
        with open(file, "r+b") as recording:
            recording.truncate(os.path.getsize(file) - 40)
        found = self.verify(status=1)
        self.assertEqual((found["same"], found["complete"], found["of_ticks"]), (True, False, 30))
        self.assertIn("not verified as a whole", self.run_program("replay", "results", "--verify", status=1).stderr)

    def test_times_in_tables_have_no_noise(self):
        self.run_program(*SNAKE, "--duration", "2.5", "--dt", "1/60")
        self.run_program("export", "results", "--csv")
        for names in [["csv", "state.csv"], ["csv", "metrics.csv"], ["metrics.csv"], ["csv", "links.csv"]]:
            with open(os.path.join(self.folder, "results", *names), newline="") as file:
                for row in csv.DictReader(file):
                    self.assertLessEqual(len(row["time_s"].partition(".")[2]), 9, (names, row["time_s"]))

    def test_damage_beside_the_ticks_is_noticed(self):
        self.run_program(*SNAKE, "--duration", "0.2")
        file = os.path.join(self.folder, "results", "recording.mcap")
        with open(file, "rb") as recording:
            whole = recording.read()
        for place, where in [(whole.index(b"names.json") + 40, "names"), (len(whole) - 60, "index"), (whole.index(b"foxglove.FrameTransforms") + 40, "schema")]:
            damaged = bytearray(whole)
            damaged[place] ^= 0x11
            with open(file, "wb") as recording:
                recording.write(damaged)
            self.assertIn("damaged", self.run_program("replay", "results", "--verify", "--quiet", status=2).stderr, where)

    def test_what_has_changed_is_named(self):
        world = """<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w">
          <volvox:run duration="0.5" dt="1/60"/>
          <model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
          <volvox:module name="a" robot="superbot" pose="0 0 0.0425 0 0 0"><volvox:mind behavior="snake"/></volvox:module>
          <volvox:module name="b" robot="superbot" pose="0 1 0.0425 0 0 0"><volvox:mind behavior="snake"><volvox:parameter name="frequency" value="{}"/></volvox:mind></volvox:module>
        </world></sdf>"""
        self.write("w.sdf", world.format("0.5"))
        self.run_program("run", "w.sdf", "--quiet", "--record", "--out", "results")
        self.write("w.sdf", world.format("0.6"))
        found = self.verify("--accept-changes", status=1)
        self.assertEqual((found["same"], found["tick"], found["module"], found["field"]), (False, 2, "b", "actions"))
        said = self.run_program("replay", "results", "--verify", "--accept-changes", "--quiet", status=1).stdout
        self.assertIn("tick 2", said)
        self.assertIn("module 'b'", said)

    def test_tables(self):
        self.run_program(*SNAKE, "--duration", "0.5")
        written = self.run_program("export", "results", "--csv", "--out", "tables").stdout.split()
        self.assertEqual(len(written), 9)
        with open(os.path.join(self.folder, "tables", "links.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len({row["time_s"] for row in rows}), 31)
        self.assertIn("s0.head", {row["link"] for row in rows})
        self.assertTrue(self.read("tables", "messages.csv").startswith("sent_s,arrived_s,receiver,outlet,bytes,sender,type,content\n"))
        hashes = self.read("tables", "state.csv").split()
        self.assertEqual(hashes[-1].split(",")[2], json.loads(self.read("results", "summary.json"))["state_hash"])

    def rows(self, table):
        with open(os.path.join(self.folder, "results", "csv", table), newline="") as file:
            return list(csv.DictReader(file))

    def test_messages_tell_sender_type_and_content(self):
        for experiment, outlet in [("vouivre/checkerboard", "f"), ("roles/caterpillar", "")]:  # over wires, and ideal docks
            self.run_program("run", experiment, "--duration", "1", "--quiet", "--record", "--out", "results")
            self.run_program("export", "results", "--csv")
            messages = self.rows("messages.csv")
            self.assertGreater(len(messages), 10)
            for message in messages:
                self.assertTrue(message["sender"] and message["sender"] != message["receiver"], message)
                self.assertTrue(message["type"], message)
                json.loads(message["content"])
            self.run_program("replay", "results", "--verify", "--quiet")

    def test_dock_events_are_in_a_table(self):
        done = self.run_program("run", "remod3d/breakage", "--duration", "1", "--json", "--record", "--out", "results")
        self.run_program("export", "results", "--csv")
        events = self.rows("dock_events.csv")
        metrics = json.loads(done.stdout)["metrics"]
        self.assertGreater(metrics["docks_broken"], 0)
        self.assertEqual(len([event for event in events if event["event"] == "broken"]), metrics["docks_broken"])
        broken = next(event for event in events if event["event"] == "broken")
        self.assertNotEqual([broken[load] for load in ["axial_N", "shear_N", "bending_Nm", "torsion_Nm"]], ["0"] * 4)
        self.assertTrue(broken["dock"] and broken["partner"])

    def test_every_run_writes_a_report(self):
        self.run_program("run", "remod3d/snake", "--set", "modules=3", "--duration", "1", "--quiet", "--out", "results")
        page = self.read("results", "report.html")
        self.assertIn("lift_m", page)
        self.assertIn("<polyline", page)
        self.assertNotIn("http", page)

    def test_bad_recordings_are_refused(self):
        self.write("empty/recording.mcap", b"")
        self.write("foreign/recording.mcap", b"\x89MCAP0\r\n" + b"\x01" + (8).to_bytes(8, "little") + bytes(8))
        os.mkdir(os.path.join(self.folder, "nothing"))
        for folder in ["empty", "foreign", "nothing", "absent"]:
            for command in [["replay", folder, "--verify"], ["replay", folder], ["export", folder, "--csv"]]:
                done = self.run_program(*command, status=2)
                self.assertIn("\n  fix: ", done.stderr, command)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
