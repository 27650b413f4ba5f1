package metric_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
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
		b := metric.Bimetric{Privacy: c.privacy, Utility: c.utility}
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

type vector = []float64

func TestProduct_Metric(t *testing.T) {
	r := random.Seeded(2)
	var pts []metric.Pair[vector, string]
	for _, x := range gaussians(r, 15, 2) {
		pts = append(pts, metric.Pair[vector, string]{First: x, Second: randomString(r, alphabets[0], r.IntN(3))})
	}
	for _, p := range []float64{1, 1.5, 2, 7, 1e6, math.Inf(1)} {
		conform(t, "Product", testkit.Must(metric.Product(metric.Euclidean{}, metric.Levenshtein{}, p)), strictly, pts...)
	}
}

func TestProduct_ClosedForms(t *testing.T) {
	type pair = metric.Pair[float64, float64]
	gap := metric.Numbers[float64]{}
	for p, want := range map[float64]float64{1: 7, 2: 5, 3: math.Cbrt(27 + 64), math.Inf(1): 4} {
		s := testkit.Must(metric.Product(gap, gap, p))
		if got := s.Distance(pair{}, pair{First: 3, Second: 4}); math.Abs(got-want) > 1e-15*want {
			t.Errorf("p = %v: got %v, want %v", p, got, want)
		}
		if got := s.Distance(pair{}, pair{Second: 1e200}); got != 1e200 {
			t.Errorf("p = %v: got %v, want 1e200", p, got)
		}
	}
}

// Each way to make a metric of a metric keeps its unit, or has none.
func TestUnits_Travel(t *testing.T) {
	ctx := t.Context()
	globe, moon := metric.Space[metric.LatLon](metric.GreatCircle{}), metric.Space[metric.LatLon](metric.GreatCircle{Radius: 1737.4})
	scaled := testkit.Must(metric.Scale(globe, 1000, ""))
	pts := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 1}, {Lat: 3}}, globe))
	for name, c := range map[string]struct {
		m    any
		want metric.Unit
	}{
		"globe":       {globe, "km"},
		"radius":      {metric.GreatCircle{Radius: metric.EarthRadiusKm}, "km"},
		"moon":        {moon, ""},
		"named":       {testkit.Must(metric.Scale(moon, 1, "km")), "km"},
		"again":       {testkit.Must(metric.Scale(globe, 1, "km")), "km"},
		"unnamed":     {testkit.Must(metric.Scale(globe, 1, "")), "km"},
		"Scale":       {scaled, ""},
		"Scale, m":    {testkit.Must(metric.Scale(globe, 1000, "m")), "m"},
		"renamed":     {testkit.Must(metric.Scale(scaled, 1, "m")), "m"},
		"Sum":         {testkit.Must(metric.Sum(globe, globe)), "km"},
		"Sum, mixed":  {testkit.Must(metric.Sum(globe, moon)), ""},
		"Product":     {testkit.Must(metric.Product(globe, globe, 2)), "km"},
		"mixed":       {testkit.Must(metric.Product(globe, moon, 2)), ""},
		"Float32":     {metric.Float32[metric.Euclidean]{}, ""},
		"Points":      {pts, "km"},
		"Densify":     {testkit.Must(metric.Densify(ctx, pts)), "km"},
		"Subset":      {testkit.Must(metric.Subset(pts, []int{2, 0})), "km"},
		"Scaled":      {testkit.Must(metric.Scaled(pts, 2)), ""},
		"Spanner":     {testkit.Must(metric.Spanner(ctx, pts, 2)), "km"},
		"Subdominant": {testkit.Must(metric.Subdominant(ctx, pts)), "km"},
		"NewDense":    {testkit.Must(metric.NewDense(2, []float64{1})), ""},
	} {
		if got := metric.UnitOf(c.m); got != c.want {
			t.Errorf("%s: unit %q, want %q", name, got, c.want)
		}
	}
	if _, err := metric.Scale(globe, 1, "mile"); !errors.Is(err, fault.ErrUnit) {
		t.Error(err)
	}
	if d := testkit.Must(metric.Scale(globe, 1, "km")).Distance(pts.At(0), pts.At(2)); d != pts.Distance(0, 2) {
		t.Errorf("a name changed a distance to %v", d)
	}
}

func TestCombinators_ForwardCheck(t *testing.T) {
	bad := []vector{{1}, {math.NaN()}}
	for name, s := range map[string]metric.Space[vector]{
		"scale": testkit.Must(metric.Scale[vector](metric.Euclidean{}, 2, "")),
		"sum":   testkit.Must(metric.Sum[vector](metric.Func[vector](metric.Euclidean{}.Distance), metric.Manhattan{})),
	} {
		if ve := (*metric.ValueError)(nil); !errors.As(testkit.Err(metric.NewPoints(bad, s)), &ve) {
			t.Errorf("%s lets NaN pass", name)
		}
	}
	product := testkit.Must(metric.Product(metric.Levenshtein{}, metric.Euclidean{}, 2))
	for _, p := range []metric.Pair[string, vector]{{First: "\xff", Second: vector{1}}, {Second: bad[1]}} {
		if ve := (*metric.ValueError)(nil); !errors.As(testkit.Err(metric.NewPoints([]metric.Pair[string, vector]{p}, product)), &ve) {
			t.Errorf("product lets %v pass", p)
		}
	}
}
