package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

func randomCounts(d *domain.Domain[int], n int, r *rand.Rand) *Counts[int] {
	c := NewCounts(d)
	for range n {
		c.add(int(float64(d.Len())*r.Float64()*r.Float64()), 1)
	}
	return c
}

// someCounts are of records that are possible.
func someCounts[P any](t *testing.T, d *domain.Domain[P], r *rand.Rand) *Counts[P] {
	c := NewCounts(d)
	for range 60 {
		testkit.Check(t, c.AddN(samples.Inside(d).At(r, region.Node{}), r.Int64N(100)))
	}
	return c
}

// Weights are multiples of 2^-52 that sum to 1 exactly, in any order, on every kind of tree, and of
// m records every run of regions has its share to within 1.
func TestRecords_WithinOne(t *testing.T) {
	r, odd := random.Seeded(2), false
	for name, d := range samples.Domains() {
		out := testkit.Must(testkit.Must(NewSynthesizer(d, 1, nil)).Release(r, randomCounts(d, 500, r)))
		finest, err := samples.Mass(out.Weights)
		if odd = odd || finest; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, m := range []int{0, 1, 7, 1 << 14} {
			n := make([]float64, len(out.Weights))
			records := testkit.Must(out.Records(r, m, nil))
			if want := cmp.Or(m, 500); len(records) != want {
				t.Errorf("%s: %d records, want %d", name, len(records), want)
			}
			i := 0
			for _, x := range records { // in the order of the regions
				for _, hi := out.Cells(i); testkit.Must(d.Cell(x)) >= hi; _, hi = out.Cells(i) {
					i++
				}
				n[i]++
			}
			for lo := range n {
				share, got := 0.0, 0.0
				for i := lo; i < len(n); i++ {
					share += out.Weights[i] * float64(len(records))
					if got += n[i]; math.Abs(share-got) > 1+1e-9 {
						t.Errorf("%s: weights %d to %d have %v of %v", name, lo, i, got, share)
					}
				}
			}
		}
	}
	if !odd {
		t.Error("all weights are multiples of 2^-51")
	}
}

// With next to no noise a release is the data.
func TestRelease_Consistent(t *testing.T) {
	for name, d := range samples.Domains() {
		r := random.Seeded(6)
		c := randomCounts(d, 1000, r)
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			out := testkit.Must(testkit.Must(NewSynthesizer(d, 1e6, &SynthesizerOptions{Relation: rel})).Release(r, c))
			for i, w := range out.Weights {
				lo, hi := samples.Inside(d).Regions.Cells(out.nodes[i])
				n := int64(0)
				for _, k := range c.dense()[lo:hi] {
					n += k
				}
				if hi != lo+1 || math.Abs(w-float64(n)/1000) > 1e-12 {
					t.Fatalf("%s: cells %d to %d have %v of %d records", name, lo, hi, w, n)
				}
			}
		}
	}
}

// Runs of any lengths, added in any order, are what a map counts, and so few that
// a cell is never compared more than a few times.
func TestRuns_AreAMap(t *testing.T) {
	r := random.Seeded(1)
	for _, cells := range []int{1, 50, math.MaxInt} {
		var s runs
		want := map[int]int64{}
		for range 300 {
			x := make([]int, r.IntN(1<<r.IntN(10)))
			for i := range x {
				x[i] = r.IntN(cells)
				want[x[i]]++
			}
			s = s.add(newRun(x))
			for i := 1; i < len(s); i++ {
				if len(s[i].cells) == 0 || len(s[i-1].cells) < 2*len(s[i].cells) {
					t.Fatalf("a run of %d cells before one of %d", len(s[i-1].cells), len(s[i].cells))
				}
			}
		}
		got := s.all()
		if !slices.Equal(got.cells, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("of %d: wrong cells", cells)
		}
		for i, c := range got.cells {
			if got.n[i] != want[c] {
				t.Fatalf("of %d: %d records in cell %d, want %d", cells, got.n[i], c, want[c])
			}
		}
	}
}

// The density of a region is its mass over its share of the cells, that of all others
// 0: over all cells the mean is 1.
func TestDensity_IsMassOverShare(t *testing.T) {
	r := random.Seeded(3)
	for name, d := range samples.Domains() {
		s := testkit.Must(NewSynthesizer(d, 1, nil))
		out := testkit.Must(s.Release(r, randomCounts(d, 100, r)))
		density := out.Density()
		of := make([]float64, d.Len()) // by cell
		for i, w := range out.Weights {
			lo, hi := samples.Inside(d).Regions.Cells(out.nodes[i])
			for c := lo; c < hi; c++ {
				of[c] = w * float64(d.Len()) / float64(hi-lo)
			}
		}
		mean := 0.0
		for c, want := range of {
			got := density(d.Point(c))
			if math.Abs(got-want) > 1e-12*want {
				t.Fatalf("%s: %v in cell %d, want %v", name, got, c, want)
			}
			mean += got / float64(len(of))
		}
		if math.Abs(mean-1) > 1e-9 {
			t.Errorf("%s: mean %v", name, mean)
		}
		if got := density(-1); !math.IsNaN(got) {
			t.Errorf("%s: %v where there is no cell", name, got)
		}
	}
}

// No record is made where there can be none.
func TestRecords_ArePossible(t *testing.T) {
	for name, d := range samples.Masked(false) {
		r := random.Seeded(5)
		s := testkit.Must(NewSynthesizer(d, 0.7, nil))
		for _, x := range testkit.Must(testkit.Must(s.Release(r, someCounts(t, d, r))).Records(r, 300, nil)) {
			if _, err := d.Cell(x); err != nil {
				t.Fatalf("%s: record %v: %v", name, x, err)
			}
		}
	}
}

// Where noise hides every cell, records and means have all categories.
func TestRelease_SpreadsCategories(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 110}, {Categories: 2}, {Categories: 3}}, nil))
	r := random.Seeded(3)
	c := NewCounts(d)
	for i := range 1000 {
		testkit.Check(t, c.Add([]float64{r.Float64() * 110, float64(i % 2), 2}))
	}
	share, drawn := 0.0, 0.0
	for range 20 {
		out := testkit.Must(testkit.Must(NewSynthesizer(d, 0.01, nil)).Release(r, c))
		share += out.Mean(func(x []float64) float64 { return x[1] }) / 20
		for _, x := range testkit.Must(out.Records(r, 100, nil)) {
			drawn += x[1] / 2000
		}
	}
	if max(math.Abs(share-0.5), math.Abs(drawn-0.5)) > 0.2 {
		t.Errorf("half of the records are in category 1, and %v and %v of those released", share, drawn)
	}
}

// What Println shows of counts says nothing of what was counted.
func TestString_GivesNoCountAway(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 2})
	some := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.1}}, nil))
	if got, want := fmt.Sprint(some), fmt.Sprint(NewCounts(d)); got != want {
		t.Errorf("two records print as %q, none as %q", got, want)
	}
}
