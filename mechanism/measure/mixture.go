package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// mixture is what a Release of several trees is made of.
type mixture struct {
	trees     []*adaptive.Release
	scale     []float64 // of their masses
	deviation []float64 // of the noise of nodes, about
	leaves    []int     // nodes of the mixture, in the order of cells
}

// leaf is one of a tree that is mixed.
type leaf struct {
	lo, hi         int // cells
	mass, variance float64
}

// portion is what there is of all trees in a region: those with one leaf there, which is spread
// over its cells, and the leaves of each of the others.
type portion struct {
	mass, variance float64
	trees          [][]leaf
}

func (m *portion) add(leaves []leaf) {
	switch len(leaves) {
	case 0:
	case 1:
		m.mass, m.variance = m.mass+leaves[0].mass, m.variance+leaves[0].variance
	default:
		m.trees = append(m.trees, leaves)
	}
}

// mix returns the mixture of releases of one domain, whose masses become weights: on the tree
// whose leaves are the regions that no release divides.
func mix[P any](of []*Release[P], weights []float64) *Release[P] {
	s := of[0].s
	t := s.space.Regions
	m := &mixture{scale: make([]float64, len(of))}
	total, root := 0.0, portion{}
	for i, r := range of {
		m.trees = append(m.trees, r.tree)
		m.scale[i] = weights[i] / r.tree.Nodes[0].Mass
		total += weights[i]
		var leaves []leaf
		for _, j := range leavesOf(r.tree) {
			n := r.tree.Nodes[j]
			lo, hi := t.Cells(n.At)
			d := m.scale[i] * r.tree.Deviation(j)
			leaves = append(leaves, leaf{lo, hi, m.scale[i] * n.Mass, d * d})
		}
		root.add(leaves)
	}
	tree := &adaptive.Release{Nodes: make([]adaptive.Node, 1)}
	all := []portion{root}
	var below []region.Node
	for i := 0; i < len(all); i++ {
		v := all[i]
		tree.Nodes[i].Mass = v.mass
		if len(v.trees) == 0 {
			continue
		}
		below = t.Below(below[:0], tree.Nodes[i].At, 1)
		tree.Nodes[i].First, tree.Nodes[i].Parts = len(all), len(below)
		cells := 0
		for _, w := range below {
			lo, hi := t.Cells(w)
			cells += hi - lo
		}
		for _, w := range below {
			lo, hi := t.Cells(w)
			share := float64(hi-lo) / float64(cells)
			part := portion{mass: share * v.mass, variance: share * share * v.variance}
			for j, leaves := range v.trees {
				k := sort.Search(len(leaves), func(k int) bool { return leaves[k].lo >= hi })
				part.add(leaves[:k])
				v.trees[j] = leaves[k:]
			}
			tree.Nodes, all = append(tree.Nodes, adaptive.Node{At: w}), append(all, part)
		}
	}
	m.deviation = make([]float64, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		n := &tree.Nodes[i]
		for j := n.First; j < n.First+n.Parts; j++ {
			if j == n.First {
				n.Mass, all[i].variance = 0, 0
			}
			n.Mass += tree.Nodes[j].Mass
			all[i].variance += all[j].variance
		}
		m.deviation[i] = math.Sqrt(all[i].variance)
	}
	tree.Nodes[0].Count = int64(math.Round(total))
	m.leaves = leavesOf(tree)
	r := newRelease(s, tree)
	r.mixture = m
	return r
}

// again draws what the truth might be, as [adaptive.Release.Again] does: every leaf of every tree
// has its mass in one leaf of the mixture.
func (r *Release[P]) again(rng *rand.Rand) *adaptive.Release {
	m := r.mixture
	if m == nil {
		return r.tree.Again(rng)
	}
	out := &adaptive.Release{Nodes: slices.Clone(r.tree.Nodes)}
	for i := range out.Nodes {
		out.Nodes[i].Mass = 0
	}
	cells := r.s.space.Regions.Cells
	for i, tree := range m.trees {
		truth := tree.Again(rng)
		for _, j := range leavesOf(truth) {
			lo, hi := cells(truth.Nodes[j].At)
			c := lo + rng.IntN(hi-lo)
			k := sort.Search(len(m.leaves)-1, func(k int) bool { _, end := cells(out.Nodes[m.leaves[k]].At); return end > c })
			out.Nodes[m.leaves[k]].Mass += float64(m.scale[i] * truth.Nodes[j].Mass)
		}
	}
	for i := len(out.Nodes) - 1; i >= 0; i-- {
		n := &out.Nodes[i]
		for j := n.First; j < n.First+n.Parts; j++ {
			n.Mass += out.Nodes[j].Mass
		}
	}
	return out
}

// noise is the standard deviation of that of a node.
func (r *Release[P]) noise(i int) float64 {
	if r.mixture != nil {
		return r.mixture.deviation[i]
	}
	return r.tree.Deviation(i)
}
