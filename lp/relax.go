package lp

import (
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/ipm"
)

// Points of the plane have n^2/2 pairs that no others imply, but hardly any of them bind.
// A relaxation imposes the pairs without a third point nearly between them, so that its
// value is a bound, and envelopes make its channel private. The pairs that those needed are
// imposed in the next relaxation.
const (
	// leastRelaxed is the number of inputs from which on that pays, where inputs are
	// eliminated one by one: see package ipm.
	leastRelaxed = 256
	// nearly is how much longer the way over a point nearly between may be.
	nearly = 1.2
	// relaxedTolerance is that of the first relaxation, and netTolerance that of nets, by
	// experiment on 2,025 points and 20 outputs.
	relaxedTolerance, netTolerance = 2e-3, 1e-2
	// netBudget is how far apart the inputs of the first net are.
	netBudget = 1
	// mostNets and mostRelaxed are how many programs are solved.
	mostNets, mostRelaxed = 2, 6
	// above is the share of the tolerance by which the loss of an input is above the bound
	// where the pairs of its envelope are added.
	above = 0.3
)

// relaxation is a program for all inputs, or those of a net, with some of the pairs.
type relaxation struct {
	*merged
	extra []map[int32]bool // the pairs u < v that envelopes needed
}

// relax improves s by relaxations, as long as they fit.
func (g *merged) relax(s *Solution, began time.Time) error {
	g.prog.Budget = g.budgets()
	r := &relaxation{g, make([]map[int32]bool, g.prog.Inputs)}
	if ok, err := r.plans(); !ok || err != nil {
		return err
	}
	if g.o.Prior == nil { // a mean over some of the inputs is no bound
		if err := r.nets(s); err != nil {
			return err
		}
	}
	finest := g.o.Tolerance / 2
	tolerance := max(relaxedTolerance, finest)
	for range mostRelaxed {
		if ok, err := r.plans(); !ok || err != nil {
			return err
		}
		res := g.run(s, tolerance, began)
		s.raise(g, res)
		x := slices.Clone(res.X)
		private, err := g.envelopes(x)
		if err != nil {
			return err
		}
		if private {
			r, err := g.repair(x)
			s.keep(r)
			if err != nil {
				return err
			}
		}
		if s.Gap <= g.o.Tolerance || g.ctx.Err() != nil {
			return nil
		}
		added, err := r.add(res.X, x, math.Ldexp(s.DualBound, -g.exp)*(1+above*g.o.Tolerance))
		if err != nil || added == 0 && tolerance == finest {
			return err
		}
		tolerance = max(finest, min(tolerance, s.Gap/8))
	}
	return nil
}

// budgets are those between classes.
func (g *merged) budgets() []float64 {
	if len(g.first) < g.n {
		g.prog.Ceiling = func(c, d int) float64 { return g.budget[g.first[c]*g.n+g.first[d]] }
		return g.between()
	}
	return g.budget
}

// plans imposes the pairs, and reports whether the program is worth solving.
func (r *relaxation) plans() (bool, error) {
	var err error
	if r.prog.Pairs, err = r.pairs(r.prog.Inputs, r.prog.Budget, r.extra); err != nil {
		return false, err
	}
	if r.plan, err = ipm.Prepare(r.ctx, &r.prog); err != nil {
		return false, err
	}
	quick := r.plan.Kind == ipm.ByInput || r.prog.Inputs < leastRelaxed
	return quick && r.fits(r.plan.Bytes()) == nil, nil
}

// pairs are those without a point nearly between them, and those of extra.
func (g *merged) pairs(k int, budget []float64, extra []map[int32]bool) ([][]int32, error) {
	pairs, err := direct.Nearly(g.ctx, k, budget, nearly, g.o.Workers)
	if err != nil {
		return nil, err
	}
	for u, list := range pairs {
		for v := range extra[u] {
			if _, has := slices.BinarySearch(list, v); !has {
				pairs[u] = append(pairs[u], v)
			}
		}
		slices.Sort(pairs[u])
	}
	return pairs, nil
}

// impose adds a pair, and reports whether it is new.
func (r *relaxation) impose(u, v int) bool {
	u, v = min(u, v), max(u, v)
	if r.extra[u] == nil {
		r.extra[u] = map[int32]bool{}
	}
	if r.extra[u][int32(v)] {
		return false
	}
	r.extra[u][int32(v)] = true
	return true
}

// add imposes, for the inputs that lose more than most under the private channel, the pairs
// that the first envelope of x needed.
func (r *relaxation) add(x, private []float64, most float64) (added int, err error) {
	k := r.prog.Inputs
	loss := make([]float64, k)
	for i, c := range r.class {
		l := 0.0
		for w := range r.m {
			l += private[w*k+c] * r.scaled[w*r.n+i]
		}
		loss[c] = max(loss[c], l)
	}
	if r.o.Prior != nil { // all inputs count
		most = 0
	}
	f := make([]float64, k)
	for u := range k {
		if loss[u] <= most {
			continue
		}
		if err := r.late.Err(); err != nil {
			return added, err
		}
		r.factors(u, f)
		for w := range r.m {
			xw := x[w*k : (w+1)*k]
			best, at := xw[u]*(1+1e-9), u
			for v, q := range xw {
				if t := f[v] * q; t > best {
					best, at = t, v
				}
			}
			if at != u && r.impose(u, at) {
				added++
			}
		}
	}
	return added, nil
}

const (
	// envelopeMargin is the share of a budget that envelopes leave to the division of rows.
	envelopeMargin = 1e-4
	mostEnvelopes  = 20
)

// factors are exp(-e) for the budgets e of an input, less the margin.
func (g *merged) factors(u int, f []float64) {
	k := g.prog.Inputs
	for v, e := range g.prog.Budget[u*k : (u+1)*k] {
		f[v] = math.Exp(-(1 - envelopeMargin) * min(e, ipm.MaxBudget))
	}
}

// envelopes turns the columns of a channel into those of one near it that is private up to
// rounding: by turns x[u] becomes max_v f(u,v) x[v] and min_v x[v]/f(u,v), f being a little
// more than exp(-e), and rows are divided by their sums. Before they are divided all rows
// obey the budgets less the margin, so that the sums alone tell whether they do after it. It reports
// whether that came about; no proof is known that it must.
//
// O(k^2 m), some ten times.
func (g *merged) envelopes(x []float64) (private bool, err error) {
	k := g.prog.Inputs
	y, log := make([]float64, len(x)), make([]float64, k)
	for step := range 2 * mostEnvelopes {
		lower := step%2 == 1
		err := parallel.Chunks(g.late, k, 8, g.o.Workers, nil, func(_, lo, hi int) {
			f := make([]float64, k)
			for u := lo; u < hi; u++ {
				g.factors(u, f)
				if lower {
					for v := range f {
						f[v] = 1 / f[v]
					}
				}
				sum := 0.0
				for w := range g.m {
					best := envelope(f, x[w*k:(w+1)*k], lower)
					y[w*k+u] = best
					sum += best
				}
				for w := range g.m {
					y[w*k+u] /= sum
				}
				log[u] = math.Log(sum)
			}
		})
		if err != nil {
			return false, err
		}
		copy(x, y)
		if g.close(log) {
			return true, nil
		}
	}
	return false, nil
}

// envelope is the largest f x, or the smallest.
func envelope(f, x []float64, lower bool) float64 {
	best := f[0] * x[0]
	if lower {
		for v, q := range x {
			if t := f[v] * q; t < best {
				best = t
			}
		}
		return best
	}
	for v, q := range x {
		if t := f[v] * q; t > best {
			best = t
		}
	}
	return best
}

// close tells whether sums with these logarithms are within the margin of each other.
func (g *merged) close(log []float64) bool {
	k := g.prog.Inputs
	for u, l := range log {
		for v, e := range g.prog.Budget[u*k : u*k+u] {
			if math.Abs(l-log[v]) > envelopeMargin*(1-1e-6)*min(e, ipm.MaxBudget) {
				return false
			}
		}
	}
	return true
}

// nets proves bounds by programs for some of the inputs, which have a lower optimum than
// all: those of a net, and then with the inputs that lose more than the bound where the
// channel is extended to them. Pairs that this extension needs are imposed.
func (r *relaxation) nets(s *Solution) error {
	k, b := r.prog.Inputs, r.prog.Budget
	members := make([][]int, k)
	for i, c := range r.class {
		members[c] = append(members[c], i)
	}
	net, has := []int{}, make([]bool, k)
	far := slices.Repeat([]float64{math.Inf(1)}, k)
	for u := 0; far[u] > netBudget && len(net) < k/2; {
		net, has[u] = append(net, u), true
		next := u
		for v := range k {
			if far[v] = min(far[v], b[u*k+v]); far[v] > far[next] {
				next = v
			}
		}
		u = next
	}
	for range mostNets {
		slices.Sort(net)
		sub := ipm.Problem{Inputs: len(net), Outputs: r.m, Budget: make([]float64, 0, len(net)*len(net))}
		var rows []int
		for i, u := range net {
			for _, v := range net {
				sub.Budget = append(sub.Budget, b[u*k+v])
			}
			for _, row := range members[u] {
				rows, sub.Class = append(rows, row), append(sub.Class, i)
			}
		}
		for w := range r.m {
			for _, row := range rows {
				sub.Loss = append(sub.Loss, r.scaled[w*r.n+row])
			}
		}
		if r.prog.Ceiling != nil {
			sub.Ceiling = func(i, j int) float64 { return r.prog.Ceiling(net[i], net[j]) }
		}
		extra := make([]map[int32]bool, len(net))
		for i, u := range net {
			for j := i + 1; j < len(net); j++ {
				if r.extra[u][int32(net[j])] {
					if extra[i] == nil {
						extra[i] = map[int32]bool{}
					}
					extra[i][int32(j)] = true
				}
			}
		}
		var err error
		if sub.Pairs, err = r.pairs(sub.Inputs, sub.Budget, extra); err != nil {
			return err
		}
		plan, err := ipm.Prepare(r.ctx, &sub)
		if err != nil || r.fits(plan.Bytes()) != nil {
			return err
		}
		res := plan.Solve(r.ctx, ipm.Settings{Tolerance: netTolerance, Workers: r.o.Workers})
		s.Iterations += res.Iterations
		weights := make([]float64, r.n)
		for i, row := range rows {
			weights[row] = res.Z[i]
		}
		s.prove(r.bound(res.Lower), boundByNet, weights)
		if r.ctx.Err() != nil {
			return nil
		}
		grown, err := r.grow(net, has, res.X, math.Ldexp(s.DualBound, -r.exp), members)
		if err != nil {
			return err
		}
		if len(grown) == 0 || len(net)+len(grown) > k/2 {
			return nil
		}
		net = append(net, grown...)
	}
	return nil
}

// grow returns the inputs that lose more than bound where the channel x of the net is
// extended to them by its upper envelope, and imposes the pairs that it needs there.
func (r *relaxation) grow(net []int, has []bool, x []float64, bound float64, members [][]int) (grown []int, err error) {
	k, size := r.prog.Inputs, len(net)
	f, at, row := make([]float64, size), make([]int, r.m), make([]float64, r.m)
	for u := range k {
		if has[u] {
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		for i, v := range net {
			f[i] = math.Exp(-min(r.prog.Budget[u*k+v], ipm.MaxBudget))
		}
		sum := 0.0
		for w := range r.m {
			best := -1.0
			for i, q := range x[w*size : (w+1)*size] {
				if t := f[i] * q; t > best {
					best, at[w] = t, net[i]
				}
			}
			row[w] = best
			sum += best
		}
		worst := 0.0
		for _, i := range members[u] {
			loss := 0.0
			for w, q := range row {
				loss += q / sum * r.scaled[w*r.n+i]
			}
			worst = max(worst, loss)
		}
		if worst > bound {
			grown, has[u] = append(grown, u), true
			for _, v := range at {
				r.impose(u, v)
			}
		}
	}
	return grown, nil
}
