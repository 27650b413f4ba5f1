package metric_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// slow hides every capability of a Finite but Len and Distance.
type slow struct{ f metric.Finite }

func (s slow) Len() int                  { return s.f.Len() }
func (s slow) Distance(i, j int) float64 { return s.f.Distance(i, j) }

func square(t testing.TB, n int) *metric.Points[[]float64] {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	p := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	return p
}

// Every implementation answers a row as it answers each distance, is
// symmetric to the bit, and fills the caller's slice.
func TestFinite_RowsAreDistances(t *testing.T) {
	p := square(t, 37)
	d := testkit.Must(metric.Densify(t.Context(), p))
	scaled := testkit.Must(metric.Scaled(p, 1.1))
	perm := rand.New(rand.NewPCG(2, 2)).Perm(37)
	permuted := testkit.Must(metric.Permuted(d, perm))
	sub := testkit.Must(metric.Subset(p, []int{5, 5, 36, 0}))
	for name, f := range map[string]metric.Finite{"points": p, "dense": d, "slow": slow{p}, "scaled": scaled, "permuted": permuted, "subset": sub} {
		dst := make([]float64, f.Len())
		for i := range f.Len() {
			row := finite.Row(f, i, dst)
			if &row[0] != &dst[0] || len(row) != f.Len() {
				t.Fatalf("%s: the row is not in dst", name)
			}
			for j, v := range row {
				if v != f.Distance(i, j) || v != f.Distance(j, i) || i == j && v != 0 {
					t.Fatalf("%s: row %d has %v at %d, distances %v and %v", name, i, v, j, f.Distance(i, j), f.Distance(j, i))
				}
			}
		}
		if row := finite.Row(f, 0, nil); len(row) != f.Len() {
			t.Errorf("%s: a new row has %d entries", name, len(row))
		}
	}
	for i := range 37 {
		for j := range 37 {
			if d.Distance(i, j) != p.Distance(i, j) || scaled.Distance(i, j) != 1.1*p.Distance(i, j) || permuted.Distance(i, j) != p.Distance(perm[i], perm[j]) {
				t.Fatalf("(%d, %d) differs", i, j)
			}
		}
	}
	if sub.Distance(0, 1) != 0 || sub.Distance(1, 2) != p.Distance(5, 36) {
		t.Error("subset")
	}
}

// Views keep the embedding: FromNorm of the norm is the view's distance.
func TestViews_KeepTheEmbedding(t *testing.T) {
	p := square(t, 20)
	scaled, _ := metric.Scaled(p, 3)
	sub := testkit.Must(metric.Subset(scaled, []int{4, 2, 4, 19}))
	for _, f := range []metric.Finite{p, scaled, sub} {
		e, ok := finite.Embed[metric.Embedding](f)
		if !ok || e.Dim != 2 || e.P != 2 || len(e.Coords) != 2*f.Len() {
			t.Fatalf("embedding %+v %v", e, ok)
		}
		for i := range f.Len() {
			for j := range f.Len() {
				norm := math.Hypot(e.Coords[2*i]-e.Coords[2*j], e.Coords[2*i+1]-e.Coords[2*j+1])
				if got, want := e.FromNorm(norm), f.Distance(i, j); math.Abs(got-want) > 1e-14 {
					t.Fatalf("(%d, %d): embedded %v, distance %v", i, j, got, want)
				}
			}
		}
	}
	d, _ := metric.Densify(t.Context(), p)
	view, _ := metric.Subset(d, []int{0})
	if _, ok := finite.Embed[metric.Embedding](view); ok {
		t.Error("a matrix has no embedding")
	}
}

func TestFinite_BadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	var value *metric.ValueError
	var size *metric.SizeError
	var memory *metric.MemoryError
	var violation *metric.Violation
	check := func(name string, err error, target any) {
		t.Helper()
		if err == nil || !errors.As(err, target) {
			t.Errorf("%s: %v", name, err)
		}
	}
	empty := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := metric.NewPoints([]string{}, metric.Levenshtein{})
	empty("no points", err)
	_, err = metric.NewPoints([][]float64{{0, 0}, {1, nan}}, metric.Euclidean{})
	check("NaN coordinate", err, &value)
	_, err = metric.NewPoints([][]float64{{0, 0}, {1}}, metric.Euclidean{})
	check("lengths", err, &size)
	_, err = metric.NewDense(0, nil)
	empty("n = 0", err)
	_, err = metric.NewDense(3, []float64{1, 2})
	check("short", err, &size)
	for _, v := range []float64{-1, nan, inf} {
		_, err = metric.NewDense(3, []float64{1, 2, v})
		check("entry", err, &value)
		if value.Index != 2 || value.Arg != "upper" {
			t.Errorf("the error names %s[%d]", value.Arg, value.Index)
		}
		_, err = metric.NewMatrix([][]float64{{0, v}, {v, 0}})
		check("matrix entry", err, &value)
		_, err = metric.Scaled(square(t, 2), v)
		check("scale", err, &value)
	}
	_, err = metric.NewDense(1<<20, nil)
	check("8 TB", err, &memory)
	_, err = metric.NewMatrix(nil)
	empty("no rows", err)
	_, err = metric.NewMatrix([][]float64{{0, 1}, {1}})
	check("ragged", err, &size)
	_, err = metric.NewMatrix([][]float64{{0, 1}, {2, 0}})
	check("asymmetric", err, &violation)
	_, err = metric.NewMatrix([][]float64{{0, 1}, {1, 3}})
	check("diagonal", err, &violation)
	_, err = metric.Densify(t.Context(), huge{})
	check("densify a million points", err, &memory)
	_, err = metric.Densify(t.Context(), constant{n: 3, d: nan})
	check("densify NaN", err, &value)
	p := square(t, 3)
	_, err = metric.Subset(p, nil)
	empty("empty subset", err)
	_, err = metric.Subset(p, []int{3})
	check("index", err, &value)
	_, err = metric.Permuted(p, []int{0, 1})
	check("short permutation", err, &size)
	_, err = metric.Permuted(p, []int{0, 1, 1})
	check("no permutation", err, &value)
	_, err = metric.NewBimetric(p, square(t, 4))
	check("sizes", err, &size)
	_, err = metric.NewBimetric(p, nil)
	empty("half a space", err)
}

type huge struct{}

func (huge) Len() int                  { return 1 << 20 }
func (huge) Distance(i, j int) float64 { return 1 }

type constant struct {
	n int
	d float64
}

func (c constant) Len() int                  { return c.n }
func (c constant) Distance(i, j int) float64 { return c.d }

func TestBimetric_Lipschitz(t *testing.T) {
	p := square(t, 25)
	double, _ := metric.Scaled(p, 2)
	b := testkit.Must(metric.NewBimetric(p, double))
	if k, _, _, err := b.Lipschitz(t.Context()); err != nil || math.Abs(k-2) > 1e-15 {
		t.Errorf("ratio %v, want 2", k)
	}
	rho1 := testkit.Must(metric.NewMatrix([][]float64{{0, 1, 2}, {1, 0, 1}, {2, 1, 0}}))
	rho2, _ := metric.NewMatrix([][]float64{{0, 3, 8}, {3, 0, 5}, {8, 5, 0}})
	b = metric.Bimetric{Privacy: rho1, Utility: rho2}
	if k, i, j, err := b.Lipschitz(t.Context()); err != nil || k != 5 || i != 1 || j != 2 {
		t.Errorf("ratio %v at (%d, %d), want 5 at (1, 2)", k, i, j)
	}
	b = metric.Bimetric{Privacy: constant{3, 0}, Utility: rho2}
	if k, _, _, err := b.Lipschitz(t.Context()); err != nil || !math.IsInf(k, 1) {
		t.Errorf("ratio %v, want +Inf", k)
	}
	b = metric.Same(constant{3, 0})
	if k, i, j, err := b.Lipschitz(t.Context()); err != nil || k != 0 || i != 0 || j != 0 {
		t.Errorf("ratio %v at (%d, %d) on identical points", k, i, j)
	}
}

func TestBimetric_OneMetric(t *testing.T) {
	d := testkit.Must(metric.Densify(t.Context(), square(t, 5)))
	twin := testkit.Must(metric.Densify(t.Context(), slow{d}))
	uncomparable := funcFinite{5, func(i, j int) float64 { return d.Distance(i, j) }}
	for i, c := range []struct {
		b    metric.Bimetric
		want bool
	}{
		{metric.Same(d), true},
		{metric.Same(slow{d}), true},
		{metric.Same(constant{5, 1}), true},
		{metric.Bimetric{Privacy: d, Utility: twin}, false},
		{metric.Bimetric{Privacy: d, Utility: slow{d}}, false},
		{metric.Same(uncomparable), false}, // two funcs cannot be compared
	} {
		if got := c.b.OneMetric(); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// funcFinite is a Finite that Go cannot compare.
type funcFinite struct {
	n int
	f func(i, j int) float64
}

func (f funcFinite) Len() int                  { return f.n }
func (f funcFinite) Distance(i, j int) float64 { return f.f(i, j) }

// TestString_IsALine: what Println shows of a space is a line, not all its numbers.
func TestString_IsALine(t *testing.T) {
	pts := testkit.Must(metric.NewPoints([]string{"a", "b"}, metric.Levenshtein{}))
	for want, f := range map[string]metric.Finite{
		"2 points under metric.Levenshtein": pts,
		"metric on 2 points":                testkit.Must(metric.Densify(t.Context(), pts)),
		"shortest paths between 2 nodes":    testkit.Must(metric.NewGraphEdges(t.Context(), 2, []metric.Edge{{I: 0, J: 1, Length: 1}})),
		"ultrametric on 2 points":           testkit.Must(metric.Subdominant(t.Context(), pts)),
	} {
		if got := fmt.Sprint(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNewPoints_RefusesNoSpace(t *testing.T) {
	if _, err := metric.NewPoints([]string{"a"}, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("%v, want ErrEmpty", err)
	}
}
