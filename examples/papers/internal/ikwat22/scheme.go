package ikwat22

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The paper compares mechanisms at equal eps_tight(delta), by the loss that this share of
// the inputs does not exceed.
const (
	delta = .001
	share = .95
)

// build makes the mechanism of an alpha.
type build func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error)

// scheme is one way to make mechanisms, or several of which the best counts, and the size
// of the linear program behind it, nil where there is none.
type scheme struct {
	name   string
	builds []build
	size   func(ctx context.Context, f metric.Finite) (lp.Size, error)
}

// exponentialMech is Proposition 1 with equal weights.
func exponentialMech() scheme {
	return scheme{"exponential", []build{func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error) {
		m, err := exponential.Standard(ctx, f, alpha, nil)
		if err != nil {
			return nil, err
		}
		return m.Channel, nil
	}}, nil}
}

// spannerMech keeps to the budget alpha/stretch, as in the paper.
func spannerMech(stretch float64) scheme {
	o := &lp.SpannerOptions{Options: lp.Options{Tolerance: tolerance}, Stretch: stretch, KeepBudget: true}
	return scheme{
		fmt.Sprintf("Spanner, t = %v", stretch),
		[]build{func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error) {
			s, err := lp.Spanner(ctx, metric.Same(f), alpha, o)
			if err != nil {
				return nil, err
			}
			return s.Channel, nil
		}},
		func(ctx context.Context, f metric.Finite) (lp.Size, error) { return o.Size(ctx, metric.Same(f)) },
	}
}

// constOPTMech keeps to the budget alpha/2, as in the paper, and takes the best of some
// lambda, which are in diameters.
func constOPTMech(r int, lambdas ...float64) scheme {
	m := scheme{
		name: fmt.Sprintf("ConstOPT, r = %d", r),
		size: func(ctx context.Context, f metric.Finite) (lp.Size, error) {
			return (&lp.ConstOptions{Neighbors: r}).Size(ctx, metric.Same(f))
		},
	}
	for _, lambda := range lambdas {
		m.builds = append(m.builds, func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error) {
			wide, _, _, err := metric.Diameter(ctx, f)
			if err != nil {
				return nil, err
			}
			o := &lp.ConstOptions{Neighbors: r, KeepBudget: true, Lambdas: []float64{lambda * wide}, Tolerance: tolerance}
			s, err := lp.ConstOPT(ctx, metric.Same(f), alpha, o)
			if err != nil {
				return nil, err
			}
			return s.Channel, nil
		})
	}
	return m
}

// optMech is the whole program.
func optMech() scheme {
	return scheme{
		"OPTMech",
		[]build{func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error) {
			s, err := lp.Optimal(ctx, metric.Same(f), alpha, &lp.Options{Tolerance: tolerance})
			if err != nil {
				return nil, err
			}
			return s.Channel, nil
		}},
		func(ctx context.Context, f metric.Finite) (lp.Size, error) {
			return (*lp.Options)(nil).Size(ctx, metric.Same(f))
		},
	}
}

// What the exhibits use where they do not vary it.
const (
	tolerance = 1e-3 // of the programs
	neighbors = 10   // r
	stretch   = 3.   // of spanners
	fixed     = .6   // eps_tight of words
	near      = .005 // how far a level may be off what was asked for
)

// lambdas are the list for ConstOPT, in diameters.
var lambdas = []float64{1. / 32, 1. / 2, 10}

// schemes are those that the paper compares, OPTMech the last.
func schemes() []scheme {
	return []scheme{exponentialMech(), spannerMech(stretch), constOPTMech(neighbors/2, lambdas...), constOPTMech(neighbors, lambdas...), optMech()}
}

// point is a mechanism as the paper has it in its figures.
type point struct{ alpha, level, loss float64 }

func measure(ctx context.Context, f metric.Finite, alpha float64, c *mechanism.Channel) (point, error) {
	audit, err := c.Audit(ctx, f, &mechanism.AuditOptions{Delta: delta})
	if err != nil {
		return point{}, err
	}
	losses, err := c.Loss(ctx, f)
	if err != nil {
		return point{}, err
	}
	loss, err := losses.Quantile(share)
	return point{alpha, audit.Hi, loss}, err
}

// at is the point of least loss at a level.
func (m scheme) at(ctx context.Context, f metric.Finite, level float64) (point, error) {
	best := point{loss: math.Inf(1)}
	for _, b := range m.builds {
		p, err := b.at(ctx, f, level)
		if err != nil {
			return p, fmt.Errorf("%s: %w", m.name, err)
		}
		if p.loss < best.loss {
			best = p
		}
	}
	return best, nil
}

// at looks for the alpha of a level. Levels grow about as alpha does, so that a few steps
// find it; where they jump over it, the least loss that was met at a lower level counts.
func (b build) at(ctx context.Context, f metric.Finite, level float64) (point, error) {
	alpha := level
	const most = 12 // steps
	best, lo, hi := point{loss: math.Inf(1)}, 0., math.Inf(1)
	for step := 0; step < most && hi > (1+near)*lo; step++ {
		c, err := b(ctx, f, alpha)
		if err != nil {
			return point{}, err
		}
		p, err := measure(ctx, f, alpha, c)
		if err != nil || math.Abs(p.level-level) <= near*level {
			return p, err
		}
		next := 2 * alpha
		if p.level > 0 { // no constant mechanism
			next = alpha * level / p.level
		}
		if p.level > level {
			hi = min(hi, alpha)
		} else if lo = max(lo, alpha); p.loss < best.loss {
			best = p
		}
		if next <= lo || next >= hi {
			next = math.Sqrt(lo) * math.Sqrt(hi)
		}
		alpha = next
	}
	if math.IsInf(best.loss, 1) {
		return best, fmt.Errorf("nothing at a level of %v", level)
	}
	return best, nil
}
