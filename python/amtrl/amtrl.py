"""Labelling campaigns of amtrl from Python.

    study = amtrl.Study.create("campaign", "dataset.yaml", round_budget=500)
    rows = study.ask()                  # which rows to have labelled next
    study.tell(rows.assign(label=...))  # whenever labels come, in part and in any order
    study.relevance(), study.plan(budget=1000), study.predict(new_rows)

The module runs the program amtrl, which must be on the PATH, named by the environment variable AMTRL_PROGRAM, or given
as the argument program. Methods return tables as pandas data frames where pandas is installed, and as lists of dicts
otherwise; they take either, and a dict of columns or of one row.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import math
import numbers
import os
import re
import subprocess
import tempfile
import uuid
import warnings
from pathlib import Path, PurePath
from typing import Any, Callable, Iterable, Mapping, Union

try:
    import pandas
except ImportError:
    pandas = None

__all__ = ["AmtrlError", "Contradiction", "Stop", "Study"]

Table = Union["pandas.DataFrame", Iterable[Mapping[str, Any]], Mapping[str, Any], str, Path]


class AmtrlError(Exception):
    """A failure of amtrl: its message, and its exit code in code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Stop(AmtrlError):
    """Another round is not expected to be worth its cost, or no row is left to ask for (exit code 3)."""


class Contradiction(AmtrlError):
    """A label or a request contradicts an earlier one; nothing was changed (exit code 4)."""


class Study:
    """A study in a folder that amtrl study new made."""

    def __init__(self, folder: str | Path, program: str | None = None) -> None:
        self.folder = Path(folder)
        self.program = program or os.environ.get("AMTRL_PROGRAM", "amtrl")
        if not (self.folder / "study.json").is_file():
            raise AmtrlError(f"{self.folder} is no study: expected a folder that amtrl study new made", 1)

    @classmethod
    def create(cls, folder: str | Path, data: str | Path, program: str | None = None, **settings: Any) -> Study:
        """Begin a study of a manifest, or of a folder that amtrl data import wrote.

        settings are the flags of amtrl study new, such as round_budget=500, target_samples=60, k=8 or seed=1.
        The same call again opens the existing study.
        """
        program = program or os.environ.get("AMTRL_PROGRAM", "amtrl")
        _run(program, "study", "new", _place(folder), "--data", _place(data), *_flags(settings))
        return cls(folder, program)

    def ask(self, budget: float | None = None, request: str | None = None, expires: str | None = None,
            stop_below: float | None = None, target_rows: int | None = None) -> Any:
        """Return the rows to label next: id, source, cost, priority (1 comes first), reason, ask and expires.

        The same request gives the same rows however often it is made. expires, such as "3d", is the time after which a row
        without an answer may be asked for again. Raises Stop if the next round is expected to lower the error by less than
        stop_below (0.005 is half a point; for numbers a squared error), or if no row is left. With target_rows the rows are that
        many of the target, to be further samples, and no row of a source.

        ask learns first from the answers since the last round, unless more than a few rows are pending (where the study has a budget
        for all rounds: any row). What amtrl notes, such as that it went by older answers because of pending rows, is a warning: fit
        learns from all answers so far.
        """
        settings = dict(budget=budget, request=request, expires=expires, stop_below=stop_below, target_rows=target_rows)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "ask.csv"
            asked = json.loads(self._study("ask", "--out", out, "--json", *_flags(settings)))
            for note in asked.get("notes", []):
                warnings.warn(note, stacklevel=2)
            return _read(out, {"cost": float, "priority": int, "ask": int})

    def tell(self, answers: Table, replace: bool = False, checked: bool = False) -> dict[str, Any]:
        """Take labels from a table with id and the columns of labels, from a file of a table, or from Label Studio's export.

        Rows without a label are counted as "unlabelled", and the status "skip" gives a row up. If one answer is refused, none is taken;
        a table without rows changes nothing.
        Raises Contradiction if a label differs from an earlier one, or a row with a label is given up, unless replace is set:
        then the label is replaced or withdrawn. Returns how many rows changed and how many are pending, and under "far" the
        numbers so far from the others of their source that they are probably slips, with their ids under "far_labels", and under
        "other_units" the sources whose numbers are probably in another unit, and under "outside" how many numbers are far outside of
        those told before; warnings list them too. checked says that the numbers of the table are right, so that they are no longer listed.
        """
        with tempfile.TemporaryDirectory() as folder:
            flags = _flags(dict(replace=replace, checked=checked))
            path = _write(answers, Path(folder), ("id", "status"))
            told = json.loads(self._study("tell", path, "--json", *flags, written=folder))
        if told.get("far"):
            warnings.warn("far from the other labels of their sources: " + ", ".join(told["far"]), stacklevel=2)
        if told.get("other_units"):
            sources = ", ".join(unit["source"] for unit in told["other_units"])
            warnings.warn("probably in another unit than the labels of the other sources: those of " + sources, stacklevel=2)
        for odd in told.get("outside", []):
            warnings.warn(f"{odd['labels']} of {odd['told']} numbers are from {odd['low']:g} to {odd['high']:g}, far outside of the "
                          f"others, from {odd['usual_low']:g} to {odd['usual_high']:g}: of {', '.join(odd['sources'])}", stacklevel=2)
        return told

    def fit(self) -> dict[str, Any]:
        """Learn now from all labels so far. ask does it by itself once hardly a row is pending."""
        return json.loads(self._study("fit", "--json"))

    def status(self) -> dict[str, Any]:
        """Return what was spent and what is pending, by source, the result of the last round and the next one's expected gain."""
        return json.loads(self._study("status", "--json"))

    def plan(self, budget: float | None = None) -> dict[str, Any]:
        """Return how a budget would be divided among the sources and its expected gain. Nothing is changed."""
        return json.loads(self._study("plan", "--json", *_flags(dict(budget=budget))))

    def relevance(self) -> Any:
        """Return nu and the share of each source, with 90 % intervals, after each round: those of the last round are the last rows."""
        rows = []
        for found in json.loads(self._study("relevance", "--json")) or []:
            rows += [{"round": found["round"], **source} for source in found["result"]["sources"]]
        return _table(rows)

    def predict(self, rows: Table, vectors: Any = None, **settings: Any) -> Any:
        """Predict the label of each row and the score of each class, or the number, by the model of the last round.

        vectors holds the features if the study has them in a file of their own: it is an NPY file or a NumPy array, with one
        row for each of rows. settings are other flags of amtrl predict, such as method="target". With out="FILE" the predictions
        are written to a new .csv, .jsonl or .parquet file too.
        """
        to = settings.pop("out", None)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "predicted.jsonl"
            if vectors is not None and not isinstance(vectors, (str, Path)):
                import numpy  # installed if the caller has an array
                numpy.save(Path(folder) / "vectors.npy", vectors)
                vectors = Path(folder) / "vectors.npy"
            flags = _flags(dict(settings, vectors=vectors))
            given = _write(rows, Path(folder))
            files = ["--out", out] if to is None else ["--out", _place(to), "--also", out]
            _run(self.program, "predict", _place(self.folder), given, *files, "--quiet", *flags, written=folder)
            with open(out, encoding="utf-8") as file:
                found = [json.loads(line, parse_int=float) for line in file]
        return _table([{name: float("nan") if v is None else v for name, v in row.items()} for row in found])

    def verify(self) -> dict[str, int]:
        """Replay the journal and compare every ask and round with it. Return the number of events, asks and rounds."""
        return json.loads(self._study("verify", "--json"))

    def export(self, path: str | Path) -> None:
        """Write all rows that have a label or were given up to a .csv, .jsonl or .parquet file, which tell of another study takes."""
        self._study("export", "--out", _place(path))

    def _study(self, command: str, *args: Any, written: str | None = None) -> str:
        return _run(self.program, "study", command, _place(self.folder), *args, "--quiet", written=written)


def _place(path: str | Path) -> str:
    """Return a path as an argument that is not taken for a flag, nor for standard input or output."""
    text = str(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def _flags(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as flags: target_samples=60 becomes --target-samples=60. None is left out."""
    out = []
    for name, value in settings.items():
        if value is not None and value is not False:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            out.append("--" + name.replace("_", "-") + "=" + ("true" if value is True else text))
        elif value is False:
            out.append("--" + name.replace("_", "-") + "=false")
    return out


def _run(program: str, *args: Any, written: str | None = None) -> str:
    """Run the program and return its standard output. Raises AmtrlError if it fails; it names no path of the folder written, which holds
    what the caller gave as a table or an array."""
    try:
        done = subprocess.run([program, *map(str, args)], capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as err:
        raise AmtrlError(f"{program}: {err.strerror}: expected the program amtrl, on the PATH or in AMTRL_PROGRAM", 127) from err
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("amtrl: ")]
        message = lines[-1][len("amtrl: "):] if lines else done.stderr.strip()
        for name, given in (("rows.jsonl", "the table"), ("vectors.npy", "the vectors")) if written else ():
            message = message.replace(str(Path(written) / name), given)
        raise {3: Stop, 4: Contradiction}.get(done.returncode, AmtrlError)(message, done.returncode)
    return done.stdout


def _read(path: Path, kinds: Mapping[str, Callable[[str], Any]]) -> Any:
    """Return a CSV file as a table. Cells are text, unless kinds has a function that converts their column."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name, text in row.items():
            row[name] = kinds.get(name, str)(text)
    return _table(rows)


def _table(rows: list[dict[str, Any]]) -> Any:
    return rows if pandas is None else pandas.DataFrame(rows)


def _write(rows: Table, folder: Path, columns: Iterable[str] = ()) -> str:
    """Return the path of rows if they are a file already, or else of a JSONL file in folder, to which they are written. Where there
    are none, and columns are given, it is a CSV file of these columns."""
    if isinstance(rows, (str, Path)):
        return _place(rows)
    path, found = folder / "rows.jsonl", _rows(rows)
    if columns and not found:
        path = folder / "rows.csv"
        path.write_text(",".join(columns) + "\n", encoding="utf-8")
        return str(path)
    encode = json.JSONEncoder(skipkeys=True, allow_nan=False, default=_plain).encode
    careful = json.JSONEncoder(skipkeys=True, allow_nan=False, default=lambda value: _finite(_plain(value))).encode
    with open(path, "w", encoding="utf-8") as file:
        for row in found:
            cells = {str(name): _cell(v) for name, v in row.items()}
            try:
                line = encode(cells)
            except ValueError:  # a list with NaN or infinity
                line = careful(_finite(cells))
            file.write(line + "\n")
    return str(path)


def _rows(table: Any) -> list[dict[Any, Any]]:
    """Return the rows of a table. A dict has the columns if all its values are lists or arrays, and is a row otherwise."""
    if pandas is not None and isinstance(table, pandas.DataFrame):
        _distinct(table.columns)
        return table.astype(object).where(table.notna(), None).to_dict("records")
    expected = "expected a data frame, a file, a dict for each row, or one dict of a row or of columns of one length"
    if hasattr(table, "keys"):
        _distinct(table.keys())
        columns = dict(table)
        if not all(isinstance(v, (list, tuple)) or getattr(v, "ndim", 0) > 0 for v in columns.values()):
            return [columns]
        if len({len(v) for v in columns.values()}) > 1:
            raise TypeError(f"{expected}, found {', '.join(f'{len(v)} of {name}' for name, v in columns.items())}")
        return [dict(zip(columns, values)) for values in zip(*columns.values())]
    if not hasattr(table, "__iter__"):
        raise TypeError(f"{expected}, found {type(table).__name__}")
    rows = list(table)
    for row in rows:
        if not hasattr(row, "keys"):
            raise TypeError(f"{expected}, found {type(row).__name__} in {type(table).__name__}")
        _distinct(row.keys())
    return [dict(row) for row in rows]


def _distinct(names: Iterable[Any]) -> None:
    """Raise ValueError if two columns have the same name as text."""
    seen = set()
    for name in map(str, names):
        if name in seen:
            raise ValueError(f"expected columns of different names, found two called {name!r}")
        seen.add(name)


def _finite(value: Any) -> Any:
    """Return a value with text in place of NaN and infinities in lists, which JSON lacks: they are no numbers for amtrl."""
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    if isinstance(value, float) and not -math.inf < value < math.inf:
        return "NaN" if value != value else str(value)
    return value


def _cell(value: Any) -> Any:
    """Return a cell with a missing value in place of NaN. Infinity, which JSON lacks, is text: it is no number for amtrl either."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and not -math.inf < value < math.inf:
        return str(value) if value == value else None
    return value


def _plain(value: Any) -> Any:
    """Return what stands for a value that JSON lacks: the text of days and times as amtrl writes them, of spans and of UUIDs; a missing
    value for NaT and NA. Other objects become one that amtrl passes over in columns that it does not need, and names if it needs it."""
    kind = type(value).__name__
    if kind in ("NAType", "NaTType") or kind in ("datetime64", "timedelta64") and value != value:
        return None
    if isinstance(value, datetime.datetime) and value.utcoffset() is not None:
        return _time(value.astimezone(datetime.timezone.utc).replace(tzinfo=None), "Z")
    if isinstance(value, (datetime.date, datetime.time)) or kind == "datetime64":
        return _time(value)
    if isinstance(value, (datetime.timedelta, uuid.UUID, PurePath)) or kind in ("timedelta64", "Period", "Interval"):
        return str(value)
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            return None if value.is_nan() else str(value)
        return int(value) if abs(value) < 1e40 and value == int(value) else float(value)
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, (bytes, bytearray)):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"type": kind}
    return value.tolist() if hasattr(value, "tolist") else {"type": kind}


def _time(value: Any, zone: str = "") -> str:
    """Return a day or a time in the form of ISO 8601 that amtrl has for those of Parquet files: midnight is the day alone, and fractions of
    seconds have no zeros at the end."""
    text = re.sub(r"(\.\d*?)0+$", r"\1", value.isoformat() if hasattr(value, "isoformat") else str(value)).rstrip(".")
    return text[:-len("T00:00:00")] if text.endswith("T00:00:00") else text + zone
