// Package column divides the columns of a box: numbers, whole numbers, categories,
// leaves of a taxonomy and places, any of which may be missing.
package column

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
)

// Column is a column of a box as a tree of its own: cuts divide it again and
// again, all parts alike. Where what is there has another shape, some of the parts
// are impossible: no record lies in them.
type Column interface {
	// Entries is how many numbers of a record are this column's.
	Entries() int
	// Arity is into how many parts cut l divides each part, 0 where that is free,
	// and 1 behind the last cut.
	Arity(l int) int
	// Must is how many cuts there have to be.
	Must() int
	// Finest is the most parts where the number is free.
	Finest() int
	// Length is the size of one of n parts made by l cuts, by which columns take
	// turns; side bounds the distance of two records in it, and radius that of one
	// to its point.
	Length(l, n int) float64
	Side(l, n int) float64
	Radius(l, n int) float64
	// Across bounds the distance between the points of two of n parts.
	Across(n int) float64
	// Locate returns the part of a record among n.
	Locate(x []float64, n int) (int, error)
	// Point writes the Point of a part, with an rng a uniform one. It is possible
	// where the part is.
	Point(x []float64, p Part, rng *rand.Rand)
	// Bounds writes the least and the largest entries of a part; ok is false where
	// a missing value is in it too.
	Bounds(lo, hi []float64, p Part) (ok bool)
	// Full tells whether all of n parts are possible, and possible whether one is.
	Full(n int) bool
	Possible(p Part) bool
	Distance(x, y []float64) float64
}

// Settler is a column that is told into how many parts it is cut in the end.
type Settler interface{ Settle(n int) }

// Part is part Place of so many that so many cuts make.
type Part struct{ Cuts, Of, Place int }

const (
	most = math.MaxInt/2 + 1 // cells: an index fits an int with room for one more
	// MaxParts is of a number: 2^-50 of its range, or what an int holds.
	MaxParts = min(1<<50, most)
)

// notIn is the error of a record's entry.
func notIn(v float64, want string) error {
	return &fault.ValueError{Op: "domain: Domain.Cell", Arg: "record", Index: -1, Value: v, Want: want, Private: true}
}
