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
// region; its root is whole.
const parts = 64

// grid has the bins between which errors are told: parts of a number, whole numbers where
// they are fewer, categories, leaves; and one for what is missing.
type grid struct {
	size []int
	lo   []float64 // of the entries of a row
	step []float64 // entries in a bin
	root []int     // bins of an entry
	from []int     // the first entry of a column
}

// newGrid makes bins for columns; places have those of the rectangle that the rows fill.
func newGrid(columns []domain.Column, rows [][]float64) *grid {
	g := &grid{}
	add := func(lo, hi float64, n int) {
		g.lo, g.step, g.root = append(g.lo, lo), append(g.step, (hi-lo)/float64(n)), append(g.root, n)
	}
	for _, c := range columns {
		g.from = append(g.from, len(g.lo))
		size := parts
		switch {
		case c.Radius > 0:
			for range 2 {
				lo, hi, at := math.Inf(1), math.Inf(-1), len(g.lo)
				for _, x := range rows {
					if !math.IsNaN(x[at]) {
						lo, hi = min(lo, x[at]), max(hi, x[at])
					}
				}
				add(lo, hi, int(math.Sqrt(parts)))
			}
		case c.Categories > 0 || c.Taxonomy != nil:
			if size = c.Categories; c.Taxonomy != nil {
				size = len(c.Taxonomy.Leaves())
			}
			add(0, float64(size), size)
		case c.Whole && c.Hi-c.Lo < parts:
			size = int(math.Floor(c.Hi)-math.Ceil(c.Lo)) + 1
			add(c.Lo, c.Lo+float64(size), size)
		default:
			add(c.Lo, c.Hi, parts)
		}
		if c.Missing {
			size++
		}
		g.size = append(g.size, size)
	}
	return g
}

// binned are the bins of rows, by column.
type binned struct {
	size []int
	code [][]uint16
}

func (g *grid) bin(rows [][]float64) *binned {
	b := &binned{size: g.size}
	for a, first := range g.from {
		last := len(g.lo)
		if a+1 < len(g.from) {
			last = g.from[a+1]
		}
		code := make([]uint16, len(rows))
		for i, x := range rows {
			v := 0
			for e := first; e < last; e++ {
				if math.IsNaN(x[e]) {
					v = g.size[a] - 1
					break
				}
				v = v*g.root[e] + int(max(0, min(float64(g.root[e]-1), math.Floor((x[e]-g.lo[e])/g.step[e]))))
			}
			code[i] = uint16(v)
		}
		b.code = append(b.code, code)
	}
	return b
}

// variation is the total variation of the shares of the values of some columns together.
func variation(x, y *binned, columns ...int) float64 {
	size := 1
	for _, a := range columns {
		size *= x.size[a]
	}
	share := make([]float64, size)
	add := func(b *binned, w float64) {
		for i := range b.code[0] {
			at := 0
			for _, a := range columns {
				at = at*b.size[a] + int(b.code[a][i])
			}
			share[at] += w
		}
	}
	add(x, 1/float64(len(x.code[0])))
	add(y, -1/float64(len(y.code[0])))
	sum := 0.0
	for _, v := range share {
		sum += math.Abs(v) / 2
	}
	return sum
}

// Errors are expected errors of a release: total variations of the shares of the values of a
// column, and of two columns together, between 0 and 1. Numbers are told apart in 64 equal
// parts of their range, whole numbers with fewer values, categories and leaves one by one,
// places in 8 x 8 parts of the rectangle of the released ones; what is missing is a value of
// its own. The share of any set of such values is off by no more.
type Errors struct {
	Columns []float64
	Pairs   [][]float64 // Pairs[a][b] = Pairs[b][a]; of a column with itself it is 0
	// Strength[a][b] is how strongly columns depend in the released rows: the share of rows
	// that would have to change for them to be independent, less what chance does.
	Strength [][]float64
}

// Error simulates what a release errs by, at no cost of privacy, as the law of noise is public: it
// releases the released rows again, as often as draws says, and compares.
//
// It is no bound. Rows know of the dependence of columns only what was released, so that the
// error of a pair that is not in [Release.Pairs] is told too low where it depends.
// TestErrors_AreNearTheTruth has how near it comes.
//
// Errors are those of [Synthesizer.Release] and [Release.Records], and *[metric.ValueError]
// for draws < 1. A draw takes as long as a release.
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
		again, err := r.s.release(ctx, op, rng, rows)
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
	pair, left, right := make([]float64, b.size[p]*b.size[q]), make([]float64, b.size[p]), make([]float64, b.size[q])
	for i, v := range b.code[p] {
		w := b.code[q][i]
		pair[int(v)*b.size[q]+int(w)]++
		left[v]++
		right[w]++
	}
	sum, chance := 0.0, 0.0
	for at, v := range pair {
		mean := left[at/b.size[q]] * right[at%b.size[q]] / n
		sum += math.Abs(v - mean)
		chance += min(.8*math.Sqrt(mean), 2*mean) // about what a Poisson variable does
	}
	return math.Sqrt(max(0, sum*sum-chance*chance)) / (2 * n)
}

// Report says in lines what was released: the pairs of columns with their strength, and the
// columns, with what they are expected to err by; errors are those of [Release.Error]. A
// schema, where not nil, has the names of the columns. What it says is as private as the
// release.
func (r *Release) Report(schema *Schema, errors *Errors) (string, error) {
	const op = "table: Release.Report"
	if err := r.check(op); err != nil {
		return "", err
	}
	k := len(r.s.columns)
	if errors == nil || len(errors.Columns) != k || len(errors.Pairs) != k || len(errors.Strength) != k {
		return "", fmt.Errorf("%s: want errors of the release's Error", op)
	}
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
	rest, left := 0.0, k*(k-1)/2
	picked := map[Pair]bool{}
	for _, p := range r.Pairs() {
		picked[p] = true
		fmt.Fprintf(w, "%s, %s\t%.1f %%\t%.1f %%\n", name(p.A), name(p.B), 100*errors.Strength[p.A][p.B], 100*errors.Pairs[p.A][p.B])
	}
	for b := range k {
		for a := range b {
			if !picked[Pair{a, b}] {
				rest += errors.Pairs[a][b]
			}
		}
	}
	if left -= len(picked); left > 0 {
		fmt.Fprintf(w, "%d other pairs, at least\t\t%.1f %%\n", left, 100*rest/float64(left))
	}
	fmt.Fprintln(w, "by itself\t\terror")
	for a := range k {
		fmt.Fprintf(w, "%s\t\t%.1f %%\n", name(a), 100*errors.Columns[a])
	}
	w.Flush()
	return out.String(), nil
}
