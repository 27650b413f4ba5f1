package metric_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

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
		scaled := testkit.Must(f.Scaled(12.5, "km"))
		if scaled.Unit() != "km" || scaled.Inter() != 12.5 {
			t.Errorf("%v: accessors of the scaled disagree", c)
		}
		metric.SameDistances(t, scaled, space.Formula(f.Len(), func(i, j int) float64 { return 12.5 * f.Distance(i, j) }))
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
