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

folder, threads, layout = sys.argv[1], int(sys.argv[2]), sys.argv[3]
seeds, passes, batch = (int(v) for v in sys.argv[4:7])
rate, decay = float(sys.argv[7]), float(sys.argv[8])
K, ridge = int(sys.argv[9]), float(sys.argv[10])
channels = [int(v) for v in sys.argv[11:]]
torch.set_num_threads(threads)
memory = torch.channels_last if layout == "channels_last" else torch.contiguous_format


def images(name):
    x = torch.from_numpy(np.fromfile(f"{folder}/{name}.bin", np.float32)).reshape(-1, 1, 28, 28)
    return x.contiguous(memory_format=memory)


def labels(name):
    return torch.from_numpy(np.fromfile(f"{folder}/{name}.bin", np.float32))


X, y = images("conv_x"), labels("conv_y")
offsets = torch.from_numpy(np.fromfile(f"{folder}/conv_offsets.bin", np.int64))
task = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
target, target_y = images("conv_target"), labels("conv_target_y")
test, test_y = images("conv_test"), labels("conv_test_y")


def network():
    side, inputs, layers = 28, 1, []
    for c in channels:
        conv = nn.Conv2d(inputs, c, 3, padding=1)
        nn.init.normal_(conv.weight, std=(2 / (9 * inputs)) ** 0.5)
        nn.init.zeros_(conv.bias)
        layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
        side, inputs = side // 2, c
    full = nn.Linear(side * side * inputs, K)
    nn.init.normal_(full.weight, std=(side * side * inputs) ** -0.5)
    nn.init.zeros_(full.bias)
    return nn.Sequential(*layers, nn.Flatten(), full).to(memory_format=memory)


def fit(seed):
    torch.manual_seed(seed)
    phi = network()
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
