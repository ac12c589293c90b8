"""Compares amtrl with scikit-learn's support vector machine on images, MNIST-C or folders like it, whose folders are sources.

usage: images.py AMTRL FOLDER [SAMPLES [BUDGET ...]]

AMTRL is the command, and FOLDER has a folder for each source, each with test_images.npy and test_labels.npy. Each source is the target in
turn: SAMPLES of its images (100) have a label, amtrl run buys BUDGET images of the others (1000, then 5000), and 1,000 images of the target
that are held out are classified, which no other source has. SVC, with its defaults but for C = 5, is fitted to the labelled images of
the target and to as many images of each source as cost as much, as they are (svc) and each less the mean image of its source (svc less
means). A figure is a percentage of errors.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.svm import SVC

TESTED = 1000
MANIFEST = """files: rows.csv
columns: {source: source, split: part, features: {file: images.npy, join: row}}
labels: [{column: label, type: classes}]
target: {source: %s}
"""


def read(folder):
    """Returns (images, labels) of each source, whose rows are the same digits."""
    of = {}
    for source in sorted(p for p in pathlib.Path(folder).iterdir() if (p / "test_images.npy").exists()):
        images, labels = (np.load(source / f"test_{what}.npy") for what in ("images", "labels"))
        of[source.name] = images.reshape(len(labels), -1), labels
    return of


def run(amtrl, target, sources, train, test, labelled, budget, *flags):
    """Returns the percentage of errors of each method, and of the model that is saved."""
    with tempfile.TemporaryDirectory() as folder:
        lines, images = ["source,part,label"], []
        for name, (x, y) in sources.items():
            known = labelled if name == target else train
            parts = [("train", train)] + [("test", test)] * (name == target)
            for part, rows in parts:
                shown = set(known if part == "train" else test)
                lines += [f"{name},{part},{y[i] if i in shown else ''}" for i in rows]
                images.append(x[rows])
        pathlib.Path(folder, "rows.csv").write_text("\n".join(lines) + "\n")
        np.save(f"{folder}/images.npy", np.concatenate(images))
        pathlib.Path(folder, "data.yaml").write_text(MANIFEST % target)
        done = subprocess.run([amtrl, "run", "--backend", "cpu", "--data", f"{folder}/data.yaml", "--out", f"{folder}/run", "--json",
                               "--budget", str(budget), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)
        errors = {m["method"]: 100 * m["score"]["value"] for m in result["methods"]}
        return errors | {"saved": errors[result["recommended"]]}


def rival(target, sources, train, test, labelled, budget, centred, rng):
    x, y, means = [], [], {}
    each = budget // (len(sources) - 1)
    for name, (images, labels) in sources.items():
        means[name] = images[train].mean(0) if centred else 0
        rows = labelled if name == target else rng.permutation(train)[:each]
        x.append(images[rows] / 255 - means[name] / 255)
        y.append(labels[rows])
    model = SVC(C=5).fit(np.concatenate(x), np.concatenate(y))
    images, labels = sources[target]
    return 100 * np.mean(model.predict(images[test] / 255 - means[target] / 255) != labels[test])


def main():
    amtrl, folder = sys.argv[1:3]
    samples, budgets = int((sys.argv[3:4] or [100])[0]), [int(v) for v in sys.argv[4:]] or [1000, 5000]
    sources = read(folder)
    for budget in budgets:
        rng, all_errors = np.random.default_rng(1), []
        for target in sources:
            rows = rng.permutation(len(sources[target][1]))
            test, train = rows[:TESTED], rows[TESTED:]
            given = target, sources, train, test, train[:samples], budget
            ours, plain = run(amtrl, *given), run(amtrl, *given, "--methods", "active,target")
            errors = {name: ours[name] for name in ("active", "uniform", "pooled", "target", "kernel", "saved")}
            errors |= {"no kernel": plain["active"], "svc": rival(*given, False, rng), "svc less means": rival(*given, True, rng)}
            if not all_errors:
                print(f"{'target':16}{'budget':>8}" + "".join(f"{k:>16}" for k in errors))
            all_errors.append(list(errors.values()))
            print(f"{target:16}{budget:8}" + "".join(f"{v:16.1f}" for v in errors.values()), flush=True)
        print(f"{'mean':16}{budget:8}" + "".join(f"{v:16.2f}" for v in np.mean(all_errors, 0)), flush=True)


if __name__ == "__main__":
    main()
