package measure

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// maskedBoxes are boxes with impossible regions, of few cells where small.
func maskedBoxes(small bool) map[string]*Domain[[]float64] {
	t, depth := testTaxonomy(), 0.
	if small {
		depth = 3
	}
	below := func(lo, hi []float64) bool { return lo[0] <= hi[1] }
	ring := func(lo, hi []float64) bool {
		near, far := 0.0, 0.0
		for i := range lo {
			near += math.Pow(max(0, lo[i], -hi[i]), 2)
			far += math.Pow(max(-lo[i], hi[i]), 2)
		}
		return near <= 1 && far >= 0.81
	}
	line := func(lo, hi []float64) bool { return lo[0]+lo[1] <= 1 && hi[0]+hi[1] >= 1 }
	boxes := map[string]*Domain[[]float64]{}
	for name, c := range map[string]struct {
		columns  []Column
		possible func(lo, hi []float64) bool
	}{
		"wholes":   {[]Column{{Lo: 1, Hi: 11, Whole: true}, {Hi: 4, Whole: true}}, nil},
		"missing":  {[]Column{{Hi: 1, Missing: true, Weight: 1}, {Hi: 2, Whole: true, Missing: true}}, nil},
		"taxonomy": {[]Column{{Taxonomy: t, Missing: true}, {Categories: 3}}, nil},
		"place":    {[]Column{{Radius: 1, Missing: true}, {Hi: 2, Whole: true}}, nil},
		"ordered":  {[]Column{{Hi: 5, Whole: true}, {Hi: 5, Whole: true}}, below},
		"triangle": {[]Column{{Hi: 1}, {Hi: 1}}, below},
		"ring":     {[]Column{{Lo: -1, Hi: 1}, {Lo: -1, Hi: 1}}, ring},
		"line":     {[]Column{{Hi: 1}, {Hi: 1}}, line},
		"few":      {[]Column{{Categories: 3}, {Categories: 3}}, func(lo, hi []float64) bool { return lo[0] == hi[0] && lo[0] == 1 || lo[0] < hi[0] }},
	} {
		boxes[name] = testkit.Must(NewBox(c.columns, &BoxOptions{Depth: depth, Possible: c.possible}))
	}
	return boxes
}

// The parts of a region are regions inside it, in their order and apart; as many as
// Width says; and what is drawn in one is a record that is counted there. A region
// that is a cell, or has one, is not divided.
func TestPossible_RegionsAreATree(t *testing.T) {
	for name, d := range maskedBoxes(false) {
		r := random.Seeded(4)
		for range 30 {
			v := node{}
			for d.regions.Height(v) > 0 {
				h := 1 + r.IntN(min(2, d.regions.Height(v)))
				parts := d.regions.Below(nil, v, h)
				if n := d.regions.Width(v, h); n != len(parts) && !(h > 1 && n > len(parts) && len(parts) > manyParts) {
					t.Fatalf("%s: %v has %d parts %d levels below, not %d", name, v, len(parts), h, n)
				}
				if len(parts) < 2 {
					t.Fatalf("%s: %v of height %d has parts %v", name, v, d.regions.Height(v), parts)
				}
				lo, end := d.regions.Cells(v)
				for _, w := range parts {
					first, last := d.regions.Cells(w)
					if first < lo || last > end || first >= last || w.Level <= v.Level {
						t.Fatalf("%s: %v has a part %v", name, v, w)
					}
					lo = last
				}
				v = parts[r.IntN(len(parts))]
				for i := range 3 {
					rng := r
					if i == 0 {
						rng = nil
					}
					x := d.at(rng, v)
					c, err := d.Cell(x)
					if lo, hi := d.regions.Cells(v); err != nil || c < lo || c >= hi {
						t.Fatalf("%s: %v was drawn in %v, and is in cell %d, %v, not in [%d, %d)", name, x, v, c, err, lo, hi)
					}
				}
			}
		}
	}
}

// Going down to the end, the tree of a small box has the cells of all its possible
// records, each once, and every record is in the regions above its cell or refused.
func TestPossible_CellsAreThoseOfRecords(t *testing.T) {
	for name, d := range maskedBoxes(true) {
		var cells, seen []int
		for _, v := range d.regions.Below(nil, node{}, d.Height()) {
			if d.regions.Height(v) > 0 {
				t.Fatalf("%s: %v is no cell", name, v)
			}
			cells = append(cells, testkit.Must(d.Cell(d.at(nil, v))))
		}
		possible := 0
		for c := range d.Len() {
			x := d.Point(c)
			at, err := d.Cell(x)
			var impossible *fault.ValueError
			if err != nil && !errors.As(err, &impossible) {
				t.Fatal(err)
			}
			if err == nil {
				seen = append(seen, at)
				possible++
			}
		}
		slices.Sort(cells)
		slices.Sort(seen)
		if seen = slices.Compact(seen); !slices.Equal(cells, seen) || len(seen) == d.Len() && name != "few" {
			t.Errorf("%s: cells %v in the tree, %v of records", name, cells, seen)
		}
		if d.Tree() != nil || second(d.Points()) == nil || second(NewMeasure(d, 1, nil)) == nil {
			t.Errorf("%s: a tree with impossible cells", name)
		}
	}
}

// A release with impossible cells spends its level on every path, in whole quanta;
// the regions on the way to a cell are one path; and no record is made where there
// can be none.
func TestPossible_ReleaseSpendsItsLevel(t *testing.T) {
	for name, d := range maskedBoxes(false) {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			s := testkit.Must(NewSynthesizer(d, 0.7, &SynthesizerOptions{Relation: rel}))
			r := random.Seeded(5)
			c := d.NewCounts()
			for range 60 {
				testkit.Check(t, c.AddN(d.at(r, node{}), r.Int64N(100)))
			}
			out := testkit.Must(s.Release(r, c))
			nodes := out.tree.Nodes
			stated := new(big.Rat).SetFloat64(s.Guarantee().Alpha())
			spent := make([]int64, len(nodes))
			for i, n := range nodes {
				spent[i] += n.Quanta
				lo, end := d.regions.Cells(n.At)
				for j := n.First; j < n.First+n.Parts; j++ {
					spent[j] = spent[i]
					first, last := d.regions.Cells(nodes[j].At)
					if first < lo || last > end {
						t.Fatalf("%s: %v is no part of %v, or two have a cell", name, nodes[j].At, n.At)
					}
					lo = last
				}
				quantum := new(big.Rat).Quo(stated, big.NewRat(1<<30, 1))
				if n.Parts == 0 && new(big.Rat).Mul(quantum, big.NewRat(spent[i], 1)).Cmp(stated) != 0 {
					t.Errorf("%s, %v: %d quanta for leaf %v", name, rel, spent[i], n.At)
				}
			}
			for _, x := range testkit.Must(out.Records(r, 300, nil)) {
				if _, err := d.Cell(x); err != nil {
					t.Fatalf("%s: record %v: %v", name, x, err)
				}
			}
		}
	}
}

// Domains whose public knowledge differs in the first regions are different.
func TestPossible_IsPartOfTheIdentity(t *testing.T) {
	make := func(most float64) [idSize]byte {
		return testkit.Must(NewBox([]Column{{Hi: 1}}, &BoxOptions{Possible: func(lo, hi []float64) bool { return lo[0] <= most }})).id
	}
	half, again, more := make(0.5), make(0.5), make(0.6)
	if half == more || half != again {
		t.Errorf("the identities are %x, %x, %x", half, again, more)
	}
}
