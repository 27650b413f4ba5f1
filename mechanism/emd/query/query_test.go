package query

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// linearPlane returns n points of the unit square.
func linearPlane(n int, seed uint64) [][]float64 {
	r := random.Seeded(seed)
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
		"landmark":   testkit.Must(Landmarks(d, 1, c)),
		"landmarks1": testkit.Must(Landmarks(d, 1, c, []float64{1, 1}, []float64{0, 1})),
		"landmarks3": testkit.Must(Landmarks(d, 3, c, []float64{1, 1})),
		"landmarksI": testkit.Must(Landmarks(d, math.Inf(1), c, []float64{1, 1})),
		"similarity": testkit.Must(Similarity([]float64{3, -4})),
		"map":        testkit.Must(LinearMap([][]float64{{1, 2}, {-3, 0.5}, {0, 1}}, l2)),
		"map of a landmark": testkit.Must(LinearMap([][]float64{{2}, {-3}},
			testkit.Must(Landmarks(d, 1, c)))),
		"map of a ramp": testkit.Must(LinearMap([][]float64{{2}, {-3}},
			testkit.Must(Ball(d, c, 0.2, Smoothing{Width: 0.1})))),
		"ramp": testkit.Must(Ball(d, c, 0.2, Smoothing{Width: 0.1})),
		"region": testkit.Must(Region(func(x []float64) float64 { return max(0, x[0]-0.5) },
			Smoothing{Width: 0.2})),
	}
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
	f := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	sets := slices.Concat(testkit.Multisets(len(pts), 1), testkit.Multisets(len(pts), 2), testkit.Multisets(len(pts), 3))
	for name, q := range linearQueries() {
		worst := 0.0
		for i, a := range sets {
			for _, b := range sets[:i] {
				d := testkit.Must(wasserstein.DistanceEM(t.Context(), f, a, b))
				moved := floats.Distance(linearMean(q, pts, a), linearMean(q, pts, b), q.Norm.P)
				if moved > q.Lipschitz*d*(1+1e-12)+1e-15 {
					t.Fatalf("%s: %v and %v: moved by %v, d_EM %v", name, a, b, moved, d)
				}
				if d > 0 {
					worst = max(worst, moved/d)
				}
			}
		}
		if w := testkit.Must(LipschitzAtLeast(t.Context(), q, f)); w.Ratio > q.Lipschitz || math.Abs(w.Ratio-worst) > 1e-9*worst {
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
		return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	}
	queries := linearQueries()
	for name, want := range map[string]float64{
		"average": 1, "landmark": 1, "landmarksI": 1, "similarity": 5, "ramp": 10,
		"region":            5,
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
		if w := testkit.Must(LipschitzAtLeast(t.Context(), q, f)); w.Ratio < want*(1-1e-4) || w.Ratio > q.Lipschitz {
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

// A constant that is too small is refused with the pair of points.
func TestLinear_RefusesAWrongConstant(t *testing.T) {
	model := emd.Model{Trust: emd.Central, Users: 10, Diameter: 2}
	pts := testkit.Must(metric.NewPoints(linearPlane(300, 2), metric.Euclidean{}))
	sample := &LinearOptions[[]float64]{Sample: pts}
	for name, q := range linearQueries() {
		if _, err := NewLinear(t.Context(), q, model, emd.Promise{Alpha: 1}, sample); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// Half the constant, and one that falls short of what the sample shows
		// by little.
		for _, stated := range []float64{0.5 * q.Lipschitz, 0.99 * testkit.Must(LipschitzAtLeast(t.Context(), q, pts)).Ratio} {
			q.Lipschitz = stated
			_, err := NewLinear(t.Context(), q, model, emd.Promise{Alpha: 1}, sample)
			var wrong *LipschitzError
			if !errors.As(err, &wrong) || wrong.Slope.Ratio <= q.Lipschitz || wrong.Slope.I == wrong.Slope.J {
				t.Errorf("%s stated as %v: %v", name, stated, err)
			}
		}
	}
}

func TestLipschitzAtLeast_Edges(t *testing.T) {
	abs := metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })
	twice := testkit.Must(metric.NewPoints([]float64{1, 1, 2}, abs))
	of := func(f func(x float64) float64) Query[float64] {
		return Query[float64]{Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1, Func: func(x float64, dst []float64) { dst[0] = f(x) }}
	}
	k := 0.0
	random := of(func(float64) float64 { k++; return k }) // is no function
	if w := testkit.Must(LipschitzAtLeast(t.Context(), random, twice)); !math.IsInf(w.Ratio, 1) || w.I != 0 || w.J != 1 {
		t.Errorf("different values at distance 0: %+v", w)
	}
	constant := of(func(float64) float64 { return 7 })
	if w := testkit.Must(LipschitzAtLeast(t.Context(), constant, twice)); w != (Slope{}) {
		t.Errorf("a constant: %+v", w)
	}
	huge := constant // differences that overflow: a ratio of at least 1.79e308
	huge.Func = func(x float64, dst []float64) { dst[0], dst[1] = 1.7e308*(3-2*x), 0 }
	for _, p := range []float64{1, 2, 3, math.Inf(1)} {
		huge.Norm = additive.Norm{P: p, Dim: 2}
		if w := testkit.Must(LipschitzAtLeast(t.Context(), huge, twice)); !(w.Ratio > 1.79e308) || math.IsInf(w.Ratio, 1) {
			t.Errorf("huge values, p = %v: %+v", p, w)
		}
	}
	broken := testkit.Must(metric.NewPoints([]float64{1, 2}, metric.Func[float64](func(x, y float64) float64 { return x - y })))
	testkit.Refused(t, [][3]any{
		{testkit.Err(LipschitzAtLeast(t.Context(), of(func(x float64) float64 { return 1 / (x - 2) }), twice)), "point 2", nil},
		{testkit.Err(LipschitzAtLeast(t.Context(), constant, broken)), "query: LipschitzAtLeast: ", nil},
	})
}

// Rounding does not refute a right constant: points of the Earth a millimeter
// apart, far from the landmark.
func TestLipschitzAtLeast_ForgivesRounding(t *testing.T) {
	var pts []metric.LatLon
	for i := range 200 {
		pts = append(pts, metric.LatLon{Lat: 10 + float64(i)*1e-8, Lon: 20 + float64(i*i%7)*1e-8})
	}
	f := testkit.Must(metric.NewPoints(pts, metric.GreatCircle{}))
	q := testkit.Must(Landmarks(metric.GreatCircle{}, 1, metric.LatLon{Lat: -60, Lon: 170}))
	if w := testkit.Must(LipschitzAtLeast(t.Context(), q, f)); w.Ratio > 1 || w.Ratio < 0.99 {
		t.Errorf("witness %+v", w)
	}
	// Over a short way, a distance and values that are off by what they are
	// granted.
	near := testkit.Must(metric.NewPoints([]float64{0, 0x1p-40}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x-y) * (1 - metric.DefaultTolerance) })))
	line := Query[float64]{Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1, Func: func(x float64, dst []float64) { dst[0] = x }}
	if w := testkit.Must(LipschitzAtLeast(t.Context(), line, near)); w.Ratio > 1-valueSlack || w.Ratio < 1-4*metric.DefaultTolerance {
		t.Errorf("short distances: %v", w.Ratio)
	}
	line.Func = func(x float64, dst []float64) { dst[0] = 3 * (1 + x/2) }
	if w := testkit.Must(LipschitzAtLeast(t.Context(), line, near)); w.Ratio != 0 {
		t.Errorf("rounded values: %v", w.Ratio)
	}
}

// An upper bound of the largest singular value, and a close one: known norms,
// then gonum's own values.
func TestSpectralUp_Encloses(t *testing.T) {
	check := func(name string, f *mat.Dense, want float64) {
		t.Helper()
		got, ok := spectralUp(f)
		if !ok || got < want*(1-1e-15) || got > want*(1+1e-9) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, want)
		}
	}
	check("zero", mat.NewDense(2, 3, nil), 0)
	check("row", mat.NewDense(1, 2, []float64{3, 4}), 5)
	check("column", mat.NewDense(2, 1, []float64{-3, 4}), 5)
	check("diagonal", mat.NewDense(3, 3, []float64{1, 0, 0, 0, -7, 0, 0, 0, 2}), 7)
	check("huge", mat.NewDense(2, 2, []float64{1e300, 0, 0, 1}), 1e300)
	check("tiny", mat.NewDense(2, 2, []float64{3e-300, 0, 0, 4e-300}), 4e-300)
	check("identical columns", mat.NewDense(2, 2, []float64{1, 1, 1, 1}), 2)
	ones := mat.NewDense(30, 50, nil)
	ones.Apply(func(_, _ int, _ float64) float64 { return 1 }, ones)
	check("ones", ones, math.Sqrt(1500))
	r := random.Seeded(3)
	for _, shape := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {20, 20}, {60, 100}} {
		f := mat.NewDense(shape[0], shape[1], nil)
		f.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, f)
		var svd mat.SVD
		svd.Factorize(f, mat.SVDNone)
		check(fmt.Sprint(shape), f, svd.Values(nil)[0])
	}
}

// Whatever V is, the bound holds or is refused: orthogonal vectors that have
// nothing to do with F, or are far too short.
func TestSpectralBound_TrustsNoDecomposition(t *testing.T) {
	f := mat.NewDense(3, 2, []float64{1, -.5, .25, 1, 0, .5})
	var svd mat.SVD
	svd.Factorize(f, mat.SVDThinV)
	var good mat.Dense
	svd.VTo(&good)
	norm := svd.Values(nil)[0]
	for _, scale := range []float64{1, .95, .85, .5, .1, 0, math.NaN()} {
		for name, q := range map[string]mat.Matrix{"right": &good, "any": mat.NewDense(2, 2, []float64{1, 0, 0, 1})} {
			var v mat.Dense
			v.Scale(scale, q)
			bound, ok := spectralBound(f, &v)
			if ok && !(bound >= norm) || ok != (scale > .8) {
				t.Errorf("%s vectors of length %v: %v, %v, norm %v", name, scale, bound, ok, norm)
			}
		}
	}
}

// Constants that are quotients are above them, by an ulp at most.
func TestQuery_ConstantsAreRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	one := big.NewRat(1, 1)
	above := func(name string, l, width float64, want *big.Rat) {
		t.Helper()
		for below, v := range map[bool]float64{false: l, true: l * (1 - 0x1p-51)} {
			product := new(big.Rat).SetFloat64(v)
			if product.Mul(product, new(big.Rat).SetFloat64(width)); (product.Cmp(want) < 0) != below {
				t.Errorf("%s: constant %v at width %v", name, l, width)
			}
		}
	}
	r := random.Seeded(12)
	for range 200 {
		w := math.Exp(4 * r.NormFloat64())
		above("region", testkit.Must(Region(math.Abs, Smoothing{Width: w})).Lipschitz, w, one)
	}
}

// Constants are rounded up where they are subnormal too, and a rounding may be
// a large part of them.
func TestQuery_SubnormalConstants(t *testing.T) {
	const unit = 5e-324
	for name, c := range map[string]struct {
		q     Query[[]float64]
		least float64 // in units
	}{
		"similarity of 1, 1":    {testkit.Must(Similarity([]float64{unit, unit})), 2},
		"similarity of 3, 3":    {testkit.Must(Similarity([]float64{3 * unit, 3 * unit})), 5},
		"map of 1, 1":           {testkit.Must(LinearMap([][]float64{{unit, unit}}, linearScaled(1, 2, 2))), 2},
		"map of a tiny average": {testkit.Must(LinearMap([][]float64{{2.5}}, linearScaled(unit, 2, 1))), 3},
	} {
		if got := c.q.Lipschitz / unit; got < c.least || got > c.least+1 {
			t.Errorf("%s: %v units, want %v", name, got, c.least)
		}
	}
}
