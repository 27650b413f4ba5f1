package population

import "math"

// Shares of the budget, and what else is best by simulation.
const (
	pickShare  = .06 // of all picks
	load       = .6  // cells of a pair for each unit of rows times level
	smooth     = .6  // of them where a column is ordered
	mostCells  = 2048
	mostPicks  = 4.  // pairs for each column
	mostValues = 64. // that count for a column's share
	fewRows    = 60. // times the level of a column
)

// MostBins is how many bins columns get where they have more values.
const MostBins = 64

// Levels says how a release divides its level eps over counts and picks. All of it is a function
// of public numbers. Levels of counts are those of one count: a record that is replaced changes
// two of a grid.
type Levels struct {
	Picks   int       // at most; "none" takes one too
	Pick    float64   // the level of a pick
	Margins []float64 // those of the columns' counts while pairs are picked
	Cells   int       // of a pair of columns without order, at most

	eps, delta float64
	left       float64   // for counts where all picks are made
	ratio      float64   // of the mean level of a column to that of a pair
	pair       float64   // the mean level of a pair while pairs are picked
	column     []float64 // shares of columns, 1 in the mean
	mean       float64   // of the roots of the pairs' cells
	cells      float64   // for a pair without order, if there were no most
}

// NewLevels returns the levels for about so many rows, at least 1, and columns of so many values.
// A record that is replaced changes delta = 2 counts, one that is added or removed 1.
func NewLevels(eps, rows float64, values []int, delta int) Levels {
	k := float64(len(values))
	counts := eps / float64(delta)
	pairs := len(values) * (len(values) - 1) / 2
	l := Levels{eps: eps, delta: float64(delta), ratio: 1, mean: 1, left: (1 - pickShare) * counts}
	l.Picks = min(int(min(max(.1*math.Sqrt(counts*rows*k/10), 3), mostPicks*k)), pairs)
	l.Pick = pickShare * eps / float64(max(l.Picks, 1))
	cells := 1.
	for range 5 { // levels and cells fit one another
		l.pair = l.left / (l.ratio*k + float64(l.Picks))
		cells = max(load*rows*l.pair, 1e-9)
		l.ratio = min(max(7*math.Sqrt((k-1)/cells), 1), 8)
	}
	l.pair = l.left / (l.ratio*k + float64(l.Picks))
	l.cells = cells
	l.Cells = l.CellsOf(false, false)
	sum, power := 0., .5 // least noise in all for a given sum
	if counts*rows < fewRows*k {
		power = .25 // segments, and that masses are not negative, help columns of many values
	}
	for _, n := range values {
		l.column = append(l.column, math.Pow(min(float64(n), mostValues), power))
		sum += l.column[len(l.column)-1]
	}
	for j := range l.column {
		l.column[j] *= k / sum
		l.Margins = append(l.Margins, l.column[j]*l.ratio*l.pair)
	}
	return l
}

// CellsOf returns how many cells a pair may have, of columns with or without order: where
// values that follow one another are put together, less is lost.
func (l *Levels) CellsOf(a, b bool) int {
	cells := l.cells
	for _, ordered := range []bool{a, b} {
		if ordered {
			cells *= smooth
		}
	}
	return int(min(max(cells, 9), mostCells))
}

// Consider makes the levels of pairs relative to those of all that may be picked. Noise of scale
// 1/e in each of n cells errs by n/e, and least in all for a given sum of the e where they are
// as the roots of n.
func (l *Levels) Consider(all []Grid) {
	l.mean = 0
	for _, g := range all {
		l.mean += math.Sqrt(float64(g.Cells())) / float64(len(all))
	}
}

// share is 1 in the mean of all pairs.
func (l *Levels) share(g Grid) float64 {
	return min(max(math.Sqrt(float64(g.Cells()))/l.mean, .25), 4, float64(l.Picks))
}

// shares are those of all that were picked, and of g.
func (l *Levels) shares(picked []Grid, g ...Grid) (sum float64) {
	for _, g := range append(g, picked...) {
		sum += l.share(g)
	}
	return sum
}

// Pair returns the level of the counts of g while pairs are picked.
func (l *Levels) Pair(g Grid) float64 { return l.share(g) * l.pair }

// Fits reports whether g can be picked after others.
func (l *Levels) Fits(picked []Grid, g Grid) bool {
	return l.shares(picked, g) <= float64(l.Picks)
}

// Scale returns the scale of the noise that the counts of g would have in the end, were g
// the last pair picked.
func (l *Levels) Scale(picked []Grid, g Grid) float64 {
	return (l.ratio*float64(len(l.column)) + l.shares(picked, g)) / (l.left * l.share(g))
}

// Rest returns the levels of the columns and of the pairs in the end.
func (l *Levels) Rest(picked []Grid, picks int) (margins, pairs []float64) {
	k := float64(len(l.column))
	left := (l.eps - float64(picks)*l.Pick) / l.delta
	one := left / k // the mean of columns
	if len(picked) > 0 {
		one = l.ratio * left / (l.ratio*k + l.shares(picked))
	}
	for _, s := range l.column {
		margins = append(margins, s*one)
	}
	for _, g := range picked {
		pairs = append(pairs, l.share(g)*one/l.ratio)
	}
	return margins, pairs
}
