"""volvox scan: from a simulated drive to an arena that a robot drives in; bad clouds, logs and options."""
import json
import os
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

PCD = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {0}\nHEIGHT 1\nPOINTS {0}\nDATA {1}\n"


class Scan(CommandTest):
    def scan(self, *arguments, **options):
        return self.run_program("scan", *arguments, **options)

    def scan_json(self, *arguments):
        return json.loads(self.scan(*arguments, "--json", "--quiet").stdout)

    def test_a_cloud_becomes_planes(self):
        self.scan("simulate", "--cloud", "cloud.pcd", "--truth", "truth.ply", "--points", "60000", "--seed", "3", "--quiet")
        built = self.scan_json("build", "cloud.pcd", "--method", "pf", "-o", "arena.ply")
        self.assertLessEqual(built["triangles"], 80)
        self.assertGreaterEqual(built["planes"], 25)
        self.assertGreater(built["cpu_s"], 0)
        found = self.scan_json("evaluate", "arena.ply", "--truth", "truth.ply", "--density", "500")
        self.assertLess(found["accuracy_mean_mm"], 0.5)
        self.assertGreater(found["f_2cm"], 0.999)
        self.assertEqual(found["planes_found"], 25)
        for key in ("accuracy_p95_mm", "completeness_mean_mm", "hausdorff_mm", "f_5mm", "boundary_edges", "non_manifold_edges"):
            self.assertIn(key, found)

    def test_a_drive_becomes_an_arena_that_a_robot_drives_in(self):
        self.scan("simulate", "--seed", "3", "-o", "drive.log", "--path", "path.csv", "--quiet")
        located = self.scan_json("locate", "drive.log", "-o", "located.log", "--truth", "path.csv")
        self.assertLess(located["error_max_mm"], 10)
        self.assertLess(located["error_max_deg"], 0.5)
        cleaned = self.scan_json("clean", "located.log", "-o", "cloud.pcd")
        self.assertGreater(cleaned["points"], 10000)
        report = self.scan_json("run", "cloud.pcd", "--method", "pf", "--duration", "1", "--out", "results")
        self.assertEqual(report["status"], "done")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "results", "arena.sdf")))

    def test_the_same_seed_gives_the_same_bytes(self):
        self.scan("simulate", "--cloud", "cloud.xyz", "--points", "5000", "--quiet")
        for name in ("a.ply", "b.ply"):
            self.scan("build", "cloud.xyz", "--method", "gsrm", "--nodes", "120", "-o", name, "--quiet")
        with open(os.path.join(self.folder, "a.ply"), "rb") as a, open(os.path.join(self.folder, "b.ply"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_experiments_leave_their_meshes(self):
        self.run_program("run", "arenas/explore", "--set", "method=pf", "--set", "every=1", "--duration", "2", "--out", "explored", "--quiet")
        first, last = (os.path.join(self.folder, "explored", f"arena_{name}.ply") for name in ("first", "last"))
        self.assertGreater(self.scan_json("evaluate", last, "--truth", first, "--density", "100")["triangles"], 0)
        self.scan("simulate", "--cloud", "room.pcd", "--points", "20000", "--quiet")
        self.run_program("run", "arenas/room", "--set", "scan=room.pcd", "--set", "method=pf", "--duration", "0.1", "--out", "driven", "--quiet")
        mesh = os.path.join(self.folder, "driven", "arena.ply")
        self.assertGreater(self.scan_json("evaluate", mesh, "--truth", mesh, "--density", "100")["triangles"], 10)

    def test_known_objects_are_put_in_as_they_are(self):
        hall = ["simulate", "--seed", "3", "--length", "5", "--width", "4", "--boxes", "1", "--points", "90000"]
        stand = self.scan_json(*hall, "--objects", "arenas/objects", "--cloud", "cloud.pcd")["objects"]
        self.assertEqual([thing["name"] for thing in stand], ["crate", "plug", "post", "ramp", "slab"])
        found = self.scan_json("build", "cloud.pcd", "--method", "pf", "--objects", "arenas/objects", "-o", "arena.sdf")["objects"]
        self.assertEqual([thing["name"] for thing in found], [thing["name"] for thing in stand])
        for here, there in zip(found, stand):
            self.assertLess(abs(here["x_m"] - there["x_m"]) + abs(here["y_m"] - there["y_m"]), 0.02)
        world = self.read("arena.sdf")
        self.assertIn("<name>plug_0</name>", world)
        self.assertIn("plug.sdf</uri>", world)
        self.run_program("run", "arena.sdf", "--duration", "0.1", "--engine", "none", "--quiet")
        self.assertIn("plug at", " ".join(self.scan("build", "cloud.pcd", "--method", "pf", "--objects", "arenas/objects", "-o", "arena.ply").stdout.split()))

        self.scan(*hall, "--cloud", "bare.pcd", "--quiet")
        done = self.scan("build", "bare.pcd", "--method", "pf", "--objects", "arenas/objects", "-o", "bare.sdf", "--json")
        self.assertEqual(json.loads(done.stdout)["objects"], [])
        self.assertIn("none of the 5 known objects was recognized", done.stderr)
        self.assert_complains("build", "bare.pcd", "--objects", "nowhere", "-o", "a.ply", says="nowhere")
        self.write("thing.sdf", "<sdf version='1.9'><model name='thing'><static>true</static><link name='a'/></model></sdf>")
        self.assert_complains("build", "bare.pcd", "--objects", "arenas/objects,thing.sdf", "-o", "a.ply", says="no <collision>")
        self.write("empty.pcd", PCD.format(0, "ascii"))
        self.assert_complains("build", "empty.pcd", "--objects", "arenas/objects", "-o", "a.ply", says="empty")
        self.assert_complains("simulate", "--objects", "arenas/objects", "--length", "2", "--boxes", "0", "--no-pit", "--truth", "a.ply", says="no place for 5 objects")

    def assert_complains(self, *arguments, says):
        done = self.scan(*arguments, status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("\n  fix: ", done.stderr)
        self.assertIn(says, done.stderr)

    def test_bad_clouds(self):
        self.write("empty.pcd", PCD.format(0, "ascii"))
        self.assert_complains("build", "empty.pcd", "-o", "a.ply", says="empty")
        self.write("cut.pcd", PCD.format(9, "binary").encode() + struct.pack("<3f", 1, 2, 3))
        self.assert_complains("build", "cut.pcd", "-o", "a.ply", says="cut off")
        self.write("nan.xyz", "nan nan nan\n" * 50)
        self.assert_complains("build", "nan.xyz", "-o", "a.ply", says="no points")
        self.write("word.xyz", "1 2 3\n4 five 6\n")
        self.assert_complains("build", "word.xyz", "-o", "a.ply", says="word.xyz:2")
        self.write("few.xyz", "".join(f"{i} {i * i % 7} 0\n" for i in range(20)))
        self.assert_complains("build", "few.xyz", "-o", "a.ply", says="too few")
        self.write("line.xyz", "".join(f"{i} 0 0\n" for i in range(500)))
        self.assert_complains("build", "line.xyz", "-o", "a.ply", says="one line")
        self.assert_complains("build", "missing.pcd", "-o", "a.ply", says="missing.pcd")
        self.assert_complains("build", "cloud.doc", "-o", "a.ply", says=".doc")

    def test_a_million_duplicates_are_mended(self):
        square = "".join(f"{x / 40} {y / 40} 0\n" for x in range(40) for y in range(40))
        self.write("many.xyz", square + "0.5 0.5 0\n" * 1_000_000)
        done = self.scan("build", "many.xyz", "--method", "pf", "-o", "a.ply")
        self.assertIn("lay exactly on others", done.stderr)

    def test_bad_meshes(self):
        self.write("flat.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n")
        self.write("good.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
        self.assert_complains("evaluate", "flat.off", "--truth", "good.off", says="no area")
        self.assert_complains("evaluate", "good.off", "--truth", "flat.off", says="flat.off")

    def test_bad_logs(self):
        self.write("a.log", "FLASER 3 1 2 3 0 0 0\n")
        self.assert_complains("locate", "a.log", "-o", "b.log", says="a.log:1: FLASER has no odometry")
        self.write("b.log", "hello\n")
        self.assert_complains("clean", "b.log", "-o", "c.ply", says="no laser sweeps")
        self.write("c.log", "FLASER 3 1 2 3 0 0 0 0 0 0 1 h 1\n")
        self.assert_complains("clean", "c.log", "-o", "c.ply", says="upright laser")

    def test_bad_options(self):
        self.write("line.xyz", "0 0 0\n")
        self.assert_complains("build", "line.xyz", "--method", "magic", "-o", "a.ply", says="magic")
        self.assert_complains("build", "line.xyz", "--method", "pf", "--triangles", "50", "-o", "a.ply", says="pf")
        self.assert_complains("build", "line.xyz", "--noise", "nan", "-o", "a.ply", says="nan")
        self.assert_complains("simulate", says="-o LOG")
        self.assert_complains("simulate", "--truth", "a.doc", says=".doc")
        self.assert_complains("simulate", "--truth", "a.ply", "--boxes", "900", says="no place")
        self.assert_complains("simulate", "-o", "drive.txt", says=".log")
        self.assert_complains("build", "line.xyz", "-o", "a", says="no ending")
        self.assert_complains("run", "missing.pcd", "--robot", "nobot", says="nobot")
        self.assert_complains("fly", says="subcommand")

    def test_every_subcommand_explains_itself(self):
        for command in ("simulate", "locate", "clean", "build", "evaluate", "register", "run"):
            self.assertIn("Examples:", self.scan(command, "--help").stdout)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
