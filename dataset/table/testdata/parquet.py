"""Writes Parquet files of many kinds into a folder, and beside each file a .json of its content."""
import datetime
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
ROWS, WIDTH = 700, 5


def name(v):
    if v is None:
        return None
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, datetime.datetime) and v.time() == datetime.time():
        return v.date().isoformat()
    if isinstance(v, (datetime.date, datetime.time)):
        return v.isoformat().replace("+00:00", "Z")
    return str(v).lower() if isinstance(v, (bool, np.bool_)) else str(v)


def missing(values):
    return [None if rng.random() < 0.3 else v for v in values]


def scalars():
    words = ["", "a", "snö", 'q"u,o', "x" * 300]
    text = missing([words[i] for i in rng.integers(0, 5, ROWS)])
    times = [datetime.datetime(1970, 1, 1) + datetime.timedelta(days=int(d), seconds=int(s) * 10)
             for d, s in zip(rng.integers(-30000, 30000, ROWS), rng.integers(0, 3, ROWS))]
    return {
        "text": pa.array(text),
        "full": pa.array([f"row {i}" for i in range(ROWS)]),
        "large": pa.array(text, pa.large_string()),
        "word": pa.array(text).dictionary_encode(),
        "flag": pa.array(missing(rng.integers(0, 2, ROWS).astype(bool).tolist())),
        "flags": pa.array(rng.integers(0, 2, ROWS).astype(bool)),
        "i8": pa.array(missing(rng.integers(-128, 128, ROWS).tolist()), pa.int8()),
        "u16": pa.array(rng.integers(0, 1 << 16, ROWS), pa.uint16()),
        "i32": pa.array(missing(rng.integers(-9, 9, ROWS).tolist()), pa.int32()),
        "i64": pa.array(missing(rng.integers(-(1 << 62), 1 << 62, ROWS).tolist()), pa.int64()),
        "u32": pa.array(missing(rng.integers(0, 1 << 32, ROWS).tolist()), pa.uint32()),
        "u64": pa.array(rng.integers(0, 1 << 62, ROWS), pa.uint64()),
        "bytes": pa.array([b"ab", b"", "snö".encode()] * (ROWS // 3) + [b""] * (ROWS % 3), pa.binary()),
        "none": pa.array([None] * ROWS, pa.string()),
        "null": pa.nulls(ROWS),
        "day": pa.array(missing([t.date() for t in times])),
        "clock": pa.array([t.time() for t in times], pa.time64("us")),
        "clock_ms": pa.array(missing([t.time() for t in times]), pa.time32("ms")),
        "second": pa.array(missing(times), pa.timestamp("s")),
        "ns": pa.array(times, pa.timestamp("ns")),
        "utc": pa.array(missing(times), pa.timestamp("us", tz="UTC")),
    }


KINDS = {"f16": (pa.float16(), np.float16), "f32": (pa.float32(), np.float32), "f64": (pa.float64(), np.float64),
         "u8": (pa.uint8(), np.uint8), "i16": (pa.int16(), np.int16), "i64": (pa.int64(), np.int64), "u32": (pa.uint32(), np.uint32),
         "u64": (pa.uint64(), np.uint64), "bool": (pa.bool_(), np.bool_)}


def numbers(dtype):
    if np.issubdtype(dtype, np.floating):
        return rng.normal(size=(ROWS, WIDTH)).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, (ROWS, WIDTH)).astype(dtype)
    most = min(np.iinfo(dtype).max, 1 << 59) if np.dtype(dtype).kind == "u" and dtype != np.uint8 else 255
    return rng.integers(0, most, (ROWS, WIDTH), np.uint64).astype(dtype)


def write(file, table, vectors, columns, **options):
    pq.write_table(table, f"{folder}/{file}.parquet", **options)
    names = [c for c in table.column_names if c not in columns]
    content = {"scalars": {c: [name(v.as_py()) for v in table[c]] for c in names}, "features": columns,
               "vectors": np.asarray(vectors, np.float32).astype(float).tolist(), "numbers": {}}
    json.dump(content, open(f"{folder}/{file}.json", "w"))


for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
    for version in ("1.0", "2.0"):
        x = numbers(np.float32)
        table = pa.table({**scalars(), "x": pa.array(list(x), pa.list_(pa.float32()))})
        write(f"{codec}-{version}", table, x, ["x"], compression=codec, data_page_version=version, row_group_size=int(rng.integers(1, 800)),
              data_page_size=int(rng.choice([64, 1000, 1 << 20])), use_dictionary=bool(rng.integers(0, 2)))
for kind, (arrow, dtype) in KINDS.items():
    for shape in ("list", "large", "fixed", "required"):
        x = numbers(dtype)
        of = pa.field("element", arrow, nullable=shape != "required")
        t = {"list": pa.list_(of), "large": pa.large_list(of), "fixed": pa.list_(of, WIDTH), "required": pa.list_(of)}[shape]
        field = pa.field("x", t, nullable=shape != "required")
        table = pa.table([pa.array(list(x), t)], pa.schema([field]))
        write(f"{kind}-{shape}", table, x, ["x"], row_group_size=int(rng.integers(1, 800)), use_dictionary=bool(rng.integers(0, 2)),
              data_page_size=int(rng.choice([64, 1000, 1 << 20])))
    x = numbers(dtype)
    columns = [f"x{j}" for j in range(WIDTH)]
    table = pa.table({"word": ["a"] * ROWS, **{c: pa.array(x[:, j], arrow) for j, c in enumerate(columns)}})
    write(f"{kind}-columns", table, x, columns, row_group_size=int(rng.integers(1, 800)))
# Every encoding that pyarrow writes, column by column.
words = scalars()
words["shared"] = pa.array(missing([f"https://example.org/shop/{i // 9}/row/{i}" for i in range(ROWS)]))
words["f64"] = pa.array(rng.integers(-99, 99, ROWS).astype(str))
ENCODINGS = {
    "text": ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"), "shared": ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"),
    "full": ("DELTA_BYTE_ARRAY",), "large": ("DELTA_BYTE_ARRAY",), "none": ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"),
    "flag": ("RLE", "PLAIN"), "flags": ("RLE",), "i8": ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"),
    "i32": ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN"), "u16": ("DELTA_BINARY_PACKED",),
    "i64": ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"),
}
for column, encodings in ENCODINGS.items():
    for encoding in encodings:
        for version in ("1.0", "2.0"):
            of = pa.table({column: words[column]})
            write(f"{column}-{encoding}-{version}", of, np.zeros((ROWS, 0)), [], use_dictionary=False, column_encoding={column: encoding},
                  data_page_version=version, row_group_size=int(rng.integers(1, 800)), data_page_size=int(rng.choice([64, 1000, 1 << 20])))
for kind, (arrow, dtype) in KINDS.items():
    for encoding in ("PLAIN", "RLE") if kind == "bool" else ("PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY"):
        if encoding == "DELTA_BINARY_PACKED" and kind[0] == "f" or encoding == "DELTA_BYTE_ARRAY" and kind != "f16":
            continue
        x = numbers(dtype)
        table = pa.table({"x": pa.array(list(x), pa.list_(arrow))})
        write(f"{kind}-{encoding}", table, x, ["x"], use_dictionary=False, column_encoding={"x.list.element": encoding},
              data_page_version=str(rng.choice(["1.0", "2.0"])), row_group_size=int(rng.integers(1, 800)))
x = numbers(np.float32)
x[:] = 0.25  # the dictionary has this one value
write("constant", pa.table({"x": pa.array(list(x), pa.list_(pa.float32()))}), x, ["x"])
# Row groups without rows: all of them, and some among others.
few = pa.table({**scalars(), "x": pa.array(list(x), pa.list_(pa.float32()))})
for version in ("1.0", "2.0"):
    for codec in ("none", "snappy"):
        write(f"empty-{codec}-{version}", few.slice(0, 0), x[:0], ["x"], compression=codec, data_page_version=version)
write("among", few, x, ["x"])
with pq.ParquetWriter(f"{folder}/among.parquet", few.schema) as out:
    for lo, hi in ((0, 0), (0, 300), (300, 300), (300, ROWS), (ROWS, ROWS)):
        out.write_table(few.slice(lo, hi - lo))
nested = pa.table({"meta": pa.array([{"site": "a", "n": i} for i in range(ROWS)]), "x": pa.array(list(x), pa.list_(pa.float32()))})
pq.write_table(nested, f"{folder}/nested.parquet")
json.dump({"scalars": {"meta.site": ["a"] * ROWS, "meta.n": [str(i) for i in range(ROWS)]}, "features": ["x"], "vectors": x.tolist()},
          open(f"{folder}/nested.json", "w"))
pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array(["a"]), pa.array([2])], names=["x", "y", "x"]), f"{folder}/twice.parquet")
pq.write_table(pa.table({"m": pa.array([[("a", 1.0)]], pa.map_(pa.string(), pa.float64())), "y": pa.array(["a"])}), f"{folder}/map.parquet")
json.dump({"scalars": {"y": ["a"]}, "features": [], "vectors": [[]]}, open(f"{folder}/map.json", "w"))
