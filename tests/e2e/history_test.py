#!/usr/bin/env python3
"""`cobra-client history`: predictions with labels come back as a model over commits; the Grafana
dashboard's queries give the same on PostgreSQL."""
import json
import os
import re
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import programs

NET = """import torch.nn as nn
def net(width):
    return nn.Sequential(nn.Conv2d(3, width, 3), nn.ReLU(), nn.Conv2d(width, width, 3))
"""
COMMITS = {"a1": 16, "b2": 16, "c3 <&\"'": 64}


class HistoryTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.net = cls.path("net.py", NET)
        cls.fill(cls.server, cls.target)

    @classmethod
    def fill(cls, server, target):
        for commit, width in COMMITS.items():
            question = ("net.py", "--entry", f"net({width})", "--input", "1x3x32x32", "--target", target)
            labels = ("--label", f"commit={commit}", "--label", "branch=main", "--label", "model=net")
            answer = programs.predict(server, *question, *labels, cwd=cls.folder.name)
            assert answer.code == 0, answer.err
        assert programs.predict(server, *question, cwd=cls.folder.name).code == 0  # without labels
        other = programs.predict(server, *question, "--label", "commit=a1", "--label", "branch=x", cwd=cls.folder.name)
        assert other.code == 0, other.err

    def history(self, *arguments, server=None, wait_for=0):
        """Predictions are stored within about a second."""
        deadline = time.time() + 30
        while True:
            answer = programs.client(
                "history", *arguments, "--server", (server or self.server).address, "--format", "json"
            )
            self.assertEqual(answer.code, 0, answer.err)
            found = answer.json()
            if sum(len(series["points"]) for series in found["series"]) >= wait_for or time.time() > deadline:
                return found
            time.sleep(0.2)

    def test_a_model_over_commits(self):
        found = self.history("--label", "branch=main", wait_for=3)
        (series,) = found["series"]
        self.assertEqual((series["target"], series["model"]), (self.target, "net"))
        points = series["points"]
        self.assertEqual([point["commit"] for point in points], list(COMMITS))
        self.assertTrue(points[1]["same_network"])
        self.assertEqual(points[1]["change"], 0)
        self.assertFalse(points[2]["same_network"])
        self.assertGreater(points[2]["change"], 0.5)
        self.assertFalse(found["has_more"])
        table = programs.client("history", "--label", "branch=main", "--server", self.server.address)
        self.assertIn("net on " + self.target, table.out)
        self.assertRegex(table.out, r"(?m)^b2 .* =")
        self.assertRegex(table.out, r"(?m)^c3 .*\+\d+\.\d %")

    def test_without_a_model_label_the_model_names_itself(self):
        (series,) = self.history("--label", "branch=x", wait_for=1)["series"]
        self.assertEqual(series["model"], "net.py net(64) 1x3x32x32")

    def test_names_in_other_letters_come_back(self):
        self.path("modèle 中.py", NET)
        question = ("modèle 中.py", "--entry", "net(8)", "--input", "1x3x32x32", "--target", self.target)
        labels = ("--label", "team=équipe", "--label", "commit=a1")
        answer = programs.predict(self.server, *question, *labels, cwd=self.folder.name)
        self.assertEqual(answer.code, 0, answer.err)
        (series,) = self.history("--label", "team=équipe", wait_for=1)["series"]
        self.assertEqual(series["model"], "modèle 中.py net(8) 1x3x32x32")
        table = programs.client("history", "--label", "team=équipe", "--server", self.server.address)
        self.assertIn("modèle 中.py", table.out)
        self.assertEqual(self.history("--label", "team=equipe")["series"], [])

    def test_eight_labels_leave_no_room_for_the_model(self):
        labels = [part for name in "abcdefg" for part in ("--label", f"{name}=1")] + ["--label", "commit=eight"]
        question = ("net.py", "--entry", "net(8)", "--input", "1x3x32x32", "--target", self.target)
        answer = programs.predict(self.server, *question, *labels, cwd=self.folder.name)
        self.assertEqual(answer.code, 0, answer.err)
        (series,) = self.history("--label", "a=1", wait_for=1)["series"]
        self.assertEqual(series["model"], "")

    def test_filters(self):
        self.history(wait_for=4)
        self.assertEqual(self.history("--label", "branch=MAIN")["series"], [])
        self.assertEqual(self.history("--target", "nobody")["series"], [])
        self.assertEqual(self.history("--since", "2100-01-01")["series"], [])
        self.assertEqual(len(self.history("--since", "1h", "--by", "branch")["series"]), 2)
        self.assertTrue(self.history("--limit", "1")["has_more"])
        wrong = programs.client("history", "--since", "yesterday", "--server", self.server.address)
        self.assertEqual(wrong.code, 2)
        self.assertIn("--since yesterday", wrong.err)

    def test_the_picture_is_well_formed(self):
        self.history(wait_for=4)
        out = self.path("history.svg")
        answer = programs.client("history", "--server", self.server.address, "--format", "svg", "--out", out)
        self.assertEqual(answer.code, 0, answer.err)
        text = "".join(xml.etree.ElementTree.parse(out).getroot().itertext())
        self.assertIn("c3 <&\"'", text)

    def test_check_labels_each_model(self):
        suite = f'[defaults]\ntargets = ["{self.target}"]\ninputs = ["1x3x32x32"]\n'
        for name, width in (("small", 8), ("large", 32)):
            suite += f'[models.{name}]\nmodel = "net.py"\nentry = "net({width})"\n'
        self.path("suite/net.py", NET)
        path = self.path("suite/cobra.toml", suite)
        for commit in ("one", "two"):
            labels = ("--label", f"commit={commit}", "--label", "repo=suite")
            done = programs.client("check", path, *labels, "--server", self.server.address)
            self.assertEqual(done.code, 0, done.err)
        found = self.history("--label", "repo=suite", wait_for=4)
        models = sorted(series["model"] for series in found["series"])
        self.assertEqual(len(models), 2, found)
        self.assertIn("net(32)", models[0])
        self.assertIn("net(8)", models[1])

    def test_nothing_to_draw_is_an_error(self):
        out = self.path("kept.svg", "kept")
        nothing = ("history", "--label", "branch=none", "--server", self.server.address)
        self.assertEqual(programs.client(*nothing, "--format", "svg", "--out", out).code, 2)
        with open(out) as file:
            self.assertEqual(file.read(), "kept")
        self.assertIn("predict --label commit=...", programs.client(*nothing).out)

    def test_the_same_over_http(self):
        with programs.Server(self.path("http.sqlite"), "--http", "127.0.0.1:0") as server:
            self.fill(server, self.target)
            (series,) = self.history("--label", "branch=main", server=server, wait_for=3)["series"]
            base = f"http://{server.http_address}/v1/predictions?"
            query = urllib.parse.urlencode({"labels": "branch=main", "targets": self.target, "limit": 2})
            with urllib.request.urlopen(base + query) as reply:
                answer = json.load(reply)
            self.assertTrue(answer["has_more"])
            newest = answer["predictions"][0]
            self.assertEqual(newest["labels"]["commit"], list(COMMITS)[-1])
            self.assertEqual(newest["latency_us"], series["points"][-1]["latency_us"])
            with self.assertRaises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(base + urllib.parse.urlencode({"labels": "nonsense"}))
            self.assertEqual(error.exception.code, 400)
            self.assertIn("write NAME=VALUE", error.exception.read().decode())

    @unittest.skipUnless(programs.Postgres.installed(), "no PostgreSQL 15 here")
    def test_the_dashboard_asks_postgresql_the_same(self):
        with open(os.path.join(programs.SOURCE, "deploy", "grafana", "commits.json")) as file:
            dashboard = json.load(file)
        with programs.Postgres() as postgres:
            with programs.Server(postgres.url, files=self.path("postgres")) as server:
                self.fill(server, self.target)
                (series,) = self.history("--label", "branch=main", server=server, wait_for=3)["series"]
                self.history("--label", "branch=x", server=server, wait_for=1)  # the last one
                queries = [target["rawSql"] for panel in dashboard["panels"] for target in panel["targets"]]
                queries += [variable["query"] for variable in dashboard["templating"]["list"]]
                rows = [self.sql(postgres, query) for query in queries]
            self.assertEqual([len(found) for found in rows], [3, 3, 2, 1])
            measured = [float(row.split("|")[2]) for row in rows[0]]
            for ms, point in zip(measured, series["points"]):
                self.assertAlmostEqual(ms, point["latency_us"] / 1000, places=6)

    def sql(self, postgres, query):
        """What Grafana sends, its variables and macros replaced as it does."""
        query = query.replace("'$branch'", "'main'").replace("$target", f"'{self.target}'")
        query = re.sub(
            r"\$__timeFilter\((to_timestamp\([^()]*\))\)", r"\1 BETWEEN now() - interval '1 hour' AND now()", query
        )
        self.assertNotIn("$", query)
        return postgres.query(query).splitlines()


if __name__ == "__main__":
    unittest.main()
