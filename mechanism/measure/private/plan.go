package private

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// plan is a walk with options resolved.
type plan struct {
	*region.Geometry
	opt    Options
	walk   *walk.Walk
	noise  []walk.Noise // of the levels
	scales walk.Scales
	loss   float64 // audited: at most what was asked for
	points func(most int) (metric.Finite, error)

	cells      int
	resolution float64
	row        bool
}

// newPlan makes the walk of a level per unit of total variation: a record of one that is replaced.
func newPlan[P any](op string, d *domain.Domain[P], level float64, o Options) (*plan, error) {
	s, err := region.Of[P](op, d)
	if err != nil {
		return nil, err
	}
	g, err := s.Explicit(op)
	if err != nil {
		return nil, err
	}
	p := &plan{Geometry: g, opt: o, points: s.Some, cells: s.Cells, resolution: s.Resolution, row: s.Row}
	if err := p.opt.check(op, s.Height); err != nil {
		return nil, err
	}
	if err := p.scale(level); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return p, nil
}

// scale makes the noise of a level.
func (p *plan) scale(level float64) error {
	unit, err := p.unitScales()
	if err != nil {
		return err
	}
	// Scales of loss 1 over level have a loss of level up to the rounding of
	// Loss's sums: some ulps of the level, which a few steps take off.
	for ask := level; p.loss == 0 || p.loss > level; ask *= 1 - 0x1p-52*float64(2+len(unit.Level)) {
		if p.scales, err = unit.At(ask); err != nil {
			return err
		}
		if p.loss, err = p.Tree.Loss(walk.ReplaceOne, p.scales); err != nil {
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
	p.walk, err = walk.New(p.Tree, p.opt.Distribution, p.scales)
	return err
}

// unitScales returns the scales of loss 1.
func (p *plan) unitScales() (walk.Scales, error) {
	s := walk.Scales{Level: make([]float64, p.Tree.Height()), Total: 1}
	if p.opt.Scales == nil && !p.ByCost && p.Exponent == 0 {
		return p.Tree.EqualScales(walk.ReplaceOne)
	}
	costs := p.LevelCosts()
	for l := range s.Level {
		switch {
		case p.opt.Scales != nil:
			s.Level[l] = p.opt.Scales[l]
		case p.ByCost: // no other scales have a lower sum of these costs
			s.Level[l] = 1 / math.Sqrt(costs[l])
		default:
			s.Level[l] = math.Pow(p.Classes[l].Diameter/p.Classes[0].Diameter, p.Exponent)
		}
	}
	if len(s.Level) > 0 {
		s.Total = s.Level[0]
	}
	return p.Tree.Normalize(walk.ReplaceOne, s)
}
