"""Writes the same vectors in many formats into a folder, some of which are missing or not finite, and rows.json: for each file how many."""
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
counts = {}
for n, kind in enumerate(["f4", "f2", "f8"] * 4):
    rows, width = int(rng.integers(50, 400)), int(rng.integers(2, 9))
    x = rng.normal(size=(rows, width)).astype(kind)
    faulty = rng.permutation(rows)[: int(rng.integers(1, 12))]
    if n % 3 == 0 and 0 not in faulty:
        faulty[0] = 0
    full = [list(map(float, row)) for row in x]
    missing, holes, broken = [], [], x.copy()
    for i in range(rows):
        cells, j = full[i], int(rng.integers(width))
        is_faulty = i in faulty
        broken[i, j] = [np.nan, np.inf][int(rng.integers(2))] if is_faulty else broken[i, j]
        missing.append(None if is_faulty else cells)
        holes.append(cells[:j] + [None] + cells[j + 1:] if is_faulty else cells)
    bad = len(faulty)
    ids = [f"r{i}" for i in range(rows)]
    groups = int(rng.integers(5, 90))
    for name, lists in {"missing": missing, "holes": holes, "broken": broken.astype(float).tolist(),
                        "mixed": [[missing, holes, broken.astype(float).tolist()][i % 3][i] for i in range(rows)]}.items():
        table = pa.table({"id": ids, "v": pa.array(lists, pa.list_(pa.float32() if kind == "f4" else pa.float64()))})
        pq.write_table(table, f"{folder}/{name}{n}.parquet", row_group_size=groups, data_page_size=200)
        counts[f"{name}{n}.parquet"] = bad
        if name in ("broken", "mixed"):
            continue
        with open(f"{folder}/{name}{n}.jsonl", "w") as file:
            file.writelines(json.dumps({"id": i, "v": v}) + "\n" for i, v in zip(ids, lists))
        counts[f"{name}{n}.jsonl"] = bad
        if 0 in faulty and name == "missing":  # an empty cell of a CSV file may be a number
            continue
        with open(f"{folder}/{name}{n}.csv", "w") as file:
            file.write("id,v\n")
            for i, v in zip(ids, lists):
                cell = "" if v is None else '"[' + ", ".join("nan" if c is None else str(c) for c in v) + ']"'
                file.write(f"{i},{cell}\n")
        counts[f"{name}{n}.csv"] = bad
    np.save(f"{folder}/broken{n}.npy", broken)
    with open(f"{folder}/joined{n}.csv", "w") as file:
        file.writelines(["id\n"] + [i + "\n" for i in ids])
    counts[f"broken{n}.npy"] = counts[f"joined{n}.csv"] = bad
json.dump(counts, open(f"{folder}/rows.json", "w"))
