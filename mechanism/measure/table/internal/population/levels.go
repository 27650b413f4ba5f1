package population

import "math"

// Shares of the budget.
const (
	lookShare = .02 // of the first look at the columns, a part of what they get in the end
	pickShare = .06 // of all picks
	load      = .2  // sets bins: the squared number of them for each unit of rows times level
)

// Levels says how a release divides its level eps over counts and picks. It is a function of
// public numbers: the columns, and the number of rows as the first look has it.
type Levels struct {
	Picks  int     // at most; "none" takes one too
	Pick   float64 // the level of a pick
	Pair   float64 // that of a pair's counts while pairs are picked
	Margin float64 // that of a column's counts then
	Bins   int     // of a column, at most

	eps, delta  float64
	columns     int
	ratio, left float64
}

// Look returns the level of the first look at each of the columns. A record that is replaced
// changes delta = 2 counts, one that is added or removed 1.
func Look(eps float64, columns, delta int) float64 {
	return lookShare * eps / float64(delta*columns)
}

// NewLevels returns the levels for so many rows and columns, both at least 1.
func NewLevels(eps, rows float64, columns, delta int) Levels {
	k := float64(columns)
	counts := eps / float64(delta) // all counts together, without picks
	pairs := columns * (columns - 1) / 2
	l := Levels{eps: eps, delta: float64(delta), columns: columns, ratio: 1}
	l.Picks = min(int(min(max(.1*math.Sqrt(counts*rows*k/10), 3), 4*k)), pairs)
	l.left = (1 - pickShare) * counts
	bins := 0.0
	for range 5 { // levels and bins fit one another
		l.Pair = l.left / (l.ratio*k + float64(l.Picks))
		bins = math.Sqrt(load * rows * l.Pair)
		l.ratio = min(max(4*math.Sqrt(k-1)/bins, .5), 8)
	}
	l.Pair = l.left / (l.ratio*k + float64(l.Picks))
	l.Margin = l.ratio * l.Pair
	l.Bins = int(min(max(bins, 3), 32))
	l.Pick = pickShare * eps / float64(max(l.Picks, 1))
	return l
}

// Rest returns the levels of columns and pairs when so many pairs were picked in so many picks.
func (l Levels) Rest(pairs, picks int) (margin, pair float64) {
	left := (l.eps - float64(picks)*l.Pick) / l.delta
	if pairs == 0 {
		return left / float64(l.columns), 0
	}
	pair = left / (l.ratio*float64(l.columns) + float64(pairs))
	return l.ratio * pair, pair
}
