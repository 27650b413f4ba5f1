// Package samples holds the domains and points that tests of several packages share.
package samples

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
)

// Line is points of the line.
func Line(at ...float64) metric.Finite {
	return space.Formula(len(at), func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
}

// Uniform draws n points of the unit cube of d dimensions.
func Uniform(d int) func(*rand.Rand, int) [][]float64 {
	return func(r *rand.Rand, n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = anywhere(r, d)
		}
		return x
	}
}

// Points are n points drawn from the unit cube of d dimensions.
func Points(n, d int, seed uint64) *metric.Points[[]float64] {
	return fault.Must(metric.NewPoints(Uniform(d)(random.Seeded(seed), n), metric.Euclidean{}))
}

// Unit is the unit cube of d dimensions.
func Unit(d int, o domain.BoxOptions) *domain.Domain[[]float64] {
	return fault.Must(domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), &o))
}

// Domains are domains of every kind, small.
func Domains() map[string]*domain.Domain[int] {
	pts := Points(60, 2, 1)
	ring := fault.Must(metric.Densify(context.Background(), pts))
	tree := fault.Must(metric.TreeFromPaths([][]string{
		{"a", "b", "c"}, {"a", "b", "d"}, {"a", "e"}, {"a", "f", "g", "h", "i"}, {"a", "f", "g", "j"}, {"a", "f", "k"},
	}))
	return map[string]*domain.Domain[int]{
		"net":      fault.Must(domain.NewFinite(context.Background(), ring, nil)),
		"net h=3":  fault.Must(domain.NewFinite(context.Background(), ring, &domain.FiniteOptions{Arity: 5})),
		"delta":    fault.Must(domain.NewFinite(context.Background(), pts, &domain.FiniteOptions{Separation: 0.1})),
		"dendro":   fault.Must(domain.NewFinite(context.Background(), fault.Must(metric.Subdominant(context.Background(), ring)), nil)),
		"dendro 1": fault.Must(domain.NewUltrametric(context.Background(), fault.Must(metric.Subdominant(context.Background(), ring)), &domain.HierarchyOptions{Ratio: 1})),
		"taxonomy": fault.Must(domain.NewTaxonomy(context.Background(), tree, nil)),
		"tax 1":    fault.Must(domain.NewTaxonomy(context.Background(), tree, &domain.HierarchyOptions{Ratio: 1})),
		"hilbert":  fault.Must(domain.NewFolded(context.Background(), pts, nil)),
		"tour":     fault.Must(domain.NewFolded(context.Background(), ring, &domain.FoldedOptions{Arity: 5})),
		"one":      fault.Must(domain.NewFinite(context.Background(), fault.Must(metric.Subset(ring, []int{3})), nil)),
	}
}

// Taxonomy is a tree of seven leaves.
func Taxonomy() *metric.Tree {
	return fault.Must(metric.TreeFromPaths([][]string{
		{"r", "a", "b", "x"}, {"r", "a", "b", "y"}, {"r", "a", "c"}, {"r", "d"}, {"r", "e", "f"}, {"r", "e", "g"}, {"r", "e", "h"},
	}))
}

// Tiny are trees with so few nodes that all outputs can be listed.
func Tiny() map[string]*domain.Domain[int] {
	tree := func(paths ...[]string) *domain.Domain[int] {
		return fault.Must(domain.NewTaxonomy(context.Background(), fault.Must(metric.TreeFromPaths(paths)), &domain.HierarchyOptions{Ratio: 1}))
	}
	return map[string]*domain.Domain[int]{
		"pair":   tree([]string{"r", "a"}, []string{"r", "b"}),
		"three":  tree([]string{"r", "a"}, []string{"r", "b"}, []string{"r", "c"}),
		"uneven": tree([]string{"r", "a"}, []string{"r", "b", "c"}, []string{"r", "b", "d"}),
		"binary": tree([]string{"r", "a", "x"}, []string{"r", "a", "y"}, []string{"r", "b", "u"}, []string{"r", "b", "v"}),
	}
}

// Masked are boxes with impossible regions, of few cells where small.
func Masked(small bool) map[string]*domain.Domain[[]float64] {
	t, depth := Taxonomy(), 0.
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
	boxes := map[string]*domain.Domain[[]float64]{}
	for name, c := range map[string]struct {
		columns  []domain.Column
		possible func(lo, hi []float64) bool
	}{
		"wholes":   {[]domain.Column{{Lo: 1, Hi: 11, Whole: true}, {Hi: 4, Whole: true}}, nil},
		"missing":  {[]domain.Column{{Hi: 1, Missing: true, Weight: 1}, {Hi: 2, Whole: true, Missing: true}}, nil},
		"taxonomy": {[]domain.Column{{Taxonomy: t, Missing: true}, {Categories: 3}}, nil},
		"place":    {[]domain.Column{{Radius: 1, Missing: true}, {Hi: 2, Whole: true}}, nil},
		"ordered":  {[]domain.Column{{Hi: 5, Whole: true}, {Hi: 5, Whole: true}}, below},
		"triangle": {[]domain.Column{{Hi: 1}, {Hi: 1}}, below},
		"ring":     {[]domain.Column{{Lo: -1, Hi: 1}, {Lo: -1, Hi: 1}}, ring},
		"line":     {[]domain.Column{{Hi: 1}, {Hi: 1}}, line},
		"few":      {[]domain.Column{{Categories: 3}, {Categories: 3}}, func(lo, hi []float64) bool { return lo[0] == hi[0] && lo[0] == 1 || lo[0] < hi[0] }},
	} {
		boxes[name] = fault.Must(domain.NewBox(c.columns, &domain.BoxOptions{Depth: depth, Possible: c.possible}))
	}
	return boxes
}

// Mass returns an error unless weights are a probability measure of multiples of 2^-52 with sum 1
// in any order; odd tells that not all are multiples of 2^-51.
func Mass(weights []float64) (odd bool, err error) {
	up, down := 0.0, 0.0
	for i, w := range weights {
		if w < 0 || w*(1<<52) != math.Trunc(w*(1<<52)) {
			return odd, fmt.Errorf("weight %v", w)
		}
		odd = odd || w*(1<<51) != math.Trunc(w*(1<<51))
		up += w
		down += weights[len(weights)-1-i]
	}
	if up != 1 || down != 1 {
		err = fmt.Errorf("mass 1%+g, 1%+g", up-1, down-1)
	}
	return odd, err
}

// Inside is the inside of a domain.
func Inside[P any](d *domain.Domain[P]) *region.Space[P] { return fault.Must(region.Of[P]("", d)) }
