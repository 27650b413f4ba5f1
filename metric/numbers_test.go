package metric_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"golang.org/x/exp/constraints"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

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
