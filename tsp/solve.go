package tsp

import (
	"cmp"
	"context"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// SolveOptions are the settings of [Solve]; nil and zeros mean the defaults.
type SolveOptions struct {
	Kind Kind

	// Bound chooses the lower bound.
	Bound Bound

	// Neighbors is how many nearest neighbors of a point are candidates for an edge, beside a few
	// farther ones; 0 means 5.
	Neighbors int

	// Kicks is how many perturbations are tried once no move helps. 0 means 3 for each point, but
	// at most 60,000; negative means none. Points at distance 0 without an embedding double them.
	Kicks int

	// TimeLimit, where positive, ends the improvement after that long. It counts neither the
	// neighbor lists, the first tour nor the bound. The result then depends on the machine's
	// speed.
	TimeLimit time.Duration

	// Seed fixes the perturbations.
	Seed uint64

	// Progress, where not nil, is called from time to time with how many kicks have been tried.
	Progress func(done, total int)
}

const (
	defaultNeighbors = 5
	defaultKicks     = 3
	mostKicks        = 60_000
)

// defaults returns o with its defaults applied for n points, for the call op.
func (o *SolveOptions) defaults(op string, n int) (SolveOptions, error) {
	var s SolveOptions
	if o != nil {
		s = *o
	}
	if err := s.Kind.check(op); err != nil {
		return s, err
	}
	if s.Bound < BoundAuto || s.Bound > BoundHeldKarp {
		return s, fault.Value(op, "Bound", float64(s.Bound), "one of the constants")
	}
	if s.Neighbors < 0 {
		return s, fault.Value(op, "Neighbors", float64(s.Neighbors), "an integer >= 0")
	}
	s.Neighbors = cmp.Or(s.Neighbors, defaultNeighbors)
	s.Kicks = max(0, cmp.Or(s.Kicks, min(mostKicks, defaultKicks*n)))
	if s.Progress == nil {
		s.Progress = func(done, total int) {}
	}
	return s, nil
}

// Bound names a way to prove that no tour is shorter than some length. Every rounding is downward.
type Bound int

const (
	// BoundAuto is BoundHeldKarp up to 5,000 points, and up to 200,000 where a kd-tree serves them:
	// points that are [metric.Embedded] in at most 4 dimensions; BoundTree above.
	BoundAuto Bound = iota
	// BoundNone leaves LowerBound 0.
	BoundNone
	// BoundTree takes zeros as multipliers: the length of a minimum spanning tree and, for closed
	// tours, one more edge, at least half the length of the shortest tour. It reads all distances,
	// in O(n^2) time and O(n) memory, unless f has 2048 or more points and a kd-tree serves them:
	// about O(n log n).
	BoundTree
	// BoundHeldKarp is the bound of Held and Karp (1970, 1971), the largest for any multipliers as
	// far as 600 steps of subgradient ascent reach it, fewer beyond 10,000 points, but at least 60.
	//
	// It falls short of the shortest tour, by under 1 % for most points: no multipliers prove more
	// than the linear program with degree and subtour constraints.
	//
	// The search runs on a graph of near neighbors, O(n log n) a step; about once in a hundred
	// steps what it found is proved on all edges. Where n is small or f has no embedding all
	// distances are read about ten times. Memory is O(n).
	//
	// Unlike in the papers the edge beyond the tree is at the best leaf, the direction of a step is
	// that of Volgenant and Jonker (1982), its length falls as a parabola, and well-separated
	// clusters also move as wholes.
	BoundHeldKarp
)

// mostHeldKarp and mostHeldKarpTree are the sizes up to which the Held-Karp
// bound takes no longer than the tour itself, without and with a kd-tree.
const (
	mostHeldKarp     = 5000
	mostHeldKarpTree = 200_000
)

// Solve returns a short tour of f with the lower bound that o asks for. On uniform points of the
// plane it is 0.1 % longer than the shortest for 1,000, 0.6 % for 100,000. The bound does not need
// the triangle inequality.
//
// No points are [metric.ErrEmpty], an option outside its domain is a [*metric.ValueError], and a
// negative or non-finite distance, if met, a [*metric.Violation]. f is taken to be symmetric. When
// ctx is done, Solve returns the best tour so far, or nil, with the error of ctx.
//
// The first tour and the moves take about O(n log n) for points of R^d, a kick about 0.1 ms.
// Without an embedding, O(n^2) distances: [metric.Densify] slow ones first.
//
// Sources: Bentley 1992; Lin and Kernighan 1973; Johnson and McGeoch 1997.
func Solve(ctx context.Context, f metric.Finite, o *SolveOptions) (t *Tour, err error) {
	// It begins with a greedy tour (Bentley 1992), makes moves of variable depth (Lin and
	// Kernighan 1973) until none helps, then kicks the tour by double bridges and takes back what
	// the moves do not make shorter (Johnson and McGeoch 1997). Edges lead to the nearest
	// neighbors and, for an embedding in up to 3 dimensions, to the 2 nearest points in each
	// orthant around a point; elsewhere also along a minimum spanning tree.
	const op = "tsp: Solve"
	defer name(op, &err)
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, err
	}
	s, err := o.defaults(op, f.Len())
	if err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, f, s.Neighbors)
	if err != nil {
		return nil, err
	}
	order, err := greedy(ctx, p.f, p.near)
	if err != nil {
		return nil, err
	}
	order, stopped := p.improve(ctx, order, s)
	t, err = newTour(f, order, s.Kind)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return t, stopped
	}
	return t, t.bound(ctx, f, s.Bound)
}

// bound sets the lower bound.
//
// Give every point i a multiplier p_i, and every edge the cost d(i,j) + p_i + p_j. A tour meets
// every point twice, so this adds exactly 2(p_1 + ... + p_n) to its length. Without its largest
// edge it is a spanning tree, and that edge costs at least as much as the second smallest at any
// point v. So no tour is shorter than
//
//	MST(p) + max_v second(v, p) - 2(p_1 + ... + p_n).
//
// An open path lacks the edge and meets its ends once: the sum of the two least multipliers takes
// the place of second. Every rounding is downward.
func (t *Tour) bound(ctx context.Context, f metric.Finite, how Bound) error {
	if how == BoundAuto {
		how = BoundTree
		if n := f.Len(); n <= mostHeldKarp || n <= mostHeldKarpTree && heldkarp.HasTree(f) {
			how = BoundHeldKarp
		}
	}
	var proved heldkarp.Bound
	var err error
	switch how {
	case BoundTree:
		proved, err = heldkarp.OneTree(ctx, f, nil, t.Kind == Open)
	case BoundHeldKarp:
		proved, err = heldkarp.Ascend(ctx, f, t.Kind == Open, t.Length)
	}
	t.LowerBound = proved.Value
	return err
}
