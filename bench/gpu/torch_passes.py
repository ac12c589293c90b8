"""The loss and gradient of multi-task least squares in PyTorch, in four ways that
give the same numbers, and the linear ERM as one would first write it, by autograd.

With p_t row t of P (T by d), for the samples i of task t: r_i = x_i'p_t - y_i,
q_t = sum_i r_i x_i. The loss is the sum of r_i^2 over all samples."""
import time

import torch

from torch_shared import Obvious, synchronise


class Samples:
    """N samples, sorted by task: x (N by d), y, offsets (T+1)."""

    def __init__(self, x, y, offsets):
        self.x, self.y, self.offsets = x, y, offsets
        counts = torch.tensor([b - a for a, b in zip(offsets, offsets[1:])], device=x.device)
        self.t, self.longest = len(offsets) - 1, int(counts.max())
        self.task = torch.repeat_interleave(torch.arange(self.t, device=x.device), counts)
        self.slot = torch.arange(len(y), device=x.device) - torch.tensor(offsets[:-1], device=x.device)[self.task]
        self.padded = None

    def pad(self):
        """Copies the tasks into blocks of one length, unless that takes more than twice the memory. Returns whether it did."""
        if self.t * self.longest > 2 * len(self.y):
            return False
        x = torch.zeros(self.t, self.longest, self.x.shape[1], device=self.x.device)
        y = torch.zeros(self.t, self.longest, device=self.x.device)
        x[self.task, self.slot], y[self.task, self.slot] = self.x, self.y
        self.padded = x, y
        return True


def batched(s, p):
    x, y = s.padded
    r = torch.bmm(x, p.unsqueeze(2)).squeeze(2) - y
    return torch.bmm(r.unsqueeze(1), x).squeeze(1), r.double().square().sum()


def indexed(s, p):
    r = (s.x * p[s.task]).sum(1) - s.y
    q = torch.zeros_like(p).index_add_(0, s.task, r.unsqueeze(1) * s.x)
    return q, r.double().square().sum()


def dense(s, p):
    at = s.task.unsqueeze(1)
    r = (s.x @ p.T).gather(1, at).squeeze(1) - s.y
    spread = torch.zeros(len(r), s.t, device=r.device).scatter_(1, at, r.unsqueeze(1))
    return spread.T @ s.x, r.double().square().sum()


def looped(s, p):
    q, loss = torch.zeros_like(p), torch.zeros((), dtype=torch.float64, device=p.device)
    for t, (a, b) in enumerate(zip(s.offsets, s.offsets[1:])):
        if a < b:
            r = s.x[a:b].mv(p[t]) - s.y[a:b]
            q[t] = s.x[a:b].T.mv(r)
            loss += r.double().square().sum()
    return q, loss


def timed(f, least):
    """Median seconds of f over five batches that last `least` seconds together."""
    for _ in range(3):
        f()
    synchronise()
    start = time.perf_counter()
    f()
    synchronise()
    repeats = max(1, min(10_000, int(least / 5 / max(time.perf_counter() - start, 1e-6))))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repeats):
            f()
        synchronise()
        times.append((time.perf_counter() - start) / repeats)
    return sorted(times)[2]


def fastest(s, p, least):
    """Returns the fastest way on these samples: function, seconds, name. Exits if a
    way disagrees with the loop over tasks."""
    ways = ([batched] if s.pad() else []) + [indexed, dense, looped]
    want, best = looped(s, p), None
    for way in ways:
        q, loss = way(s, p)
        error = float((q - want[0]).norm() / want[0].norm())
        if error > 1e-4 or abs(float(loss / want[1]) - 1) > 1e-4:
            raise SystemExit(f"{way.__name__} differs from the loop over tasks by {error:.1e}")
        seconds = timed(lambda: way(s, p), least)
        if best is None or seconds < best[1]:
            best = way, seconds, way.__name__
    if best[0] is not batched:
        s.padded = None
    return best


def objective(s, way, k, lam):
    """Returns the function that maps theta (B' then W') to f and its gradient, by one pass over the samples."""
    d, n = s.x.shape[1], len(s.y)

    def evaluate(theta):
        b, w = theta[: k * d].view(k, d), theta[k * d:].view(s.t, k)
        q, loss = way(s, w @ b)
        g = 2 * lam * theta
        g[: k * d].view(k, d).addmm_(w.T, q, alpha=2 / n)
        g[k * d:].view(s.t, k).addmm_(q, b.T, alpha=2 / n)
        return loss / n + lam * theta.double().square().sum(), g

    return evaluate


def obvious(s, theta, k, lam, iterations, goal):
    """Minimises f as one would first write it. Returns theta, and a dict of the objective and the number of evaluations."""
    return Obvious(s.x, s.y, s.task, theta, k, lam).minimise(iterations, 4 * iterations, goal)
