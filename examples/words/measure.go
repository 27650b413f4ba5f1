package main

import (
	"context"
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
	limit   time.Duration
	seed    uint64
	outputs []int // the words that may be released; nil: all

	demo.Comparison
	lower   float64 // no alpha-private mechanism has a worst loss below
	lowerBy string
}

// delta is that at which IKWAT22 compare levels.
const delta = 0.001

const optMech = "OPTMech"

// methods are the mechanisms that have a matrix, in the order of the table.
func (s *study) methods() []demo.Method {
	if s.outputs != nil {
		return []demo.Method{{Name: "exponential, the best", Build: s.exponential}, {Name: optMech, Build: s.optimal}}
	}
	list := []demo.Method{
		demo.Family("exponential", s.space, "", exponential.Standard),
		demo.Family("exponential, tuned", s.space, "", exponential.Tuned),
		demo.Family("exponential, tight weights", s.space, "", exponential.Tight),
	}
	if s.limit == 0 {
		return list
	}
	list = append(list, demo.Method{Name: "Spanner", Build: s.spanner})
	for _, r := range []int{5, 10} { // nearest words with free weights
		if r < len(s.words) {
			list = append(list, demo.Method{Name: fmt.Sprintf("ConstOPT, r = %d", r), Build: s.constOPT(r)})
		}
	}
	return append(list, demo.Method{Name: optMech, Build: s.optimal})
}

// exponential is the best mechanism of the exponential family.
func (s *study) exponential(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	m, err := exponential.Best(ctx, metric.Same(s.space), alpha, &exponential.BestOptions{Outputs: s.outputs})
	if err != nil {
		return demo.Built{}, err
	}
	return demo.Built{Channel: m.Channel, Remark: string(m.Method)}, nil
}

// spanner is the linear program on the edges of a spanner, within the time.
func (s *study) spanner(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	sol, err := lp.Spanner(ctx, metric.Same(s.space), alpha, &lp.SpannerOptions{Options: lp.Options{TimeLimit: s.limit}})
	if err != nil {
		return demo.Built{}, err
	}
	edges := fmt.Sprintf("%d edges, which make distances up to %.3g times as long", len(sol.Graph.Edges()), sol.Stretch)
	return demo.Built{Channel: sol.Channel, Bound: sol.DualBound, Remark: stopped(sol.Status, edges)}, nil
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
func (s *study) constOPT(r int) func(context.Context, float64, demo.Report) (demo.Built, error) {
	return func(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
		sol, err := lp.ConstOPT(ctx, metric.Same(s.space), alpha, &lp.ConstOptions{Neighbors: r, TimeLimit: s.limit})
		if err != nil {
			return demo.Built{}, err
		}
		return demo.Built{Channel: sol.Channel, Remark: stopped(sol.Status, "")}, nil
	}
}

// optimal is the linear program, within its time.
func (s *study) optimal(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	sol, err := lp.Optimal(ctx, metric.Same(s.space), alpha, &lp.Options{TimeLimit: s.limit, Outputs: s.outputs})
	if err != nil {
		return demo.Built{}, err
	}
	proved := ""
	if sol.DualBound > 0 {
		proved = fmt.Sprintf("proved to be within %.2g %% of the optimum", 100*sol.Gap)
	}
	return demo.Built{Channel: sol.Channel, Bound: sol.DualBound, Remark: stopped(sol.Status, proved)}, nil
}

// compare builds every mechanism at the study's level and measures it.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	report, wipe := p.Progress("mechanisms")
	defer wipe()
	methods := s.methods()
	for k, m := range methods {
		report(k, len(methods)+2)
		r, err := s.Try(ctx, m, s.alpha, nil)
		if err != nil {
			return err
		}
		s.Rows = append(s.Rows, r)
		if r.Bound > s.lower {
			s.lower, s.lowerBy = r.Bound, "linear programming duality, from "+m.Name
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
	if madlib.Err == nil && s.outputs == nil {
		if err := s.levelOf(ctx, &madlib); err != nil {
			return err
		}
	}
	s.Rows = append(s.Rows, madlib)
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

// measure fills in the audited level, and how often the best guess from a release is right.
func (s *study) measure(ctx context.Context, r *demo.Row, c *mechanism.Channel) error {
	audit, err := c.Audit(ctx, s.space, &mechanism.AuditOptions{Delta: delta})
	if err != nil {
		return err
	}
	r.Level, r.Adversary = audit.Hi, guessed(c)
	return nil
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
	p.Remark("The exponential mechanism may be built for alpha = %.3g before its level at delta is above %v; it then loses %.4g.", alpha, s.alpha, worst)
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
func (s *study) madlib(ctx context.Context, alpha float64, releases int) (demo.Row, error) {
	start := time.Now()
	m, err := additive.NewMadlib(s.vectors, alpha, nil)
	if err != nil { // float64 is too coarse for the noise at these vectors
		return demo.Row{Name: madlibName, Err: err}, nil
	}
	r := demo.Row{Name: madlibName, Adversary: unknown, Took: time.Since(start), Mech: m}
	if r.Level, err = m.LevelAt(ctx, delta); err != nil {
		return r, err
	}
	if s.outputs != nil {
		nearest, _, err := metric.Assign(ctx, s.space, s.outputs)
		if err != nil {
			return r, err
		}
		r.Mech = mechanism.Then(r.Mech, func(y int) (int, error) { return s.outputs[nearest[y]], nil })
	}
	r.Loss, err = demo.Simulate(ctx, r.Mech, s.space, nil, s.seed, releases)
	return r, err
}

// How often every word is released to bound the level of Madlib from below, and how
// often that may be wrong.
const (
	witnesses = 5_000
	doubt     = .01
)

// levelOf says between what the level of Madlib lies.
func (s *study) levelOf(ctx context.Context, r *demo.Row) error {
	o := &mechanismtest.Options[int, int]{Samples: min(witnesses, 50*witnesses/len(s.words)), FalseReject: doubt, Seed: s.seed}
	e, _, _, err := mechanismtest.LevelAtLeast(ctx, r.Mech, s.space, delta, o)
	r.Remark = fmt.Sprintf("losses estimated from %d releases a word; its level at delta is at most that of its noise and at least %s, by %d releases a word at confidence %v",
		simulated, demo.Number(e.Level), o.Samples, e.Confidence)
	return err
}
