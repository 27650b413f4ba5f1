package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// Synthesizer releases a data set as a probability measure on the cells of a
// domain, and synthetic records drawn from it. It is eps-differentially private
// for the neighbors that SynthesizerOptions.Relation names, exactly; see the
// package's doc. It implements [mechanism.Mechanism].
//
// With a lazy domain the output is as private, but the time and memory that a
// release takes depend on private data. Do not let an adversary measure them.
//
// A Synthesizer is immutable and safe for concurrent use. The zero value
// releases nothing.
type Synthesizer[P any] struct {
	d *Domain[P]
	p *plan
	g mechanism.Guarantee
}

// NewSynthesizer returns a Synthesizer of level eps on d. It is eps-private by
// construction: the walk's loss at the final scales, rounded up, is what
// Guarantee states. Errors are *[metric.ValueError] and *[metric.SizeError].
// O(nodes).
func NewSynthesizer[P any](d *Domain[P], eps float64, o *SynthesizerOptions) (*Synthesizer[P], error) {
	const op = "measure: NewSynthesizer"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return nil, err
	}
	opt := orZero(o)
	if err := opt.integers(op, d.arrangement); err != nil {
		return nil, err
	}
	p, err := newPlan(op, d, eps, opt)
	if err != nil {
		return nil, err
	}
	unit := metric.Unit("record replaced")
	if p.opt.Relation == AddRemoveOne {
		unit = "record added or removed"
	}
	g, err := mechanism.NewGuarantee(p.loss, 0, unit)
	return &Synthesizer[P]{d, p, g}, err
}

func (s *Synthesizer[P]) check(op string) error {
	return fault.Made(s != nil && s.p != nil, op, "Synthesizer", "NewSynthesizer")
}

// Guarantee is the level per record replaced, or per record added or removed.
// That of a zero Synthesizer promises nothing.
func (s *Synthesizer[P]) Guarantee() mechanism.Guarantee {
	if s == nil {
		return mechanism.Guarantee{}
	}
	return s.g
}

// Domain returns the domain.
func (s *Synthesizer[P]) Domain() *Domain[P] {
	return fault.Must(s, s.check("measure: Synthesizer.Domain")).d
}

// String gives the guarantee and the domain.
func (s *Synthesizer[P]) String() string {
	if s.check("") != nil {
		return "no synthesizer"
	}
	return fmt.Sprintf("%v, on a %v", s.g, s.d)
}

// Release releases counts of the same domain, or of one made elsewhere by the
// same call, lazy or not ([ErrMismatch] otherwise). Counts of no records are
// [metric.ErrEmpty] under ReplaceOne, where that is public; under AddRemoveOne
// they have a release as all others. Counts made with CountOptions.SkipErrors
// are [ErrSkipped] under ReplaceOne. O(nodes).
func (s *Synthesizer[P]) Release(rng *rand.Rand, c *Counts[P]) (*Release[P], error) {
	const op = "measure: Synthesizer.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if err := c.check(op); err != nil {
		return nil, err
	}
	if err := c.d.same(op, s.d.arrangement); err != nil {
		return nil, err
	}
	from := c.snapshot()
	if s.p.opt.Relation == ReplaceOne {
		if from.skipped {
			return nil, fmt.Errorf("%s: %w", op, ErrSkipped)
		}
		if err := fault.Empty(op, "counts", len(from.cells)); err != nil {
			return nil, err
		}
	}
	rng, done := random.Get(rng)
	defer done()
	if s.p.tree == nil {
		return s.unfold(rng, from)
	}
	x := make([]int64, s.d.cells)
	for i, cell := range from.cells {
		x[cell] = from.n[i]
	}
	y, err := s.noisyCounts(rng, x)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	out := &Release[P]{Total: y[0], s: s}
	y[0] = max(1, out.Total)
	if out.Weights, out.moved, err = s.p.measureFrom(context.Background(), y); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

func (s *Synthesizer[P]) noisyCounts(rng *rand.Rand, x []int64) ([]float64, error) {
	t := s.p.tree
	y := make([]float64, t.Nodes())
	if s.p.opt.Distribution == DiscreteLaplace {
		counts := make([]int64, t.Nodes())
		if err := t.CountsInt(counts, x); err != nil {
			return nil, err
		}
		if err := s.p.walk.AddCounts(rng, counts); err != nil {
			return nil, err
		}
		for v, n := range counts {
			y[v] = float64(n)
		}
		return y, nil
	}
	haar := append([]int64(nil), x...)
	if err := t.HaarInt(haar); err != nil {
		return nil, err
	}
	if err := s.p.walk.AddHaar(rng, haar); err != nil {
		return nil, err
	}
	// Differences of children are what was released; the rest is float64.
	y[0] = float64(haar[0])
	for v := range y {
		if lo, hi := t.Children(v); lo < hi {
			d := float64(haar[t.Split(v)])
			y[lo], y[lo+1] = (y[v]+d)/2, (y[v]-d)/2
		}
	}
	return y, nil
}

// Synthetic is [CountAll], Release and [Release.Records] in one. It returns m
// synthetic records; for m = 0 as many as there were, by Release.Total.
func (s *Synthesizer[P]) Synthetic(ctx context.Context, rng *rand.Rand, records []P, m int) ([]P, error) {
	if err := s.check("measure: Synthesizer.Synthetic"); err != nil {
		return nil, err
	}
	c, err := CountAll(ctx, s.d, records, nil)
	if err != nil {
		return nil, err
	}
	out, err := s.Release(rng, c)
	if err != nil {
		return nil, err
	}
	return out.Records(rng, m, nil)
}

// unfold releases the counts of a lazy domain. From the root down, a node gets
// the noise of its children's counts, they are projected to its mass, and those
// with more mass than 2 scales of the noise below them, or with two categories
// of a column, are unfolded in turn; the others end as cells. This is a
// function of the noisy counts of the whole tree, of which only those are drawn
// that it reads.
func (s *Synthesizer[P]) unfold(rng *rand.Rand, c snapshot) (*Release[P], error) {
	p := s.p
	keys := c.cells
	cum := make([]int64, len(keys)+1) // records in the first cells
	for i, n := range c.n {
		cum[i+1] = cum[i] + n
	}
	below := make([]int, len(p.arities)) // cells below a child of a node of each level
	rest := p.cells
	for l, k := range p.arities {
		rest /= k
		below[l] = rest
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
		noise.Add(rng, root)
	}
	out := &Release[P]{s: s, Total: float64(root[0]), nodes: []node{}}
	made := 1
	counts := make([]int64, slices.Max(append([]int{1}, p.arities...)))
	y, buf := make([]float64, len(counts)), make([]float64, len(counts))
	for queue := []live{{node{}, 0, len(keys), max(1, out.Total)}}; len(queue) > 0; {
		v := queue[0]
		queue = queue[1:]
		if v.Level < p.apart && made >= p.opt.MaxCells {
			return nil, fault.Value("measure: Synthesizer.Release", "MaxCells", float64(p.opt.MaxCells), "more cells, to tell categories apart")
		}
		if v.Level == len(p.arities) || v.Level >= p.apart &&
			(made >= p.opt.MaxCells || v.Level > 0 && v.mass <= 2*p.scales.Level[v.Level]) {
			out.nodes = append(out.nodes, v.node)
			out.Weights = append(out.Weights, v.mass)
			continue
		}
		k := p.arities[v.Level]
		ends := make([]int, k+1)
		ends[0] = v.lo
		for i := range k {
			last := (v.Index*k + i + 1) * below[v.Level] // the first key past child i
			ends[i+1] = ends[i] + sort.SearchInts(keys[ends[i]:v.hi], last)
			counts[i] = cum[ends[i+1]] - cum[ends[i]]
		}
		p.noise[v.Level].Add(rng, counts[:k])
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
				queue = append(queue, live{node{Level: v.Level + 1, Index: v.Index*k + i}, ends[i], ends[i+1], m})
			}
		}
	}
	exactMass(out.Weights)
	return out, nil
}
