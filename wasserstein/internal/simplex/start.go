package simplex

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

const (
	// listWidth is the length of the short lists: shorter ones miss arcs,
	// longer ones cost more to scan.
	listWidth = 20
	// goodCover is the share of the mass that the start must move along short
	// lists for them to count as a good choice.
	goodCover = 0.5
	// smallSide is the size below which a sample is not worth solving.
	smallSide = 64
	// auctionSize is the number of nodes from which a pivot takes so long that an auction pays.
	auctionSize = 2500
)

// start returns the edges of the first basis and makes the short lists. Costs of their own are
// lists enough where measures are near each other; where they are far apart, so that everybody's
// nearest sinks are the same, the lists rest on the potentials of a problem of half the size. In
// space that is cheap, neighbors are near each other, and the optimal basis of the half is a good
// one of the whole. In many dimensions an auction finds a basis next to the optimal one.
func (s *solver) start() (edges []edge, err error) {
	sure := s.Sure || min(s.n, s.m) < smallSide
	scan, dense := s.costs.(*scan)
	dense = dense && !sure && s.n+s.m >= auctionSize
	if s.Start == nil {
		s.Start = make([]float64, s.n+s.m)
		switch {
		case s.Space != nil && !sure:
			half, err := s.sample()
			if err != nil {
				return nil, err
			}
			return s.refine(half), s.list()
		case dense:
			if err := rows.Potentials(s.ctx, s.Costs, s.n, s.m, s.Workers, s.Start[s.n:], func(int, []float64) float64 { return 0 }); err != nil {
				return nil, err
			}
		}
	}
	if err := s.list(); err != nil {
		return nil, err
	}
	if dense {
		if edges, err = scan.auction(); len(edges) > 0 || err != nil {
			return edges, err
		}
	}
	edges, covered, err := s.greedy()
	if err == nil && !sure && covered < goodCover {
		if _, err = s.sample(); err == nil {
			if err = s.list(); err == nil {
				edges, _, err = s.greedy()
			}
		}
	}
	return edges, err
}

// list makes the short lists, of the arcs of least c - v at every source, v being
// the start potentials of the sinks.
func (s *solver) list() (err error) {
	none := func(int) float64 { return math.Inf(1) }
	s.arcs, err = s.costs.least(s.Start[s.n:], listWidth, none)
	return err
}

// refine returns a basis that moves as half does between the pairs that its nodes stand for. Its
// flows are dealt out in the order of nodes: the first of a pair gives or takes until it has no
// more, then the second. Of the N-1 flows of half each of the pairs splits one in two, at different
// places (general position), so that there are as many as a spanning tree of the 2N nodes has; and
// it is one, because both of a pair share the node at the other end of the split.
func (s *solver) refine(half *solver) []edge {
	type flow struct {
		i, j int32
		flow int64
	}
	flows := make([]flow, 0, len(half.tree.node)-1)
	id := half.tree.number()
	for v, p := range half.tree.node {
		if p.parent >= 0 {
			i, j := id[v], id[p.parent]
			flows = append(flows, flow{min(i, j), max(i, j) - int32(half.n), p.flow})
		}
	}
	slices.SortFunc(flows, func(a, b flow) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	left := slices.Clone(s.units)
	edges := make([]edge, 0, s.n+s.m-1)
	for _, f := range flows {
		for f.flow > 0 {
			i, j := 2*f.i, int32(s.n)+2*f.j
			if left[i] == 0 {
				i++
			}
			if left[j] == 0 {
				j++
			}
			part := min(f.flow, left[i], left[j])
			left[i] -= part
			left[j] -= part
			f.flow -= part
			edges = append(edges, edge{i, j, s.Space.Distance(i, j)})
		}
	}
	return edges
}

// greedy returns the basis that takes arcs by reduced cost as they come: first those of the short
// lists, then for each source that has mass left the best sinks that are left. Every arc but the
// last empties just one of its nodes (general position), so the arcs are a spanning tree. covered
// is the share of the mass that the short lists moved.
func (s *solver) greedy() (edges []edge, covered float64, err error) {
	type keyed struct {
		key float64
		arc int32
	}
	order := make([]keyed, len(s.arcs))
	for k, a := range s.arcs {
		order[k] = keyed{a.c - s.Start[a.i] - s.Start[a.j], int32(k)}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.arc, b.arc)) })
	left := slices.Clone(s.units)
	edges = make([]edge, 0, s.n+s.m-1)
	moved, all := 0.0, 0.0
	use := func(i, j int32, c float64) {
		f := min(left[i], left[j])
		left[i] -= f
		left[j] -= f
		moved += float64(f)
		edges = append(edges, edge{i, j, c})
	}
	for _, o := range order {
		if a := &s.arcs[o.arc]; left[a.i] > 0 && left[a.j] > 0 {
			use(a.i, a.j, a.c)
		}
	}
	covered = moved
	var rest []int32
	for j := s.n; j < s.n+s.m; j++ {
		if left[j] > 0 {
			rest = append(rest, int32(j))
		}
	}
	best, remove := s.costs.rest(rest)
	for i := range s.n {
		all += float64(s.units[i])
		if left[i] > 0 {
			if err := s.ctx.Err(); err != nil {
				return nil, 0, err
			}
		}
		for left[i] > 0 {
			j, c, err := best(int32(i))
			if err != nil {
				return nil, 0, err
			}
			use(int32(i), j, c)
			if left[j] == 0 {
				remove(j)
			}
		}
	}
	return edges, covered / all, nil
}

// sample sets the start potentials to those of a problem of half the size: of every two neighboring
// sources the heavier stands for both, and so for sinks. They are extended to all sources, as u_i =
// min over the sampled j of c_ij-v_j, and then to all sinks. It returns that problem, solved.
func (s *solver) sample() (half *solver, err error) {
	n, m := (s.n+1)/2, (s.m+1)/2
	half = &solver{Problem: Problem{Workers: s.Workers, Lazy: s.Lazy}, ctx: s.ctx, n: n, m: m}
	rep := func(lo, count, of int) (at []int) {
		for k := range count {
			v := lo + 2*k
			sum := s.units[v]
			if 2*k+1 < of {
				sum += s.units[v+1]
				if s.units[v+1] > s.units[v] {
					v++
				}
			}
			at = append(at, v-lo)
			half.units = append(half.units, sum)
		}
		return at
	}
	src, dst := rep(0, n, s.n), rep(s.n, m, s.m)
	// The sums are in general position as they are: the perturbations of the
	// sources are still > 0 with total s.n < K.
	if err := s.costs.reduce(half, src, dst); err != nil {
		return nil, err
	}
	if err := half.solve(); err != nil {
		return nil, err
	}
	v := make([]float64, m)
	for k, p := range half.tree.potentials()[n:] {
		v[k] = -p
	}
	return half, s.costs.extend(dst, v)
}
