package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/paulmach/osm"

	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/metric"
)

// network is a connected network of roads between crossings, which are the points
// where other than two stretches of road meet: the ends of roads too.
type network struct {
	at    []metric.LatLon
	edges []metric.Edge // in meters along the road
}

// link is a stretch of road to a neighbor.
type link struct {
	to     int
	length float64
}

// newNetwork is the largest connected part of the roads of an extract, by the number
// of crossings.
func newNetwork(e *extract) (*network, error) {
	index := map[osm.NodeID]int{}
	var at []metric.LatLon
	var links [][]link
	node := func(id osm.NodeID) int {
		k, ok := index[id]
		if !ok {
			k = len(at)
			index[id] = k
			at, links = append(at, e.at[id]), append(links, nil)
		}
		return k
	}
	join := func(u, v int) {
		if u == v || slices.ContainsFunc(links[u], func(l link) bool { return l.to == v }) {
			return
		}
		d := earth.Distance(at[u], at[v])
		links[u], links[v] = append(links[u], link{v, d}), append(links[v], link{u, d})
	}
	for _, w := range e.ways {
		if w.kind != road {
			continue
		}
		for _, line := range e.lines(w) {
			for k := 1; k < len(line); k++ {
				join(node(line[k-1]), node(line[k]))
			}
		}
	}
	if len(at) == 0 {
		return nil, errors.New("no roads: no way has a tag highway that counts, such as residential, and its nodes")
	}
	n := &network{at, contract(links)}
	part := n.component()
	if len(part) == 0 {
		return nil, errors.New("no roads that cross: they are circles")
	}
	return n.within(part), nil
}

// contract joins the crossings by edges that are as long as the roads between them.
func contract(links [][]link) (edges []metric.Edge) {
	for u := range links {
		if len(links[u]) == 2 {
			continue
		}
		for _, l := range links[u] {
			from, length := u, l.length
			for len(links[l.to]) == 2 {
				next := links[l.to][0]
				if next.to == from {
					next = links[l.to][1]
				}
				from, l = l.to, next
				length += l.length
			}
			if u < l.to { // seen from both its ends; what leads back to u joins nothing
				edges = append(edges, metric.Edge{I: u, J: l.to, Length: length})
			}
		}
	}
	return edges
}

// neighbors are the links of the edges.
func (n *network) neighbors() [][]link {
	links := make([][]link, len(n.at))
	for _, e := range n.edges {
		links[e.I] = append(links[e.I], link{e.J, e.Length})
		links[e.J] = append(links[e.J], link{e.I, e.Length})
	}
	return links
}

// component is the largest set of crossings that roads join, ascending.
func (n *network) component() (largest []int) {
	links, seen := n.neighbors(), make([]bool, len(n.at))
	for u := range links {
		if seen[u] || len(links[u]) == 0 {
			continue
		}
		part := []int{u}
		seen[u] = true
		for k := 0; k < len(part); k++ {
			for _, l := range links[part[k]] {
				if !seen[l.to] {
					seen[l.to] = true
					part = append(part, l.to)
				}
			}
		}
		if len(part) > len(largest) {
			largest = part
		}
	}
	slices.Sort(largest)
	return largest
}

// within is the network of some crossings, with the edges between them.
func (n *network) within(part []int) *network {
	at := make(map[int]int, len(part))
	sub := &network{}
	for k, u := range part {
		at[u] = k
		sub.at = append(sub.at, n.at[u])
	}
	for _, e := range n.edges {
		i, ok := at[e.I]
		j, both := at[e.J]
		if ok && both {
			sub.edges = append(sub.edges, metric.Edge{I: i, J: j, Length: e.Length})
		}
	}
	return sub
}

// nearest is the crossing nearest to a place, as the crow flies.
func (n *network) nearest(p metric.LatLon) int {
	best := 0
	for u, q := range n.at {
		if earth.Distance(p, q) < earth.Distance(p, n.at[best]) {
			best = u
		}
	}
	return best
}

// middle is the mean of the coordinates.
func (n *network) middle() (p metric.LatLon) {
	for _, q := range n.at {
		p.Lat += q.Lat / float64(len(n.at))
		p.Lon += q.Lon / float64(len(n.at))
	}
	return p
}

// around is the network of the crossings that are nearest to one of them by road, at
// most so many, and how far they reach. It is connected, for the way from the center
// to each leads through nearer ones.
func (n *network) around(center, most int) (*network, float64) {
	links, dist := n.neighbors(), make([]float64, len(n.at))
	h := heap.New(dist)
	h.Push(int32(center))
	var part []int
	for h.Len() > 0 && len(part) < most {
		u := int(h.Pop())
		part = append(part, u)
		for _, l := range links[u] {
			if v := int32(l.to); !h.Left(v) {
				if d := dist[u] + l.length; !h.Has(v) || cmp.Less(d, dist[v]) {
					dist[v] = d
					h.Push(v)
				}
			}
		}
	}
	far := dist[part[len(part)-1]]
	slices.Sort(part)
	return n.within(part), far
}
