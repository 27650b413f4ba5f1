package lp

import (
	"context"
	"math"
	"time"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

const boundByProgram = "linear program"

// methods are all there are for the space, in the order to try them.
func (c *chooser) methods() []builder {
	n := c.b.Len()
	family := func(build func(metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) func(time.Duration) (*mechanism.Channel, error) {
		return func(time.Duration) (*mechanism.Channel, error) {
			m, err := build(c.b.Privacy, c.alpha, &exponential.Options{Unit: c.Unit, Workers: c.Workers, Context: c.Context})
			if err != nil {
				return nil, err
			}
			return m.Channel, nil
		}
	}
	list := []builder{
		{MethodConstant, 0, c.constant},
		{MethodTight, 0, family(exponential.Tight)},
		{MethodTuned, 0, family(exponential.Tuned)},
	}
	if !c.b.OneMetric() {
		list = append(list, builder{MethodRelaxedTuned, cost(relaxedAtThousand, n, 1000, 3), c.relaxed})
	}
	return append(list,
		builder{MethodConstOPT, cost(constPrograms*constAtThousand, n, 1000, constPower), c.constOPT},
		builder{MethodOptimal, c.optimalNeeds(), c.best},
		builder{MethodSpanner, cost(spannerAt400, n, 400, 4.1), c.spanner},
	)
}

// What methods take on two cores, to the tolerance that [Optimal] has by default:
// measured with the benchmarks of this package, whose points, grids and trees have
// the same sizes. Powers are those between the sizes that were measured. An
// estimate that is too low costs little: at the end of the time there is a
// mechanism all the same.
const (
	relaxedAtThousand = 30 * time.Second // eight tunings, and the separations
	spannerAt400      = 25 * time.Second // eight programs of a sparse graph

	// A program takes 3 s at n = 400; tuning asks for 3 to 6 of them.
	constAtThousand = 88 * time.Second
	constPrograms   = 5
	constPower      = 3.7

	// Points of the plane, dense factors: 0.2 s at n = 50.
	denseAtHundred = 4 * time.Second
	densePower     = 4.1
	// Points of the plane, constraints as they are needed, to 1e-6: 9 s at n =
	// 150, and 2 to 4 s, as with dense factors, where that begins.
	lazyFineAt150 = 10 * time.Second
	lazyFinePower = 4.1
	// The same to 1e-3: 6 s at n = 150, 176 s at 400.
	lazyCoarseAt400 = 175 * time.Second
	lazyCoarsePower = 3.4

	// 5 to 16 s for trees, roads and grids; a grid of 1,024 points 160 s.
	sparseAt400 = 10 * time.Second
	sparsePower = 2.95
)

// cost extrapolates what n points take from what at many do, by a power law.
func cost(known time.Duration, n, at int, power float64) time.Duration {
	seconds := known.Seconds() * math.Pow(float64(n)/float64(at), power)
	// At least a nanosecond: 0 would be no limit.
	return time.Duration(max(1, min(seconds*float64(time.Second), math.MaxInt64/2)))
}

// optimalNeeds estimates Optimal, whose factors depend on the space.
func (c *chooser) optimalNeeds() time.Duration {
	n := c.b.Len()
	if n <= lazySize {
		return cost(denseAtHundred, n, 100, densePower)
	}
	lazy := cost(lazyFineAt150, n, 150, lazyFinePower)
	if n > fineSize {
		lazy = cost(lazyCoarseAt400, n, 400, lazyCoarsePower)
	}
	sparse := cost(sparseAt400, n, 400, sparsePower)
	if sparse > c.TimeLimit {
		return lazy // without a look, which costs n^2
	}
	p, err := read("lp: Choose", c.b, c.alpha, c.options())
	if err != nil {
		return lazy
	}
	defer p.close()
	if (&merged{problem: p}).looksDense() {
		return lazy
	}
	return sparse
}

// constant releases the centre of the space, or its median under the prior.
func (c *chooser) constant(time.Duration) (*mechanism.Channel, error) {
	n, centre := c.b.Len(), 0
	if c.Prior == nil {
		var err error
		if _, centre, err = metric.RadiusContext(c.late, c.b.Utility); err != nil {
			return nil, err
		}
	} else {
		least := math.Inf(1)
		var row []float64
		for y := range n {
			if err := c.late.Err(); err != nil {
				return nil, err
			}
			row = metric.Row(c.b.Utility, y, row)
			mean := 0.0
			for x, d := range row {
				mean += float64(c.Prior[x] * d)
			}
			if mean < least {
				least, centre = mean, y
			}
		}
	}
	m, err := exponential.Constant(n, centre, c.Unit)
	if err != nil {
		return nil, err
	}
	return m.Channel, nil
}

// relaxed is the relaxed mechanism at the best separation and rate, or none if
// the time left was not enough.
func (c *chooser) relaxed(left time.Duration) (*mechanism.Channel, error) {
	ctx, cancel := context.WithTimeout(c.Context, left)
	defer cancel()
	o := &exponential.RelaxedOptions{Tuned: true, Prior: c.Prior, Unit: c.Unit, Workers: c.Workers, Context: ctx}
	if c.Prior != nil {
		o.Criterion = exponential.Mean
	}
	m, err := exponential.Relaxed(c.b, c.alpha, o)
	if err != nil {
		return nil, err
	}
	return m.Channel, nil
}

// constOPT is the mechanism of ConstOPT, within the time left. Under a prior it
// is that of least worst-case loss all the same.
func (c *chooser) constOPT(left time.Duration) (*mechanism.Channel, error) {
	s, err := ConstOPT(c.b, c.alpha, &ConstOptions{TimeLimit: left, MemoryLimit: c.MemoryLimit,
		Unit: c.Unit, Workers: c.Workers, Context: c.Context})
	if s == nil {
		return nil, err
	}
	return s.Channel, err
}

// spanner is the mechanism of Spanner, within the time left; its programs may
// prove a bound too.
func (c *chooser) spanner(left time.Duration) (*mechanism.Channel, error) {
	o := &SpannerOptions{Options: *c.options()}
	o.TimeLimit = left
	s, err := Spanner(c.b, c.alpha, o)
	if s == nil || s.Channel == nil {
		return nil, err
	}
	c.prove(&s.Solution)
	return s.Channel, err
}

// best is the mechanism of Optimal, within the time left.
func (c *chooser) best(left time.Duration) (*mechanism.Channel, error) {
	o := c.options()
	o.TimeLimit = left
	s, err := Optimal(c.b, c.alpha, o)
	if s == nil {
		return nil, err
	}
	c.optimal = s.Status == Optimum
	c.prove(s)
	return s.Channel, err
}
