package metric_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// randomEdges returns a random tree on n nodes and extra more edges, some of
// them loops, doubles or longer than a detour.
func randomEdges(rng *rand.Rand, n, extra int, length func() float64) []metric.Edge {
	var edges []metric.Edge
	for i := 1; i < n; i++ {
		edges = append(edges, metric.Edge{I: i, J: rng.IntN(i), Length: length()})
	}
	for range extra {
		edges = append(edges, metric.Edge{I: rng.IntN(n), J: rng.IntN(n), Length: length()})
	}
	return edges
}

// unconnected is the distances of n nodes without edges.
func unconnected(n int) [][]float64 {
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = math.Inf(1)
			}
		}
	}
	return d
}

func floydWarshall(n int, edges []metric.Edge) [][]float64 {
	d := unconnected(n)
	for _, e := range edges {
		d[e.I][e.J] = min(d[e.I][e.J], e.Length)
		d[e.J][e.I] = d[e.I][e.J]
	}
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

func TestGraph_AgreesWithFloydWarshall(t *testing.T) {
	r := random.Seeded(1)
	for _, c := range []struct {
		name   string
		length func() float64
		tol    float64 // relative; sums of integers are exact, of 40 numbers within 40 ulps
	}{
		{"integer", func() float64 { return float64(r.IntN(6)) }, 0},
		{"real", r.ExpFloat64, 40 * 0x1p-52},
		{"huge", func() float64 { return 1e300 }, 40 * 0x1p-52},
		{"zero", func() float64 { return 0 }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 10, 40} {
				edges := randomEdges(r, n, 2*n, c.length)
				g := testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
				want := floydWarshall(n, edges)
				for i := range n {
					for j := range n {
						if d := g.Distance(i, j); math.Abs(d-want[i][j]) > c.tol*want[i][j] {
							t.Fatalf("n = %d: d(%d, %d) = %v, want %v", n, i, j, d, want[i][j])
						}
					}
				}
				if err := metrictest.TestFinite(t.Context(), g, strictly); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The edges reported are in order, as long as the distance of their ends, and determine the metric.
func TestGraph_EdgesDetermineTheMetric(t *testing.T) {
	r := random.Seeded(2)
	for range 20 {
		n := 1 + r.IntN(30)
		edges := randomEdges(r, n, 3*n, func() float64 { return float64(r.IntN(8)) })
		g := testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
		kept := g.Edges()
		for k, e := range kept {
			if e.I >= e.J || e.Length != g.Distance(e.I, e.J) {
				t.Errorf("edge %v has ends at distance %v", e, g.Distance(e.I, e.J))
			}
			if k > 0 && !(kept[k-1].I < e.I || kept[k-1].I == e.I && kept[k-1].J < e.J) {
				t.Errorf("edges %v, %v out of order", kept[k-1], e)
			}
		}
		for _, e := range edges {
			is := func(k metric.Edge) bool { return k.I == min(e.I, e.J) && k.J == max(e.I, e.J) }
			if tight := e.I != e.J && e.Length == g.Distance(e.I, e.J); tight && !slices.ContainsFunc(kept, is) {
				t.Errorf("edge %v is missing", e)
			}
		}
		metric.SameDistances(t, testkit.Must(metric.NewGraphEdges(t.Context(), n, kept)), g)
		clear(kept)
		if len(kept) > 0 && g.Edges()[0] == kept[0] {
			t.Error("Edges does not copy")
		}
	}
}

// The direct way is shorter than the way round, whose sum is rounded to less: its edge
// is a shortest path.
func TestGraph_EdgesAreShortestExactly(t *testing.T) {
	const tiny = 0x1p-53 * .9
	edges := []metric.Edge{{I: 0, J: 1, Length: 1}, {I: 0, J: 5, Length: 1 + 0x1p-52}, {I: 1, J: 2, Length: tiny},
		{I: 2, J: 3, Length: tiny}, {I: 3, J: 4, Length: tiny}, {I: 4, J: 5, Length: tiny}}
	g := testkit.Must(metric.NewGraphEdges(t.Context(), 6, edges))
	if g.Distance(0, 5) != 1 || !slices.Equal(g.Edges(), edges) {
		t.Errorf("distance %v, edges %v", g.Distance(0, 5), g.Edges())
	}
}

// Two parts are found before memory is taken for the n*n distances.
func TestGraph_FindsPartsInLinearMemory(t *testing.T) {
	const n = 10_000 // 400 MB of distances
	path := make([]metric.Edge, n-2)
	for i := range path {
		path[i] = metric.Edge{I: i, J: i + 1, Length: 1}
	}
	for _, c := range []struct {
		edges []metric.Edge
		want  string
	}{
		{nil, "metric: NewGraphEdges: no path joins nodes 0 and 1"},
		{path, "metric: NewGraphEdges: no path joins nodes 0 and 9999"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := metric.NewGraphEdges(t.Context(), n, c.edges)
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if b := after.TotalAlloc - before.TotalAlloc; b > 16<<20 {
			t.Errorf("%d edges: %d MB allocated", len(c.edges), b>>20)
		}
	}
}

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

// Of distances that break the triangle inequality the 1-spanner has all shortest paths.
func TestSpanner_RepairsTriangles(t *testing.T) {
	r := random.Seeded(4)
	for range 20 {
		n := 2 + r.IntN(20)
		rows := make([][]float64, n)
		var edges []metric.Edge
		for i := range rows {
			rows[i] = make([]float64, n)
			for j := range i {
				d := float64(r.IntN(30)) // so that sums are exact
				rows[i][j], rows[j][i] = d, d
				edges = append(edges, metric.Edge{I: i, J: j, Length: d})
			}
		}
		want := testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
		got := testkit.Must(metric.Spanner(t.Context(), testkit.Must(metric.NewMatrix(rows)), 1))
		for i := range n {
			for j := range n {
				if got.Distance(i, j) != want.Distance(i, j) {
					t.Fatalf("distance (%d, %d) of %v: %v, want %v", i, j, rows, got.Distance(i, j), want.Distance(i, j))
				}
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
