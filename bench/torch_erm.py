"""The linear ERM as one would first write it in PyTorch (torch_shared.Obvious).

usage: torch_erm.py DIR THREADS pass REPEATS | erm GOAL LAMBDA
"""
import json
import sys
import time

import numpy as np

import torch_shared as shared

folder, threads, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
shared.begin("cpu", threads)
load = shared.loader(folder)
K, D = 50, 784
X, y, theta = load("x", np.float32).reshape(-1, D), load("y", np.float32), load("theta", np.float32)
task = shared.task_of(load("offsets", np.int64))

if what == "pass":
    erm = shared.Obvious(X, y, task, theta, K, 0.0)
    times = []
    for i in range(int(sys.argv[4]) + 2):
        start = time.perf_counter()
        erm.evaluate()
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": float(np.median(times[2:]))}))
else:
    goal, lam = float(sys.argv[4]), float(sys.argv[5])
    print(json.dumps(shared.median_of_three(lambda: shared.Obvious(X, y, task, theta, K, lam).minimise(3000, 5000, goal)[1])))
