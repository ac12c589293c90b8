"""The optimiser of amtrl's empirical risk minimisation in PyTorch: L-BFGS
with a history of ten and a weak Wolfe line search by bisection, one transfer
to the host per evaluation."""
import math

import torch

ARMIJO, CURVATURE, TRIALS, HISTORY = 1e-4, 0.9, 30, 10


def minimise(evaluate, x, iterations, goal=-math.inf):
    """Minimises f from x, which is left as it is, until f is at most goal or the iterations
    are used up. evaluate(x) returns f, a 0-dimensional float64 tensor, and a fresh gradient.
    Returns the point reached, f there, the number of iterations and that of evaluations."""
    pairs = []
    f, g = evaluate(x)
    fx, gg = torch.stack((f, g.double().dot(g.double()))).tolist()
    evaluations, done = 1, 0
    while done < iterations and fx > goal and gg > 0:
        d = direction(pairs, g)
        step = 1.0 if pairs else 1 / max(1.0, math.sqrt(gg))
        lo, hi, found = 0.0, math.inf, None
        for _ in range(TRIALS):
            xt = x + step * d
            ft, gt = evaluate(xt)
            s, y = xt - x, gt - g
            ft, slope, gd, sy, yy, gg = torch.stack((
                ft, g.double().dot(d.double()), gt.double().dot(d.double()), s.double().dot(y.double()),
                y.double().dot(y.double()), gt.double().dot(gt.double()))).tolist()
            evaluations += 1
            if slope >= 0:
                break
            if not ft <= fx + ARMIJO * step * slope:
                hi = step
            else:
                lo, found = step, (xt, ft, gt, s, y, sy, yy, gg)
                if gd >= CURVATURE * slope:
                    break
            step = 2 * lo if math.isinf(hi) else (lo + hi) / 2
            if hi - lo <= 1e-7 * hi and not math.isinf(hi):
                break
        if found is None:
            if not pairs:
                break
            pairs, gg = [], float(g.double().dot(g.double()))
            continue
        x, fx, g, s, y, sy, yy, gg = found
        if sy > 1e-10 * yy:
            pairs = (pairs + [(s, y, 1 / sy, sy / yy)])[-HISTORY:]
        done += 1
    return x, fx, done, evaluations


def direction(pairs, g):
    """Returns -H g by the two-loop recursion. Scalars stay on the device."""
    q, alpha = g.clone(), []
    for s, y, rho, _ in reversed(pairs):
        a = rho * s.dot(q)
        alpha.append(a)
        q -= a * y
    if pairs:
        q *= pairs[-1][3]
    for (s, y, rho, _), a in zip(pairs, reversed(alpha)):
        q += (a - rho * y.dot(q)) * s
    return -q
