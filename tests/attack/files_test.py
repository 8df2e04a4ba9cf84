"""Files of outsiders that are wrong, huge, cyclic or mean: lattice worlds, lists of cells, programs in Meld, genomes and
tasks of evolution (the letters of ranks: crew_test.cpp). Each command ends soon, says what is wrong in a few lines, and neither crashes nor fills the memory."""
import copy
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import WORLD_BEGIN, CommandTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMORY = 3 << 30  # bytes that a command may take


class FilesTest(CommandTest):
    def attack(self, *arguments, statuses=(2,), **environment):
        """A command that must end by itself; a process that a signal ends has a negative status."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              preexec_fn=limit, env={**os.environ, **environment})
        said = done.stderr.decode(errors="replace")
        self.assertIn(done.returncode, statuses, f"{arguments}\n{said[:2000]}")
        if done.returncode != 0:
            self.assertTrue(said.startswith("volvox: "), (arguments, said[:500]))
            self.assertIn("\n  fix: ", said, arguments)
            self.assertLess(len(said), 6000, arguments)
            self.assertNotRegex(said, r"json\.exception|std::|bad_alloc|what\(\)|terminate", arguments)
        self.assertFalse(re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said), f"{arguments}: control characters in {said[:500]!r}")
        return said

    def attack_runs(self, ending, texts, *options, **more):
        for name, text in texts.items():
            file = self.write(f"{name}{ending}", text)
            with self.subTest(name):
                self.attack("run", file, *options, "--duration", "0.2", "--quiet", **more)


class Cells(FilesTest):
    def test_populations_of_cells(self):
        bad = {"cells": ["-4x4", "100000x100000x100000", "40000x40000", "0x4", "2x2x2x2", "nanxnan", "4294967297x4294967297", ".", "/dev/zero", "none.csv"],
               "pitch": ["0", "nan", "1e308", "-1"], "lattice": ["hexx"], "program": ["floodd", "/tmp", "/dev/zero"], "motion": ["fly"], "connected": ["perhaps"],
               "motion_ticks": ["0", "-3", "99999999999"], "capacity": ["-1", "nan", "1e30"], "radio_range": ["-1", "nan"], "pose": ["nan 0 0 0 0 0"], "colour": ["red"]}
        for key, values in bad.items():
            for value in values:
                given = {"name": "c", "type": "cells", "cells": "4x4", key: value}
                file = self.write("w.sdf", WORLD_BEGIN + "<volvox:population " + " ".join(f'{k}="{v}"' for k, v in given.items()) + "/></world></sdf>")
                with self.subTest(key=key, value=value):
                    self.assertIn("w.sdf:4", self.attack("run", file, "--duration", "0.2", "--quiet"))

    def test_lists_and_shapes(self):
        lists = {"twice.csv": "0,0,0\n0,0,0\n", "far.csv": "1000001,0\n", "words.csv": "a,b,c\n", "parts.csv": "0.5,1\n", "four.csv": "1,2,3,4\n", "empty.csv": "",
                 "heading.csv": "x,y,z\n", "over.csv": "99999999999999999999,0\n", "nul.csv": b"0,0\0\n1,1\n", "bytes.csv": b"\xff\xfe0,0\n",
                 "long.csv": "0,0 " + "9" * 1000000 + "\n", "escape.csv": "\x1b[2J,0\n", "head.png": b"\x89PNG\r\n\x1a\n" + bytes(30),
                 "open.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "endless.obj": "v 0 0 0\nv inf 0 0\nv 0 nan 0\nv 0 0 1e300\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
                 "huge.obj": "v 0 0 0\nv 1e6 0 0\nv 0 1e6 0\nv 0 0 1e6\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"}
        for name, text in lists.items():
            self.write(name, text)
        os.mkfifo(os.path.join(self.folder, "pipe.csv"))
        for name in [*lists, "pipe.csv"]:
            with self.subTest(name):
                self.assertIn(name, self.attack("run", "dprsim/flood", "--cells", name, "--duration", "0.2", "--quiet"))


class Programs(FilesTest):
    TYPES = "type route neighbor(node, node, int).\ntype a(node, int).\ntype linear l(node, int).\n"
    ON = ["--lattice", "cubic", "--cells", "3x3x3"]

    def test_what_is_no_program(self):
        t = self.TYPES
        doubling = "".join(f"fun f{i}(int N): int = f{i - 1}(N) + f{i - 1}(N).\n" for i in range(1, 40))
        self.attack_runs(".meld", {
            "empty": "", "passwd": "include #../../../../etc/passwd\n", "device": "include #/dev/zero\n", "deep": t + "a(A, " + "(" * 100000 + "1" + ")" * 100000 + ").\n",
            "ifs": t + "a(A, " + "if 1=1 then " * 5000 + "1" + " else 0 end" * 5000 + ").\n", "itself": "fun f(int N): int = f(N).\n" + t + "a(A, f(1)).\n",
            "each_other": "fun f(int N): int = g(N) + g(N).\nfun g(int N): int = f(N) + f(N).\n" + t + "a(A, f(1)).\n",
            "doubles": "fun f0(int N): int = N.\n" + doubling + t + "a(A, f39(1)).\n", "constants": "const c = d.\nconst d = c.\n" + t + "a(A, c).\n",
            "comment": "/* never closed\n" + t, "quote": t + 'a(A, "x).\n', "nul": (t + "a(A,\0 1).\n").encode(), "bytes": t.encode() + b"a(A, \xff).\n", "escape": "\x1b[2Jtype x(node).\n",
            "types": "".join(f"type t{i}(node, int).\n" for i in range(100000)), "fields": "type t(node" + ", int" * 100000 + ").\n", "later": t + "a(A, 0)@+99999999999999s.\n",
            "nobody": t + "a(@99999999999, 0).\n", "aggregates": "type b(node, min int, max int).\nb(A, 1, 2).\n", "unknown": t + "bb(A).\n", "large": t + "a(A, 99999999999999999999).\n"}, *self.ON)

    def test_what_does_not_stop(self):
        t = self.TYPES
        join = ", ".join(f"!a(A, X{i})" for i in range(30))
        self.attack_runs(".meld", {
            "grows": t + "a(A, 0).\n!a(A, N) -o !a(A, N + 1).\n", "doubles": t + "l(A, 0).\nl(A, N) -o l(A, N + 1), l(A, N + 2).\n", "turns": t + "l(A, 0).\nl(A, N) -o l(A, N).\n",
            "divides": t + "a(A, 1/0).\n", "rest": t + "a(A, 0).\n!a(A, N) -o !a(A, 5 % N).\n", "joins": t + "a(A, 0).\na(A, 1).\n" + join + " -o !a(A, 2).\n",
            "for_all": t + "a(A, 1).\n!a(A, N) -o {X | !a(A, X) | {Y | !a(A, Y) | !a(A, Y + X)}}.\n"}, *self.ON, statuses=(1, 2))

    def test_what_has_odd_values(self):
        t = self.TYPES
        self.attack_runs(".meld", {"includes_itself": "include #includes_itself.meld\n" + t + "a(A, 0).\n", "least": t + "a(A, (0-2147483647-1) / (0-1)).\n", "power": t + "a(A, intpower(2, 2000000000)).\n",
                                   "no_chance": t + "a(A, randint(0)).\n", "root": "type b(node, float).\nb(A, sqrt(0.0-1.0)).\n", "not_there": t + "a(@77, 0).\n"}, *self.ON, statuses=(0, 2))


def changed(document, path, value):
    """A copy with one value replaced; parts of the path are keys or numbers."""
    result = copy.deepcopy(document)
    inner = result
    for key in path[:-1]:
        inner = inner[key] if isinstance(inner, list) else inner.setdefault(key, {})
    inner[path[-1]] = value
    return result


class Evolution(FilesTest):
    def test_genomes(self):
        good = json.loads((ROOT / "tests/fuzz/corpus/genome/pit_genome.json").read_text())
        first = ["body", "modules", 1]
        cases = [(["volvox"], "genome 99"), (["volvox"], 1), (["experiment"], "nothing"), (["experiment"], "6.json"), (["experiment"], "../../../../etc/passwd"), (["experiment"], 7),
                 (["experiment"], "\x1b[2Jx"), (["duration"], -1), (["duration"], 1e300), (["duration"], "long"), (["dt"], "0"), (["dt"], "1e-30"), (["engine"], "nativ"), (["colour"], 1),
                 (["body", "robot"], "nobody"), (["body", "robot"], "/etc/passwd"), (["body", "modules"], []), (["body", "modules"], {}), ([*first, "on"], "m1.front"), ([*first, "on"], "m5.front"),
                 ([*first, "on"], "m0.nothing"), ([*first, "on"], "m0"), ([*first, "turn"], 99), ([*first, "turn"], -1), ([*first, "turn"], 1.5), ([*first, "module"], "m0"),
                 (["body", "start"], {"x": 1e308}), (["body", "start"], "here"), (["body", "loops"], "yes"), (["mind", "behavior"], "nobody"), (["mind", "parameters"], {"speed": "nan"}),
                 (["mind", "parameters"], {"speed": {"a": 1}}), (["mind", "each"], "all"), (["settings"], {"pit": "deep"}), (["settings"], [1, 2]), (["trials"], [{"friction": -1}]),
                 (["trials"], [{"friction": 1e300}]), (["trials"], {"a": 1}), (["body", "modules"], [{"module": f"m{i}"} for i in range(20000)])]
        for number, (path, value) in enumerate(cases):
            with self.subTest(path=path, value=str(value)[:80]):
                self.attack("run", self.write(f"{number}.json", json.dumps(changed(good, path, value))), "--duration", "0.1", "--quiet")
        head = b'{"volvox": "genome 1", '
        self.attack_runs(".json", {"nothing": "", "nul": head + b'"a"\0}', "bytes": head + b'"experiment": "\xff\xfe"}', "deep": "[" * 200000 + "]" * 200000,
                                   "deep_body": head + b'"body": ' + b"[" * 100000 + b"]" * 100000 + b"}", "twice": head + b'"volvox": "genome 1"}',
                                   "number": head + b'"duration": ' + b"9" * 100000 + b"}", "half": json.dumps(good)[:700], "list": "[]", "null": "null", "text": '"genome 1"'})

    def test_tasks(self):
        good = {"experiment": "evolution/organism", "fitness": [{"metric": "moved_m", "better": "more"}], "trial": {"duration": 0.2}, "body": {"robot": "superbot", "modules": [1, 4]},
                "mind": {"behavior": "oscillators", "shared": {"frequency": [0.3, 1.2]}}, "algorithm": {"name": "ga", "population": 4, "generations": 1}}
        islands = ["algorithm", "islands"]
        cases = [(["algorithm", "population"], 0), (["algorithm", "population"], 1e12), (["algorithm", "generations"], 1e30), (["algorithm", "name"], "gaa"), (["algorithm", "rate"], 2),
                 (["algorithm", "crossover"], -1), (["algorithm", "step"], -1), (islands, {"count": 99}), (islands, {"count": 2, "every": 0}), (islands, {"count": 2, "migrants": 2}), (islands, [1]),
                 (["fitness"], []), (["fitness"], [{"metric": "nothing"}]), (["fitness"], "x"), (["bar"], "high"), (["trial", "duration"], 1e300), (["trial", "count"], 1e9),
                 (["trial", "friction"], [2, 1]), (["trial", "noise"], [1e308]), (["trial", "stop"], {"after": -1}), (["body", "modules"], [3, 2]), (["body", "modules"], [1, 1000000000]),
                 (["body", "docks"], ["nothing"]), (["body", "given"], [[0, "front", "back", 0]]), (["body", "given"], [[]] * 100000), (["body", "given"], [[], [7, "front", "back", 0]]),
                 (["mind", "shared"], {"frequency": [2, 1]}), (["mind", "shared"], {"frequency": {"choices": []}}), (["mind", "shared"], {"frequency": {"count": 1000000000}}),
                 (["mind", "shared"], {"nothing": [0, 1]}), (["evolve_settings"], {"nothing": [0, 1]}), (["map"], {"x": 1}), (["experiment"], "../../../etc/passwd"), (["experiment"], "\x1b[2J"),
                 (["settings"], {"friction": [1]}), (["cut"], 1)]
        for number, (path, value) in enumerate(cases):
            with self.subTest(path=path, value=str(value)[:80]):
                self.attack("evolve", self.write(f"{number}/task.json", json.dumps(changed(good, path, value))), "--generations", "1", "--gallery", "0", "--quiet")


class Machines(FilesTest):
    def test_jaws_flush_faces_tyres_and_pulses(self):
        """Each number of these elements, replaced by what cannot be."""
        good = (ROOT / "tests/fuzz/corpus/sdf/machines.sdf").read_text()
        self.attack("run", self.write("good.sdf", good), "--duration", "0.1", "--quiet", statuses=(0,))
        odd = ["nan", "-inf", "-1", "1e9999", "", "1 2", "0x10"]
        tried = 0
        for element in re.finditer(r"<volvox:(?:flush|latch|actuator|radio) [^>]*>", good):
            for number in re.finditer(r'(\w+)="([-+.0-9e]+)"', element[0]):
                begin, end = element.start() + number.start(2), element.start() + number.end(2)
                # All of them for the first numbers of an element, then one each: the reader of numbers is the same.
                for value in odd if number[1] in ("friction", "pulse", "travel") else [odd[tried % len(odd)]]:
                    file = self.write("w.sdf", good[:begin] + value + good[end:])
                    with self.subTest(element=element[0][:20], number=number[1], value=value):
                        said = self.attack("run", file, "--duration", "0.1", "--quiet", statuses=(2,))
                        self.assertRegex(said, r"w\.sdf:\d+|" + number[1])
                    tried += 1
        self.assertGreater(tried, 40)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
