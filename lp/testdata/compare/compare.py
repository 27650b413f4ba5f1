#!/usr/bin/python3
"""Times this package beside HiGHS, on the same points in the same run, and prints
Markdown tables.

    /usr/bin/python3 lp/testdata/compare/compare.py [--quick] [--limit 600] [--points FILE]

needs Go and Debian's python3-scipy, and asks HiGHS by python3-highspy where that is
installed (Debian sid has 1.14), else by scipy (1.10 has HiGHS 1.2). It installs
nothing, writes to a temporary folder only, and adds nothing to go.mod. --quick leaves
out what takes more than half a minute. The points are n uniform ones in [0,10]^2 by
default_rng(n), or read from a file such as ../points.csv (n,i,x,y). N x K are the N
crossings of a road-like graph and K of them as outputs; HiGHS, too, gets the rows of
its edges only, which imply all others.

Each figure is the best of up to three runs, of which none begins after ten
seconds of them. HiGHS gets the program ready made, in sparse matrices: only its
run is timed. It uses one thread: scipy asks for the serial simplex, and its
interior point method (IPX) has no other. Every run may take --limit seconds. It runs as

    simplex             the serial dual simplex
    interior            interior point, which ends with a crossover to a vertex
    without crossover   the same with run_crossover off: scipy has no such option, so
                        a private function of it is wrapped

with default tolerances, presolve on. Ours runs with both cores and with GOMAXPROCS=1;
its time is from the points to the audited channel with its certificate.

The privacy rows M[u,w] <= e^(eps d) M[v,w] are written symmetrically, as
e^(-eps d/2) M[u,w] <= e^(eps d/2) M[v,w]: of three ways HiGHS was fastest with that
one at eps = .5, n = 50, by a few per cent. At eps = 3 all three are tried.

"violation" is the audit of an answer, its rows normalized: the largest
ln M[u,w] - ln M[v,w] - eps d(u,v), infinite where an output is possible for one
input and impossible for another. "made private" is the loss after mixing in as
little of the uniform distribution as mends that; "broken" counts the constraints broken by
more than 1e-9. "ratio" is the time of HiGHS over ours.

It fails where two objectives differ by more than 1e-6, where ours breaks a
constraint, or where its bound is above what HiGHS attained.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS, ALLOWED = 3, 10.0  # as in ours.go
NEIGHBOURS, LAMBDA = 10, 50.0
AGREE = 1e-6  # two objectives, relative
ROUNDING = 1e-12  # of the audit here: ours may seem to break a constraint by that
SLACK = 1e-7  # HiGHS's own tolerance: its objective may be that far below the optimum
FORMS = {"exp": 0.0, "symmetric": 0.5, "inverse": 1.0}  # share of e^(eps d) on the left
METHODS = {"simplex": "highs-ds", "interior": "highs-ipm", "without crossover": "highs-ipm"}


def distances(x):
    return np.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def optmech(d, pairs, loss, eps, form):
    """The program of OPTMech in M[u,w], row by row, and k: privacy d on the pairs."""
    import scipy.sparse as sp

    (n, k), (u, v), share = loss.shape, pairs, FORMS[form]
    left, right = np.exp(-share * eps * d[u, v]), np.exp((1 - share) * eps * d[u, v])
    one = sp.identity(k)
    each = np.arange(len(u))
    pick = lambda value, i: sp.coo_matrix((value, (each, i)), shape=(len(u), n))
    privacy = sp.kron(pick(left, u) - pick(right, v), one).tocsr()
    # Output by output: HiGHS's simplex takes half the time of pair by pair.
    privacy = privacy[np.arange(privacy.shape[0]).reshape(-1, k).T.ravel()]
    privacy = sp.hstack([privacy, sp.coo_matrix((privacy.shape[0], 1))])
    losses = sp.hstack([sp.block_diag([loss[i : i + 1] for i in range(n)]), -np.ones((n, 1))])
    sums = sp.hstack([sp.kron(sp.identity(n), np.ones((1, k))), sp.coo_matrix((n, 1))])
    upper = sp.vstack([privacy, losses]).tocsc()
    return dict(
        c=np.r_[np.zeros(n * k), 1.0], A_ub=upper, b_ub=np.zeros(upper.shape[0]), A_eq=sums.tocsc(), b_eq=np.ones(n)
    )


def roads(n, k):
    """Edges (u, v, length): a grid whose crossings are moved at random, two fifths of
    the streets in one direction closed. Loops mark k nodes as outputs."""
    r, side = np.random.default_rng(n), round(n**0.5)
    at = np.arange(n).reshape(side, side)
    x = np.stack(np.divmod(at.ravel(), side), axis=1) + r.uniform(-0.35, 0.35, (n, 2))
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    down = down[(down[:, 0] % side == 0) | (r.uniform(size=len(down)) >= 0.4)]
    loops = np.repeat(np.sort(r.choice(n, k, replace=False))[:, None], 2, axis=1)
    ends = np.concatenate([np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1), down, loops])
    return np.column_stack([ends, np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1)])


class Task:
    """A program by its name: opt-n-eps and const-n-eps on points, roads-NxK-eps on
    the edges of a graph of N nodes with K outputs."""

    def __init__(self, name, data):
        self.kind, size, eps = name.split("-")
        self.n, self.eps, self.data = int(size.split("x")[0]), float(eps), data
        if self.kind == "roads":
            from scipy.sparse import coo_matrix
            from scipy.sparse.csgraph import dijkstra

            u, v = data[:, :2].astype(int).T
            d = dijkstra(coo_matrix((data[:, 2], (u, v)), shape=(self.n, self.n)), directed=False)
            self.d, self.loss = (d + d.T) / 2, d[:, u[u == v]]
            self.pairs = (np.r_[u[u != v], v[u != v]], np.r_[v[u != v], u[u != v]])
        else:
            self.d, self.pairs = distances(data), np.nonzero(~np.eye(self.n, dtype=bool))
            self.loss = self.d
        self.k = self.loss.shape[1]

    def program(self, form):
        if self.kind == "const":
            return constopt(self.data, self.eps)
        return optmech(self.d, self.pairs, self.loss, self.eps, form)


def constopt(x, eps):
    """The program of ConstOPT in Y_v, M[u,v] for u in I(v), and k."""
    import scipy.sparse as sp

    n, d = len(x), distances(x)
    near = np.argsort(d, axis=1, kind="stable")[:, :NEIGHBOURS]
    inside = np.zeros((n, n), dtype=bool)  # [u, v]: u is in I(v)
    inside[np.arange(n)[:, None], near] = True
    at = np.full((n, n), -1)
    at[inside] = n + np.arange(inside.sum())
    k = n + inside.sum()
    rows, columns, values, bound = [], [], [], []

    def add(limit, column, value):  # sum of value*x[column] <= limit
        rows.extend([len(bound)] * len(column))
        columns.extend(column)
        values.extend(value)
        bound.append(limit)

    for u in range(n):
        share = np.where(inside[u], 1, np.exp(-eps * d[u]))
        column = np.where(inside[u], at[u], np.arange(n))
        add(0, [*column, k], [*(share * (d[u] + LAMBDA)), -1])
        add(-1, column, -share)
    for w in range(n):
        members, others = np.flatnonzero(inside[:, w]), np.flatnonzero(~inside[:, w])
        for u in members:
            for v in members:
                if u != v:
                    e = eps * d[u, v] / 2
                    add(0, [at[u, w], at[v, w]], [np.exp(-e), -np.exp(e)])
            most = np.exp(eps * (d[u, others] - d[others, w])).min(initial=np.inf)
            least = np.exp(-eps * (d[others, w] + d[others, u])).max(initial=0)
            if most < np.inf:
                add(0, [at[u, w], w], [1, -most])
                add(0, [w, at[u, w]], [least, -1])
    upper = sp.coo_matrix((values, (rows, columns)), shape=(len(bound), k + 1)).tocsc()
    return dict(c=np.r_[np.zeros(k), 1.0], A_ub=upper, b_ub=np.array(bound, dtype=float))


def audit(m, task):
    """The largest violation, how many constraints are broken, and the loss of the private mixture."""
    n, k, d, eps = task.n, task.k, task.d, task.eps
    m = np.maximum(m, 0)
    m = m / m.sum(axis=1, keepdims=True)
    worst, broken, odds = -np.inf, 0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(m)
        for u in range(n):
            over = log[u] - log - eps * d[u][:, None]
            over[np.isnan(over)] = -np.inf  # both are impossible
            worst, broken = max(worst, over.max()), broken + int((over > 1e-9).sum())
            # (1-t) m + t/k keeps a constraint where k (m_u - e m_v)/(e-1) <= t/(1-t).
            e = np.exp(np.delete(eps * d[u], u))[:, None]
            odds = max(odds, (k * (m[u] - e * np.delete(m, u, axis=0)) / (e - 1)).max(initial=0))
    mixed = (m + odds / k) / (1 + odds)
    return worst, broken, (mixed * task.loss).sum(axis=1).max()


def by_scipy(program, method, limit):
    """A function that runs HiGHS on the program: its solution and value, or why there is none."""
    import scipy
    import scipy.optimize._linprog_highs as private
    from scipy.optimize import linprog

    if method == "without crossover":
        solve, off = private._highs_wrapper, False if scipy.__version__ < "1.15" else "off"

        def wrapped(*args):
            args[-1]["run_crossover"] = off
            return solve(*args)

        private._highs_wrapper = wrapped  # this process does nothing else

    def run():
        r = linprog(**program, method=METHODS[method], options={"time_limit": limit})
        return (r.x, r.fun, None) if r.success else (None, None, r.message.split("(HiGHS ")[-1].split(";")[0].rstrip(")"))

    return run


def by_highspy(program, method, limit):
    import highspy
    import scipy.sparse as sp

    lp, free = highspy.HighsLp(), highspy.kHighsInf
    rows = sp.vstack([program["A_ub"], program["A_eq"]]).tocsc() if "A_eq" in program else program["A_ub"]
    equal = program.get("b_eq", np.zeros(0))
    lp.num_row_, lp.num_col_ = rows.shape
    lp.col_cost_, lp.col_lower_ = program["c"], np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, free)
    lp.row_lower_ = np.r_[np.full(len(program["b_ub"]), -free), equal]
    lp.row_upper_ = np.r_[program["b_ub"], equal]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    h.setOptionValue("solver", "simplex" if method == "simplex" else "ipx")
    h.setOptionValue("run_crossover", "off" if method == "without crossover" else "on")

    def run():
        h.clearSolver()
        if h.passModel(lp) == highspy.HighsStatus.kError:
            return None, None, "Model error"
        h.setOptionValue("time_limit", h.getRunTime() + limit)
        h.run()
        if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None, None, h.modelStatusToString(h.getModelStatus())
        return np.array(h.getSolution().col_value), h.getInfo().objective_function_value, None

    return run


def highs_version():
    try:
        import highspy

        return "HiGHS " + highspy.Highs().version()
    except ImportError:
        return "HiGHS of scipy"


def peer(folder, task, method, form, limit):
    """Runs HiGHS in this process and prints what came of it as JSON."""
    columns = 3 if task.startswith("roads") else 2
    task = Task(task, np.fromfile(os.path.join(folder, task.split("-")[1])).reshape(-1, columns))
    solver = by_scipy if highs_version().endswith("scipy") else by_highspy
    run = solver(task.program(form), method, limit)
    times = []
    while len(times) < RUNS and sum(times) < ALLOWED:
        start = time.perf_counter()
        x, value, cause = run()
        times.append(time.perf_counter() - start)
        if cause:
            late = times[-1] > 0.9 * limit
            print(json.dumps({"failed": f"unfinished after {limit:g} s" if late else cause}))
            return
    result = {"seconds": min(times), "objective": value}
    if task.kind != "const":
        m = x[:-1].reshape(task.n, task.k)
        result["violation"], result["broken"], result["private"] = audit(m, task)
    print(json.dumps(result))


class Comparison:
    def __init__(self, folder, points, limit):
        self.folder, self.limit, self.faults = folder, limit, []
        self.points = points
        self.binary = os.path.join(folder, "ours")
        source = os.path.join(HERE, "ours.go")
        subprocess.run(["go", "build", "-o", self.binary, source], check=True, cwd=HERE)

    def data(self, name):
        """Points or edges."""
        kind, size, _ = name.split("-")
        if kind == "roads":
            return roads(*(int(v) for v in size.split("x")))
        return self.points(int(size))

    def ours(self, tasks):
        """Results with all cores and with one: two dicts by task."""
        tasks = {name: Task(name, self.data(name)) for name in tasks}
        for name, task in tasks.items():
            task.data.astype("<f8").tofile(os.path.join(self.folder, name.split("-")[1]))
        found = []
        for env in ({}, {"GOMAXPROCS": "1"}):
            command = [self.binary, self.folder, *tasks]
            env = {**os.environ, **env}
            out = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
            found.append({r["task"]: r for r in map(json.loads, out.splitlines())})
        for r in found[0].values():
            top, bound = r["objective"], r["bound"]
            self.check(top - bound <= AGREE * top, f"{r['task']}: the gap of [{bound!r}, {top!r}]")
            if "matrix" in r:
                r["violation"], r["broken"], _ = audit(np.array(r["matrix"]), tasks[r["task"]])
                self.check(r["violation"] <= ROUNDING, f"{r['task']}: a constraint broken by {r['violation']}")
        return found

    def highs(self, task, method, form="symmetric"):
        command = [sys.executable, __file__, "--peer", self.folder, task, method, form, str(self.limit)]
        try:
            # The solver looks at the clock now and then only. Up to ALLOWED seconds
            # of runs come before the last one.
            end = 1.1 * self.limit + ALLOWED + 30
            p = subprocess.run(command, capture_output=True, text=True, timeout=end)
        except subprocess.TimeoutExpired:
            return {"failed": f"unfinished after {self.limit:g} s"}
        if p.returncode != 0:
            return {"failed": f"crashed: {p.stderr.strip().splitlines()[-1:]}"}
        return json.loads(p.stdout)

    def check(self, good, fault):
        if not good:
            self.faults.append(fault)

    def agree(self, task, mine, r):
        """Checks r of HiGHS against ours, and returns the relative difference."""
        theirs, our, bound = r["objective"], mine["objective"], mine["bound"]
        diff = abs(theirs - our) / our
        self.check(diff <= AGREE, f"{task}: {theirs!r} is not {our!r}")
        self.check(bound <= theirs * (1 + SLACK), f"{task}: the bound {bound!r} is above {theirs!r}")
        return diff


def show(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(title, *cells):
    print(f"\n{title}\n")
    show(*cells)
    show(*["---"] * len(cells))


def versions():
    import scipy

    go = subprocess.run(["go", "env", "GOVERSION"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{go}, {highs_version()}, scipy {scipy.__version__}, numpy {np.__version__}, {cores} cores, load {load:.1f}")


def optimal(c, kind, title, eps, sizes):
    """sizes: n or NxK, and the methods of HiGHS to try there."""
    tasks = {n: f"{kind}-{n}-{eps}" for n in sizes}
    two, one = c.ours(tasks.values())
    columns = [title, "solver", "objective", "certified gap", "violation", "seconds", "ratio", "ratio, one core"]
    header(f"OPTMech, eps = {eps}", *columns)
    for n, task in tasks.items():
        mine = two[task]
        t2, t1 = mine["seconds"], one[task]["seconds"]
        gap = f"{1 - mine['bound'] / mine['objective']:.1e}"
        violation = f"{max(0, mine['violation']):.1g}"
        show(str(n), "ours, all cores", f"{mine['objective']:.9f}", gap, violation, f"{t2:.3f}", "", "")
        show(str(n), "ours, one core", f"{one[task]['objective']:.9f}", "", "", f"{t1:.3f}", "", "")
        for method in sizes[n]:
            r = c.highs(task, method)
            if "failed" in r:
                late = "unfinished" in r["failed"]
                ratios = [f"> {c.limit / t:.0f}" for t in (t2, t1)] if late else ["", ""]
                show(str(n), f"HiGHS {method}", "", "none", "", r["failed"], *ratios)
                continue
            c.agree(f"{task} {method}", mine, r)
            t, violation = r["seconds"], f"{max(0, r['violation']):.1g}"
            ratios = [f"{t / t2:.1f}", f"{t / t1:.1f}"]
            show(str(n), f"HiGHS {method}", f"{r['objective']:.9f}", "none", violation, f"{t:.3f}", *ratios)


def steep(c, eps, n):
    task = f"opt-{n}-{eps}"
    mine = c.ours([task])[0][task]
    columns = ["solver", "privacy rows", "objective", "violation", "broken", "made private", "seconds"]
    header(f"OPTMech, eps = {eps}, n = {n}", *columns)
    loss, violation = f"{mine['objective']:.9f}", f"{max(0, mine['violation']):.1g}"
    show("ours", "", loss, violation, str(mine["broken"]), loss, f"{mine['seconds']:.3f}")
    for method in METHODS:
        for form in FORMS:
            r = c.highs(task, method, form)
            if "failed" in r:
                show(f"HiGHS {method}", form, r["failed"], "", "", "", "")
                continue
            loss, private = r["objective"], r["private"]
            bound = mine["bound"]
            c.check(private >= bound, f"{task} {method} {form}: {private!r} is below the bound {bound!r}")
            cells = [f"{loss:.9f}", f"{r['violation']:.2g}", str(r["broken"]), f"{private:.9f}"]
            show(f"HiGHS {method}", form, *cells, f"{r['seconds']:.3f}")
    print(
        "\nexp: M[u,w] <= e^(eps d) M[v,w]; inverse: e^(-eps d) M[u,w] <= M[v,w]; symmetric: between."
        "\nModel error: HiGHS refuses coefficients above 1e15."
    )


def replacement(c, eps, sizes):
    tasks = {n: f"const-{n}-{eps}" for n in sizes}
    two, one = c.ours(tasks.values())
    columns = ["n", "solver", "objective of the program", "difference", "seconds", "ratio", "ratio, one core"]
    header(f"ConstOPT, lambda = {LAMBDA:g}, budget {eps}, r = {NEIGHBOURS}", *columns)
    for n, task in tasks.items():
        mine = two[task]
        t2, t1 = mine["seconds"], one[task]["seconds"]
        show(str(n), "ours, all cores", f"{mine['objective']:.9f}", "", f"{t2:.3f}", "", "")
        show(str(n), "ours, one core", f"{one[task]['objective']:.9f}", "", f"{t1:.3f}", "", "")
        for method in ("interior", "without crossover"):
            r = c.highs(task, method)
            if "failed" in r:
                show(str(n), f"HiGHS {method}", "", "", r["failed"], "", "")
                c.check(False, f"{task} {method}: {r['failed']}")
                continue
            t = r["seconds"]
            diff = f"{c.agree(f'{task} {method}', mine, r):.1e}"
            ratios = [f"{t / t2:.2f}", f"{t / t1:.2f}"]
            show(str(n), f"HiGHS {method}", f"{r['objective']:.9f}", diff, f"{t:.3f}", *ratios)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="only what takes half a minute each")
    p.add_argument("--limit", type=float, default=600, help="seconds for every run of HiGHS")
    p.add_argument("--points", help="a file of lines n,i,x,y with a header; default: generated")
    o = p.parse_args()
    if o.points:
        table = np.loadtxt(o.points, delimiter=",", skiprows=1)

    def points(n):
        if not o.points:
            return np.random.default_rng(n).uniform(0, 10, (n, 2))
        x = table[table[:, 0] == n][:, 2:]
        if len(x) != n:
            sys.exit(f"{o.points} has {len(x)} points of the set of {n}")
        return x

    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(folder, points, o.limit)
        versions()
        interior = ["interior", "without crossover"]
        sizes = {20: list(METHODS), 50: list(METHODS)}
        if not o.quick:
            sizes |= {75: interior, 100: []}
        optimal(c, "opt", "n", 0.5, sizes)
        sizes = {"49x7": list(METHODS), "100x10": list(METHODS)}
        if not o.quick:
            sizes |= {"225x10": interior, "400x20": interior}
        optimal(c, "roads", "N x K, roads", 0.5, sizes)
        steep(c, 3, 20)
        replacement(c, 0.5, [150] if o.quick else [150, 400])
    if c.faults:
        sys.exit("\n".join(["", *c.faults]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:6], float(sys.argv[6]))
    else:
        main()
