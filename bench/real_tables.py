"""Compares amtrl with scikit-learn on real tables of numbers, the data sets that come with scikit-learn.

usage: real_tables.py AMTRL [REPEATS]

AMTRL is the command. A figure is the mean squared error on held-out rows of the target, divided by the variance of their labels; it is a
mean over REPEATS draws of the target's samples (40 by default). The last rows are geometric means over the tables.

Columns have the knots and, up to 20 of them, the products that amtrl data init gives a table.

alone    few samples of a table and no sources: the baseline target beside RidgeCV and BayesianRidge
sources  few samples of one part of a table, such as the images of one digit, with the other parts as sources: amtrl run with its defaults,
         which buy half of the sources' rows, and active without the trees that it is averaged with, beside RidgeCV on the samples
         alone, and RidgeCV and boosted trees on the samples with half of the rows of each source, and with all of them
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import BayesianRidge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TESTED = 300  # held-out rows at most
MANIFEST = """files: rows.csv
columns: {source: source, split: part, features: "x*", knots: 5%s}
labels:
  - column: label
    type: number
target: {source: target}
"""


def tables():
    """Yields (name, features, labels, part of each row) for each table."""
    diabetes, wine, cancer, digits = (
        load() for load in (datasets.load_diabetes, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits))
    age = np.digitize(diabetes.data[:, 0], np.quantile(diabetes.data[:, 0], [1 / 3, 2 / 3]))
    rough = cancer.data[:, 1] > np.median(cancer.data[:, 1])
    yield "diabetes: progression", diabetes.data, diabetes.target, 3 * (diabetes.data[:, 1] > 0) + age
    yield "wine: alcohol", wine.data[:, 1:], wine.data[:, 0], wine.target
    yield "wine: proline", wine.data[:, :-1], wine.data[:, -1], wine.target
    yield "tumours: smoothness", np.delete(cancer.data, [4, 24], 1), cancer.data[:, 4], 2 * cancer.target + rough
    yield "tumours: symmetry", np.delete(cancer.data, 8, 1), cancer.data[:, 8], 2 * cancer.target + rough
    yield "digits: ink on the right", digits.images[:, :, :4].reshape(-1, 32), digits.images[:, :, 4:].sum((1, 2)), digits.target


def run(amtrl, parts, *flags):
    """Runs amtrl on parts, which are (source, split, features, labels), and returns the mean squared error of each method, and of the one
    that is recommended and saved."""
    with tempfile.TemporaryDirectory() as folder:
        with open(pathlib.Path(folder, "rows.csv"), "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["source", "part", "label"] + [f"x{j}" for j in range(parts[0][2].shape[1])])
            for source, split, x, y in parts:
                out.writerows([source, split, label, *row] for row, label in zip(x.tolist(), y.tolist()))
        products = ", products: true" if parts[0][2].shape[1] <= 20 else ""
        pathlib.Path(folder, "data.yaml").write_text(MANIFEST % products)
        command = [amtrl, "run", "--backend", "cpu", "--data", f"{folder}/data.yaml", "--out", f"{folder}/run", "--json", *flags]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)
        errors = {m["method"]: m["score"]["value"] for m in result["methods"]}
        return errors | {"saved": errors[result["recommended"]]}


def rival(model, train, test):
    model = make_pipeline(StandardScaler(), model).fit(*train)
    return np.mean((model.predict(test[0]) - test[1]) ** 2)


def ridge():
    return RidgeCV(np.logspace(-4, 5, 37))


def boosting():
    return HistGradientBoostingRegressor()


def alone(amtrl, train, test):
    ours = run(amtrl, [("target", "train", *train), ("target", "test", *test), ("other", "train", *train)],
               "--methods", "uniform,target", "--budget", "10", "--floor", "0")
    return {"target": ours["target"], "RidgeCV": rival(ridge(), train, test), "BayesianRidge": rival(BayesianRidge(), train, test)}


def with_sources(amtrl, train, test, others):
    own = [("target", "train", *train), ("target", "test", *test)]
    parts = own + [(f"part {name}", "train", *o) for name, o in others.items()]
    ours = run(amtrl, parts)
    ours["no trees"] = run(amtrl, parts, "--methods", "active,target")["active"]
    half = {name: [of[:(len(of) + 1) // 2] for of in o] for name, o in others.items()}
    drawn, every = (tuple(np.concatenate(of) for of in zip(train, *o.values())) for o in (half, others))
    return {name: ours[name] for name in ("active", "no trees", "uniform", "pooled", "target", "trees", "saved")} | {
        "ridge own": rival(ridge(), train, test),
        "ridge half": rival(ridge(), drawn, test), "boost half": rival(boosting(), drawn, test),
        "ridge all": rival(ridge(), every, test), "boost all": rival(boosting(), every, test)}


def compare(title, sizes, draws):
    """Prints the mean errors for each table and number of samples n; draws(n, features, labels, part) yields a dict per draw."""
    print(f"\n{title}")
    logs, names = {}, None
    for name, x, y, part in tables():
        for n in sizes:
            errors = list(draws(n, x, y, part))
            if not errors:
                continue
            mean = {k: np.mean([e[k] for e in errors]) for k in errors[0]}
            if names is None:
                names = list(mean)
                print(f"{'table':26}{'samples':>8}" + "".join(f"{k:>15}" for k in names))
            logs.setdefault(n, []).append(np.log(list(mean.values())))
            print(f"{name:26}{n:8}" + "".join(f"{v:15.3f}" for v in mean.values()), flush=True)
    for n, of in logs.items():
        print(f"{'geometric mean':26}{n:8}" + "".join(f"{v:15.3f}" for v in np.exp(np.mean(of, 0))))


def main():
    amtrl, repeats, rng = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40, np.random.default_rng(1)

    def scaled(errors, test):
        return {k: v / test[1].var() for k, v in errors.items()}

    def draws_alone(n, x, y, _):
        for _ in range(repeats if n + 20 <= len(y) else 0):
            rows = rng.permutation(len(y))
            train, test = ((x[r], y[r]) for r in (rows[:n], rows[n:n + TESTED]))
            yield scaled(alone(amtrl, train, test), test)

    def draws_with_sources(n, x, y, part):
        targets = [p for p in np.unique(part) if np.sum(part == p) >= n + 20]
        for i in range(repeats if targets else 0):
            at = targets[i % len(targets)]
            rows = rng.permutation(np.flatnonzero(part == at))
            train, test = ((x[r], y[r]) for r in (rows[:n], rows[n:n + TESTED]))
            others = {}
            for p in np.unique(part[part != at]):
                of = rng.permutation(np.flatnonzero(part == p))
                others[p] = (x[of], y[of])
            yield scaled(with_sources(amtrl, train, test, others), test)

    compare("alone", (15, 30, 60, 120), draws_alone)
    compare("sources", (20, 60), draws_with_sources)


main()
