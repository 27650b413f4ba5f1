package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
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
	id      [idSize]byte // tells arrangements apart; see identify

	shape    []nodeShape                   // by class: see class
	children func(class int) metric.Finite // their points, for simulation

	sides      []int     // cells a column of a box of two and more; nil elsewhere
	line       []float64 // position of every cell where cells stand in a row
	resolution float64   // largest distance of a record to the point of its cell
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

const idSize = 16

// Len returns the number of cells.
func (a *arrangement) Len() int { return a.cells }

// Tree returns the tree of the cells: leaf c is cell c. It is nil for a lazy
// domain, whose tree does not fit memory.
func (a *arrangement) Tree() *walk.Tree { return a.tree }

// Height returns the number of levels of the tree below its root.
func (a *arrangement) Height() int {
	if a.tree == nil {
		return len(a.arities)
	}
	return a.tree.Height()
}

// Resolution returns the largest distance from a record to the point of its
// cell: 0 where every record is a point. Clipped records count from where they
// were clipped to. It is NaN where the space of records is not known, as after
// [On].
func (a *arrangement) Resolution() float64 { return a.resolution }

// Diameter returns an upper bound on the distance between points of cells.
func (a *arrangement) Diameter() float64 {
	if len(a.shape) == 0 {
		return 0
	}
	return a.shape[0].diameter
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
		return fmt.Sprintf("%d cells, %d levels of arity up to %d", a.cells, a.Height(), a.tree.Arity())
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

// identify sets the id to a digest of what the constructor writes. Counts made
// on another machine are accepted for a domain of the same id only.
func (a *arrangement) identify(values ...any) {
	h := sha256.New()
	io.WriteString(h, a.what)
	for _, v := range values {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err) // a type without fixed size: an error in this package
		}
	}
	copy(a.id[:], h.Sum(nil))
}

// identifyTree is identify with the shape of the tree.
func (a *arrangement) identifyTree(values ...any) {
	degrees := make([]int32, a.tree.Nodes())
	for v := range degrees {
		lo, hi := a.tree.Children(v)
		degrees[v] = int32(hi - lo)
	}
	a.identify(append(values, degrees)...)
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
