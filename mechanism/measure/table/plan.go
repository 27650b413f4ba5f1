package table

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
)

// Expected is what [Plan] expects of a release. Errors are those of [Errors].
type Expected struct {
	// Pairs is up to how many pairs of columns are counted together, in about Cells cells each.
	Pairs, Cells int
	// Strength is how strongly the first pair must depend for that, and later ones somewhat less:
	// the share of rows that would have to change for two columns to be independent; 1 where no
	// pair can be seen.
	Strength float64
	// Columns are the errors of the columns with that many pairs, and Alone without.
	Columns, Alone []float64
	// Pair is the error of the shares of a pair's cells.
	Pair float64
}

// Plan says what to expect of a release of so many rows, by public numbers alone, as a rule of
// thumb: its errors were .3 to 2 times the mean error of columns on the tables of BenchmarkTable.
// Errors are those of [New], and *[metric.ValueError] for rows < 1.
func Plan(columns []domain.Column, rows int, eps float64, o *Options) (*Expected, error) {
	const op = "table: Plan"
	s, err := New(columns, eps, o)
	if err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, fault.Value(op, "rows", float64(rows), "an integer >= 1")
	}
	k, n, delta := len(columns), float64(rows), 2
	if s.opt.Relation == measure.AddRemoveOne {
		delta = 1
	}
	values := newGrid(columns, nil).size
	l := population.NewLevels(s.eps, n, values, delta)
	cells := population.Grid{Sizes: []int{l.Cells}}
	l.Consider([]population.Grid{cells})
	e := &Expected{Pairs: l.Picks, Cells: l.Cells}
	if k > 1 {
		least := float64(2*float64(delta)/l.Pick*population.Threshold(k*(k-1)/2, true)) + float64(float64(l.Cells)*l.Scale(nil, cells))
		if e.Strength = least / (2 * n); e.Strength >= 1 { // none can
			e.Pairs, e.Strength = 0, 1
		}
	}
	alone, _ := l.Rest(nil, min(1, l.Picks))
	margins, pairs := l.Rest(slices.Repeat([]population.Grid{cells}, e.Pairs), e.Pairs)
	for a, m := range values {
		e.Alone = append(e.Alone, shareError(float64(m), alone[a], n))
		e.Columns = append(e.Columns, shareError(float64(m), margins[a], n))
	}
	if e.Pairs == 0 {
		e.Columns = slices.Clone(e.Alone)
	} else {
		e.Pair = shareError(float64(l.Cells), pairs[0], n)
	}
	return e, nil
}

// shareError is about the total variation of the shares of so many cells, of n rows, that are
// counted at a level: half the sum of their noise where it is small, and less where it is as large
// as counts.
func shareError(cells, level, n float64) float64 {
	x := cells / (2 * n * level)
	return x / (1 + float64(3*x))
}

// String says it in a sentence, with means of the columns.
func (e *Expected) String() string {
	percent := func(x ...float64) string {
		sum := 0.0
		for _, v := range x {
			sum += v / float64(len(x))
		}
		return strconv.FormatFloat(100*sum, 'g', 2, 64) + " %"
	}
	switch {
	case len(e.Columns) == 0:
		return "nothing is planned"
	case e.Pairs == 0:
		return "columns alone, to " + percent(e.Alone...)
	}
	return fmt.Sprintf("up to %d pairs of columns, if any two depend by more than %s; columns to %s, and to %s where there are none",
		e.Pairs, percent(e.Strength), percent(e.Columns...), percent(e.Alone...))
}
