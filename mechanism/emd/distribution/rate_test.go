package distribution

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// places are the cities of an example, and words its words' vectors.
func places(t testing.TB) metric.Finite {
	file := testkit.Must(os.Open(filepath.Join("..", "..", "..", "examples", "tradeoff", "cities.csv")))
	defer file.Close()
	var points []metric.LatLon
	for _, row := range testkit.Must(csv.NewReader(file).ReadAll())[1:] {
		points = append(points, metric.LatLon{Lat: testkit.Must(strconv.ParseFloat(row[2], 64)), Lon: testkit.Must(strconv.ParseFloat(row[3], 64))})
	}
	return testkit.Must(metric.Densify(t.Context(), testkit.Must(metric.NewPoints(points, metric.GreatCircle{}))))
}

func words(t testing.TB) metric.Finite {
	var points [][]float64
	text := testkit.Must(os.ReadFile(filepath.Join("..", "..", "..", "examples", "words", "words.txt")))
	for line := range strings.Lines(string(text)) {
		var x []float64
		for _, field := range strings.Fields(line)[1:] {
			x = append(x, testkit.Must(strconv.ParseFloat(field, 64)))
		}
		points = append(points, x)
	}
	return testkit.Must(metric.Densify(t.Context(), testkit.Must(metric.NewPoints(points, metric.Euclidean{}))))
}

// finiteErrors are the mean errors over the diameter D, at level A = alpha*n*D, of
// users whose items are spread over all points, and at five of them, and a lower
// bound on the worst of any mechanism.
func finiteErrors(t testing.TB, f metric.Finite, level float64, runs int) (spread, concentrated, bound float64) {
	ctx := context.Background()
	diameter, _, _, err := metric.Diameter(ctx, f)
	testkit.Check(t, err)
	d := testkit.Must(New(ctx, Finite(f), oneUser, level/diameter, nil))
	bound = testkit.Must(families.PrivateTransportBound(ctx, f, level/diameter)).Value
	return finiteError(t, d, f, false, runs) / diameter, finiteError(t, d, f, true, runs) / diameter, bound / diameter
}

func finiteError(t testing.TB, d *Distribution[int], f metric.Finite, concentrated bool, runs int) (mean float64) {
	ctx := context.Background()
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
		h := testkit.Must(d.Estimate(ctx, testkit.Must(d.Release(rng, emd.One(items)))))
		mean += testkit.Must(wasserstein.W1(ctx, f, scaled(truth), scaled(h.Weights), nil)).Cost / float64(runs)
	}
	if b := d.ErrorBound(); mean > b {
		t.Errorf("error %v above the bound %v", mean, b)
	}
	return mean
}

// TestFinite_ErrsNearTheBound: cities and words, at most 10 times the lower bound at all
// levels.
func TestFinite_ErrsNearTheBound(t *testing.T) {
	testkit.Swept(t)
	type level struct {
		name  string
		f     metric.Finite
		level float64
	}
	cities, vocabulary, levels := places(t), words(t), []level{}
	for a := 1e2; a <= 1e5; a *= 10 {
		levels = append(levels, level{"cities", cities, a}, level{"words", vocabulary, a})
	}
	for _, c := range levels {
		spread, concentrated, bound := finiteErrors(t, c.f, c.level, 2)
		t.Logf("%s, A = %g: %.4f and %.4f, bound %.4f", c.name, c.level, spread, concentrated, bound)
		if e := max(spread, concentrated); e > 10*bound {
			t.Errorf("%s, A = %g: error %v, above 10 times %v", c.name, c.level, e, bound)
		}
	}
}

// BenchmarkDistribution prints the error, over the side or the diameter, of one
// release at A = alpha*n*D, and how many times the lower bound by pairs that is: on
// the plane and in space at most 4.5 and 6, on finite metrics at most 10.
func BenchmarkDistribution(b *testing.B) {
	report := func(name string, level float64, run func() (e, bound float64)) {
		b.Run(name, func(b *testing.B) {
			if testing.Short() && level > 1e3 {
				b.Skip("long")
			}
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
				report(fmt.Sprintf("d=%d/A=%g/%s", d, level, name), level, func() (float64, float64) {
					return boxError(b, kind, d, level, []int{2: 16, 3: 4}[d]), pairsBound(d, level)
				})
			}
		}
	}
	for _, c := range []struct {
		name string
		f    metric.Finite
	}{{"grid", space.Grid(16)}, {"cities", places(b)}, {"words", words(b)}} {
		for _, level := range []float64{1e2, 1e3, 1e4, 1e5} {
			report(fmt.Sprintf("%s/A=%g/spread", c.name, level), level, func() (float64, float64) {
				spread, _, bound := finiteErrors(b, c.f, level, 4)
				return spread, bound
			})
			report(fmt.Sprintf("%s/A=%g/concentrated", c.name, level), level, func() (float64, float64) {
				_, concentrated, bound := finiteErrors(b, c.f, level, 4)
				return concentrated, bound
			})
		}
	}
}
