"""Writes CSV, TSV, JSONL and JSON files with pandas, and beside each file a .json of its content."""
import csv
import json
import sys

import numpy as np
import pandas as pd

folder, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
ROWS, WIDTH = 500, 5
words = ["", "a", "snö", 'q"u,o', "two\nlines", "tab\there", " blanks ", "x" * 300]
text = [words[i] for i in rng.integers(0, len(words), ROWS)]
number = rng.normal(size=ROWS)
vectors = rng.normal(size=(ROWS, WIDTH)).astype(np.float32)


def write(file, frame, features, save, missing, vectors=vectors):
    save(f"{folder}/{file}")
    scalars = {c: [None if missing and pd.isna(v) else str(v) for v in frame[c].astype(object)] for c in frame if c not in features}
    json.dump({"scalars": scalars, "features": features, "vectors": vectors.astype(float).tolist()}, open(f"{folder}/{file}.json", "w"))


lists = pd.DataFrame({"text": text, "row": range(ROWS), "x": [[float(v) for v in x] for x in vectors]})
numpy = pd.DataFrame({"text": text, "x": [str(x) for x in vectors]})
many = pd.DataFrame({"text": text, **{f"x{j}": vectors[:, j] for j in range(WIDTH)}})
columns = [f"x{j}" for j in range(WIDTH)]
for end, name in (("\n", "lf"), ("\r\n", "crlf")):
    # A CRLF within a cell is read as LF, as Python reads text files.
    write(f"list-{name}.csv", lists, ["x"], lambda p: lists.to_csv(p, index=False, lineterminator=end), False)
    write(f"many-{name}.tsv", many, columns, lambda p: many.to_csv(p, index=False, sep="\t", lineterminator=end), False)
printed = np.array([x[1:-1].split() for x in numpy["x"]], np.float32)
write("numpy.csv", numpy, ["x"], lambda p: numpy.to_csv(p, index=False), False, printed)
write("quoted.csv", many, columns, lambda p: many.to_csv(p, index=False, quoting=csv.QUOTE_ALL, encoding="utf-8-sig"), False)
write("gzip.csv.gz", many, columns, lambda p: many.to_csv(p, index=False), False)
with_none = lists.assign(text=[None if rng.random() < 0.3 else t for t in text], flag=["true" if rng.random() < 0.5 else "false" for _ in range(ROWS)])
write("list.jsonl", with_none, ["x"], lambda p: with_none.to_json(p, orient="records", lines=True, double_precision=15), True)
write("list.json.gz", with_none, ["x"], lambda p: with_none.to_json(p, orient="records", double_precision=15), True)
write("many.json.gz", many, columns, lambda p: many.to_json(p, orient="records", indent=2, double_precision=15), False)
write("many.jsonl.gz", many, columns, lambda p: many.to_json(p, orient="records", lines=True, double_precision=15), False)
