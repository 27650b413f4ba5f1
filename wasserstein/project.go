package wasserstein

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/project"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
	"gonum.org/v1/gonum/floats"
)

// Projection is the answer of [Project].
type Projection struct {
	// P is a nearest probability measure: weights >= 0 whose sum errs from 1 by
	// rounding and by what the total of g did.
	P []float64
	// Cost is its distance from g, within [Lower, Upper], which encloses the
	// distance from g to the nearest probability measure as a [Certificate] does.
	Cost, Lower, Upper float64
	// Plan moves mass, sorted by (I, J): P is g after that.
	Plan []Flow
	// Pivots and Passes are as in [Result].
	Pivots, Passes int

	unit metric.Unit // of the distances
}

// String is a line: the number of weights, and the cost as [Result] has it.
func (p *Projection) String() string {
	return fmt.Sprintf("measure on %d points at %s", len(p.P), proved(p.Cost, p.Lower, p.Upper, p.unit))
}

// Gap returns Upper-Lower, rounded up.
func (p *Projection) Gap() float64 { return directed.SubUp(p.Upper, p.Lower) }

// ProjectOptions are the settings of [Project], as in [Options].
type ProjectOptions struct {
	Lazy      bool                                   // computes distances anew in every pass
	MaxPivots int                                    // ends the work early; 0 means no limit
	Progress  func(pivots int, lower, upper float64) // called after every pass
	Workers   int                                    // goroutines; 0 means one a processor
}

// Why Project finds the nearest. It fills the negative part N of g = G - N from the positive part G
// at least cost: let T be a plan of least cost that moves N's mass out of G, and p what it leaves
// of G, of total 1. T shows p to be within cost(T) of g. The distance of g and any probability
// measure q depends on g - q = G - (N + q) alone, so it is that of G and N + q. A plan from G to N
// + q, cut down in each column to N's share, moves N's mass out of G: it costs cost(T) or more. A
// sink that takes the mass p at no cost balances the problem.

// Project returns a probability measure on the points of f that is nearest, in the distance of
// [W1], to the signed measure with finite weights g, whose total is 1 up to rounding
// ([*MassError]). P's total differs from 1 by the rounding of g, up to some n ulps of its largest
// weight. A probability measure comes back bit for bit. Errors, cost and memory are as for W1.
func Project(ctx context.Context, f metric.Finite, g []float64, o *ProjectOptions) (*Projection, error) {
	const op = "wasserstein: Project"
	n := fault.Len(f)
	if err := checkSigned(op, g, n); err != nil {
		return nil, err
	}
	var src, dst []int
	var keep exact.DD
	if o == nil {
		o = new(ProjectOptions)
	}
	t := transport{op: op, sure: true, opt: &Options{Lazy: o.Lazy, MaxPivots: o.MaxPivots, Progress: o.Progress, Workers: o.Workers}}
	for i, w := range g {
		keep = keep.AddFloat(w)
		if w > 0 {
			src, t.mu = append(src, i), append(t.mu, w)
		} else if w < 0 {
			dst, t.nu = append(dst, i), append(t.nu, -w)
		}
	}
	if tol := massTol(n, floats.Norm(g, 1)); !(keep.Hi-1 <= tol && 1-keep.Hi <= tol) {
		return nil, &MassError{op, keep.Hi, 1, tol}
	}
	if len(dst) == 0 {
		return &Projection{P: slices.Clone(g), unit: metric.UnitOf(f)}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if tree, p, err := nearest(f, g); err != nil {
		return nil, fault.Within(op, err)
	} else if tree != nil {
		return projected(ctx, op, f, tree, p, g, o.Workers)
	}
	stay := len(dst)
	t.nu = append(t.nu, keep.Hi)
	t.cost = CostFunc(len(src), len(dst)+1, func(i, j int) float64 {
		if j == stay {
			return 0
		}
		return f.Distance(src[i], dst[j])
	})
	t.moveAll()
	// To begin with, what stays is what the negative points leave.
	t.opt.U, t.opt.V = make([]float64, len(t.mu)), make([]float64, len(t.nu))
	t.opt.V[stay] = -rows.Max
	r, err := t.solve(ctx)
	if err != nil {
		return nil, err
	}
	p := &Projection{P: make([]float64, n), Cost: r.Cost, Lower: r.Lower, Upper: r.Upper, Pivots: r.Pivots, Passes: r.Passes, unit: metric.UnitOf(f)}
	left := make([]exact.DD, len(src))
	for i, w := range t.mu {
		left[i].Hi = w
	}
	for _, e := range r.Plan {
		if e.J != stay {
			left[e.I] = left[e.I].AddFloat(-e.Mass)
			p.Plan = append(p.Plan, Flow{src[e.I], dst[e.J], e.Mass})
		}
	}
	for i, w := range left {
		p.P[src[i]] = max(0, w.Hi)
	}
	if floats.Sum(p.P) == 0 { // mass 1 is lost in the rounding of large weights
		p.P[src[floats.MaxIdx(t.mu)]] = 1
	}
	return p, nil
}

// nearest returns the tree that the points of f lie on and the probability measure on
// them that [ProjectLine] or [ProjectTree] finds, or nil where there is no such tree, or
// points lie at its inner nodes.
func nearest(f metric.Finite, g []float64) (t *pathTree, p []float64, err error) {
	var tree *metric.Tree
	switch s := f.(type) {
	case *metric.Clustered, *metric.Ultrametric:
		t = pathTreeOf(f)
		tree, err = metric.NewTree(t.parent, t.length)
	case interface{ Tree() (*metric.Tree, []int) }:
		var at []int
		if tree, at = s.Tree(); !slices.Equal(at, tree.Leaves()) {
			return nil, nil, nil
		}
		t = nodeTree(tree, at)
	default:
		x, ok := finite.Line(f)
		if !ok || floats.HasNaN(x) || floats.Norm(x, math.Inf(1)) > lineMax {
			return nil, nil, nil
		}
		if t = lineTree(f); t == nil {
			t, _ = straight(x)
		}
		p, _, err = ProjectLine(x, g)
		return t, p, err
	}
	if err == nil {
		p, _, err = ProjectTree(tree, g)
	}
	return t, p, err
}

// projected proves how near p is to g, points lying on t.
//
// For potentials with u_i + v_j <= d(i,j), u <= 0 and v >= 0, every probability measure q
// is at least sum u_i G_i + sum v_j (N_j + q_j) away from g = G - N: see above [Project].
// So v_j q_j may be left out.
func projected(ctx context.Context, op string, f metric.Finite, t *pathTree, p, g []float64, workers int) (*Projection, error) {
	n := len(g)
	move := transport{op: op, cost: metricCost{f}, mu: make([]float64, n), nu: make([]float64, n)}
	less, keep := make([]float64, n+1), exact.DD{}
	for i, w := range g {
		move.mu[i], less[i] = max(0, w), max(0, -w)
		move.nu[i] = p[i] + less[i]
		keep = keep.AddFloat(w)
		if d := (exact.DD{Hi: w}).AddFloat(-p[i]); d.Hi > 0 {
			move.src.add(i, d)
		} else if d.Hi < 0 {
			move.dst.add(i, d.Neg())
		}
		if stay := min(move.mu[i], move.nu[i]); stay > 0 {
			move.plan = append(move.plan, Flow{i, i, stay})
		}
	}
	less[n] = keep.Hi
	plan := append(move.plan, t.plan(&move.src, &move.dst)...)
	v := t.slopes(p, g)
	var u []float64
	var largest float64
	if t.close {
		if u, largest = t.sources(v); largest > rows.Max {
			u = nil
		}
	}
	c, err := certify(ctx, op, move.cost, placesOf(move.cost), move.mu, move.nu, plan, u, v, largest, workers)
	if err != nil {
		return nil, err
	}
	for i := range c.U {
		c.U[i] = min(c.U[i], 0)
	}
	bound, err := boundTotals(op, move.mu, less, 0)
	if err != nil {
		return nil, err
	}
	plan = slices.DeleteFunc(plan, func(w Flow) bool { return w.I == w.J })
	slices.SortFunc(plan, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	r := &Projection{P: p, Plan: plan, Upper: c.Upper, unit: metric.UnitOf(f)}
	r.Lower = lowerBound(move.mu, less, c.U, append(slices.Clone(v), 0), bound)
	r.Cost = min(max(c.Cost, r.Lower), r.Upper)
	return r, nil
}

// ProjectLine returns a probability measure p on the points x of the real line that is
// nearest to the signed measure with weights g there, and its distance from it,
//
//	sum over k < n of gap_k * |F_k - G_k|,
//
// F and G the partial sums of p and g in ascending order of the points: the [Distance]
// where g has total 1; what it lacks counts as if at the largest point. Of nearest p, F is
// that of [IsotonicL1] in [0, 1].
//
// p has weights >= 0 that sum to 1 within len(x)*2^-54; a probability measure comes back
// bit for bit. dist errs by some 2^-52 of its terms, and is +Inf on overflow. Positions lie
// in [-1e300, 1e300], g is finite with a finite total variation: [metric.ErrEmpty],
// [*metric.SizeError], [*metric.ValueError]. O(n log n).
func ProjectLine(x, g []float64) (p []float64, dist float64, err error) {
	const op = "wasserstein: ProjectLine"
	if err := cmp.Or(lineCheck(op, "x", x), checkSigned(op, g, len(x))); err != nil {
		return nil, 0, err
	}
	if isProbability(g) {
		return slices.Clone(g), 0, nil
	}
	n := len(x)
	order := lineOrder(x)
	sums, gaps := make([]float64, n), make([]float64, n)
	var t exact.DD
	for k := range n {
		i := lineAt(order, k)
		t = t.AddFloat(g[i])
		sums[k] = t.Hi
		if k+1 < n {
			gaps[k] = x[lineAt(order, k+1)] - x[i]
		}
	}
	f := project.IsotonicL1(sums, gaps, 0, 1)
	f[n-1] = 1 // of weight 0
	p = make([]float64, n)
	var cost exact.DD
	below := 0.0
	for k, v := range f {
		p[lineAt(order, k)] = v - below
		below = v
		cost = cost.AddFloat(float64(gaps[k] * math.Abs(v-sums[k])))
	}
	return p, sumOrInf(cost), nil
}

// IsotonicL1 returns the ascending list f with values in [lo, hi] of the least
//
//	sum over k of w[k] * |f[k] - g[k]|,
//
// the isotonic median regression of g: of several lists the midpoint of the smallest and
// the largest, cut off at the bounds. An entry of weight 0 gets the value nearest to g[k]
// in [f[k-1], the next of positive weight].
//
// g holds at most 2^30 finite numbers, w numbers in [0, math.MaxFloat64/2] (nil: ones); lo
// <= hi may be infinite. Weights may be rounded. Errors are [metric.ErrEmpty],
// [*metric.SizeError] and [*metric.ValueError]. O(n log n).
func IsotonicL1(g, w []float64, lo, hi float64) ([]float64, error) {
	const op = "wasserstein: IsotonicL1"
	if w == nil {
		w = slices.Repeat([]float64{1}, len(g))
	}
	if err := cmp.Or(lineSize(op, "g", len(g)), fault.AllFinite(op, "g", g), checkLen(op, "w", len(w), len(g))); err != nil {
		return nil, err
	}
	for k, v := range w {
		if !(v >= 0 && v <= math.MaxFloat64/2) { // a slope changes by 2v
			return nil, &fault.ValueError{Op: op, Arg: "w", Index: k, Value: v, Want: "a number in [0, math.MaxFloat64/2]"}
		}
	}
	if math.IsNaN(lo) || math.IsInf(lo, 1) {
		return nil, fault.Value(op, "lo", lo, "a number below +Inf")
	}
	if !(hi >= lo) || math.IsInf(hi, -1) {
		return nil, fault.Value(op, "hi", hi, fmt.Sprintf("a number >= lo = %v, above -Inf", lo))
	}
	return project.IsotonicL1(g, w, lo, hi), nil
}

// ProjectTree returns a probability measure p on the leaves of t that is nearest to the
// signed measure with weights g there, and its distance from it,
//
//	sum over nodes v but the root of t.Length(v) * |P_v - G_v|,
//
// P and G the sums of p and g below a node: the [Distance] under t.PathMetric() where g has
// total 1; what it lacks counts as if at the root. Weight k lies on leaf t.Leaves()[k].
// Ties go to what is nearest in the Euclidean norm, from the top down.
//
// p's total is as close to 1 as [W1] asks; a probability measure comes back bit for bit.
// Lengths are rounded to multiples of 2^-98 of the height, sums of g to float64. Bounds and
// errors are those of [ProjectLine]. O(n log n), about 250 bytes a node.
func ProjectTree(t *metric.Tree, g []float64) (p []float64, dist float64, err error) {
	const op = "wasserstein: ProjectTree"
	if err := fault.Empty(op, "t", fault.Len(t)); err != nil {
		return nil, 0, err
	}
	leaves := t.Leaves()
	if err := checkSigned(op, g, len(leaves)); err != nil {
		return nil, 0, err
	}
	if isProbability(g) {
		return slices.Clone(g), 0, nil
	}
	zeros := make([]float64, len(leaves))
	tree := nodeTree(t, leaves)
	below := tree.below(g, zeros)
	mass := project.Tree(t, below)
	p = make([]float64, len(leaves))
	for k, v := range leaves {
		p[k] = mass[v]
	}
	for v, d := range tree.below(p, zeros) {
		below[v] = d.Add(below[v].Neg())
	}
	return p, tree.cost(below), nil
}

// ProjectSimplex returns the vector with entries >= 0 and the given total that is nearest to g in
// the Euclidean norm, max(0, g[i]-tau) for the right tau, in dst where its capacity allows, which
// must not overlap g. The sum is total within len(g)*2^-52 times it. g is finite and not empty
// ([metric.ErrEmpty]), total finite and >= 0 ([*metric.ValueError]). O(n log n).
func ProjectSimplex(g []float64, total float64, dst []float64) ([]float64, error) {
	const op = "wasserstein: ProjectSimplex"
	if err := cmp.Or(fault.Empty(op, "g", len(g)), fault.AllFinite(op, "g", g), fault.NonNegative(op, "total", total)); err != nil {
		return nil, err
	}
	return project.Simplex(g, total, slices.Grow(dst[:0], len(g))[:len(g)]), nil
}
