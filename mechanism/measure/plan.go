package measure

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// plan is a walk with options resolved; a lazy domain has the levels' noise.
type plan struct {
	*arrangement
	opt    SynthesizerOptions
	walk   *walk.Walk // nil for a lazy domain
	noise  []walk.Noise
	scales walk.Scales
	loss   float64 // audited: at most what was asked for
	points func(most int) (metric.Finite, error)
}

// newPlan takes options that name a distribution.
func newPlan[P any](op string, d *Domain[P], level float64, o SynthesizerOptions) (*plan, error) {
	p := &plan{arrangement: d.arrangement, opt: o, points: d.some}
	if err := p.opt.check(op, d.arrangement); err != nil {
		return nil, err
	}
	if !(level >= 1e-50 && level <= 1e50) {
		return nil, fault.Value(op, "the privacy level", level, "a number in [1e-50, 1e50]")
	}
	if err := p.scale(level); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return p, nil
}

// scale makes the noise of a level.
func (p *plan) scale(level float64) error {
	// Privacy is that of the tree, or of one with the same branches.
	t := p.tree
	if t == nil {
		t = comb(len(p.arities))
	}
	unit, err := p.unitScales(t)
	if err != nil {
		return err
	}
	// Scales of loss 1 over level have a loss of level up to the rounding of
	// Loss's sums: some ulps of the level, which a few steps take off.
	for ask := level; p.loss == 0 || p.loss > level; ask *= 1 - 0x1p-52*float64(2+len(unit.Level)) {
		if p.scales, err = unit.At(ask); err != nil {
			return err
		}
		if p.loss, err = t.Loss(p.opt.Relation, p.scales); err != nil {
			return err
		}
		if p.loss == 0 { // one cell: nothing to tell apart
			break
		}
	}
	p.noise = make([]walk.Noise, len(p.scales.Level))
	for l, b := range p.scales.Level {
		if p.noise[l], err = walk.NewNoise(p.opt.Distribution, b); err != nil {
			return err
		}
	}
	if p.tree != nil {
		p.walk, err = walk.New(t, p.opt.Distribution, p.scales)
	}
	return err
}

// unitScales returns the scales of loss 1.
func (p *plan) unitScales(t *walk.Tree) (walk.Scales, error) {
	s := walk.Scales{Level: make([]float64, p.height()), Total: 1}
	if p.opt.Scales == nil && (p.opt.Schedule == Equal || p.opt.Schedule == DomainSchedule && !p.byCost && p.exponent == 0) {
		return t.EqualScales(p.opt.Relation)
	}
	costs := p.levelCosts()
	for l := range s.Level {
		switch {
		case p.opt.Scales != nil:
			s.Level[l] = p.opt.Scales[l]
		case p.opt.Schedule == ByCost || p.byCost:
			s.Level[l] = 1 / math.Sqrt(costs[l])
		default:
			s.Level[l] = math.Pow(p.shape[l].diameter/p.shape[0].diameter, p.exponent)
		}
	}
	if len(s.Level) > 0 {
		s.Total = s.Level[0]
	}
	return t.Normalize(p.opt.Relation, s)
}

// leastCost keeps the scales of levels that cost nothing, such as those between
// duplicates, finite: they take less than a thousandth of the largest share.
const leastCost = 1e-6

// levelCosts returns every level's sum of spread, in units of the largest.
func (a *arrangement) levelCosts() []float64 {
	costs := make([]float64, a.height())
	top := 0x1p-1022 // where all are 0
	for _, s := range a.shape {
		if s.arity > 1 {
			costs[s.depth] += float64(float64(s.nodes) * s.spread)
			top = max(top, costs[s.depth])
		}
	}
	for l, c := range costs {
		costs[l] = max(c/top, leastCost)
	}
	return costs
}

// comb returns a binary tree of height h with the least number of leaves in
// which two branches of h nodes meet at the root: whatever the arities, the
// privacy loss of a regular tree of that height is the same.
func comb(h int) *walk.Tree {
	parent := []int{-1}
	for range 2 {
		at := 0
		for range h {
			if at > 0 {
				parent = append(parent, at)
			}
			parent = append(parent, at)
			at = len(parent) - 1
		}
	}
	t, _, err := walk.NewTree(parent)
	return fault.Must(t, err)
}
