package lp

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/lp/internal/kernel"
	"github.com/metricdp/metricdp/metric"
)

// leastExtended is the number of inputs from which on a program of some of them, one in
// anchorShare and mostAnchors at most, takes little beside that of all. That has as small a gap
// after some programStep for each of n^3 m, and is long from longWork of these on: below, the
// program of some takes two thirds of that time, and helps only where the limit is less. Tests
// lower both.
var leastExtended, longWork = 256, 5e10

const programStep = float64(time.Nanosecond) / 3

const anchorShare, mostAnchors = 3, 300

// baseShares are the shares of a local program's channel that are tried: the later ones lose up
// to 3.4 per cent less than the first, and are left out where it loses baseGain more than what
// there is.
var baseShares = []float64{1, .92, .84}

const baseGain = 0.05

// manyOutputs is how many times as many inputs as outputs there may be where columns of the kernel are
// remapped, which takes up to ten times as long as the weights, and where the mean is looked at.
const manyOutputs = 2

// extend improves s where programs of all inputs take long: by mechanisms on all inputs, and
// by a program with some of them, which proves a bound.
//
// The mechanisms are the balanced kernel, a sum of weighted columns exp(-r*rho1(x, S))
// whose row sums are nearly 1 and which release what is best for the worst input, and the channel of
// a local program that sees the whole space, extended to all inputs. The bound is that of a program in
// a ball around the input where the mechanism loses most: fewer inputs only lower the optimum, and
// outputs that are not in the program are priced by multipliers, rounded outward. Where the whole
// program does not fit the memory there is one of the mean too: see mean.go.
//
// O(n^2 m) time, O(n^2) memory.
func (p *problem) extend(s *Solution, began time.Time) error {
	e := &extension{problem: p, s: s, anchors: min(mostAnchors, p.n/anchorShare), stage: func() { p.o.Progress(s.Iterations, s.Gap, time.Since(began)) }}
	err := e.run()
	var most *metric.MemoryError
	if errors.As(err, &most) || p.ctx.Err() != nil {
		return nil
	}
	return err
}

// work is what the program takes, in units of programStep.
func (p *problem) work() float64 {
	n := float64(p.n)
	return n * n * n * float64(p.m)
}

// extends tells whether extend pays: the program takes long, or longer than is left.
func (p *problem) extends() bool {
	work := p.work()
	return !p.bare && p.o.Prior == nil && p.n >= leastExtended && (work >= longWork || work*programStep > float64(p.left()))
}

// extension is the state of extend.
type extension struct {
	*problem
	s       *Solution
	anchors int // of a local program, at most
	whole   *kernel.Base
	stage   func() // ends
}

func (e *extension) newKernel(base *kernel.Base, share float64) (k *kernel.Kernel, losses []float64, err error) {
	k, err = kernel.New(e.ctx, &kernel.Problem{
		Inputs: e.n, Outputs: e.m, Budget: e.budget, Loss: e.loss, Workers: e.o.Workers, Memory: e.memory,
	}, base, share)
	if err == nil {
		losses, err = k.Losses()
	}
	return k, losses, err
}

func (e *extension) run() error {
	k, losses, err := e.newKernel(nil, 0)
	if err != nil {
		return err
	}
	many := manyOutputs*e.m >= e.n
	if many {
		if better, err := k.Remap(); err == nil { // else it is as it was
			losses = better
		}
	}
	worst := slices.Max(losses)
	if worst < e.s.Objective {
		err = e.keepKernel(k)
	} else { // NaN where weights overflow, as rho1 is no metric
		worst = math.Inf(1)
		losses, err = e.losses(e.s.Channel)
	}
	if err != nil {
		return err
	}
	e.stage()
	// A patch around the next worst input proved more in one of six spaces, by 1.5 per cent.
	if most := slices.Max(losses); e.s.Gap > e.o.Tolerance && e.ctx.Err() == nil {
		if err := e.patch(slices.Index(losses, most), most); err != nil {
			return err
		}
		e.stage()
	}
	if open := e.s.Gap > e.o.Tolerance && e.ctx.Err() == nil; many && open && e.memory(e.bytes()+ipm.WholeSize(e.n, e.m, e.n).Bytes()) != nil {
		if err := e.mean(k); err != nil {
			return err
		}
		e.stage()
	}
	if e.whole != nil && e.s.Gap > e.o.Tolerance {
		var best *kernel.Kernel
		for _, share := range baseShares {
			over, lost, err := e.newKernel(e.whole, share)
			if err != nil {
				return err
			}
			l := slices.Max(lost)
			if l < worst {
				best, worst = over, l
			}
			if l > (1+baseGain)*e.s.Objective {
				break
			}
		}
		if best != nil && worst < e.s.Objective {
			if err := e.keepKernel(best); err != nil {
				return err
			}
		}
	}
	e.stage()
	return nil
}

// keepKernel keeps the kernel's channel where there is one that is private.
func (e *extension) keepKernel(k *kernel.Kernel) error {
	for _, safe := range []bool{false, true} {
		c, err := k.Channel(e.late, e.o.Outputs, safe)
		if err != nil || c == nil {
			return err
		}
		loss, err := e.lossOf(c)
		if err != nil {
			return err
		}
		r, err := e.certify(c, loss, MethodKernel)
		if err != nil {
			return err
		}
		if r.audit.Hi <= e.alpha {
			e.s.keep(r)
			break
		}
	}
	return nil
}

// bounded are budgets as distances, none of which is infinite.
type bounded struct{ finite.Metric }

func (b bounded) Distance(i, j int) float64 { return min(b.Metric.Distance(i, j), endless) }
