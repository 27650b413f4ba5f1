package wasserstein

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
	"github.com/metricdp/metricdp/wasserstein/internal/simplex"
)

// Options are the settings of [W1], [W1Points] and [Between]; nil and zeros mean the defaults.
type Options struct {
	// U and V, if not nil, are potentials of all sources and sinks to start from, as of
	// an earlier [Result] on the same costs. They change the time, and which of several
	// optimal plans comes out. They are only read.
	U, V []float64
	// Lazy computes costs anew in every pass: about 500 bytes a point, and 16 a coordinate,
	// instead of 8 bytes a pair, the same result. Never stored are costs beyond 1 GiB, and
	// distances of 200 points a side or more of R^d, d <= 6 ([metric.Embedded]).
	Lazy bool
	// Cells, where positive, asks for a bracket in place of the optimum, of points of R^d:
	// the optimal plan of so many cells of points. Lower and Upper are proved, and some
	// diameters of a cell apart: 4096 leave 0.5 % of the diameter of points in the plane.
	// MaxPivots, Progress, U and V are not for it.
	Cells int
	// MaxPivots ends the work after so many steps (not those of smaller problems to start
	// from); 0 means no limit. Lower and Upper then say how good the plan is.
	MaxPivots int
	// Progress, where not nil, is called before every pass with the pivots made and proved
	// bounds of the optimum, which takes another pass; and before all, for many points of
	// R^d, with the bounds of 1024 Cells.
	Progress func(pivots int, lower, upper float64)
	Workers  int // goroutines, with the same result; 0 means one a processor
}

// Flow moves Mass from source I to sink J.
type Flow struct {
	I, J int
	Mass float64
}

// Result is an optimal plan with its proof.
type Result struct {
	Certificate
	// Plan is sorted by (I, J), has at most n+m-1 entries (without Cells), all of
	// positive mass, and the marginals mu and nu up to Unmatched.
	Plan []Flow
	// Pivots is the number of simplex steps, Passes that of the passes over all costs.
	Pivots, Passes int

	unit metric.Unit // of the costs, "" where they are not known to be distances
}

// String is a line: the size of the plan, its cost in the unit of the metric if there
// is one, its bounds, and how far apart they are at most.
func (r *Result) String() string {
	return fmt.Sprintf("plan of %d flows at %s", len(r.Plan), proved(r.Cost, r.Lower, r.Upper, r.unit))
}

// proved says what a cost is and what is proved of the least.
func proved(cost, lower, upper float64, unit metric.Unit) string {
	return fmt.Sprintf("cost %s, the least in [%.6g, %.6g], gap %s", fault.Quantity(cost, 6, unit), lower, upper, fault.AtMost(directed.SubUp(upper, lower), 1))
}

// W1 returns the Wasserstein distance of order 1 of the measures mu and nu on the points of f,
// with a plan: the least cost of moving mu onto nu at f.Distance(i, j) a unit of mass. Weights
// are finite; what is negative in one is added to the other, and common mass stays.
// Errors: [*MassError], [metric.ErrEmpty], [*metric.SizeError], [*metric.ValueError].
func W1(ctx context.Context, f metric.Finite, mu, nu []float64, o *Options) (*Result, error) {
	const op = "wasserstein: W1"
	n := fault.Len(f)
	if err := checkMeasures(op, mu, nu, n, n, true); err != nil {
		return nil, err
	}
	return w1(ctx, op, f, mu, nu, o)
}

// w1 is W1 for checked measures. By duality the distance is
//
//	min over plans of the sum of plan[i,j]*d(i,j) = max over f of the sum of f[i]*(mu[i]-nu[i])
//
// for |f[i]-f[j]| <= d(i,j). Points of a line and trees have a closed form, unless U, V or
// Cells are set.
func w1(ctx context.Context, op string, f metric.Finite, mu, nu []float64, o *Options) (*Result, error) {
	if o == nil {
		o = new(Options)
	}
	if slices.Min(mu) < 0 || slices.Min(nu) < 0 {
		mu, nu = withParts(mu, nu), withParts(nu, mu)
	}
	t := transport{op: op, cost: metricCost{f}, mu: mu, nu: nu, opt: o}
	for i := range mu {
		if stay := min(mu[i], nu[i]); stay > 0 {
			t.plan = append(t.plan, Flow{i, i, stay})
		}
		d := exact.DD{Hi: mu[i]}.AddFloat(-nu[i])
		if d.Hi > 0 {
			t.src.add(i, d)
		} else if d.Hi < 0 {
			t.dst.add(i, d.Neg())
		}
	}
	if o.U == nil && o.V == nil && o.Cells == 0 {
		if p := pathTreeOf(f); p != nil {
			return t.along(ctx, p)
		}
	}
	return t.solve(ctx)
}

// withParts returns the positive part of mu with the negative part of nu.
func withParts(mu, nu []float64) []float64 {
	sum := make([]float64, len(mu))
	for i := range mu {
		sum[i] = max(0, mu[i]) + max(0, -nu[i])
	}
	return sum
}

// Between returns the least cost of moving the measure mu on n sources onto the measure nu on m
// sinks at the costs c, which need not be a metric. Weights are >= 0, their totals equal up to
// 2^-30 ([*MassError]). It is [W1] without mass that stays. A [Matrix] is not copied where all
// weights are positive.
func Between(ctx context.Context, c Cost, mu, nu []float64, o *Options) (*Result, error) {
	return between(ctx, "wasserstein: Between", c, mu, nu, o)
}

// W1Points is [Between] for the measure mu on the points x and nu on the points y at
// distances of s; nil stands for equal weights of sum 1. A flow goes from x[I] to y[J].
// Points may coincide; their errors are those of [metric.NewPoints], on x, then y. Of
// numbers [W1LineBetween] takes less time.
func W1Points[P any](ctx context.Context, s metric.Space[P], x []P, mu []float64, y []P, nu []float64, o *Options) (*Result, error) {
	const op = "wasserstein: W1Points"
	if err := cmp.Or(fault.Empty(op, "x", len(x)), fault.Empty(op, "y", len(y))); err != nil {
		return nil, err
	}
	f, err := metric.NewPoints(slices.Concat(x, y), s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	at := identity(f.Len())
	if mu == nil {
		mu = slices.Repeat([]float64{1 / float64(len(x))}, len(x))
	}
	if nu == nil {
		nu = slices.Repeat([]float64{1 / float64(len(y))}, len(y))
	}
	return between(ctx, op, &distances{f, at[:len(x)], at[len(x):]}, mu, nu, o)
}

func between(ctx context.Context, op string, c Cost, mu, nu []float64, o *Options) (*Result, error) {
	n, m := dims(c)
	if err := checkMeasures(op, mu, nu, n, m, false); err != nil {
		return nil, err
	}
	t := transport{op: op, cost: c, mu: mu, nu: nu, opt: o}
	t.moveAll()
	return t.solve(ctx)
}

// transport is a problem on its way to the solver and back.
type transport struct {
	op       string
	cost     Cost
	mu, nu   []float64
	src, dst masses      // what is left to move
	plan     []Flow      // what is not
	opt      *Options    // nil: the defaults
	sure     bool        // the potentials of opt are a good start
	places   *places     // nil: none, or not looked for
	unit     metric.Unit // of cost, once its rows are other ones
}

// masses are the points of a measure that have mass.
type masses struct {
	at   []int
	mass []exact.DD // > 0
}

func (m *masses) add(at int, mass exact.DD) {
	m.at, m.mass = append(m.at, at), append(m.mass, mass)
}

// sort puts the points in ascending order of a key.
func (m *masses) sort(key func(at int) int) {
	order := identity(len(m.at))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(key(m.at[a]), key(m.at[b])) })
	var sorted masses
	for _, k := range order {
		sorted.add(m.at[k], m.mass[k])
	}
	*m = sorted
}

// moveAll sets src and dst to all of mu and nu.
func (t *transport) moveAll() {
	for i, w := range t.mu {
		if w > 0 {
			t.src.add(i, exact.DD{Hi: w})
		}
	}
	for j, w := range t.nu {
		if w > 0 {
			t.dst.add(j, exact.DD{Hi: w})
		}
	}
}

// firstCells is the number of cells that Progress is first told about.
const firstCells = 1024

// cellBytes is the memory for a point in a cell.
const cellBytes = 600

// solve returns the optimum, or what was asked for in place of it.
func (t *transport) solve(ctx context.Context) (*Result, error) {
	if t.opt == nil {
		t.opt = new(Options)
	}
	n, m := len(t.mu), len(t.nu)
	bytes := simplex.Bytes(n, m)
	if t.opt.Cells > 0 {
		bytes = min(bytes, float64(simplex.Bytes(t.opt.Cells, t.opt.Cells))+float64(cellBytes*float64(n+m)))
	}
	if err := fault.Memory(t.op, bytes, 1); err != nil {
		return nil, err
	}
	if t.opt.Cells > 0 {
		t.places = newPlaces(t.cost)
	} else if t.places == nil {
		t.places = placesOf(t.cost)
	}
	switch {
	case t.opt.Cells < 0 || t.opt.Cells > 0 && t.places == nil:
		return nil, fault.Value(t.op, "Cells", float64(t.opt.Cells), "0, or positive for distances of points in R^d, d <= 6")
	case len(t.src.at) == 0 || len(t.dst.at) == 0:
		return t.prove(ctx, t.plan, nil, make([]float64, m), 0)
	case t.opt.Cells > 0:
		return t.solveCells(ctx, t.opt.Cells)
	}
	if t.places == nil {
		t.unit, t.cost = unitOf(t.cost), productsOf(t.cost)
		if !t.opt.Lazy && worthStoring(n, m, len(t.src.at), len(t.dst.at)) {
			var err error
			if t.cost, err = store(ctx, t.cost, t.opt.Workers); err != nil {
				return nil, err
			}
		}
	}
	p, err := t.problem(ctx)
	if err != nil {
		return nil, err
	}
	b, err := simplex.Solve(ctx, p)
	var bad *rows.BadCost
	if errors.As(err, &bad) {
		err = badCost(t.op, t.src.at[bad.I], t.dst.at[bad.J], bad.Value)
	}
	if err != nil {
		return nil, err
	}
	return t.result(ctx, b)
}

// result is what a basis comes to.
func (t *transport) result(ctx context.Context, b *simplex.Basis) (*Result, error) {
	plan := slices.Clone(t.plan)
	b.Flows(func(i, j int, mass float64) {
		plan = append(plan, Flow{I: t.src.at[i], J: t.dst.at[j], Mass: mass})
	})
	v := make([]float64, len(t.nu))
	if err := t.potentials(ctx, b, v); err != nil {
		return nil, err
	}
	r, err := t.prove(ctx, plan, nil, v, 0)
	if err == nil {
		r.Pivots, r.Passes = b.Pivots, b.Passes
	}
	return r, err
}

// prove makes a Result of a plan and of potentials of the sources, nil for those that go with the
// others, and of the sinks. It keeps all three. With u goes a bound of all costs.
func (t *transport) prove(ctx context.Context, plan []Flow, u, v []float64, largest float64) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(plan, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	c, err := certify(ctx, t.op, t.cost, t.places, t.mu, t.nu, plan, u, v, largest, t.opt.Workers)
	if err != nil {
		return nil, err
	}
	return &Result{Certificate: *c, Plan: plan, unit: cmp.Or(t.unit, unitOf(t.cost))}, nil
}

// problem is what the solver gets: the points that have mass to move.
func (t *transport) problem(ctx context.Context) (*simplex.Problem, error) {
	n, m := len(t.src.at), len(t.dst.at)
	p := &simplex.Problem{
		Costs: costRows(t.cost), Sure: t.sure,
		Lazy:      t.opt.Lazy || float64(n)*float64(m)*8 > denseLimit,
		MaxPivots: t.opt.MaxPivots, Workers: t.opt.Workers,
	}
	if t.opt.Progress != nil {
		lower, upper := 0.0, math.Inf(1)
		tell := func(pivots int, r *Result, err error) error {
			if err == nil {
				lower, upper = max(lower, r.Lower), min(upper, r.Upper)
				t.opt.Progress(pivots, lower, upper)
			}
			return err
		}
		p.Progress = func(b *simplex.Basis) error {
			r, err := t.result(ctx, b)
			return tell(b.Pivots, r, err)
		}
		if t.places != nil && min(n, m) >= 2*firstCells {
			r, err := t.solveCells(ctx, firstCells)
			if err := tell(0, r, err); err != nil {
				return nil, err
			}
		}
	}
	if t.places != nil {
		p.Space = t.places.among(&t.src, &t.dst)
	}
	p.Src, p.Dst = t.src.mass, t.dst.mass
	whole := n == len(t.mu) && m == len(t.nu)
	if p.Space == nil && !(whole && (p.Lazy || inMemory(t.cost))) {
		p.Costs = rows.Select(p.Costs, len(t.nu), t.src.at, t.dst.at)
		if !p.Lazy {
			flat, err := rows.Store(ctx, p.Costs, n, m, p.Workers)
			if err != nil {
				return nil, err
			}
			p.Costs = rows.Stored(flat, m)
		}
	}
	if t.opt.U == nil && t.opt.V == nil {
		return p, nil
	}
	for _, side := range []struct {
		arg string
		w   []float64
		at  []int
		n   int
	}{{"U", t.opt.U, t.src.at, len(t.mu)}, {"V", t.opt.V, t.dst.at, len(t.nu)}} {
		if err := checkLen(t.op, side.arg, len(side.w), side.n); err != nil {
			return nil, err
		}
		for i, x := range side.w {
			if !(x >= -valueMax && x <= valueMax) {
				return nil, &fault.ValueError{Op: t.op, Arg: side.arg, Index: i, Value: x, Want: "a number of size at most 2^1000"}
			}
		}
		for _, i := range side.at {
			p.Start = append(p.Start, side.w[i])
		}
	}
	return p, nil
}

// potentials extends those of the basis to all sinks: v_j is the least c_ij-u_i
// over the sources that have mass to give.
func (t *transport) potentials(ctx context.Context, b *simplex.Basis, v []float64) error {
	if len(t.dst.at) < len(v) && t.places != nil {
		id := make([]int32, len(t.src.at))
		for k, i := range t.src.at {
			id[k] = int32(i)
		}
		if err := t.places.sinks(ctx, v, id, b.U, t.opt.Workers); err != nil {
			return err
		}
	} else if len(t.dst.at) < len(v) {
		all := costRows(t.cost)
		costs := func(i int, buf []float64) []float64 { return all(t.src.at[i], buf) }
		err := rows.Potentials(ctx, costs, len(t.src.at), len(v), t.opt.Workers, v, func(i int, _ []float64) float64 { return b.U(i) })
		if err != nil {
			return err
		}
	}
	for j, at := range t.dst.at {
		v[at] = b.V(j)
	}
	for j, x := range v { // bad costs of points without mass: found by certify
		if !(x >= -valueMax && x <= valueMax) {
			v[j] = 0
		}
	}
	return nil
}
