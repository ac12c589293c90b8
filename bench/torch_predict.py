"""Times the predictions of the convolutional network in PyTorch with the parameters of a model of amtrl.

usage: torch_predict.py DIR THREADS REPEATS K CHANNELS...
"""
import json
import sys
import time

import numpy as np
import torch
from torch import nn

import torch_shared as shared

folder, threads, repeats, K = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
channels = [int(v) for v in sys.argv[5:]]
shared.begin("cpu", threads)
load = shared.loader(folder)


def tensor(name):
    return load(f"predict_{name}", np.float32)


layers, before, side = [], 1, 28
for i, c in enumerate(channels, 1):
    conv = nn.Conv2d(before, c, 3, padding=1)
    conv.weight.data = tensor(f"representation.conv{i}.weight").view(3, 3, before, c).permute(3, 2, 0, 1).contiguous()
    conv.bias.data = tensor(f"representation.conv{i}.bias")
    layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
    before, side = c, side // 2
full = nn.Linear(side * side * before, K)
full.weight.data = tensor("representation.full.weight").view(K, side, side, before).permute(0, 3, 1, 2).reshape(K, -1).contiguous()
full.bias.data = tensor("representation.full.bias")
bias = tensor("target.bias")
head = nn.Linear(K, len(bias))
head.weight.data, head.bias.data = tensor("target.weight").view(-1, K), bias
model = nn.Sequential(*layers, nn.Flatten(), full, head).eval()
x, y = tensor("x").view(-1, 1, 28, 28), tensor("y").view(-1, len(bias))
times = []
with torch.inference_mode():
    for _ in range(repeats + 2):
        start = time.perf_counter()
        predicted = torch.cat([model(x[i:i + 512]) for i in range(0, len(x), 512)])
        times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times[2:])[repeats // 2], "difference": float((predicted - y).abs().max())}))
