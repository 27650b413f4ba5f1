package main

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/osm"
	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// roadsOf is the extract of nodes on the equator's meters and roads between them.
func roadsOf(at [][2]float64, roads ...[]osm.NodeID) *extract {
	const degree = 111195
	e := &extract{at: map[osm.NodeID]metric.LatLon{}}
	for k, p := range at {
		e.at[osm.NodeID(k)] = metric.LatLon{Lat: p[1] / degree, Lon: p[0] / degree}
	}
	for _, nodes := range roads {
		e.ways = append(e.ways, way{road, 2, nodes})
	}
	return e
}

func TestNewNetwork(t *testing.T) {
	// A cross at node 0 with arms to 1 (by 5), 3 and 11 (by 2), a loop from 3 back to 3,
	// a second way from 0 to 2 by 8, a road apart from 9 to 10, and one listed twice.
	e := roadsOf([][2]float64{{0, 0}, {200, 0}, {0, 300}, {-100, 0}, {-200, 50}, {100, 50}, {-200, -50}, {0, 0}, {50, 150}, {900, 900}, {900, 2900}, {0, 400}},
		[]osm.NodeID{1, 5, 0, 3}, []osm.NodeID{0, 2, 11}, []osm.NodeID{3, 4, 6, 3}, []osm.NodeID{2, 8, 0}, []osm.NodeID{9, 10}, []osm.NodeID{5, 1, 77})
	n := testkit.Must(newNetwork(e))
	arm, by := math.Hypot(100, 50), math.Hypot(50, 150)
	want := map[[2]int][]float64{{0, 1}: {2 * arm}, {1, 2}: {100}, {1, 3}: {2 * by, 300}, {3, 4}: {100}} // in the order of the ways: 1, 0, 3, 2, 11
	if len(n.at) != 5 || len(n.edges) != 5 {
		t.Fatalf("%d crossings, edges %v", len(n.at), n.edges)
	}
	for _, e := range n.edges {
		near := func(l float64) bool { return math.Abs(e.Length-l) < 1e-3*l }
		if !slices.ContainsFunc(want[[2]int{e.I, e.J}], near) {
			t.Errorf("edge %v", e)
		}
	}
}

// Distances between crossings are those along all the stretches of road.
func TestNewNetwork_Distances(t *testing.T) {
	e := testkit.Must(read(t.Context(), opened(town)))
	n := testkit.Must(newNetwork(e))
	all, index := &network{}, map[osm.NodeID]int{}
	for _, w := range e.ways {
		for k, id := range w.nodes {
			if w.kind != road {
				continue
			}
			if _, ok := index[id]; !ok {
				index[id] = len(all.at)
				all.at = append(all.at, e.at[id])
			}
			if i, j := index[id], index[w.nodes[max(0, k-1)]]; i != j {
				all.edges = append(all.edges, metric.Edge{I: i, J: j, Length: earth.Distance(all.at[i], all.at[j])})
			}
		}
	}
	all = all.within(all.component())
	fine := testkit.Must(metric.NewGraphEdges(t.Context(), len(all.at), all.edges))
	coarse := testkit.Must(metric.NewGraphEdges(t.Context(), len(n.at), n.edges))
	if len(n.at) < 400 || len(all.at) < 1.5*400 {
		t.Fatalf("%d crossings among %d nodes", len(n.at), len(all.at))
	}
	at := make([]int, len(n.at))
	for u, p := range n.at {
		at[u] = slices.Index(all.at, p)
	}
	for u := range at {
		for v := range u {
			if d, want := coarse.Distance(u, v), fine.Distance(at[u], at[v]); math.Abs(d-want) > 1e-9*want || d < earth.Distance(n.at[u], n.at[v])*(1-1e-12) {
				t.Fatalf("%d to %d: %v, want %v", u, v, d, want)
			}
		}
	}
	// What is around a crossing is connected, and as near as there is.
	part, far := n.around(17, 100)
	near := testkit.Must(metric.NewGraphEdges(t.Context(), len(part.at), part.edges))
	center, within := slices.Index(part.at, n.at[17]), 0
	for u := range n.at {
		if coarse.Distance(17, u) < far {
			within++
		}
	}
	for u := range part.at {
		if d := coarse.Distance(17, slices.Index(n.at, part.at[u])); math.Abs(near.Distance(center, u)-d) > 1e-9*d || d > far*(1+1e-12) {
			t.Errorf("%v away, %v in all of the network, within %v", near.Distance(center, u), d, far)
		}
	}
	if len(part.at) != 100 || within > 100 || within < 95 {
		t.Errorf("%d crossings, %d are nearer than the farthest", len(part.at), within)
	}
}

// Places settle where they are nearer to what they stand for.
func TestSettle(t *testing.T) {
	var edges []metric.Edge
	for i := range 29 {
		edges = append(edges, metric.Edge{I: i, J: i + 1, Length: 1})
	}
	line := testkit.Must(metric.NewGraphEdges(t.Context(), 30, edges))
	mean := func(places []int) float64 {
		_, dist, err := metric.Assign(t.Context(), line, places)
		testkit.Check(t, err)
		return floats.Sum(dist) / 30
	}
	places := testkit.Must(net(t.Context(), line, 3))
	before := mean(places)
	testkit.Check(t, settle(t.Context(), line, places))
	if least := 2.5; before < 1.2*least || mean(places) > 1.1*least { // of three tens, each with a place in its middle
		t.Errorf("%v away at first, %v from %v", before, mean(places), places)
	}
}
