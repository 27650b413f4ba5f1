package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// study is the input, what was asked of it and what was found.
type study struct {
	file    string
	words   []string
	vectors [][]float32
	space   *metric.Dense // the distances, stored
	alpha   float64
	r       []int
	limit   time.Duration
	seed    uint64
	outputs []int // the words that may be released; nil: all

	rows    []result
	lower   float64 // no alpha-private mechanism has a worst loss below
	lowerBy string
}

// delta is that at which IKWAT22 compare levels.
const delta = 0.001

// result is one row of the table.
type result struct {
	name  string
	level float64 // eps_tight at delta; of Madlib an upper bound
	demo.Loss
	guessed float64 // how often the best guess from a release is right; NaN where unknown
	took    time.Duration
	remark  string
	err     error                         // why the mechanism does not exist here
	mech    mechanism.Mechanism[int, int] // nil where err is set
}

// built is a mechanism as a matrix, with what there is to say about it.
type built struct {
	channel *mechanism.Channel
	remark  string
	bound   float64 // that a linear program proved beside it, or 0
}

// keeps tells whether there is a matrix, and one that was proved alpha-private.
func (b built) keeps(alpha float64) bool {
	return b.channel != nil && b.channel.Guarantee().Alpha() <= alpha
}

// method is one way to build a matrix at a level.
type method struct {
	name  string
	build func(ctx context.Context, alpha float64) (built, error)
}

// family names a mechanism of the exponential family, with options of type O.
func family[O any](s *study, name string, build func(context.Context, metric.Finite, float64, *O) (*exponential.Mechanism, error)) method {
	return method{name, func(ctx context.Context, alpha float64) (built, error) {
		m, err := build(ctx, s.space, alpha, nil)
		if err != nil {
			return built{}, err
		}
		return built{channel: m.Channel}, nil
	}}
}

const optMech = "OPTMech"

// methods are the mechanisms that have a matrix, in the order of the table.
func (s *study) methods() []method {
	if s.outputs != nil {
		return []method{{"exponential, the best", s.exponential}, {optMech, s.optimal}}
	}
	list := []method{
		family(s, "exponential", exponential.Standard),
		family(s, "exponential, tuned", exponential.Tuned),
		family(s, "exponential, tight weights", exponential.Tight),
	}
	if s.limit == 0 {
		return list
	}
	list = append(list, method{"Spanner", s.spanner})
	for _, r := range s.r {
		if r < len(s.words) {
			list = append(list, method{fmt.Sprintf("ConstOPT, r = %d", r), s.constOPT(r)})
		}
	}
	return append(list, method{optMech, s.optimal})
}

// exponential is the best mechanism of the exponential family.
func (s *study) exponential(ctx context.Context, alpha float64) (built, error) {
	m, err := exponential.Best(ctx, metric.Same(s.space), alpha, &exponential.BestOptions{Outputs: s.outputs})
	if err != nil {
		return built{}, err
	}
	return built{channel: m.Channel, remark: string(m.Method)}, nil
}

// spanner is the linear program on the edges of a spanner, within the time.
func (s *study) spanner(ctx context.Context, alpha float64) (built, error) {
	sol, err := lp.Spanner(ctx, metric.Same(s.space), alpha, &lp.SpannerOptions{TimeLimit: s.limit})
	if err != nil {
		return built{}, err
	}
	edges := fmt.Sprintf("%d edges, which make distances up to %.3g times as long", len(sol.Graph.Edges()), sol.Stretch)
	return built{channel: sol.Channel, bound: sol.DualBound, remark: stopped(sol.Status, edges)}, nil
}

// stopped adds to a remark whether time was up.
func stopped(status lp.Status, remark string) string {
	if status != lp.StatusTimeLimit {
		return remark
	}
	if remark != "" {
		remark += "; "
	}
	return remark + "stopped at the time limit, not its best: -time allows it more"
}

// constOPT has free weights for the r words nearest to each word.
func (s *study) constOPT(r int) func(context.Context, float64) (built, error) {
	return func(ctx context.Context, alpha float64) (built, error) {
		sol, err := lp.ConstOPT(ctx, metric.Same(s.space), alpha, &lp.ConstOptions{Neighbors: r, TimeLimit: s.limit})
		if err != nil {
			return built{}, err
		}
		return built{channel: sol.Channel, remark: stopped(sol.Status, "")}, nil
	}
}

// optimal is the linear program, within its time.
func (s *study) optimal(ctx context.Context, alpha float64) (built, error) {
	sol, err := lp.Optimal(ctx, metric.Same(s.space), alpha, &lp.Options{TimeLimit: s.limit, Outputs: s.outputs})
	if err != nil {
		return built{}, err
	}
	proved := ""
	if sol.DualBound > 0 {
		proved = fmt.Sprintf("proved to be within %.2g %% of the optimum", 100*sol.Gap)
	}
	return built{channel: sol.Channel, bound: sol.DualBound, remark: stopped(sol.Status, proved)}, nil
}

// compare builds every mechanism at the study's level and measures it.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	report, wipe := p.Progress("mechanisms")
	defer wipe()
	methods := s.methods()
	for k, m := range methods {
		report(k, len(methods)+2)
		start := time.Now()
		b, err := m.build(ctx, s.alpha)
		took := time.Since(start)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && !b.keeps(s.alpha) {
			err = errNone
		}
		if err != nil {
			s.rows = append(s.rows, result{name: m.name, err: err})
			continue
		}
		r, err := s.measure(ctx, m.name, b)
		if err != nil {
			return err
		}
		r.took = took
		s.rows = append(s.rows, r)
		if b.bound > s.lower {
			s.lower, s.lowerBy = b.bound, "linear programming duality, from "+m.name
		}
	}
	report(len(methods), len(methods)+2)
	releases := simulated
	if s.outputs != nil {
		releases = simulatedMany
	}
	madlib, err := s.madlib(ctx, s.alpha, releases)
	if err != nil {
		return err
	}
	if madlib.err == nil && s.outputs == nil {
		if err := s.levelOf(ctx, &madlib); err != nil {
			return err
		}
	}
	s.rows = append(s.rows, madlib)
	report(len(methods)+1, len(methods)+2)
	bounds, err := entropy.LowerBounds(ctx, metric.Same(s.space), s.alpha, nil)
	if err != nil {
		return err
	}
	if len(bounds) > 0 && bounds[0].Value > s.lower {
		s.lower, s.lowerBy = bounds[0].Value, fmt.Sprintf("%s, %s", bounds[0].Name, bounds[0].Source)
	}
	return nil
}

// measure fills in the figures of a matrix, all of them exact but for rounding.
func (s *study) measure(ctx context.Context, name string, b built) (result, error) {
	r := result{name: name, remark: b.remark, mech: b.channel}
	losses, err := b.channel.Loss(ctx, s.space)
	if err != nil {
		return r, err
	}
	audit, err := b.channel.Audit(ctx, s.space, &mechanism.AuditOptions{Delta: delta})
	if err != nil {
		return r, err
	}
	r.level = audit.Hi
	r.guessed = guessed(b.channel)
	r.Loss, err = demo.LossOf(losses, nil)
	return r, err
}

// atDelta says what the exponential mechanism would lose at the level alpha but for delta.
func (s *study) atDelta(ctx context.Context, p *demo.Program) error {
	if p.Quiet || len(s.words) > maxAtDelta {
		return nil
	}
	standard := func(ctx context.Context, alpha float64) (*mechanism.Channel, error) {
		m, err := exponential.Standard(ctx, s.space, alpha, nil)
		if err != nil {
			return nil, err
		}
		return m.Channel, nil
	}
	c, alpha, err := mechanism.AtLevel(ctx, s.space, s.alpha, standard, &mechanism.AuditOptions{Delta: delta})
	if err != nil { // alpha times the distances is too small or too large
		return ctx.Err()
	}
	losses, err := c.Loss(ctx, s.space)
	if err != nil {
		return err
	}
	worst, _ := losses.Worst()
	p.Remark("The exponential mechanism may be built for alpha = %.3g before its eps_tight is above %v; it then loses %.4g.", alpha, s.alpha, worst)
	return nil
}

// maxAtDelta words are audited some 15 times in a second.
const maxAtDelta = 200

// guessed is how often the best guess from a release, all words being as
// likely, names the word behind it.
func guessed(c *mechanism.Channel) float64 {
	most := make([]float64, c.Outputs())
	var row []float64
	for x := range c.Len() {
		row = c.Row(x, row)
		for y, q := range row {
			most[y] = max(most[y], q)
		}
	}
	return floats.Sum(most) / float64(c.Len())
}

// How many releases a word estimate the loss of Madlib, which has no matrix.
const (
	simulated        = 1000
	simulatedPicture = 100
	simulatedMany    = 20
)

const madlibName = "Madlib (simulated)"

// madlib adds noise to the vector of a word and takes the nearest word, and of the
// outputs the one that is nearest to this.
func (s *study) madlib(ctx context.Context, alpha float64, releases int) (result, error) {
	start := time.Now()
	m, err := additive.NewMadlib(s.vectors, alpha, nil)
	if err != nil { // float64 is too coarse for the noise at these vectors
		return result{name: madlibName, err: err}, nil
	}
	r := result{name: madlibName, guessed: unknown, took: time.Since(start), mech: m}
	if r.level, err = m.LevelAt(ctx, delta); err != nil {
		return r, err
	}
	if s.outputs != nil {
		nearest, _, err := metric.Assign(ctx, s.space, s.outputs)
		if err != nil {
			return r, err
		}
		r.mech = mechanism.Then(r.mech, func(y int) (int, error) { return s.outputs[nearest[y]], nil })
	}
	r.Loss, err = demo.Simulate(ctx, r.mech, s.space, nil, s.seed, releases)
	return r, err
}

// How often every word is released to bound the level of Madlib from below, and how
// often that may be wrong.
const (
	witnesses = 5_000
	doubt     = .01
)

// levelOf says between what the level of Madlib lies.
func (s *study) levelOf(ctx context.Context, r *result) error {
	o := &mechanismtest.Options[int, int]{Samples: min(witnesses, 50*witnesses/len(s.words)), FalseReject: doubt, Seed: s.seed}
	e, _, _, err := mechanismtest.LevelAtLeast(ctx, r.mech, s.space, delta, o)
	r.remark = fmt.Sprintf("losses estimated from %d releases a word; its eps_tight is at most that of its noise and at least %s, by %d releases a word at confidence %v",
		simulated, demo.Number(e.Level), o.Samples, e.Confidence)
	return err
}

var errNone = errors.New("nothing private was found: alpha times the distances is too small")
