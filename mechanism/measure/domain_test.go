package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func unitBox(d int, o BoxOptions) *Domain[[]float64] {
	return testkit.Must(NewBox(slices.Repeat([]Column{{Hi: 1}}, d), &o))
}

func randomPoints(n, d int, seed uint64) *metric.Points[[]float64] {
	return testkit.Must(metric.NewPoints(uniformRecords(d)(random.Seeded(seed), n), metric.Euclidean{}))
}

// testDomains are domains of every kind, small.
func testDomains() map[string]*Domain[int] {
	pts := randomPoints(60, 2, 1)
	ring := testkit.Must(metric.Densify(context.Background(), pts))
	tree := testkit.Must(metric.TreeFromPaths([][]string{
		{"a", "b", "c"}, {"a", "b", "d"}, {"a", "e"}, {"a", "f", "g", "h", "i"}, {"a", "f", "g", "j"}, {"a", "f", "k"},
	}))
	return map[string]*Domain[int]{
		"net":      testkit.Must(NewFinite(context.Background(), ring, nil)),
		"net h=3":  testkit.Must(NewFinite(context.Background(), ring, &FiniteOptions{Height: 3})),
		"delta":    testkit.Must(NewFinite(context.Background(), pts, &FiniteOptions{Separation: 0.1})),
		"dendro":   testkit.Must(NewFinite(context.Background(), testkit.Must(metric.Subdominant(context.Background(), ring)), nil)),
		"dendro 1": testkit.Must(NewUltrametric(context.Background(), testkit.Must(metric.Subdominant(context.Background(), ring)), &HierarchyOptions{Ratio: 1})),
		"taxonomy": testkit.Must(NewTaxonomy(context.Background(), tree, nil)),
		"tax 1":    testkit.Must(NewTaxonomy(context.Background(), tree, &HierarchyOptions{Ratio: 1})),
		"hilbert":  testkit.Must(NewFolded(context.Background(), pts, nil)),
		"tour":     testkit.Must(NewFolded(context.Background(), ring, &FoldedOptions{Arity: 5})),
		"one":      testkit.Must(NewFinite(context.Background(), testkit.Must(metric.Subset(ring, []int{3})), nil)),
	}
}

func TestDomain_CellOfPoint(t *testing.T) {
	check := func(name string, n int, back func(c int) (int, error)) {
		for c := range n {
			if got, err := back(c); err != nil || got != c {
				t.Fatalf("%s: the point of cell %d is in cell %d, %v", name, c, got, err)
			}
		}
	}
	for name, d := range testDomains() {
		check(name, d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		if d.Tree().Len() != d.Len() {
			t.Errorf("%s: %d cells, a tree of %d leaves", name, d.Len(), d.Tree().Len())
		}
	}
	r := random.Seeded(1)
	boxes := []*Domain[[]float64]{
		unitBox(1, BoxOptions{Depth: 9}),
		unitBox(2, BoxOptions{Depth: 4}),
		unitBox(3, BoxOptions{Depth: 4}),
		testkit.Must(NewBox([]Column{{Lo: -5, Hi: 100, Weight: .01}, {Categories: 7}, {Hi: 3}}, &BoxOptions{Depth: 4, P: 1})),
		testkit.Must(NewBox([]Column{{Categories: 3}, {Categories: 4, Weight: 2}}, nil)),
	}
	for _, d := range boxes {
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Jitter(r, c)) })
		for range 200 {
			c := r.IntN(d.Len())
			if x := d.Distance(d.Jitter(r, c), d.Point(c)); x > d.Resolution()*(1+1e-12) {
				t.Errorf("%v: a point is %v from its center, resolution %v", d, x, d.Resolution())
			}
		}
	}
	for _, o := range []SphereOptions{{Depth: 4}, {Depth: 7}, {Depth: 1}, {Depth: 5.3}} {
		d := testkit.Must(NewSphere(0, &o))
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Jitter(r, c)) })
		worst := 0.0
		for range 20000 {
			c := r.IntN(d.Len())
			worst = max(worst, d.Distance(d.Jitter(r, c), d.Point(c)))
		}
		if worst > d.Resolution() || worst < 0.6*d.Resolution() {
			t.Errorf("%v: farthest from a center %v, resolution %v", d, worst, d.Resolution())
		}
	}
}

// Every diameter is at least the largest distance between cell points below.
func TestShape_DiameterCovers(t *testing.T) {
	check := func(name string, a *arrangement, dist func(i, j int) float64) {
		for l := range a.height() {
			lo, hi := a.tree.Level(l)
			for v := lo; v < hi; v++ {
				first, end := a.tree.LeafRange(v)
				for i := first; i < end; i++ {
					for j := first; j < i; j++ {
						if d := a.diameterOf(v, l); dist(i, j) > d*(1+1e-12) {
							t.Fatalf("%s: cells %d and %d of node %d are %v apart, its diameter is %v", name, i, j, v, dist(i, j), d)
						}
					}
				}
			}
		}
	}
	for name, d := range testDomains() {
		check(name, testkit.Must(d.explicit(name)), func(i, j int) float64 { return d.Distance(d.Point(i), d.Point(j)) })
	}
	d := testkit.Must(NewBox([]Column{{Hi: 2}, {Categories: 3}, {Hi: 1}}, &BoxOptions{Depth: 3, P: 2}))
	check("box", testkit.Must(d.explicit("box")), func(i, j int) float64 { return d.Distance(d.Point(i), d.Point(j)) })
	s := testkit.Must(NewSphere(1, &SphereOptions{Depth: 4}))
	check("sphere", testkit.Must(s.explicit("sphere")), func(i, j int) float64 { return s.Distance(s.Point(i), s.Point(j)) })
}

func TestNetTree_Bounds(t *testing.T) {
	f := testkit.Must(metric.Densify(t.Context(), randomPoints(500, 2, 4)))
	for _, o := range []FiniteOptions{{}, {Arity: 5}, {Height: 3}, {Arity: 23}} {
		d := testkit.Must(NewFinite(t.Context(), f, &o))
		if o.Arity > 0 && d.Tree().Arity() > o.Arity {
			t.Errorf("%+v: arity %d", o, d.Tree().Arity())
		}
		if o.Height > 0 && d.Height() > o.Height {
			t.Errorf("%+v: height %d", o, d.Height())
		}
	}
}

// The cells of a Separation are the points of a net: farther from each other
// than that, and no record farther from its own.
func TestSeparation_CellsAreANet(t *testing.T) {
	const s = 0.2
	f := randomPoints(300, 2, 12)
	for name, d := range map[string]*Domain[int]{
		"net tree": testkit.Must(NewFinite(t.Context(), f, &FiniteOptions{Separation: s})),
		"folded":   testkit.Must(NewFolded(t.Context(), f, &FoldedOptions{Separation: s})),
	} {
		for a := range d.Len() {
			for b := range a {
				if near := f.Distance(d.Point(a), d.Point(b)); near <= s {
					t.Errorf("%s: cells %d and %d are %v apart", name, a, b, near)
				}
			}
		}
		for i := range f.Len() {
			if far := f.Distance(i, d.Point(testkit.Must(d.Cell(i)))); far > s || far > d.Resolution() {
				t.Errorf("%s: record %d is %v from its cell, resolution %v", name, i, far, d.Resolution())
			}
		}
	}
}

func TestNewFinite_CellsForManyPoints(t *testing.T) {
	d := testkit.Must(NewFinite(t.Context(), randomPoints(cellTreeFrom, 2, 9), nil))
	if !strings.HasPrefix(d.String(), "cells") || d.Len() != cellTreeFrom || d.Height() > 8 {
		t.Error(d)
	}
	for i := range d.Len() {
		if d.Point(testkit.Must(d.Cell(i))) != i {
			t.Fatalf("point %d has no cell", i)
		}
	}
}

// No two points are nearer on the folded line.
func TestFolded_LengthensDistances(t *testing.T) {
	testkit.Rounding(t)
	for _, o := range []FoldedOptions{{}, {Tour: true}, {Arity: 8, Separation: 0.05}} {
		d := testkit.Must(NewFolded(t.Context(), randomPoints(80, 2, 5), &o))
		for i := range d.Len() {
			for j := range i {
				if d.line[i]-d.line[j] < d.Distance(d.Point(i), d.Point(j)) {
					t.Fatalf("%+v: cells %d and %d come nearer", o, i, j)
				}
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

func second[T any](_ T, err error) error { return err }

// The spread of a node must bound the cost of its noise: compare the closed form
// with simulated transport between the children of every shape.
func TestSpread_BoundsNoise(t *testing.T) {
	for _, o := range []BoxOptions{{Depth: 4}, {Depth: 4, P: 1}, {Depth: 3, P: 2}, {Splits: [][]int{{1, 3}, {5, 2}}}} {
		spreadBoundsNoise(t, fmt.Sprint(o), unitBox(2, o))
	}
	spreadBoundsNoise(t, "line", unitBox(1, BoxOptions{Depth: 9}))
	spreadBoundsNoise(t, "space", unitBox(3, BoxOptions{Depth: 4}))
	spreadBoundsNoise(t, "mixed", testkit.Must(NewBox([]Column{{Hi: 1}, {Categories: 5}}, &BoxOptions{Depth: 4})))
	spreadBoundsNoise(t, "sphere", testkit.Must(NewSphere(1, &SphereOptions{Depth: 5})))
	for name, d := range testDomains() {
		spreadBoundsNoise(t, name, d)
	}
}

func spreadBoundsNoise[P any](t *testing.T, name string, d *Domain[P]) {
	p := testkit.Must(newPlan("test", d, 1, MeasureOptions{Distribution: Laplace}))
	for class, s := range p.shape {
		if s.arity < 2 || s.spread == 0 {
			continue
		}
		r := random.Seeded(uint64(class))
		var cost []float64
		for range 100 {
			cost = append(cost, testkit.Must(p.nodeCost(t.Context(), r, class, s)))
		}
		mean, se := meanAndError(cost)
		bound := s.spread * math.Sqrt(p.noise[s.depth].Variance(s.arity))
		if mean-5*se > bound {
			t.Errorf("%s: node %d costs %v +- %v, bound %v", name, class, mean, se, bound)
		}
		if p.arities != nil && bound > 7*mean {
			t.Errorf("%s: level %d costs %v, bound %v is loose", name, class, mean, bound)
		}
	}
}

// What Println shows of counts says nothing of what was counted.
func TestString_GivesNoCountAway(t *testing.T) {
	d := unitBox(1, BoxOptions{Depth: 2})
	some := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.1}}, nil))
	if got, want := fmt.Sprint(some), fmt.Sprint(d.NewCounts()); got != want {
		t.Errorf("two records print as %q, none as %q", got, want)
	}
}
