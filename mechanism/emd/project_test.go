package emd

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/metricdp/metricdp/internal/fault"
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
	cost := make([]float64, k*k+k)
	a := mat.NewDense(k, k*k+k, nil)
	for i := range k {
		for j := range k {
			cost[i*k+j] = space.Distance(i, j)
			if i != j {
				a.Set(i, i*k+j, 1)
				a.Set(j, i*k+j, -1)
			}
		}
		a.Set(i, k*k+i, 1)
	}
	// Drop the k loops f_ii, which the solver takes for zero columns.
	var keep []int
	for j := range cost {
		if j >= k*k || j/k != j%k {
			keep = append(keep, j)
		}
	}
	c, b := make([]float64, len(keep)), mat.NewDense(k, len(keep), nil)
	for to, from := range keep {
		c[to] = cost[from]
		for i := range k {
			b.Set(i, to, a.At(i, from))
		}
	}
	v, _, err := lp.Simplex(c, b, g, 1e-12, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// signedWeights sum to 1 and are about half negative.
func signedWeights(r *rand.Rand, k int) []float64 {
	g := make([]float64, k)
	sum := 0.0
	for i := range g {
		g[i] = r.NormFloat64()
		sum += g[i]
	}
	for i := range g {
		g[i] += (1 - sum) / float64(k)
	}
	return g
}

// randomSpaces are of all the kinds that Project tells apart.
func randomSpaces(t *testing.T, r *rand.Rand, k int) map[string]metric.Finite {
	t.Helper()
	must := func(f metric.Finite, err error) metric.Finite {
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
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
	onLine := must(metric.NewPoints(line, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	return map[string]metric.Finite{
		"clusters":    Clusters{Count: k / 2, Size: 2, Within: .3, Diameter: 2},
		"clustered":   same,
		"ultrametric": ultra,
		"dense ultra": must(metric.Densify(t.Context(), ultra)),
		"line":        onLine,
		"plane":       must(metric.NewPoints(plane, metric.Euclidean{})),
		"capped line": must(metric.NewPoints(line, metric.Func[float64](func(x, y float64) float64 { return min(1, math.Abs(x-y)) }))),
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
				// p is a distribution at that distance of g: W1 of g+s and p+s.
				mu, nu, sum := make([]float64, k), make([]float64, k), 0.0
				for i, v := range p {
					if v < 0 {
						t.Errorf("%s: p[%d] = %v", name, i, v)
					}
					sum += v
					mu[i], nu[i] = g[i]+10, v+10
				}
				d, err := wasserstein.W1(t.Context(), space, mu, nu, nil)
				if err != nil {
					t.Fatal(name, err)
				}
				if math.Abs(sum-1) > 1e-12 || math.Abs(d.Cost-want) > 1e-9 {
					t.Errorf("%s %d: total %v, distance of p %v, least %v", name, k, sum, d.Cost, want)
				}
			}
		}
	}
}

// The fast ways are taken where they should, and only there.
func TestProject_FindsLines(t *testing.T) {
	r := random.Seeded(5)
	for range 20 {
		for name, space := range randomSpaces(t, r, 8) {
			x, ok := linePositions(space)
			if ok != (name == "line") && name != "capped line" {
				t.Errorf("%s: line %v", name, ok)
			}
			for i := range x {
				for j := range i {
					if ok && math.Abs(math.Abs(x[i]-x[j])-space.Distance(i, j)) > 1e-12 {
						t.Fatalf("%s: %v and %v are at %v", name, x[i], x[j], space.Distance(i, j))
					}
				}
			}
		}
	}
}

// A way that is bent by little is no line, and its distances are those taken.
func TestProject_BentLine(t *testing.T) {
	r := random.Seeded(10)
	for _, bend := range []float64{1e-2, 1e-3, 1e-5} {
		arc := make([][]float64, 6)
		for i := range arc {
			arc[i] = []float64{float64(i), bend * float64(i*i)}
		}
		space := testkit.Must(metric.NewPoints(arc, metric.Euclidean{}))
		if _, ok := linePositions(space); ok {
			t.Errorf("bend %v: taken for a line", bend)
		}
		g := signedWeights(r, len(arc))
		if _, dist, err := Project(t.Context(), space, g); err != nil || math.Abs(dist-nearestCost(t, space, g)) > 1e-12 {
			t.Errorf("bend %v: distance %v, linear program %v, %v", bend, dist, nearestCost(t, space, g), err)
		}
	}
}

// Cutting off and rescaling is worse: on a space where mass far away is noise.
func TestProject_BeatsClipping(t *testing.T) {
	c := Clusters{Count: 20, Size: 5, Within: .1, Diameter: 1}
	r := random.Seeded(6)
	truth := make([]float64, c.Len())
	truth[0] = 1
	g := make([]float64, c.Len())
	noise := signedWeights(r, c.Len())
	sum := 0.0
	for i, v := range noise {
		noise[i] = .02 * (v - 1/float64(len(g)))
		g[i] = truth[i] + noise[i]
	}
	clipped := make([]float64, len(g))
	for i, v := range g {
		clipped[i] = max(0, v)
		sum += clipped[i]
	}
	for i := range clipped {
		clipped[i] /= sum
	}
	p, dist, err := Project(t.Context(), c, g)
	if err != nil {
		t.Fatal(err)
	}
	near, _ := c.W1(p, truth)
	clip, _ := c.W1(clipped, truth)
	raw, _ := c.W1(g, truth)
	if moved, _ := c.W1(p, g); math.Abs(moved-dist) > 1e-12 || near > 2*raw {
		t.Errorf("moved %v, said %v; error %v of %v", moved, dist, near, raw)
	}
	if near > clip {
		t.Errorf("nearest errs by %v, clipping by %v", near, clip)
	}
}

func TestProject_SpreadsWhatIsLacking(t *testing.T) {
	c := Clusters{Count: 2, Size: 2, Within: .5, Diameter: 1}
	p, dist, err := Project(t.Context(), c, []float64{.3, .3, .1, .1})
	if err != nil || dist > 1e-15 {
		t.Fatal(p, dist, err)
	}
	for i, want := range []float64{.35, .35, .15, .15} {
		if math.Abs(p[i]-want) > 1e-15 {
			t.Errorf("p = %v", p)
		}
	}
	q := []float64{.25, .25, .25, .25}
	if p, _, _ := Project(t.Context(), c, q); p[0] != .25 || p[3] != .25 {
		t.Errorf("a distribution does not stay: %v", p)
	}
}

// One point has all the mass; weights are not written to.
func TestProject_OnePointAndAliasing(t *testing.T) {
	one := testkit.Must(metric.NewUltrametric([]int{0}, nil))
	for _, space := range []metric.Finite{one, Clusters{Count: 1, Size: 1, Within: 1, Diameter: 1}, discrete(1)} {
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

func TestProject_BadInput(t *testing.T) {
	c := Clusters{Count: 2, Size: 2, Within: .5, Diameter: 1}
	var size *fault.SizeError
	for name, space := range randomSpaces(t, random.Seeded(9), 4) {
		for _, g := range [][]float64{nil, {1}, {1, 0, 0}, {1, 0, 0, 0, 0}} {
			if _, _, err := Project(t.Context(), space, g); !errors.As(err, &size) {
				t.Errorf("%s: length %d: %v", name, len(g), err)
			}
		}
	}
	if _, _, err := Project(t.Context(), Clusters{}, nil); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("no points: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		_, _, err := Project(t.Context(), c, []float64{1, v, 0, 0})
		wantValueError(t, "weight", err, "g")
	}
}

func BenchmarkProject(b *testing.B) {
	const k = 1000
	r := random.Seeded(7)
	line, plane := make([]float64, k), make([][]float64, k)
	for i := range line {
		line[i] = r.Float64()
		plane[i] = []float64{r.Float64(), r.Float64()}
	}
	onLine := testkit.Must(metric.NewPoints(line, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	inPlane := testkit.Must(metric.NewPoints(plane, metric.Euclidean{}))
	g := signedWeights(r, k)
	for _, c := range []struct {
		name  string
		space metric.Finite
	}{{"clusters", Clusters{Count: k / 10, Size: 10, Within: .2, Diameter: 1}}, {"line", onLine}, {"plane", inPlane}} {
		b.Run(fmt.Sprintf("%s/k=%d", c.name, k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Project(b.Context(), c.space, g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// However large the weights, the result is a distribution that W1 takes.
func TestProject_TotalIsOne(t *testing.T) {
	r := random.Seeded(3)
	space := Clusters{Count: 4, Size: 3, Within: .3, Diameter: 1}
	plane := make([][]float64, 12)
	for i := range plane {
		plane[i] = []float64{r.Float64(), r.Float64()}
	}
	points := testkit.Must(metric.NewPoints(plane, metric.Euclidean{}))
	for _, f := range []metric.Finite{space, points} {
		for _, size := range []float64{1, 1e4, 1e8} {
			g := make([]float64, 12)
			for i := range g {
				g[i] = size * (r.Float64() - .5)
			}
			p, _, err := Project(t.Context(), f, g)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, v := range p {
				if v < 0 {
					t.Errorf("weight %v", v)
				}
				sum += v
			}
			if math.Abs(sum-1) > 1e-15*12 {
				t.Errorf("weights of size %v: total %v", size, sum)
			}
		}
	}
}
