package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/metric"
)

// priced are some points as inputs, with a prior and prices: a solution of the dual of the
// linear program for A with these inputs and all outputs, near enough for a bound.
type priced struct {
	Inputs        []int
	Prior, Prices []float64 // prices in the unit of rho2
}

// Prove implements [Witness], by [ipm.Lift]. O(n*|Inputs|^2).
func (p priced) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	v, _, err := p.prove(ctx, b, alpha, 0)
	return v, err
}

// prove returns also what every output lacks.
func (p priced) prove(ctx context.Context, b metric.Bimetric, alpha float64, workers int) (v float64, lack []float64, err error) {
	const op = "entropy: Witness.Prove"
	if err := cmp.Or(checkWitness(op, b, alpha, 0, "Inputs", p.Inputs...), fault.Empty(op, "Inputs", len(p.Inputs)),
		fault.Size(op, "Prior", len(p.Prior), len(p.Inputs)), fault.Size(op, "Prices", len(p.Prices), len(p.Inputs)),
		fault.AllNonNegative(op, "Prior", p.Prior), fault.AllFinite(op, "Prices", p.Prices)); err != nil {
		return 0, nil, err
	}
	unit := unitOf(slices.Max(finite.Row(b.Utility, p.Inputs[0], nil)), 0)
	prices := make([]float64, len(p.Prices))
	for i, y := range p.Prices {
		prices[i] = y * unit
	}
	v, lack, err = ipm.Lift(ctx, budgets(b.Privacy, alpha, p.Inputs), p.Prior, prices, b.Len(), workers, func(w int, to []float64) {
		for i, u := range p.Inputs {
			to[i] = directed.MulDown(b.Utility.Distance(u, w), unit)
		}
	})
	if !(v > 0) { // NaN for a prior of 0
		return 0, lack, err
	}
	return max(0, directed.DivDown(v, unit)), lack, err
}

// budgets are alpha*rho1 of the pairs of some points, rounded up.
func budgets(f metric.Finite, alpha float64, points []int) finite.Square {
	out := make([]float64, 0, len(points)*len(points))
	for _, u := range points {
		for _, v := range points {
			out = append(out, directed.MulUp(alpha, f.Distance(u, v)))
		}
	}
	return finite.Square{N: len(points), D: out}
}

// The search for prices.

const (
	// The inputs of a program are at most localInputs points of the largest ball in which
	// others have one of them within localCover/alpha, or else the localBall nearest points.
	// They are farther apart than localClose/alpha, from localFew on than localFine/alpha, but
	// for small spaces of two metrics.
	localInputs, localBall, localFew  = 176, 128, 100
	localCover, localFine, localClose = 0.8, 0.4, 1e-6
	shrinking                         = 0.75 // of the points of a ball at a time
	// A program has at most localRows privacy constraints, at first half of them: where there
	// are more, pairs that others imply up to localStretch are left out, and then inputs.
	localRows    = 1 << 18
	localStretch = 1.2
	// Programs are solved up to localGap at first. Outputs are added until the bound is
	// localEnough times that for the outputs in the program, in at most localRounds. Where it
	// is not and all are there, prices of a gap wider by localWider prove more: they are
	// smoother. Programs of localSmall constraints are solved again to a finer gap.
	localGap    = 0.03
	localEnough = 0.95
	localRounds = 3
	localWider  = 4
	localSmall  = 1 << 14
	// Prices are those of a level of localLevel over the size of the space at least: below
	// it nothing changes but rounding.
	localLevel = 1e-3
)

// local returns the best bound found from programs of points around x, and the bound.
func (w *work) local(ctx context.Context, alpha float64, x int) (best priced, v float64, err error) {
	level := alpha
	best = priced{Inputs: []int{x}, Prior: []float64{1}, Prices: []float64{0}} // proves 0
	if far := slices.Max(finite.Row(w.stored.Privacy, x, nil)); far > 0 {
		level = min(max(alpha, localLevel/far), math.MaxFloat64)
	}
	inputs, ball, err := w.localInputs(ctx, level, x)
	if err != nil || len(inputs) < 2 {
		return best, 0, err
	}
	prog := &ipm.Problem{Inputs: len(inputs)}
	if err := w.localPairs(ctx, level, prog, inputs); err != nil {
		return best, 0, err
	}
	rows := pairs(prog)
	inputs = inputs[:prog.Inputs]
	outputs := slices.Clone(inputs)
	if !w.b.OneMetric() {
		if outputs, _, err = spread(ctx, w.stored.Utility, ball, len(inputs)); err != nil {
			return best, 0, err
		}
	}
	unit := unitOf(slices.Max(finite.Row(w.b.Utility, x, nil)), 0)
	prog.Class = spaces.AllPoints(len(inputs))
	gap := localGap
	for range localRounds {
		for _, y := range outputs[prog.Outputs:] {
			for _, u := range inputs {
				prog.Loss = append(prog.Loss, float64(w.stored.Utility.Distance(u, y)*unit))
			}
		}
		prog.Outputs = len(outputs)
		plan, err := ipm.Prepare(ctx, prog)
		if err != nil {
			return best, 0, err
		}
		found := plan.Solve(ctx, ipm.Settings{Tolerance: gap, Workers: w.o.Workers})
		p := priced{inputs, found.Z, found.Y}
		for i := range p.Prices {
			p.Prices[i] /= unit
		}
		if fault.AllFinite("", "", p.Prices) != nil { // rounding has stopped the solver at once
			return best, v, ctx.Err()
		}
		proved, lack, err := p.prove(ctx, w.stored, alpha, w.o.Workers)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return best, 0, err
		}
		if proved > v {
			best, v = p, proved
		}
		for _, y := range slices.Backward(spaces.Ascending(lack)) {
			if m := len(outputs); lack[y] > 0 && m < 2*prog.Outputs && rows*m < localRows && !slices.Contains(outputs, y) {
				outputs = append(outputs, y)
			}
		}
		switch enough := v*unit >= found.Lower*localEnough; {
		case !enough && len(outputs) > prog.Outputs:
		case len(outputs) == w.b.Len() && rows*len(outputs) <= localSmall:
			gap /= localWider
		case enough || len(outputs) < w.b.Len():
			return best, v, nil
		default:
			gap *= localWider
		}
	}
	return best, v, nil
}

// localPairs sets the budgets and pairs of a program, and leaves out the last of its inputs
// where there are too many pairs.
func (w *work) localPairs(ctx context.Context, alpha float64, prog *ipm.Problem, inputs []int) (err error) {
	for ; ; prog.Inputs = prog.Inputs * 7 / 8 {
		k := prog.Inputs
		prog.Budget = budgets(w.stored.Privacy, alpha, inputs[:k])
		if prog.Pairs, err = direct.Pairs(ctx, prog.Budget, w.o.Workers); err == nil && pairs(prog)*k > localRows/2 {
			prog.Pairs, err = direct.Nearly(ctx, prog.Budget, localStretch, w.o.Workers)
		}
		if err != nil || pairs(prog)*k <= localRows/2 {
			return err
		}
	}
}

func pairs(p *ipm.Problem) (n int) {
	for _, list := range p.Pairs {
		n += len(list)
	}
	return n
}

// localInputs returns inputs of a program, x first, and the ball that they stand for.
func (w *work) localInputs(ctx context.Context, alpha float64, x int) (inputs, ball []int, err error) {
	ball = spaces.Ascending(finite.Row(w.stored.Privacy, x, nil))
	few := localFew
	if !w.b.OneMetric() && len(ball) <= 2*localInputs { // points that are close may lose unlike others
		few = localInputs
	}
	i := slices.Index(ball, x) // others may be at distance 0
	ball[0], ball[i] = x, ball[0]
	for {
		order, radii, err := spread(ctx, w.stored.Privacy, ball, localInputs)
		if err != nil {
			return nil, nil, err
		}
		if alpha*radii[len(order)] > localCover {
			if ball = ball[:int(shrinking*float64(len(ball)))]; len(ball) <= localInputs {
				ball = ball[:localBall]
			}
			continue
		}
		for m := range order {
			if r := alpha * radii[m]; r <= localClose || m >= few && r <= localFine {
				return order[:m], ball, nil
			}
		}
		return order, ball, nil
	}
}

// spread returns up to k of the points, the first and then the farthest from those before,
// and radii as [metric.FarthestFirst] does.
func spread(ctx context.Context, f metric.Finite, points []int, k int) (order []int, radii []float64, err error) {
	sub, err := metric.Subset(f, points)
	if err != nil {
		return nil, nil, err
	}
	if order, radii, err = metric.FarthestFirst(ctx, sub, min(k, len(points)), 0); err != nil {
		return nil, nil, err
	}
	for m, i := range order {
		order[m] = points[i]
	}
	return order, radii, nil
}
