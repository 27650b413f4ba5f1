package metric_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"

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

// The edges reported are in order, as long as the distance of their ends, and
// determine the metric.
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

// The order of the edges and of their ends does not change a bit.
func TestGraph_OrderDoesNotMatter(t *testing.T) {
	r := random.Seeded(3)
	edges := randomEdges(r, 60, 150, r.Float64)
	g := testkit.Must(metric.NewGraphEdges(t.Context(), 60, edges))
	r.Shuffle(len(edges), func(a, b int) { edges[a], edges[b] = edges[b], edges[a] })
	for k := range edges {
		edges[k].I, edges[k].J = edges[k].J, edges[k].I
	}
	h := testkit.Must(metric.NewGraphEdges(t.Context(), 60, edges))
	metric.SameDistances(t, h, g)
	if !slices.Equal(g.Edges(), h.Edges()) {
		t.Error("edges differ")
	}
}

func TestNewGraph_AgreesWithNewGraphEdges(t *testing.T) {
	r := random.Seeded(4)
	const n = 30
	edges := randomEdges(r, n, 0, r.Float64) // a tree, so that no edge is set twice
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i*i*i - 100)
	}
	sg := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	unit := simple.NewUndirectedGraph()
	ones := slices.Clone(edges)
	for k, e := range edges {
		u, v := simple.Node(ids[e.I]), simple.Node(ids[e.J])
		sg.SetWeightedEdge(simple.WeightedEdge{F: u, T: v, W: e.Length})
		unit.SetEdge(simple.Edge{F: u, T: v})
		ones[k].Length = 1
	}
	for name, c := range map[string]struct {
		g     graph.Undirected
		edges []metric.Edge
	}{"weighted": {sg, edges}, "unit": {unit, ones}} {
		got := testkit.Must(metric.NewGraph(t.Context(), c.g))
		want := testkit.Must(metric.NewGraphEdges(t.Context(), n, c.edges))
		if !slices.Equal(got.IDs(), ids) || !slices.Equal(got.Edges(), want.Edges()) || got.Len() != n {
			t.Errorf("%s: IDs or edges differ", name)
		}
		metric.SameDistances(t, got, want)
	}
	if g, err := metric.NewGraphEdges(t.Context(), 2, []metric.Edge{{I: 1, J: 0, Length: 3}}); err != nil || !slices.Equal(g.IDs(), []int64{0, 1}) {
		t.Errorf("NewGraphEdges: %v, %v", g, err)
	}
}

func TestGraph_LoopsAreIgnored(t *testing.T) {
	g := multi.NewWeightedUndirectedGraph()
	a, b := multi.Node(1), multi.Node(2)
	g.SetWeightedLine(multi.WeightedLine{F: a, T: a, W: -1, UID: 1})
	g.SetWeightedLine(multi.WeightedLine{F: a, T: b, W: 2, UID: 2})
	edges := []metric.Edge{{I: 0, J: 0, Length: math.NaN()}, {I: 0, J: 1, Length: 2}}
	for _, got := range []*metric.Graph{testkit.Must(metric.NewGraph(t.Context(), g)), testkit.Must(metric.NewGraphEdges(t.Context(), 2, edges))} {
		if got.Distance(0, 1) != 2 || len(got.Edges()) != 1 {
			t.Errorf("%v with edges %v", got, got.Edges())
		}
	}
}

// strayGraph names a neighbor that is none of its nodes.
type strayGraph struct{ *simple.UndirectedGraph }

func (strayGraph) From(int64) graph.Nodes {
	return iterator.NewOrderedNodes([]graph.Node{simple.Node(99)})
}

// Two parts are found before memory is taken for the n*n distances.
func TestNewGraph_FindsPartsInLinearMemory(t *testing.T) {
	const n = 10_000 // 400 MB of distances
	path := make([]metric.Edge, n-2)
	for i := range path {
		path[i] = metric.Edge{I: i, J: i + 1, Length: 1}
	}
	for _, c := range []struct {
		edges []metric.Edge
		want  string
	}{
		{nil, "metric: NewGraphEdges: no path joins nodes 0 and 1: graph is not connected"},
		{path, "metric: NewGraphEdges: no path joins nodes 0 and 9999: graph is not connected"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := metric.NewGraphEdges(t.Context(), n, c.edges)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, metric.ErrDisconnected) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if b := after.TotalAlloc - before.TotalAlloc; b > 16<<20 {
			t.Errorf("%d edges: %d MB allocated", len(c.edges), b>>20)
		}
	}
}
