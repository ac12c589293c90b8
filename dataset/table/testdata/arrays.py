"""Writes NPY and safetensors files of many kinds into a folder, and beside each file a .json of its content."""
import json
import sys

import numpy as np
from safetensors.numpy import save_file

folder, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
ROWS, WIDTH = 900, 6
WORDS = np.array(["", "a", "snö", 'q"u,o', "x" * 40, "0\U0001f600"])


def name(v):
    return str(v).lower() if isinstance(v, np.bool_) else str(v)


def describe(file, scalars, features, vectors):
    content = {"scalars": {c: [name(v) for v in x] for c, x in scalars.items()}, "features": features,
               "vectors": [[]] * ROWS if vectors is None else np.asarray(vectors, np.float32).astype(float).reshape(ROWS, -1).tolist()}
    json.dump(content, open(f"{folder}/{file}.json", "w"))


def numbers(dtype, *shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -(1 << 59)), min(info.max, 1 << 59), shape, dtype, endpoint=True)


KINDS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "?"]
for kind in KINDS:
    x = numbers(kind, ROWS, WIDTH)
    for order in "CF":
        np.save(f"{folder}/{kind.strip('?') or 'bool'}{order}.npy", np.asarray(x, order=order))
        describe(f"{kind.strip('?') or 'bool'}{order}.npy", {}, ["vector"], x)
    if kind[0] != "f":  # amtrl's text of a float differs from NumPy's
        v = numbers(kind, ROWS)
        np.save(f"{folder}/{kind.strip('?') or 'bool'}-values.npy", v)
        describe(f"{kind.strip('?') or 'bool'}-values.npy", {"value": v}, [], None)
words = WORDS[rng.integers(0, len(WORDS), ROWS)]
np.save(f"{folder}/text.npy", words)
describe("text.npy", {"value": words}, [], None)
raw = np.array([b"a", b"bc", b""])[rng.integers(0, 3, ROWS)]
np.save(f"{folder}/bytes.npy", raw)
describe("bytes.npy", {"value": [b.decode() for b in raw]}, [], None)
images = numbers("u1", ROWS, 3, 5)
np.save(f"{folder}/images.npy", images)
describe("images.npy", {}, ["vector"], images)

columns = {kind.replace("?", "bool"): numbers(kind, ROWS) for kind in KINDS if kind[0] != "f"}
for kind in KINDS:
    x = numbers(kind, ROWS, WIDTH)
    file = f"{kind.replace('?', 'bool')}.safetensors"
    save_file({**columns, "x": x}, f"{folder}/{file}", metadata={"made": "here"})
    describe(file, columns, ["x"], x)
many = {f"x{j}": numbers("f4", ROWS) for j in range(WIDTH)}
save_file(many, f"{folder}/columns.safetensors")
describe("columns.safetensors", {}, list(many), np.stack(list(many.values()), axis=1))
