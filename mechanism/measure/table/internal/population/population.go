// Package population makes the rows of a synthetic table from noisy counts of its columns and
// of pairs of them. All of it is post-processing: nothing private comes in.
//
// A table of k columns is held as a population of rows of bins, as in a particle system: what
// the model says of any set of columns is a count of rows. A sweep draws each column of every
// row anew, given the row's other columns, with weights exp(theta) of the cells that the row
// would be in, and corrects every theta by what the population lacks there. The last sweeps
// take the noise of drawing out of the counts of columns and tables again.
package population

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Table is noisy counts of the rows in the cells of a grid.
type Table struct {
	Grid
	Counts []float64 // row-major over groups
	Scale  float64   // of the noise, 1 over its level
}

// factor is a table with a potential for each of its cells.
type factor struct {
	Table
	theta []float64
	mean  []float64 // of the population's counts, of the latest sweeps most
}

// Population is rows of bins that fit noisy counts. It is not safe for concurrent use.
type Population struct {
	rng     *rand.Rand
	bins    []int
	margins [][]float64 // what every column's bins should count, N in all
	log     [][]float64 // potentials of the columns' bins
	factors []*factor
	of      [][]int   // the factors of a column
	z       [][]uint8 // z[j][r] is the bin of column j in row r
	total   float64   // N
	allowed func(bins []int) bool
}

// errImpossible: none of many rows drawn was allowed.
var errImpossible = errors.New("no combination of bins was found that is possible")

// New returns a population of independent columns. Column j has bins[j] bins, at most 256, and
// they count margins[j], which are not negative; all columns have the same positive sum, of
// which every row stands for an equal part. Rows are at least 1. Where allowed is not nil, no
// row ever is one for which it is false. The error says that no allowed row was found.
func New(rng *rand.Rand, bins []int, margins [][]float64, rows int, allowed func(bins []int) bool) (*Population, error) {
	p := &Population{rng: rng, bins: bins, allowed: allowed, of: make([][]int, len(bins))}
	p.target(margins)
	for _, g := range margins {
		p.z = append(p.z, spreadBins(rng, g, rows))
		p.log = append(p.log, logs(g, p.total))
	}
	return p, p.start()
}

// target sets what the columns should count.
func (p *Population) target(margins [][]float64) {
	p.margins, p.total = margins, 0
	for _, v := range margins[0] {
		p.total += v
	}
}

// Rows returns the rows, column by column. They are the population's own.
func (p *Population) Rows() [][]uint8 { return p.z }

// weight is how many records a row stands for.
func (p *Population) weight() float64 { return p.total / float64(len(p.z[0])) }

// Counts returns the records in the cells of a grid, row-major.
func (p *Population) Counts(g Grid) []float64 {
	w := p.weight()
	n := p.count(g)
	out := make([]float64, len(n))
	for c, v := range n {
		out[c] = w * float64(v)
	}
	return out
}

// count returns the rows in the cells of a grid.
func (p *Population) count(g Grid) []int32 {
	n, at := make([]int32, g.Cells()), g.Offsets()
	a, b := p.z[g.Columns[0]], p.z[g.Columns[1]]
	for r, v := range a {
		n[at[0][v]+at[1][b[r]]]++
	}
	return n
}

// single counts the bins of a column.
func (p *Population) single(j int) []float64 {
	n := make([]float64, p.bins[j])
	for _, a := range p.z[j] {
		n[a]++
	}
	return n
}

// free reports whether column j is independent of all others.
func (p *Population) free(j int) bool { return len(p.of[j]) == 0 && p.allowed == nil }

// Add makes the population fit t too, from the next sweep on.
func (p *Population) Add(t Table) {
	for _, j := range t.Columns {
		p.of[j] = append(p.of[j], len(p.factors))
	}
	p.factors = append(p.factors, &factor{t, make([]float64, len(t.Counts)), p.Counts(t.Grid)})
}

// Finish fits the final margins, of the same bins, and the final counts of the tables, in the
// order in which they were added, by a population of the given number of rows.
// O(sweeps * rows * the sum of the bins of a column times the tables that it is in).
func (p *Population) Finish(ctx context.Context, margins [][]float64, tables []Table, rows, sweeps int) error {
	p.target(margins)
	for i, t := range tables {
		p.factors[i].Table = t
	}
	for j, old := range p.z {
		if p.free(j) {
			p.z[j] = spreadBins(p.rng, margins[j], rows)
			continue
		}
		p.z[j] = make([]uint8, rows)
		for r := range p.z[j] {
			p.z[j][r] = old[r%len(old)]
		}
	}
	if len(p.factors) == 0 && p.allowed == nil {
		return nil
	}
	for s := range sweeps {
		sweep := p.fit
		if s < sweeps-last {
			sweep = func(ctx context.Context) error {
				return p.sweep(ctx, rate*max(.15, 1-1.2*float64(s)/float64(sweeps)))
			}
		}
		if err := sweep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Spread returns n numbers below len(weights), each as often as its weight says to within one,
// in random order. Weights are not negative; where all are 0 they count as equal. The error is
// the context's.
func Spread(ctx context.Context, rng *rand.Rand, weights []float64, n int) ([]int, error) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		weights, sum = slices.Repeat([]float64{1}, len(weights)), float64(len(weights))
	}
	out := make([]int, 0, n)
	upto, u, last := 0.0, rng.Float64(), 0
	for a, w := range weights {
		if w == 0 {
			continue
		}
		last = a
		upto += w / sum * float64(n)
		for float64(len(out))+u < upto && len(out) < n {
			out = append(out, a)
		}
	}
	for len(out) < n { // rounding
		out = append(out, last)
	}
	for i := n - 1; i > 0; i-- { // rng.Shuffle, with looks at the context
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j := rng.IntN(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out, nil
}

// spread is Spread for the rows of a population, which are few enough to be done soon.
func spread(rng *rand.Rand, weights []float64, n int) []int {
	out, _ := Spread(context.Background(), rng, weights, n)
	return out
}

func spreadBins(rng *rand.Rand, weights []float64, n int) []uint8 {
	out := make([]uint8, n)
	for r, a := range spread(rng, weights, n) {
		out[r] = uint8(a)
	}
	return out
}

// each calls f for pieces of the rows, on all cores, each piece with a generator of its own,
// so that what comes out depends on the population's generator only.
func (p *Population) each(ctx context.Context, f func(rng *rand.Rand, lo, hi int)) error {
	const piece = 1 << 12
	rows := len(p.z[0])
	seeds := make([][2]uint64, (rows+piece-1)/piece)
	for i := range seeds {
		seeds[i] = [2]uint64{p.rng.Uint64(), p.rng.Uint64()}
	}
	return parallel.Chunks(ctx, rows, piece, 0, nil, func(c, lo, hi int) {
		f(rand.New(rand.NewPCG(seeds[c][0], seeds[c][1])), lo, hi)
	})
}
