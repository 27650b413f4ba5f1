package wasserstein

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Certificate encloses the least cost of moving mu onto nu between a plan and potentials.
// It rests on costs and weights as they are, not on how plan and potentials were found.
// Where the totals differ a little, moving any measure below mu onto any below nu, of the
// smaller total, costs between Lower and Upper.
type Certificate struct {
	// Cost is the cost of the plan, rounded to nearest within [Lower, Upper].
	Cost float64
	// Lower is the value of the potentials, rounded down.
	Lower float64
	// Upper is the cost of the plan plus Unmatched times the largest cost, rounded up.
	Upper float64
	// Unmatched bounds the mass by which the plan's marginals differ from mu and nu.
	Unmatched float64
	// U and V are potentials of sources and sinks: U[i]+V[j] <= c(i,j) as real numbers,
	// with equality up to rounding where an optimal plan moves mass. A constant may move
	// from all of U to all of V.
	U, V []float64
}

// Gap returns Upper-Lower, rounded up.
func (c *Certificate) Gap() float64 { return directed.SubUp(c.Upper, c.Lower) }

// CertifyOptions are the settings of [Certify]; nil and zeros mean the defaults.
type CertifyOptions struct {
	Workers int // goroutines; 0 means one a processor, with the same result
}

// Certify bounds the least cost of moving mu onto nu by any plan, of masses >= 0 in any order, and
// any potentials v of the sinks, nil for 0, as of another solver. What the plan's marginals differ
// from mu and nu is charged the largest cost. One pass over the costs.
func Certify(ctx context.Context, c Cost, mu, nu []float64, plan []Flow, v []float64, o *CertifyOptions) (*Certificate, error) {
	const op = "wasserstein: Certify"
	n, m := dims(c)
	if err := checkMeasures(op, mu, nu, n, m, false); err != nil {
		return nil, err
	}
	for k, p := range plan {
		if p.I < 0 || p.I >= n || p.J < 0 || p.J >= m {
			return nil, fault.Value(op, fmt.Sprintf("end of plan[%d]", k), float64(max(p.I, p.J)), fmt.Sprintf("a pair of indices below %d and %d", n, m))
		}
		if err := fault.NonNegative(op, fmt.Sprintf("mass of plan[%d]", k), p.Mass); err != nil {
			return nil, err
		}
	}
	if v == nil {
		v = make([]float64, m)
	}
	if err := cmp.Or(checkLen(op, "v", len(v), m), fault.AllFinite(op, "v", v)); err != nil {
		return nil, err
	}
	if o == nil {
		o = new(CertifyOptions)
	}
	return certify(ctx, op, c, placesOf(c), mu, nu, plan, nil, slices.Clone(v), 0, o.Workers)
}

// certify is Certify for checked arguments and the places of c, if it has any; it
// keeps v. u, where not nil, are potentials that go with v, and largest bounds all costs.
func certify(ctx context.Context, op string, c Cost, at *places, mu, nu []float64, plan []Flow, u, v []float64, largest float64, workers int) (*Certificate, error) {
	r := &Certificate{U: u, V: v}
	if u == nil {
		r.U = make([]float64, len(mu))
		var err error
		if largest, err = r.sources(ctx, op, c, at, workers); err != nil {
			return nil, err
		}
	}
	totals, err := boundTotals(op, mu, nu, largest)
	if err != nil {
		return nil, err
	}
	r.Lower = lowerBound(mu, nu, r.U, v, totals)
	r.upper(c, mu, nu, plan, totals, largest)
	r.Cost = min(max(r.Cost, r.Lower), r.Upper)
	return r, nil
}

// sources sets the potentials of the sources, and returns a bound of all costs.
func (r *Certificate) sources(ctx context.Context, op string, c Cost, at *places, workers int) (largest float64, err error) {
	if at != nil {
		return at.space.Diameter(), at.sources(ctx, r.U, r.V, workers)
	}
	n, m := len(r.U), len(r.V)
	most, bad := make([]float64, n), make([]int, n)
	err = rows.Each(ctx, costRows(c), n, m, workers, func(i int, row []float64) {
		if most[i], bad[i] = rows.Largest(row); bad[i] < 0 {
			r.U[i] = slackOf(c, i, row, r.V)
		}
	})
	if err != nil {
		return 0, err
	}
	for i, j := range bad {
		if j >= 0 {
			return 0, badCost(op, i, j, c.At(i, j))
		}
		largest = max(largest, most[i])
	}
	if p, ok := c.(*products); ok {
		largest = directed.AddUp(largest, p.err)
	}
	return largest, nil
}

func badCost(op string, i, j int, c float64) error {
	want := "a finite number >= 0"
	if c > rows.Max {
		want = "at most 2^960"
	}
	return &fault.ValueError{Op: op, Arg: fmt.Sprintf("cost[%d]", i), Index: j, Value: c, Want: want}
}

// totals bounds the totals of mu and nu, and what each may exceed the other by.
type totals struct{ lo, hi, excess [2]float64 }

// valueMax bounds potentials and the largest cost times the total mass, so that
// the sums of the certificate do not overflow.
const valueMax = 0x1p1000

func boundTotals(op string, mu, nu []float64, largest float64) (t totals, err error) {
	for side, w := range [2][]float64{mu, nu} {
		var sum directed.Sum
		for _, x := range w {
			sum.Add(x)
		}
		t.lo[side], _, t.hi[side] = sum.Bounds()
	}
	for side := range 2 {
		t.excess[side] = max(0, directed.SubUp(t.hi[side], t.lo[1-side]))
	}
	if p := largest * max(t.hi[0], t.hi[1]); !(p <= valueMax) {
		return t, fault.Value(op, "largest cost times total mass", p, "at most 2^1000")
	}
	return t, nil
}

// lowerBound returns the value of feasible potentials, rounded down, less what the heavier measure
// has too much at its highest potential: measures below it may lack that.
func lowerBound(mu, nu, u, v []float64, t totals) float64 {
	var sum directed.Sum
	for side, w := range [2][]float64{mu, nu} {
		top := 0.0
		for i, p := range [2][]float64{u, v}[side] {
			if w[i] > 0 {
				top = max(top, p)
				sum.AddProduct(w[i], p)
			}
		}
		sum.Add(-directed.MulUp(t.excess[side], top))
	}
	lower, _, _ := sum.Bounds()
	if !(lower > 0) { // costs are >= 0, and so is the optimum
		return 0
	}
	return lower
}

// upper sets Cost, Upper and Unmatched. With row excesses E and column excesses F in all,
// the plan moves at least |plan|-E-F within mu and nu, and within measures below them less
// by at most the difference of the totals. So at most the larger total - |plan| + E + F is
// left, at the largest cost.
func (r *Certificate) upper(c Cost, mu, nu []float64, plan []Flow, t totals, largest float64) {
	out, in := make([]directed.Sum, len(mu)), make([]directed.Sum, len(nu))
	var moved, cost directed.Sum
	for _, p := range plan {
		out[p.I].Add(p.Mass)
		in[p.J].Add(p.Mass)
		moved.Add(p.Mass)
		cost.AddProduct(p.Mass, c.At(p.I, p.J))
	}
	low, _, _ := moved.Bounds()
	left := directed.SubUp(max(t.hi[0], t.hi[1]), low)
	for side, w := range [2][]float64{mu, nu} {
		for i, s := range [2][]directed.Sum{out, in}[side] {
			s.Add(-w[i])
			if _, _, more := s.Bounds(); more > 0 {
				left = directed.AddUp(left, more)
			}
		}
	}
	_, near, high := cost.Bounds()
	r.Cost, r.Unmatched = near, max(0, left)
	r.Upper = directed.AddUp(high, directed.MulUp(r.Unmatched, largest))
	if !(r.Upper < math.Inf(1)) { // a plan of masses whose sums overflow
		r.Cost, r.Upper, r.Unmatched = math.Inf(1), math.Inf(1), math.Inf(1)
	}
}
