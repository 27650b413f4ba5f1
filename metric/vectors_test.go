package metric_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/exp/constraints"
	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// absolute checks the triangle inequality up to the absolute error of metrics that
// have one, where the kit allows a relative one.
func absolute[P any](t *testing.T, s metric.Space[P], pts []P, abs float64) {
	t.Helper()
	for _, x := range pts {
		for _, y := range pts {
			d := s.Distance(x, y)
			if !(d >= 0 && d <= math.MaxFloat64) || d != s.Distance(y, x) {
				t.Fatalf("d(%v, %v) = %v, backwards %v", x, y, d, s.Distance(y, x))
			}
			for _, z := range pts {
				if via := s.Distance(x, z) + s.Distance(z, y); d > via*(1+1e-13)+abs {
					t.Errorf("d(%v, %v) = %v > %v via %v", x, y, d, via, z)
				}
			}
		}
	}
}

// strictly is for distances with a relative error of a few ulps for each of at most
// 100 coordinates or 10 powers.
var strictly = &metrictest.Options{Tolerance: 1e-13}

func gaussians(rng *rand.Rand, n, d int) [][]float64 {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = make([]float64, d)
		for k := range d {
			pts[i][k] = rng.NormFloat64()
		}
	}
	return pts
}

// dims has remainders 0 to 3 modulo the four sums of Euclidean.
var dims = []int{1, 2, 3, 4, 5, 8, 31}

var norms = map[string]metric.Space[[]float64]{
	"Euclidean":     metric.Euclidean{},
	"Manhattan":     metric.Manhattan{},
	"Chebyshev":     metric.Chebyshev{},
	"Minkowski1.5":  metric.Minkowski{P: 1.5},
	"Minkowski3":    metric.Minkowski{P: 3},
	"Minkowski1e9":  metric.Minkowski{P: 1e9},
	"MinkowskiInf":  metric.Minkowski{P: math.Inf(1)},
	"MinkowskiFlat": metric.Minkowski{P: 1 + 0x1p-52},
}

func TestNorms_MetricAndEmbedding(t *testing.T) {
	for name, s := range norms {
		t.Run(name, func(t *testing.T) {
			r := random.Seeded(1)
			for _, d := range dims {
				pts := gaussians(r, 12, d)
				conform(t, name, s, strictly, pts...)
				pts = append(pts, pts[0]) // a copy, and points where the triangle law is tight
				for _, c := range []float64{0, 2, -3, 1e200, 1e-200, 1e-310} {
					pts = append(pts, floats.ScaleTo(make([]float64, d), c, pts[1]))
				}
				conform(t, name, s, strictly, pts...)
			}
		})
	}
}

func TestPlane_IsEuclideanOnArrays(t *testing.T) {
	var pts [][2]float64
	for _, v := range vectors(2) {
		pts = append(pts, [2]float64(v))
	}
	for _, x := range pts {
		for _, y := range pts {
			// Either rounds some five times.
			d, want := metric.Plane{}.Distance(x, y), metric.Euclidean{}.Distance(x[:], y[:])
			if math.Abs(d-want) > 0x1p-50*want {
				t.Errorf("%v and %v: %v, want %v", x, y, d, want)
			}
		}
	}
	conform(t, "Plane", metric.Plane{}, strictly, pts[:41]...)
}

func TestMinkowski_AgreesWithTheNamedNorms(t *testing.T) {
	pts := gaussians(random.Seeded(2), 20, 7)
	for p, s := range map[float64]metric.Space[[]float64]{1: metric.Manhattan{}, 2: metric.Euclidean{}, math.Inf(1): metric.Chebyshev{}} {
		for _, x := range pts {
			if got, want := (metric.Minkowski{P: p}).Distance(x, pts[0]), s.Distance(x, pts[0]); got != want {
				t.Errorf("P = %v: %v, want %v", p, got, want)
			}
		}
	}
}

func TestNorms_ClosedForms(t *testing.T) {
	x, y := []float64{1, -2, 0, 5, 3}, []float64{-2, 2, 0, 5, 3} // differences 3, 4
	for name, want := range map[string]float64{"Euclidean": 5, "Manhattan": 7, "Chebyshev": 4, "MinkowskiInf": 4,
		"Minkowski3": math.Cbrt(27 + 64), "Minkowski1e9": 4, "Minkowski1.5": math.Pow(math.Pow(3, 1.5)+8, 2/3.)} {
		if got := norms[name].Distance(x, y); math.Abs(got-want) > 1e-15*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Distances of c*x are c times those of x, far outside the range in which
// squares are float64 values.
func TestNorms_EveryScale(t *testing.T) {
	for name, s := range norms {
		for _, d := range dims {
			pts := gaussians(random.Seeded(3), 2, d)
			want := s.Distance(pts[0], pts[1])
			for _, e := range []int{-1000, -600, -485, -475, 500, 520, 700, 980} {
				c := math.Ldexp(1, e)
				x, y := floats.ScaleTo(make([]float64, d), c, pts[0]), floats.ScaleTo(make([]float64, d), c, pts[1])
				if got := s.Distance(x, y) / c; math.Abs(got-want) > 1e-14*want {
					t.Errorf("%s, d = %d, scale 2^%d: %v, want %v", name, d, e, got, want)
				}
			}
		}
	}
}

// Points that no Checker has seen.
func TestNorms_OverflowIsInfinite(t *testing.T) {
	for _, s := range []metric.Space[[]float64]{metric.Euclidean{}, metric.Manhattan{}, metric.Chebyshev{}, metric.Minkowski{P: 3}} {
		if d := s.Distance([]float64{math.MaxFloat64, 1}, []float64{-math.MaxFloat64, 2}); !math.IsInf(d, 1) {
			t.Errorf("%T: %v, want +Inf", s, d)
		}
		if !law.Panics(func() { s.Distance([]float64{1, 2, 3}, []float64{1, 2}) }) {
			t.Errorf("%T: no panic for unequal lengths", s)
		}
	}
}

func TestAngular_MetricAndEmbedding(t *testing.T) {
	r := random.Seeded(4)
	for _, d := range dims[1:] {
		pts := gaussians(r, 12, d)
		conform(t, "Angular", metric.Angular{}, strictly, pts...)
		for _, c := range []float64{2, -3, 1e200, 1e-200} {
			pts = append(pts, floats.ScaleTo(make([]float64, d), c, pts[1]))
		}
		absolute(t, metric.Angular{}, pts, 4e-15)
	}
	absolute(t, metric.Angular{}, [][]float64{{1}, {-2}, {3}}, 0)
}

func TestAngular_ClosedForms(t *testing.T) {
	var a metric.Angular
	for _, theta := range []float64{0, 1e-300, 1e-12, 1e-8, 1e-3, 0.5, 1, math.Pi / 2, 2, 3, math.Pi - 1e-8, math.Pi - 1e-12, math.Pi} {
		for _, c := range []float64{1, 3, 1e-250, 1e250} {
			x, y := []float64{1, 0}, []float64{c * math.Cos(theta), c * math.Sin(theta)}
			if got := a.Distance(x, y); math.Abs(got-theta) > 1e-15 {
				t.Errorf("angle %v, length %v: %v", theta, c, got)
			}
		}
	}
	if got := a.Distance([]float64{1, 2, 3}, []float64{-1, -2, -3}); got != math.Pi {
		t.Errorf("opposite vectors: %v", got)
	}
}

func TestTotalVariation_MetricAndEmbedding(t *testing.T) {
	r := random.Seeded(5)
	var pts [][]float64
	for range 15 {
		p := make([]float64, 6)
		for k := range p {
			p[k] = r.ExpFloat64()
		}
		floats.Scale(1/floats.Sum(p), p)
		pts = append(pts, p)
	}
	pts = append(pts, []float64{1, 0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0, 1})
	conform(t, "TotalVariation", metric.TotalVariation{}, strictly, pts...)
	if got := (metric.TotalVariation{}).Distance(pts[15], pts[16]); got != 1 {
		t.Errorf("two atoms: %v, want 1", got)
	}
}

// onLine checks that the distances of the numbers are their exact differences,
// rounded once, and the laws.
func onLine[T constraints.Integer | constraints.Float](t *testing.T, points ...T) {
	t.Helper()
	exact := func(v T) *big.Float {
		if T(1)/2 != 0 {
			return new(big.Float).SetPrec(2200).SetFloat64(float64(v))
		}
		x, _ := new(big.Float).SetPrec(2200).SetString(fmt.Sprint(v))
		return x
	}
	s := metric.Numbers[T]{}
	for _, x := range points {
		for _, y := range points {
			diff := exact(x)
			want, _ := diff.Abs(diff.Sub(diff, exact(y))).Float64()
			if got := s.Distance(x, y); got != want {
				t.Errorf("%T: from %v to %v: %v, want %v", s, x, y, got, want)
			}
		}
	}
	conform(t, fmt.Sprintf("%T", s), s, nil, points...)
}

func TestNumbers_ExactDifference(t *testing.T) {
	onLine[int64](t, math.MinInt64, math.MinInt64+1, -1<<53-1, -7, 0, 1, 1<<53, 1<<53+1, 1<<53+2, 1<<53+3, math.MaxInt64-1, math.MaxInt64)
	onLine[uint64](t, 0, 1, 1<<53, 1<<53+1, 1<<63-1, 1<<63, 1<<63+1025, math.MaxUint64-1, math.MaxUint64)
	onLine[int8](t, -128, -127, -1, 0, 1, 127)
	onLine[uint8](t, 0, 1, 254, 255)
	onLine[int32](t, math.MinInt32, -1, 0, math.MaxInt32)
	onLine[float32](t, -math.MaxFloat32, -1, 0, math.SmallestNonzeroFloat32, 0.1, 1, math.MaxFloat32)
	onLine[float64](t, -1e300, -1, 0, 5e-324, 0.1, 0.3, 1, 1e16, 1e300)
}

// Neighbors that one float64 cannot tell apart are told apart by their distance.
func TestNumbers_NearestBeyond2To53(t *testing.T) {
	pts := make([]uint64, 200)
	for i := range pts {
		pts[i] = 1<<63 + uint64(i*i)
	}
	l := metric.NewLocator(testkit.Must(metric.NewPoints(pts, metric.Numbers[uint64]{})))
	for want, x := range pts {
		if i, d := l.Nearest(x); i != want || d != 0 {
			t.Fatalf("nearest to point %d: %d at %v", want, i, d)
		}
	}
}

// narrow keeps the vectors that float32 can hold.
func narrow(pts [][]float64) (out [][]float32) {
	for _, p := range pts {
		q := make([]float32, len(p))
		for k, v := range p {
			q[k] = float32(v)
		}
		if !slices.ContainsFunc(q, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			out = append(out, q)
		}
	}
	return out
}

func widened(p []float32) []float64 {
	out := make([]float64, len(p))
	for k, v := range p {
		out[k] = float64(v)
	}
	return out
}

// sameAsFloat64 checks that the distances are those of the widened vectors, to
// the bit, that none allocates, and the laws.
func sameAsFloat64[S interface {
	metric.Space[[]float64]
	metric.Checker[[]float64]
	metric.Embedder[[]float64]
}](t *testing.T, s S, pts [][]float32) {
	t.Helper()
	f := metric.Float32[S]{Space: s}
	for _, x := range pts {
		for _, y := range pts {
			if got, want := f.Distance(x, y), s.Distance(widened(x), widened(y)); got != want {
				t.Fatalf("%T: %v, float64 vectors %v", f, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { f.Distance(pts[0], pts[1]) }); n > 0 && !testkit.Race {
		t.Errorf("%T: %v allocations", f, n)
	}
	conform(t, fmt.Sprintf("%T", f), f, nil, pts...)
}

func TestFloat32_IsFloat64(t *testing.T) {
	for _, dim := range []int{1, 2, 7, 30} {
		pts := narrow(vectors(dim))
		sameAsFloat64(t, metric.Euclidean{}, pts)
		sameAsFloat64(t, metric.Manhattan{}, pts)
		sameAsFloat64(t, metric.Chebyshev{}, pts)
		sameAsFloat64(t, metric.Minkowski{P: 1.5}, pts)
		sameAsFloat64(t, metric.Angular{}, pts[:44])
	}
	sameAsFloat64(t, metric.TotalVariation{}, [][]float32{{1, 0, 0}, {0, 1, 0}, {0.1, 0.2, 0.7}, {1. / 3, 1. / 3, 1. / 3}})
}
