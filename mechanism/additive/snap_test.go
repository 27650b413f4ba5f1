package additive

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// gaussianCloud returns n points of R^d.
func gaussianCloud(seed uint64, n, d int) [][]float64 {
	rng := random.Seeded(seed)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = make([]float64, d)
		random.FillNormal(rng, pts[i])
	}
	return pts
}

// Snap is the nearest point to what m releases from the same bits.
func TestSnap_IsNearest(t *testing.T) {
	pts := testkit.Must(metric.NewPoints(gaussianCloud(71, 200, 3), metric.Euclidean{}))
	m := testkit.Must(NewKNorm(Norm{P: 2, Dim: 3}, 3, &Options{Unit: "m"}))
	s := Snap(m, pts)
	if s.Guarantee() != m.Guarantee() {
		t.Errorf("guarantee %v, want %v", s.Guarantee(), m.Guarantee())
	}
	a, b := random.Seeded(72), random.Seeded(72)
	for i := range 300 {
		x := pts.At(i % 200)
		y := testkit.Must(m.Release(a, x))
		got := testkit.Must(s.Release(b, x))
		best := 0
		for j := range pts.Len() {
			if (metric.Euclidean{}).Distance(y, pts.At(j)) < (metric.Euclidean{}).Distance(y, pts.At(best)) {
				best = j
			}
		}
		if got != best {
			t.Fatalf("release %d: snapped to %d, nearest %d", i, got, best)
		}
	}
}

// Two words at distance 1: the noise is a symmetric distribution on the line
// through them, whose density in one dimension is Laplace, so a word is kept
// with probability 1 - e^(-alpha/2)/2. Chi-square at 1e-6.
func TestMadlib_DistributionTwoWords(t *testing.T) {
	testkit.Slow(t)
	rng := random.Seeded(75)
	const alpha = 1.3
	m := testkit.Must(NewMadlib([][]float64{{0}, {1}}, alpha, nil))
	flip := math.Exp(-alpha/2) / 2
	for x, p := range [][]float64{{1 - flip, flip}, {flip, 1 - flip}} {
		count := make([]int, 2)
		for range 200_000 {
			count[testkit.Must(m.Release(rng, x))]++
		}
		testkit.ChiSquare(t, count, p, 1e-6)
	}
}
