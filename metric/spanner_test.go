package metric_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// naiveSpanner is the greedy algorithm with all distances kept up to date.
func naiveSpanner(f metric.Finite, t float64) []metric.Edge {
	n := f.Len()
	var pairs []metric.Edge
	for i := range n {
		for j := i + 1; j < n; j++ {
			pairs = append(pairs, metric.Edge{I: i, J: j, Length: f.Distance(i, j)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b metric.Edge) int { return cmp.Compare(a.Length, b.Length) })
	d := unconnected(n)
	var edges []metric.Edge
	for _, e := range pairs {
		// Sums in another order differ by rounding.
		if d[e.I][e.J] <= t*e.Length*(1+1e-13) {
			continue
		}
		edges = append(edges, e)
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][e.I]+e.Length+d[e.J][j], d[i][e.J]+e.Length+d[e.I][j])
			}
		}
	}
	slices.SortFunc(edges, func(a, b metric.Edge) int { return (a.I-b.I)*n + a.J - b.J })
	return edges
}

// stretched checks f <= g <= t*f.
func stretched(t *testing.T, f metric.Finite, g *metric.Graph, by float64) {
	t.Helper()
	for i := range f.Len() {
		for j := range f.Len() {
			d, got := f.Distance(i, j), g.Distance(i, j)
			if got > by*d || got < d*(1-metric.DefaultTolerance) {
				t.Fatalf("distance (%d, %d): %v in the space, %v in the %v-spanner", i, j, d, got, by)
			}
		}
	}
}

func TestSpanner_AgreesWithNaiveGreedy(t *testing.T) {
	r := random.Seeded(1)
	clusters := testkit.Must(metric.NewClustered(5, 6, .1))
	points := make([][]float64, 60) // with coincident points
	for i := range points {
		points[i] = []float64{float64(r.IntN(6)), float64(r.IntN(6)), r.Float64() * float64(i%2)}
	}
	ties := testkit.Must(metric.NewPoints(points, metric.Manhattan{}))
	graph := testkit.Must(metric.NewGraphEdges(t.Context(), 50, randomEdges(r, 50, 60, r.ExpFloat64)))
	for name, f := range map[string]metric.Finite{"square": square(t, 70), "clusters": clusters, "ties": ties, "graph": graph, "one": square(t, 1), "two": square(t, 2)} {
		for _, by := range []float64{1, 1.05, 1.5, 2, 3, 1e6} {
			g := testkit.Must(metric.Spanner(t.Context(), f, by))
			stretched(t, f, g, by)
			if want := naiveSpanner(f, by); by > 1 && !slices.Equal(g.Edges(), want) {
				t.Errorf("%s, t=%v: %d edges, naive %d", name, by, len(g.Edges()), len(want))
			}
		}
	}
}

// The edges of a graph do for all pairs but where rounding says otherwise: paths of tenths
// tie, and their sums differ.
func TestSpanner_RoundedGraph(t *testing.T) {
	r := random.Seeded(3)
	for range 40 {
		f := testkit.Must(metric.NewGraphEdges(t.Context(), 60, randomEdges(r, 60, 150, func() float64 { return float64(r.IntN(8)) / 10 })))
		for _, by := range []float64{1, 1.5, 2} {
			g := testkit.Must(metric.Spanner(t.Context(), f, by))
			stretched(t, f, g, by)
			if few, all := len(g.Edges()), len(f.Edges()); few > all {
				t.Errorf("t=%v: %d edges, the graph has %d", by, few, all)
			}
		}
	}
}

// A 1-spanner of a graph metric with lengths that add without rounding has the
// edges of the graph, and a large stretch leaves a spanning tree.
func TestSpanner_Extremes(t *testing.T) {
	r := random.Seeded(2)
	f := testkit.Must(metric.NewGraphEdges(t.Context(), 80, randomEdges(r, 80, 100, func() float64 { return float64(1 + r.IntN(9)) })))
	one := testkit.Must(metric.Spanner(t.Context(), f, 1))
	metric.SameDistances(t, one, f)
	tree := testkit.Must(metric.Spanner(t.Context(), f, 1e300))
	if few, some, all := len(tree.Edges()), len(one.Edges()), len(f.Edges()); few != 79 || some > all {
		t.Errorf("%d edges in a spanning tree of 80, %d in the 1-spanner of a graph of %d", few, some, all)
	}
}
