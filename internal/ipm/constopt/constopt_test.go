package constopt

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// programOf is the program of ConstOPT for n points with one metric for loss and, times
// alpha, for privacy, I(v) being the points for which v is among the r nearest. Every
// third point has two more loss rows.
func programOf(n int, alpha float64, d func(u, v int) float64, r int, lambda float64) *Problem {
	p := &Problem{Inputs: n, Outputs: n, Lambda: lambda, Inside: make([][]int, n)}
	for u := range n {
		near := make([]int, n)
		for v := range n {
			e := 0.0
			if u != v {
				e = d(u, v)
			}
			p.Loss, p.Budget, near[v] = append(p.Loss, e), append(p.Budget, alpha*e), v
		}
		row := p.Budget[u*n:]
		slices.SortStableFunc(near, func(v, z int) int { return cmp.Compare(row[v], row[z]) })
		for _, v := range near[:r] {
			p.Inside[v] = append(p.Inside[v], u)
		}
		p.Home, p.Class = append(p.Home, u), append(p.Class, u)
	}
	loss := p.Loss
	p.Loss = nil
	for u := 0; u < n; u += 3 {
		p.Class = append(p.Class, u, u)
	}
	for w := range n {
		row := loss[w*n : (w+1)*n]
		p.Loss = append(p.Loss, row...)
		for u := 0; u < n; u += 3 {
			p.Loss = append(p.Loss, row[u]/2+.1, row[(u+1)%n])
		}
	}
	return p
}

// square has n random points of the unit square.
func square(n int) func(u, v int) float64 {
	r := random.Seeded(3)
	x, y := make([]float64, n), make([]float64, n)
	for u := range n {
		x[u], y[u] = r.Float64(), r.Float64()
	}
	return func(u, v int) float64 { return math.Hypot(x[u]-x[v], y[u]-y[v]) }
}

// line has n points on a line with random gaps: most unknowns are pinned between others.
func line(n int) func(u, v int) float64 {
	r := random.Seeded(6)
	x := make([]float64, n)
	for u := 1; u < n; u++ {
		x[u] = x[u-1] + r.ExpFloat64()
	}
	return func(u, v int) float64 { return math.Abs(x[u] - x[v]) }
}

func simplex(_, _ int) float64 { return 1 }

// simplexOptimum is the optimum of p by the simplex method, with every privacy row of the
// whole matrix written out. It solves the dual program: that of min c'x, a x >= b, x >= 0
// is max b'y, a'y <= c, y >= 0.
func simplexOptimum(t *testing.T, p *Problem) float64 {
	t.Helper()
	n, m := p.Inputs, p.Outputs
	// Unknowns: k, then for every output Y and the m of I(w).
	at, vars := make([]int, m), 1
	for w, in := range p.Inside {
		at[w] = vars
		vars += 1 + len(in)
	}
	entry := func(u, w int) (int, float64) { // M[u,w] = coefficient times unknown
		if i, ok := slices.BinarySearch(p.Inside[w], u); ok {
			return at[w] + 1 + i, 1
		}
		return at[w], math.Exp(-p.Budget[p.Home[w]*n+u])
	}
	a, b, c := make([][]float64, vars), []float64(nil), make([]float64, vars)
	r := random.Seeded(7)
	for i := range c {
		c[i] = 1e-10 * r.Float64() // against cycling
	}
	c[0]++
	add := func(rhs float64) func(u, w int, v float64) {
		b = append(b, rhs)
		for i := range a {
			a[i] = append(a[i], 0)
		}
		return func(u, w int, v float64) {
			i, x := entry(u, w)
			a[i][len(b)-1] += v * x
		}
	}
	for w := range m {
		for u := range n {
			for v := range n {
				if u != v { // M[v,w] >= M[u,w] exp(-e)
					row := add(0)
					row(u, w, -math.Exp(-p.Budget[u*n+v]))
					row(v, w, 1)
				}
			}
		}
	}
	for u := range n {
		row := add(1)
		for w := range m {
			row(u, w, 1)
		}
	}
	for i, u := range p.Class {
		row := add(0)
		a[0][len(b)-1] = 1
		for w := range m {
			row(u, w, -p.Loss[w*len(p.Class)+i]-p.Lambda)
		}
	}
	tab, _ := testkit.Simplex(b, a, c)
	if tab == nil {
		t.Fatal("the simplex method finds no end")
	}
	return tab[vars][len(tab[vars])-1]
}

// Random small spaces, all sizes of I, lambda 0 included.
func TestSolve_AgainstSimplex(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for r := 1; r <= n; r++ {
			for _, lambda := range []float64{0, .5, 20} {
				for name, q := range map[string]*Problem{
					"square": programOf(n, 3, square(n), r, lambda), "line": programOf(n, 1, line(n), r, lambda), "simplex": programOf(n, .7, simplex, r, lambda),
				} {
					want := simplexOptimum(t, q)
					got := Solve(t.Context(), q, ipm.Settings{Tolerance: 1e-8})
					// The simplex method stops at 1e-9, and its costs are off by 1e-10.
					if tol := 1e-7 * (1 + want); got.Lower > want+tol || got.Upper < want-tol || got.Upper-got.Lower > tol && n > 1 {
						t.Errorf("%s n=%d r=%d lambda=%v: [%v, %v] after %d iterations (%d), simplex method %v", name, n, r, lambda, got.Lower, got.Upper, got.Iterations, got.Status, want)
					}
				}
			}
		}
	}
}

// The columns are private, row sums at least 1, and the value is that of Upper.
func TestSolve_Feasible(t *testing.T) {
	for name, q := range map[string]*Problem{
		"square": programOf(30, 8, square(30), 6, 2), "line": programOf(30, 2, line(30), 6, 2), "far": programOf(20, 250, square(20), 6, 2),
	} {
		res := Solve(t.Context(), q, ipm.Settings{Tolerance: 1e-6})
		if res.Status != ipm.Converged || res.Lower > res.Upper {
			t.Errorf("%s: %+v", name, res.Status)
		}
		n, most := q.Inputs, 0.0
		for u := range n {
			sum := 0.0
			for w := range n {
				x := res.X[w*n+u]
				sum += x
				for v := range n {
					// Slacks carried forward are exact to some ulps of x;
					// budgets of hundreds turn an ulp into 1e-13.
					if bound := math.Exp(min(q.Budget[u*n+v], ipm.MaxBudget)) * res.X[w*n+v]; x > bound*(1+1e-11) {
						t.Fatalf("%s: output %d, inputs %d, %d: %v above %v", name, w, u, v, x, bound)
					}
				}
			}
			if sum < 1-1e-12 {
				t.Errorf("%s: row %d sums to %v", name, u, sum)
			}
		}
		for i, u := range q.Class {
			cost := 0.0
			for w := range n {
				cost += res.X[w*n+u] * (q.Loss[w*len(q.Class)+i] + q.Lambda)
			}
			most = max(most, cost)
		}
		if math.Abs(most-res.Upper) > 1e-12*most {
			t.Errorf("%s: value %v, Upper %v", name, most, res.Upper)
		}
	}
}

// The bound holds for any multipliers, however bad, and near to the best.
func TestSolver_LowerBoundHolds(t *testing.T) {
	q := programOf(8, 4, square(8), 3, .5)
	res := Solve(t.Context(), q, ipm.Settings{Tolerance: 1e-9})
	r := random.Seeded(9)
	for i := range 400 {
		s, noise := newSolver(context.Background(), q, ipm.Settings{Tolerance: 1e-7}), 2.0
		testkit.Check(t, s.start())
		if i%2 == 0 {
			noise = math.Exp(-15 * r.Float64())
			testkit.Check(t, s.iterate())
		}
		for _, v := range [][]float64{s.y, s.z, s.lambda} {
			for i := range v {
				v[i] *= math.Exp(noise * r.NormFloat64())
			}
		}
		lower, err := s.lower()
		if err != nil || lower > res.Upper {
			t.Fatalf("bound %v, value %v: %v", lower, res.Upper, err)
		}
	}
	s := newSolver(context.Background(), q, ipm.Settings{})
	testkit.Check(t, s.start())
	if lower, _ := s.lower(); lower <= 0 {
		t.Error("nothing is proved at the start")
	}
	for _, negative := range []*float64{&s.y[1], &s.z[2], &s.lambda[3]} {
		saved := *negative
		*negative *= -1e-9
		if lower, _ := s.lower(); lower != 0 {
			t.Errorf("a negative multiplier proves %v", lower)
		}
		*negative = saved
	}
	s.lambda[3] = math.NaN()
	if lower, _ := s.lower(); lower != 0 {
		t.Errorf("a NaN proves %v", lower)
	}
}
