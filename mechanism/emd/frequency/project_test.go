package frequency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// signedWeights sum to 1 and are about half negative.
func signedWeights(r *rand.Rand, k int) []float64 {
	g := make([]float64, k)
	for i := range g {
		g[i] = r.NormFloat64()
	}
	floats.AddConst((1-floats.Sum(g))/float64(k), g)
	return g
}

// randomSpaces have closed forms, and none.
func randomSpaces(r *rand.Rand, k int) map[string]metric.Finite {
	plane := make([][]float64, k)
	for i := range plane {
		plane[i] = []float64{r.NormFloat64(), r.NormFloat64()}
	}
	return map[string]metric.Finite{
		"clusters": testkit.Must(testkit.Must(metric.NewClustered(k/2, 2, .3)).Scaled(2, "")),
		"line":     space.Formula(k, func(i, j int) float64 { return math.Abs(float64(i - j)) }),
		"plane":    space.Euclidean(plane),
	}
}

func TestProject_SpreadsWhatIsLacking(t *testing.T) {
	c := testkit.Must(metric.NewClustered(2, 2, .5))
	p, dist, err := Project(t.Context(), c, []float64{.3, .3, .1, .1})
	if err != nil || dist > 1e-15 || !floats.EqualApprox(p, []float64{.35, .35, .15, .15}, 1e-15) {
		t.Fatal(p, dist, err)
	}
	q := []float64{.25, .25, .25, .25}
	if p, _, _ := Project(t.Context(), c, q); p[0] != .25 || p[3] != .25 {
		t.Errorf("a distribution does not stay: %v", p)
	}
}

// One point has all the mass; weights are not written to.
func TestProject_OnePointAndAliasing(t *testing.T) {
	one := testkit.Must(metric.NewUltrametric([]int{0}, nil))
	for _, space := range []metric.Finite{one, testkit.Must(metric.NewClustered(1, 1, 1)), discrete(1)} {
		if p, dist, err := Project(t.Context(), space, []float64{3}); err != nil || p[0] != 1 || dist != 0 {
			t.Errorf("%T: %v, %v, %v", space, p, dist, err)
		}
	}
	r := random.Seeded(8)
	for name, space := range randomSpaces(r, 4) {
		for _, g := range [][]float64{signedWeights(r, 4), {.25, .25, .25, .25}} {
			old := slices.Clone(g)
			p, _, err := Project(t.Context(), space, g)
			if err != nil {
				t.Fatal(err)
			}
			p[0] = 17
			if !slices.Equal(g, old) {
				t.Errorf("%s: weights changed", name)
			}
		}
	}
}

// However large the weights, the result is a distribution that W1 takes.
func TestProject_TotalIsOne(t *testing.T) {
	r := random.Seeded(3)
	points := randomSpaces(r, 12)["plane"]
	for _, f := range []metric.Finite{testkit.Must(metric.NewClustered(4, 3, .3)), points} {
		for _, size := range []float64{1, 1e4, 1e8} {
			g := make([]float64, 12)
			for i := range g {
				g[i] = size * (r.Float64() - .5)
			}
			p, _, err := Project(t.Context(), f, g)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(floats.Sum(p)-1) > 1e-15*12 || floats.Min(p) < 0 {
				t.Errorf("weights of size %v: %v", size, p)
			}
		}
	}
}

// Mass 1 may be lost in the rounding of large weights: what comes out is a probability vector.
func TestProject_OfLargeWeights(t *testing.T) {
	for seed := range uint64(20) {
		rng := random.Seeded(seed)
		x, g := make([][]float64, 60), make([]float64, 60)
		for i := range x {
			x[i], g[i] = []float64{rng.Float64(), rng.Float64()}, 1e20*rng.NormFloat64()
		}
		p, _, err := Project(t.Context(), testkit.Must(metric.NewPoints(x, metric.Euclidean{})), g)
		if sum := floats.Sum(p); err != nil || !(math.Abs(sum-1) <= 1e-12) {
			t.Fatalf("seed %d: sum %v, %v", seed, sum, err)
		}
	}
}
