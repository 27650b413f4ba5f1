package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// SpannerOptions are the settings of [Spanner]; nil and zeros mean the
// defaults.
type SpannerOptions struct {
	Options // for all linear programs together
	// Stretch is t of the t-spanner, a finite number >= 1; 0 means 3.
	Stretch float64
	// KeepBudget solves with the budget alpha/Stretch only, as IKWAT22 do.
	KeepBudget bool
}

// SpannerSolution is the mechanism of [Spanner]. Iterations are those of all programs.
type SpannerSolution struct {
	Solution
	// Graph is the spanner, Stretch its largest ratio to the distances, rounded up.
	Graph   *metric.Graph
	Stretch float64
	// Budget, in [alpha/Stretch, alpha], is that of the linear program behind Channel; 0
	// where there is none.
	Budget float64
	Solves int // linear programs solved
}

// String gives the figures in a line.
func (s *SpannerSolution) String() string {
	budget := ""
	if s.Budget > 0 {
		budget = fmt.Sprintf(", budget %.4g", s.Budget)
	}
	return fmt.Sprintf("%v, %d edges of stretch %.3g%s, %d programs", &s.Solution, len(s.Graph.Edges()), s.Stretch, budget, s.Solves)
}

const defaultStretch = 3

// stretch is the one asked for.
func (o *SpannerOptions) stretch(op string) (float64, error) {
	switch {
	case o.Stretch == 0:
		return defaultStretch, nil
	case !(o.Stretch >= 1) || math.IsInf(o.Stretch, 1):
		return 0, fault.Value(op, "Stretch", o.Stretch, "a finite number >= 1, or 0")
	}
	return o.Stretch, nil
}

// Spanner returns the alpha-private mechanism that is optimal under stronger constraints,
// between the ends of the edges of a greedy t-spanner of the privacy metric (SpannerMech of
// IKWAT22, Theorem 4). With g the metric of the spanner, rho1 <= g <= t*rho1, a mechanism of
// level alpha/t under g is alpha-private; budgets are raised from there until the audited level
// is within 1 percent of alpha. The DualBound of a program with the budget alpha under g is one
// for rho1 too.
//
// It ends as [Optimal] does, and may return what that begins with; the result is nil where the
// spanner itself was interrupted. Errors: those of Optimal and [metric.Spanner]. The cost is 3
// to 8 calls of Optimal.
func Spanner(ctx context.Context, b metric.Bimetric, alpha float64, o *SpannerOptions) (*SpannerSolution, error) {
	const op = "lp: Spanner"
	if o == nil {
		o = &SpannerOptions{}
	}
	t := &spannerSearch{b: b, alpha: alpha, keep: o.KeepBudget, began: time.Now()}
	var err error
	t.o, err = o.Options.defaults(op, b, alpha)
	if err != nil {
		return nil, err
	}
	stretch, err := o.stretch(op)
	if err != nil {
		return nil, err
	}
	if t.graph, err = metric.Spanner(ctx, b.Privacy, stretch); err != nil {
		return nil, fault.Within(op, err)
	}
	t.best.Graph = t.graph
	if err := t.stretch(ctx); err != nil {
		return nil, err
	}
	if err := t.start(ctx); err != nil {
		return nil, err
	}
	if err := t.search(ctx); err != nil && !errors.Is(err, context.Cause(ctx)) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		t.best.Status = StatusCanceled
	}
	if t.best.Status != StatusOptimal && t.before.Objective < t.best.Objective {
		t.best.Budget = 0
		t.best.keep(&released{t.before.Channel, t.before.Audited, t.before.Objective, t.before.Method})
		t.best.Adversary = adversary(t.p.late, t.best.Channel, t.o.Prior, t.b.Utility)
	}
	t.best.Elapsed = time.Since(t.began)
	if err := ctx.Err(); err != nil {
		return &t.best, fmt.Errorf("%s: stopped after %d programs: %w", op, t.best.Solves, context.Cause(ctx))
	}
	return &t.best, nil
}

// spannerSearch is the state of one call.
type spannerSearch struct {
	b     metric.Bimetric
	alpha float64
	o     Options // with defaults
	keep  bool    // the budget
	graph *metric.Graph
	began time.Time
	p     *problem
	// reading is what it takes to read the distances, which no limit counts.
	reading time.Duration
	best    SpannerSolution
	// before is what Optimal would begin with: its bound counts, its mechanism where
	// no program was solved to the end.
	before Solution
	// short is at least 1 and at least every rho1/g: above 1 where g was rounded
	// down. What is private under rho1 is so under g at short times the level.
	short  float64
	proved bool // DualBound is set
}

// stretch measures the spanner.
func (t *spannerSearch) stretch(ctx context.Context) error {
	n := t.graph.Len()
	t.best.Stretch, t.short = 1, 1
	var d, g []float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, g = finite.Row(t.b.Privacy, i, d), t.graph.DistancesFrom(i, g)
		for j := range i {
			if d[j] > 0 {
				t.best.Stretch = max(t.best.Stretch, directed.DivUp(g[j], d[j]))
			}
			if g[j] > 0 {
				t.short = max(t.short, directed.DivUp(d[j], g[j]))
			}
		}
	}
	return nil
}

// start begins with the constant channel, of level 0, and what Optimal begins with:
// there is always a result.
func (t *spannerSearch) start(ctx context.Context) error {
	start := time.Now()
	p, err := read(ctx, "lp: Spanner", t.b, t.alpha, &t.o)
	if err != nil {
		return err
	}
	r, err := p.constant(ctx)
	if err != nil {
		return err
	}
	t.p, t.reading = p, time.Since(start)
	p.begin()
	t.best.Engine, t.best.Prior, t.best.lossUnit = EngineNone, distribution(t.o.Prior, p.n), p.lossUnit()
	t.best.keep(r)
	t.before = t.best.Solution
	if r.objective > 0 {
		p.start(&t.before, t.began)
	}
	t.best.prove(t.before.DualBound, t.before.BoundBy, t.before.Prior)
	t.best.Adversary = adversary(p.late, t.best.Channel, t.o.Prior, t.b.Utility)
	return nil
}

// search tunes the budget and proves the bound.
func (t *spannerSearch) search(ctx context.Context) error {
	// A level under g is at most Stretch times as much under rho1, up to the
	// ulps that quotients and products round off.
	lo := 1.0
	if t.best.Stretch > 1 {
		lo = 1 / t.best.Stretch * (1 - 0x1p-48)
	}
	open := func() bool { return t.p.ctx.Err() == nil && t.left() > 0 }
	var err error
	if open() {
		err = tune(lo, func(fraction float64) (float64, bool, error) {
			level, err := t.solve(ctx, fraction)
			return level, !t.keep && open(), err
		})
	}
	if err == nil && !t.proved && !t.keep && open() {
		_, err = t.solve(ctx, t.short)
	}
	if !open() {
		t.best.Status = StatusTimeLimit
	}
	if t.p.late.Err() != nil { // an audit that was cut off
		err = ctx.Err()
	}
	return err
}

// left is what is left of the limit for another program.
func (t *spannerSearch) left() time.Duration { return t.p.left() - t.p.kept - t.reading }

// solve solves with that fraction of alpha as the budget, keeps what is better
// and returns the audited level in units of alpha.
func (t *spannerSearch) solve(ctx context.Context, fraction float64) (float64, error) {
	o, best := t.o, &t.best
	if o.TimeLimit > 0 {
		o.TimeLimit = max(1, t.left()) // 0 would be none
	}
	before := best.Iterations
	o.Progress = func(i int, gap float64, _ time.Duration) {
		t.o.Progress(before+i, gap, time.Since(t.began))
	}
	bound := fraction >= t.short
	budget := directed.MulDown(fraction, t.alpha)
	if bound {
		budget = directed.MulUp(fraction, t.alpha)
	}
	s, solveErr := optimal(ctx, "lp: Spanner", metric.Bimetric{Privacy: t.graph, Utility: t.b.Utility}, budget, &o, true)
	if s == nil {
		return 0, solveErr
	}
	best.Solves++
	best.Iterations += s.Iterations
	c, audit, err := s.Channel.Certify(t.p.late, t.b.Privacy, o.Unit, &mechanism.AuditOptions{Workers: o.Workers})
	if err != nil {
		return 0, cmp.Or(solveErr, err)
	}
	better := audit.Hi <= t.alpha && s.Objective < best.Objective
	if better {
		best.Channel, best.Audited, best.Objective, best.Method = c, audit, s.Objective, s.Method
		best.Engine, best.Budget, best.Adversary = s.Engine, budget, s.Adversary
	}
	if better || best.Engine == EngineNone {
		best.Status, best.Refused = s.Status, s.Refused
	}
	if bound {
		t.proved = true
		best.prove(s.DualBound, s.BoundBy, s.Prior)
	}
	best.Gap = gap(best.Objective, best.DualBound)
	return audit.Hi / t.alpha, solveErr
}
