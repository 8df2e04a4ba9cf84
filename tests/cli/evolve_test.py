"""volvox evolve: the same winners at any number of threads and processes, after a kill, and on any instruction set."""
import json
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import TASK, CommandTest
from watcher import Watcher

WORLD = pathlib.Path(__file__).parents[2] / "experiments/evolution/organism/world.sdf"


class Evolve(CommandTest):
    robots_library = None

    def evolve(self, *arguments, **options):
        return json.loads(self.run_program("evolve", *arguments, "--json", "--gallery", "0", **options).stdout)

    def task(self, **changes):
        return self.write("t/task.json", json.dumps({**TASK, **changes}, indent=1))

    def test_the_same_winners_everywhere(self):
        task = self.task()
        first = self.evolve(task, "--threads", 1, "--out", "a")
        self.assertEqual((first["generations"], first["trials"], first["status"]), (4, 64, "done"))
        for name, arguments, environment in [("b", ["--threads", 2], {}), ("c", ["--jobs", 2, "--threads", 1], {}), ("d", [], {"VOLVOX_ISA": "sse2"})]:
            found = self.evolve(task, *arguments, "--out", name, **environment)
            self.assertEqual((found["state_hash"], found["best_fitness"]), (first["state_hash"], first["best_fitness"]), name)
            self.assertEqual(self.read("a", "best.json"), self.read(name, "best.json"))
            self.assertEqual(self.read("a", "evolution.json"), self.read(name, "evolution.json"))
        other = self.evolve(task, "--seed", 2, "--out", "e")
        self.assertNotEqual(other["state_hash"], first["state_hash"])
        slippery = self.evolve(task, "--set", "friction=0.1", "--out", "f")
        self.assertNotEqual(slippery["state_hash"], first["state_hash"])

    def test_a_device_changes_no_result(self):
        task = self.task(body={"robot": "superbot", "modules": [1, 2]}, precision="double")
        first = self.evolve(task, "--out", "a", "--generations", 2)
        self.assertEqual(first["ticks_on_gpu"], 0)
        robots = {"VOLVOX_ROBOTS_CUDA_LIBRARY": self.robots_library}
        for name, arguments in [("b", []), ("c", ["--jobs", 2, "--threads", 1])]:
            done = self.run_program("evolve", task, "--json", "--gallery", 0, "--out", name, "--generations", 2, "--device", "cuda", *arguments, **robots)
            found = json.loads(done.stdout)
            self.assertEqual(found["state_hash"], first["state_hash"], name)
            self.assertEqual(self.read("a", "evolution.json"), self.read(name, "evolution.json"))
            self.assertGreater(found["ticks_on_gpu"], 0)
            for why, ticks in found["ticks_not_on_gpu"].items():
                self.assertIn(f"{ticks} ticks of trials were not made by the GPU: {why}", done.stderr)
        # Of its own accord only where the GPU can move something.
        many = ["--population", 128, "--generations", 1, "--threads", 1]
        for precision, moves in [("mixed", False), ("double", True)]:
            found = self.evolve(task, *many, "--precision", precision, "--device", "auto", "--out", precision, **robots)
            self.assertEqual(found["ticks_on_gpu"] > 0, moves, precision)
            self.assertTrue(moves or found["ticks_not_on_gpu"] == {}, found)
        # No GPU: a word, and the processor goes on.
        missing = {"VOLVOX_ROBOTS_CUDA_LIBRARY": "/nowhere/librobots.so"}
        done = self.run_program("evolve", task, "--json", "--gallery", 0, "--out", "d", "--generations", 2, "--device", "cuda", **missing)
        self.assertEqual(json.loads(done.stdout)["state_hash"], first["state_hash"])
        self.assertIn("/nowhere/librobots.so", done.stderr)

    def test_a_kill_loses_at_most_one_generation(self):
        task = self.task()
        whole = self.evolve(task, "--out", "whole")
        draw = random.Random(5)
        kills = 0
        for attempt in range(40):
            there = os.path.exists(os.path.join(self.folder, "k", "evolution.json"))
            process = subprocess.Popen([self.program, "evolve", task, "--json", "--gallery", "0", "--out", "k", *(["--resume"] if there else [])],
                                       cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                # Later and later, so that it comes to an end on a slow machine, too.
                out, _ = process.communicate(timeout=0.1 + 0.15 * attempt + draw.uniform(0, 0.2))
                found = json.loads(out)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        self.assertGreater(kills, 0)
        self.assertEqual(found["state_hash"], whole["state_hash"])
        self.assertEqual(self.read("whole", "evolution.json"), self.read("k", "evolution.json"))
        longer = self.evolve(task, "--out", "k", "--resume", "--generations", 6)
        self.assertEqual(longer["state_hash"], self.evolve(task, "--out", "six", "--generations", 6)["state_hash"])

    def test_ctrl_c_leaves_a_state(self):
        task = self.task(algorithm={"name": "ga", "population": 8, "generations": 100000})
        process = subprocess.Popen([self.program, "evolve", task, "--quiet", "--gallery", "0", "--out", "s"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if os.path.exists(os.path.join(self.folder, "s", "evolution.json")):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("--resume", errors)
        so_far = len(json.loads(self.read("s", "evolution.json"))["content"]["history"])
        found = self.evolve(task, "--out", "s", "--resume", "--generations", so_far + 1)
        self.assertEqual(found["generations"], so_far + 1)

    def test_a_genome_is_an_experiment(self):
        found = self.evolve(self.task(), "--out", "a", "--generations", 2)
        first = self.run_json("a/best.json", "--seed", 1)
        second = self.run_json("a/best.json", "--seed", 2, "--set", "trial=2")
        worst = min(first["metrics"]["moved_m"], second["metrics"]["moved_m"])
        self.assertEqual(worst, found["best_fitness"])
        self.assertEqual((first["modules"], first["ticks"]), (found["best_modules"], 30))
        info = self.run_program("info", "a/best.json", status=None)
        self.assertIn("friction", info.stdout + info.stderr)

    def test_the_page_stands_alone(self):
        self.run_program("evolve", self.task(map={"x": {"feature": "modules", "from": 1, "to": 5, "cells": 4}, "y": {"feature": "moved_m", "from": 0, "to": 0.2, "cells": 5}},
                                             algorithm={"name": "map_elites", "population": 8, "generations": 3}),
                         "--quiet", "--gallery", 1, "--out", "a")
        page = self.read("a", "index.html")
        for word in ["Fitness over the generations", "Lineage", "Elites", "volvox run gallery/01.json"]:
            self.assertIn(word, page)
        for foreign in ["<script", "http://", "https://", 'src="gallery']:
            self.assertNotIn(foreign, page)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "a", "gallery", "01.json")))

    def test_the_gallery_shows_runs_of_the_task_s_precision(self):
        # Long enough for the precision to be seen.
        self.run_program("evolve", self.task(trial={**TASK["trial"], "duration": 8}, precision="double"),
                         "--quiet", "--gallery", 1, "--no-film", "--generations", 1, "--out", "a")
        pictures = {}
        for precision in ["mixed", "double"]:
            self.run_program("picture", "a/gallery/01.json", "--precision", precision, "--at", 8, "--strobe", 4, "--size", "640x400", "-o", f"{precision}.png")
            pictures[precision] = pathlib.Path(self.folder, f"{precision}.png").read_bytes()
        self.assertNotEqual(pictures["double"], pictures["mixed"])
        self.assertEqual(pathlib.Path(self.folder, "a", "gallery", "01.png").read_bytes(), pictures["double"])

    def test_the_page_is_live_behind_a_token(self):
        task = self.task(trial={"duration": 1, "count": 2}, algorithm={"name": "ga", "population": 8, "generations": 100000})
        process = subprocess.Popen([self.program, "evolve", task, "--quiet", "--gallery", "0", "--jobs", "2", "--threads", "1", "--view", "--no-browser", "--out", "v"],
                                   cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stderr.readline()
            port, query = re.search(r"http://127\.0\.0\.1:(\d+)/(\?token=[0-9a-f]{32})", line).groups()
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20)
            self.assertEqual(refused.exception.code, 403)
            page = urllib.request.urlopen(f"http://127.0.0.1:{port}/{query}", timeout=20).read().decode()
            self.assertIn("/live.js" + query, page)
            self.assertIn("WebSocket", urllib.request.urlopen(f"http://127.0.0.1:{port}/live.js{query}", timeout=20).read().decode())
            watcher = Watcher(int(port), query)
            shown = [watcher.message().decode() for _ in range(2)]
            watcher.close()
            generations = [int(re.search(r"after (\d+) generations", one).group(1)) for one in shown]
            self.assertLess(generations[0], generations[1], "it goes on")
            self.assertIn(b"403", Watcher(int(port), "").answer.split(b"\r\n")[0])
            taken = self.run_program("evolve", task, "--view", "--no-browser", "--port", port, "--out", "w", status=2)
            self.assertIn("--port", taken.stderr)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)

    def test_a_bad_address_of_the_page_is_told_before_the_work(self):
        for address in [["--host", "256.1.1.1"], ["--host", "no.such.host.invalid"], ["--port", "70000"], ["--port", "-1"]]:
            done = self.run_program("evolve", self.task(), "--view", "--no-browser", "--quiet", "--out", "v", *address, status=2)
            self.assertIn(address[0], done.stderr)
        self.assertFalse([name for _, _, names in os.walk(self.folder) for name in names if name in (".live", "evolution.json")])

    def test_the_gallery_has_a_film(self):
        done = self.run_program("evolve", self.task(), "--generations", "1", "--gallery", 2, "--threads", 1, "--quiet", "--out", "a")
        if "there is no film" in done.stderr:
            self.skipTest(done.stderr)  # no ffmpeg, or no pictures here
        film = pathlib.Path(self.folder, "a", "gallery", "01.mp4")
        self.assertGreater(film.stat().st_size, 1000)
        self.assertIn("data:video/mp4;base64,", self.read("a", "index.html"))
        self.run_program("evolve", self.task(), "--generations", "1", "--gallery", 1, "--no-film", "--quiet", "--out", "b")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "b", "gallery", "01.mp4")))

    def test_a_journal_that_is_a_pipe_is_replaced(self):
        """To read it would wait for ever."""
        os.makedirs(os.path.join(self.folder, "p"))
        os.mkfifo(os.path.join(self.folder, "p", "generation.jsonl"))
        self.assertEqual(self.evolve(self.task(), "--generations", 1, "--out", "p", "--jobs", 2)["status"], "done")

    def test_pictures_and_film_tell_how_far_they_are(self):
        terminal, side_of_the_program = pty.openpty()
        process = subprocess.Popen([self.program, "evolve", self.task(), "--generations", "1", "--gallery", "2", "--threads", "1", "--out", "a"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=side_of_the_program)
        os.close(side_of_the_program)
        told = b""
        try:
            while part := os.read(terminal, 65536):
                told += part
        except OSError:
            pass  # the program has ended
        os.close(terminal)
        self.assertEqual(process.wait(60), 0)
        self.assertIn("picture 1 of 2", told.decode())  # the second may follow the film's last words too fast to be shown
        if b"there is no film" not in told:
            self.assertIn("film of the best", told.decode())

    def test_bad_input_is_named(self):
        task = self.task()
        self.evolve(task, "--out", "a", "--generations", 1)
        good = self.read("a", "evolution.json")
        cases = [(["evolution/gaitt"], "did you mean 'evolution/gait'"),
                 ([task, "--out", "a"], "--resume"),
                 ([task, "--resume"], "--out"),
                 ([task, "--out", "b", "--resume"], "no evolution"),
                 ([task, "--out", "a", "--resume", "--seed", "3"], "--seed 1"),
                 ([task, "--out", "a", "--resume", "--set", "friction=0.5"], "another task"),
                 ([task, "--device", "abacus"], "use one of: auto, cpu, cuda"),
                 ([task, "--precision", "some"], "precision"),
                 ([task, "--set", "frictoin=1"], "friction"),
                 ([self.write("g/task.json", json.dumps({**TASK, "experiment": "evolution/pit"}))], "'evolution/pit', is a genome"),
                 ([self.write("v/task.json", json.dumps({**TASK, "evolve_settings": {"friction": [0.1, 1]}})), "--set", "friction=1"], "leave out --set friction"),
                 ([task, "--engine", "nativ"], "native"),
                 ([self.write("x/task.json", "{\n\"experiment\": 3,\n}")], "x/task.json:3"),
                 (["nothing.json"], "nothing.json"),
                 (["a"], "a: this is the folder of an evolution, not a task\n  fix: go on with it by: volvox evolve TASK --out a --resume"),
                 (["x"], "give its task: x/task.json")]
        for arguments, words in cases:
            self.assertIn(words, self.run_program("evolve", *arguments, "--generations", "1", status=2).stderr, arguments)
        self.write("a/evolution.json", good[:len(good) // 2])
        self.assertIn("damaged", self.run_program("evolve", task, "--out", "a", "--resume", status=2).stderr)
        self.assertEqual(self.read("a", "evolution.json"), good[:len(good) // 2], "what is refused stays as it is")
        self.assertTrue(json.loads(self.read("a", "best.json")))

    def test_changed_files_are_named(self):
        world = os.path.join(os.path.dirname(self.program), "../../../experiments/evolution/organism/world.sdf")
        self.write("w.sdf", pathlib.Path(world).read_text())
        task = self.write("task.json", json.dumps({**TASK, "experiment": "w.sdf"}))
        self.evolve(task, "--out", "a", "--generations", 1)
        state = self.read("a", "evolution.json")
        self.write("w.sdf", self.read("w.sdf") + "<!-- other -->")
        done = self.run_program("evolve", task, "--out", "a", "--resume", "--generations", 2, status=2)
        self.assertIn("w.sdf has changed", done.stderr)
        self.assertEqual(self.read("a", "evolution.json"), state)

    def test_minds_of_every_kind(self):
        minds = {
            "neural": {"behavior": "neural", "fixed": {"inputs": "pitch.angle yaw.angle", "outputs": "pitch yaw", "hidden": 3},
                       "shared": {"weights": {"from": -2, "to": 2, "count": 23}}},
            "roles": {"behavior": "role_table", "fixed": {"parent": "back"}, "shared": {"root.pitch.amplitude": [0, 1], "front.pitch.amplitude": [0, 1], "front.delay": [0, 1]}},
            "oscillators": TASK["mind"],
            "any": {"behavior": "snake", "shared": {"amplitude": [0, 1], "wavelength": [2, 8]}},
        }
        for name, mind in minds.items():
            task = self.task(mind=mind)
            found = self.evolve(task, "--generations", 2, "--threads", 2, "--out", name)
            self.assertGreater(found["best_fitness"], 0, name)
            self.assertEqual((found["unfit"], found["failures"]), (0, {}), name)
            self.assertEqual(found["state_hash"], self.evolve(task, "--generations", 2, "--jobs", 2, "--out", name + "2")["state_hash"], name)
            best = f"{name}/best.json"
            whole = self.run_json(best)["state_hash"]
            self.run_program("run", best, "--duration", "0.25", "--save", "half.snap", "--quiet")
            for how, arguments, environment in [("restored", ["--restore", "half.snap"], {}), ("threads", ["--threads", 2], {}), ("isa", [], {"VOLVOX_ISA": "sse2"})]:
                self.assertEqual(self.run_json(best, *arguments, **environment)["state_hash"], whole, (name, how))
        minds["neural"]["shared"]["weights"]["count"] = 22
        self.assertIn("needs 23 weights", self.run_program("evolve", self.task(mind=minds["neural"]), status=2).stderr)

    def test_islands(self):
        def task(every, **changes):
            return self.task(algorithm={"name": "ga", "population": 9, "generations": 4, "islands": {"count": 3, "every": every, "migrants": 1}, **changes})
        first = self.evolve(task(2), "--threads", 1, "--out", "a")
        for name, arguments in [("b", ["--threads", 2]), ("c", ["--jobs", 2, "--threads", 1])]:
            found = self.evolve(task(2), *arguments, "--out", name)
            self.assertEqual((found["state_hash"], found["best_fitness"]), (first["state_hash"], first["best_fitness"]), name)
        self.evolve(task(2), "--out", "d", "--generations", 3)
        self.assertEqual(self.evolve(task(2), "--out", "d", "--resume", "--generations", 4)["state_hash"], first["state_hash"])
        # After the second generation the best of each island lives on the next one, too; without migration it does not.
        def numbers(folder):
            state = json.loads(self.read(folder, "evolution.json"))["content"]["state"]["islands"]
            return [{one["number"] for one in island["parents"]} for island in state]
        self.evolve(task(2), "--out", "e", "--generations", 2)
        self.evolve(task(100), "--out", "f", "--generations", 2)
        self.assertTrue(any(a & b for a, b in zip(numbers("e"), numbers("e")[1:] + numbers("e")[:1])))
        self.assertFalse(any(a & b for a, b in zip(numbers("f"), numbers("f")[1:] + numbers("f")[:1])))
        given = {"body": {"robot": "superbot", "given": [[], [0, "front", "back", 0]]}}
        for words, changes in [("cmaes has no islands", {"name": "cmaes"}), ("5 islands for a population of 9", {"islands": {"count": 5}}), ("'evry'", {"islands": {"evry": 2}})]:
            bad = self.task(**given, algorithm={"name": "ga", "population": 9, "islands": {"count": 3}, **changes})
            self.assertIn(words, self.run_program("evolve", bad, "--out", "g", status=2).stderr)

    def test_a_new_task_runs(self):
        self.run_program("new", "task", "my_task")
        found = self.evolve("my_task/task.json", "--generations", 1, "--population", 4, "--out", "a")
        self.assertEqual(found["trials"], 8)
        self.run_program("run", "a/best.json", "--duration", "0.2", "--quiet")

    def test_what_would_change_nothing_is_refused(self):
        # The Scouts of the experiment are replaced by those of the genome: how many they were says nothing.
        for setting in ["modules=3", "bend=0.2", "speed=0.1"]:
            done = self.run_program("run", "evolution/pit", "--duration", "0.1", "--set", setting, status=2)
            self.assertIn(f"{setting} would change nothing: the organism has a body and a mind of its own", done.stderr)
        self.run_program("run", "evolution/pit", "--duration", "0.1", "--set", "pit=0.5", "--set", "modules=8", "--quiet")
        self.assertIn("would change nothing", self.run_program("sweep", "evolution/pit", "--vary", "speed=0.1,0.2", "--out", "s", status=2).stderr)
        self.assertIn("would change nothing", self.run_program("evolve", "evolution/pit", "--set", "modules=3", "--out", "e", status=2).stderr)
        self.write("w.sdf", pathlib.Path(WORLD).read_text().replace("0 0 0.0425 0 0 0", "${x} 0 0.0425 0 0 0").replace(
            "<volvox:run", '<volvox:parameter name="x" value="0"/><volvox:run'))
        task = self.write("task.json", json.dumps({**TASK, "experiment": "w.sdf"}))
        self.assertIn("x=1 would change nothing", self.run_program("evolve", task, "--set", "x=1", "--out", "f", status=2).stderr)
        self.run_program("run", "w.sdf", "--set", "x=1", "--duration", "0.1", "--quiet")

    def test_a_genome_moves_with_its_world(self):
        self.write("a/w.sdf", pathlib.Path(WORLD).read_text())
        task = self.write("a/task.json", json.dumps({**TASK, "experiment": "w.sdf"}))
        self.run_program("evolve", task, "--out", "a/bred", "--generations", 1, "--gallery", 1, "--quiet")
        self.assertEqual(json.loads(self.read("a", "bred", "best.json"))["experiment"], "../w.sdf")
        here = self.run_json("a/bred/best.json")["state_hash"]
        os.rename(os.path.join(self.folder, "a"), os.path.join(self.folder, "b"))
        for genome in ["b/bred/best.json", "b/bred/gallery/01.json"]:
            self.assertEqual(self.run_json(genome)["state_hash"], here)

    def test_bench(self):
        found = json.loads(self.run_program("bench", "evolve", "--trials", 2, "--threads", "1,2", "--repeats", 1, "--json").stdout)
        self.assertEqual((found["modules"], found["trial_s"]), (8, 10))
        self.assertEqual(len({row["hash"] for row in found["results"]}), 1)
        for row in found["results"]:
            self.assertGreater(row["trials_per_s"], 0)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    Evolve.robots_library = os.path.abspath(sys.argv.pop(1))
    unittest.main()
