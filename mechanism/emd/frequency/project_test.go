package frequency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// nearestCost solves the linear program by a dense simplex: flows f_ij >= 0
// between all points and p >= 0 what they leave of g, at the least cost.
func nearestCost(t *testing.T, space metric.Finite, g []float64) float64 {
	t.Helper()
	k := len(g)
	cost := make([]float64, k*k)
	a := mat.NewDense(k, k*k, nil)
	for i := range k {
		for j := range k {
			if i != j {
				cost[i*k+j] = space.Distance(i, j)
				a.Set(j, i*k+j, -1)
			}
			a.Set(i, i*k+j, 1) // for i = j it is p_i
		}
	}
	v, _, err := lp.Simplex(cost, a, g, 1e-12, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// signedWeights sum to 1 and are about half negative.
func signedWeights(r *rand.Rand, k int) []float64 {
	g := make([]float64, k)
	for i := range g {
		g[i] = r.NormFloat64()
	}
	floats.AddConst((1-floats.Sum(g))/float64(k), g)
	return g
}

// randomSpaces are of all the kinds that Project tells apart.
func randomSpaces(t *testing.T, r *rand.Rand, k int) map[string]metric.Finite {
	t.Helper()
	heights := make([]float64, k-1)
	for i := range heights {
		heights[i] = float64(1 + r.IntN(4)) // with ties
	}
	ultra := testkit.Must(metric.NewUltrametric(r.Perm(k), heights))
	same := testkit.Must(metric.NewClustered(k/2, 2, .4))
	line := make([]float64, k)
	plane := make([][]float64, k)
	for i := range line {
		line[i] = r.NormFloat64()
		plane[i] = []float64{r.NormFloat64(), r.NormFloat64()}
	}
	line[1] = line[0] // a double point
	onLine := testkit.Must(metric.NewPoints(line, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	return map[string]metric.Finite{
		"clusters":    testkit.Must(testkit.Must(metric.NewClustered(k/2, 2, .3)).Scaled(2, "")),
		"clustered":   same,
		"ultrametric": ultra,
		"dense ultra": testkit.Must(metric.Densify(t.Context(), ultra)),
		"line":        onLine,
		"plane":       testkit.Must(metric.NewPoints(plane, metric.Euclidean{})),
		"capped line": testkit.Must(metric.NewPoints(line, metric.Func[float64](func(x, y float64) float64 { return min(1, math.Abs(x-y)) }))),
	}
}

func TestProject_IsTheOptimum(t *testing.T) {
	r := random.Seeded(4)
	for range 30 {
		for _, k := range []int{2, 4, 6} {
			for name, space := range randomSpaces(t, r, k) {
				g := signedWeights(r, k)
				p, dist, err := Project(t.Context(), space, g)
				if err != nil {
					t.Fatal(name, err)
				}
				want := nearestCost(t, space, g)
				if math.Abs(dist-want) > 1e-9 {
					t.Errorf("%s %d: distance %v, linear program %v", name, k, dist, want)
				}
				if math.Abs(floats.Sum(p)-1) > 1e-12 || floats.Min(p) < 0 {
					t.Errorf("%s: %v", name, p)
				}
				// p is at that distance of g: W1 of g+10 and p+10.
				floats.AddConst(10, g)
				floats.AddConst(10, p)
				if d := testkit.Must(wasserstein.W1(t.Context(), space, g, p, nil)); math.Abs(d.Cost-want) > 1e-9 {
					t.Errorf("%s %d: distance of p %v, least %v", name, k, d.Cost, want)
				}
			}
		}
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
	for name, space := range randomSpaces(t, r, 4) {
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
	points := randomSpaces(t, r, 12)["plane"]
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
