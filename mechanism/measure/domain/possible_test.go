package domain_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// The parts of a region are regions inside it, in their order and apart; as many as
// Width says; and what is drawn in one is a record that is counted there. A region
// that is a cell, or has one, is not divided.
func TestPossible_RegionsAreATree(t *testing.T) {
	for name, d := range samples.Masked(false) {
		r := random.Seeded(4)
		for range 30 {
			v := region.Node{}
			for samples.Inside(d).Regions.Height(v) > 0 {
				h := 1 + r.IntN(min(2, samples.Inside(d).Regions.Height(v)))
				parts := samples.Inside(d).Regions.Below(nil, v, h)
				if n := samples.Inside(d).Regions.Width(v, h); n != len(parts) && !(h > 1 && n > len(parts) && len(parts) > 64) {
					t.Fatalf("%s: %v has %d parts %d levels below, not %d", name, v, len(parts), h, n)
				}
				if len(parts) < 2 {
					t.Fatalf("%s: %v of height %d has parts %v", name, v, samples.Inside(d).Regions.Height(v), parts)
				}
				lo, end := samples.Inside(d).Regions.Cells(v)
				for _, w := range parts {
					first, last := samples.Inside(d).Regions.Cells(w)
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
					x := samples.Inside(d).At(rng, v)
					c, err := d.Cell(x)
					if lo, hi := samples.Inside(d).Regions.Cells(v); err != nil || c < lo || c >= hi {
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
	for name, d := range samples.Masked(true) {
		var cells, seen []int
		for _, v := range samples.Inside(d).Regions.Below(nil, region.Node{}, d.Height()) {
			if samples.Inside(d).Regions.Height(v) > 0 {
				t.Fatalf("%s: %v is no cell", name, v)
			}
			cells = append(cells, testkit.Must(d.Cell(samples.Inside(d).At(nil, v))))
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
		if d.Tree() != nil || testkit.Err(d.Points()) == nil {
			t.Errorf("%s: a tree with impossible cells", name)
		}
	}
}
