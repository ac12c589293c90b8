"""Times the training of the convolutional representation in PyTorch, with the same network, minibatches, optimiser and
schedule as amtrl's row in the table. The gradient is autograd's, in true float32 (no TF32), and the data are on the
device. Eager execution and a CUDA graph are each timed in both memory formats, and the faster format counts.

usage: torch_conv.py FOLDER DEVICE THREADS PASSES BATCH RATE DECAY K CHANNELS...

FOLDER holds x.bin (float32, images of 28 by 28), y.bin (float32) and offsets.bin (int64). Prints one JSON object: the
seconds per pass and the mean loss of the last pass, with eager execution and with a CUDA graph."""
import json
import sys
import time

import numpy as np
import torch
from torch import nn

import torch_shared as shared

folder, device, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
passes, batch, rate, decay, K = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]), float(sys.argv[7]), int(sys.argv[8])
channels = [int(v) for v in sys.argv[9:]]
shared.begin(device, threads)
torch.backends.cudnn.benchmark = True
load = shared.loader(folder, device)
X, y = load("x", np.float32).view(-1, 1, 28, 28), load("y", np.float32)
offsets = load("offsets", np.int64)
task = shared.task_of(offsets)
steps = len(y) // batch


def cycle():
    """Returns the learning rate of each step, by the one-cycle schedule."""
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps * passes, cycle_momentum=False)
    rates = []
    for _ in range(steps * passes):
        rates.append(schedule.get_last_lr()[0])
        optimiser.step()
        schedule.step()
    return rates


def fit(memory, graph):
    torch.manual_seed(1)
    phi = shared.network(channels, K, memory, device)
    images = X.contiguous(memory_format=memory)
    W = nn.Parameter(torch.randn(len(offsets) - 1, K, device=device) * K ** -0.5)
    parameters = [*phi.parameters(), W]
    rows, total = torch.zeros(batch, dtype=torch.int64, device=device), torch.zeros((), device=device)
    now = torch.tensor(rate, device=device) if graph else rate
    optimiser = torch.optim.AdamW(parameters, lr=now, weight_decay=decay, **({"capturable": True} if graph else {}))

    def step():
        f = ((phi(images[rows]) * W.index_select(0, task[rows])).sum(1) - y[rows]).square().mean()
        optimiser.zero_grad(set_to_none=True)
        f.backward()
        optimiser.step()
        total.add_(f.detach())

    run = step
    if graph:
        start = [p.detach().clone() for p in parameters]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            step()
        with torch.no_grad():
            for p, old in zip(parameters, start):
                p.copy_(old)
            for state in optimiser.state.values():
                for v in state.values():
                    v.zero_()
        run = captured.replay
    rates = cycle()
    shared.synchronise()
    began = time.perf_counter()
    for k in range(passes):
        order = torch.randperm(len(y), device=device)
        total.zero_()
        for i in range(steps):
            if graph:
                now.fill_(rates[k * steps + i])
            else:
                optimiser.param_groups[0]["lr"] = rates[k * steps + i]
            rows.copy_(order[i * batch: (i + 1) * batch])
            run()
    shared.synchronise()
    return {"seconds": (time.perf_counter() - began) / passes, "loss": float(total) / steps}


def faster(graph):
    layouts = [torch.contiguous_format, torch.channels_last]
    fit(layouts[0], graph)  # warm up
    return min((fit(layout, graph) for layout in layouts), key=lambda r: r["seconds"])


def captured():
    try:
        return faster(True)
    except RuntimeError as e:
        return {"failed": str(e).splitlines()[0]}


print(json.dumps({"torch": torch.__version__, "eager": faster(False), "graph": captured() if device == "cuda" else None}))
