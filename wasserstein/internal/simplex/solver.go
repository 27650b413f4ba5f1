package simplex

import (
	"context"
	"slices"
)

// solver finds an optimal basis of the transportation problem between n sources
// and m sinks whose masses are units, in general position and balanced.
//
// It is the primal network simplex on a growing list of arcs: first short lists
// of arcs of small cost, then whatever a pass over all costs finds missing, until it
// finds nothing (Gottschlich and Schuhmacher, PLoS ONE 9, 2014, for the short
// lists). Arcs are priced in blocks, the best of each entering the basis.
type solver struct {
	Problem
	ctx   context.Context
	n, m  int
	units []int64 // sources, then sinks
	costs costs

	arcs           []arc
	tree           *tree
	tol            float64 // reduced costs above -tol count as 0
	pivots, passes int
}

const (
	// One in blockShare as many arcs as there are nodes, and smallBlock at least,
	// are priced for every pivot: larger blocks make fewer and longer steps, and a
	// step takes longer in a larger tree.
	smallBlock = 64
	blockShare = 64
	// mostAdded is the number of arcs of a source that a pass adds at most.
	mostAdded = 8
	// pivotRounds bounds the pivots between two passes, in units of n+m: where
	// the short lists were a poor choice, their optimum is not worth reaching.
	pivotRounds = 2
	// growth times its first length is what the list may grow to.
	growth = 4
	// relTol times the largest potential is the tolerance to begin with: 8 ulps, a rounding for
	// each term of a reduced cost and some for the potentials. Where potentials are worse than
	// that, pivot finds out and the tolerance grows.
	relTol = 0x1p-50
)

// solve leaves an optimal basis in tree, or the best when most pivots are made. It ends:
// after a pass that adds arcs, run makes a pivot, which no basis sees twice, or at least
// doubles the tolerance.
func (s *solver) solve() error {
	edges, err := s.start()
	if err != nil {
		return err
	}
	s.tree = newTree(s.n, s.units, edges)
	from, limit := 0, growth*len(s.arcs)
	for {
		s.renumber()
		s.refresh()
		done, err := s.run(from)
		if err != nil {
			return err
		}
		if s.Progress != nil {
			if err := s.Progress(s.basis()); err != nil {
				return err
			}
		}
		if s.MaxPivots > 0 && s.pivots >= s.MaxPivots {
			return nil
		}
		s.refresh()
		if len(s.arcs) > limit { // arcs of the basis live in the tree, others are found again
			s.arcs = slices.DeleteFunc(s.arcs, func(a arc) bool { return reduced(a, s.tree.pi) >= -s.tol })
		}
		from = len(s.arcs)
		found, err := s.price()
		if err != nil {
			return err
		}
		for _, a := range found {
			// What price finds and run then does not, by rounding, would be found for ever.
			a.i, a.j = s.tree.place[a.i], s.tree.place[a.j]
			if reduced(a, s.tree.pi) < -s.tol {
				s.arcs = append(s.arcs, a)
			}
		}
		s.passes++
		if len(s.arcs) == from {
			if done {
				return nil
			}
			from = 0
		}
	}
}

// reduced is the reduced cost of an arc between places, as run takes it.
func reduced(a arc, pi []float64) float64 { return a.c - pi[a.i] + pi[a.j] }

// renumber is the tree's, with the arcs, which are listed by the places of their nodes.
func (s *solver) renumber() {
	to := s.tree.renumber()
	for k, a := range s.arcs {
		s.arcs[k].i, s.arcs[k].j = to[a.i], to[a.j]
	}
}

func (s *solver) refresh() { s.tol = max(s.tol, relTol*s.tree.refresh()) }

// run pivots on the listed arcs, beginning with arc from, until none is left.
func (s *solver) run(from int) (done bool, err error) {
	arcs, pi := s.arcs, s.tree.pi
	stop := s.pivots + pivotRounds*(s.n+s.m)
	if s.MaxPivots > 0 {
		stop = min(stop, s.MaxPivots)
	}
	block := max(smallBlock, len(pi)/blockShare)
	pos, fresh := from, true // fresh: no pivot since the potentials were computed
	for idle := 0; idle < len(arcs); {
		end := min(pos+block, len(arcs))
		best, at := -s.tol, -1
		for k, a := range arcs[pos:end] {
			if r := reduced(a, pi); r < best {
				best, at = r, pos+k
			}
		}
		idle += end - pos
		if pos = end; pos == len(arcs) {
			pos = 0
		}
		if at < 0 {
			continue
		}
		idle = 0
		switch a := arcs[at]; {
		case s.tree.pivot(a.i, a.j, a.c):
			fresh = false
			if s.pivots++; s.pivots >= stop {
				return false, nil
			}
			if s.pivots%256 == 0 && s.ctx.Err() != nil {
				return false, s.ctx.Err()
			}
		case !fresh: // the potentials have drifted
			s.refresh()
			fresh = true
		default: // they are as good as they get
			s.tol = -2 * best
		}
	}
	return true, nil
}

// price returns, for every source, the arcs with the most negative reduced costs
// of all, by the numbers of their nodes.
func (s *solver) price() ([]arc, error) {
	pi := s.tree.potentials()
	v := make([]float64, s.m)
	for j, p := range pi[s.n:] {
		v[j] = -p
	}
	return s.costs.least(v, mostAdded, func(i int) float64 { return pi[i] - s.tol })
}
