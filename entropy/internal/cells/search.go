// Package cells encloses the entropic scale of a space with two metrics, by
// cells that are split where a proof needs it.
package cells

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// By says what an upper end rests on.
type By int

const (
	Diameter  By = iota // of the space in rho2
	Partition           // into cells
	Branches            // a branch and bound
)

// Enclosure is the scale at one level, and its proof: Set are points within
// rho1-distance r of the point X, pairwise at least Lo apart in rho2, and more
// than exp(alpha*r). Where Lo is 0 there is no set.
type Enclosure struct {
	Lo, Hi float64
	X      int
	Set    []int
	By     By // Hi
}

// Options say how much work is done, and by whom.
type Options struct {
	Nodes    int // of each exact clique search; 0 is none
	Workers  int
	Progress func(done, total int) // or nil
}

// Search encloses the entropic scale of any two metrics: separated sets too
// large for their ball prove Lo, a prover for every cell of centers proves Hi.
type Search struct {
	ctx context.Context
	*trees
	n      int
	o      Options
	values []float64 // 0 and the distances of rho2, ascending, in a small space

	diameter float64 // of rho2, or -1 where that takes long
	cost     int64   // see distanceCost

	alpha  float64
	reach  []float64 // reach[k], for k >= 2
	best   separated
	hi     float64
	by     By
	work   int64
	budget int64
}

const (
	// workPerNode is the budget of a scale, in distances of the plane, for each
	// point and node of Options: at the default some 20 s of one core for
	// 10,000 points. Where no clique is searched it is that of greedyNodes.
	workPerNode = 4
	greedyNodes = 2500

	// workLeast is a budget that small spaces get in any case.
	workLeast = 1 << 24

	// valuesPoints is the largest space whose rho2-distances are listed.
	valuesPoints = 700

	// diameterPoints is the largest space whose rho2-diameter is computed.
	diameterPoints = 1 << 12

	// gapClosed is the ratio Hi/Lo - 1 below which only the exact value is worth another attempt.
	gapClosed = 0.01

	// workShare is the part of the remaining budget for the next proof, and
	// partLeast the least part of the gap that is worth one.
	workShare = 0.8
	partLeast = 0.95

	// centerBatch is the number of cells of centers between two looks at the
	// budget. A single one may take cellShare times its part.
	centerBatch = 32
	cellShare   = 2
)

// New returns a search of b, which has points and distances that were checked.
func New(ctx context.Context, b metric.Bimetric, o Options) (*Search, error) {
	cells, err := newTrees(ctx, b)
	s := &Search{ctx: ctx, trees: cells, n: b.Len(), o: o, cost: distanceCost(b), diameter: -1}
	if err == nil && s.n <= diameterPoints {
		s.diameter, _, _, err = metric.Diameter(ctx, b.Utility)
	}
	if err != nil || s.n > valuesPoints {
		return s, err
	}
	s.values = append(s.values, 0)
	var row []float64
	for i := range s.n {
		row = finite.Row(b.Utility, i, row)
		s.values = append(s.values, row[:i]...)
	}
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	return s, ctx.Err()
}

// distanceCost is the cost of a distance over one in the plane, by type.
func distanceCost(b metric.Bimetric) int64 {
	cost := int64(1)
	for _, f := range [2]metric.Finite{b.Privacy, b.Utility} {
		switch f := f.(type) {
		case *metric.Dense, *metric.Graph, *metric.Ultrametric:
		case metric.Embedded:
			cost = max(cost, 1+int64(finite.Dim(f.(metric.Finite)))/8)
		default:
			cost = max(cost, 4)
		}
	}
	return cost
}

// Scale encloses the scale at alpha. Sets of larger levels serve it, too.
func (s *Search) Scale(alpha float64) (Enclosure, error) {
	s.alpha, s.reach, s.work = alpha, s.reach[:0], 0
	s.budget = max(workLeast, workPerNode*int64(s.n)*int64(max(s.o.Nodes, greedyNodes))) / s.cost
	s.hi, s.by = s.ys.nodes[0].radius*2*spaces.SlackUp, Diameter
	if s.diameter >= 0 {
		s.hi = s.diameter
	}
	if err := s.lower(); err != nil {
		return Enclosure{}, err
	}
	if err := s.close(); err != nil {
		return Enclosure{}, err
	}
	r := Enclosure{Lo: s.best.sep, Hi: s.hi, X: int(s.best.x), By: s.by}
	for _, y := range s.best.set {
		r.Set = append(r.Set, int(y))
	}
	return r, nil
}

// close attempts proofs until the interval is a point or the budget is spent.
func (s *Search) close() error {
	var c course
	for s.hi > s.best.sep {
		t, limit, ok := s.target(&c)
		if !ok {
			break
		}
		before := s.work
		v, err := s.prove(t, limit)
		if err != nil {
			return err
		}
		switch v {
		case proved:
			c.before, c.last = c.last, attempt{t/s.best.sep - 1, float64(s.work - before)}
			s.hi, s.by = max(t, s.best.sep), Branches
			if s.o.Nodes == 0 {
				s.by = Partition
			}
		case unknown:
			c.failed = t
		}
		c.tried = true
	}
	return nil
}

type course struct {
	failed       float64 // the largest T without a proof
	last, before attempt // proofs
	tried        bool
}

// attempt is a proof of T, gap = T/Lo - 1, and its work.
type attempt struct{ gap, work float64 }

// target chooses the next upper end to try, and the work it is worth.
func (s *Search) target(c *course) (t float64, limit int64, ok bool) {
	lo, left := s.best.sep, s.budget-s.work
	if left <= 0 {
		return 0, 0, false
	}
	if !c.tried && (s.values != nil || lo == 0) {
		return lo, left / 2, true // in a small space the scale may be lo
	}
	if s.values == nil && c.failed > lo && s.hi/c.failed < 1+gapClosed {
		return 0, 0, false
	}
	switch {
	case lo == 0 && c.failed == 0:
		t = s.hi / 2
	case c.failed > lo:
		t = math.Sqrt(c.failed) * math.Sqrt(s.hi)
	default:
		gap := s.hi/lo - 1
		part := 0.5
		if c.last.work > 0 {
			// Work grows like a power of 1/gap.
			power := 3.0
			if c.before.gap > c.last.gap {
				power = min(6, max(1, math.Log(c.last.work/c.before.work)/math.Log(c.before.gap/c.last.gap)))
			}
			part = max(part, math.Pow(c.last.work/(workShare*float64(left)), 1/power))
		}
		if part > partLeast {
			return 0, 0, false
		}
		if t = lo * (1 + float64(part*gap)); part*gap < gapClosed || t >= s.hi {
			t = lo
		}
	}
	if s.values == nil {
		return t, left, t < s.hi && t > c.failed
	}
	// The largest distance <= t, or the least that has not failed.
	i, found := slices.BinarySearch(s.values, t)
	if !found {
		i--
	}
	if floor := max(c.failed, lo); i < 0 || s.values[i] < floor || (s.values[i] == floor && c.failed >= lo) {
		if i, found = slices.BinarySearch(s.values, floor); found {
			i++
		}
	}
	return s.values[i], left, s.values[i] < s.hi
}

// prove attempts a proof of s(Z, alpha) <= t within limit, and raises best.
func (s *Search) prove(t float64, limit int64) (verdict, error) {
	// No ball has more than top points more than t apart.
	top := max(2, len(s.ys.frontier(t/2/spaces.SlackUp)))
	s.reachOf(top)
	cells := s.starts(top)
	each := cellShare * limit / int64(min(len(cells), centerBatch))
	start := s.work
	for lo := 0; lo < len(cells); lo += centerBatch {
		batch := cells[lo:min(len(cells), lo+centerBatch)]
		provers := make([]prover, len(batch))
		verdicts := make([]verdict, len(batch))
		err := parallel.Chunks(s.ctx, len(batch), 1, s.o.Workers, nil, func(c, _, _ int) {
			p := prover{ctx: s.ctx, s: s.trees, reach: s.reach, t: t, nodes: s.o.Nodes, limit: each, best: s.best}
			verdicts[c] = p.centers(batch[c], top)
			provers[c] = prover{work: p.work, best: p.best}
		})
		if err == nil {
			err = s.ctx.Err() // a prover stops early, and says unknown
		}
		if err != nil {
			return unknown, err
		}
		worst := proved
		for c := range batch {
			s.work += provers[c].work
			s.improve(provers[c].best)
			worst = max(worst, verdicts[c])
		}
		if s.o.Progress != nil {
			s.o.Progress(int(min(s.work, s.budget)), int(s.budget))
		}
		if s.best.sep > t {
			return refuted, nil
		}
		if worst != proved || s.work-start > limit {
			return unknown, nil
		}
	}
	return proved, nil
}

func (s *Search) improve(c separated) {
	if c.sep > s.best.sep {
		s.best = c
		s.hi = max(s.hi, c.sep) // by rounding only
	}
}

// reachOf is the reach of k, kept.
func (s *Search) reachOf(k int) float64 {
	for len(s.reach) <= max(2, k) {
		if m := len(s.reach); m < 2 {
			s.reach = append(s.reach, 0)
		} else {
			s.reach = append(s.reach, limit.Reach(s.alpha, m))
		}
	}
	return s.reach[k]
}

// starts lists the cells of centers that a proof begins with.
func (s *Search) starts(top int) []int32 {
	r := s.reach[top] * coarseCenters
	cells := s.xs.frontier(r)
	for len(cells) < 2*centerBatch && r > s.reach[2]*coarseCenters {
		r /= 2
		cells = s.xs.frontier(r)
	}
	return cells
}
