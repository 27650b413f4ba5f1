package emd

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// coin is a lower bound of the minimax error on [0, 1] at level beta. Two points:
// 1/(1+e^beta). Points y at gaps g: P_y of the cell around y is at least 1 - 2A/g,
// P_x at least e^(-beta|x-y|) of it, and A at least the mean distance from x: with
// S the sum of (|x-y| - g/2) e^(-beta|x-y|) over y != x, A >= S/(1 + 2S/g).
func coin(beta float64) float64 {
	best := 1 / (1 + math.Exp(beta))
	for k := 1; k < 30; k++ {
		g, sum := 1/float64(k), 0.0
		for y := range k + 1 {
			if d := math.Abs(float64(y-k/2)) * g; d > 0 {
				sum += (d - g/2) * math.Exp(-beta*d)
			}
		}
		best = max(best, sum/(1+2*sum/g))
	}
	return best
}

// pairsOf is the lower bound by pairs on a finite space, at the level of the noise
// of all users' mean. Let pairs x, y have distances d, and radii r such that all
// balls are disjoint. Masses w = beta/(level d), of sum at most 1, lie somewhere
// between x and y: the split is a number in [0, 1] that is released at level beta,
// and W1 is at least 2rw times its error, by the potential of cones on the balls.
// What is left of the mass lies outside the balls.
func pairsOf(t testing.TB, f metric.Finite, level float64) float64 {
	order, radii, err := metric.FarthestFirst(t.Context(), f, f.Len(), 0)
	testkit.Check(t, err)
	best := 0.0
	for m := 3; m <= f.Len(); m += 1 + m/4 {
		if m == f.Len() || radii[m] == 0 {
			break
		}
		type pair struct {
			i, j int
			d    float64
		}
		var all []pair
		nearest, used := slicesOf(m, math.Inf(1)), make([]bool, m)
		for i := range m {
			for j := range i {
				d := f.Distance(order[i], order[j])
				all = append(all, pair{i, j, d})
				nearest[i], nearest[j] = min(nearest[i], d), min(nearest[j], d)
			}
		}
		slices.SortFunc(all, func(a, b pair) int { return int(math.Copysign(1, a.d-b.d)) })
		gain, mass := []float64{}, []float64{}
		for _, p := range all {
			if !used[p.i] && !used[p.j] {
				used[p.i], used[p.j] = true, true
				gain = append(gain, min(nearest[p.i], nearest[p.j])/p.d)
				mass = append(mass, 1/p.d)
			}
		}
		for _, beta := range []float64{0.3, 0.6, 1, 1.3, 2, 4, 8} {
			value, left := 0.0, 1.0
			for i := range len(gain) - 1 { // the last pair's place is for the rest
				if left -= mass[i] * beta / level; left < 0 {
					break
				}
				value += gain[i] * beta / level * coin(beta)
			}
			best = max(best, value)
		}
	}
	return best
}

// places are the cities of an example, and words its words' vectors.
func places(t testing.TB) metric.Finite {
	file := testkit.Must(os.Open(filepath.Join("..", "..", "examples", "tradeoff", "cities.csv")))
	defer file.Close()
	var points []metric.LatLon
	for _, row := range testkit.Must(csv.NewReader(file).ReadAll())[1:] {
		points = append(points, metric.LatLon{Lat: testkit.Must(strconv.ParseFloat(row[2], 64)), Lon: testkit.Must(strconv.ParseFloat(row[3], 64))})
	}
	return testkit.Must(metric.Densify(t.Context(), testkit.Must(metric.NewPoints(points, metric.GreatCircle{}))))
}

func words(t testing.TB) metric.Finite {
	var points [][]float64
	text := testkit.Must(os.ReadFile(filepath.Join("..", "..", "examples", "words", "words.txt")))
	for line := range strings.Lines(string(text)) {
		var x []float64
		for _, field := range strings.Fields(line)[1:] {
			x = append(x, testkit.Must(strconv.ParseFloat(field, 64)))
		}
		points = append(points, x)
	}
	return testkit.Must(metric.Densify(t.Context(), testkit.Must(metric.NewPoints(points, metric.Euclidean{}))))
}

// finiteError is the mean error over the diameter D, at level A = alpha*n*D, of
// users whose items are spread over all points or at five of them.
func finiteError(t testing.TB, f metric.Finite, level float64, concentrated bool, runs int) (mean, bound float64) {
	ctx := context.Background()
	diameter, _, _, err := metric.Diameter(ctx, f)
	testkit.Check(t, err)
	d := testkit.Must(NewDistribution(ctx, Finite(f), oneUser, level/diameter, nil))
	for run := range runs {
		rng := random.Seeded(uint64(run) + 10)
		weights := make([]float64, f.Len())
		for i := range weights {
			if !concentrated {
				weights[i] = random.Exponential(rng)
			} else if i < 5 {
				weights[rng.IntN(len(weights))] += random.Exponential(rng)
			}
		}
		truth, items := make([]float64, len(weights)), []int{}
		for i, w := range scaled(weights) {
			for range int(math.Round(w * 1e4)) {
				items = append(items, i)
				truth[i]++
			}
		}
		h := testkit.Must(d.Estimate(ctx, testkit.Must(d.Release(rng, One(items)))))
		mean += testkit.Must(wasserstein.W1(ctx, f, scaled(truth), scaled(h.Weights), nil)).Cost / float64(runs)
	}
	if b := d.ErrorBound(); mean > b {
		t.Errorf("level %v: error %v above the bound %v", level, mean, b)
	}
	return mean / diameter, pairsOf(t, f, level/diameter) / diameter
}

// TestFinite_ErrsNearTheBound: cities and words, at most 10 times the lower bound
// by pairs. (Cities at A = 1e4 err up to 18 times, see BenchmarkDistribution.)
func TestFinite_ErrsNearTheBound(t *testing.T) {
	for name, c := range map[string]struct {
		f     metric.Finite
		level float64
	}{"cities": {places(t), 1e3}, "words": {words(t), 1e4}} {
		for _, concentrated := range []bool{false, true} {
			e, bound := finiteError(t, c.f, c.level, concentrated, 2)
			t.Logf("%s: %.4f, bound %.4f", name, e, bound)
			if e > 10*bound {
				t.Errorf("%s: error %v, above 10 times %v", name, e, bound)
			}
		}
	}
}

// BenchmarkDistribution prints the error, over the side or the diameter, of one
// release at A = alpha*n*D, and how many times the lower bound by pairs that is.
func BenchmarkDistribution(b *testing.B) {
	report := func(name string, run func() (e, bound float64)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e, bound := run()
				b.ReportMetric(e, "error/D")
				b.ReportMetric(e/bound, "bounds")
			}
		})
	}
	for d := 2; d <= 3; d++ {
		for _, level := range []float64{1e2, 1e3, 1e4, 1e5} {
			for kind, name := range []string{"spread", "clouds", "points"} {
				report(fmt.Sprintf("d=%d/A=%g/%s", d, level, name), func() (float64, float64) {
					return boxError(b, kind, d, level, 4), pairsBound(d, level)
				})
			}
		}
	}
	for _, c := range []struct {
		name string
		f    metric.Finite
	}{{"grid", space.Grid(16)}, {"cities", places(b)}, {"words", words(b)}} {
		for _, level := range []float64{1e2, 1e3, 1e4, 1e5} {
			for _, concentrated := range []bool{false, true} {
				name := "spread"
				if concentrated {
					name = "concentrated"
				}
				report(fmt.Sprintf("%s/A=%g/%s", c.name, level, name), func() (float64, float64) {
					return finiteError(b, c.f, level, concentrated, 4)
				})
			}
		}
	}
}
