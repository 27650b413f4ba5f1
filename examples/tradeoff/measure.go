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
	"github.com/metricdp/metricdp/mechanism/exponential"
)

// row is what one level costs.
type row struct {
	bracket             entropy.Bracket // of the optimal accuracy, mechanisms included
	entropic, diametric scale.Interval
	demo.Comparison     // of the methods
}

// label is a method's name in the picture: the one that it has in all pictures.
func label(name string) string {
	switch name {
	case "standard", "tuned":
		return "exponential, " + name
	case "tight":
		return "exponential, tight weights"
	case "const":
		return "ConstOPT"
	case "relaxed tuned":
		return "relaxed, tuned"
	}
	return name
}

// relaxed names a form of the relaxed ultrametric mechanism.
func (s *study) relaxed(name string, tuned bool) demo.Method {
	return demo.Method{Name: name, Build: func(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
		m, err := exponential.Relaxed(ctx, s.space, alpha, &exponential.RelaxedOptions{Options: exponential.Options{Unit: s.unit}, Tuned: tuned})
		if err != nil {
			return demo.Built{}, err
		}
		return demo.Built{Channel: m.Channel}, nil
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
func (s *study) constant(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	if n := s.space.Len(); n > maxConst {
		return demo.Built{}, fmt.Errorf("%d points are too many for a linear program here, want at most %d", n, maxConst)
	}
	m, err := lp.ConstOPT(ctx, s.space, alpha, &lp.ConstOptions{Tolerance: s.near() / 10, Unit: s.unit})
	if err != nil {
		return demo.Built{}, err
	}
	return demo.Built{Channel: m.Channel}, nil
}

// optimal is the whole program.
func (s *study) optimal(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	if n := s.space.Len(); n > maxOptimal {
		return demo.Built{}, fmt.Errorf("%d points are too many for the whole linear program here, want at most %d", n, maxOptimal)
	}
	m, err := lp.Optimal(ctx, s.space, alpha, &lp.Options{Tolerance: s.near(), Unit: s.unit})
	if err != nil {
		return demo.Built{}, err
	}
	return demo.Built{Channel: m.Channel}, nil
}

// plain are the methods for any space, in the order of columns and lines.
func (s *study) plain() []demo.Method {
	return []demo.Method{
		demo.Family("standard", s.space.Privacy, s.unit, exponential.Standard),
		demo.Family("tuned", s.space.Privacy, s.unit, exponential.Tuned),
		demo.Family("tight", s.space.Privacy, s.unit, exponential.Tight),
		{Name: "const", Build: s.constant},
		{Name: "optimal", Build: s.optimal},
	}
}

// branches answer with a branch of the hierarchy that rho2 is.
func (s *study) branches() []demo.Method {
	return []demo.Method{s.relaxed("relaxed", false), s.relaxed("relaxed tuned", true)}
}

// measure fills in the rows and prints each as it comes.
func (s *study) measure(ctx context.Context, p *demo.Program, alphas []float64) error {
	if err := s.bound(ctx, p, alphas); err != nil {
		return err
	}
	t := s.table()
	for k := range s.rows {
		report, wipe := p.Progress(fmt.Sprintf("level %d of %d", k+1, len(s.rows)))
		err := s.rows[k].compare(ctx, s, report)
		wipe()
		if err != nil {
			return err
		}
		s.rows[k].print(p, t)
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
func (r *row) compare(ctx context.Context, s *study, report demo.Report) (err error) {
	r.Space = s.space.Utility
	var losses []entropy.Loss
	for k, m := range s.methods {
		report(k, len(s.methods))
		one, err := r.Try(ctx, m, r.bracket.Alpha, nil)
		if err != nil {
			return err
		}
		if one.Err == nil {
			losses = append(losses, entropy.Loss{Name: m.Name, Value: one.Worst})
		}
		r.Rows = append(r.Rows, one)
	}
	// With checks the losses too: none may lie below a lower bound.
	r.bracket, err = r.bracket.With(losses...)
	return err
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
