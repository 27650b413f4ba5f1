package measure

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/records"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// BenchmarkW1Confidence says how quantiles of [Release.Error] hold at eps = 1 and
// one record replaced: held90 and held95 is the share of seeds of data and noise in
// which W1 was at most the quantile of 0.9 and 0.95, bar95 the mean of the latter in
// units of the mean of W1, and best95 the quantile of W1 itself in that unit, which
// nobody knows. Of [Release.ErrorOf] it gives the least share of four queries and the
// largest bar of three of them, and that of the median, which may jump. W1 is exact.
// With METRICDP_LONG there are 200 seeds, and more records; of 40 seeds means are
// rough, most of all on traces.
func BenchmarkW1Confidence(b *testing.B) {
	seeds, sizes := 40, []int{100, 1000}
	if testing.Short() {
		seeds, sizes = 8, []int{100}
	} else if os.Getenv("METRICDP_LONG") != "" {
		seeds, sizes = 200, []int{100, 1000, 10_000}
	}
	for _, d := range []int{1, 2, 3} {
		for _, f := range records.Families(d) {
			for _, n := range sizes {
				if d > 1 && n > 1000 {
					continue // W1 would take a minute a seed
				}
				b.Run(fmt.Sprintf("d=%d/data=%s/N=%d", d, f.Name, n), func(b *testing.B) {
					for b.Loop() {
						confidence(b, samples.Unit(d, domain.BoxOptions{}), f.Draw, w1, queries, n, seeds)
					}
				})
			}
		}
	}
}

// stated are errors, and what was said of them, over seeds.
type stated struct{ errs, bar90, bar95 []float64 }

func (s *stated) add(e float64, simulated []float64) {
	at := func(prob float64) float64 {
		return testkit.Must(enclose("", prob, func() ([]float64, error) { return simulated, nil })).Quantile
	}
	s.errs, s.bar90, s.bar95 = append(s.errs, e), append(s.bar90, at(.9)), append(s.bar95, at(.95))
}

// held is in what share of seeds bars are as long as errors, and their mean in
// units of the mean error.
func (s *stated) held(bars []float64) (share, ratio float64) {
	k, sum, all := 0, 0.0, 0.0
	for i, e := range s.errs {
		if e <= bars[i] {
			k++
		}
		sum += bars[i]
		all += e
	}
	return float64(k) / float64(len(bars)), sum / all
}

// confidence is that of releases on d. A query is of masses at points.
func confidence[P any](b *testing.B, d *domain.Domain[P], draw func(*rand.Rand, int) []P, w1 func(testing.TB, []P, []P, []float64) float64,
	queries []func(mass []float64, at func(i int) P) float64, n, seeds int) {
	s := testkit.Must(NewSynthesizer(d, 1, nil))
	var distance stated
	single := make([]stated, len(queries))
	mass := slices.Repeat([]float64{1 / float64(n)}, n)
	for i := range seeds {
		r := random.Seeded(uint64(i + 1))
		x := draw(r, n)
		out, seed := releaseOf(b, s, r, x), r.Uint64()
		at := make([]P, len(out.Weights))
		for i := range at {
			at[i] = out.Point(i)
		}
		distance.add(w1(b, x, at, out.Weights), testkit.Must(out.distances(b.Context(), "", random.Seeded(seed), nil)))
		for k, query := range queries {
			of := func(r *Release[P]) float64 { return query(r.Weights, r.Point) }
			truth := query(mass, func(i int) P { return x[i] })
			single[k].add(math.Abs(of(out)-truth), testkit.Must(out.differences(b.Context(), "", random.Seeded(seed), of, nil)))
		}
	}
	h90, _ := distance.held(distance.bar90)
	h95, bar := distance.held(distance.bar95)
	sorted := slices.Sorted(slices.Values(distance.errs))
	mean, _ := sample.Mean(sorted)
	b.ReportMetric(mean, "W1")
	b.ReportMetric(h90, "held90")
	b.ReportMetric(h95, "held95")
	b.ReportMetric(bar, "bar95")
	b.ReportMetric(sorted[len(sorted)*95/100]/mean, "best95")
	q90, q95, most := 1.0, 1.0, 0.0
	for k := range single {
		h90, _ := single[k].held(single[k].bar90)
		h95, bar := single[k].held(single[k].bar95)
		q90, q95 = min(q90, h90), min(q95, h95)
		if k < len(single)-1 {
			most = max(most, bar)
			continue
		}
		b.ReportMetric(q90, "query90")
		b.ReportMetric(q95, "query95")
		b.ReportMetric(most, "querybar95")
		b.ReportMetric(bar, "medianbar95")
	}
}

// queries are of masses at points: the mass of a range, a mean, the mean distance to a
// point, and a median.
var queries = []func(mass []float64, at func(i int) []float64) float64{
	integral(func(p []float64) float64 {
		for _, x := range p {
			if x < .2 || x > .6 {
				return 0
			}
		}
		return 1
	}),
	integral(func(p []float64) float64 { return p[0] }),
	integral(func(p []float64) float64 {
		far := 0.0
		for _, x := range p {
			far = max(far, math.Abs(x-.3))
		}
		return far
	}),
	func(mass []float64, at func(i int) []float64) float64 {
		order := make([]int, len(mass))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(at(i)[0], at(j)[0]) })
		k, sum := 0, mass[order[0]]
		for ; sum < .5 && k < len(order)-1; k++ {
			sum += mass[order[k+1]]
		}
		return at(order[k])[0]
	},
}

func integral(f func([]float64) float64) func([]float64, func(i int) []float64) float64 {
	return func(mass []float64, at func(i int) []float64) float64 {
		sum := 0.0
		for i, m := range mass {
			sum += m * f(at(i))
		}
		return sum
	}
}
