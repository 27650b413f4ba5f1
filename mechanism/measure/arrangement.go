package measure

import (
	"fmt"
	"math"
	"strings"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// arrangement is the part of a Domain that does not depend on the type of the
// records: the tree of cells and what is known of its geometry.
type arrangement struct {
	what    string
	tree    *walk.Tree // nil where cells are unfolded on demand
	arities []int      // of the levels; nil where the tree is not regular
	cells   int
	id      [idSize]byte // see identify

	shape    []nodeShape                   // by class: see class
	children func(class int) metric.Finite // their points, for simulation

	sides      []int     // cells a column of a box of two and more; nil elsewhere
	apart      int       // the level from which on no node has two categories of a column
	line       []float64 // position of every cell where cells stand in a row
	resolution float64   // largest distance of a record to the point of its cell
	diameter   float64   // largest distance between points of cells, or more
	points     int       // of the finite metric that it was made of
	byCost     bool      // the default schedule is ByCost, else
	exponent   float64   // scales prop. to diameter^exponent
}

// nodeShape is the geometry of the nodes of one class.
type nodeShape struct {
	nodes    int     // how many there are
	arity    int     // of each
	depth    int     // of each
	diameter float64 // largest distance between points of cells below one
	// spread bounds what noise costs: if the noise on the children has covariance
	// s(I - J/k), and each child's share spreads evenly over its own children and
	// so on down, then E W1 <= sqrt(s) * spread.
	spread float64
}

func (a *arrangement) height() int {
	if a.tree == nil {
		return len(a.arities)
	}
	return a.tree.Height()
}

// class is the entry of shape that node v of depth l has: its level in a
// regular tree, else the node itself.
func (a *arrangement) class(v, l int) int {
	if a.arities != nil {
		return l
	}
	return v
}

func (a *arrangement) layout() string {
	switch {
	case a.cells == 1:
		return "1 cell"
	case a.arities == nil:
		return fmt.Sprintf("%d cells, %d levels of arity up to %d", a.cells, a.height(), a.tree.Arity())
	}
	lo, hi := math.MaxInt, 0
	for _, k := range a.arities {
		lo, hi = min(lo, k), max(hi, k)
	}
	cells := fmt.Sprint(a.cells)
	if a.sides != nil {
		cells = strings.Trim(strings.ReplaceAll(fmt.Sprint(a.sides), " ", " x "), "[]")
	}
	s := fmt.Sprintf("%s cells, %d levels of arity %d", cells, len(a.arities), lo)
	if hi > lo {
		s += fmt.Sprintf(" to %d", hi)
	}
	if a.tree == nil {
		s += ", unfolded on demand"
	}
	return s
}

func (a *arrangement) explicit(op string) error {
	if a.tree == nil {
		return &fault.MemoryError{Op: op, Bytes: 8 * float64(a.cells), Limit: explicitCells * 8}
	}
	return nil
}

// explicitCells is how many cells a domain may have without being lazy: 2^26,
// for which tree, counts and estimates take about 5 GB.
const explicitCells = 1 << 26

// setRegular makes the tree of a grid, or leaves it out for a lazy domain.
func (a *arrangement) setRegular(op string, g *grid, lazy bool) error {
	a.arities, a.cells = g.arities, g.cells
	if lazy {
		return nil
	}
	if g.cells > explicitCells {
		return &fault.MemoryError{Op: op, Bytes: 80 * float64(g.cells), Limit: 80 * explicitCells}
	}
	var err error
	a.tree, err = walk.Levels(g.arities...)
	return err
}
