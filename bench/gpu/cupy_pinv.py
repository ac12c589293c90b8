"""Times cupy.linalg.pinv of a float64 matrix, or numpy.linalg.pinv if DEVICE is not cuda.

usage: cupy_pinv.py DEVICE LEAST ROWS COLS DECADES

The matrix is random. Unless DECADES is 0, its rows are scaled from 1 down to 10^-DECADES, and multiples of one random
row are then added to all of them. Prints one JSON object: the median seconds per call, over five batches that last LEAST
seconds together, and the library."""
import json
import sys
import time

import numpy

device, least = sys.argv[1], float(sys.argv[2])
m, n, decades = map(int, sys.argv[3:])
if device == "cuda":
    import cupy as xp

    def synchronise():
        xp.cuda.get_current_stream().synchronize()

    name = f"cupy {xp.__version__}"
else:
    xp, name = numpy, f"numpy {numpy.__version__}"

    def synchronise():
        pass

rng = numpy.random.default_rng(1)
a = rng.standard_normal((m, n))
if decades:
    a *= numpy.logspace(0, -decades, m)[:, None]
    a += numpy.outer(rng.standard_normal(m), rng.standard_normal(n)) / (m * n) ** 0.5
a = xp.asarray(a)
xp.linalg.pinv(a)
synchronise()
start = time.perf_counter()
xp.linalg.pinv(a)
synchronise()
repeats = max(1, min(1000, int(least / 5 / max(time.perf_counter() - start, 1e-6))))
times = []
for _ in range(5):
    start = time.perf_counter()
    for _ in range(repeats):
        xp.linalg.pinv(a)
    synchronise()
    times.append((time.perf_counter() - start) / repeats)
print(json.dumps({"library": name, "seconds": sorted(times)[2]}))
