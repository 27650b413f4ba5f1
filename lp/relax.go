package lp

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/lp/internal/envelope"
)

// Points of the plane have n^2/2 pairs that no others imply, but hardly any of them bind.
// A relaxation imposes the pairs without a third point nearly between them, so that its
// value is a bound, and envelopes make its channel private. The pairs that those needed are
// imposed in the next relaxation.
//
// leastRelaxed is the number of inputs from which on that pays, where inputs are
// eliminated one by one: see package ipm. Tests lower it.
var leastRelaxed = 256

const (
	// nearly is how much longer the way over a point nearly between may be.
	nearly = 1.2
	// relaxedTolerance is that of the first relaxation, by experiment on 2,025 points and 20
	// outputs.
	relaxedTolerance = 2e-3
	// mostRelaxed is how many programs are solved, while two leave at most the share mostLeft
	// of the gap, or it is within inReach times the tolerance: the program with all pairs takes
	// as long as ten of them. One alone may leave more where the next has the pairs for its
	// tolerance.
	mostRelaxed = 8
	mostLeft    = 0.75
	inReach     = 3
	// above is the share of the tolerance by which the loss of an input is above the bound
	// where the pairs of its envelope are added.
	above = 0.3
	// Where entries are left out, those of inputs below the bound by the share below too: what
	// they release changes most. slight is the share of the tolerance that an entry costs at most
	// where its pair is not.
	below, slight = 0.02, 0.02
)

// relax improves s by relaxations, as long as they fit and inputs are eliminated, and else by
// columns: see byColumns.
func (g *merged) relax(s *Solution, began time.Time) (err error) {
	defer func() { g.prog.Support = nil }()
	g.prog.Budget = g.budgets()
	if g.prog.Pairs, err = direct.Nearly(g.ctx, g.prog.Budget, nearly, g.o.Workers); err != nil {
		return err
	}
	finest := g.o.Tolerance / 2
	tolerance := max(relaxedTolerance, finest)
	last, before := math.Inf(1), math.Inf(1) // the gaps after the last round and the one before
	var res *ipm.Result
	var x []float64
	for range mostRelaxed {
		var decay []float64
		if g.work() >= longWork {
			most := leftShare * min(s.Gap, mostLeftOut) * math.Ldexp(s.DualBound, -g.exp)
			g.prog.Support, decay = g.support(nil, func(float64) float64 { return most }, g.quickByInput)
		}
		if g.plan, err = ipm.Prepare(g.ctx, &g.prog); err != nil {
			return err
		}
		quick := (g.plan.Kind == ipm.ByInput || g.prog.Inputs <= lazySize) && g.fits(g.plan.Bytes()) == nil
		if !quick && res == nil {
			_, err := g.byColumns(s, nil, began)
			return err
		}
		if !quick || res != nil && g.slowByInput() {
			if done, err := g.goOn(s, res, x, began); !quick || done || err != nil {
				return err
			}
		}
		res = g.run(s, tolerance, began)
		if x, err = g.conclude(s, res, decay); err != nil {
			return err
		}
		if s.Gap <= g.o.Tolerance || g.ctx.Err() != nil {
			return nil
		}
		if s.Gap > max(mostLeft*before, float64(inReach*g.o.Tolerance)) {
			_, err := g.goOn(s, res, x, began)
			return err
		}
		level := 1 + float64(above*g.o.Tolerance)
		if g.prog.Support != nil {
			level = 1 - below
		}
		added, err := g.add(res.X, x, math.Ldexp(s.DualBound, -g.exp)*level)
		if err != nil || added == 0 && tolerance == finest {
			return err
		}
		last, before = s.Gap, last
		tolerance = max(finest, min(tolerance, s.Gap/8))
	}
	return nil
}

// goOn goes on from a relaxation, whose private channel is x, by the bound of what is critical there and
// by columns. It tells whether that was worth while. By columns no inputs are merged.
func (g *merged) goOn(s *Solution, res *ipm.Result, x []float64, began time.Time) (done bool, err error) {
	if g.o.Prior != nil || g.bare || len(g.first) <= mostCritical+othersCritical {
		return false, nil
	}
	if err := g.critical(s, res); err != nil || s.Gap <= g.o.Tolerance || g.ctx.Err() != nil {
		return true, err
	}
	if !g.quickByColumn(0, 0, fewLinked) {
		return false, nil
	}
	h := g.merge(0)
	if len(h.first) < g.n {
		return false, nil
	}
	h.prog.Budget, h.prog.Pairs = h.budget, g.pairsOfInputs()
	all := make([]float64, 0, g.n*g.m)
	for w, list := range g.wanted {
		for _, c := range list {
			h.wanted[w] = append(h.wanted[w], int32(g.first[c]))
		}
		for _, c := range g.class {
			all = append(all, x[w*g.prog.Inputs+c])
		}
	}
	return h.byColumns(s, all, began)
}

// pairsOfInputs are the pairs of classes as those of their first inputs, to which the others are tied.
func (g *merged) pairsOfInputs() [][]int32 {
	pairs := make([][]int32, g.n)
	for c, list := range g.prog.Pairs {
		for _, d := range list {
			pairs[g.first[c]] = append(pairs[g.first[c]], int32(g.first[d]))
		}
	}
	for u, c := range g.class {
		if first := g.first[c]; first < u {
			pairs[first] = append(pairs[first], int32(u))
		}
	}
	for _, list := range pairs {
		slices.Sort(list)
	}
	return pairs
}

// conclude keeps the bound of a relaxation, and its channel made private, which it returns. With
// the decay of a local one its prices are completed, and its channel is clipped. There is no bound
// where losses are weighed.
func (g *merged) conclude(s *Solution, res *ipm.Result, decay []float64) (x []float64, err error) {
	x = slices.Clone(res.X)
	proves := len(g.prog.Prior) == len(g.o.Prior)
	if decay != nil {
		trust := float64(trusted)
		if g.plan.Kind != ipm.ByInput {
			trust = trustedAll
		}
		if proves {
			err = g.complete(res)
		}
		if err = cmp.Or(err, g.clip(x, decay, trust)); err != nil {
			return nil, err
		}
	}
	if proves {
		s.raise(g, res)
	}
	private, err := g.envelopes(x)
	if err != nil || !private {
		return x, err
	}
	r, err := g.repair(x)
	s.keep(r)
	return x, err
}

// add imposes, for the inputs that lose more than most under the private channel, the pairs
// that the first envelope of x needed. Entries that it needed and that are left out are wanted from
// then on: an input that may lose more than it does releases far outputs at will, and all around
// must then too.
func (g *merged) add(x, private []float64, most float64) (added int, err error) {
	k := g.prog.Inputs
	loss := g.lost(private)
	if g.o.Prior != nil { // all inputs count
		most = 0
	}
	little := float64(slight*g.o.Tolerance) * most
	f, row := make([]float64, k), []float64{}
	for u := range k {
		if loss[u] <= most {
			continue
		}
		if err := g.ctx.Err(); err != nil {
			return added, err
		}
		row = finite.Row(g.prog.Budget, u, row)
		factors(row, f)
		for w := range g.m {
			xw := x[w*k : (w+1)*k]
			best, at := xw[u]*(1+1e-9), u
			for v, q := range xw {
				if t := f[v] * q; t > best {
					best, at = t, v
				}
			}
			if g.prog.Support != nil {
				if float64((best-xw[u])*g.scaled[w*g.n+u]) <= little {
					continue
				}
				if xw[u] == 0 {
					g.wanted[w] = append(g.wanted[w], int32(u))
				}
			}
			list, v := &g.prog.Pairs[min(u, at)], int32(max(u, at))
			if i, has := slices.BinarySearch(*list, v); at != u && !has {
				*list = slices.Insert(*list, i, v)
				added++
			}
		}
	}
	return added, nil
}

// lost are the losses of the classes of inputs under x, for each that of the input that loses most.
func (g *merged) lost(x []float64) []float64 {
	k := g.prog.Inputs
	loss := make([]float64, k)
	for i, c := range g.class {
		l := 0.0
		for w := range g.m {
			l += float64(x[w*k+c] * g.scaled[w*g.n+i])
		}
		loss[c] = max(loss[c], l)
	}
	return loss
}

// factors are exp(-e) for the budgets e of an input, less the margin.
func factors(budget, f []float64) {
	for v, e := range budget {
		f[v] = math.Exp(-(1 - envelope.Margin) * min(e, envelope.Longest))
	}
}

// envelopes makes the columns of a channel private, where it reports so: see package envelope.
func (g *merged) envelopes(x []float64) (private bool, err error) {
	k := g.prog.Inputs
	c := envelope.Channel{Inputs: k, Outputs: g.m, X: make([]float64, len(x)), Budget: g.prog.Budget, Workers: g.o.Workers}
	for i, q := range x {
		c.X[i%k*g.m+i/k] = q
	}
	private, err = c.Repair(g.late)
	for i := range x {
		x[i] = c.X[i%k*g.m+i/k]
	}
	return private, err
}
