"""The sweep over targets in PyTorch: for each target, some epochs of active
sampling and then one of uniform sampling with as many samples, with the settings
of amtrl's row in the table (least-squares head, minimum-norm relevance, a fixed
number of L-BFGS iterations per epoch, warm starts).

usage: torch_sweep.py FOLDER DEVICE THREADS same|obvious

FOLDER holds sweep.json, pools.bin (uint8, pools by rows by d), labels.bin
(float32, tasks by rows), train.bin and test.bin (int32). Prints one JSON
object."""
import json
import sys
import time

import numpy as np
import torch

import torch_passes as passes
import torch_shared as shared
from torch_lbfgs import minimise

folder, device, threads, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
shared.begin(device, threads)
load = shared.loader(folder, device)
with open(f"{folder}/sweep.json") as f:
    cfg = json.load(f)
K, LAMBDA, ITERATIONS = cfg["k"], cfg["lambda"], cfg["iterations"]
EPOCHS, FLOOR, LABELLED = cfg["epochs"], cfg["floor"], cfg["target_samples"]


pool_of = torch.tensor(cfg["task_pool"], device=device)
T, D = len(pool_of), cfg["cols"]
pools = load("pools", np.uint8).view(cfg["pools"], cfg["rows"], D)
labels = load("labels", np.float32).view(T, cfg["rows"])
train, test = load("train", np.int32).long(), load("test", np.int32).long()


def features(task, rows):
    return pools[pool_of[task], rows].float() / 255


def samples(sources, orders, counts):
    counts = counts.tolist()
    task = torch.repeat_interleave(sources, torch.tensor(counts, device=device))
    rows = torch.cat([orders[m, :n] for m, n in enumerate(counts)])
    offsets = [0]
    for n in counts:
        offsets.append(offsets[-1] + n)
    return passes.Samples(features(task, rows), labels[task, rows], offsets)


evaluations = 0


def fit(s, theta):
    global evaluations
    if what == "obvious":
        theta, seen = passes.obvious(s, theta, K, LAMBDA, ITERATIONS, float("-inf"))
        evaluations += seen["evaluations"]
        return theta
    # Uneven allocations take too much padding; for them the dense products are fastest.
    way = passes.batched if s.pad() else passes.dense
    theta, _, _, made = minimise(passes.objective(s, way, K, LAMBDA), theta, ITERATIONS)
    evaluations += made
    return theta


def fresh(n):
    return torch.cat((torch.randn(K * D, device=device) / D ** 0.5, torch.randn(n * K, device=device) / K ** 0.5))


def head_and_relevance(theta, n, x, y):
    b, w = theta[: K * D].view(K, D), theta[K * D:].view(n, K)
    head = torch.linalg.pinv((x @ b.T).double()) @ y.double()
    return head, torch.linalg.pinv(w.T.double()) @ head


def unit(target, seed):
    torch.manual_seed(seed)
    sources = torch.tensor([t for t in range(T) if t != target], device=device)
    n, limit = len(sources), len(train)
    orders = train[torch.rand(n, limit, device=device).argsort(1)]
    mine = train[torch.randperm(limit, device=device)[:LABELLED]]
    own = torch.full_like(mine, target)
    x, y = features(own, mine), labels[own, mine]
    tx = features(torch.full_like(test, target), test)
    errors = {}
    rates, have = torch.full((n,), 1 / n, dtype=torch.float64, device=device), torch.zeros(n, dtype=torch.int64, device=device)
    theta = fresh(n)
    for method in ["active"] * EPOCHS + ["uniform"]:
        if method == "uniform":
            total, theta = int(have.sum()), fresh(n)
            have = torch.full((n,), total // n, dtype=torch.int64, device=device)
            have[: total % n] += 1
        else:
            budget = 1.5 ** (21 + len(errors.get("active", [])) + 1)
            want = (rates * budget - 1e-9).ceil().clamp(min=FLOOR).clamp(max=limit).long()
            have = torch.maximum(want, have)
        theta = fit(samples(sources, orders, have), theta)
        head, nu = head_and_relevance(theta, n, x, y)
        rates = nu.square() / nu.square().sum()
        p = (theta[: K * D].view(K, D).T.double() @ head).float()
        wrong = ((tx @ p > 0.5) != (labels[target, test] > 0.5)).double().mean()
        errors.setdefault(method, []).append(wrong)
    return float(errors["active"][-1]), float(errors["uniform"][-1])


unit(cfg["targets"][0], 1)  # warm up
shared.synchronise()
evaluations, start = 0, time.perf_counter()
results = [unit(t, 2 + t) for t in cfg["targets"]]
shared.synchronise()
seconds = time.perf_counter() - start
print(json.dumps({
    "seconds": seconds / len(results),
    "targets": len(results),
    "evaluations": evaluations / len(results),
    "active": sum(r[0] for r in results) / len(results),
    "uniform": sum(r[1] for r in results) / len(results),
}))
