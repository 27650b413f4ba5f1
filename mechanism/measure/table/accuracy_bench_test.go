package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkTable compares synthetic tables with the originals, at eps a row added or removed: the
// errors of shares, as [Errors] has them, in the mean of all columns, pairs and (up to 300)
// triples, and of 2 releases. Baselines, with noise of real numbers, are columns with noise of
// eps/k, smoothed and made rows of independently, and MST: McKenna, Miklau, Sheldon, "Winning the
// NIST contest", 2021, with Laplace noise and a third of eps each for columns, the choice of a
// tree, and its pairs.
func BenchmarkTable(b *testing.B) {
	ways := []struct {
		name string
		make func(rng *rand.Rand, t *sample, x *binned, eps float64) *binned
	}{{"table", released}, {"columns", independent}, {"MST", tree}}
	for _, t := range samples(b) {
		x := newGrid(t.columns, t.rows).bin(t.rows)
		for _, eps := range []float64{.1, 1, 10} {
			if testing.Short() && eps != 1 {
				continue
			}
			for _, way := range ways {
				b.Run(fmt.Sprintf("%s/eps=%g/%s", t.name, eps, way.name), func(b *testing.B) {
					const seeds = 2
					var sum [3]float64
					for b.Loop() {
						for seed := range seeds {
							y := way.make(random.Seeded(uint64(seed+1)), t, x, eps)
							for i, v := range ways123(x, y) {
								sum[i] += v / seeds
							}
						}
					}
					for i, v := range sum {
						b.ReportMetric(v/float64(b.N), fmt.Sprintf("%d-way", i+1))
					}
				})
			}
		}
	}
}

// ways123 are the mean errors of columns, pairs and triples.
func ways123(x, y *binned) (e [3]float64) {
	k := len(x.size)
	var triples [][]int
	for a := range k {
		e[0] += variation(x, y, a) / float64(k)
		for b := range a {
			e[1] += variation(x, y, b, a) / float64(k*(k-1)/2)
			for c := range b {
				triples = append(triples, []int{c, b, a})
			}
		}
	}
	random.Seeded(1).Shuffle(len(triples), func(i, j int) { triples[i], triples[j] = triples[j], triples[i] })
	triples = triples[:min(len(triples), 300)]
	for _, c := range triples {
		e[2] += variation(x, y, c...) / float64(len(triples))
	}
	return e
}

// released are rows of this package.
func released(rng *rand.Rand, t *sample, _ *binned, eps float64) *binned {
	ctx := context.Background()
	s := testkit.Must(New(t.columns, eps, &Options{Relation: measure.AddRemoveOne}))
	rows := testkit.Must(testkit.Must(s.Release(ctx, rng, t.rows)).Records(ctx, rng, 0))
	return newGrid(t.columns, t.rows).bin(rows)
}

// noisyColumns are the columns' counts with noise of scale b, projected, and their sum.
func noisyColumns(rng *rand.Rand, t *sample, x *binned, b float64) (columns [][]float64, total float64) {
	cells := 0.0
	for a, size := range x.size {
		y := addNoise(rng, x.counts(a), b)
		for _, v := range y {
			total += v / float64(size)
		}
		cells += 1 / float64(size)
		columns = append(columns, y)
	}
	total = max(1, total/cells)
	for a, y := range columns {
		if c := t.columns[a]; c.Categories == 0 && c.Taxonomy == nil {
			y = population.Segments(y, 2*b*b)
		}
		columns[a] = projected(y, total)
	}
	return columns, total
}

func addNoise(rng *rand.Rand, x []float64, b float64) []float64 {
	for i := range x {
		x[i] += b * (rng.ExpFloat64() - rng.ExpFloat64())
	}
	return x
}

// projected is the nearest that is at least 0 and adds up to the total.
func projected(y []float64, total float64) []float64 {
	return testkit.Must(wasserstein.ProjectSimplex(y, total, nil))
}

// deal writes values to the places of a column, in shares p of them to within 1, at random.
func deal(rng *rand.Rand, code []uint16, places []int, p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	at, u, cum := 0, rng.Float64(), 0.0
	for value, v := range p {
		if sum == 0 {
			v, sum = 1, float64(len(p))
		}
		cum += v / sum * float64(len(places))
		for ; at < len(places) && (float64(at)+u < cum || value == len(p)-1); at++ {
			code[places[at]] = uint16(value)
		}
	}
}

func blank(size []int, n int) (y *binned, all []int) {
	y = &binned{size: size}
	for range size {
		y.code = append(y.code, make([]uint16, n))
	}
	for i := range n {
		all = append(all, i)
	}
	return y, all
}

func independent(rng *rand.Rand, t *sample, x *binned, eps float64) *binned {
	columns, total := noisyColumns(rng, t, x, float64(len(x.size))/eps)
	y, all := blank(x.size, int(math.Round(total)))
	for a, p := range columns {
		deal(rng, y.code[a], all, p)
	}
	return y
}

// tree is MST.
func tree(rng *rand.Rand, t *sample, x *binned, eps float64) *binned {
	k := len(x.size)
	b := 3 * float64(k) / eps
	columns, total := noisyColumns(rng, t, x, b)
	// Rare values are merged.
	z := &binned{}
	merged, shares := make([][][]int, k), make([][]float64, k) // the values of bins
	for a, p := range columns {
		bin, rare := make([]uint16, len(p)), []int(nil)
		for v, n := range p {
			if n < 3*math.Sqrt2*b {
				rare = append(rare, v)
				continue
			}
			bin[v] = uint16(len(merged[a]))
			merged[a], shares[a] = append(merged[a], []int{v}), append(shares[a], n)
		}
		if len(rare) > 0 {
			sum := 0.0
			for _, v := range rare {
				bin[v] = uint16(len(merged[a]))
				sum += p[v]
			}
			merged[a], shares[a] = append(merged[a], rare), append(shares[a], sum)
		}
		code := make([]uint16, len(x.code[a]))
		for i, v := range x.code[a] {
			code[i] = bin[v]
		}
		z.size, z.code = append(z.size, len(merged[a])), append(z.code, code)
	}
	// The tree grows from column 0 of each part to the pair that is farthest from independent.
	scale := 2 * 3 * float64(k-1) / eps
	part := make([]int, k)
	scores := map[[2]int]float64{}
	for c := range k {
		part[c] = c
		for a := range c {
			for at, n := range z.counts(a, c) {
				scores[[2]int{a, c}] += math.Abs(n - shares[a][at/z.size[c]]*shares[c][at%z.size[c]]/total)
			}
		}
	}
	type edge struct {
		to    int
		table []float64 // from its first column to the second
		turn  bool
	}
	edges := make([][]edge, k)
	for range k - 1 {
		best, most := [2]int{}, math.Inf(-1)
		for c := range k {
			for a := range c {
				if s := scores[[2]int{a, c}] - scale*math.Log(rng.ExpFloat64()); part[a] != part[c] && s > most {
					best, most = [2]int{a, c}, s
				}
			}
		}
		a, c := best[0], best[1]
		for i, old := 0, part[c]; i < k; i++ {
			if part[i] == old {
				part[i] = part[a]
			}
		}
		n := projected(addNoise(rng, z.counts(a, c), 3*float64(k-1)/eps), total)
		fit(n, shares[a], shares[c])
		edges[a], edges[c] = append(edges[a], edge{c, n, false}), append(edges[c], edge{a, n, true})
	}
	y, all := blank(z.size, int(math.Round(total)))
	deal(rng, y.code[0], all, shares[0])
	var walk func(a, from int)
	walk = func(a, from int) {
		for _, e := range edges[a] {
			if e.to == from {
				continue
			}
			rows := make([][]int, z.size[a])
			for i, v := range y.code[a] {
				rows[v] = append(rows[v], i)
			}
			p := make([]float64, z.size[e.to])
			for v := range rows {
				for w := range p {
					if p[w] = 0; e.turn {
						p[w] = e.table[w*len(rows)+v]
					} else {
						p[w] = e.table[v*len(p)+w]
					}
				}
				deal(rng, y.code[e.to], rows[v], p)
			}
			walk(e.to, a)
		}
	}
	walk(0, -1)
	out, _ := blank(x.size, len(all))
	for a := range k {
		rows := make([][]int, z.size[a])
		for i, v := range y.code[a] {
			rows[v] = append(rows[v], i)
		}
		for v, values := range merged[a] {
			p := make([]float64, len(columns[a]))
			for _, w := range values {
				p[w] = columns[a][w] + 1e-9
			}
			deal(rng, out.code[a], rows[v], p)
		}
	}
	return out
}

// fit scales a table to its margins, by turns.
func fit(n, rows, columns []float64) {
	for i := range n {
		n[i] += 1e-9
	}
	for range 20 {
		for _, m := range []struct {
			want []float64
			of   func(i int) int
		}{{rows, func(i int) int { return i / len(columns) }}, {columns, func(i int) int { return i % len(columns) }}} {
			have := make([]float64, len(m.want))
			for i, v := range n {
				have[m.of(i)] += v
			}
			for i := range n {
				n[i] *= (m.want[m.of(i)] + 1e-9) / have[m.of(i)]
			}
		}
	}
}
