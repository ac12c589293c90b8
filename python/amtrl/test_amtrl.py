"""Tests of amtrl.py, with the program that AMTRL_PROGRAM names."""

import csv
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import amtrl


def records(table):
    return table if isinstance(table, list) else table.to_dict("records")


class InFolder(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")


class Campaign(InFolder):
    """A study of three sources, two of which are like the target."""

    def setUp(self):
        super().setUp()
        rng = random.Random(1)
        self.labels, self.rows = {}, []
        for source in ("near", "far", "other", "target"):
            for i in range(60):
                label = rng.choice(["no", "yes"])
                row = {"id": f"{source}/{i}", "source": source, "label": label if source == "target" and i < 20 else None}
                side = (2 if label == "yes" else -2) * (-1 if source == "far" else 1)
                row["x"] = [side + rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)]
                self.labels[row["id"]] = label
                self.rows.append(row)
        with open(self.folder / "rows.jsonl", "w", encoding="utf-8") as file:
            for row in self.rows:
                file.write(json.dumps(row) + "\n")
        (self.folder / "data.yaml").write_text(
            "files: rows.jsonl\ncolumns: {id: id, source: source, features: x}\n"
            "labels: [{column: label, classes: ['no', 'yes']}]\ntarget: {source: target}\n", encoding="utf-8")
        self.study = amtrl.Study.create(self.folder / "S", self.folder / "data.yaml", round_budget=12, k=2, seed=3)

    def answer(self, table):
        for_pandas = amtrl.pandas is not None
        labels = [self.labels[row["id"]] for row in records(table)]
        return table.assign(label=labels) if for_pandas else [dict(row, label=y) for row, y in zip(table, labels)]

    def test_campaign(self):
        for number in (1, 2):
            asked = self.study.ask(request=f"round {number}", expires="72h")
            again = self.study.ask(request=f"round {number}")
            self.assertEqual(records(asked), records(again))
            self.assertEqual(sum(row["cost"] for row in records(asked)), 12)
            self.assertEqual([row["priority"] for row in records(asked)], list(range(1, 13)))
            told = self.study.tell(self.answer(asked))
            self.assertEqual((told["labels"], told["pending"]), (12, 0))
            self.assertEqual(self.study.tell(self.answer(asked))["known"], 12)
        self.study.fit()
        status = self.study.status()
        self.assertEqual((status["rounds"], status["spent"], status["pending"]), (2, 24, 0))
        shares = {row["source"]: row["share"] for row in records(self.study.relevance()) if row["round"] == 2}
        self.assertEqual(set(shares), {"near", "far", "other"})
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertIn("gain", self.study.plan(budget=20))
        predicted = records(self.study.predict([dict(id=row["id"], x=row["x"]) for row in self.rows if row["source"] == "target"]))
        right = sum(row["label"] == self.labels[row["id"]] for row in predicted)
        self.assertGreater(right, 0.8 * len(predicted))
        self.assertIsInstance(predicted[0]["score_yes"], float)
        self.assertEqual(self.study.verify(), {"events": 6, "asks": 2, "rounds": 2})
        self.study.export(self.folder / "out.csv")
        with open(self.folder / "out.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.assertEqual(row["label"], self.labels[row["id"]])
        with self.assertRaises(amtrl.Stop):
            self.study.ask(stop_below=0.99)

    def test_target_rows(self):
        before = self.study.status()["spent"]
        asked = records(self.study.ask(target_rows=3))
        self.assertEqual([row["source"] for row in asked], ["target"] * 3)
        self.study.tell([dict(id=row["id"], label=self.labels[row["id"]]) for row in asked])
        self.assertEqual(self.study.status()["spent"], before)

    def test_errors(self):
        asked = records(self.study.ask(budget=8))
        first = asked[0]["id"]
        self.study.tell([dict(id=first, label=self.labels[first]), dict(id=asked[1]["id"], label=float("nan"), status="skip")])
        other = {"no": "yes", "yes": "no"}[self.labels[first]]
        with self.assertRaisesRegex(amtrl.Contradiction, f"1 row has another answer already: {first}") as caught:
            self.study.tell([dict(id=first, label=other)])
        self.assertEqual(caught.exception.code, 4)
        self.assertEqual(self.study.tell([dict(id=first, label=other)], replace=True)["replaced"], 1)
        with self.assertRaisesRegex(amtrl.AmtrlError, '^the table: line 1, column label: expected one of the classes no, yes, found'):
            self.study.tell([dict(id=first, label="maybe")])
        with self.assertRaisesRegex(amtrl.AmtrlError, "is no study"):
            amtrl.Study(self.folder)
        with self.assertRaisesRegex(amtrl.AmtrlError, "AMTRL_PROGRAM"):
            amtrl.Study(self.folder / "S", program=str(self.folder / "nothing")).status()
        with self.assertRaisesRegex(amtrl.AmtrlError, "unknown flag --rounds"):
            amtrl.Study.create(self.folder / "T", self.folder / "data.yaml", rounds=3)


class Names(InFolder):
    """A study whose source has a Cyrillic name, and whose columns of labels have names like columns of predictions."""

    def setUp(self):
        super().setUp()
        rng = random.Random(2)
        with open(self.folder / "rows.jsonl", "w", encoding="utf-8") as file:
            for source in ("Казань", "target"):
                for i in range(40):
                    labels = {"score_a": rng.choice(["no", "yes"]), "number": rng.choice(["1", "2"])} if source == "target" else {}
                    x = [rng.gauss(0, 1), rng.gauss(0, 1)]
                    file.write(json.dumps({"id": f"{source}/{i}", "source": source, "x": x, **labels}) + "\n")
        (self.folder / "data.yaml").write_text(
            "files: rows.jsonl\ncolumns: {id: id, source: source, features: x}\n"
            "labels: [{column: score_a, classes: ['no', 'yes']}, {column: number, classes: ['1', '2']}]\ntarget: {source: target}\n",
            encoding="utf-8")
        self.study = amtrl.Study.create(self.folder / "S", self.folder / "data.yaml", round_budget=12, k=2)

    def test_predict(self):
        asked = records(self.study.ask())
        self.study.tell([dict(id=row["id"], score_a="yes", number="1") for row in asked])
        self.study.fit()
        row = records(self.study.predict([dict(id="7", x=[1, 2])]))[0]
        self.assertEqual(row["id"], "7")
        self.assertIn(row["score_a_label"], ("no", "yes"))
        self.assertIn(row["number_label"], ("1", "2"))
        self.assertIsInstance(row["score_a_score_yes"], float)

    def test_locale(self):
        code = "import amtrl; print(ascii([s['source'] for s in amtrl.Study('S').status()['sources']]))"
        env = dict(os.environ, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONPATH=os.pathsep.join(sys.path))
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=env, capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((done.stderr, done.stdout.strip()), ("", ascii(["Казань", "target"])))


class Vectors(InFolder):
    """A study whose features are in a file of their own."""

    def test_predict(self):
        rng = random.Random(3)
        sides = [rng.choice([-1, 1]) for _ in range(120)]
        x = [[2 * side + rng.gauss(0, 1), rng.gauss(0, 1)] for side in sides]
        npy(self.folder / "x.npy", x)
        with open(self.folder / "rows.csv", "w", encoding="utf-8") as file:
            file.write("id,source,label\n")
            for i, side in enumerate(sides):
                file.write(f"r{i},{['near', 'far', 'target'][i % 3]},{('no', 'yes')[side > 0] if i % 3 == 2 and i < 60 else ''}\n")
        (self.folder / "data.yaml").write_text(
            "files: rows.csv\ncolumns: {id: id, source: source, features: {file: x.npy, join: row}}\n"
            "labels: [{column: label, classes: ['no', 'yes']}]\ntarget: {source: target}\n", encoding="utf-8")
        study = amtrl.Study.create(self.folder / "S", self.folder / "data.yaml", round_budget=24, k=2)
        asked = records(study.ask())
        study.tell([dict(id=row["id"], label=("no", "yes")[sides[int(row["id"][1:])] > 0]) for row in asked])
        study.fit()
        predicted = records(study.predict([dict(id=f"r{i}") for i in range(120)], vectors=self.folder / "x.npy"))
        right = sum(row["label"] == ("no", "yes")[side > 0] for row, side in zip(predicted, sides))
        self.assertGreater(right, 0.8 * 120)


class Slips(InFolder):
    """A study of numbers, one of which loses its decimal point."""

    def test_tell(self):
        rng = random.Random(4)
        labels = {f"r{i}": 20 + rng.gauss(0, 1) for i in range(150)}
        with open(self.folder / "rows.csv", "w", encoding="utf-8") as file:
            file.write("id,source,y,x0,x1\n")
            for i in range(150):
                source = ("near", "far", "target")[i % 3]
                label = labels[f"r{i}"] if source == "target" else ""
                file.write(f"r{i},{source},{label},{rng.gauss(0, 1)},{rng.gauss(0, 1)}\n")
        (self.folder / "data.yaml").write_text(
            "files: rows.csv\ncolumns: {id: id, source: source, features: [x0, x1]}\n"
            "labels: [{column: y, type: number}]\ntarget: {source: target}\n", encoding="utf-8")
        study = amtrl.Study.create(self.folder / "S", self.folder / "data.yaml", round_budget=60, k=2)
        asked = records(study.ask())
        answers = [dict(id=row["id"], y=labels[row["id"]]) for row in asked]
        slip = answers[3]["id"]
        answers[3]["y"] *= 100
        with self.assertWarnsRegex(UserWarning, f"of row {slip} of "):
            told = study.tell(answers)
        self.assertEqual(len(told["far"]), 1)
        self.assertEqual(study.tell(answers[3:4], checked=True)["checked"], 1)
        self.assertNotIn("far", study.status())
        answers[3]["y"] = labels[slip]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertNotIn("far", study.tell(answers, replace=True))


def npy(path, rows):
    """Write rows of numbers as an NPY file of float64."""
    head = str({"descr": "<f8", "fortran_order": False, "shape": (len(rows), len(rows[0]))}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    numbers = [v for row in rows for v in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(numbers)}d", *numbers))


class WithoutPandas(Campaign):
    """The tests of Campaign without pandas."""

    def setUp(self):
        pandas, amtrl.pandas = amtrl.pandas, None
        self.addCleanup(setattr, amtrl, "pandas", pandas)
        super().setUp()


if __name__ == "__main__":
    unittest.main()
