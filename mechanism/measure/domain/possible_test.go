package domain_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// The parts of a region are regions inside it, in their order and apart, as many as Width says; and
// what is drawn in one is a record that is counted there.
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

// Distances in a region, and to its point, are no larger than Size, Resolution and Diameter say:
// also where a center is impossible, and where parts are of a few ulps.
func TestSize_BoundsDistances(t *testing.T) {
	boxes, fine := samples.Masked(true), map[string]domain.Column{
		"pi": {Hi: math.Pi}, "far": {Lo: 0x1p52, Hi: 0x1p52 + 21}, "far or missing": {Lo: 0x1p52, Hi: 0x1p52 + 21, Missing: true},
	}
	for name, c := range fine {
		boxes[name] = testkit.Must(domain.NewBox([]domain.Column{c}, nil))
	}
	for name, d := range boxes {
		s, r := samples.Inside(d), random.Seeded(1)
		check := func(what string, x, y []float64, most float64) {
			if far := s.Distance(x, y); far > most*region.RoundUp {
				t.Errorf("%s: %v and %v are %v apart, %s %v", name, x, y, far, what, most)
			}
		}
		var last []float64
		for range 500 {
			x := d.Jitter(r, r.IntN(d.Len()))
			c, err := s.Locate(x)
			if err != nil {
				continue // impossible
			}
			if _, ok := fine[name]; !ok {
				check("resolution", x, d.Point(c), d.Resolution())
			}
			if last != nil {
				check("diameter of all", last, d.Point(c), d.Diameter())
			}
			last = d.Point(c)
			for v, next := (region.Node{}), true; next; {
				diameter, radius := s.Size(v)
				check("radius", x, s.At(nil, v), radius)
				check("diameter", x, s.At(r, v), diameter)
				next = false
				if s.Regions.Height(v) > 0 {
					for _, w := range s.Regions.Below(nil, v, 1) {
						if lo, hi := s.Regions.Cells(w); !next && lo <= c && c < hi {
							v, next = w, true
						}
					}
				}
			}
		}
	}
}
