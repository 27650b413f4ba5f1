package metric_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
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
	metric.SameDistances(t, d, p)
	metric.SameDistances(t, scaled, space.Formula(37, func(i, j int) float64 { return 1.1 * p.Distance(i, j) }))
	metric.SameDistances(t, sub, space.Formula(4, func(a, b int) float64 { return scaled.Distance(idx[a], idx[b]) }))
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

func TestBimetric_Lipschitz(t *testing.T) {
	p := square(t, 25)
	rho1 := testkit.Must(metric.NewMatrix([][]float64{{0, 1, 2}, {1, 0, 1}, {2, 1, 0}}))
	rho2 := testkit.Must(metric.NewMatrix([][]float64{{0, 3, 8}, {3, 0, 5}, {8, 5, 0}}))
	zero := space.Constant(3, 0)
	for _, c := range []struct {
		privacy, utility metric.Finite
		ratio            float64
		i, j             int
	}{
		{p, testkit.Must(metric.Scaled(p, 2)), 2, 0, 1},
		{rho1, rho2, 5, 1, 2},
		{zero, rho2, inf, 0, 1},
		{zero, zero, 0, 0, 0},
	} {
		b := testkit.Must(metric.NewBimetric(c.privacy, c.utility))
		if ratio, i, j, err := b.Lipschitz(t.Context()); err != nil || ratio != c.ratio || i != c.i || j != c.j {
			t.Errorf("ratio %v at (%d, %d), %v; want %v at (%d, %d)", ratio, i, j, err, c.ratio, c.i, c.j)
		}
	}
}

func TestBimetric_OneMetric(t *testing.T) {
	d := testkit.Must(metric.Densify(t.Context(), square(t, 5)))
	twin := testkit.Must(metric.Densify(t.Context(), slow{d}))
	uncomparable := space.Formula(5, d.Distance)
	for i, c := range []struct {
		b    metric.Bimetric
		want bool
	}{
		{metric.Same(d), true},
		{metric.Same(slow{d}), true},
		{metric.Bimetric{Privacy: d, Utility: twin}, false},
		{metric.Bimetric{Privacy: d, Utility: slow{d}}, false},
		{metric.Same(uncomparable), false}, // two funcs cannot be compared
	} {
		if got := c.b.OneMetric(); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

func TestClustered_IsItsDefinition(t *testing.T) {
	for _, c := range []struct {
		clusters, size int
		intra          float64
	}{{1, 1, 1}, {1, 5, 0.2}, {5, 1, 0.2}, {3, 4, 0.3}, {2, 3, 1}, {2, 2, 0x1p-1074}} {
		f := testkit.Must(metric.NewClustered(c.clusters, c.size, c.intra))
		if f.Clusters() != c.clusters || f.Size() != c.size || f.Intra() != c.intra {
			t.Errorf("%v: accessors disagree", c)
		}
		metric.SameDistances(t, f, space.Formula(c.clusters*c.size, func(i, j int) float64 {
			if i/c.size == j/c.size {
				return c.intra
			}
			return 1
		}))
	}
}

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
