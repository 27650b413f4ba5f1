package metric

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// For all pairs of cells of random weights, far apart in size: the metric is at most the largest weight
// of the rectangle that two cells span times their distance, and no less than the least weight
// of all times it, but for the stretch. With one weight it is within the stretch.
func TestGrid_NeverMoreThanPromised(t *testing.T) {
	rng := random.Seeded(31)
	for run := range testkit.Sweep(6, 60) {
		cols, rows, step := 3+rng.IntN(7), 3+rng.IntN(7), math.Exp(rng.NormFloat64())
		if run == 0 { // 12 steps over 5: the most that eight directions stretch, nearly
			cols, rows = 13, 6
		}
		lo := [2]float64{rng.NormFloat64() * 1e3, rng.NormFloat64() * 1e3}
		hi := [2]float64{lo[0] + (float64(cols)-0.4)*step, lo[1] + (float64(rows)-0.4)*step}
		spread := []float64{0, 1, 4}[run%3]
		var weights []float64
		g, centers, err := NewGrid(t.Context(), lo, hi, step, func([2]float64) float64 {
			weights = append(weights, math.Exp(spread*rng.NormFloat64()))
			return weights[len(weights)-1]
		})
		testkit.Check(t, err)
		if n := cols * rows; g.Len() != n || centers.Len() != n || len(weights) != n {
			t.Fatalf("%d x %d: %d cells, %d centers, %d weights", cols, rows, g.Len(), centers.Len(), len(weights))
		}
		least := weights[0]
		for _, w := range weights {
			least = min(least, w)
		}
		tight := 0.0
		for i := range g.Len() {
			for j := range i {
				most := 0.0
				for x := min(i%cols, j%cols); x <= max(i%cols, j%cols); x++ {
					for y := j / cols; y <= i/cols; y++ {
						most = max(most, weights[y*cols+x])
					}
				}
				d, far := g.Distance(i, j), centers.Distance(i, j)
				if !(d <= most*far) || !(d >= least*far/1.08241) {
					t.Fatalf("%d x %d, cells %d and %d: %v, between %v and %v times %v", cols, rows, i, j, d, least, most, far)
				}
				tight = max(tight, d/(most*far))
			}
		}
		if run == 0 && tight < 0.9999 {
			t.Errorf("%d x %d: at most %v of what is promised", cols, rows, tight)
		}
	}
}

func TestGrid_Refuses(t *testing.T) {
	one := func([2]float64) float64 { return 1 }
	grid := func(lo, hi [2]float64, step float64, weight func([2]float64) float64) error {
		_, _, err := NewGrid(context.Background(), lo, hi, step, weight)
		return err
	}
	for want, err := range map[string]error{
		"weight is":  grid([2]float64{}, [2]float64{1, 1}, 1, nil),
		"step = 0":   grid([2]float64{}, [2]float64{1, 1}, 0, one),
		"hi[1] = 0":  grid([2]float64{}, [2]float64{1, 0}, 1, one),
		"hi[0] = 1":  grid([2]float64{math.NaN()}, [2]float64{1, 1}, 1, one),
		"hi[0] = 3":  grid([2]float64{2}, [2]float64{3, 1}, 1e-10, one),
		"cells[0]":   grid([2]float64{}, [2]float64{1, 1}, 1, func([2]float64) float64 { return 0 }),
		"NewGrid: ":  grid([2]float64{}, [2]float64{1e6, 1e6}, 1, one),
		"cells[2] =": grid([2]float64{}, [2]float64{2, 2}, 1, func(c [2]float64) float64 { return 1 - math.Floor(c[1]) }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := grid([2]float64{}, [2]float64{1e6, 1e6}, 1, one); !errors.As(err, new(*MemoryError)) {
		t.Error(err)
	}
}
