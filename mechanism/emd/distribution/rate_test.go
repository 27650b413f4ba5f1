package distribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// crossover is n users of m items each, spread over a space or at five points of it.
type crossover struct {
	space  metric.Finite
	wide   float64 // the diameter
	n, m   int
	alpha  float64
	counts [2][]int64 // how many items there are of each
	truth  [2][]float64
}

func newCrossover(t testing.TB, f metric.Finite, n, m int, level float64) *crossover {
	c := &crossover{space: f, n: n, m: m}
	var err error
	c.wide, _, _, err = metric.Diameter(t.Context(), f)
	testkit.Check(t, err)
	c.alpha = level / c.wide
	rng := random.Seeded(1)
	for kind := range c.truth {
		w := make([]float64, f.Len())
		for i := range w {
			if kind == 0 {
				w[i] = random.Exponential(rng)
			} else if i < 5 {
				w[rng.IntN(len(w))] += random.Exponential(rng)
			}
		}
		c.counts[kind] = make([]int64, len(w))
		sample.Divide(scaled(w), int64(n*m), c.counts[kind])
		for i, k := range c.counts[kind] {
			w[i] = float64(k)
		}
		c.truth[kind] = scaled(w)
	}
	return c
}

// error is the mean error of releases, over the diameter; NaN where there are none.
func (c *crossover) error(t testing.TB, release func(rng *rand.Rand, kind int) ([]float64, error)) float64 {
	const runs = 4
	sum := 0.0
	for run := range runs {
		p, err := release(random.Seeded(uint64(run)+10), run%2)
		if err != nil {
			return math.NaN()
		}
		sum += testkit.Must(wasserstein.W1(t.Context(), c.space, scaled(p), c.truth[run%2], nil)).Cost / runs
	}
	return sum / c.wide
}

// distribution simulates the noise on the true mean: no user is rounded but by a
// thousandth of it.
func (c *crossover) distribution(t testing.TB, trust emd.Trust) float64 {
	model, o, reports := emd.Model{Trust: trust, Users: c.n}, &Options{}, int64(1)
	if trust == emd.Local {
		model.Users, o.Reports, reports = 0, c.n, int64(c.n)
	}
	d := testkit.Must(New(t.Context(), Finite(c.space), model, c.alpha, o))
	sum := 0.0
	for kind, w := range c.truth {
		h := &Histogram[int]{Weights: w, d: d, users: int64(c.n), reports: reports}
		sum += testkit.Must(h.Error(t.Context(), random.Seeded(uint64(kind)), 0.5, &ErrorOptions{Draws: 4})).Mean / 2
	}
	return sum / c.wide
}

// shares is noise on Shares: of one user, who holds all items and counts n times.
func (c *crossover) shares(t testing.TB) float64 {
	q, weight, err := query.Shares(t.Context(), c.space)
	testkit.Check(t, err)
	l := testkit.Must(query.NewLinear(t.Context(), q, emd.Model{Trust: emd.Central, Users: 1, Diameter: c.wide}, emd.Promise{Alpha: c.alpha * float64(c.n)}, nil))
	return c.error(t, func(rng *rand.Rand, kind int) ([]float64, error) {
		noise, err := l.Release(rng, emd.One([]int{0}))
		testkit.Check(t, err)
		noise[0] -= weight[0]
		for x := range noise {
			noise[x] = c.truth[kind][x] + noise[x]/weight[x]
		}
		p, _, err := frequency.Project(t.Context(), c.space, noise)
		return p, err
	})
}

// itemWise is item-wise release under a shuffler.
func (c *crossover) itemWise(t testing.TB) float64 {
	model := emd.Model{Trust: emd.Shuffled, Users: c.n, Items: c.m, Diameter: c.wide}
	budget := testkit.Must(frequency.ItemWiseBudget(t.Context(), model, emd.Promise{Alpha: c.alpha, Delta: 1e-9}, nil))
	m, err := exponential.Tight(t.Context(), c.space, budget.Value, nil)
	if err != nil {
		m, err = exponential.Tuned(t.Context(), c.space, budget.Value, nil)
	}
	testkit.Check(t, err)
	f, err := frequency.New(t.Context(), m.Channel, c.space, model, &frequency.Options{Delta: 1e-9})
	if err != nil {
		return math.NaN() // nothing is left of an item
	}
	return c.error(t, func(rng *rand.Rand, kind int) ([]float64, error) {
		counts, err := f.Release(rng, c.users(kind))
		testkit.Check(t, err)
		e, err := f.Estimate(counts)
		if err != nil {
			return nil, err
		}
		p, _, err := f.Distribution(t.Context(), e)
		return p, err
	})
}

// users deals the items out, those of one point to users in a row.
func (c *crossover) users(kind int) emd.Users[int] {
	return func(yield func([]int) bool) {
		left := slices.Clone(c.counts[kind])
		items, x := make([]int, c.m), 0
		for range c.n {
			for i := range items {
				for left[x] == 0 {
					x++
				}
				left[x]--
				items[i] = x
			}
			if !yield(items) {
				return
			}
		}
	}
}

// BenchmarkCrossover prints the errors over the diameter of the ways to tell how the
// items of n users with m each are distributed, half of them of spread items and half
// of concentrated ones: Distribution of a curator, noise on Shares, Distribution of
// users who trust none, item-wise release under a shuffler with delta = 1e-9.
func BenchmarkCrossover(b *testing.B) {
	for _, s := range []struct {
		name string
		f    metric.Finite
	}{{"line", space.Formula(64, func(i, j int) float64 { return math.Abs(float64(i-j)) / 63 })}, {"grid", space.Grid(8)},
		{"clusters", testkit.Must(metric.NewClustered(8, 8, 0.1))}} {
		for _, level := range []float64{1, 10, 100} {
			for _, n := range []int{100, 10_000, 1_000_000} {
				for _, m := range []int{1, 10, 100} {
					if n*m > 10_000_000 {
						continue
					}
					b.Run(fmt.Sprintf("%s/alphaD=%g/n=%d/m=%d", s.name, level, n, m), func(b *testing.B) {
						for b.Loop() {
							c := newCrossover(b, s.f, n, m, level)
							b.ReportMetric(c.distribution(b, emd.Central), "central")
							b.ReportMetric(c.shares(b), "shares")
							b.ReportMetric(c.distribution(b, emd.Local), "local")
							b.ReportMetric(c.itemWise(b), "itemwise")
						}
					})
				}
			}
		}
	}
}
