package table

import (
	"fmt"
	"strconv"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
)

// Expected is what [Plan] expects of a release. Errors are those of [Errors].
type Expected struct {
	// Pairs is how many pairs of columns are released together where so many depend on one
	// another, and Bins how many bins their columns have at most.
	Pairs, Bins int
	// Strength is how strongly two columns must depend for that: the share of rows that would
	// have to change for them to be independent.
	Strength float64
	// Columns are the errors of the columns with that many pairs, and Alone without.
	Columns, Alone []float64
	// Pair is the error of a pair that is released together, between its bins.
	Pair float64
}

// Plan says what to expect of a release of so many rows, before anything is spent. It reads
// public numbers alone: nothing of the rows, and so nothing of how they depend.
//
// It is a rule of thumb: levels are those of [Synthesizer], with the number of rows as given,
// and errors formulas that were fitted to BenchmarkTable, on whose tables they are within a
// factor 2 of the mean error of columns from eps = .1 to 10 (TestErrors_AreNearTheTruth).
// Errors are those of [New], and *[metric.ValueError] for rows < 1. O(columns).
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
	eps /= float64(max(1, s.opt.PerPerson))
	l := population.NewLevels(eps, n, k, delta)
	e := &Expected{Pairs: l.Picks, Bins: l.Bins}
	cells := float64(l.Bins * l.Bins)
	if k > 1 {
		scale := 2 * float64(delta) / l.Pick
		e.Strength = min(1, (scale*population.Threshold(k*(k-1)/2, true)+cells*l.NextScale(0))/(2*n))
	}
	margin, pair := l.Rest(l.Picks, l.Picks)
	alone, _ := l.Rest(0, min(1, l.Picks))
	for _, m := range newGrid(columns, nil).size {
		e.Alone = append(e.Alone, shareError(float64(m), alone, n))
		e.Columns = append(e.Columns, shareError(float64(m), margin, n))
	}
	if l.Picks > 0 {
		e.Pair = shareError(cells, pair, n)
	}
	return e, nil
}

// shareError is about the total variation of the shares of so many cells, of n rows, that are
// counted at a level: half the sum of their noise where it is small, and less where it is as
// large as counts, which are then smoothed and at least 0.
func shareError(cells, level, n float64) float64 {
	x := cells / (2 * n * level)
	return x / (1 + 3*x)
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
	return fmt.Sprintf("up to %d pairs of columns, of those that depend by more than %s; columns to %s, and to %s where there are none",
		e.Pairs, percent(e.Strength), percent(e.Columns...), percent(e.Alone...))
}
