"""Code that the PyTorch programs of the benchmarks share: reading the data, timing, the linear ERM as one would
first write it, and the convolutional network."""
import time

import numpy as np
import torch
from torch import nn


def begin(device, threads):
    """Sets the number of threads, and true float32 (no TF32). Exits if device is cuda and PyTorch has none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(f"PyTorch {torch.__version__} sees no CUDA device")
    torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def loader(folder, device="cpu"):
    """Returns load(name, dtype), which reads name.bin."""
    return lambda name, dtype: torch.from_numpy(np.fromfile(f"{folder}/{name}.bin", dtype)).to(device)


def task_of(offsets):
    """Returns the task of each sample; those of task t begin at offsets[t]."""
    return torch.repeat_interleave(torch.arange(len(offsets) - 1, device=offsets.device), offsets[1:] - offsets[:-1])


def synchronise():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def median_of_three(f):
    """Calls f four times and ignores the first call. Returns the dict from the call with the median time, with its seconds."""
    results = []
    for i in range(4):
        synchronise()
        start = time.perf_counter()
        seen = f()
        synchronise()
        results.append({"seconds": time.perf_counter() - start, **seen})
    return sorted(results[1:], key=lambda r: r["seconds"])[1]


class Obvious:
    """The linear ERM as one would first write it: Z = X B, and the prediction of a sample is the dot product of its row
    of Z with its task's head. The gradient is autograd's. theta is B' then W'."""

    def __init__(self, x, y, task, theta, k, lam):
        d = x.shape[1]
        self.x, self.y, self.task, self.lam = x, y, task, lam
        self.b = theta[: k * d].view(k, d).T.contiguous().requires_grad_()
        self.w = theta[k * d:].view(-1, k).clone().requires_grad_()

    def evaluate(self):
        b, w = self.b, self.w
        b.grad = w.grad = None
        f = (((self.x @ b) * w[self.task]).sum(1) - self.y).square().mean()
        if self.lam:
            f = f + self.lam * (b.square().sum() + w.square().sum())
        f.backward()
        return f

    def minimise(self, iterations, evaluations, goal):
        """Minimises by torch.optim.LBFGS until the objective is at most goal, or the iterations or evaluations are used
        up. Returns theta, and a dict of the lowest objective and the number of evaluations."""
        seen = {"objective": float("inf"), "evaluations": 0}

        class Reached(Exception):
            pass

        def closure():
            f = float(self.evaluate())  # converted once: on a device, float() waits for the result
            seen["evaluations"] += 1
            seen["objective"] = min(seen["objective"], f)
            if f <= goal:
                raise Reached
            return f

        try:
            torch.optim.LBFGS([self.b, self.w], history_size=10, max_iter=iterations, max_eval=evaluations, tolerance_grad=0,
                              tolerance_change=0, line_search_fn="strong_wolfe").step(closure)
        except Reached:
            pass
        with torch.no_grad():
            return torch.cat((self.b.T.reshape(-1), self.w.reshape(-1))), seen


def network(channels, k, memory, device="cpu"):
    """Returns a network from images of 28 by 28 to k features: layers of convolution, ReLU and pooling, one for each of
    channels, then a fully connected layer."""
    side, inputs, layers = 28, 1, []
    for c in channels:
        conv = nn.Conv2d(inputs, c, 3, padding=1)
        nn.init.normal_(conv.weight, std=(2 / (9 * inputs)) ** 0.5)
        nn.init.zeros_(conv.bias)
        layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
        side, inputs = side // 2, c
    full = nn.Linear(side * side * inputs, k)
    nn.init.normal_(full.weight, std=(side * side * inputs) ** -0.5)
    nn.init.zeros_(full.bias)
    return nn.Sequential(*layers, nn.Flatten(), full).to(device).to(memory_format=memory)
