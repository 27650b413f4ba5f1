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

func TestViews_AreOfTheDistances(t *testing.T) {
	p := square(t, 37)
	d := testkit.Must(metric.Densify(t.Context(), p))
	scaled, idx := testkit.Must(metric.Scaled(p, 1.1)), []int{5, 5, 36, 0}
	sub := testkit.Must(metric.Subset(scaled, idx))
	for i := range 37 {
		for j := range 37 {
			if d.Distance(i, j) != p.Distance(i, j) || scaled.Distance(i, j) != 1.1*p.Distance(i, j) {
				t.Fatalf("(%d, %d) differs", i, j)
			}
		}
	}
	for a, i := range idx {
		for b, j := range idx {
			if sub.Distance(a, b) != scaled.Distance(i, j) {
				t.Fatalf("(%d, %d) of the subset differs", a, b)
			}
		}
	}
	// Views keep the coordinates, if there are any.
	for _, f := range []metric.Finite{p, scaled, sub} {
		if e, ok := finite.Embed[metric.Embedding](f); !ok || e.Dim != 2 || len(e.Coords) != 2*f.Len() {
			t.Errorf("%T: embedding %+v %v", f, e, ok)
		}
	}
	view := testkit.Must(metric.Subset(d, []int{0}))
	if _, ok := finite.Embed[metric.Embedding](view); ok {
		t.Error("a matrix has no embedding")
	}
}

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
