"""Nothing is lost: kills, hangups, full disks, two runs in one folder, and bytes that are not UTF-8."""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, WORLD_BEGIN, CommandTest

SNAKE = ["run", "remod3d/snake", "--set", "modules=3"]
FOREVER = ["--duration", "1e6"]


class LossTest(CommandTest):
    behaviors = None  # a volvox command with bad behaviours

    def start(self, *arguments, program=None, **options):
        process = subprocess.Popen([program or self.program, *map(str, arguments)], cwd=self.folder, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, what):
        deadline = time.monotonic() + 50
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def bytes(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def rows(self, *names):
        """Of a table whose last row ends where the file ends; 0: it is not there yet."""
        if not os.path.exists(self.path(*names)):
            return 0
        text = self.bytes(*names).decode()
        self.assertTrue(text == "" or text.endswith("\n"), "half a row")
        self.assertEqual(len({row.count(",") for row in text.splitlines()}), 1 if text else 0)
        return text.count("\n") - 1

    def on_a_small_disk(self, command, kilobytes, after="true"):
        """Runs it with a disk of this size at small/ (0: with no room left), and then the shell command `after`; skips the test where
        that is not permitted."""
        os.makedirs(self.path("small"), exist_ok=True)
        fill = "cat /dev/zero > small/fill 2>/dev/null;" if kilobytes == 0 else ""
        script = f'mount -t tmpfs -o size={kilobytes or 8}k tmpfs small || exit 99; {fill} "$@"; status=$?; {after}; exit $status'
        done = subprocess.run(["unshare", "-m", "bash", "-c", script, "-", self.program, *command], cwd=self.folder, text=True, timeout=120,
                              capture_output=True)
        if done.returncode == 99 or "unshare" in done.stderr:
            self.skipTest("no mounts of its own: " + done.stderr)
        return done


class Snapshots(LossTest):
    def test_the_last_good_one_outlives_a_full_disk(self):
        self.run_program(*SNAKE, "--duration", "0.2", "--save", "a.snap", "--quiet")
        good = self.bytes("a.snap")
        # A limit on the size of files is a full disk for the snapshot, and not for the smaller files of the run.
        limited = ['ulimit -f 4; trap "" XFSZ; exec "$@"', "-", self.program, *SNAKE, "--duration", "0.3", "--save", "a.snap", "--save-every", "0.1",
                   "--out", "r", "--json"]
        done = subprocess.run(["bash", "-c", *limited], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("a.snap", done.stderr)
        self.assertEqual(done.stderr.count("warning: at "), 1, "told once, not at every attempt")
        self.assertEqual(self.bytes("a.snap"), good)
        self.assertEqual(json.loads(self.read("r", "summary.json"))["status"], "failed")
        self.assertGreater(self.rows("r", "metrics.csv"), 2)
        self.assertFalse([name for name in os.listdir(self.folder) if "part" in name])

    def test_the_last_good_one_outlives_a_kill(self):
        for after in [0.0, 0.01, 0.03, 0.05, 0.1]:
            run = self.start(*SNAKE, *FOREVER, "--save", "a.snap", "--save-every", "0.001", "--out", "r", "--quiet")
            self.wait_for(lambda: os.path.exists(self.path("a.snap")), "no snapshot")
            time.sleep(after)
            run.kill()
            run.wait()
            done = self.run_program(*SNAKE, "--duration", "0", "--restore", "a.snap", "--quiet", status=2)
            self.assertIn("the snapshot is at", done.stderr, "it is whole")
            os.remove(self.path("a.snap"))

    def test_a_killed_run_goes_on_with_the_same_bits(self):
        for engine in ["native", "bullet"]:
            options = ["--duration", "3", "--engine", engine, "--quiet", "--out", engine]
            whole = [*SNAKE, *options, "--save", engine + ".snap", "--save-every", "0.25"]
            self.run_program(*whole)
            hash = json.loads(self.read(engine, "summary.json"))["state_hash"]
            os.remove(self.path(engine + ".snap"))
            run = self.start(*whole, "--real-time")
            self.wait_for(lambda: os.path.exists(self.path(engine + ".snap")), "no snapshot")
            run.kill()
            run.wait()
            self.assertEqual(json.loads(self.read(engine, "summary.json"))["status"], "running")
            self.run_program(*whole, "--restore", engine + ".snap")
            summary = json.loads(self.read(engine, "summary.json"))
            self.assertEqual((summary["state_hash"], summary["save_every_s"]), (hash, 0.25))

    def test_saving_on_the_way_changes_nothing(self):
        hashes = {self.run_json("remod3d/snake", "--set", "modules=3", "--duration", "1", *more)["state_hash"] for more in [[], ["--save", "a.snap", "--save-every", "0.1"]]}
        self.assertEqual(len(hashes), 1)

    def test_only_a_snapshot_is_replaced(self):
        world = self.write("w.sdf", WORLD_BEGIN + GROUND + "</world></sdf>")
        before = self.bytes("w.sdf")
        for arguments in [["run", world, "--duration", "0.1", "--save", world], [*SNAKE, "--duration", "0.1", "--save", "w.sdf"]]:
            done = self.run_program(*arguments, "--quiet", status=2)
            self.assertIn("w.sdf: this file is not a snapshot, and --save would replace it\n  fix: ", done.stderr)
            self.assertEqual(self.bytes("w.sdf"), before)
        self.write("empty.snap", "")
        for _ in range(2):  # what is empty, and a snapshot
            self.run_program(*SNAKE, "--duration", "0.1", "--save", "empty.snap", "--quiet")

    def test_a_refused_run_leaves_the_earlier_results(self):
        run = ["run", "remod3d/snake", "--set", "modules=3", "--duration", "0.1", "--quiet", "--out", "out"]
        self.run_program(*run, "--record")
        names = ("recording.mcap", "report.html", "summary.json", "metrics.csv")
        before = [self.bytes("out", name) for name in names]
        for more in (["--video", "v.gif"], ["--video", "none/v.mp4"], ["--video", "v.mp4", "--camera", "nowhere"],
                     ["--video", "v.mp4", "--size", "3x3"], ["--video", "v.mp4", "--renderer", "none_such"],
                     ["--view", "--no-browser", "--host", "192.0.2.1"], ["--view", "--no-browser", "--host", "nowhere"],
                     ["--save", ""], ["--save", "none/"], ["--save", "none/a.snap"]):
            self.run_program(*run, *more, status=2)
            self.assertEqual([self.bytes("out", name) for name in names], before, more)

    def test_a_pipe_that_nobody_reads_is_told_of(self):
        """To open it would wait for ever."""
        os.mkfifo(self.path("a.snap"))
        done = self.run_program(*SNAKE, "--duration", "0.1", "--quiet", "--save", "a.snap", "--out", "r", status=1)
        self.assertIn("a.snap: the snapshot cannot be written\n  fix: ", done.stderr)
        os.makedirs(self.path("p"))
        os.mkfifo(self.path("p/summary.json"))
        self.run_program(*SNAKE, "--duration", "0.1", "--quiet", "--out", "p")  # it goes, as the results of an earlier run
        self.assertIn(b"state_hash", self.bytes("p", "summary.json"))
        os.makedirs(self.path("s"))
        os.mkfifo(self.path("s/sweep.csv"))
        sweep = ["sweep", *SNAKE[1:], "--duration", "0.1", "--seeds", "1", "--quiet", "--out", "s"]
        self.assertIn("nobody reads this pipe", self.run_program(*sweep, status=1).stderr)
        os.mkfifo(self.path("film.mp4"))
        done = self.run_program(*SNAKE, "--duration", "0.1", "--quiet", "--video", "film.mp4", "--out", "v", status=2)
        self.assertIn("film.mp4: the video cannot be written into a pipe\n  fix: ", done.stderr)

    def test_a_pipe_that_nobody_writes_is_no_recording(self):
        os.makedirs(self.path("d"))
        os.mkfifo(self.path("d/recording.mcap"))
        for command in (["replay", "d", "--no-browser"], ["replay", "d/recording.mcap", "--verify"], ["export", "d", "--csv"], ["export", "d", "--page", "d.html"]):
            self.assertIn("d/recording.mcap: the recording cannot be opened\n  fix: ", self.run_program(*command, status=2).stderr)

    def test_what_is_printed_never_goes_into_a_result(self):
        """The first file that a program opens gets the number of a standard stream that is closed."""
        process = subprocess.Popen([self.program, *SNAKE, *FOREVER, "--record", "--out", "r"], cwd=self.folder,
                                   preexec_fn=lambda: [os.close(stream) for stream in (0, 1, 2)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for(lambda: os.path.exists(self.path("r", "recording.mcap")), "it does not begin")
        self.assertEqual([os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in (0, 1, 2)], ["/dev/null"] * 3)

    def test_only_pages_and_models_of_ours_are_replaced(self):
        self.run_program("run", "remod3d/snake", "--set", "modules=3", "--duration", "0.1", "--quiet", "--record", "--out", "out")
        mine = self.bytes("out", "recording.mcap")
        self.write("notes.md", "mine")
        self.write("notes.html", "<p>mine</p>")
        self.write("robot.xml", "<mine/>")
        os.mkfifo(self.path("pipe.html"))
        for thing, option, name in (("out", "--page", "out/recording.mcap"), ("out", "--page", "notes.md"), ("out", "--page", "notes.html"),
                                    ("out", "--page", "pipe.html"), ("out", "--page", "out/report.html"),
                                    ("superbot", "--mjcf", "notes.md"), ("superbot", "--mjcf", "robot.xml")):
            self.assertIn("fix: give " + option, self.run_program("export", thing, option, name, status=2).stderr)
        self.assertEqual((self.bytes("out", "recording.mcap"), self.bytes("notes.md"), self.bytes("notes.html"), self.bytes("robot.xml")),
                         (mine, b"mine", b"<p>mine</p>", b"<mine/>"))
        for _ in range(2):
            self.run_program("export", "superbot", "--mjcf", "ours.xml")

    def test_bad_options(self):
        for more in [["--save-every", "1"], ["--save", "a.snap", "--save-every", "0"], ["--save", "a.snap", "--save-every", "often"]]:
            self.assertIn("--save", self.run_program(*SNAKE, *more, status=2).stderr)
        self.assertFalse(os.path.exists(self.path("a.snap")))


class Folders(LossTest):
    def test_a_folder_in_use_is_refused_and_the_process_named(self):
        first = self.start(*SNAKE, *FOREVER, "--record", "--out", "r", "--quiet")
        self.wait_for(lambda: os.path.exists(self.path("r", "recording.mcap")), "it does not begin")
        before = json.loads(self.read("r", "summary.json"))
        for command in [[*SNAKE, "--duration", "0.1"], ["sweep", "remod3d/snake", "--set", "modules=3", "--duration", "0.1", "--seeds", "2"],
                        ["crosscheck", "remod3d/snake", "--set", "modules=3", "--engines", "native,bullet", "--duration", "0.1"]]:
            done = self.run_program(*command, "--out", "r", status=2)
            self.assertIn(f"process {first.pid} is writing its results into this folder", done.stderr, command)
            self.assertIn("\n  fix: ", done.stderr)
        self.assertEqual(json.loads(self.read("r", "summary.json")), before)
        self.assertEqual(sorted(os.listdir(self.path("r"))), [".volvox.lock", "metrics.csv", "recording.mcap", "summary.json"])
        first.kill()
        first.wait()
        self.run_program(*SNAKE, "--duration", "0.1", "--out", "r", "--quiet")
        self.assertEqual(json.loads(self.read("r", "summary.json"))["status"], "done")
        self.assertNotIn(".volvox.lock", os.listdir(self.path("r")))

    def test_of_runs_at_the_same_time_one_has_the_folder(self):
        together = [self.start(*SNAKE, "--duration", "1", "--out", "r", "--quiet", "--seed", seed) for seed in range(5)]
        statuses = [process.wait(60) for process in together]
        self.assertIn(0, statuses)
        self.assertLessEqual(set(statuses), {0, 2})
        seeds = [seed for seed, status in enumerate(statuses) if status == 0]
        self.assertIn(json.loads(self.read("r", "summary.json"))["seed"], seeds)


class Signals(LossTest):
    def test_what_was_measured_outlives_a_kill(self):
        run = self.start(*SNAKE, *FOREVER, "--out", "r", "--quiet")
        self.wait_for(lambda: self.rows("r", "metrics.csv") > 40, "metrics.csv does not grow")
        run.kill()
        run.wait()
        self.assertGreater(self.rows("r", "metrics.csv"), 40)

    def test_metrics_are_the_same_as_ever(self):
        self.run_program(*SNAKE, "--duration", "1", "--out", "r", "--quiet")
        times = [float(row.split(",")[0]) for row in self.read("r", "metrics.csv").splitlines()[1:]]
        self.assertEqual(len(times), 21)
        self.assertEqual((times[0], times[-1]), (0, 1))

    def test_a_hangup_is_a_request_to_stop(self):
        for signals in [[signal.SIGHUP], [signal.SIGTERM], [signal.SIGINT], [signal.SIGHUP, signal.SIGHUP]]:
            run = self.start(*SNAKE, *FOREVER, "--out", "r", "--quiet")
            self.wait_for(lambda: self.rows("r", "metrics.csv") > 20, "it does not run")
            for which in signals:
                run.send_signal(which)
            self.assertEqual(run.wait(50), 1, signals)
            self.assertEqual(json.loads(self.read("r", "summary.json"))["status"], "stopped")
            os.remove(self.path("r", "metrics.csv"))

    def test_a_run_that_was_stopped_before_it_began_did_not_succeed(self):
        run = self.start(*SNAKE, "--duration", "1", "--view", "--no-browser", "--out", "r", "--quiet")
        said = run.stderr.readline()
        if "http://" not in said:
            self.skipTest("there is no viewer here: " + said)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(50), 1)
        self.assertIn("the run did not begin", run.stderr.read())
        self.assertEqual(json.loads(self.read("r", "summary.json"))["status"], "stopped")

    def test_nohup_holds(self):
        run = self.start(*SNAKE, "--duration", "1", "--real-time", "--out", "r", "--quiet", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: os.path.exists(self.path("r", "metrics.csv")), "it does not begin")
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(50), 0)

    def test_the_first_request_is_answered_although_a_behaviour_does_not_return(self):
        self.write("w.sdf", WORLD_BEGIN + GROUND + '<volvox:run duration="9" dt="1/60"/><volvox:module name="m" robot="superbot" pose="0 0 0.05 0 0 0">'
                   '<volvox:mind behavior="loops"/></volvox:module></world></sdf>')
        run = self.start("run", "w.sdf", "--out", "r", program=self.behaviors)
        self.wait_for(lambda: os.path.exists(self.path("r", "metrics.csv")), "it does not begin")
        time.sleep(0.5)  # it loops after 0.1 s of simulated time
        run.send_signal(signal.SIGINT)
        line = ""
        while "stopping" not in line:
            line = run.stderr.readline()
            self.assertNotEqual(line, "", "it said nothing")
        self.assertIn("once more ends it at once", line)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(50), -signal.SIGINT)


class Captures(LossTest):
    RUN = ["run", "world.sdf", "--engine", "none", "--quiet"]

    def setUp(self):
        """A chain of SuperBots that crawls by messages over wires."""
        super().setUp()
        robot = pathlib.Path(__file__).resolve().parents[2] / "robots/superbot"
        text = (robot / "superbot.sdf").read_text().replace("meshes/", f"{robot}/meshes/")
        self.write("wired.sdf", text.replace("</model>", '<volvox:wire dock="*" bit_rate="9600"/></model>'))
        self.write("world.sdf", WORLD_BEGIN + """<volvox:population name="s" type="chain" robot="wired.sdf" count="8" pose="0 0 1 0 0 0" from="back" to="front">
            <volvox:mind behavior="snake"><volvox:parameter name="sync" value="messages"/></volvox:mind></volvox:population></world></sdf>""")

    def packets(self, name):
        """The times in ns and the bytes of all packets of a capture, which must end with a whole one."""
        data, at, found = self.bytes(name), 0, []
        while at < len(data):
            kind, size = struct.unpack_from("<II", data, at)
            self.assertEqual(struct.unpack_from("<I", data, at + size - 4)[0], size, "a whole block")
            if kind == 6:
                high, low = struct.unpack_from("<II", data, at + 12)
                found.append((high << 32 | low, data[at + 20:at + size]))
            at += size
        return found

    def test_a_killed_run_leaves_its_frames(self):
        process = self.start(*self.RUN, *FOREVER, "--pcap", "f.pcapng")
        self.wait_for(lambda: os.path.exists(self.path("f.pcapng")) and os.path.getsize(self.path("f.pcapng")) > 20000, "it grows")
        process.kill()
        process.wait()
        killed = self.packets("f.pcapng")
        self.run_program(*self.RUN, "--duration", str(killed[-1][0] / 1e9 + 0.1), "--pcap", "whole.pcapng")
        self.assertEqual(self.packets("whole.pcapng")[:len(killed)], killed)

    def test_a_restored_run_captures_the_rest(self):
        self.run_program(*self.RUN, "--duration", "2", "--pcap", "whole.pcapng")
        self.run_program(*self.RUN, "--duration", "1", "--pcap", "a.pcapng", "--save", "a.snap")
        self.run_program(*self.RUN, "--duration", "2", "--pcap", "b.pcapng", "--restore", "a.snap")
        whole = self.packets("whole.pcapng")
        self.assertGreater(len(whole), 10)
        self.assertEqual(self.packets("a.pcapng") + self.packets("b.pcapng"), whole)

    def test_a_disk_that_fills_up_keeps_whole_packets(self):
        done = self.on_a_small_disk([*self.RUN, "--duration", "30", "--pcap", "small/f.pcapng", "--out", "r"], 16,
                                    after="cp small/f.pcapng .")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("small/f.pcapng", done.stderr)
        self.assertAlmostEqual(json.loads(self.read("r", "summary.json"))["sim_time_s"], 30)
        self.packets("f.pcapng")


class FullDisks(LossTest):
    def test_a_capture_that_does_not_fit(self):
        command = ["run", "vouivre/checkerboard", "--duration", "2", "--pcap", "small/f.pcapng", "--out", "r", "--json"]
        done = self.on_a_small_disk(command, 0)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("small/f.pcapng", done.stderr)
        summary = json.loads(self.read("r", "summary.json"))
        self.assertEqual((summary["status"], summary["sim_time_s"]), ("failed", 2))
        self.assertEqual(json.loads(done.stdout)["state_hash"], summary["state_hash"])
        self.assertGreater(self.rows("r", "metrics.csv"), 10)
        self.assertIn("f.pcapng", self.read("r", "report.html"))

    def test_a_film_that_does_not_fit(self):
        if "makes no pictures" in self.run_program(*SNAKE, "--duration", "0.1", "--video", "a.mkv", "--size", "320x180", "--quiet", status=None).stderr:
            self.skipTest("this build makes no films")
        film = ["--video", "small/a.mkv", "--size", "640x360", "--out", "r", "--save", "a.snap"]
        done = self.on_a_small_disk([*SNAKE, "--duration", "8", *film], 16)
        if "needs ffmpeg" in done.stderr:
            self.skipTest("there is no ffmpeg")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("small/a.mkv", done.stderr)
        summary = json.loads(self.read("r", "summary.json"))
        self.assertEqual((summary["status"], summary["sim_time_s"]), ("failed", 8))
        self.assertGreater(self.rows("r", "metrics.csv"), 100)
        self.assertGreater(os.path.getsize(self.path("a.snap")), 1000)

    def test_the_last_good_film_outlives_a_full_disk_and_a_kill(self):
        film = [*SNAKE, "--out", "r", "--quiet", "--video"]
        done = self.run_program(*film, "a.mkv", "--size", "64x48", "--duration", "0.1", status=None)
        if done.returncode == 2 and ("makes no pictures" in done.stderr or "needs ffmpeg" in done.stderr):
            self.skipTest("no films here: " + done.stderr)
        good = self.bytes("a.mkv")
        done = self.on_a_small_disk([*film, "small/a.mkv", "--size", "640x360", "--duration", "8"], 16,
                                    after="ls small > left")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.read("left").split(), [], "no half film is left")
        run = self.start(*film, "a.mkv", "--size", "64x48", *FOREVER)
        self.wait_for(lambda: self.rows("r", "metrics.csv") > 20, "it does not run")
        run.kill()
        run.wait()
        self.assertTrue(self.bytes("a.mkv") == good, "the last film is as it was")
        os.remove(self.path("r", "metrics.csv"))
        run = self.start(*film, "a.mkv", "--size", "64x48", *FOREVER)
        self.wait_for(lambda: self.rows("r", "metrics.csv") > 20, "it does not run")
        run.send_signal(signal.SIGINT)
        run.wait(50)
        self.assertFalse(self.bytes("a.mkv") == good, "what was asked to stop leaves its film")
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(f".{run.pid}.part.mkv")])

    def test_results_that_do_not_fit(self):
        done = self.on_a_small_disk([*SNAKE, "--duration", "1", "--record", "--out", "small/r", "--save", "a.snap"], 24)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("\n  fix: ", done.stderr)
        self.run_program(*SNAKE, "--duration", "1.1", "--restore", "a.snap", "--quiet")


class Bytes(LossTest):
    """Bytes that are not UTF-8."""
    NAME = b"m\xff\xc3"

    def world(self, extension=b""):
        return (WORLD_BEGIN + GROUND).encode() + b'<volvox:run duration="0.5" dt="1/50"/>' + extension + b'<volvox:module name="' + self.NAME + \
            b'" robot="superbot" pose="0 0 0.05 0 0 0"><volvox:mind behavior="idle"/></volvox:module></world></sdf>'

    def test_in_a_name(self):
        self.write("w.sdf", self.world())
        report = json.loads(self.run_program("run", "w.sdf", "--record", "--out", "r", "--json").stdout)
        self.assertEqual(report["status"], "done")
        for name in ["summary.json", "metrics.csv", "report.html"]:
            self.bytes("r", name).decode()
        self.run_program("replay", "r", "--verify", "--quiet")
        self.run_program("export", "r", "--csv")
        self.assertIn("m\ufffd", self.bytes("r", "csv", "links.csv").decode())

    def test_in_the_name_of_a_file(self):
        folder = os.fsencode(self.folder) + b"/w\xff"
        os.mkdir(folder)
        with open(folder + b"/w.sdf", "wb") as file:
            file.write(self.world())
        done = subprocess.run([self.program, "run", folder + b"/w.sdf", "--record", "--out", folder + b"/r", "--json"], cwd=self.folder, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["status"], "done")
        with open(folder + b"/r/summary.json") as file:
            self.assertIn("w\ufffd", json.load(file)["file"])
        done = subprocess.run([self.program, "replay", folder + b"/r", "--verify", "--json"], cwd=self.folder, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for command in [["sweep", folder + b"/w.sdf", "--seeds", "2", "--json", "--out", folder + b"/s"], ["run", b"none\xff.sdf"], ["info", b"\xff"],
                        ["crosscheck", folder + b"/w.sdf", "--engines", "native,bullet", "--json", "--out", folder + b"/c"]]:
            done = subprocess.run([self.program, *command], cwd=self.folder, capture_output=True, timeout=60)
            self.assertIn(done.returncode, [0, 2], (command, done.stderr))
            self.assertNotIn(b"json.exception", done.stderr)

    def test_in_a_datagram(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.write("w.sdf", self.world(b'<volvox:extension name="udp" port="%d"/>' % port).replace(b'duration="0.5"', b'duration="2"'))
        run = self.start("run", "w.sdf", "--real-time", "--record", "--out", "r", "--quiet")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while run.poll() is None:
                for line in [b"parameter * speed\xff \xfe\x80\n", b"dock \xff\xfe front 1\n", b"push \xff head 1 2 3\n", b"\xff\xfe\xfd\n", b"pose \xc3 1\n"]:
                    sender.sendto(line, ("127.0.0.1", port))
                time.sleep(0.05)
        self.assertEqual(run.returncode, 0, run.stderr.read())
        summary = json.loads(self.bytes("r", "summary.json").decode())
        self.assertEqual(summary["status"], "done")
        self.assertTrue([warning for warning in summary["warnings"] if "\ufffd" in warning], summary["warnings"][:3])
        self.run_program("replay", "r", "--verify", "--quiet")


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    LossTest.behaviors = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
