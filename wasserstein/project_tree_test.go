package wasserstein

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

func TestProjectTree_IsNearest(t *testing.T) {
	r := rng.Seeded(1)
	for trial := range 1500 {
		tree := treeRandom(r, 1+r.IntN(12))
		leaves := tree.Leaves()
		g := lineSigned(r, len(leaves))
		if trial%3 == 0 { // on a grid, where masses tie, and another total
			for k := range g {
				g[k] = float64(r.IntN(9)-3) / 4
			}
		}
		p, dist, err := ProjectTree(tree, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		// What the total lacks lies at the root.
		full := make([]float64, tree.Len())
		for k, v := range leaves {
			full[v] = g[k]
		}
		full[tree.Root()] += 1 - total(g)
		if len(leaves) == 1 && tree.Len() == 1 {
			continue
		}
		// Nearest among the measures on the leaves: other nodes take no mass.
		d := tree.NodeMetric().Distance
		want := refNearestLeaves(tree, d, full)
		if slack := 1e-13 * treeHeight(tree); math.Abs(dist-want) > slack {
			t.Fatalf("trial %d: g=%v: distance %v, want %v", trial, g, dist, want)
		}
		q := refTopDown(t, tree, g)
		if c := projectCost(tree, q, g); c < dist-1e-13*treeHeight(tree) {
			t.Fatalf("top-down is nearer: %v < %v", c, dist)
		}
		again, dist, err := ProjectTree(tree, p)
		if err != nil || dist != 0 || !slices.Equal(again, p) {
			t.Fatalf("not idempotent: %v, %v, %v", again, dist, err)
		}
	}
}

// refNearestLeaves is refNearest with the final mass on leaves only: a source
// pays the way to the nearest leaf where it is no leaf itself.
func refNearestLeaves(tree *metric.Tree, d func(i, j int) float64, g []float64) float64 {
	n := len(g)
	cost := refCosts(d, n)
	plus, minus := make([]float64, n), make([]float64, n+1)
	minus[n] = 1
	for i, w := range g {
		plus[i], minus[i] = max(0, w), max(0, -w)
		least := math.Inf(1)
		for _, v := range tree.Leaves() {
			least = min(least, d(i, v))
		}
		cost[i] = append(cost[i], least)
	}
	return refTransport(cost, plus, minus)
}

// refTopDown is another probability measure near g: from the root down each node
// gives its mass to its children, as near as can be in the Euclidean sense to
// the sums of g below them.
func refTopDown(t *testing.T, tree *metric.Tree, g []float64) []float64 {
	t.Helper()
	below := treeBelow(tree, tree.Leaves(), g, nil)
	mass := make([]float64, tree.Len())
	mass[tree.Root()] = 1
	for _, v := range tree.Preorder() {
		children := tree.Children(v)
		if len(children) == 0 {
			continue
		}
		want := make([]float64, len(children))
		for k, c := range children {
			want[k] = below[c].Hi
		}
		got, err := ProjectSimplex(want, mass[v], nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range children {
			mass[c] = got[k]
		}
	}
	p := make([]float64, len(tree.Leaves()))
	for k, v := range tree.Leaves() {
		p[k] = mass[v]
	}
	projectCheck(t, p)
	return p
}

func projectCost(tree *metric.Tree, p, g []float64) float64 {
	leaves := tree.Leaves()
	below := treeBelow(tree, leaves, p, nil)
	for v, d := range treeBelow(tree, leaves, g, nil) {
		below[v] = below[v].Add(d.Neg())
	}
	return treeCost(tree, below)
}

// On larger trees optimality has a certificate: the dual value. Here the convex
// cost is attacked instead, by all moves of a little mass from leaf to leaf.
func TestProjectTree_NoMoveImproves(t *testing.T) {
	r := rng.Seeded(2)
	for range 60 {
		tree := treeRandom(r, 2+r.IntN(120))
		n := len(tree.Leaves())
		g := lineSigned(r, n)
		for k := range g {
			g[k] += r.NormFloat64() * math.Pow(10, float64(-r.IntN(4)))
		}
		p, dist, err := ProjectTree(tree, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		slack := 1e-13 * treeHeight(tree)
		for range 400 {
			i, j := r.IntN(n), r.IntN(n)
			m := p[i] * []float64{1, .1, 1e-3}[r.IntN(3)]
			q := slices.Clone(p)
			q[i] -= m
			q[j] += m
			if c := projectCost(tree, q, g); c < dist-slack {
				t.Fatalf("distance %v; moving %v from %d to %d: %v", dist, m, i, j, c)
			}
		}
	}
}

// On a comb whose leaves hang on edges of length 0 the tree is the line.
func TestProjectTree_IsProjectLineOnAComb(t *testing.T) {
	r := rng.Seeded(3)
	for range 60 {
		n := 1 + r.IntN(60)
		parent, length := make([]int, 2*n), make([]float64, 2*n)
		x := make([]float64, n)
		for k := range n {
			parent[k], length[k] = k-1, float64(r.IntN(5))
			parent[n+k] = k // the leaf
			if k > 0 {
				x[k] = x[k-1] + length[k]
			}
		}
		tree, err := metric.NewTree(parent, length)
		if err != nil {
			t.Fatal(err)
		}
		g := lineSigned(r, n)
		_, want, err := ProjectLine(x, g)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := ProjectTree(tree, g); err != nil || math.Abs(got-want) > 1e-13*(1+x[n-1]) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

// Equal siblings are treated alike: what one cluster lacks is taken from all by
// the same amount, and small weights go to 0 first.
func TestProjectTree_SharesEvenly(t *testing.T) {
	star, err := metric.NewTree([]int{-1, 0, 0, 0, 0}, []float64{0, .1, .1, .1, .1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ g, want []float64 }{
		{[]float64{.7, .5, .05, -.25}, []float64{.6, .4, 0, 0}},
		{[]float64{.5, .4, .3, 0}, []float64{1.3 / 3, 1. / 3, .7 / 3, 0}},
		{[]float64{0, 0, 0, 0}, []float64{.25, .25, .25, .25}},
		{[]float64{-1, 0, 0, .2}, []float64{0, 4. / 15, 4. / 15, 7. / 15}},
	} {
		p, _, err := ProjectTree(star, c.g)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p {
			if math.Abs(p[k]-c.want[k]) > 1e-15 {
				t.Errorf("ProjectTree(%v) = %v, want %v", c.g, p, c.want)
				break
			}
		}
	}
}

// Weights far above the mass, at lengths from 1e-12 to 1e12.
func TestProjectTree_Extremes(t *testing.T) {
	r := rng.Seeded(4)
	for range 300 {
		tree := treeRandom(r, 1+r.IntN(60))
		g := make([]float64, len(tree.Leaves()))
		for k := range g {
			g[k] = r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
		}
		p, dist, err := ProjectTree(tree, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		q := refTopDown(t, tree, g)
		if c := projectCost(tree, q, g); c < dist*(1-1e-12) {
			t.Fatalf("top-down is nearer: %v < %v", c, dist)
		}
	}
}

// Reference: bisection for tau.
func TestProjectSimplex_IsNearest(t *testing.T) {
	r := rng.Seeded(5)
	for trial := range 1000 {
		n := 1 + r.IntN(12)
		g := linePositions(r, n)
		for i := range g {
			g[i] = min(max(g[i], -1e3), 1e3)
		}
		mass := r.ExpFloat64()
		if trial%5 == 0 {
			mass = float64(r.IntN(2))
		}
		p, err := ProjectSimplex(g, mass, nil)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := -1e4, 1e4
		for range 200 {
			mid, sum := (lo+hi)/2, 0.0
			for _, v := range g {
				sum += max(0, v-mid)
			}
			if sum > mass {
				lo = mid
			} else {
				hi = mid
			}
		}
		for i, v := range g {
			if p[i] < 0 || math.Abs(p[i]-max(0, v-lo)) > 1e-11 {
				t.Fatalf("ProjectSimplex(%v, %v) = %v at %d, want %v", g, mass, p, i, max(0, v-lo))
			}
		}
		if math.Abs(total(p)-mass) > float64(n)*0x1p-52*mass {
			t.Fatalf("total %v, want %v", total(p), mass)
		}
	}
	if p, err := ProjectSimplex([]float64{1e17, 1e17, -1e300}, 1, nil); err != nil || !slices.Equal(p, []float64{.5, .5, 0}) {
		t.Errorf("%v, %v", p, err)
	}
	dst := make([]float64, 5)
	if p, err := ProjectSimplex([]float64{1, 2}, 1, dst); err != nil || &p[0] != &dst[0] || !slices.Equal(p, []float64{0, 1}) {
		t.Errorf("%v, %v", p, err)
	}
}

func TestProjectTree_RefusesBadInput(t *testing.T) {
	tree, err := metric.NewTree([]int{-1, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	project := func(g []float64) error { _, _, err := ProjectTree(tree, g); return err }
	if err := project(nil); !errors.Is(err, metric.ErrEmpty) {
		t.Error(err)
	}
	if err := project([]float64{1}); !errors.As(err, new(*metric.SizeError)) {
		t.Error(err)
	}
	for _, g := range [][]float64{{1, math.NaN()}, {math.MaxFloat64, math.MaxFloat64}} {
		if err := project(g); !errors.As(err, new(*metric.ValueError)) {
			t.Errorf("%v: %v", g, err)
		}
	}
	for _, c := range []struct {
		g     []float64
		total float64
	}{{nil, 1}, {[]float64{math.Inf(1)}, 1}, {[]float64{1}, -1}, {[]float64{1}, math.NaN()}} {
		if _, err := ProjectSimplex(c.g, c.total, nil); err == nil {
			t.Errorf("ProjectSimplex(%v, %v): no error", c.g, c.total)
		}
	}
}
