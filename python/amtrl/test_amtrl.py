"""Tests of amtrl.py, with the program that AMTRL_PROGRAM names."""

import csv
import datetime
import decimal
import fractions
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
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

    def test_pending(self):
        asked = records(self.study.ask())
        answers = [dict(id=row["id"], label=self.labels[row["id"]]) for row in asked]
        self.study.tell(answers[:6])
        with self.assertWarnsRegex(UserWarning, "^6 rows of earlier asks are pending, so this ask is spread as the first: .* study fit "):
            self.study.ask()
        with self.assertWarnsRegex(UserWarning, "^--stop-below did not count: "):
            self.study.ask(stop_below=0.1)
        self.assertEqual(self.study.status()["rounds"], 0)
        self.study.tell(answers[6:])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.study.fit()
        self.assertEqual(self.study.status()["rounds"], 1)

    def test_few_pending(self):
        self.study.tell(self.answer(self.study.ask())[1:])
        with self.assertWarnsRegex(UserWarning, "^1 row of earlier asks is pending, so this ask goes by what was learned without "):
            self.study.ask()
        self.assertEqual(self.study.status()["rounds"], 1)

    def test_target_rows(self):
        before = self.study.status()["spent"]
        asked = records(self.study.ask(target_rows=3))
        self.assertEqual([row["source"] for row in asked], ["target"] * 3)
        self.study.tell([dict(id=row["id"], label=self.labels[row["id"]]) for row in asked])
        self.assertEqual(self.study.status()["spent"], before)

    def test_values(self):
        asked = [row["id"] for row in records(self.study.ask())]
        day, nothing = datetime.datetime(2024, 1, 2, 12, tzinfo=datetime.timezone.utc), object()
        others = dict(day=day, date=day.date(), price=decimal.Decimal("1.50"), key=uuid.uuid4(), image=b"\xff", gap=math.inf, note=nothing)
        answers = [dict(id=i, label=self.labels[i], **others) for i in asked[:6]]
        self.assertEqual(self.study.tell(answers)["labels"], 6)
        first = dict(id=asked[6], label=self.labels[asked[6]])
        self.assertEqual(self.study.tell(dict(first, day=day))["labels"], 1)
        self.assertEqual(self.study.tell(dict(id=asked[7:], label=[self.labels[i] for i in asked[7:]]))["labels"], len(asked) - 7)
        self.study.fit()
        rows = [dict(id=row["id"], x=row["x"], **others) for row in self.rows[:5]]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        self.assertEqual(records(self.study.predict(rows)), records(self.study.predict(columns)))
        self.assertEqual(records(self.study.predict(dict(rows[0], id=day)))[0]["id"], "2024-01-02T12:00:00Z")
        for answers, says in (
                (dict(first, label=nothing), '^the table: line 1: column label: expected a single value or .*, found {"type"'),
                ([first, dict(first, label=nothing)], '^the table: line 2: column label: expected a single value, found {"type"'),
                (dict(first, label=day.date()), "^the table: line 1, column label: expected one of the classes .*, found \"2024-01-02\"")):
            with self.assertRaisesRegex(amtrl.AmtrlError, says):
                self.study.tell(answers)
        for answers, found in ((dict(id=asked[:2], label=["no"]), "2 of id, 1 of label"), (list(first.items()), "tuple in list"),
                               (list(first), "str in list"), (3, "int"), (None, "NoneType")):
            with self.assertRaisesRegex(TypeError, f"^expected a data frame, a file, a dict for each row, .*, found {found}$"):
                self.study.tell(answers)

    def test_errors(self):
        asked = records(self.study.ask(budget=8))
        first = asked[0]["id"]
        self.study.tell([dict(id=first, label=self.labels[first]), dict(id=asked[1]["id"], label=float("nan"), status="skip")])
        other = {"no": "yes", "yes": "no"}[self.labels[first]]
        with self.assertRaisesRegex(amtrl.Contradiction, f"1 row has another answer already: {first}") as caught:
            self.study.tell([dict(id=first, label=other)])
        self.assertEqual(caught.exception.code, 4)
        os.environ["AMTRL_REPLACE"] = "true"  # of the command, whose default is not Python's
        try:
            with self.assertRaises(amtrl.Contradiction):
                self.study.tell([dict(id=first, label=other)])
        finally:
            del os.environ["AMTRL_REPLACE"]
        self.assertEqual(self.study.tell([dict(id=first, label=other)], replace=True)["replaced"], 1)
        with self.assertRaisesRegex(amtrl.AmtrlError, '^the table: line 1, column label: expected one of the classes no, yes, found'):
            self.study.tell([dict(id=first, label="maybe")])
        with self.assertRaisesRegex(amtrl.AmtrlError, "is no study"):
            amtrl.Study(self.folder)
        with self.assertRaisesRegex(amtrl.AmtrlError, "AMTRL_PROGRAM"):
            amtrl.Study(self.folder / "S", program=str(self.folder / "nothing")).status()
        with self.assertRaisesRegex(amtrl.AmtrlError, "unknown flag --rounds"):
            amtrl.Study.create(self.folder / "T", self.folder / "data.yaml", rounds=3)

    def test_nothing_to_tell(self):
        asked = self.study.ask()
        tables = [[], {}, (), {"id": [], "label": []}, iter(())]
        if amtrl.pandas is not None:
            tables += [asked.assign(label="no").iloc[:0], amtrl.pandas.DataFrame()]
        for answers in tables:
            told = self.study.tell(answers)
            self.assertEqual((told["labels"], told["unlabelled"] if "unlabelled" in told else 0, told["pending"]), (0, 0, 12))

    def test_predict_to_a_file(self):
        self.study.tell(self.answer(self.study.ask()))
        self.study.fit()
        rows = [dict(id=row["id"], x=row["x"]) for row in self.rows[:5]]
        calls, run = [], amtrl._run
        amtrl._run = lambda *args, **more: calls.append(args) or run(*args, **more)
        try:
            predicted = records(self.study.predict(rows, out=self.folder / "out.csv"))
        finally:
            amtrl._run = run
        self.assertEqual(len(calls), 1, calls)
        with open(self.folder / "out.csv", newline="", encoding="utf-8") as file:
            written = list(csv.DictReader(file))
        self.assertEqual([(row["id"], row["label"]) for row in written], [(row["id"], row["label"]) for row in predicted])
        with self.assertRaisesRegex(amtrl.AmtrlError, "out.csv: expected no such file"):
            self.study.predict(rows, out=self.folder / "out.csv")
        for value, found in ((math.nan, "NaN"), (math.inf, "inf")):
            with self.assertRaisesRegex(amtrl.AmtrlError, f"^the table: line 2: column x: element 1: expected a number, found .*{found}"):
                self.study.predict([rows[0], dict(rows[1], x=[1, value, 2])])
        self.assertEqual(len(self.study.predict([dict(row, other=[math.nan]) for row in rows])), 5)

    def test_dashes(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            (self.folder / "data.yaml").rename("-d.yaml")
            study = amtrl.Study.create("-x", "-d.yaml", round_budget=12, k=2)
            study.tell(self.answer(study.ask()))
            study.fit()
            study.export("-labels.csv")
            self.assertEqual(study.tell("-labels.csv")["labels"], 0)
            predicted = study.predict([dict(id=row["id"], x=row["x"]) for row in self.rows[:5]], out="-p.csv")
            self.assertEqual(len(predicted), 5)
            self.assertTrue((self.folder / "-p.csv").is_file())
        finally:
            os.chdir(before)


class Cells(InFolder):
    """Cells that JSON cannot hold, as they are written for the program."""

    def written(self, rows):
        path = Path(amtrl._write(rows, self.folder))
        return [json.loads(line, parse_constant=self.fail) for line in path.read_text(encoding="utf-8").splitlines()]

    def check(self, cells):
        for value, want in cells:
            self.assertEqual(self.written([{"a": value}]), [{"a": want}], repr(value))

    def test_cells(self):
        berlin = datetime.timezone(datetime.timedelta(hours=1))
        self.check([
            (datetime.date(2024, 1, 2), "2024-01-02"), (datetime.datetime(2024, 1, 2), "2024-01-02"),
            (datetime.datetime(2024, 1, 2, 3, 4, 5, 600000), "2024-01-02T03:04:05.6"),
            (datetime.datetime(2024, 1, 2, 12, tzinfo=berlin), "2024-01-02T11:00:00Z"),
            (datetime.datetime(2024, 1, 2, 1, tzinfo=berlin), "2024-01-02"), (datetime.time(10, 20, 30, 400), "10:20:30.0004"),
            (datetime.time(10, tzinfo=berlin), "10:00:00+01:00"), (datetime.timedelta(days=1), "1 day, 0:00:00"),
            (decimal.Decimal("1.50"), 1.5), (decimal.Decimal("12345678901234567890"), 12345678901234567890),
            (decimal.Decimal("1E+2"), 100), (decimal.Decimal("NaN"), None), (decimal.Decimal("-Infinity"), "-Infinity"),
            (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"), (Path("a"), "a"), ("ä".encode(), "ä"),
            (b"\xff", {"type": "bytes"}),
            (math.nan, None), (math.inf, "inf"), (fractions.Fraction(1, 2), 0.5), (True, True), (None, None), ({1}, {"type": "set"}),
            ([decimal.Decimal(2), datetime.date(2024, 1, 2)], [2, "2024-01-02"]), ({(1, 2): 3}, {}),
            ([1, math.nan, (math.inf, None)], [1, "NaN", ["inf", None]]), ({"b": [math.nan], "c": 2}, {"b": ["NaN"], "c": 2}),
        ])
        self.assertEqual(self.written([{("m", 1): 2, 3: 4}]), [{"('m', 1)": 2, "3": 4}])

    def test_names(self):
        for rows in ({"1": 2, 1: 3}, {"1": [2], 1: [3]}, [{"a": 1}, {"1": 2, 1: 3}]):
            with self.assertRaisesRegex(ValueError, "^expected columns of different names, found two called '1'$"):
                self.written(rows)

    @unittest.skipUnless(amtrl.pandas, "pandas is not installed")
    def test_pandas_names(self):
        frame = amtrl.pandas.DataFrame([["a", "no", "yes"]], columns=["id", "label", "label"])
        for rows in (frame, frame.iloc[0], [frame.iloc[0]]):
            with self.assertRaisesRegex(ValueError, "found two called 'label'$"):
                self.written(rows)

    @unittest.skipUnless(amtrl.pandas, "pandas is not installed")
    def test_pandas(self):
        import numpy
        pandas = amtrl.pandas
        cells = [
            (pandas.Timestamp("2024-01-02"), "2024-01-02"),
            (pandas.Timestamp("2024-01-02 03:04:05.123456789"), "2024-01-02T03:04:05.123456789"),
            (pandas.Timestamp("2024-07-02 12:00", tz="Europe/Berlin"), "2024-07-02T10:00:00Z"), (pandas.NaT, None), (pandas.NA, None),
            (pandas.Timedelta("1h"), "0 days 01:00:00"), (pandas.Period("2024-01"), "2024-01"), (pandas.Interval(1, 2), "(1, 2]"),
            (numpy.datetime64("2024-01-02T03:00:00.500"), "2024-01-02T03:00:00.5"), (numpy.datetime64("2024-01-02", "ns"), "2024-01-02"),
            (numpy.datetime64("NaT"), None), (numpy.timedelta64("NaT"), None),
            (numpy.float32(1.5), 1.5), (numpy.float32("nan"), None), (numpy.float32("inf"), "inf"), (numpy.int64(3), 3),
            (numpy.bool_(True), True), (numpy.longdouble(1.5), 1.5), (numpy.array([1.5, 2]), [1.5, 2]), (1j, {"type": "complex"}),
        ]
        self.check(cells + [(numpy.timedelta64(3, "h"), "3 hours")])  # in a data frame it is a Timedelta
        self.check([(numpy.array([1.5, math.nan, -math.inf]), [1.5, "NaN", "-inf"])])
        for value, want in cells:
            frame = pandas.DataFrame({"a": pandas.Series([value, None], dtype=object), "b": pandas.Categorical(["x", None])})
            self.assertEqual(self.written(frame), [{"a": want, "b": "x"}, {"a": None, "b": None}], repr(value))
        days = pandas.to_datetime(["2024-01-02", None])
        answers = pandas.DataFrame({"id": ["a", "b"], "day": days, "n": pandas.array([1, None], "Int64")})
        want = [{"id": "a", "day": "2024-01-02", "n": 1}, {"id": "b", "day": None, "n": None}]
        self.assertEqual(self.written(answers), want)
        self.assertEqual(self.written({name: answers[name] for name in answers}), want)
        self.assertEqual(self.written({name: answers[name].to_numpy() for name in answers}), want)
        self.assertEqual(self.written(answers.iloc[0]), want[:1])
        self.assertEqual(self.written(row for _, row in answers.iterrows()), want)


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
        wrong = [dict(id=row["id"], y=10 ** (20 - row["y"])) for row in answers]
        with self.assertWarnsRegex(UserWarning, "far outside of the others"):
            told = study.tell(wrong, replace=True)
        self.assertGreater(told["outside"][0]["labels"], 0.5 * len(wrong))


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
