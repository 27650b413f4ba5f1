#!/usr/bin/python3
"""Times this package beside POT and scipy on the same inputs in the same run.

    /usr/bin/python3 wasserstein/testdata/compare/compare.py

needs Go and Debian's python3-pot and python3-scipy (sid has the newest). It installs nothing, writes
to a temporary folder only, and adds nothing to go.mod. Each figure is the best
of three runs, of lazy-n that of one. The peers run twice: on one thread
(OMP_NUM_THREADS=1) and with their defaults. Our figures include the certificate.
It fails where the values disagree by more than 1e-9.

emd-n       ot.emd and Between: random measures on two times n uniform points of
            the plane, costs given
lazy-n      the same with the points given: W1Points stores no costs; ot.emd has to,
            which takes no part of its time here
vec-n       the same of normal vectors of 100 numbers, whose distances W1Points stores
lsa-n, -nu  scipy.optimize.linear_sum_assignment and Assignment: the same points,
            and uniform random costs
w1d-n       scipy.stats.wasserstein_distance and W1Samples: normal samples
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS = ["emd-1000", "emd-3000", "lazy-10000", "vec-3000", "lsa-1000", "lsa-3000", "lsa-1000u", "lsa-3000u", "w1d-1000000"]


def write(folder):
    rng = np.random.default_rng(1)

    def save(task, **parts):
        for part, v in parts.items():
            v.astype("<f8").tofile(os.path.join(folder, f"{task}.{part}"))

    for n in (1000, 3000):
        x, y = rng.random((n, 2)), rng.random((n, 2))
        a, b = rng.random(n), rng.random(n)
        cost = np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))
        save(f"emd-{n}", cost=cost, a=a / a.sum(), b=b / b.sum())
        save(f"lsa-{n}", cost=cost)
        save(f"lsa-{n}u", cost=rng.random((n, n)))
    for task, n, dim, draw in (("lazy-10000", 10000, 2, rng.random), ("vec-3000", 3000, 100, rng.standard_normal)):
        x, y = draw((n, dim)), draw((n, dim))
        a, b = rng.random(n), rng.random(n)
        save(task, x=x, y=y, a=a / a.sum(), b=b / b.sum())
    save("w1d-1000000", a=rng.normal(size=10**6), b=rng.normal(0.1, 1.1, size=10**6))


def peers(folder):
    import ot
    from scipy.optimize import linear_sum_assignment
    from scipy.stats import wasserstein_distance

    def read(task, part):
        return np.fromfile(os.path.join(folder, f"{task}.{part}"))

    for task in TASKS:
        kind, runs = task.split("-")[0], 3
        if kind in ("lazy", "vec"):
            a, b = read(task, "a"), read(task, "b")
            x, y = (read(task, part).reshape(len(a), -1) for part in "xy")
            cost, runs = ot.dist(x, y, "euclidean"), 1 if kind == "lazy" else 3
            run = lambda: ot.emd(a, b, cost, numItermax=10**8)
            value = lambda r: (r * cost).sum()
        elif kind == "w1d":
            a, b = read(task, "a"), read(task, "b")
            run = lambda: wasserstein_distance(a, b)
            value = lambda r: r
        else:
            cost = read(task, "cost")
            n = int(np.sqrt(cost.size))
            cost = cost.reshape(n, n)
            if kind == "emd":
                a, b = read(task, "a"), read(task, "b")
                run = lambda: ot.emd(a, b, cost, numItermax=10**7)
                value = lambda r: (r * cost).sum()
            else:
                run = lambda: linear_sum_assignment(cost)
                value = lambda r: cost[r].sum()
        best = np.inf
        for _ in range(runs):
            start = time.perf_counter()
            r = run()
            best = min(best, time.perf_counter() - start)
        print(task, best, repr(float(value(r))), flush=True)


def collect(command, **env):
    out = subprocess.run(command, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {task: (float(t), float(v)) for task, t, v in map(str.split, out.splitlines())}


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        ours = os.path.join(folder, "ours")
        subprocess.run(["go", "build", "-o", ours, os.path.join(HERE, "ours.go")], check=True, cwd=HERE)
        mine = collect([ours, folder, *TASKS])
        one = collect([sys.executable, __file__, folder], OMP_NUM_THREADS="1")
        free = collect([sys.executable, __file__, folder])
    import ot
    import scipy

    print(f"POT {ot.__version__}, scipy {scipy.__version__}, {subprocess.run(['go', 'version'], stdout=subprocess.PIPE, text=True).stdout.strip()}")
    print(f"{'task':12} {'ours s':>9} {'1 thread s':>11} {'default s':>10} {'ratio':>6}  difference")
    bad = False
    for task in TASKS:
        t, v = mine[task]
        diff = abs(v - one[task][1]) / one[task][1]
        bad |= not diff <= 1e-9
        peer = min(one[task][0], free[task][0])
        print(f"{task:12} {t:9.4f} {one[task][0]:11.4f} {free[task][0]:10.4f} {peer / t:6.2f}  {diff:.1e}")
    print("ratio: the peer's better time over ours")
    if bad:
        sys.exit("the values disagree")


if len(sys.argv) > 1:
    peers(sys.argv[1])
else:
    main()
