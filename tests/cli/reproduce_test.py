"""volvox reproduce: what the papers claim is run, judged, written down, and continued after a stop."""
import csv
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest

ROOT = pathlib.Path(__file__).parent.parent.parent
FIELDS = {"paper", "place", "claim", "paper_value", "value", "low", "high", "seeds", "unit", "verdict", "why", "command"}


class Reproduce(CommandTest):
    def reproduce(self, *arguments, status=0):
        return json.loads(self.run_program("reproduce", *arguments, "--json", status=status).stdout)

    def path(self, *parts):
        return pathlib.Path(self.folder, *parts)

    def test_a_sample_of_the_papers(self):
        found = self.reproduce("roles/arm", "002/figure 7", "figure 9", "--seeds", 2, "--out", "r")
        rows = {(row["paper"], row["place"], row["claim"]): row for row in found["claims"]}
        for row in rows.values():
            self.assertEqual(set(row), FIELDS)
        arm = next(row for row in rows.values() if row["place"] == "section 2.2")
        self.assertEqual((arm["verdict"], arm["value"], arm["seeds"]), ("agrees", 5, 2))
        self.assertEqual(arm["command"], "volvox run roles/arm --seed 1001")
        crossed = [row for row in rows.values() if row["place"] == "figure 7" and row["paper"] == "002"]
        self.assertEqual([(row["value"], row["verdict"], row["seeds"]) for row in crossed], [(1, "agrees", 1), (0, "agrees", 1), (1, "agrees", 2), (0, "agrees", 2)])
        walkers = next(row for row in rows.values() if row["place"] == "figure 9")
        self.assertEqual((walkers["verdict"], walkers["value"], walkers["seeds"]), ("agrees", 1, 2))
        page = self.path("r", "index.html").read_text()
        self.assertIn("modules find by induction", page)
        self.assertNotIn("http", page.replace("http-equiv", ""))  # it stands alone
        table = list(csv.DictReader(self.path("r", "claims.csv").read_text().splitlines()))
        self.assertEqual(len(table), len(rows))

    def test_what_is_done_is_not_run_again_and_what_is_missing_is(self):
        arguments = ["roles/arm", "--seeds", 2, "--out", "r"]
        first = self.reproduce(*arguments)
        runs = sorted(self.path("r", "runs").iterdir())
        self.assertEqual(len(runs), 2)
        before = (runs[0] / "summary.json").stat().st_mtime_ns
        os.remove(runs[1] / "summary.json")
        self.assertEqual(self.reproduce(*arguments), first)
        self.assertEqual((runs[0] / "summary.json").stat().st_mtime_ns, before)
        other = self.run_program("reproduce", "roles/arm", "--seeds", 3, "--out", "r", status=2)
        self.assertIn("holds another sweep: its seeds is 2", other.stderr)

    def test_a_list_runs_nothing(self):
        done = self.run_program("reproduce", "004", "--list")
        self.assertIn("004/section 2.2: modules find by induction", done.stdout)
        self.assertIn("    parts_found: at least 5\n    volvox run roles/arm --seed 1001\n", done.stdout)
        self.assertIn("50,000 at 15: 0.25 of real time\n    real_time_factor:", self.run_program("reproduce", "000", "--list").stdout)
        self.assertFalse(self.path("runs").exists())
        rows = self.reproduce("004", "--list")["claims"]
        self.assertEqual({(row["value"], row["verdict"]) for row in rows}, {(None, None)})
        self.assertIn("004  section 2.2  modules find", self.run_program("info", "roles/arm").stdout)

    def test_pictures_are_drawn_once_and_shown(self):
        claim = {"place": "figure 1", "claim": "it crawls", "experiment": "remod3d/snake", "metric": "distance_m", "set": {"modules": 3},
                 "duration": 1, "at_least": 0, "picture": {"at": 0.5, "strobe": 2, "camera": "left"}}
        arguments = ["reproduce", "mine", "--seeds", 1, "--json", "--out", "r"]
        environment = self.with_claims(claim, {**claim, "claim": "and stays whole", "metric": "organisms"})
        self.run_program(*arguments, **environment)
        pictures = list(self.path("r", "pictures").glob("*.jpg"))
        page = self.path("r", "index.html").read_text()
        if not pictures:  # a machine that draws none says so
            self.skipTest("no pictures can be drawn here")
        self.assertEqual((len(pictures), page.count("data:image/jpeg")), (1, 1))
        before = pictures[0].stat().st_mtime_ns
        self.run_program(*arguments, **environment)
        self.assertEqual(pictures[0].stat().st_mtime_ns, before)
        # One that cannot be drawn costs the page nothing else.
        environment = self.with_claims({**claim, "picture": {"at": 99}})
        late = self.run_program("reproduce", "mine", "--seeds", 1, "--out", "late", **environment)
        self.assertIn("there is no picture of mine figure 1", late.stderr)
        self.assertIn("it crawls", self.path("late", "index.html").read_text())
        environment = self.with_claims({**claim, "picture": {"camera": "left"}})
        bad = self.run_program("reproduce", "mine", status=2, **environment)
        self.assertIn("picture is an object such as", bad.stderr)

    def test_figures_are_not_listed(self):
        done = self.run_program("reproduce", "--figures", "--list", status=2)
        self.assertIn("--list lists claims, not figures\n  fix: leave out --figures", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_the_number_of_a_figure_means_all_its_letters(self):
        def places(*what):
            done = self.run_program("reproduce", *what, "--list", "--json")
            return {(claim["paper"], claim["place"]) for claim in json.loads(done.stdout)["claims"]}

        letters = {("000", f"figure 1{letter}") for letter in "abcdefgh"}
        self.assertEqual(places("figure 1"), letters | {("000", "figure 1")})
        self.assertEqual(places("000/figure 1c"), {("000", "figure 1c")})
        self.assertEqual(places("Figure 4"), places("003/figure 4") | places("002/figure 4"))
        self.assertEqual(places("section V"), {("000", "section V")})  # not V.A of 001

    def test_an_unknown_place_lists_what_there_is(self):
        done = self.run_program("reproduce", "figure 99", status=2)
        self.assertIn("did you mean", self.run_program("reproduce", "roles/amr", status=2).stderr)
        self.assertIn("no paper claims anything at 'figure 99'", done.stderr)
        self.assertIn("004/figure 6", done.stderr)

    def with_claims(self, *claims):
        self.path("own", "experiments", "mine").mkdir(parents=True, exist_ok=True)
        self.path("own", "experiments", "mine", "claims.json").write_text(
            json.dumps({"paper": "mine", "title": "My paper", "claims": claims}))
        return {"VOLVOX_RESOURCE_PATH": str(self.path("own"))}

    def test_claims_of_ones_own_with_a_ratio_and_one_that_cannot_be_measured(self):
        claim = {"place": "figure 1", "claim": "a longer snake is as fast", "experiment": "remod3d/snake", "metric": "distance_m",
                 "set": {"modules": 8}, "than": {"modules": 6}, "duration": 2, "paper_value": 1, "tolerance": 0.9}
        environment = self.with_claims(claim, {**claim, "claim": "it is made of cheese", "metric": "cheese_kg"})
        done = self.run_program("reproduce", "mine", "--seeds", 1, "--json", status=1, **environment)
        good, bad = json.loads(done.stdout)["claims"]
        self.assertEqual(good["verdict"], "agrees")
        self.assertIn("--set modules=8 --duration 2 --seed 1001; volvox run remod3d/snake --set modules=6", good["command"])
        self.assertEqual(bad["verdict"], "failed")
        self.assertIn("1 of 1 runs failed or measured no cheese_kg", bad["why"])

    def test_figures_are_drawn_kept_and_found_stale(self):
        figure = {"name": "speed", "title": "Speed", "x": "modules", "y": "m", "seeds": 2, "rows": {"key": "modules", "values": [3, 4]},
                  "columns": [{"label": "snake", "experiment": "remod3d/snake", "metric": "distance_m", "duration": 0.5},
                              {"label": "the paper", "values": [0.1, 0.2]}]}

        def define(**changes):
            environment = self.with_claims()
            file = self.path("own", "experiments", "mine", "claims.json")
            file.write_text(json.dumps({**json.loads(file.read_text()), "figures": [{**figure, **changes}]}))
            return environment

        environment = define()
        self.assertIn("mine/speed was never drawn", self.run_program("reproduce", "--check", "mine", status=1, **environment).stderr)
        self.run_program("reproduce", "--figures", "mine/speed", "--store", "--out", "f", "--jobs", 1, **environment)
        results = self.path("own", "experiments", "mine", "results")
        self.assertEqual(sorted(p.name for p in results.iterdir()), ["figures.json", "speed.csv", "speed.md", "speed.svg"])
        self.assertEqual(results.joinpath("speed.csv").read_text(), self.path("f", "mine", "speed.csv").read_text())
        self.run_program("reproduce", "--check", "mine", **environment)
        again = self.run_program("reproduce", "--figures", "mine/speed", "--out", "f", **environment)  # nothing is run twice
        self.assertIn("0 of 4 runs to do", again.stderr + again.stdout)
        results.joinpath("speed.md").write_text("by hand")
        results.joinpath("old.svg").write_text("from long ago")
        stale = self.run_program("reproduce", "--check", "mine", status=1, **environment).stderr
        self.assertIn("speed.md was not written by volvox reproduce", stale)
        self.assertIn("old.svg: no figure of claims.json has this file", stale)
        environment = define(seeds=3)
        self.assertIn("its definition in claims.json has changed",
                      self.run_program("reproduce", "--check", "mine", status=1, **environment).stderr)
        self.assertIn("there is no figure 'mine/sped'", self.run_program("reproduce", "--figures", "mine/sped", status=2, **environment).stderr)
        self.assertIn("there is no kind 'pie'", self.run_program("reproduce", "--figures", "mine", status=2, **define(kind="pie")).stderr)

    def test_a_failed_run_draws_and_stores_nothing(self):
        def define(what):
            environment = self.with_claims()
            file = self.path("own", "experiments", "mine", "claims.json")
            file.write_text(json.dumps({**json.loads(file.read_text()), "figures": [what]}))
            return environment

        column = {"label": "snake", "experiment": "remod3d/snake", "metric": "distance_m", "duration": 0.1}
        figure = {"name": "speed", "title": "Speed", "kind": "table", "seeds": 2, "rows": {"key": "modules", "values": [3, 4]}, "columns": [column]}
        arguments = ["reproduce", "--figures", "mine", "--store", "--jobs", 1, "--out"]
        self.run_program(*arguments, "one", "--seeds", 1, **define(figure))
        results = self.path("own", "experiments", "mine", "results")
        self.assertIn("of up to 1 seeds", results.joinpath("speed.md").read_text())  # those that were used
        self.run_program(*arguments, "good", **define(figure))
        self.assertIn("of up to 2 seeds", results.joinpath("speed.md").read_text())
        before = {file.name: file.read_bytes() for file in results.iterdir()}
        self.path("bad").mkdir()
        self.path("bad", "runs").write_text("in the way of a folder")
        bad = self.run_program(*arguments, "bad", status=1, **define(figure)).stderr
        self.assertIn("0003_mine_speed_seed=1001: ", bad)
        self.assertIn("4 of 4 runs failed, so no figure is drawn", bad)
        self.assertFalse(self.path("bad", "mine").exists())
        self.assertEqual({file.name: file.read_bytes() for file in results.iterdir()}, before)
        # Nor does a file that a good run has not written.
        copies = {"name": "speed", "title": "Speed", "kind": "copies", "seeds": 1, "columns": [column], "copies": {"none.csv": "speed.csv"}}
        lacking = self.run_program(*arguments, "lacking", status=1, **define(copies)).stderr
        self.assertIn("none.csv: there is no such file", lacking)
        self.assertEqual({file.name: file.read_bytes() for file in results.iterdir()}, before)

    def test_bad_claims_are_refused(self):
        environment = self.with_claims({"place": "figure 1", "claim": "it flies", "experiment": "remod3d/snke", "metric": "m", "at_least": 1})
        done = self.run_program("reproduce", "mine", status=2, **environment)
        self.assertIn("remod3d/snke", done.stderr)
        environment = self.with_claims({"place": "figure 1", "claim": "it flies"})
        done = self.run_program("reproduce", "mine", status=2, **environment)
        self.assertIn("claims.json: claim 1 (figure 1)", done.stderr)

    def test_every_claim_of_ours_names_an_experiment(self):
        files = sorted((ROOT / "experiments").glob("*/claims.json"))
        self.assertGreaterEqual(len(files), 6)
        known = set(self.run_program("list", "experiments", "--names").stdout.split())
        for file in files:
            for claim in json.loads(file.read_text())["claims"]:
                if "missing" not in claim:
                    self.assertIn(claim["experiment"], known, file)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
