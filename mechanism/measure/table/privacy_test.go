package table

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
	"github.com/metricdp/metricdp/metric"
)

// forced is a noise whose outputs are given, and that keeps what was asked.
type forced struct {
	output func(most int64) int64 // in [0, most)
	counts []*forcedCount
	picks  []forcedPick
}

type forcedCount struct {
	from   *forced
	n      int64 // private
	quanta []int64
	values []int64
}

type forcedPick struct {
	scores []int64 // private, but the first
	q      int64
	at     int
}

func (f *forced) Count(n, q int64) gradual.Count {
	c := &forcedCount{f, n, nil, nil}
	f.counts = append(f.counts, c)
	c.Refine(q)
	return c
}

func (c *forcedCount) Refine(q int64) {
	c.quanta, c.values = append(c.quanta, q), append(c.values, c.from.output(7)-2)
}

func (c *forcedCount) Value() int64 { return c.values[len(c.values)-1] }

func (f *forced) Greatest(scores []int64, q int64) int {
	at := int(f.output(int64(len(scores))))
	f.picks = append(f.picks, forcedPick{scores, q, at})
	return at
}

// law is the probability of a pick.
func (p *forcedPick) law(rate float64) (sum float64) {
	least := slices.Max(p.scores) - p.scores[p.at]
	for k := least; k < least+int64(40/rate); k++ {
		x := -math.Expm1(-rate) * math.Exp(-rate*float64(k))
		for j, y := range p.scores {
			if less := float64(p.scores[p.at] + k - y); j < p.at {
				x *= -math.Expm1(-rate * less)
			} else if j > p.at {
				x *= -math.Expm1(-rate * (less + 1))
			}
		}
		sum += x
	}
	return sum
}

// spent is the sum of quanta.
func (c *forcedCount) spent() (sum int64) {
	for _, q := range c.quanta {
		sum += q
	}
	return sum
}

// most is what logRatio can be for any outputs that are asked for alike, in quanta: scores
// change by up to delta, or else it is too large to be spent.
func most(x, y *forced, delta int64) (sum int64) {
	for i, c := range x.counts {
		sum += c.spent() * max(c.n-y.counts[i].n, y.counts[i].n-c.n)
	}
	for i, p := range x.picks {
		sum += 2 * delta * p.q
		for j, score := range y.picks[i].scores {
			if d := score - p.scores[j]; d < -delta || d > delta || j == 0 && d != 0 {
				return math.MaxInt64
			}
		}
	}
	return sum
}

// logRatio is log P(o|x)/P(o|y) of the outputs of two runs that are the same: of a count all
// that was released has the probability of the last value at the sum of its quanta, times
// what has nothing of the count (package gradual).
func logRatio(l *gradual.Ledger, x, y *forced) (sum float64) {
	abs := func(k int64) int64 { return max(k, -k) }
	for i, c := range x.counts {
		sum += l.Rate(c.spent()) * float64(abs(c.Value()-y.counts[i].n)-abs(c.Value()-c.n))
	}
	for i, p := range x.picks {
		sum += math.Log(p.law(l.Rate(p.q)) / y.picks[i].law(l.Rate(p.q)))
	}
	return sum
}

// multisets lists those of up to most of n kinds, as how often each is there.
func multisets(n, most int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for k := range most + 1 {
		for _, rest := range multisets(n-1, most-k) {
			all = append(all, append([]int{k}, rest...))
		}
	}
	return all
}

// What is asked is a function of outputs alone; the probability of all outputs changes by at most
// the stated level between neighbors, and by nearly that much for some; and what it may change by
// for any outputs is what the ledger spent, in whole quanta.
func TestRelease_ExactLevel(t *testing.T) {
	ctx := context.Background()
	leaves := testkit.Must(metric.TreeFromPaths([][]string{{"all", "a", "b"}, {"all", "a", "c"}, {"all", "d"}}))
	tables := []struct {
		name    string
		columns []domain.Column
		rows    [][]float64 // kinds of rows
		tapes   int
		near    float64 // to the level, by chance of the outputs
		eps     float64
	}{
		{"two values", []domain.Column{{Categories: 2}, {Categories: 2}}, [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 16, .9, 40},
		{"one column", []domain.Column{{Categories: 2, Missing: true}}, [][]float64{{0}, {1}, {math.NaN()}}, 8, 1, 40},
		{"numbers", []domain.Column{{Hi: 1}, {Hi: 3, Whole: true}, {Radius: 1, Missing: true}}, [][]float64{{.1, 3, 10, 10}, {.9, 0, math.NaN(), math.NaN()}, {.1, 0, 50, 10}}, 8, .5, 40},
		{"numbers in many parts", []domain.Column{{Hi: 1}, {Hi: 9, Missing: true}}, [][]float64{{.1, 3}, {.9, 3.0001}, {.1, math.NaN()}}, 6, .5, 2000},
		{"leaves, and categories in parts", []domain.Column{{Taxonomy: leaves, Missing: true}, {Categories: 700}}, [][]float64{{0, 3}, {2, 699}, {math.NaN(), 3}}, 6, .5, 40},
	}
	for _, rel := range []measure.Relation{measure.ReplaceOne, measure.AddRemoveOne} {
		for _, table := range tables {
			s := testkit.Must(New(table.columns, table.eps, &Options{Relation: rel}))
			worst, level := 0.0, s.Guarantee().Alpha()
			delta := int64(1)
			if rel == measure.ReplaceOne {
				delta = 2
			}
			for tape := range testkit.Sweep(table.tapes, 8*table.tapes) {
				sets := multisets(len(table.rows), 2)
				sets = slices.DeleteFunc(sets, func(n []int) bool { // one less or one more than two is another size
					size := 0
					for _, k := range n {
						size += k
					}
					return rel == measure.ReplaceOne && size != 2
				})
				var runs []*forced
				var first *Release
				var spent, bound int64
				for _, set := range sets {
					var rows [][]float64
					for i, k := range set {
						for range k {
							rows = append(rows, table.rows[i])
						}
					}
					outputs := random.Seeded(uint64(tape))
					f := &forced{output: outputs.Int64N}
					ledger := gradual.NewLedger(s.eps)
					r := testkit.Must(s.build(ctx, random.Seeded(1), newSource(f, ledger, rel, len(rows)), testkit.Must(s.locate(ctx, rows, nil))))
					if first == nil {
						first, spent = r, gradual.Quanta-ledger.Left()
					}
					if ledger.Left() != gradual.Quanta-spent || ledger.Left() > gradual.Quanta>>20 {
						t.Fatalf("%v, %s: %d quanta are left", rel, table.name, ledger.Left())
					}
					if !slices.Equal(r.pairs, first.pairs) || !reflect.DeepEqual(r.tables, first.tables) || !reflect.DeepEqual(r.bins, first.bins) || r.Total != first.Total ||
						!slices.EqualFunc(r.margins, first.margins, func(a, b *margin) bool { return slices.Equal(a.mass, b.mass) && slices.Equal(a.nodes, b.nodes) }) {
						t.Fatalf("%v, %s: what comes out depends on more than outputs", rel, table.name)
					}
					runs = append(runs, f)
				}
				for i, x := range runs {
					for j, y := range runs {
						more, less := 0, 0
						for k := range sets[i] {
							d := sets[i][k] - sets[j][k]
							more, less = more+max(d, 0), less+max(-d, 0)
						}
						if more+less == 1 || rel == measure.ReplaceOne && more == 1 && less == 1 {
							if !slices.EqualFunc(x.counts, y.counts, func(a, b *forcedCount) bool { return slices.Equal(a.quanta, b.quanta) }) {
								t.Fatalf("%v, %s: levels depend on more than outputs", rel, table.name)
							}
							bound = max(bound, most(x, y, delta))
							worst = max(worst, logRatio(gradual.NewLedger(s.eps), x, y))
						}
					}
				}
				if bound != spent {
					t.Errorf("%v, %s: neighbors may differ by %d quanta, and %d were spent", rel, table.name, bound, spent)
				}
			}
			if worst > level*(1+1e-9) || worst < table.near*level*(1-1e-6) {
				t.Errorf("%v, %s: the largest log ratio is %v of %v", rel, table.name, worst, level)
			}
		}
	}
}
