package wasserstein

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Projection is the answer of [Project].
type Projection struct {
	// P is a nearest probability measure: weights >= 0 whose sum errs from 1 by
	// rounding and by what the total of g did.
	P []float64
	// Cost is its distance from g, within [Lower, Upper], which encloses the
	// distance from g to the nearest probability measure as a [Certificate] does.
	Cost, Lower, Upper float64
	// Plan moves mass from where g is positive to where it is negative, sorted by
	// (I, J): P is g after that.
	Plan []Flow
	// Pivots and Passes are as in [Result].
	Pivots, Passes int
}

// String is a line: the number of weights, the cost and its bounds.
func (p *Projection) String() string {
	return fmt.Sprintf("measure on %d points at cost %.6g, the least in [%.6g, %.6g]", len(p.P), p.Cost, p.Lower, p.Upper)
}

// Gap returns Upper-Lower, rounded up.
func (p *Projection) Gap() float64 { return directed.SubUp(p.Upper, p.Lower) }

// Project returns a probability measure on the points of f that is nearest, in
// the distance of [W1], to the signed measure with weights g, whose total is 1
// up to rounding ([*MassError] otherwise: make it so first, by what is known of
// the noise). The distance of two signed measures of equal total is the least
// cost of moving the positive part of their difference onto its negative part.
//
// Weights are finite and on all points of f. Where g is a probability measure
// already P is g bit for bit. Errors, cost and memory are as for W1, on the
// points of positive and those of negative weight, and so are the options but
// for U and V, which are not used.
//
// The nearest measure fills the negative part N of g = G - N from the positive
// part G at least cost. For let T be a cheapest plan that moves all of N's mass
// out of G, and p what T leaves of G. Then p >= 0, p has total 1, and g - p is
// T's rows less N, so that T shows p to be at a distance <= cost(T). Conversely
// let q be any probability measure. By Kantorovich and Rubinstein the distance
// of g and q depends on g - q = G - (N + q) alone, so it is that of the measures
// G and N + q. A plan from G to N + q, cut down in each column to N's share,
// moves all of N's mass out of G, and so costs at least cost(T). The problem
// gets balanced by a sink that takes the mass p, of total 1, at no cost.
func Project(f metric.Finite, g []float64, o *Options) (*Projection, error) {
	const op = "wasserstein: Project"
	n := fault.Len(f)
	if err := checkSigned(op, g, n); err != nil {
		return nil, err
	}
	var src, dst []int
	var size, keep exact.DD
	t := transport{op: op, opt: o.get(), sure: true}
	for i, w := range g {
		keep = keep.AddFloat(w)
		switch {
		case w > 0:
			src, t.mu = append(src, i), append(t.mu, w)
			size = size.AddFloat(w)
		case w < 0:
			dst, t.nu = append(dst, i), append(t.nu, -w)
			size = size.AddFloat(-w)
		}
	}
	if tol := massTol(n, size.Hi); !(keep.Hi-1 <= tol && 1-keep.Hi <= tol) {
		return nil, &MassError{op, keep.Hi, 1, tol}
	}
	if len(dst) == 0 {
		return &Projection{P: append([]float64(nil), g...)}, nil
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
	r, err := t.solve()
	if err != nil {
		return nil, err
	}
	p := &Projection{P: make([]float64, n), Cost: r.Cost, Lower: r.Lower, Upper: r.Upper, Pivots: r.Pivots, Passes: r.Passes}
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
	return p, nil
}
