package measure

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// ErrUnknown reports a record that is none of the labels of a domain.
var ErrUnknown = errors.New("unknown label")

// Domain is a public arrangement of a space for private counting: a rooted tree
// of ever smaller regions, whose leaves are cells. A record of type P counts in
// one cell; released mass is reported at the cells' points.
//
// A domain must be made from public knowledge alone: bounds or net points that
// were read off the private records are a leak that no noise repairs.
//
// A Domain is immutable and safe for concurrent use. The zero value has no cells
// and is refused.
type Domain[P any] struct {
	*arrangement
	locate func(p P) (int, error)
	// at is the point that stands for a region; with an rng it is drawn uniformly,
	// where regions have volume.
	at     func(rng *rand.Rand, v node) P
	metric func(p, q P) float64
}

func (d *Domain[P]) check(op string) error {
	return fault.Made(d != nil && d.arrangement != nil, op, "Domain", "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded")
}

// Len returns the number of cells.
func (d *Domain[P]) Len() int { return fault.Must(d, d.check("measure: Domain.Len")).cells }

// Tree returns the tree of the cells: leaf c is cell c. It is nil where there are
// more than 2^26 cells, or impossible ones. O(cells), once.
func (d *Domain[P]) Tree() *walk.Tree {
	const op = "measure: Domain.Tree"
	a, err := fault.Must(d, d.check(op)).explicit(op)
	if err != nil {
		return nil
	}
	return a.tree
}

// Height returns the number of levels of the tree below its root.
func (d *Domain[P]) Height() int { return fault.Must(d, d.check("measure: Domain.Height")).height() }

// Resolution returns the largest distance from a record, clipped if need be, to
// the point of its cell. It is NaN where the space of records is not known, as
// after [On].
func (d *Domain[P]) Resolution() float64 {
	return fault.Must(d, d.check("measure: Domain.Resolution")).resolution
}

// Diameter returns the largest distance between points of cells, impossible ones
// included, up to rounding upwards, and for a finite metric of more than 2,048
// points without coordinates or a hierarchy a number of at most twice that.
func (d *Domain[P]) Diameter() float64 {
	return fault.Must(d, d.check("measure: Domain.Diameter")).diameter
}

// Cell returns the cell that p counts in, a number in [0, Len()), or an error
// for a record that has none: see the constructor. It does not allocate.
func (d *Domain[P]) Cell(p P) (int, error) {
	if err := d.check("measure: Domain.Cell"); err != nil {
		return 0, err
	}
	return d.locate(p)
}

// Point returns the point that stands for a cell: the center of a cell of a
// box or sphere, a net point otherwise. It panics for a cell outside [0,
// Len()).
func (d *Domain[P]) Point(cell int) P {
	return fault.Must(d, d.check("measure: Domain.Point")).at(nil, d.cell(d.index(cell)))
}

// Jitter returns a point drawn uniformly from a cell, and Point(cell) where
// cells have no volume, as in a finite space. It costs no privacy.
func (d *Domain[P]) Jitter(rng *rand.Rand, cell int) P {
	fault.Must(d, d.check("measure: Domain.Jitter"))
	rng, done := random.Get(rng)
	defer done()
	return d.at(rng, d.cell(d.index(cell)))
}

// index panics unless there is such a cell.
func (d *Domain[P]) index(cell int) int {
	if uint(cell) >= uint(d.cells) {
		panic(fmt.Sprintf("measure: cell %d out of range [0, %d)", cell, d.cells))
	}
	return cell
}

// Distance is the metric in which errors are measured.
func (d *Domain[P]) Distance(p, q P) float64 {
	return fault.Must(d, d.check("measure: Domain.Distance")).metric(p, q)
}

// Points returns the points of all cells as a finite metric, computed on
// demand, for W1 distances and lower bounds. O(Len()) memory.
func (d *Domain[P]) Points() (*metric.Points[P], error) {
	const op = "measure: Domain.Points"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if _, err := d.explicit(op); err != nil {
		return nil, err
	}
	return d.finite(d.cells, d.cell)
}

// finite returns the points of n nodes.
func (d *Domain[P]) finite(n int, nodes func(i int) node) (*metric.Points[P], error) {
	pts := make([]P, n)
	for i := range pts {
		pts[i] = d.at(nil, nodes(i))
	}
	return metric.NewPoints(pts, metric.Func[P](d.metric))
}

// some returns the points of up to most cells, evenly spread over the tree, or of
// regions where the tree is not held in memory.
func (d *Domain[P]) some(most int) (metric.Finite, error) {
	if d.tree == nil {
		r := firstRegions(d.regions, most)
		return d.finite(len(r), func(i int) node { return r[i] })
	}
	n := min(d.cells, most)
	return d.finite(n, func(i int) node { return d.cell(d.cells/n*i + d.cells%n*i/n) })
}

// firstChildren are the points of the children of the first node of a level:
// nodes of one level of a regular tree differ little.
func (d *Domain[P]) firstChildren(level int) metric.Finite {
	return fault.Must(d.finite(d.arities[level], func(i int) node { return node{Level: level + 1, Index: i} }))
}

// String says how the space is arranged, as in "box of 2 columns: 64 x 64 cells,
// 3 levels of arity 16": so many of each column, in their order.
func (d *Domain[P]) String() string {
	if d.check("") != nil {
		return "no domain"
	}
	return fmt.Sprint(d.what, ": ", d.layout())
}

// arrangement is the part of a Domain that does not depend on P.
type arrangement struct {
	what    string
	regions adaptive.Tree
	tree    *walk.Tree // nil where it is made on demand, by unfold
	arities []int      // of the levels; nil where the tree is not regular
	cells   int
	id      [idSize]byte // see identify

	// Nodes of a class are alike: its number is the level in a regular tree, and
	// the node elsewhere.
	shape    []nodeShape
	children func(class int) metric.Finite // their points, for simulation
	hub      []int                         // a cell that stands for node v of a tree that is not regular

	unfold     func() (*arrangement, error) // see explicit
	masked     bool                         // some cells are impossible
	sides      []int                        // cells a column of a box of two and more; nil elsewhere
	apart      int                          // the level from which on no node has two categories of a column
	line       []float64                    // position of every cell where cells stand in a row
	resolution float64                      // largest distance of a record to the point of its cell
	diameter   float64                      // largest distance between points of cells, or more
	points     int                          // of the finite metric that it was made of
	byCost     bool                         // a Measure's scales are prop. to levelCosts^(-1/2), else
	exponent   float64                      // to diameter^exponent
}

// node is a region.
type node = adaptive.Place

// cell returns the region that a cell is.
func (a *arrangement) cell(c int) node {
	if a.arities == nil && a.tree != nil {
		v := a.tree.LeafNode(c)
		return node{Level: a.tree.Depth(v), Index: v}
	}
	return node{Level: a.height(), Index: c}
}

// told says whether a region has a single category of every column.
func (a *arrangement) told(v node) bool { return a.arities == nil || v.Level >= a.apart }

// roundUp makes up for what rounding takes off a sum of terms >= 0: all that
// 2^13 additions can, and what 2^26 do where their errors have random signs.
const roundUp = 1 + 0x1p-40

// nodeShape is the geometry of the nodes of one class.
type nodeShape struct {
	nodes    int     // how many there are
	arity    int     // of each
	depth    int     // of each
	diameter float64 // largest distance between points of cells below one
	// spread bounds what noise costs: if the noise on the children has
	// covariance s(I - J/k), and each child's share spreads evenly over its own
	// children and so on down, then E W1 <= sqrt(s) * spread.
	spread float64
}

func (a *arrangement) height() int {
	if a.tree == nil {
		return len(a.arities)
	}
	return a.tree.Height()
}

// explicit returns the arrangement with its tree, made on demand.
func (a *arrangement) explicit(op string) (*arrangement, error) {
	switch {
	case a.tree != nil:
		return a, nil
	case a.masked:
		return nil, fmt.Errorf("%s: %w", op, errMasked)
	case a.cells > explicitCells:
		return nil, &fault.MemoryError{Op: op, Bytes: 80 * float64(a.cells), Limit: 80 * explicitCells}
	}
	return a.unfold()
}

var errMasked = errors.New("some cells are impossible, and only a Synthesizer leaves them out")

// explicitCells bounds a tree in memory: a release takes about 5 GB.
const explicitCells = 1 << 26

func (a *arrangement) layout() string {
	levels := fmt.Sprint(a.height(), " levels")
	if a.height() == 1 {
		levels = "1 level"
	}
	switch {
	case a.cells == 1:
		return "1 cell"
	case a.arities == nil:
		return fmt.Sprintf("%d cells, %s of arity up to %d", a.cells, levels, a.tree.Arity())
	}
	sides := []string{}
	for _, n := range a.sides {
		sides = append(sides, power(n))
	}
	if a.sides == nil {
		sides = append(sides, power(a.cells))
	}
	cells := strings.Join(sides, " x ") + " cells"
	if a.masked {
		cells += ", some of them impossible"
	}
	lo, hi := slices.Min(a.arities), slices.Max(a.arities)
	if hi > lo {
		return fmt.Sprintf("%s, %s of arity %d to %d", cells, levels, lo, hi)
	}
	return fmt.Sprintf("%s, %s of arity %d", cells, levels, lo)
}

// power writes a number, with a large power of two in it as such.
func power(n int) string {
	switch k := bits.TrailingZeros(uint(n)); {
	case k > 16 && n == 1<<k:
		return fmt.Sprintf("2^%d", k)
	case k > 16:
		return fmt.Sprintf("%d*2^%d", n>>k, k)
	}
	return fmt.Sprint(n)
}
