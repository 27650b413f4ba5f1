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
	Plan() Plan
	// Size is that of one of n parts made by l cuts.
	Size(l, n int) Size
	// Locate returns the part of a record among n.
	Locate(x []float64, n int) (int, error)
	// Point writes the point of a part, with an rng a uniform one. It is possible
	// where the part is.
	Point(x []float64, p Part, rng *rand.Rand)
	// Bounds writes the least and the largest entries of a part; ok is false where
	// a missing value is in it too.
	Bounds(lo, hi []float64, p Part) (ok bool)
	// Full reports whether all of n parts are possible, and Possible whether one is.
	Full(n int) bool
	Possible(p Part) bool
	Distance(x, y []float64) float64
}

// Plan is how a column may be cut.
type Plan struct {
	Entries int   // numbers of a record that are this column's
	Arities []int // into how many parts the first cuts divide each part
	Must    int   // how many cuts there have to be
	Most    int   // parts in all, where there are further cuts, of any arity; 0 where there are none
	Numeric bool  // cuts share a level with those of other columns
}

// Arity is into how many parts cut l divides each part, 0 where that is free, and 1 behind
// the last cut.
func (p *Plan) Arity(l int) int {
	switch {
	case l < len(p.Arities):
		return p.Arities[l]
	case p.Most > 0:
		return 0
	}
	return 1
}

// Divisible reports whether there are cuts that need not be.
func (p *Plan) Divisible() bool { return p.Arity(p.Must) != 1 }

// Shared reports whether cut l may share a level with those of other columns.
func (p *Plan) Shared(l int) bool { return p.Numeric && p.Arity(l) <= 4 }

// Size is the size of a part.
type Size struct {
	Length   float64 // by which columns take turns
	Diameter float64 // bounds the distance of two records in it
	Radius   float64 // bounds that of a record to its point
	Across   float64 // bounds the distance of the points of any two parts
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
