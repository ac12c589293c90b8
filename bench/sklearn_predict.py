"""Times the predictions of scikit-learn's LinearRegression with the coefficients of a model of amtrl.

usage: sklearn_predict.py DIR THREADS REPEATS K DTYPE
"""
import json
import sys
import time

import numpy as np
from sklearn.linear_model import LinearRegression

folder, repeats, K = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])


def load(name, dtype=np.float32):
    return np.fromfile(f"{folder}/predict_{name}.bin", dtype)


bias, centre, scale = load("target.bias"), load("representation.centre"), load("representation.scale")[0]
d = len(centre)
x, y = load("x", sys.argv[5]).reshape(-1, d), load("y").reshape(-1, len(bias))
B, W, delta = load("representation.weight").reshape(K, d), load("target.weight").reshape(-1, K), load("target.delta").reshape(-1, d)
coefficients = (W @ B + delta) / scale
model = LinearRegression()
model.coef_, model.intercept_, model.n_features_in_ = coefficients, bias - coefficients @ centre, d
times = []
for _ in range(repeats + 2):
    start = time.perf_counter()
    predicted = model.predict(x)
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times[2:])[repeats // 2], "difference": float(np.abs(predicted - y).max())}))
