package simplex

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/wasserstein/internal/assignment"
)

// auction returns a basis that is nearly optimal, by an auction of the masses as they were
// before Orden's perturbation, or nothing where that would take too long.
func (s *scan) auction() ([]edge, error) {
	masses, near := make([]int64, len(s.units)), make([]assignment.Flow, len(s.arcs))
	for v, u := range s.units {
		masses[v] = u / int64(s.n+1)
	}
	for k, a := range s.arcs {
		near[k] = assignment.Flow{I: a.i, J: a.j - int32(s.n), Cost: a.c}
	}
	v := slices.Clone(s.Start[s.n:])
	plan, err := assignment.Transport(s.ctx, masses[:s.n], masses[s.n:], s.Costs, near, v)
	if len(plan) == 0 || err != nil {
		return nil, err
	}
	flows := make([]flow, len(plan))
	for k, f := range plan {
		flows[k] = flow{edge{f.I, int32(s.n) + f.J, f.Cost}, f.Mass}
	}
	edges := acyclic(s.n+s.m, flows)
	if len(edges) == s.n+s.m-1 {
		return edges, nil
	}
	copy(s.Start[s.n:], v)
	if err := s.list(); err != nil {
		return nil, err
	}
	return s.join(edges), nil
}

type flow struct {
	edge
	mass int64
}

// acyclic returns edges without a cycle that move the masses that the flows move, at no
// more cost. Mass goes round a cycle in the direction that costs less until an edge has none.
func acyclic(nodes int, flows []flow) []edge {
	up := slices.Repeat([]int32{-1}, nodes) // the flow to the parent
	seen := make([]int32, nodes)            // the last round in which a node was on a path
	parent := func(v int32) int32 { return flows[up[v]].i + flows[up[v]].j - v }
	round := int32(0)
	for k := range flows {
		for f := &flows[k]; f.mass > 0; {
			round++
			v := f.i
			for seen[v] = round; up[v] >= 0; seen[v] = round {
				v = parent(v)
			}
			top := f.j
			for seen[top] != round && up[top] >= 0 {
				top = parent(top)
			}
			if seen[top] != round { // two trees: the first is hung up at i, below j
				for v, edge := f.i, int32(k); edge >= 0; {
					edge, up[v] = up[v], edge
					if edge >= 0 {
						v = flows[edge].i + flows[edge].j - v
					}
				}
				break
			}
			// More of f takes mass from the flows above sources on the side of i and above
			// sinks on the side of j, and gives to the others.
			var less, more []int32 // nodes, by their flows to the parent
			cost := f.cost
			for _, end := range [2]int32{f.i, f.j} {
				for v := end; v != top; v = parent(v) {
					if g := flows[up[v]]; (g.i == v) == (end == f.i) {
						less, cost = append(less, v), cost-g.cost
					} else {
						more, cost = append(more, v), cost+g.cost
					}
				}
			}
			mass, sign := int64(math.MaxInt64), int64(1)
			if cost > 0 {
				less, more, mass, sign = more, less, f.mass, -1
			}
			for _, v := range less {
				mass = min(mass, flows[up[v]].mass)
			}
			f.mass += sign * mass
			for _, v := range more {
				flows[up[v]].mass += mass
			}
			for _, v := range less {
				if flows[up[v]].mass -= mass; flows[up[v]].mass == 0 {
					up[v] = -1
				}
			}
		}
	}
	var edges []edge
	for _, f := range flows {
		if f.mass > 0 {
			edges = append(edges, f.edge)
		}
	}
	return edges
}

// join adds edges of small reduced cost to those of a forest that can move the masses before
// the perturbation, to a spanning tree that can move the units. It grows the tree of the last
// sink: another one hangs from a source of its own at a sink of that (Prim). So what the
// perturbation adds to the sources has a way to the last sink along such edges, and those of the
// forest move n+1 units at least, of which it may take n.
func (s *scan) join(edges []edge) []edge {
	nodes := s.n + s.m
	tree, members := make([]int32, nodes), make([][]int32, nodes) // of a node, and of a tree
	for v := range tree {
		tree[v], members[v] = int32(v), []int32{int32(v)}
	}
	for _, e := range edges {
		a, b := tree[e.i], tree[e.j]
		if len(members[a]) < len(members[b]) {
			a, b = b, a
		}
		for _, v := range members[b] {
			tree[v] = a
		}
		members[a] = append(members[a], members[b]...)
	}
	// The least reduced cost of an arc from a tree to the one that grows, and that arc.
	least, best := slices.Repeat([]float64{math.Inf(1)}, nodes), make([]arc, nodes)
	h, in := heap.New(least), make([]bool, nodes)
	u := slices.Repeat([]float64{math.Inf(1)}, s.n)
	by := make([][]arc, s.m)
	for _, a := range s.arcs {
		j := int(a.j) - s.n
		by[j] = append(by[j], a)
		u[a.i] = min(u[a.i], a.c-s.Start[a.j])
	}
	var sinks []int32 // of the tree that grows
	grow := func(t int32) {
		in[t] = true
		for _, v := range members[t] {
			if int(v) < s.n {
				continue
			}
			sinks = append(sinks, v)
			for _, a := range by[int(v)-s.n] {
				if t, r := tree[a.i], a.c-u[a.i]-s.Start[a.j]; !in[t] && r < least[t] {
					least[t], best[t] = r, a
					h.Push(t)
				}
			}
		}
	}
	grow(tree[nodes-1])
	for i := int32(0); len(edges) < nodes-1; {
		var a arc
		if h.Len() > 0 {
			a = best[h.Pop()]
		} else if a.i = i; !in[tree[i]] { // no list has an arc
			find, _ := s.rest(sinks)
			a.j, a.c, _ = find(i)
		} else {
			i++
			continue
		}
		edges = append(edges, edge{a.i, a.j, a.c})
		grow(tree[a.i])
	}
	return edges
}
