package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"gonum.org/v1/gonum/stat"
)

// sample is a kind of table.
type sample struct {
	name    string
	columns []domain.Column
	draw    func(rng *rand.Rand) [][]float64
}

const (
	sampleRows   = 16_621
	correlation  = 0.983
	sampleEmpty  = 16 // parts of a number, to ask where nobody is
	sampleRanges = 400
)

// mixed is a table of two numbers of correlation .983, 14 and 5 categories that
// depend on them and on one another, and a skewed number that depends on all.
func mixed(rng *rand.Rand) [][]float64 {
	rows := make([][]float64, sampleRows)
	for i := range rows {
		u := rng.NormFloat64()
		v := correlation*u + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
		x, y := clip(u/8+.5), clip(v/8+.5)
		many := math.Floor(14 * math.Pow(clip(x+.1*rng.NormFloat64()), 1.5))
		if rng.Float64() < .2 {
			many = math.Floor(14 * math.Pow(rng.Float64(), 3))
		}
		few := 0.0
		for few < 4 && rng.Float64() < .3+.25*y*float64(int(many)%3) {
			few++
		}
		z := math.Exp(-3+.8*rng.NormFloat64()+.3*few) * (.5 + y)
		rows[i] = []float64{x, y, many, few, clip(z)}
	}
	return rows
}

func clip(x float64) float64 { return min(max(x, 0), .999) }

// shuffled makes the columns independent.
func shuffled(rng *rand.Rand, rows [][]float64) [][]float64 {
	for a := range rows[0] {
		rng.Shuffle(len(rows), func(i, j int) { rows[i][a], rows[j][a] = rows[j][a], rows[i][a] })
	}
	return rows
}

// chain is a table of ten numbers, each a noisy copy of one before.
func chain(rng *rand.Rand) [][]float64 {
	rows := make([][]float64, sampleRows)
	for i := range rows {
		z := []float64{rng.NormFloat64()}
		for a := 1; a < 10; a++ {
			z = append(z, .8*z[a/2]+.6*rng.NormFloat64())
		}
		for _, v := range z {
			rows[i] = append(rows[i], clip(v/8+.5))
		}
	}
	return rows
}

var samples = func() []sample {
	five := []domain.Column{{Hi: 1, Weight: 1}, {Hi: 1, Weight: 1}, {Categories: 14, Weight: 1}, {Categories: 5, Weight: 1}, {Hi: 1, Weight: 1}}
	return []sample{
		{"mixed", five, mixed},
		{"independent", five, func(rng *rand.Rand) [][]float64 { return shuffled(rng, mixed(rng)) }},
		{"chain", numbers(10), chain},
		{"pair", five[:2], func(rng *rand.Rand) [][]float64 {
			rows := mixed(rng)
			for i := range rows {
				rows[i] = rows[i][:2]
			}
			return rows
		}},
	}
}()

// BenchmarkTable compares rows drawn along the tree of this package with those of
// one box of all columns, of columns drawn by themselves, and with another table of the
// same kind, without noise. corr is the
// correlation of the first two columns; cat, catmean the total variation of the
// categories' margins, the largest and the mean; W1 that of the numbers' margins, in
// shares of their range, and range the error of the share of rows in a random
// rectangle of two columns, in the mean; empty the share of rows in cells of 1/16 of
// each number and of one category where nobody is. Means of 4 tables and releases.
func BenchmarkTable(b *testing.B) {
	for _, data := range samples {
		for _, eps := range []float64{.1, 1, 10} {
			if testing.Short() && eps != 1 {
				continue
			}
			for _, way := range []string{"tree", "box", "margins", "fresh"} {
				b.Run(fmt.Sprintf("%s/eps=%g/%s", data.name, eps, way), func(b *testing.B) {
					const seeds = 4
					for b.Loop() {
						sum := map[string]float64{}
						for seed := range seeds {
							rng := random.Seeded(uint64(seed))
							rows := data.draw(rng)
							got := data.draw(random.Seeded(uint64(seed + seeds)))
							if way != "fresh" {
								got = resample(rng, data.columns, rows, eps, way)
							}
							for name, v := range judge(rng, data.columns, rows, got) {
								sum[name] += v / seeds
							}
						}
						for name, v := range sum {
							b.ReportMetric(v, name)
						}
					}
				})
			}
		}
	}
}

// resample returns as many rows as there are.
func resample(rng *rand.Rand, columns []domain.Column, rows [][]float64, eps float64, way string) [][]float64 {
	ctx := context.Background()
	switch way {
	case "tree":
		s := testkit.Must(New(columns, eps, nil))
		return testkit.Must(testkit.Must(s.Release(ctx, rng, rows)).Records(ctx, rng, 0))
	case "margins":
		s := testkit.Must(New(columns, eps, nil))
		for a := range s.again {
			s.margins[a] = testkit.Must(measure.NewSynthesizer(s.margins[a].Domain(), eps/float64(len(columns)), nil))
		}
		r := &Release{s: s}
		if err := r.measureMargins(ctx, rng, s.margins, rows); err != nil {
			panic(err)
		}
		return testkit.Must(r.Records(ctx, rng, 0))
	case "box":
		d := testkit.Must(domain.NewBox(columns, nil))
		s := testkit.Must(measure.NewSynthesizer(d, eps, nil))
		r := testkit.Must(s.Release(rng, testkit.Must(measure.CountAll(ctx, d, rows, nil))))
		return testkit.Must(r.Records(rng, 0, nil))
	}
	panic(way)
}

func judge(rng *rand.Rand, columns []domain.Column, rows, got [][]float64) map[string]float64 {
	column := func(rows [][]float64, a int) []float64 {
		x := make([]float64, len(rows))
		for i := range rows {
			x[i] = rows[i][a]
		}
		return x
	}
	var numeric, variation []float64
	for a, c := range columns {
		x, y := column(rows, a), column(got, a)
		if c.Categories == 0 {
			slices.Sort(x)
			slices.Sort(y)
			w := 0.0
			for i := range x {
				w += math.Abs(x[i]-y[i*len(y)/len(x)]) / float64(len(x))
			}
			numeric = append(numeric, w)
			continue
		}
		share := make([]float64, c.Categories)
		for _, v := range x {
			share[int(v)] += 1 / float64(len(x))
		}
		for _, v := range y {
			share[int(v)] -= 1 / float64(len(y))
		}
		tv := 0.0
		for _, v := range share {
			tv += math.Abs(v) / 2
		}
		variation = append(variation, tv)
	}
	mean := func(x []float64) float64 { return stat.Mean(x, nil) }
	out := map[string]float64{"W1": mean(numeric), "range": rangeError(rng, columns, rows, got), "corr": stat.Correlation(column(got, 0), column(got, 1), nil)}
	if len(variation) > 0 {
		out["cat"], out["catmean"] = slices.Max(variation), mean(variation)
	}
	key := func(x []float64) string {
		cell := make([]byte, len(x))
		for a, c := range columns {
			if cell[a] = byte(x[a]); c.Categories == 0 {
				cell[a] = byte(x[a] * sampleEmpty)
			}
		}
		return string(cell)
	}
	full := map[string]bool{}
	for _, x := range rows {
		full[key(x)] = true
	}
	for _, x := range got {
		if !full[key(x)] {
			out["empty"] += 1 / float64(len(got))
		}
	}
	return out
}

func rangeError(rng *rand.Rand, columns []domain.Column, rows, got [][]float64) float64 {
	type span struct {
		a      int
		lo, hi float64
	}
	draw := func(a int) span {
		lo, hi := rows[rng.IntN(len(rows))][a], rows[rng.IntN(len(rows))][a]
		if columns[a].Categories > 0 {
			hi = lo
		}
		return span{a, min(lo, hi), max(lo, hi)}
	}
	share := func(rows [][]float64, p, q span) (s float64) {
		for _, x := range rows {
			if p.lo <= x[p.a] && x[p.a] <= p.hi && q.lo <= x[q.a] && x[q.a] <= q.hi {
				s++
			}
		}
		return s / float64(len(rows))
	}
	sum := 0.0
	for range sampleRanges {
		pair := rng.Perm(len(columns))
		p, q := draw(pair[0]), draw(pair[1])
		sum += math.Abs(share(rows, p, q)-share(got, p, q)) / sampleRanges
	}
	return sum
}
