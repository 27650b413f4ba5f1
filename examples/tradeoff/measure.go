package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// row is what one level costs.
type row struct {
	bracket             entropy.Bracket // of the optimal accuracy, mechanisms included
	entropic, diametric scale.Interval
	losses              []float64 // worst expected loss of every method; NaN where there is none
	none                []error   // why there is none
}

// method is one way to build a mechanism that is alpha-private under rho1.
type method struct {
	name  string
	build func(ctx context.Context, s *study, alpha float64) (*mechanism.Channel, error)
}

// label is the method's name in the picture: the one that it has in all pictures.
func (m method) label() string {
	switch m.name {
	case "standard", "tuned":
		return "exponential, " + m.name
	case "tight":
		return "exponential, tight weights"
	case "const":
		return "ConstOPT"
	case "relaxed tuned":
		return "relaxed, tuned"
	}
	return m.name
}

// plainly names a construction that looks at rho1 alone.
func plainly(name string, build func(context.Context, metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) method {
	return method{name, func(ctx context.Context, s *study, alpha float64) (*mechanism.Channel, error) {
		m, err := build(ctx, s.space.Privacy, alpha, &exponential.Options{Unit: s.unit})
		if err != nil {
			return nil, err
		}
		return m.Channel, nil
	}}
}

// relaxed names a form of the relaxed ultrametric mechanism.
func relaxed(name string, tuned bool) method {
	return method{name, func(ctx context.Context, s *study, alpha float64) (*mechanism.Channel, error) {
		m, err := exponential.Relaxed(ctx, s.space, alpha, &exponential.RelaxedOptions{Tuned: tuned, Unit: s.unit})
		if err != nil {
			return nil, err
		}
		return m.Channel, nil
	}}
}

// The largest spaces for the linear programs, and how near to the least loss they
// must come on more than exact points: seconds a level.
const (
	maxOptimal = 200
	maxConst   = 400
	exact      = 100
	enough     = 0.1
)

// near is the gap at which a program may end; 0 is next to none.
func (s *study) near() float64 {
	if s.space.Len() <= exact {
		return 0
	}
	return enough
}

// constant is the smaller program, with a neighborhood of each point free.
func constant(ctx context.Context, s *study, alpha float64) (*mechanism.Channel, error) {
	if n := s.space.Len(); n > maxConst {
		return nil, fmt.Errorf("%d points are too many for a linear program here, want at most %d", n, maxConst)
	}
	m, err := lp.ConstOPT(ctx, s.space, alpha, &lp.ConstOptions{Tolerance: s.near() / 10, Unit: s.unit})
	if err != nil {
		return nil, err
	}
	return m.Channel, nil
}

// optimal is the whole program.
func optimal(ctx context.Context, s *study, alpha float64) (*mechanism.Channel, error) {
	if n := s.space.Len(); n > maxOptimal {
		return nil, fmt.Errorf("%d points are too many for the whole linear program here, want at most %d", n, maxOptimal)
	}
	m, err := lp.Optimal(ctx, s.space, alpha, &lp.Options{Tolerance: s.near(), Unit: s.unit})
	if err != nil {
		return nil, err
	}
	return m.Channel, nil
}

// The methods, in the order of columns and lines.
var (
	plain = []method{
		plainly("standard", exponential.Standard),
		plainly("tuned", exponential.Tuned),
		plainly("tight", demo.Tight),
		{"const", constant},
		{"optimal", optimal},
	}
	// branches answer with a branch of the hierarchy that rho2 is.
	branches = []method{
		relaxed("relaxed", false),
		relaxed("relaxed tuned", true),
	}
)

// measure fills in the rows.
func (s *study) measure(ctx context.Context, p *demo.Program, alphas []float64) error {
	if err := s.bound(ctx, p, alphas); err != nil {
		return err
	}
	report, wipe := p.Progress("mechanisms")
	defer wipe()
	for k := range s.rows {
		if err := s.rows[k].compare(ctx, s); err != nil {
			return err
		}
		report(k+1, len(s.rows))
	}
	return nil
}

// bound makes a row for every level with what is known before any mechanism.
func (s *study) bound(ctx context.Context, p *demo.Program, alphas []float64) error {
	report, wipe := p.Progress("bounds")
	defer wipe()
	o := &entropy.Options{Progress: report}
	entropic, err := scale.Entropic(ctx, s.space, alphas, o)
	if err != nil {
		return err
	}
	diametric, err := scale.Diametric(ctx, s.space, alphas, &scale.Options{Progress: report})
	if err != nil {
		return err
	}
	brackets, err := entropy.Accuracy(ctx, s.space, alphas, o)
	if err != nil {
		return err
	}
	for k, b := range brackets {
		s.rows = append(s.rows, row{bracket: b, entropic: entropic[k].Interval, diametric: diametric[k].Interval})
	}
	return nil
}

// compare builds every mechanism at the row's level.
func (r *row) compare(ctx context.Context, s *study) (err error) {
	var losses []entropy.Loss
	for _, m := range s.methods {
		loss, none := s.worst(ctx, m, r.bracket.Alpha)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if none == nil {
			losses = append(losses, entropy.Loss{Name: m.name, Value: loss})
		}
		r.losses, r.none = append(r.losses, loss), append(r.none, none)
	}
	// With checks the losses too: none may lie below a lower bound.
	r.bracket, err = r.bracket.With(losses...)
	return err
}

// worst builds a mechanism and returns its exact worst expected loss, or NaN
// and why there is no such mechanism.
func (s *study) worst(ctx context.Context, m method, alpha float64) (float64, error) {
	mech, err := m.build(ctx, s, alpha)
	var losses mechanism.Losses
	if err == nil {
		losses, err = mech.Loss(ctx, s.space.Utility)
	}
	if err != nil {
		return math.NaN(), err
	}
	loss, _ := losses.Worst()
	return loss, nil
}

// defaultAlphas are round levels from the one at which the whole space, of that
// diameter, looks alike to one at which most points are told from their
// neighbors.
func (s *study) defaultAlphas(wide float64) []float64 {
	rho1 := s.space.Privacy
	var nearest []float64
	for x := range rho1.Len() {
		least := wide
		for y := range rho1.Len() {
			if d := rho1.Distance(x, y); d > 0 {
				least = min(least, d)
			}
		}
		nearest = append(nearest, least)
	}
	slices.Sort(nearest)
	// The standard mechanism takes a neighbor at this over alpha for the truth
	// one time in e^3.
	const apart = 6
	lo, hi := 1/wide, apart/nearest[len(nearest)/2]
	alphas := ladder(lo, hi, "1", "2", "5")
	if len(alphas) < 8 { // too few for a picture
		alphas = ladder(lo, hi, "1", "1.5", "2", "3", "5", "7")
	}
	if k := len(alphas) - maxDefault; k > 0 { // from 1 mm to 1000 km, say
		alphas = alphas[k:]
	}
	return alphas
}

// maxDefault is how many levels a run computes that was not told which.
const maxDefault = 15

// ladder returns digits times 10^e in [lo, hi], the one below lo, and at least
// three.
func ladder(lo, hi float64, digits ...string) []float64 {
	var steps []float64
	for e := int(math.Floor(math.Log10(lo))) - 1; ; e++ {
		for _, d := range digits {
			a, err := strconv.ParseFloat(fmt.Sprintf("%se%d", d, e), 64) // correctly rounded
			if err != nil {
				return steps // beyond the float64 numbers
			}
			if a <= lo {
				steps = steps[:0]
			}
			if a > hi && len(steps) >= 3 {
				return steps
			}
			if a > 0 {
				steps = append(steps, a)
			}
		}
	}
}
