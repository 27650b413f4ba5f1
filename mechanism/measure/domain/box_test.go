package domain

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
	"github.com/metricdp/metricdp/metric"
)

func testTaxonomy() *metric.Tree {
	return testkit.Must(metric.TreeFromPaths([][]string{
		{"r", "a", "b", "x"}, {"r", "a", "b", "y"}, {"r", "a", "c"}, {"r", "d"}, {"r", "e", "f"}, {"r", "e", "g"}, {"r", "e", "h"},
	}))
}

// mixedBoxes are boxes with columns of all kinds, deep and shallow.
func mixedBoxes() map[string]*box {
	t := testTaxonomy()
	boxes := map[string]*box{}
	for name, columns := range map[string][]Column{
		"number":            {{Lo: -3, Hi: 8}},
		"far from 0":        {{Lo: 1e9, Hi: 1e9 + 1}, {Lo: -1e15 - 3, Hi: -1e15}},
		"huge and tiny":     {{Lo: -1e100, Hi: 1e100, Weight: 1e-100}, {Lo: 1e-60, Hi: 3e-60, Weight: 1e60}},
		"wholes":            {{Lo: -3, Hi: 9, Whole: true}, {Lo: 1, Hi: 1, Whole: true}},
		"all wholes":        {{Lo: -1 << 52, Hi: -1<<52 + column.MaxParts - 1, Whole: true}},
		"categories":        {{Categories: 3, Missing: true}, {Categories: 1}, {Categories: 5}, {Categories: 1, Missing: true}},
		"tiny categories":   {{Hi: 110}, {Categories: 300, Weight: 1e-20}, {Categories: 5, Weight: 20}},
		"many categories":   {{Lo: -1e6, Hi: 1e6, Weight: 1}, {Hi: 90}, {Categories: 1000}},
		"missing":           {{Hi: 1, Missing: true, Weight: 1}, {Lo: 1, Hi: 12, Whole: true, Missing: true}},
		"taxonomy":          {{Taxonomy: t}, {Hi: 5, Missing: true, Weight: 1}, {Taxonomy: t, Missing: true, Weight: 0.3}},
		"place":             {{Radius: 2, Missing: true}, {Hi: 3}, {Categories: 2, Weight: 0.4}},
		"places":            {{Radius: 1}, {Radius: 3}},
		"nine":              slices.Repeat([]Column{{Hi: 1}}, 9),
		"one of everything": {{Hi: 2}, {Lo: -7, Hi: 7, Whole: true, Weight: 0.1}, {Categories: 4}, {Taxonomy: t}, {Radius: 1}},
	} {
		for _, o := range []BoxOptions{{}, {Depth: 1, P: 1}, {Depth: 2.5, P: 2}} {
			b, err := newBox("test", columns, &o)
			if err == nil || name != "far from 0" || o.Depth == 0 { // which float64 does not resolve so finely
				boxes[fmt.Sprint(name, o.Depth)] = testkit.Must(b, err)
			}
		}
	}
	return boxes
}

// record draws one that the columns have.
func (b *box) record(rng *rand.Rand) []float64 {
	x := make([]float64, b.from[len(b.factors)])
	b.write(x, 0, make([]int, len(b.factors)), rng)
	return x
}

// The index of a cell is that of the parts of its columns in the mixed radix of the
// levels, and decode undoes it at every depth.
func TestGrid_IndexIsMixedRadix(t *testing.T) {
	r := random.Seeded(1)
	for range 300 {
		columns, levels := 1+r.IntN(4), r.IntN(12)
		splits := make([][]int, levels)
		for l := range splits {
			splits[l] = make([]int, columns)
			for a := range splits[l] {
				splits[l][a] = []int{1, 1, 2, 2, 2, 3, 5, 1500}[r.IntN(8)]
			}
		}
		g, err := newGrid("test", splits, columns)
		if err != nil {
			continue
		}
		for range 20 {
			digits, want := make([][]int, levels), 0
			q, back := make([]int, columns), make([]int, columns)
			for l := range splits {
				digits[l] = make([]int, columns)
				for a, n := range splits[l] {
					digits[l][a] = r.IntN(n)
					want = want*n + digits[l][a]
					q[a] = q[a]*n + digits[l][a]
				}
				if g.decode(l+1, want, back); !slices.Equal(q, back) {
					t.Fatalf("%v: node %d of depth %d has parts %v, not %v", splits, want, l+1, q, back)
				}
			}
			got := 0
			for a := range columns {
				got += g.index(a, q[a])
			}
			if got != want {
				t.Fatalf("%v: parts %v are cell %d, not %d", splits, q, got, want)
			}
		}
	}
}

// A record lies in every region above its cell, by the bounds of the region and its
// side; the points of a region lie in its cells; and no two categories share a cell.
func TestBox_RegionsHoldTheirPoints(t *testing.T) {
	for name, b := range mixedBoxes() {
		r := random.Seeded(2)
		last := len(b.splits)
		q, s := make([]int, len(b.factors)), b.buffers.Get().(*scratch)
		for range 100 {
			x := b.record(r)
			cell := testkit.Must(b.locate(x))
			y := b.at(nil, node{Level: last, Index: cell})
			for a, f := range b.factors {
				if i := b.from[a]; b.columns[a].Categories > 0 && f.Distance(x[i:i+1], y[i:i+1]) > 0 {
					t.Fatalf("%s: categories of %v and %v share a cell", name, x, y)
				}
			}
			l := r.IntN(last + 1)
			below := 1
			for _, k := range b.arities[l:] {
				below *= k
			}
			v := node{Level: l, Index: cell / below}
			b.decode(l, v.Index, q)
			b.possible = func(lo, hi []float64) bool {
				for i, u := range x {
					tol := 1e-9 * (math.Abs(lo[i]) + math.Abs(hi[i]))
					if !(u >= lo[i]-tol && u <= hi[i]+tol) && !(math.IsNaN(u) && math.IsNaN(lo[i]) && math.IsNaN(hi[i])) {
						t.Errorf("%s: %v in a region from %v to %v", name, x, lo, hi)
					}
				}
				return true
			}
			b.allowsParts(s, l, q)
			b.possible = nil
			for a, f := range b.factors {
				p := column.Part{Cuts: b.cuts[l][a], Of: b.parts[l][a], Place: q[a]}
				if !f.Possible(p) {
					t.Errorf("%s: %v is in an impossible part %v of column %d", name, x, p, a)
				}
			}
			for _, rng := range []*rand.Rand{nil, r} {
				y := b.at(rng, v)
				c, err := b.locate(y)
				if err != nil || c/below != v.Index {
					t.Fatalf("%s: %v of region %v is in cell %d, %v, one of region %d", name, y, v, c, err, c/below)
				}
				if d := b.distance(x, y); d > b.size(b.p, l).Diameter*(1+1e-9) || rng == nil && d > b.size(b.p, l).Radius*(1+1e-9) {
					t.Errorf("%s: %v and %v are %v apart, in a region of depth %d", name, x, y, d, l)
				}
			}
		}
	}
}

// Distances are those of a metric, missing values included.
func TestBox_DistanceIsAMetric(t *testing.T) {
	for name, b := range mixedBoxes() {
		r := random.Seeded(3)
		for range 200 {
			x, y, z := b.record(r), b.record(r), b.record(r)
			xy, yz, xz := b.distance(x, y), b.distance(y, z), b.distance(x, z)
			if !(xz <= (xy+yz)*(1+1e-9)) || xy != b.distance(y, x) || b.distance(x, x) != 0 {
				t.Fatalf("%s: %v, %v and %v: distances %v, %v and %v", name, x, y, z, xy, yz, xz)
			}
			if b.size(b.p, 0).Diameter*(1+1e-9) < xz {
				t.Errorf("%s: %v and %v are %v apart", name, x, z, xz)
			}
		}
	}
}

// Numbers whose units do not compare are refused, unless the caller has said that
// this is what is wanted; other boxes are cut as they should be.
func TestNewBox_Cells(t *testing.T) {
	ages, incomes := Column{Lo: 18, Hi: 90}, Column{Hi: 200_000}
	weighed := func(c Column, w float64) Column { c.Weight = w; return c }
	for _, cols := range [][]Column{{ages, incomes}, {{Categories: 3}, ages, incomes}, {incomes, {Hi: 1}, {Hi: 2}}} {
		_, err := NewBox(cols, nil)
		var v *metric.ValueError
		if !errors.As(err, &v) || v.Arg != "columns.Weight" || v.Index != 1 && v.Index != 0 ||
			!strings.Contains(err.Error(), fmt.Sprintf("column %d has the length", v.Index)) {
			t.Errorf("%v: %v", cols, err)
		}
	}
	cube := func(n int) []Column { return slices.Repeat([]Column{{Hi: 1}}, n) }
	taxonomy := testkit.Must(metric.TreeFromPaths([][]string{{"r", "a", "b"}, {"r", "a", "c"}, {"r", "d", "e"}, {"r", "d", "f"}, {"r", "d", "g"}}))
	for name, c := range map[string]struct {
		columns []Column
		o       BoxOptions
		want    string
	}{
		"a number":         {[]Column{{Hi: 110}}, BoxOptions{}, "2^50 cells, 50 levels of arity 2"},
		"two":              {cube(2), BoxOptions{}, "2^31 x 2^31 cells, 31 levels of arity 4"},
		"three":            {cube(3), BoxOptions{}, "2^20 x 2^20 x 2^20 cells, 20 levels of arity 8"},
		"eight":            {cube(8), BoxOptions{}, "256 x 256 x 256 x 256 x 128 x 128 x 128 x 128 cells, 15 levels of arity 16"},
		"unequal":          {[]Column{{Hi: 4}, {Hi: 1}}, BoxOptions{}, "2^32 x 2^30 cells, 32 levels of arity 2 to 4"},
		"weights":          {[]Column{weighed(ages, 1./72), weighed(incomes, 1./200_000)}, BoxOptions{Depth: 6}, "64 x 64 cells"},
		"one unit":         {[]Column{weighed(ages, 1), incomes}, BoxOptions{}, "2^25 x 2^36 cells"},
		"depth":            {[]Column{ages, incomes}, BoxOptions{Depth: 6}, "1 x 4096 cells"},
		"splits":           {[]Column{ages, incomes}, BoxOptions{Splits: [][]int{{1, 64}}}, "1 x 64 cells"},
		"a fine range":     {[]Column{{Lo: 1, Hi: 1 + 0x1p-40}}, BoxOptions{}, "1024 cells"},
		"ten wholes":       {[]Column{{Lo: 1, Hi: 10, Whole: true}}, BoxOptions{}, "16 cells, some of them impossible, 4 levels of arity 2"},
		"ten at once":      {[]Column{{Lo: 1, Hi: 10, Whole: true}}, BoxOptions{Splits: [][]int{{5}, {2}}}, "10 cells, 2 levels of arity 2 to 5"},
		"in pairs":         {[]Column{{Lo: 1, Hi: 10, Whole: true}}, BoxOptions{Splits: [][]int{{5}}}, "5 cells"},
		"two categories":   {[]Column{{Hi: 110}, {Categories: 2}}, BoxOptions{Depth: 6}, "64 x 2 cells, 7 levels of arity 2"},
		"three at a depth": {[]Column{{Hi: 110}, {Categories: 3}}, BoxOptions{Depth: 4}, "16 x 3 cells"},
		"categories last":  {[]Column{{Hi: 110}, {Categories: 100, Weight: 1e-20}}, BoxOptions{}, "2^50 x 100 cells, 51 levels"},
		"a missing one":    {[]Column{{Categories: 3, Missing: true}}, BoxOptions{}, "4 cells"},
		"missing numbers":  {[]Column{{Hi: 1, Missing: true}}, BoxOptions{Depth: 3}, "16 cells, some of them impossible, 4 levels"},
		"taxonomy":         {[]Column{{Taxonomy: taxonomy}}, BoxOptions{}, "6 cells, some of them impossible, 2 levels of arity 2 to 3"},
		"a place":          {[]Column{{Radius: 1}, {Hi: 3}}, BoxOptions{Depth: 2}, "12 x 4 cells, 3 levels of arity 2 to 12"},
		// A category comes apart at one level, whichever it is.
		"at once": {[]Column{{Hi: 1}, {Categories: 3}}, BoxOptions{Splits: [][]int{{4, 3}}}, "4 x 3 cells"},
		"last":    {[]Column{{Hi: 1}, {Categories: 3}}, BoxOptions{Splits: [][]int{{4, 1}, {1, 3}}}, "4 x 3 cells"},
		"first":   {[]Column{{Hi: 1}, {Categories: 3}}, BoxOptions{Splits: [][]int{{1, 3}, {4, 1}}}, "4 x 3 cells"},
	} {
		if math.MaxInt == math.MaxInt32 && c.o.Depth == 0 && c.o.Splits == nil {
			continue // fewer cells
		}
		d, err := NewBox(c.columns, &c.o)
		if err != nil || !strings.Contains(d.String(), ": "+c.want) {
			t.Errorf("%s: %v %v", name, d, err)
		}
	}
}
