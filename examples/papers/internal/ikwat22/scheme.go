package ikwat22

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Section 5.1 compares mechanisms at equal eps_tight(delta), by the loss L_q that this share
// of the inputs does not exceed.
const (
	delta     = .001
	share     = .95
	near      = .01  // how far a level may be off what was asked for
	tolerance = 1e-3 // of the programs
)

// point is a mechanism as the paper has it in its figures and tables.
type point struct {
	alpha, level, loss float64
	took               time.Duration // to build it
}

// build makes the mechanism of an alpha and measures it.
type build func(ctx context.Context, s space, alpha float64) point

// scheme is one way to make mechanisms, or several of which the best counts.
type scheme struct {
	name   string
	builds []build
}

// channels builds mechanisms that have a matrix.
func channels(channel func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel) build {
	return func(ctx context.Context, s space, alpha float64) point {
		start := time.Now()
		c := channel(ctx, s.Dense, alpha)
		took := time.Since(start)
		audit := exhibit.Must(c.Audit(ctx, s, &mechanism.AuditOptions{Delta: delta}))
		return point{alpha, audit.Hi, exhibit.Must(exhibit.Must(c.Loss(ctx, s)).Quantile(share)), took}
	}
}

// The schemes of Section 5.1. Programs keep to the budget of the paper, that is alpha/3 for
// a 3-spanner and alpha/2 for ConstOPT.
var (
	exponentialMech = scheme{"exponential", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		return exhibit.Must(exponential.Standard(ctx, f, alpha, nil)).Channel
	})}}
	spannerMech = scheme{"Spanner", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		o := &lp.SpannerOptions{Options: lp.Options{Tolerance: tolerance}, KeepBudget: true}
		return exhibit.Must(lp.Spanner(ctx, metric.Same(f), alpha, o)).Channel
	})}}
	optMech = scheme{"OPTMech", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		return exhibit.Must(lp.Optimal(ctx, metric.Same(f), alpha, &lp.Options{Tolerance: tolerance})).Channel
	})}}
	constOPT10 = constOPTMech(10, lambdas...)
	constOPT5  = constOPTMech(5, lambdas...)
	lambdas    = []float64{.001, .1, 1}
	madlib     = scheme{"Madlib (simulated)", []build{noise}}
)

// constOPTMech takes the best of some lambda.
func constOPTMech(r int, lambdas ...float64) scheme {
	m := scheme{name: fmt.Sprintf("ConstOPT (%d)", r)}
	for _, lambda := range lambdas {
		m.builds = append(m.builds, channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
			o := &lp.ConstOptions{Neighbors: r, KeepBudget: true, Lambdas: []float64{lambda}, Tolerance: tolerance}
			return exhibit.Must(lp.ConstOPT(ctx, metric.Same(f), alpha, o)).Channel
		}))
	}
	return m
}

// noise is Madlib, which has no matrix: its level is that of its noise at delta, and its loss
// an estimate.
func noise(ctx context.Context, s space, alpha float64) point {
	const releases = 5_000 // of all inputs
	start := time.Now()
	m := exhibit.Must(additive.NewMadlib(s.vectors, alpha, nil))
	level := exhibit.Must(m.LevelAt(ctx, delta))
	loss := exhibit.Must(demo.Simulate(ctx, m, s, nil, 1, releases/s.Len()+1))
	return point{alpha, level, loss.Quantile, time.Since(start)}
}

// at is the point of least loss at a level, with the time that all ways to it took.
func (m scheme) at(ctx context.Context, s space, level float64) point {
	best, took, start := point{loss: math.Inf(1)}, time.Duration(0), level
	for _, b := range m.builds {
		p := b.at(ctx, s, level, start)
		if start = cmp.Or(p.alpha, start); p.loss < best.loss {
			best = p
		}
		took += p.took
	}
	if math.IsInf(best.loss, 1) {
		exhibit.Must(0, fmt.Errorf("%s: nothing at a level of %v", m.name, level))
	}
	best.took = took
	return best
}

// at looks for the alpha of a level from a first one on. Levels grow about as alpha does, so that a few steps
// find it; where they jump over it, the least loss that was met at a lower level counts.
func (b build) at(ctx context.Context, s space, level, alpha float64) point {
	const most = 12 // steps
	best, lo, hi := point{loss: math.Inf(1)}, 0., math.Inf(1)
	for step := 0; step < most && hi > (1+near)*lo; step++ {
		p := b(ctx, s, alpha)
		if math.Abs(p.level-level) <= near*level {
			return p
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
	return best
}
