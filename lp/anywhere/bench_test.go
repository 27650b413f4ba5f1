package anywhere

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// BenchmarkRemap reports the worst loss at alpha = 1 on lines, with 41 outputs, and squares, with 16,
// beside the bound for all mechanisms, the same noise moved to the nearest output and the
// exponential mechanism at the best rate.
func BenchmarkRemap(b *testing.B) {
	for _, length := range []float64{2, 5, 10} {
		outputs := make([]float64, 41)
		for i := range outputs {
			outputs[i] = length * float64(i) / 40
		}
		bench(b, fmt.Sprintf("line=%v", length), func() (*Remap[float64], error) {
			return Line(b.Context(), 1, outputs, nil)
		}, samples(401, 1, length))
	}
	for _, side := range []float64{4, 8} {
		bench(b, fmt.Sprintf("square=%v", side), func() (*Remap[[2]float64], error) {
			return Plane(b.Context(), 1, square(4, side), &Options[[2]float64]{Region: [][2]float64{{0, 0}, {side, side}}})
		}, samples(65, 2, side))
	}
}

// samples are n places along each axis of [0, side]^dim.
func samples(n, dim int, side float64) (at [][]float64) {
	for i := range lattice(slices.Repeat([]int{n}, dim), 0) {
		x := make([]float64, dim)
		for k := range x {
			x[k] = side * float64(i[k]) / float64(n-1)
		}
		at = append(at, x)
	}
	return at
}

func bench[P any](b *testing.B, name string, make func() (*Remap[P], error), at [][]float64) {
	b.Run(name, func(b *testing.B) {
		var m *Remap[P]
		for b.Loop() {
			m = testkit.Must(make())
		}
		b.ReportMetric(m.Bound, "bound")
		b.ReportMetric(m.Loss, "remap")
		b.ReportMetric(nearest(m, at), "nearest")
		b.ReportMetric(exponential(m, at), "exponential")
	})
}

// nearest simulates the noise, moved to the nearest output, at some places: to a hundredth or so.
func nearest[P any](m *Remap[P], at [][]float64) (worst float64) {
	rng := random.Seeded(369)
	const draws = 20_000
	noise := make([][]float64, draws)
	for i := range noise {
		noise[i] = testkit.Must(m.on.draw(rng, m.on.place(make([]float64, m.on.dim)), nil))
	}
	for i, x := range at {
		if m.on.dim == 2 && (i/65%8 > 0 || i%65%8 > 0) {
			continue // slow
		}
		from, sum := m.from(m.on.place(x), nil), 0.0
		y, dist := slices.Clone(x), []float64(nil)
		for _, z := range noise {
			for k := range y {
				y[k] = x[k] + z[k]
			}
			dist = m.from(m.on.place(y), dist)
			sum += from[slices.Index(dist, slices.Min(dist))]
		}
		worst = max(worst, sum/draws)
	}
	return worst
}

// exponential is the loss of the mechanism of probabilities prop. to e^(-rate d), at the largest rate
// that differences of its logarithms at places next to each other allow.
func exponential[P any](m *Remap[P], at [][]float64) float64 {
	least := math.Inf(1)
	var dist [][]float64
	for _, x := range at {
		dist = append(dist, m.from(m.on.place(x), nil))
	}
	side := int(math.Round(math.Pow(float64(len(at)), 1/float64(m.on.dim))))
	for rate := 1.0; rate >= 0.4999; rate -= 0.02 {
		logs, worst, level := make([][]float64, len(at)), 0.0, 0.0
		for i, d := range dist {
			p, sum := make([]float64, len(d)), 0.0
			for y, v := range d {
				p[y] = math.Exp(-rate * v)
				sum += p[y]
			}
			logs[i] = make([]float64, len(d))
			for y := range p {
				p[y] /= sum
				logs[i][y] = math.Log(p[y])
			}
			worst = max(worst, mean(p, d))
			for _, j := range []int{i - 1, i - side, i - side - 1} {
				if j >= 0 && (m.on.dim == 2 || j == i-1) && (j != i-1 || i%side > 0) && (j != i-side-1 || i%side > 0) {
					far := 0.0
					for k := range at[i] {
						far = math.Hypot(far, at[i][k]-at[j][k])
					}
					for y := range p {
						level = max(level, math.Abs(logs[i][y]-logs[j][y])/far)
					}
				}
			}
		}
		if level <= m.on.rate*(1+1e-9) {
			least = min(least, worst)
		}
	}
	return least
}
