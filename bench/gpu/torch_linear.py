"""Times the task gradient and the linear ERM in PyTorch.

usage: torch_linear.py FOLDER DEVICE THREADS LEAST GOAL LAMBDA K

FOLDER holds x.bin (float32), y.bin (float32), offsets.bin (int64) and theta.bin
(float32, B' then W'). Prints one JSON object."""
import json
import sys

import numpy as np
import torch

import torch_passes as passes
import torch_shared as shared
from torch_lbfgs import minimise

folder, device, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
least, goal, lam, k = float(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]), int(sys.argv[7])
shared.begin(device, threads)
load = shared.loader(folder, device)
offsets = [int(v) for v in load("offsets", np.int64)]
y, theta = load("y", np.float32), load("theta", np.float32)
s = passes.Samples(load("x", np.float32).view(len(y), -1), y, offsets)
d = s.x.shape[1]
p = theta[k * d:].view(s.t, k) @ theta[: k * d].view(k, d)
way, seconds, name = passes.fastest(s, p, least)


def same():
    _, f, _, evaluations = minimise(passes.objective(s, way, k, lam), theta.clone(), 3000, goal)
    return {"objective": f, "evaluations": evaluations}


source = torch.rand(1 << 28 if device == "cuda" else 1 << 22, device=device)
target = torch.empty_like(source)
copy = passes.timed(lambda: target.copy_(source), least)
print(json.dumps({
    "torch": torch.__version__,
    "device": torch.cuda.get_device_name() if device == "cuda" else f"CPU, {threads} threads",
    "copy": {"seconds": copy, "bytes": 2 * 4 * source.numel()},
    "pass": {"seconds": seconds, "way": name},
    "same": shared.median_of_three(same),
    "obvious": shared.median_of_three(lambda: passes.obvious(s, theta, k, lam, 3000, goal)[1]),
}))
