package domain_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// The parts of a region are regions inside it, in their order and apart, as many as Width says, and
// all of it where none are impossible; what is drawn in one is a record that is counted there.
func TestRegions_AreATree(t *testing.T) {
	for name, d := range samples.Masked(false) {
		regionsAreATree(t, name, d, true)
	}
	for name, d := range samples.Domains() {
		regionsAreATree(t, name, d, false)
	}
	regionsAreATree(t, "square", samples.Unit(2, domain.BoxOptions{Depth: 5}), false)
	regionsAreATree(t, "sphere", testkit.Must(domain.NewSphere(1, &domain.SphereOptions{Depth: 4})), false)
}

func regionsAreATree[P any](t *testing.T, name string, d *domain.Domain[P], masked bool) {
	s, r := samples.Inside(d), random.Seeded(4)
	tree := s.Regions
	for range 30 {
		for v := (region.Node{}); tree.Height(v) > 0; {
			h := 1 + r.IntN(min(2, tree.Height(v)))
			parts := tree.Below(nil, v, h)
			if n := tree.Width(v, h); n != len(parts) && !(masked && h > 1 && n > len(parts) && len(parts) > 64) {
				t.Fatalf("%s: %v has %d parts %d levels below, not %d", name, v, len(parts), h, n)
			}
			if len(parts) < 2 {
				t.Fatalf("%s: %v of height %d has parts %v", name, v, tree.Height(v), parts)
			}
			lo, end := tree.Cells(v)
			for _, w := range parts {
				first, last := tree.Cells(w)
				if first < lo || last > end || first >= last || w.Level <= v.Level || !masked && first > lo || tree.Height(w) > tree.Height(v)-h || tree.Length(w) > tree.Length(v) {
					t.Fatalf("%s: %v has a part %v", name, v, w)
				}
				lo = last
			}
			if !masked && lo < end {
				t.Fatalf("%s: the parts of %v end at cell %d, not %d", name, v, lo, end)
			}
			v = parts[r.IntN(len(parts))]
			for _, rng := range []*rand.Rand{nil, r, r} {
				x := s.At(rng, v)
				c, err := d.Cell(x)
				if lo, hi := tree.Cells(v); err != nil || c < lo || c >= hi {
					t.Fatalf("%s: %v was drawn in %v, and is in cell %d, %v, not in [%d, %d)", name, x, v, c, err, lo, hi)
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
	for name, d := range samples.Masked(true) {
		sizesBound(t, name, d, func(r *rand.Rand) []float64 { return d.Jitter(r, r.IntN(d.Len())) }, true)
	}
	for name, c := range map[string]domain.Column{
		"pi": {Hi: math.Pi}, "far": {Lo: 0x1p52, Hi: 0x1p52 + 21}, "far or missing": {Lo: 0x1p52, Hi: 0x1p52 + 21, Missing: true},
	} {
		d := testkit.Must(domain.NewBox([]domain.Column{c}, nil))
		sizesBound(t, name, d, func(r *rand.Rand) []float64 { return d.Jitter(r, r.IntN(d.Len())) }, false)
	}
	for name, d := range samples.Domains() {
		sizesBound(t, name, d, func(r *rand.Rand) int { return r.IntN(60) }, true)
	}
	box := testkit.Must(domain.NewBox([]domain.Column{{Hi: 2}, {Categories: 3}, {Lo: -5, Hi: 1, Weight: .4}}, &domain.BoxOptions{Depth: 3, P: 2}))
	sizesBound(t, "box", box, func(r *rand.Rand) []float64 { return box.Jitter(r, r.IntN(box.Len())) }, true)
	sphere := testkit.Must(domain.NewSphere(7, &domain.SphereOptions{Depth: 4}))
	sizesBound(t, "sphere", sphere, func(r *rand.Rand) metric.LatLon { return sphere.Jitter(r, r.IntN(sphere.Len())) }, true)
}

func sizesBound[P any](t *testing.T, name string, d *domain.Domain[P], draw func(r *rand.Rand) P, resolved bool) {
	s, r := samples.Inside(d), random.Seeded(1)
	check := func(what string, x, y P, most float64) {
		if far := s.Distance(x, y); far > most*region.RoundUp {
			t.Errorf("%s: %v and %v are %v apart, %s %v", name, x, y, far, what, most)
		}
	}
	last := d.Point(0)
	for range 500 {
		x := draw(r)
		c, err := s.Locate(x)
		if err != nil {
			continue // impossible
		}
		if resolved {
			check("resolution", x, d.Point(c), d.Resolution())
		}
		if testkit.Err(s.Locate(last)) == nil {
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
