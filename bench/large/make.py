"""Writes a Parquet file of rows of 50 shops, each row with an embedding in float16. One row in ten has a label; in the last
shop, the target, one in 500."""
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

path, rows, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(1)
SHOPS, CLASSES, GROUP = 50, 5, 1 << 16
shared = rng.normal(size=(CLASSES, width)).astype(np.float32) * 0.16
own = rng.normal(size=(SHOPS, CLASSES, width)).astype(np.float32) * 0.16
own[: SHOPS // 2] = shared  # these shops are like the target, which is the last shop
own[-1] = shared
noise = rng.standard_normal((GROUP, width), np.float32)
names = pa.array([f"shop {i:02}" for i in range(SHOPS)])
labels = pa.array(["awful", "bad", "fair", "good", "great"])
schema = pa.schema([("id", pa.string()), ("shop", pa.string()), ("label", pa.string()), ("embedding", pa.list_(pa.float16()))])
with pq.ParquetWriter(path, schema, use_dictionary=["shop", "label"]) as w:
    for first in range(0, rows, GROUP):
        n = min(GROUP, rows - first)
        shop, cls = rng.integers(0, SHOPS, n), rng.integers(0, CLASSES, n)
        x = noise[rng.permutation(GROUP)[:n]] + own[shop, cls]
        labelled = rng.random(n) < np.where(shop == SHOPS - 1, 0.002, 0.1)
        flat = pa.array(x.astype(np.float16).reshape(-1), pa.float16())
        offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32))
        w.write_table(pa.table([
            pa.array(np.char.add("r", np.arange(first, first + n).astype(str))),
            names.take(pa.array(shop)),
            labels.take(pa.array(np.where(labelled, cls, 0), mask=~labelled)),
            pa.ListArray.from_arrays(offsets, flat),
        ], schema), row_group_size=GROUP)
