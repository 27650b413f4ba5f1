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

// system has k columns, each with so large a share of the inputs; the first has all.
func (g graph) system(k int, of []int32, share float64) System {
	s, r := System{Inputs: g.n, Start: g.start, Ends: g.ends, Of: of}, random.Seeded(8)
	for w := range k {
		c, at := Column{}, make([]int32, g.n)
		for u := range at {
			at[u] = -1
			if w == 0 || r.Float64() < share {
				at[u] = int32(len(c.Inputs))
				c.Inputs = append(c.Inputs, int32(u))
			}
		}
		for u := range at {
			for _, v := range g.ends[g.start[u]:g.start[u+1]] {
				if at[u] >= 0 && at[v] >= 0 {
					c.Pairs = append(c.Pairs, [2]int32{at[u], at[v]})
				}
			}
		}
		for j, u := range of {
			if at[u] >= 0 {
				c.Duals, c.At = append(c.Duals, int32(j)), append(c.At, at[u])
			}
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// filled is a factor of random numbers of a system with duals multipliers, most of
// them with an S of their own and in the border.
func filled(t testing.TB, g graph, k int, of []int32, share float64) *Factor {
	t.Helper()
	r := random.Seeded(uint64(g.n + k))
	p := testkit.Must(NewPlan(context.Background(), g.system(k, of, share), math.Inf(1)))
	f := p.New()
	for w, c := range p.Columns {
		h := f.Block(w)
		for i := range c.Inputs {
			h[i] += .01 * (1 + r.Float64())
		}
		for i, pair := range c.Pairs {
			a, b := math.Exp(3*r.NormFloat64()), math.Exp(r.NormFloat64())
			h[pair[0]] += a
			h[pair[1]] += a * b * b
			h[len(c.Inputs)+i] = -a * b
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
	y0 := p.all().x
	size := y0 + len(p.Of)
	if slices.Max(f.Border) > 0 {
		size++
	}
	a := mat.NewSymDense(size, nil)
	for w, c := range p.Columns {
		at, h := p.columns[w].x, f.Block(w)
		for i := range c.Inputs {
			a.SetSym(at+i, at+i, h[i])
		}
		for i, pair := range c.Pairs {
			a.SetSym(at+int(pair[0]), at+int(pair[1]), h[len(c.Inputs)+i])
		}
		for i, v := range f.Ties(w) {
			a.SetSym(at+int(c.At[i]), y0+int(c.Duals[i]), v)
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
		rows  int     // loss rows; 0: as with a prior
		nodes int     // at least
		share float64 // of the inputs, that a column has
	}{
		{"one input, one output", graphOf(1, nil), 1, 1, 1, 1},
		{"path, one output", graphOf(20, func(u, v int) bool { return v == u+1 }), 1, 20, 1, 1},
		{"star", star(30), 5, 40, 10, 1},
		{"star, prior", star(30), 5, 0, 10, 1},
		{"two components", graphOf(30, func(u, v int) bool { return v < u+4 && (u < 14) == (v < 14) }), 3, 90, 2, 1},
		{"no edges", graphOf(9, func(u, v int) bool { return false }), 4, 13, 9, 1},
		{"complete", graphOf(15, func(u, v int) bool { return true }), 9, 15, 1, 1},
		{"grid", grid(9, 8), 7, 72, 5, 1},
		{"grid, panels of several blocks", grid(7, 7), 30, 60, 5, 1},
		{"grid, prior", grid(9, 9), 4, 0, 5, 1},
		{"grid, parts", grid(9, 8), 7, 72, 5, .4},
		{"complete, parts", graphOf(15, func(u, v int) bool { return true }), 9, 15, 1, .3},
	} {
		of := duals(c.g.n, c.rows)
		f := filled(t, c.g, c.k, of, c.share)
		if len(f.p.nodes) < c.nodes {
			t.Errorf("%s: %d nodes", c.name, len(f.p.nodes))
		}
		held := 0
		for _, v := range [][]float64{f.panels, f.vectors, f.H, f.C, f.S, f.Border, f.scaleX, f.scaleY, f.x, f.y, f.restX, f.restY, f.borderX, f.borderY} {
			held += 8 * len(v)
		}
		if bytes := f.p.Bytes(); bytes < float64(held) || bytes > float64(held+tieBytes*len(f.H)+entryBytes*len(f.C)) {
			t.Errorf("%s: %v bytes hold %d", c.name, bytes, held)
		}
		a := f.dense()
		size, _ := a.Dims()
		y0 := f.p.all().x
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
	f := filled(t, g, 3, duals(25, 25), 1)
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
	f := filled(t, g, 3, duals(36, 36), 1)
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
