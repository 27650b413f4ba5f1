package ipm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/testkit"
)

// One Newton step of every engine solves the whole system, all unknowns at once: with
// several loss rows at an input and with a prior, and for more inputs than groupInputs.
func TestEngines_NewtonAgainstDenseSystem(t *testing.T) {
	tree := few(randomTree(groupInputs+6, 2), 3)
	plane := few(square(9, 2), 4)
	for i, p := range []*Problem{tree, twice(tree), skewed(tree), plane, twice(plane), skewed(plane)} {
		for _, kind := range []Kind{Dense, Sparse, ByInput, Lazy} {
			s := started(t, planFor(p, kind), 2)
			testkit.Check(t, s.engine.factor())
			const target = 1e-3
			for w := range s.m {
				c := s.rows(w)
				for i := range c.len() {
					c.pf[i], c.pk[i] = target*c.omega[i]*c.rf[i], 2*target*c.omega[i]*c.rk[i]
				}
			}
			cross := make([]float64, s.nz)
			for i := range cross {
				cross[i] = float64(i%3) * 1e-4
			}
			testkit.Check(t, s.engine.newton(&s.dir, true, target, cross))
			n, at, want := s.n, s.m*s.n, wholeNewton(t, s, target, cross)
			for _, c := range []struct {
				name string
				got  []float64
				at   int
			}{{"dx", s.dir.x, 0}, {"dy", s.dir.y, at}, {"dz", s.dir.z, at + n}, {"dk", []float64{s.dir.k}[:min(1, s.nz)], at + n + s.nz}} {
				w := want[c.at : c.at+len(c.got)]
				size := 0.0
				for _, v := range w {
					size = max(size, math.Abs(v))
				}
				for j, v := range c.got {
					if !(math.Abs(v-w[j]) <= 1e-8*size) {
						t.Fatalf("problem %d, engine %d: %s[%d] = %v, want %v", i, kind, c.name, j, v, w[j])
					}
				}
			}
		}
	}
}

// wholeNewton solves for dx, dy, then dz and dk where there is no prior, with dlambda =
// pull - lambda (1 + ds/s) put in.
func wholeNewton(t *testing.T, s *solver, target float64, cross []float64) []float64 {
	t.Helper()
	n, nz, y0 := s.n, s.nz, s.m*s.n
	z0 := y0 + n
	size := z0
	if nz > 0 {
		size += nz + 1
	}
	a, rhs := mat.NewDense(size, size, nil), make([]float64, size)
	add := func(i, j int, v float64) { a.Set(i, j, a.At(i, j)+v) }
	for w := range s.m {
		// y + dy + G'(lambda + dlambda) = D (z + dz)
		x0 := w * n
		for u := range n {
			add(x0+u, y0+u, 1)
			rhs[x0+u] -= s.y[u]
			add(y0+u, x0+u, 1) // sum of x + dx = 1
		}
		for i, l := range s.lossOf(w) {
			u := s.prob.Class[i]
			rhs[x0+u] += l * s.z[i]
			if nz > 0 {
				add(x0+u, z0+i, -l)
				// z dt + t dz = target - cross - z t, dt = dk - D dx + k - loss - t
				add(z0+i, x0+u, -s.z[i]*l)
			}
		}
		c := s.rows(w)
		row := func(u, v int, a, b, lambda, slack, pull float64) { // b x[v] - a x[u]
			rhs[x0+v] -= b * pull
			rhs[x0+u] += a * pull
			theta := lambda / slack
			add(x0+v, x0+v, -b*theta*b)
			add(x0+v, x0+u, b*theta*a)
			add(x0+u, x0+v, a*theta*b)
			add(x0+u, x0+u, -a*theta*a)
		}
		c.each(func(i int32, u, v int) {
			row(u, v, c.a[i], c.b[i], c.lf[i], c.sf[i], c.pf[i])
			row(v, u, c.a[i], c.b[i], c.lk[i], c.sk[i], c.pk[i])
		})
	}
	for u := range n {
		rhs[y0+u] = 1 - s.sum[u]
	}
	for i := range nz {
		add(z0+i, z0+nz, s.z[i])
		add(z0+i, z0+i, s.t[i])
		rhs[z0+i] = target - cross[i] - s.z[i]*(s.k-s.loss[i])
		add(z0+nz, z0+i, 1)
		rhs[z0+nz] -= s.z[i]
	}
	if nz > 0 {
		rhs[z0+nz]++
	}
	var got mat.VecDense
	testkit.Check(t, got.SolveVec(a, mat.NewVecDense(size, rhs)))
	return got.RawVector().Data
}

// All engines bracket one optimum, in columns that obey all rows, to the same bits
// whatever the workers. A lazy one imposes a part of the pairs. Stopped, each returns what it has.
func TestEngines_Agree(t *testing.T) {
	testkit.Slow(t)
	all := []Kind{Dense, Sparse, ByInput, Lazy}
	for i, c := range []struct {
		p     *Problem
		kinds []Kind
		share float64 // of the pairs, that a lazy engine imposes at most
	}{
		{square(40, 4), []Kind{Dense, Lazy}, .7},
		{few(square(40, 4), 7), all, .7},
		{skewed(grid(8, .5)), []Kind{Dense, Sparse, Lazy}, 1},
		{twice(few(grid(9, .5), 5)), all, 1},
		{few(randomTree(70, 1), 1), all, 1},
		{square(40, .4), []Kind{Dense, Lazy}, .8},
		{skewed(square(40, 40)), []Kind{Dense, Lazy}, .3},
		{grid(8, .5), all, 1},
		{few(randomTree(150, 1), 7), []Kind{Sparse, ByInput}, 1},
		{randomTree(64, 1), []Kind{Dense, Sparse}, 1},
	}[:testkit.Sweep(5, 10)] {
		p := c.p
		lower, upper := 0.0, math.Inf(1)
		for _, kind := range c.kinds {
			name := fmt.Sprintf("problem %d, engine %d", i, kind)
			l := planFor(p, kind)
			o := Settings{Tolerance: 1e-6, Workers: 1}
			got := l.Solve(t.Context(), o)
			if got.Status != Converged || got.Upper-got.Lower > 1e-6*got.Upper {
				t.Errorf("%s: [%v, %v], %v", name, got.Lower, got.Upper, got.Status)
			}
			if lower, upper = max(lower, got.Lower), min(upper, got.Upper); lower > upper {
				t.Fatalf("%s: [%v, %v], others found [%v, %v]", name, got.Lower, got.Upper, lower, upper)
			}
			breach := 0.0
			l.r.each(func(i int32, u, v int) {
				d := l.r.a[i] / l.r.b[i]
				for w := range p.Outputs {
					x := got.X[w*p.Inputs : (w+1)*p.Inputs]
					breach = max(breach, d*x[u]/x[v]-1, d*x[v]/x[u]-1)
				}
			})
			if breach > residual {
				t.Errorf("%s: a row broken by %v", name, breach)
			}
			o.Workers = 3
			ctx, stop := context.WithCancel(t.Context())
			o.Progress = func(i int, _, _ float64) {
				if i == 2 {
					stop()
				}
			}
			if d := l.Solve(ctx, o); d.Status != Interrupted || d.Iterations != 2 || !(d.Upper >= lower && d.Lower <= upper) {
				t.Errorf("%s: stopped: %v after %d, [%v, %v]", name, d.Status, d.Iterations, d.Lower, d.Upper)
			}
			o.Progress = nil
			s := newSolver(t.Context(), l, o)
			if same := s.solve(); same.Lower != got.Lower || !slices.Equal(same.X, got.X) {
				t.Errorf("%s: 1 worker %v, 3 workers %v", name, got.Lower, same.Lower)
			}
			if share := float64(len(s.lambda)) / 2 / float64(p.Outputs*l.r.len()); kind == Lazy && share > c.share || kind != Lazy && share != 1 {
				t.Errorf("%s: %v of the pairs", name, share)
			}
		}
	}
}

// The order is a permutation; trees have no fill under it. A zero matrix has no factor.
func TestPattern_OrderAndFill(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Problem
		fill int
	}{"tree": {randomTree(70, 1), 70 + 69}, "grid": {grid(8, 1), 400}} {
		r := testkit.Must(newPairs(t.Context(), c.p))
		order, fill := eliminationOrder(r, math.MaxInt)
		for k, u := range slices.Sorted(slices.Values(order)) {
			if k != u {
				t.Fatalf("%s: no permutation: %v", name, order)
			}
		}
		f := newPattern(r, order)
		if len(f.row) != fill || fill > c.fill {
			t.Errorf("%s: %d entries, ordering counted %d, want at most %d", name, len(f.row), fill, c.fill)
		}
		if none, _ := eliminationOrder(r, fill-1); none != nil {
			t.Errorf("%s: the limit on the fill did nothing", name)
		}
		if f.cholesky(make([]float64, fill), make([]float64, f.n), make([]int32, f.n)) {
			t.Errorf("%s: the zero matrix has a factor", name)
		}
	}
}
