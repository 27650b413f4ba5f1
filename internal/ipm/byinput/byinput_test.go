package byinput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// graph lists edges u < v by u.
type graph struct {
	n           int
	start, ends []int32
}

func graphOf(n int, edge func(u, v int) bool) graph {
	g := graph{n: n, start: make([]int32, n+1)}
	for u := range n {
		for v := u + 1; v < n; v++ {
			if edge(u, v) {
				g.ends = append(g.ends, int32(v))
			}
		}
		g.start[u+1] = int32(len(g.ends))
	}
	return g
}

func star(n int) graph { return graphOf(n, func(u, v int) bool { return v == n-1 }) }
func grid(rows, columns int) graph {
	return graphOf(rows*columns, func(u, v int) bool {
		return v == u+columns || v == u+1 && v%columns > 0
	})
}

// filled is a factor of random numbers of a system with duals multipliers, most of
// them with an S of their own and in the border.
func filled(t testing.TB, g graph, k int, of []int32) *Factor {
	t.Helper()
	r := random.Seeded(uint64(g.n + k))
	p := testkit.Must(NewPlan(context.Background(), g.n, k, g.start, g.ends, of, math.Inf(1)))
	f := p.New()
	for w := range k {
		h := f.block(w)
		for u := range g.n {
			h[u] += .01 * (1 + r.Float64())
			for i := g.start[u]; i < g.start[u+1]; i++ {
				a, b := math.Exp(3*r.NormFloat64()), math.Exp(r.NormFloat64())
				h[u] += a
				h[g.ends[i]] += a * b * b
				h[g.n+int(i)] = -a * b
			}
		}
	}
	for i := range f.C {
		f.C[i] = math.Exp(2 * r.NormFloat64())
	}
	for j := g.n; j < len(of); j++ {
		f.S[j] = math.Exp(4 * r.NormFloat64())
		f.Border[j] = 1
	}
	return f
}

// duals are a row sum for every input, and rows more for some.
func duals(n int, rows int) (of []int32) {
	for u := range n {
		of = append(of, int32(u))
	}
	for i := range rows {
		of = append(of, int32(i*7%n))
	}
	return of
}

// dense is the whole matrix, k last.
func (f *Factor) dense() *mat.SymDense {
	p := f.p
	y0 := p.n * p.k
	size := y0 + len(p.of)
	if slices.Max(f.Border) > 0 {
		size++
	}
	a := mat.NewSymDense(size, nil)
	for w := range p.k {
		for u := range p.n {
			a.SetSym(w*p.n+u, w*p.n+u, f.block(w)[u])
			for i := p.start[u]; i < p.start[u+1]; i++ {
				a.SetSym(w*p.n+u, w*p.n+int(p.ends[i]), f.block(w)[p.n+int(i)])
			}
		}
		for j, u := range p.of {
			a.SetSym(w*p.n+int(u), y0+j, f.C[w*len(p.of)+j])
		}
	}
	for j, v := range f.S {
		a.SetSym(y0+j, y0+j, -v)
		if f.Border[j] != 0 {
			a.SetSym(y0+j, size-1, -f.Border[j])
		}
	}
	return a
}

// The solution is that of the dense matrix, whatever the workers, and the factor
// multiplied out is the matrix.
func TestFactor_AgainstDense(t *testing.T) {
	for _, c := range []struct {
		name  string
		g     graph
		k     int
		rows  int // loss rows; 0: as with a prior
		nodes int // at least
	}{
		{"one input, one output", graphOf(1, nil), 1, 1, 1},
		{"path, one output", graphOf(20, func(u, v int) bool { return v == u+1 }), 1, 20, 1},
		{"star", star(30), 5, 40, 10},
		{"star, prior", star(30), 5, 0, 10},
		{"two components", graphOf(30, func(u, v int) bool { return v < u+4 && (u < 14) == (v < 14) }), 3, 90, 2},
		{"no edges", graphOf(9, func(u, v int) bool { return false }), 4, 13, 9},
		{"complete", graphOf(15, func(u, v int) bool { return true }), 9, 15, 1},
		{"grid", grid(9, 8), 7, 72, 5},
		{"grid, panels of several blocks", grid(7, 7), 30, 60, 5},
		{"grid, prior", grid(9, 9), 4, 0, 5},
	} {
		of := duals(c.g.n, c.rows)
		f := filled(t, c.g, c.k, of)
		if len(f.p.nodes) < c.nodes {
			t.Errorf("%s: %d nodes", c.name, len(f.p.nodes))
		}
		held := 0
		for _, v := range [][]float64{f.panels, f.vectors, f.H, f.C, f.S, f.Border, f.scaleX, f.scaleY, f.x, f.y, f.restX, f.restY, f.borderX, f.borderY} {
			held += 8 * len(v)
		}
		if bytes := f.p.Bytes(); bytes < float64(held) || bytes > float64(held+16*c.g.n*c.k) {
			t.Errorf("%s: %v bytes hold %d", c.name, bytes, held)
		}
		a := f.dense()
		size, _ := a.Dims()
		y0 := c.g.n * c.k
		r := random.Seeded(9)
		rhs := make([]float64, y0+len(of)+1)
		for i := range rhs {
			rhs[i] = r.NormFloat64()
		}
		var lu mat.LU
		lu.Factorize(a)
		want := mat.NewVecDense(size, nil)
		if err := lu.SolveVecTo(want, false, mat.NewVecDense(size, signed(rhs, y0+len(of))[:size])); err != nil {
			t.Fatal(c.name, err)
		}
		var first []float64
		for _, workers := range []int{1, 2, 3} {
			if ok, err := f.Factorize(t.Context(), workers); !ok || err != nil {
				t.Fatal(c.name, ok, err)
			}
			got := make([]float64, len(rhs))
			k, err := f.Solve(t.Context(), rhs[:y0], rhs[y0:y0+len(of)], rhs[y0+len(of)], got[:y0], got[y0:y0+len(of)], workers)
			if err != nil {
				t.Fatal(c.name, err)
			}
			got[len(got)-1] = k
			if first == nil {
				first = got
			} else if !slices.Equal(first, got) {
				t.Errorf("%s: %d workers change the bits", c.name, workers)
			}
			for i := range size {
				if w := want.AtVec(i); !(math.Abs(got[i]-w) <= 1e-9*(1+math.Abs(w))) {
					t.Fatalf("%s: entry %d = %v, want %v", c.name, i, got[i], w)
				}
			}
		}
	}
}

// signed changes the sign of the last number: its row is -g'y in a symmetric matrix.
func signed(v []float64, last int) []float64 {
	v = slices.Clone(v)
	v[last] = -v[last]
	return v
}

// Indefinite and not finite numbers are told; a done context ends at once.
func TestFactor_Fails(t *testing.T) {
	g := grid(5, 5)
	f := filled(t, g, 3, duals(25, 25))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if ok, err := f.Factorize(ctx, 2); ok || !errors.Is(err, context.Canceled) {
		t.Error(ok, err)
	}
	f.H[g.n+7] = -1e9
	if ok, err := f.Factorize(t.Context(), 2); ok || err != nil {
		t.Error("indefinite:", ok, err)
	}
	f.H[g.n+7] = math.NaN()
	if ok, err := f.Factorize(t.Context(), 2); ok || err != nil {
		t.Error("NaN:", ok, err)
	}
}

// Every node looks at the context, on both ways: stopped at one look after the other,
// the call leaves as many different vectors as there are steps.
func TestApply_LooksAtTheContext(t *testing.T) {
	g := grid(6, 6)
	f := filled(t, g, 3, duals(36, 36))
	if ok, err := f.Factorize(t.Context(), 1); !ok || err != nil {
		t.Fatal(ok, err)
	}
	left := map[string]bool{}
	for looks := int64(0); ; looks++ {
		clear(f.vectors)
		err := f.apply(testkit.Looking(looks), slices.Repeat([]float64{1}, len(f.x)), slices.Repeat([]float64{1}, len(f.y)), 1)
		left[fmt.Sprint(f.vectors)] = true
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if len(f.p.top) < 2 || len(left) < 2*len(f.p.nodes) {
		t.Errorf("%d vectors of %d nodes, %d of them above the tasks", len(left), len(f.p.nodes), len(f.p.top))
	}
}
