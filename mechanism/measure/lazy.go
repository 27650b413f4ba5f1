package measure

import (
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/walk"
)

// node is a node of a regular tree.
type node struct{ level, index int }

// unfold releases the counts of a lazy domain. From the root down, a node gets
// the noise of its children's counts, they are projected to its mass, and those
// with more mass than 2 scales of the noise below them, or with two categories of
// a column, are unfolded in turn; the others end as a cell with their mass. (Of
// mass m below the noise, about m over its scale nodes keep some, on every level.) This is a function of the noisy counts
// of the whole tree, of which only those are drawn that it reads.
func (s *Synthesizer[P]) unfold(r *rand.Rand, c snapshot) (*Release[P], error) {
	p := s.p
	keys := c.cells
	cum := make([]int64, len(keys)+1) // records in the first cells
	for i, n := range c.n {
		cum[i+1] = cum[i] + n
	}
	below := make([]int, len(p.arities)+1) // cells below a node of each level
	below[len(p.arities)] = 1
	for l := len(p.arities) - 1; l >= 0; l-- {
		below[l] = below[l+1] * p.arities[l]
	}
	// The cells of a live node that are not empty are keys[lo:hi].
	type live struct {
		node
		lo, hi int
		mass   float64
	}
	root := []int64{c.total}
	if b := p.scales.Total; b > 0 {
		noise, err := walk.NewNoise(walk.DiscreteLaplace, b)
		if err != nil {
			return nil, err
		}
		noise.Add(r, root)
	}
	out := &Release[P]{s: s, Total: float64(root[0]), nodes: []node{}}
	queue := []live{{node{}, 0, len(keys), max(1, out.Total)}}
	made := 1
	counts := make([]int64, slices.Max(append([]int{1}, p.arities...)))
	y, buf := make([]float64, len(counts)), make([]float64, len(counts))
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		if v.level < p.apart && made >= p.opt.MaxCells {
			return nil, fault.Value("measure: Synthesizer.Release", "MaxCells", float64(p.opt.MaxCells), "more cells, to tell categories apart")
		}
		if v.level == len(p.arities) || v.level >= p.apart &&
			(made >= p.opt.MaxCells || v.level > 0 && v.mass <= 2*p.scales.Level[v.level]) {
			out.nodes = append(out.nodes, v.node)
			out.Weights = append(out.Weights, v.mass)
			continue
		}
		k := p.arities[v.level]
		ends := make([]int, k+1)
		ends[0] = v.lo
		for i := range k {
			last := (v.index*k + i + 1) * below[v.level+1] // the first key past child i
			ends[i+1] = ends[i] + sort.SearchInts(keys[ends[i]:v.hi], last)
			counts[i] = cum[ends[i+1]] - cum[ends[i]]
		}
		p.noise[v.level].Add(r, counts[:k])
		for i, n := range counts[:k] {
			y[i] = float64(n)
		}
		mass, err := projectSimplex(y[:k], v.mass, buf)
		if err != nil {
			return nil, err
		}
		for i, m := range mass {
			if m > 0 {
				made++
				queue = append(queue, live{node{v.level + 1, v.index*k + i}, ends[i], ends[i+1], m})
			}
		}
	}
	exactMass(out.Weights)
	return out, nil
}
