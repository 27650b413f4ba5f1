package wasserstein

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func multisetItems(r *rand.Rand, n, size int) []int {
	a := make([]int, size)
	for i := range a {
		a[i] = r.IntN(n)
	}
	return a
}

// multisetNear allows the rounding of sums of a few hundred distances.
func multisetNear(x, y float64) bool { return math.Abs(x-y) <= 1e-13*(1+math.Abs(x)) }

// multisetSlow repeats the items to one size and matches them all.
func multisetSlow(f metric.Finite, a, b []int) float64 {
	x, y := slices.Repeat(a, len(b)), slices.Repeat(b, len(a))
	c := make([]float64, 0, len(x)*len(y))
	for _, i := range x {
		for _, j := range y {
			c = append(c, f.Distance(i, j))
		}
	}
	return assignHungarian(c, len(x), len(y)) / float64(len(x))
}

func multisetDistance(t *testing.T, f metric.Finite, a, b []int) float64 {
	return testkit.Must(DistanceEM(t.Context(), f, a, b))
}

func TestDistanceEM_EqualsHungarian(t *testing.T) {
	r := random.Seeded(2)
	f := w1Plane(r, 9)
	for trial := range 300 {
		a, b := multisetItems(r, 9, 1+r.IntN(9)), multisetItems(r, 9, 1+r.IntN(9))
		if trial%3 == 0 {
			b = multisetItems(r, 9, len(a))
		}
		if got, want := multisetDistance(t, f, a, b), multisetSlow(f, a, b); !multisetNear(got, want) {
			t.Fatalf("%v, %v: %v, want %v", a, b, got, want)
		}
	}
}
