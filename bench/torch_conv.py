"""The convolutional representation as one would first write it in PyTorch: the
same network, minibatches, optimiser and schedule as amtrl's, autograd for the
gradient. The target's head is a ridge regression on the features.

usage: torch_conv.py DIR THREADS FORMAT SEEDS PASSES BATCH RATE DECAY K RIDGE CHANNELS...
"""
import json
import sys
import time

import numpy as np
import torch
from torch import nn

import torch_shared as shared

folder, threads, layout = sys.argv[1], int(sys.argv[2]), sys.argv[3]
seeds, passes, batch = (int(v) for v in sys.argv[4:7])
rate, decay = float(sys.argv[7]), float(sys.argv[8])
K, ridge = int(sys.argv[9]), float(sys.argv[10])
channels = [int(v) for v in sys.argv[11:]]
shared.begin("cpu", threads)
load = shared.loader(folder)
memory = torch.channels_last if layout == "channels_last" else torch.contiguous_format


def images(name):
    return load(name, np.float32).reshape(-1, 1, 28, 28).contiguous(memory_format=memory)


X, y = images("conv_x"), load("conv_y", np.float32)
offsets = load("conv_offsets", np.int64)
task = shared.task_of(offsets)
target, target_y = images("conv_target"), load("conv_target_y", np.float32)
test, test_y = images("conv_test"), load("conv_test_y", np.float32)


def fit(seed):
    torch.manual_seed(seed)
    phi = shared.network(channels, K, memory)
    W = nn.Parameter(torch.randn(len(offsets) - 1, K) * K ** -0.5)
    optimiser = torch.optim.AdamW([*phi.parameters(), W], lr=rate, weight_decay=decay)
    steps = len(y) // batch
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps * passes, cycle_momentum=False)
    start, busy = time.perf_counter(), time.process_time()
    for _ in range(passes):
        order, loss = torch.randperm(len(y)), 0.0
        for i in range(steps):
            rows = order[i * batch: (i + 1) * batch]
            f = ((phi(X[rows]) * W[task[rows]]).sum(1) - y[rows]).square().mean()
            optimiser.zero_grad(set_to_none=True)
            f.backward()
            optimiser.step()
            cycle.step()
            loss += f.detach()
        loss = float(loss) / steps
    seconds, busy = (time.perf_counter() - start) / passes, (time.process_time() - busy) / passes
    with torch.no_grad():
        z, zt = phi(target).double().numpy(), phi(test).double().numpy()
    gram = z.T @ z
    w = np.linalg.solve(gram + ridge * np.trace(gram) / K * np.eye(K), z.T @ target_y.double().numpy())
    return seconds, busy, loss, float(np.mean((zt @ w > 0.5) != (test_y.numpy() > 0.5)))


runs = [fit(seed) for seed in range(seeds)]
print(json.dumps({"seconds": [r[0] for r in runs], "busy": [r[1] for r in runs], "loss": [r[2] for r in runs],
                  "errors": [r[3] for r in runs], "version": torch.__version__}))
