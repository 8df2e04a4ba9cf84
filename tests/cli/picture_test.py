"""Pictures and videos of the command: files have the requested content, and bad input is named."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

WORLD = """<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w">
<volvox:run duration="1" dt="1/60"/>
<model name="ball"><pose>0 0 0.5 0 0 0</pose><link name="body">
<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
<visual name="v"><geometry><sphere><radius>0.1</radius></sphere></geometry><material><diffuse>0.9 0.1 0.1 1</diffuse></material></visual>
</link></model></world></sdf>"""


def pixels(png):
    """Width, height and the rows of an 8-bit RGB PNG, as bytes."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 2)
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw, rows, before = zlib.decompress(data), [], bytes(3 * width)
    for y in range(height):
        line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        row = bytearray(line[1:])
        for i in range(len(row)):
            left, up, corner = (row[i - 3] if i >= 3 else 0), before[i], (before[i - 3] if i >= 3 else 0)
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda v: abs(guess - v))
            row[i] = (row[i] + [0, left, up, (left + up) // 2, nearest][line[0]]) & 255
        rows.append(bytes(row))
        before = rows[-1]
    return width, height, rows


def red_pixels(picture):
    width, height, rows = picture
    return [(x, y) for y in range(height) for x in range(width)
            if rows[y][3 * x] > 90 and rows[y][3 * x] > 1.7 * rows[y][3 * x + 1]]


class Pictures(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("world.sdf", WORLD)

    def picture(self, *arguments):
        self.run_program("picture", "world.sdf", "-o", "a.png", "--quiet", *arguments)
        return self.png()

    def png(self):
        with open(os.path.join(self.folder, "a.png"), "rb") as file:
            return pixels(file.read())

    def test_a_picture_has_the_same_bits_with_any_instruction_set(self):
        for experiment in ("remod3d/terrain", "remod3d/wheelbot"):  # water, shadows; a mesh close by
            files = set()
            for instruction_set in ("", "sse2"):
                self.run_program("picture", experiment, "--at", "0.05", "--size", "320x180", "-o", "a.png", "--quiet", VOLVOX_ISA=instruction_set)
                with open(os.path.join(self.folder, "a.png"), "rb") as file:
                    files.add(file.read())
            self.assertEqual(len(files), 1, experiment)

    def test_bench_view_simulates_and_draws(self):
        done = json.loads(self.run_program("bench", "view", "remod3d/wheelbot", "--frames", "3", "--size", "64x48", "--json").stdout)
        scene = done["scenes"][0]
        self.assertEqual((scene["experiment"], scene["frames"], scene["modules"]), ("remod3d/wheelbot", 3, 1))
        for name in ["frames_per_second", "processor_s_per_frame", "simulate_ms", "draw_ms"]:
            self.assertGreater(scene[name], 0)
        self.assertIn("remod3d/wheelbto", self.run_program("bench", "view", "remod3d/wheelbto", status=2).stderr)

    def test_bench_view_counts_catoms(self):
        done = self.run_program("bench", "view", "dprsim/flood", "--frames", "2", "--size", "64x48", "--json")
        [scene] = json.loads(done.stdout)["scenes"]
        run = json.loads(self.run_program("run", "dprsim/flood", "--duration", "0.1", "--json", "--out", "f").stdout)
        self.assertEqual(scene["modules"], run["metrics"]["catoms"])

    def test_as_many_threads_draw_as_are_said(self):
        for threads in [1, 3]:
            done = self.run_program("picture", "world.sdf", "-o", "a.png", "--size", "64x48", "--threads", threads)
            self.assertIn(f", {threads} thread{'s' if threads > 1 else ''})", done.stdout)
            done = self.run_program("bench", "view", "dprsim/flood", "--frames", "2", "--size", "64x48", "--threads", threads, "--json")
            self.assertIn(f", {threads} thread{'s' if threads > 1 else ''})", json.loads(done.stdout)["scenes"][0]["device"])

    def test_an_ensemble_is_cut_open_and_coloured_by_a_value(self):
        flood = ["picture", "dprsim/flood", "--set", "side=9", "--set", "filled=1", "--at", "0.1", "--size", "96x64", "--quiet", "-o"]
        pictures = []
        for more in [[], ["--cut", "x=50%"], ["--cut", "x=4"], ["--color-by", "hops"], ["--color-by", "source", "--cut", "z=2"]]:
            self.run_program(*flood, "a.png", *more)
            pictures.append(self.png())
        self.assertEqual(pictures[1], pictures[2])
        self.assertEqual(len({str(picture) for picture in pictures}), 4)
        for bad, says in [(["--color-by", "hop"], "choose one of: 'hops', 'parent', 'source'"), (["--cut", "w=3"], "x=12.5"), (["--cut", "x"], "x=12.5"), (["--cut", "x=%"], "x=12.5"), (["--cut", "x=1e99"], "x=12.5")]:
            self.assertIn(says, self.run_program(*flood, "a.png", *bad, status=2).stderr)
        # A unit may be left out.
        pool = ["picture", "remod3d/terrain", "--at", "0.05", "--size", "96x64", "--quiet", "-o"]
        pictures = []
        for value in [[], ["--color-by", "speed"], ["--color-by", "speed, m/s"]]:
            self.run_program(*pool, "a.png", *value)
            pictures.append(self.png())
        self.assertNotEqual(pictures[0], pictures[1])
        self.assertEqual(pictures[1], pictures[2])
        self.assertIn("choose one of: 'speed, m/s'", self.run_program(*pool, "a.png", "--color-by", "spee", status=2).stderr)
        self.assertIn("neither catoms nor particles", self.run_program("picture", "world.sdf", "-o", "a.png", "--cut", "x=1", status=2).stderr)

    def test_a_picture_has_the_size_and_shows_the_robot(self):
        width, height, rows = picture = self.picture("--size", "160x120", "--camera", "3,0,0.5:0,0,0.5")
        self.assertEqual((width, height), (160, 120))
        red = red_pixels(picture)
        # A ball of radius 0.1 m, 3 m away: its disc covers pi r^2, r = 0.1 / 3 * 60 / tan(15 degrees).
        self.assertAlmostEqual(len(red) / (3.14159 * (0.1 / 3 * 60 / 0.267949) ** 2), 1, delta=0.12)
        self.assertAlmostEqual(sum(x for x, y in red) / len(red), 79.5, delta=1)
        self.assertAlmostEqual(sum(y for x, y in red) / len(red), 59.5, delta=1)

    def test_the_ball_has_fallen_at_the_time_that_is_asked_for(self):
        camera = ["--size", "160x120", "--camera", "8,0,0:0,0,0"]
        at = [red_pixels(self.picture("--at", time, *camera)) for time in ("0", "0.25")]
        middle = [sum(y for x, y in red) / len(red) for red in at]
        fallen = 0.5 * 9.81 * 0.25 ** 2 / 8 * 60 / 0.267949  # pixels
        self.assertAlmostEqual(middle[1] - middle[0], fallen, delta=1.5)

    def test_a_strobe_shows_every_instant(self):
        camera = ["--size", "160x120", "--camera", "9,0,-0.5:0,0,-0.5", "--at", "0.5"]
        once, thrice = self.picture(*camera), self.picture(*camera, "--strobe", "3")
        changed = sum(a != b for one, other in zip(once[2], thrice[2]) for a, b in zip(one, other))
        self.assertGreater(changed, 150)

    def test_a_strobe_of_loads_has_no_other_red(self):
        """SuperBots have red parts; where loads are shown, blue to red, no instant may keep them."""
        command = ["picture", "remod3d/snake", "--set", "modules=4", "--at", "2", "--strobe", "3", "--size", "320x180", "--camera", "left", "--quiet"]
        reds = []
        for docks in ["state", "load"]:
            self.run_program(*command, "--docks", docks, "-o", "a.png")
            with open(os.path.join(self.folder, "a.png"), "rb") as file:
                _, _, rows = pixels(file.read())
            reds.append(sum(row[i] > 1.25 * row[i + 1] for row in rows for i in range(0, len(row), 3)))  # pale ones, too
        self.assertGreater(reds[0], 50)
        self.assertLess(reds[1], 5)

    def test_the_same_command_gives_the_same_bytes(self):
        self.assertEqual(self.picture("--size", "96x64"), self.picture("--size", "96x64"))

    def test_bad_input_is_named(self):
        for arguments, says in [(["--size", "big"], "big"), (["--size", "8x8"], "8x8"), (["--size", "99999x100"], "99999x100"), (["--at", "7"], "from 0 to 1 s"),
                                (["--at", "-1"], "-1"), (["--camera", "behind"], "behind"), (["--camera", "1,2"], "1,2"), (["--docks", "blue"], "blue"),
                                (["--strobe", "0"], "0"), (["--renderer", "ogre"], "ogre"), (["--set", "a=1"], "a")]:
            done = self.run_program("picture", "world.sdf", "-o", "a.png", *arguments, status=2)
            self.assertIn(says, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "a.png")), arguments)
        for file in ("a.gif", "a", "no/such/folder/a.png"):
            self.assertIn(file, self.run_program("picture", "world.sdf", "-o", file, status=2).stderr)
        self.run_program("picture", "world.sdf", status=2)  # without -o
        self.assertIn("nowhere.sdf", self.run_program("picture", "nowhere.sdf", "-o", "a.png", status=2).stderr)

    def test_a_video_has_the_frames_of_its_duration(self):
        if shutil.which("ffprobe") is None:
            self.skipTest("ffprobe is not installed")
        self.run_program("run", "world.sdf", "--video", "a.mp4", "--size", "160x120", "--quiet", "--out", "results")
        probe = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-count_frames", "-show_entries",
                                "stream=codec_name,width,height,r_frame_rate,nb_read_frames", "-of", "json", os.path.join(self.folder, "a.mp4")],
                               capture_output=True, text=True, check=True)
        stream = json.loads(probe.stdout)["streams"][0]
        self.assertEqual((stream["codec_name"], stream["width"], stream["height"], stream["r_frame_rate"]), ("h264", 160, 120, "30/1"))
        self.assertEqual(int(stream["nb_read_frames"]), 31)  # 1 s at 30 frames per second, including both ends

    def test_filming_does_not_change_the_run(self):
        plain = self.run_json("world.sdf", "--out", "plain")
        filmed = self.run_json("world.sdf", "--out", "filmed", "--video", "a.mkv", "--size", "64x48")
        self.assertEqual(plain["state_hash"], filmed["state_hash"])

    def test_bad_videos_are_refused_before_the_run(self):
        for arguments, says in [(["--video", "a.gif"], "a.gif"), (["--video", "no/such/a.mp4"], "no/such/a.mp4"), (["--video", "a.mp4", "--size", "65x48"], "65 x 48"),
                                (["--video", "a.mp4", "--camera", "nobody.eye"], "nobody.eye")]:
            done = self.run_program("run", "world.sdf", "--quiet", "--out", "results", *arguments, status=2)
            self.assertIn(says, done.stderr)

    def test_without_ffmpeg_the_message_says_so(self):
        done = self.run_program("run", "world.sdf", "--quiet", "--out", "results", "--video", "a.mp4", status=2, PATH="/nowhere")
        self.assertIn("ffmpeg", done.stderr)
        self.assertIn("\n  fix: ", done.stderr)

    def test_a_video_that_cannot_be_finished_fails_the_command(self):
        folder = os.path.join(self.folder, "tools")
        os.mkdir(folder)
        with open(os.path.join(folder, "ffmpeg"), "w") as script:
            script.write("#!/bin/sh\ncat >/dev/null\necho no space left >&2\nexit 1\n")
        os.chmod(os.path.join(folder, "ffmpeg"), 0o755)
        done = self.run_program("run", "world.sdf", "--quiet", "--out", "results", "--video", "a.mp4", status=1, PATH=folder + ":" + os.environ["PATH"])
        self.assertIn("no space left", done.stderr)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
