package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/mechanism/measure/internal/column"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
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
// side; the points of a region lie in its cells; and what is whole stays whole.
func TestBox_RegionsHoldTheirPoints(t *testing.T) {
	for name, b := range mixedBoxes() {
		r := random.Seeded(2)
		last := len(b.splits)
		q, s := make([]int, len(b.factors)), b.buffers.Get().(*scratch)
		for range 100 {
			x := b.record(r)
			cell := testkit.Must(b.locate(x))
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
			b.allows(s, l, q)
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
				if d := b.distance(x, y); d > b.norm(b.p, l, column.Column.Side)*(1+1e-9) || rng == nil && d > b.norm(b.p, l, column.Column.Radius)*(1+1e-9) {
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
			if b.norm(b.p, 0, column.Column.Side)*(1+1e-9) < xz {
				t.Errorf("%s: %v and %v are %v apart", name, x, z, xz)
			}
		}
	}
}

// Values that no column has are errors that name the entry.
func TestBox_RefusesOtherValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tree := testTaxonomy()
	for _, c := range []struct {
		column Column
		x      []float64
	}{
		{Column{Hi: 1}, []float64{nan}},
		{Column{Hi: 3, Whole: true}, []float64{1.5}},
		{Column{Hi: 3, Whole: true}, []float64{nan}},
		{Column{Categories: 3, Missing: true}, []float64{3}},
		{Column{Categories: 3, Missing: true}, []float64{-inf}},
		{Column{Taxonomy: tree}, []float64{7}},
		{Column{Taxonomy: tree}, []float64{0.5}},
		{Column{Taxonomy: tree, Missing: true}, []float64{-1}},
		{Column{Radius: 1}, []float64{91, 0}},
		{Column{Radius: 1}, []float64{0, nan}},
		{Column{Radius: 1, Missing: true}, []float64{nan, 0}},
	} {
		d := testkit.Must(NewBox([]Column{{Hi: 1}, c.column}, nil))
		if _, err := d.Cell(append([]float64{0.5}, c.x...)); err == nil {
			t.Errorf("%+v has %v", c.column, c.x)
		}
	}
	for _, v := range []float64{inf, -inf, 5, -5} {
		d := testkit.Must(NewBox([]Column{{Lo: 1, Hi: 3, Whole: true, Missing: true}}, nil))
		if got := d.Point(testkit.Must(d.Cell([]float64{v})))[0]; got != min(max(v, 1), 3) {
			t.Errorf("%v is counted at %v", v, got)
		}
		d = testkit.Must(NewBox([]Column{{Lo: 1, Hi: 3, Whole: true}}, &BoxOptions{Outside: Refuse}))
		if _, err := d.Cell([]float64{v}); err == nil {
			t.Errorf("%v is not refused", v)
		}
	}
}

// BenchmarkCell finds the cells of records.
func BenchmarkCell(b *testing.B) {
	for name, columns := range map[string][]Column{
		"1": {{Hi: 1}}, "2": slices.Repeat([]Column{{Hi: 1}}, 2), "6": slices.Repeat([]Column{{Hi: 1}}, 6),
		"mixed": {{Hi: 1}, {Hi: 9, Whole: true, Missing: true}, {Categories: 4}, {Taxonomy: testTaxonomy()}},
		"place": {{Radius: 1}},
	} {
		b.Run(name, func(b *testing.B) {
			box := testkit.Must(newBox("test", columns, nil))
			r := random.Seeded(1)
			x := make([][]float64, 1024)
			for i := range x {
				x[i] = box.record(r)
			}
			d := testkit.Must(NewBox(columns, nil))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				testkit.Must(d.Cell(x[i%len(x)]))
				i++
			}
		})
	}
}
