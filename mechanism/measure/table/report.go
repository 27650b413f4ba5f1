package table

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// parts is how many equal parts of a number's range errors tell apart, and of a place's
// rectangle; its root is whole.
const parts = 64

// mostNames is how many categories and leaves they tell apart; of more, so many equal runs.
const mostNames = 1024

// axis is how an entry of a row is divided, into n steps from lo.
type axis struct {
	lo, step float64
	n        int
}

// grid has the bins between which errors are told: those of a column's axes, and one for what
// is missing.
type grid struct {
	axes [][]axis
	size []int
}

// newGrid divides columns; places by the rectangle that the rows fill.
func newGrid(columns []domain.Column, rows [][]float64) *grid {
	g, at := &grid{}, 0
	for _, c := range columns {
		axes := []axis{{c.Lo, (c.Hi - c.Lo) / parts, parts}}
		switch {
		case c.Radius > 0:
			axes = nil
			for range 2 {
				lo, hi := math.Inf(1), math.Inf(-1)
				for _, x := range rows {
					if v := x[at+len(axes)]; !math.IsNaN(v) {
						lo, hi = min(lo, v), max(hi, v)
					}
				}
				root := int(math.Sqrt(parts))
				axes = append(axes, axis{lo, (hi - lo) / float64(root), root})
			}
		case c.Categories > 0 || c.Taxonomy != nil:
			n := c.Categories
			if c.Taxonomy != nil {
				n = len(c.Taxonomy.Leaves())
			}
			axes[0] = axis{0, max(1, float64(n)/mostNames), min(n, mostNames)}
		case c.Whole && c.Hi-c.Lo < parts:
			axes[0] = axis{math.Ceil(c.Lo), 1, int(math.Floor(c.Hi)-math.Ceil(c.Lo)) + 1}
		}
		size := 1
		for _, a := range axes {
			size *= a.n
		}
		if c.Missing {
			size++
		}
		at += len(axes)
		g.axes, g.size = append(g.axes, axes), append(g.size, size)
	}
	return g
}

// binned are the bins of rows, by column.
type binned struct {
	size []int
	code [][]uint16
}

func (g *grid) bin(rows [][]float64) *binned {
	b, at := &binned{size: g.size}, 0
	for c, axes := range g.axes {
		code := make([]uint16, len(rows))
		for i, x := range rows {
			v := 0
			for e, a := range axes {
				if math.IsNaN(x[at+e]) {
					v = g.size[c] - 1
					break
				}
				if v *= a.n; a.step > 0 { // all places may be one
					v += int(max(0, min(float64(a.n-1), math.Floor((x[at+e]-a.lo)/a.step))))
				}
			}
			code[i] = uint16(v)
		}
		b.code, at = append(b.code, code), at+len(axes)
	}
	return b
}

// counts are those of the bins of columns together, row-major.
func (b *binned) counts(columns ...int) []float64 {
	size := 1
	for _, c := range columns {
		size *= b.size[c]
	}
	n := make([]float64, size)
	for i := range b.code[0] {
		at := 0
		for _, c := range columns {
			at = at*b.size[c] + int(b.code[c][i])
		}
		n[at]++
	}
	return n
}

// variation is the total variation of the shares of bins of columns together.
func variation(x, y *binned, columns ...int) (sum float64) {
	n, m := float64(len(x.code[0])), float64(len(y.code[0]))
	p, q := x.counts(columns...), y.counts(columns...)
	for i := range p {
		sum += math.Abs(p[i]/n-q[i]/m) / 2
	}
	return sum
}

// Errors are expected errors of a release: total variations, between 0 and 1, of the shares of the
// values of a column, and of two together. Numbers are told apart in 64 equal parts of their range,
// fewer whole numbers, categories and leaves one by one (of more than 1,024 equal runs), places in
// 8 x 8 parts of the released rectangle; missing is a value of its own.
type Errors struct {
	Columns []float64
	Pairs   [][]float64 // Pairs[a][b] = Pairs[b][a]; of a column with itself it is 0
	// Strength[a][b] is how strongly columns depend in the released rows: the share of rows that
	// would have to change for them to be independent, less what chance does.
	Strength [][]float64
}

// Error simulates what a release errs by, at no cost of privacy: it releases the released rows
// again, draws times, and compares. It is no bound: the error of a pair that is not in
// [Release.Pairs] is stated too low where it depends. On the tables of BenchmarkTable one draw
// stated .6 to 1.6 times the mean errors.
//
// Errors are those of [Synthesizer.Release] and [Release.Records], and *[metric.ValueError] for
// draws < 1. A draw takes as long as a release.
func (r *Release) Error(ctx context.Context, rng *rand.Rand, draws int) (*Errors, error) {
	const op = "table: Release.Error"
	if err := r.check(op); err != nil {
		return nil, err
	}
	if draws < 1 {
		return nil, fault.Value(op, "draws", float64(draws), "an integer >= 1")
	}
	rng, done := random.Get(rng)
	defer done()
	rows, err := r.Records(ctx, rng, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	grid := newGrid(r.s.columns, rows)
	x, k := grid.bin(rows), len(r.s.columns)
	e := &Errors{Columns: make([]float64, k)}
	for range k {
		e.Pairs, e.Strength = append(e.Pairs, make([]float64, k)), append(e.Strength, make([]float64, k))
	}
	for draw := range draws {
		again, err := r.s.release(ctx, op, rng, rows, nil)
		if err != nil {
			return nil, err
		}
		drawn, err := again.Records(ctx, rng, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		y := grid.bin(drawn)
		for a := range k {
			e.Columns[a] += variation(x, y, a) / float64(draws)
			for b := range a {
				if err := ctx.Err(); err != nil {
					return nil, fmt.Errorf("%s: %w", op, err)
				}
				e.Pairs[a][b] += variation(x, y, a, b) / float64(draws)
				if e.Pairs[b][a] = e.Pairs[a][b]; draw == 0 {
					e.Strength[a][b] = x.strength(a, b)
					e.Strength[b][a] = e.Strength[a][b]
				}
			}
		}
	}
	return e, nil
}

// strength is that of [Errors].
func (b *binned) strength(p, q int) float64 {
	n := float64(len(b.code[0]))
	left, right := b.counts(p), b.counts(q)
	sum, chance := 0.0, 0.0
	for at, v := range b.counts(p, q) {
		mean := left[at/b.size[q]] * right[at%b.size[q]] / n
		sum += math.Abs(v - mean)
		chance += min(.8*math.Sqrt(mean), 2*mean) // about what a Poisson variable does
	}
	return math.Sqrt(max(0, float64(sum*sum)-float64(chance*chance))) / (2 * n)
}

// Report says in lines what was released: the pairs of columns with their strength, and the
// columns, with their expected errors; a schema, where not nil, has their names. It is as private
// as the release. Errors and cost are those of Error.
func (r *Release) Report(ctx context.Context, rng *rand.Rand, schema *Schema, draws int) (string, error) {
	const op = "table: Release.Report"
	e, err := r.Error(ctx, rng, draws)
	if err != nil {
		return "", err
	}
	k := len(e.Columns)
	name := func(a int) string { return fmt.Sprintf("column %d", a) }
	if schema != nil {
		if err := fault.Size(op, "schema.Fields", len(schema.fields), k); err != nil {
			return "", err
		}
		name = func(a int) string { return cmp.Or(schema.fields[a].Name, schema.fields[a].Lat) }
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%v, about %.0f rows\n", r.s, r.Total)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "released together\tstrength\terror")
	rest, left := 0.0, k*(k-1)/2-len(r.pairs)
	for a, errs := range e.Pairs {
		for _, v := range errs[:a] {
			rest += v
		}
	}
	for _, p := range r.pairs {
		rest -= e.Pairs[p.A][p.B]
		fmt.Fprintf(w, "%s, %s\t%.1f %%\t%.1f %%\n", name(p.A), name(p.B), 100*e.Strength[p.A][p.B], 100*e.Pairs[p.A][p.B])
	}
	if left > 0 {
		fmt.Fprintf(w, "%d other pairs, at least\t\t%.1f %%\n", left, 100*rest/float64(left))
	}
	fmt.Fprintln(w, "by itself\t\terror")
	for a, v := range e.Columns {
		fmt.Fprintf(w, "%s\t\t%.1f %%\n", name(a), 100*v)
	}
	w.Flush()
	return out.String(), nil
}
