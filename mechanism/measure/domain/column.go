package domain

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
	"github.com/metricdp/metricdp/metric"
)

// Column is one factor of a box: a number in a range, or one of Whole, Categories, Taxonomy and
// Radius. It is one entry of a record, two with a Radius.
type Column struct {
	// Lo < Hi are the bounds of a number. They must be public.
	Lo, Hi float64
	// Whole makes it a whole number from Lo to Hi, both included, in cells and in what comes out.
	Whole bool
	// Categories, where positive, makes it one of the whole numbers 0 to Categories-1, any two at
	// distance 1.
	Categories int
	// Taxonomy, where not nil, makes it a leaf of the tree, leaf k being Taxonomy.Leaves()[k], with
	// distances along the tree. Nodes are passed over as in [NewTaxonomy].
	Taxonomy *metric.Tree
	// Radius, where positive, makes it a place on a sphere of this radius, two entries of a record:
	// latitude and longitude in degrees, as in [NewSphere].
	Radius float64
	// Missing allows NaN, a value of its own. Its distance to all others is the largest among them,
	// or 1.
	Missing bool
	// Weight multiplies the distances of the column; 0 means 1. Share, where not 0, is the largest
	// distance in it instead, so that columns in different units compare. Without any of these
	// [NewBox] refuses numbers of very different ranges.
	Weight, Share float64
}

// largest is the largest distance in a column of weight 1, or 1 where it is 0.
func (c *Column) largest() float64 {
	d := c.Hi - c.Lo
	switch {
	case c.Categories > 0:
		d = 1
	case c.Radius > 0:
		d = math.Pi * c.Radius
	case c.Taxonomy != nil && c.Taxonomy.Len() > 0:
		// The farthest from the farthest from any leaf.
		leaves := c.Taxonomy.PathMetric()
		far, from := 0.0, 0
		for range 2 {
			x := from
			for y := range leaves.Len() {
				if d := leaves.Distance(x, y); d > far {
					far, from = d, y
				}
			}
		}
		d = far
	}
	if d > 0 && !math.IsInf(d, 1) {
		return d
	}
	return 1
}

// factor returns what a column describes, with its Weight filled in.
func (c *Column) factor(op string, i int, out Outside) (column.Column, error) {
	bad := func(field string, v float64, want string) (column.Column, error) {
		return nil, &fault.ValueError{Op: op, Arg: "columns." + field, Index: i, Value: v, Want: want}
	}
	switch {
	case c.Share != 0 && (c.Weight != 0 || !(c.Share >= 1e-9 && c.Share <= 1e9)):
		return bad("Share", c.Share, "0 with a Weight, and else 0 or a number in [1e-9, 1e9]")
	case c.Share != 0:
		c.Weight = c.Share / c.largest()
	case c.Weight == 0:
		c.Weight = 1
	}
	kinds := 0
	for _, is := range []bool{c.Whole, c.Categories != 0, c.Taxonomy != nil, c.Radius != 0} {
		if is {
			kinds++
		}
	}
	within := func(x float64) bool { return x >= 1e-100 && x <= 1e100 }
	var f column.Column
	switch {
	case kinds > 1:
		return bad("kinds", float64(kinds), "at most one of Whole, Categories, Taxonomy and Radius")
	case !within(c.Weight):
		return bad("Weight", c.Weight, "0 or a number in [1e-100, 1e100]")
	case c.Categories < 0 || c.Categories > maxCategories:
		return bad("Categories", float64(c.Categories), fmt.Sprintf("an integer in [0, %d]", maxCategories))
	case c.Categories > 0:
		return &column.Category{N: c.Categories, Missing: c.Missing, Weight: c.Weight}, nil
	case c.Radius != 0:
		if !(c.Radius > 0) || !within(c.Radius*c.Weight) {
			return bad("Radius", c.Radius, "a number in [1e-100, 1e100], times Weight too")
		}
		f = &column.Globe{Radius: c.Radius * c.Weight}
	case c.Taxonomy != nil:
		if c.Taxonomy.Len() == 0 {
			return bad("Taxonomy", 0, "a tree with a node")
		}
		parent, leaf, _ := contracted(c.Taxonomy, 0.5)
		t := column.NewTaxa(c.Taxonomy.PathMetric(), parent, leaf, c.Weight)
		if d := t.Size(0, 1).Diameter; !(d <= 1e100) {
			return bad("Taxonomy", d, "a diameter of at most 1e100, times Weight")
		}
		f = t
	case !(c.Lo >= -1e100 && c.Lo <= 1e100):
		return bad("Lo", c.Lo, "a number in [-1e100, 1e100]")
	case c.Whole && (c.Lo != math.Trunc(c.Lo) || !(math.Abs(c.Lo) <= maxWhole)):
		return bad("Lo", c.Lo, "a whole number in [-2^52, 2^52]")
	case c.Whole && (c.Hi != math.Trunc(c.Hi) || !(c.Hi >= c.Lo && c.Hi <= maxWhole)):
		return bad("Hi", c.Hi, fmt.Sprintf("a whole number in [Lo, 2^52], Lo = %v", c.Lo))
	case c.Whole && !(c.Hi-c.Lo < column.MaxParts):
		return bad("Hi", c.Hi, fmt.Sprintf("below Lo+%d", column.MaxParts))
	case c.Whole && !within((c.Hi-c.Lo+1)*c.Weight):
		return bad("(Hi-Lo+1)*Weight", (c.Hi-c.Lo+1)*c.Weight, "a number in [1e-100, 1e100]")
	case c.Whole:
		f = &column.Whole{Lo: c.Lo, Weight: c.Weight, Count: int(c.Hi-c.Lo) + 1, Clip: out == Clip}
	case !(c.Hi > c.Lo && c.Hi <= 1e100):
		return bad("Hi", c.Hi, fmt.Sprintf("a number in (Lo, 1e100], Lo = %v", c.Lo))
	case !within((c.Hi - c.Lo) * c.Weight):
		return bad("(Hi-Lo)*Weight", (c.Hi-c.Lo)*c.Weight, "a number in [1e-100, 1e100]")
	default:
		// A part is at least 4 ulps of the larger bound, so that its center is in it.
		size := math.Log2((c.Hi - c.Lo) / max(math.Abs(c.Lo), math.Abs(c.Hi)))
		n := 1 << int(max(0, min(size+50.5, math.Log2(column.MaxParts))))
		f = &column.Number{Lo: c.Lo, Hi: c.Hi, Weight: c.Weight, Most: n, Clip: out == Clip}
	}
	if c.Missing {
		away := f.Size(0, 1).Diameter
		if away == 0 {
			away = c.Weight
		}
		f = &column.Missing{Column: f, Away: away}
	}
	return f, nil
}

const (
	maxCategories = 1 << 22
	maxWhole      = 1 << 52
)

// tooUneven is how many times another range one may be where no weight says so.
const tooUneven = 10

// checkUnits refuses unweighted numbers of ranges that do not compare.
func checkUnits(op string, columns []Column) error {
	least, most := -1, -1
	length := func(i int) float64 { return columns[i].Hi - columns[i].Lo }
	for i, c := range columns {
		if c.Weight != 0 || c.Share != 0 {
			return nil
		}
		if c.Categories > 0 || c.Taxonomy != nil || c.Radius > 0 || !(length(i) > 0) {
			continue
		}
		if least < 0 || length(i) < length(least) {
			least = i
		}
		if most < 0 || length(i) > length(most) {
			most = i
		}
	}
	if least < 0 || length(most) <= tooUneven*length(least) {
		return nil
	}
	return &fault.ValueError{Op: op, Arg: "columns.Weight", Index: least, Want: fmt.Sprintf(
		"another: column %d has the length %v and column %d has %v; set Column.Share, for instance 1, or Weight 1 where all are in one unit",
		least, length(least), most, length(most))}
}
