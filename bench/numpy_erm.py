"""The linear ERM in NumPy: the same two passes over the samples as amtrl's
task gradient (residuals, then X'r), one BLAS call per task, float32.

usage: numpy_erm.py DIR THREADS pass REPEATS | erm GOAL LAMBDA
"""
import json
import sys
import time

import numpy as np

folder, threads, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
K, D = 50, 784


def load(name, dtype):
    return np.fromfile(f"{folder}/{name}.bin", dtype)


X = load("x", np.float32).reshape(-1, D)
y = load("y", np.float32)
theta = load("theta", np.float32)
offsets = load("offsets", np.int64)
N, T = len(y), len(offsets) - 1


def one_pass(P, Q):
    loss = 0.0
    for t in range(T):
        a, b = offsets[t], offsets[t + 1]
        r = X[a:b] @ P[t]
        r -= y[a:b]
        np.dot(r, X[a:b], out=Q[t])
        loss += float(np.dot(r, r))
    return loss


Q = np.empty((T, D), np.float32)
if what == "pass":
    P = theta[K * D:].reshape(T, K) @ theta[: K * D].reshape(K, D)
    times = []
    for i in range(int(sys.argv[4]) + 2):
        start = time.perf_counter()
        one_pass(P, Q)
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": float(np.median(times[2:]))}))
else:
    from scipy.optimize import minimize

    goal, lam = float(sys.argv[4]), float(sys.argv[5])

    class Reached(Exception):
        pass

    def fit():
        seen = {"evaluations": 0, "objective": np.inf}
        start = time.perf_counter()

        def objective(v):
            v = v.astype(np.float32)
            B, W = v[: K * D].reshape(K, D), v[K * D:].reshape(T, K)
            f = one_pass(W @ B, Q) / N + lam * float(np.dot(v, v))
            g = np.empty_like(v)
            np.matmul(W.T, Q, out=g[: K * D].reshape(K, D))
            np.matmul(Q, B.T, out=g[K * D:].reshape(T, K))
            g *= np.float32(2 / N)
            g += np.float32(2 * lam) * v
            seen["evaluations"] += 1
            seen["objective"] = min(seen["objective"], f)
            if f <= goal:
                raise Reached
            return f, g.astype(np.float64)

        try:
            minimize(objective, theta.astype(np.float64), jac=True, method="L-BFGS-B",
                     options={"maxiter": 3000, "maxfun": 5000, "maxcor": 10, "ftol": 0, "gtol": 0})
        except Reached:
            pass
        return {"seconds": time.perf_counter() - start, **seen}

    fits = [fit() for _ in range(4)][1:]
    print(json.dumps(sorted(fits, key=lambda r: r["seconds"])[1]))
