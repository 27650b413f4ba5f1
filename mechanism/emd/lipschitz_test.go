package emd

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

func linearMust[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// linearPlane returns n points of the unit square.
func linearPlane(n int, seed uint64) [][]float64 {
	r := rng.Seeded(seed)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	return pts
}

// linearQueries are one query of every constructor on the Euclidean plane, and
// whether its constant is attained by some pair of linearPlane(6, 1).
func linearQueries() map[string]Query[[]float64] {
	c := []float64{0.3, 0.6}
	d := metric.Euclidean{}
	l2 := Average(additive.Norm{P: 2, Dim: 2})
	return map[string]Query[[]float64]{
		"average":    l2,
		"landmark":   linearMust(Landmarks(d, 1, c)),
		"landmarks1": linearMust(Landmarks(d, 1, c, []float64{1, 1}, []float64{0, 1})),
		"landmarks3": linearMust(Landmarks(d, 3, c, []float64{1, 1})),
		"landmarksI": linearMust(Landmarks(d, math.Inf(1), c, []float64{1, 1})),
		"similarity": linearMust(Similarity([]float64{3, -4})),
		"map":        linearMust(LinearMap([][]float64{{1, 2}, {-3, 0.5}, {0, 1}}, l2)),
		"map of a landmark": linearMust(LinearMap([][]float64{{2}, {-3}},
			linearMust(Landmarks(d, 1, c)))),
		"map of a ramp": linearMust(LinearMap([][]float64{{2}, {-3}},
			linearMust(Ball(d, c, 0.2, Smoothing{Width: 0.1})))),
		"ramp": linearMust(Ball(d, c, 0.2, Smoothing{Width: 0.1})),
		"bell": linearMust(Ball(d, c, 0.2, Smoothing{Width: 0.1, Kernel: Bell})),
		"blur": linearMust(Ball(d, c, 0.2, Smoothing{Width: 0.1, Kernel: Blur})),
		"region": linearMust(Region(func(x []float64) float64 { return max(0, x[0]-0.5) },
			Smoothing{Width: 0.2})),
	}
}

// linearMultisets returns all multisets of up to m of the points 0, ..., n-1.
func linearMultisets(n, m int) [][]int {
	var all [][]int
	var grow func(s []int, from int)
	grow = func(s []int, from int) {
		if len(s) > 0 {
			all = append(all, append([]int(nil), s...))
		}
		for i := from; i < n && len(s) < m; i++ {
			grow(append(s[:len(s):len(s)], i), i)
		}
	}
	grow(nil, 0)
	return all
}

func linearMean[P any](q Query[P], pts []P, items []int) []float64 {
	mean, v := make([]float64, q.Norm.Dim), make([]float64, q.Norm.Dim)
	for _, i := range items {
		q.Func(pts[i], v)
		floats.AddScaled(mean, 1/float64(len(items)), v)
	}
	return mean
}

// The means of two users of any sizes up to 3, over 6 points, differ by at most
// Lipschitz*d_EM: exhaustive, with the exact transport distance.
func TestQuery_MeanMovesByAtMostTheConstant(t *testing.T) {
	pts := linearPlane(6, 1)
	f := linearMust(metric.NewPoints(pts, metric.Euclidean{}))
	sets := linearMultisets(len(pts), 3)
	for name, q := range linearQueries() {
		worst := 0.0
		for i, a := range sets {
			for _, b := range sets[:i] {
				d := linearMust(wasserstein.DistanceEM(f, a, b))
				moved := floats.Distance(linearMean(q, pts, a), linearMean(q, pts, b), q.Norm.P)
				if moved > q.Lipschitz*d*(1+1e-12)+1e-15 {
					t.Fatalf("%s: %v and %v: moved by %v, d_EM %v", name, a, b, moved, d)
				}
				if d > 0 {
					worst = max(worst, moved/d)
				}
			}
		}
		if w := linearMust(LipschitzAtLeast(q, f, nil)); !w.All || w.Ratio > q.Lipschitz || math.Abs(w.Ratio-worst) > 1e-9*worst {
			t.Errorf("%s: witness %+v, worst mean %v, constant %v", name, w, worst, q.Lipschitz)
		}
	}
}

// The constants are the least possible: a fine line through the steepest place
// attains them to a relative 1e-4 (the map and the similarity along their
// singular vector, the landmarks on the line away from all of them).
func TestQuery_ConstantsAreTight(t *testing.T) {
	line := func(dx, dy float64) *metric.Points[[]float64] {
		pts := make([][]float64, 1001)
		for i := range pts {
			s := float64(i) * 0x1p-10
			pts[i] = []float64{0.3 + s*dx, 0.6 + s*dy}
		}
		return linearMust(metric.NewPoints(pts, metric.Euclidean{}))
	}
	queries := linearQueries()
	for name, want := range map[string]float64{
		"average": 1, "landmark": 1, "landmarksI": 1, "similarity": 5, "ramp": 10,
		"bell": 10 * math.Exp(-0.5), "blur": 10 / math.Sqrt(2*math.Pi), "region": 5,
		"map of a landmark": math.Sqrt(13), "map of a ramp": 10 * math.Sqrt(13),
	} {
		q := queries[name]
		if math.Abs(q.Lipschitz-want) > 1e-9*want || q.Lipschitz < want*(1-1e-15) {
			t.Errorf("%s: constant %v, want %v", name, q.Lipschitz, want)
		}
		f := line(1, 0)
		if name == "similarity" {
			f = line(0.6, -0.8)
		}
		if w := linearMust(LipschitzAtLeast(q, f, nil)); w.Ratio < want*(1-1e-4) || w.Ratio > q.Lipschitz {
			t.Errorf("%s: witness %v, constant %v", name, w.Ratio, q.Lipschitz)
		}
	}
	if q := queries["landmarks1"]; q.Lipschitz != 3 {
		t.Errorf("three landmarks under l1: %v", q.Lipschitz)
	}
	if q := queries["landmarks3"]; math.Abs(q.Lipschitz-math.Cbrt(2)) > 1e-14 || q.Lipschitz < math.Cbrt(2) {
		t.Errorf("two landmarks under l3: %v", q.Lipschitz)
	}
}

// A constant of half the true one, and an indicator that jumps, are refused
// with the pair of points.
func TestLinear_RefusesAWrongConstant(t *testing.T) {
	model := Model{Trust: Central, Users: 10, Diameter: 2}
	for _, n := range []int{300, 2500} { // all pairs, and some with near neighbours
		pts := linearMust(metric.NewPoints(linearPlane(n, 2), metric.Euclidean{}))
		for name, q := range linearQueries() {
			if n > 2000 && name != "landmarks3" && name != "bell" {
				continue
			}
			if _, err := NewLinear(q, model, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: pts}); err != nil {
				t.Errorf("n=%d %s: %v", n, name, err)
			}
			q.Lipschitz *= 0.5
			_, err := NewLinear(q, model, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: pts})
			var wrong *LipschitzError
			if !errors.As(err, &wrong) || wrong.Witness.Ratio <= q.Lipschitz || wrong.Witness.I == wrong.Witness.J {
				t.Errorf("n=%d %s with half its constant: %v", n, name, err)
			}
			if n > 2000 { // the search repeats itself: one size is enough
				continue
			}
			// Nor is one that falls short by little.
			q.Lipschitz = 0.99 * linearMust(LipschitzAtLeast(q, pts, nil)).Ratio
			if _, err = NewLinear(q, model, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: pts}); !errors.As(err, &wrong) {
				t.Errorf("n=%d %s with 0.99 of what the sample shows: %v", n, name, err)
			}
		}
		// A jump has slope 1/d for a pair at distance d across it, and one is nearer
		// than 1/16 in both sets.
		jump := linearMust(Indicator(func(x []float64) bool { return x[0] < 0.5 }, 0x1p-4))
		_, err := NewLinear(jump, model, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: pts})
		if err == nil || !strings.Contains(err.Error(), "stated as 16, but points") {
			t.Errorf("n=%d: a jump: %v", n, err)
		}
	}
	// Near neighbours alone: one point is looked at in full.
	pts := linearMust(metric.NewPoints(linearPlane(300, 2), metric.Euclidean{}))
	jump := linearMust(Indicator(func(x []float64) bool { return x[0] < 0.5 }, 0x1p-4))
	all, few := linearMust(LipschitzAtLeast(jump, pts, nil)), linearMust(LipschitzAtLeast(jump, pts, &LipschitzOptions{AllPairs: 1}))
	if few.All || !all.All || few.Ratio != all.Ratio {
		t.Errorf("all pairs %+v, near neighbours %+v", all, few)
	}
	if _, err := Indicator(func([]float64) bool { return true }, 0); !errors.Is(err, ErrDiscontinuous) {
		t.Errorf("an indicator without a gap: %v", err)
	}
	// Integer distances have a gap.
	words := linearMust(metric.NewPoints([]string{"cat", "cut", "cuts", "dog"}, metric.Levenshtein{}))
	q := linearMust(Indicator(func(w string) bool { return w[0] == 'c' }, 1))
	if w := linearMust(LipschitzAtLeast(q, words, nil)); w.Ratio > 1 || w.Ratio < 0.3 {
		t.Errorf("words: %+v", w)
	}
}

func TestLipschitzAtLeast_Edges(t *testing.T) {
	twice := linearMust(metric.NewPoints([]float64{1, 1, 2}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	k := 0.0
	random := Query[float64]{Name: "not a function", Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1,
		Func: func(_ float64, dst []float64) { k++; dst[0] = k }}
	if w := linearMust(LipschitzAtLeast(random, twice, nil)); !math.IsInf(w.Ratio, 1) || w.I != 0 || w.J != 1 {
		t.Errorf("different values at distance 0: %+v", w)
	}
	constant := random
	constant.Func = func(_ float64, dst []float64) { dst[0] = 7 }
	if w := linearMust(LipschitzAtLeast(constant, twice, nil)); w != (Witness{All: true}) {
		t.Errorf("a constant: %+v", w)
	}
	bad := random
	bad.Func = func(x float64, dst []float64) { dst[0] = 1 / (x - 2) }
	if _, err := LipschitzAtLeast(bad, twice, nil); err == nil || !strings.Contains(err.Error(), "point 2") {
		t.Errorf("an infinite value: %v", err)
	}
	if _, err := LipschitzAtLeast(constant, twice, &LipschitzOptions{AllPairs: -1}); err == nil {
		t.Error("a negative limit")
	}
	huge := random // differences that overflow: a ratio of at least 1.79e308
	huge.Norm.Dim = 2
	huge.Func = func(x float64, dst []float64) { dst[0], dst[1] = 1.7e308*(3-2*x), 0 }
	for _, p := range []float64{1, 2, 3, math.Inf(1)} {
		huge.Norm.P = p
		if w := linearMust(LipschitzAtLeast(huge, twice, nil)); !(w.Ratio > 1.79e308) || math.IsInf(w.Ratio, 1) {
			t.Errorf("huge values, p = %v: %+v", p, w)
		}
	}
	broken := linearMust(metric.NewPoints([]float64{1, 2}, metric.Func[float64](func(x, y float64) float64 { return x - y })))
	var v *metric.Violation
	if _, err := LipschitzAtLeast(constant, broken, nil); !errors.As(err, &v) {
		t.Errorf("a negative distance: %v", err)
	}
}

// Rounding does not refute a right constant: points of the Earth a millimetre
// apart, far from the landmark.
func TestLipschitzAtLeast_ForgivesRounding(t *testing.T) {
	var pts []metric.LatLon
	for i := range 200 {
		pts = append(pts, metric.LatLon{Lat: 10 + float64(i)*1e-8, Lon: 20 + float64(i*i%7)*1e-8})
	}
	f := linearMust(metric.NewPoints(pts, metric.GreatCircle{}))
	q := linearMust(Landmarks(metric.GreatCircle{}, 1, metric.LatLon{Lat: -60, Lon: 170}))
	if w := linearMust(LipschitzAtLeast(q, f, nil)); w.Ratio > 1 || w.Ratio < 0.99 {
		t.Errorf("witness %+v", w)
	}
	// Over a short way, a distance and values that are off by what they are granted.
	near := linearMust(metric.NewPoints([]float64{0, 0x1p-40}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x-y) * (1 - metric.DefaultTolerance) })))
	line := Query[float64]{Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1, Func: func(x float64, dst []float64) { dst[0] = x }}
	if w := linearMust(LipschitzAtLeast(line, near, nil)); w.Ratio > 1-valueSlack || w.Ratio < 1-4*metric.DefaultTolerance {
		t.Errorf("short distances: %v", w.Ratio)
	}
	line.Func = func(x float64, dst []float64) { dst[0] = 3 * (1 + x/2) }
	if w := linearMust(LipschitzAtLeast(line, near, nil)); w.Ratio != 0 {
		t.Errorf("rounded values: %v", w.Ratio)
	}
}

func TestQuery_BadInput(t *testing.T) {
	d := metric.Euclidean{}
	fails := func(name string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_, err := Landmarks[[]float64](d, 2)
	fails("no landmarks", err, "empty input")
	_, err = Landmarks(d, 0.5, []float64{1})
	fails("p below 1", err, "p = 0.5")
	_, err = Landmarks(d, 2, []float64{1}, []float64{1, 2})
	fails("landmarks of two dimensions", err, "at[1]")
	_, err = Similarity(nil)
	fails("no direction", err, "empty input")
	_, err = Similarity([]float64{0, 0})
	fails("direction 0", err, "||c|| = 0")
	_, err = Similarity([]float64{1, math.NaN()})
	fails("direction NaN", err, "c[1] = NaN")
	_, err = Ball(d, []float64{1}, -1, Smoothing{Width: 1})
	fails("negative radius", err, "radius = -1")
	_, err = Ball(d, []float64{math.Inf(1)}, 1, Smoothing{Width: 1})
	fails("infinite centre", err, "Inf")
	_, err = Ball(d, []float64{1}, 1, Smoothing{})
	fails("no width", err, "Width = 0")
	_, err = Ball(d, []float64{1}, 1, Smoothing{Width: 5e-324})
	fails("subnormal width", err, "1/Width")
	_, err = Ball(d, []float64{1}, 1, Smoothing{Width: 1, Kernel: 9})
	fails("unknown kernel", err, "Kernel = 9")
	_, err = Indicator(func(int) bool { return true }, -1)
	fails("negative gap", err, "gap = -1")
	l1, l2 := Average(additive.Norm{P: 1, Dim: 2}), Average(additive.Norm{P: 2, Dim: 2})
	_, err = LinearMap([][]float64{{1, 2}}, l1)
	fails("map of l1", err, "phi.Norm.P = 1, want 2")
	_, err = LinearMap([][]float64{{1, 2}, {3}}, l2)
	fails("ragged map", err, "f[1] has size 1, want 2")
	_, err = LinearMap([][]float64{{1, math.Inf(1)}}, l2)
	fails("infinite map", err, "f[0][1] = +Inf")
	_, err = LinearMap([][]float64{{0, 0}}, l2)
	fails("zero map", err, "||f|| = 0")
	_, err = LinearMap(nil, l2)
	fails("empty map", err, "empty input")
}
