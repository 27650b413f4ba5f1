// Package region is the inside of a domain: a tree of regions whose leaves are cells.
// Package domain makes it, and what releases data on a domain reads it.
package region

import (
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// Identity tells a domain from others.
type Identity struct {
	Kind   string // such as "box of 2 columns"
	Layout string // such as "64 x 64 cells, 3 levels of arity 16"
	ID     [IDSize]byte
}

// IDSize is the length of a digest of which records are in which cell and where the cells
// are. Two calls with the same arguments, on any two machines, make domains of one ID.
const IDSize = 16

func (id Identity) String() string { return id.Kind + ": " + id.Layout }

// Partition is the part of a domain that does not depend on the type of its records.
type Partition struct {
	Identity
	Cells      int
	Height     int // levels below the root
	Regions    Tree
	Apart      int     // the level from which on no node has two categories of a column
	Diameter   float64 // largest distance between points of cells, or more
	Resolution float64 // largest distance of a record to the point of its cell, or NaN
	// Size bounds the distance of two records in a region, and that of one to its point, but for
	// a factor of RoundUp.
	Size func(v Node) (diameter, radius float64)
	Row  bool // the regions of a level are intervals of one length, in order
	// Explicit returns the tree in memory, made on demand, or why there is none.
	Explicit func(op string) (*Geometry, error)
}

// Told reports whether a region has a single category of every column.
func (p *Partition) Told(v Node) bool { return v.Level >= p.Apart }

// Geometry is the tree of a domain in memory, with the sizes of its nodes.
type Geometry struct {
	Tree *walk.Tree
	// Nodes of a class are alike. The number of a class is the level in a Regular tree,
	// and the node elsewhere.
	Classes  []Class
	Regular  bool
	Line     []float64 // position of every cell, where cells stand in a row
	ByCost   bool      // the scales of a Measure are prop. to LevelCosts^(-1/2), else
	Exponent float64   // to Diameter^Exponent
}

// Class is the geometry of nodes that are alike.
type Class struct {
	Nodes    int     // how many there are
	Arity    int     // of each
	Depth    int     // of each
	Diameter float64 // largest distance between points of cells below one
	// Spread bounds what noise costs: if the noise on the children has covariance
	// s(I - J/k), and each child's share spreads evenly over its own children and so on
	// down, then E W1 <= sqrt(s) * Spread.
	Spread float64
}

// DiameterOf returns the diameter of node v of depth l, 0 for a leaf.
func (g *Geometry) DiameterOf(v, l int) float64 {
	switch lo, hi := g.Tree.Children(v); {
	case lo == hi:
		return 0
	case g.Regular:
		return g.Classes[l].Diameter
	}
	return g.Classes[v].Diameter
}

// leastCost keeps the scales of levels that cost nothing, such as those between
// duplicates, finite: they take less than a thousandth of the largest share.
const leastCost = 1e-6

// LevelCosts returns every level's sum of Spread, in units of the largest.
func (g *Geometry) LevelCosts() []float64 {
	costs := make([]float64, g.Tree.Height())
	top := 0x1p-1022 // where all are 0
	for _, s := range g.Classes {
		if s.Arity > 1 {
			costs[s.Depth] += float64(float64(s.Nodes) * s.Spread)
			top = max(top, costs[s.Depth])
		}
	}
	for l, c := range costs {
		costs[l] = max(c/top, leastCost)
	}
	return costs
}

// RoundUp makes up for what rounding takes off a sum of terms >= 0: all that 2^13
// additions can, and what 2^26 do where their errors have random signs.
const RoundUp = 1 + 0x1p-40

// Space is a Partition of records of type P.
type Space[P any] struct {
	*Partition
	Locate func(p P) (cell int, err error)
	// At is the point that stands for a region; with an rng it is drawn uniformly, where
	// regions have volume.
	At       func(rng *rand.Rand, v Node) P
	Distance func(p, q P) float64
	// Bounds writes the least and the largest entries of a region of a box; ok is false where
	// a missing value is in it too. Nil elsewhere.
	Bounds func(lo, hi []float64, v Node) (ok bool)
}

// Draw returns a point of a region, drawn uniformly: of its cells where it has no volume.
func (s *Space[P]) Draw(rng *rand.Rand, v Node) P {
	if t, ok := s.Regions.(*Given); ok {
		lo, hi := t.Cells(v)
		v = t.Cell(lo + rng.IntN(hi-lo))
	}
	return s.At(rng, v)
}

// Points returns the points of n nodes.
func (s *Space[P]) Points(n int, nodes func(i int) Node) (*metric.Points[P], error) {
	pts := make([]P, n)
	for i := range pts {
		pts[i] = s.At(nil, nodes(i))
	}
	return metric.NewPoints(pts, metric.Func[P](s.Distance))
}

// Some returns the points of up to most cells, evenly spread over the tree, or of regions
// where the tree is not held in memory.
func (s *Space[P]) Some(most int) (metric.Finite, error) {
	if _, ok := s.Regions.(*Given); ok {
		n := min(s.Cells, most)
		return s.Points(n, func(i int) Node { return s.Regions.Cell(s.Cells/n*i + s.Cells%n*i/n) })
	}
	r := First(s.Regions, most)
	return s.Points(len(r), func(i int) Node { return r[i] })
}

// LowerCells is how many cells lower bounds look at, evenly spread over the tree. What holds
// for measures on some of the points holds for those on all, because the proof lets the output
// be anywhere.
const LowerCells = 1024

// First returns all regions of the deepest level with at most most.
func First(t Tree, most int) []Node {
	r := 0
	for r < t.Height(Node{}) && t.Width(Node{}, r+1) <= most {
		r++
	}
	return t.Below(nil, Node{}, r)
}

// reveal returns the Space of a *domain.Domain, which hides it from those who import it.
var reveal func(domain any) any

// Reveal is for package domain alone.
func Reveal(f func(domain any) any) { reveal = f }

// Of returns the inside of a *domain.Domain[P], or an error for one that no constructor made.
func Of[P any](op string, domain any) (*Space[P], error) {
	s := reveal(domain).(*Space[P])
	return s, Check(s != nil, op)
}

// Check returns an error unless a constructor made the domain.
func Check(made bool, op string) error {
	return fault.Made(made, op, "Domain", "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded")
}

// OrZero returns *o, or a zero T where o is nil.
func OrZero[T any](o *T) T {
	if o == nil {
		o = new(T)
	}
	return *o
}

// PerRecord is the level of a record where that of a person, or of a record if perPerson is 0, is
// eps, and what is added, removed or replaced: to add a person is to add up to perPerson records one
// by one, each at a loss of at most eps/perPerson.
func PerRecord(op string, rel walk.Relation, perPerson int, eps, least float64) (level float64, unit metric.Unit, err error) {
	switch {
	case rel != walk.ReplaceOne && rel != walk.AddRemoveOne:
		return 0, "", fault.Value(op, "Relation", float64(rel), Constant)
	case perPerson < 0 || perPerson > MostPerPerson:
		return 0, "", fault.Value(op, "PerPerson", float64(perPerson), "an integer in [0, 2^30]")
	case perPerson > 0 && rel != walk.AddRemoveOne:
		return 0, "", fault.Value(op, "Relation", float64(rel), "AddRemoveOne with PerPerson, because how many records persons have is private")
	case perPerson > 0:
		if level = directed.DivDown(eps, float64(perPerson)); level < least {
			return 0, "", fault.Value(op, "eps", eps, fmt.Sprintf("at least %g for each of PerPerson records", least))
		}
		return level, "person added or removed", nil
	case rel == walk.AddRemoveOne:
		return eps, "record added or removed", nil
	}
	return eps, "record replaced", nil
}

// MostPerPerson bounds how many records of one person can be counted.
const MostPerPerson = 1 << 30

// Constant is what errors want of a value of an enumeration.
const Constant = "one of the constants of its type"
