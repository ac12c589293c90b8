"""Compares the baseline target of amtrl with scikit-learn's RidgeCV and BayesianRidge on a few samples of real tables.

usage: ridge_cv.py AMTRL [REPEATS]

AMTRL is the command. The tables are those that scikit-learn has within it. For each, and for each number of samples, REPEATS draws of the
samples are fitted by all three, with columns in units of their spread over the samples, and tested on 300 other rows. A number is the mean
squared error divided by the variance of the tested labels.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.linear_model import BayesianRidge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SIZES = (15, 30, 60, 120)


def tables():
    """(name, rows, numbers to predict) of each."""
    diabetes, wine, cancer, digits = (
        load() for load in (datasets.load_diabetes, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits))
    yield "diabetes: progression", diabetes.data, diabetes.target
    yield "wine: alcohol", wine.data[:, 1:], wine.data[:, 0]
    yield "wine: proline", wine.data[:, :-1], wine.data[:, -1]
    yield "tumours: smoothness", np.delete(cancer.data, [4, 24], 1), cancer.data[:, 4]
    yield "tumours: symmetry", np.delete(cancer.data, 8, 1), cancer.data[:, 8]
    yield "digits: ink on the right", digits.images[:, :, :4].reshape(-1, 32), digits.images[:, :, 4:].sum((1, 2))


def target(amtrl, train, test):
    """The mean squared error of amtrl's baseline."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (x, y), split in (("t", train, "train"), ("t", test, "test"), ("other", train, "train")):
            to = pathlib.Path(folder, "data", name)
            to.mkdir(parents=True, exist_ok=True)
            np.save(to / f"{split}_images.npy", x)
            np.save(to / f"{split}_labels.npy", y)
        command = [amtrl, "run", "--backend", "cpu", "--data", f"{folder}/data", "--out", f"{folder}/run", "--json",
                   "--target", "t", "--target-samples", str(len(train[1])), "--methods", "uniform,target", "--scaling", "feature",
                   "--budget", "10", "--floor", "0"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        methods = json.loads(done.stdout)["methods"]
        return next(m["score"]["value"] for m in methods if m["method"] == "target")


def rival(model, train, test):
    model = make_pipeline(StandardScaler(), model).fit(*train)
    return np.mean((model.predict(test[0]) - test[1]) ** 2)


def main():
    amtrl, repeats, rng = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40, np.random.default_rng(1)
    print(f"{'table':26}{'samples':>8}{'amtrl target':>14}{'RidgeCV':>10}{'BayesianRidge':>15}")
    logs = {}
    for name, x, y in tables():
        for n in SIZES:
            if n + 20 > len(y):
                continue
            errors = []
            for _ in range(repeats):
                rows = rng.permutation(len(y))
                train, test = (x[rows[:n]], y[rows[:n]]), (x[rows[n:n + 300]], y[rows[n:n + 300]])
                errors.append(np.array([target(amtrl, train, test), rival(RidgeCV(np.logspace(-4, 5, 37)), train, test),
                                        rival(BayesianRidge(), train, test)]) / test[1].var())
            mean = np.mean(errors, 0)
            logs.setdefault(n, []).append(np.log(mean))
            print(f"{name:26}{n:8}{mean[0]:14.3f}{mean[1]:10.3f}{mean[2]:15.3f}", flush=True)
    for n, of in logs.items():
        mean = np.exp(np.mean(of, 0))
        print(f"{'geometric mean':26}{n:8}{mean[0]:14.3f}{mean[1]:10.3f}{mean[2]:15.3f}")


main()
