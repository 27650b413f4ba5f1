package private

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/wasserstein"
)

// Bound has bounds on the expected W1 error of a [Measure] before any data are seen, in units of
// the metric, from the measure moved to the points of the cells. For the measure itself add
// Resolution.
type Bound struct {
	// Signed bounds the error of the Signed estimate: rigorous, in closed form.
	Signed float64
	// Nearest is twice that, for the Nearest estimate: rigorous where it is nearest in the metric
	// or on the line.
	Nearest float64
	// Weighted bounds the error of the Weighted estimate, the default: rigorous, in closed form.
	Weighted float64
	// Simulated estimates the error of the Signed estimate by simulation of noise, with standard
	// error StdErr: an over-estimate, except on a line. The default estimator errs 1.2 to 12 times
	// less in practice.
	Simulated, StdErr float64
	// Lower bounds from below the worst expected error, over all measures, of every mechanism as
	// private, on the points of up to 1,024 cells (BSV22, Theorem 8.5, with constants).
	Lower float64
	// Resolution is the most that moving records to their cells' points adds, NaN where unknown.
	Resolution float64
}

// BoundOptions are the settings of [Measure.Bound].
type BoundOptions struct {
	// Draws is how often noise is simulated; 0 means 64. A negative number
	// leaves Simulated and Lower out, for the closed form alone.
	Draws int
	// Seed fixes the simulation.
	Seed uint64
}

// Bound returns the error bounds. It reads no data.
func (m *Measure) Bound(ctx context.Context, o *BoundOptions) (Bound, error) {
	const op = "private: Measure.Bound"
	if err := m.check(op); err != nil {
		return Bound{}, err
	}
	p, opt := m.p, region.OrZero(o)
	signed := p.signedCost()
	b := Bound{Signed: signed, Nearest: 2 * signed, Weighted: p.weightedCost(), Simulated: math.NaN(), StdErr: math.NaN(), Lower: math.NaN(), Resolution: p.resolution}
	if opt.Draws < 0 {
		return b, nil
	}
	if opt.Draws == 0 {
		opt.Draws = 64
	}
	if err := fault.Memory(op, float64(opt.Draws), 24); err != nil { // a cost and an error each
		return Bound{}, err
	}
	byDepth := make([][]int, p.Tree.Height())
	for class, s := range p.Classes {
		if s.Arity > 1 {
			byDepth[s.Depth] = append(byDepth[s.Depth], class)
		}
	}
	cost := make([]float64, opt.Draws)
	err := parallel.Each(ctx, opt.Draws, 1, func(d int) (err error) {
		rng := random.Seeded(opt.Seed + uint64(d))
		if p.Line != nil {
			cost[d], err = p.simulateLine(rng)
		} else {
			cost[d], err = p.simulateNodes(ctx, rng, byDepth)
		}
		return err
	})
	if err != nil {
		return Bound{}, fmt.Errorf("%s: %w", op, err)
	}
	b.Simulated, b.StdErr = sample.Mean(cost)
	if b.Lower = 0; p.loss == 0 { // one cell
		return b, nil
	}
	f, err := p.points(region.LowerCells)
	if err != nil {
		return Bound{}, err
	}
	least, err := families.PrivateMeasureBound(ctx, f, p.loss)
	b.Lower = least.Value
	return b, err
}

// signedCost bounds the expected W1 cost of the noise, in counts times distance:
// on a line the sum over the gaps of E|S_k| <= sqrt(Var S_k), and otherwise the
// sum over the nodes of what each one's noise costs.
func (p *plan) signedCost() float64 {
	sum := 0.0
	if p.Line != nil {
		v := make([]float64, p.cells)
		if err := p.walk.Variances(v); err != nil {
			return math.Inf(1)
		}
		for k := range len(v) - 1 {
			sum += float64((p.Line[k+1] - p.Line[k]) * math.Sqrt(max(0, v[k])))
		}
		return sum * p.gridFactor() * region.RoundUp
	}
	for _, s := range p.Classes {
		if s.Arity > 1 {
			sum += float64(float64(s.Nodes) * s.Spread * math.Sqrt(p.noise[s.Depth].Variance(s.Arity)))
		}
	}
	return sum * p.gridFactor() * region.RoundUp
}

// weightedCost bounds the expected W1 cost of the Weighted estimate by the sum over the nodes v of
// D_v E A_v, with A_v = sum_c |z_c - z|/2, z_c the noise of its children and z the mean of that, or
// what it costs in a row: the proof stands in package adaptive, at Upper. E|z_c - z| is at most
// the deviation. Projections in float64 err by 2^-50 of a node's mass for each child at most.
func (p *plan) weightedCost() float64 {
	sum, rounding := 0.0, 0.0
	for _, s := range p.Classes {
		if s.Arity > 1 {
			k, v := float64(s.Arity), p.noise[s.Depth].Variance(s.Arity)
			a := k / 2 * math.Sqrt(v*(1-1/k))
			if p.row {
				a = min(a, float64((1+1/k)/2*a)+math.Sqrt(v*(float64(k*k)-1)/(12*k)))
			}
			sum += float64(float64(s.Nodes) * s.Diameter * a)
			rounding = max(rounding, k*s.Diameter*0x1p-50)
		}
	}
	return (float64(sum*p.gridFactor()) + float64(rounding*float64(p.Tree.Height()))) * region.RoundUp
}

// gridFactor bounds what rounding to the grid adds to signedCost, as a factor. With noise of
// covariance s(I - J/k) a cost |a.z| is at most its deviation sqrt(s) |a - mean(a)| on average,
// and the k children's rounding, of half a step each, adds sqrt(k)/2 steps times |a - mean(a)|:
// r deviations at most. To a partial sum every level adds once, and the sum of their deviations
// is at most sqrt(height) times that of the partial sum. To A_v of weightedCost rounding adds k/4
// steps, which is less.
func (p *plan) gridFactor() float64 {
	r := 0.0
	for _, s := range p.Classes {
		if s.Arity > 1 {
			n := p.noise[s.Depth]
			r = max(r, n.Step()/2*math.Sqrt(float64(s.Arity)/n.Variance(s.Arity)))
		}
	}
	return 1 + float64(r*math.Sqrt(float64(p.Tree.Height())))
}

func (p *plan) simulateLine(rng *rand.Rand) (cost float64, err error) {
	z := make([]float64, p.cells)
	err = p.walk.Increments(rng, z)
	sum := 0.0
	for k := range len(z) - 1 {
		sum += z[k]
		cost += float64(math.Abs(sum) * (p.Line[k+1] - p.Line[k]))
	}
	return cost, err
}

// simulatedNodes is how many nodes of an irregular tree's level are simulated.
const simulatedNodes = 16

// simulateNodes draws the noise of nodes of every level and returns the sum of
// its W1 over all, with every child at one point. byDepth holds the classes.
func (p *plan) simulateNodes(ctx context.Context, rng *rand.Rand, byDepth [][]int) (cost float64, err error) {
	for _, classes := range byDepth {
		step := (len(classes) + simulatedNodes - 1) / simulatedNodes
		for i := 0; i < len(classes); i += step {
			s := p.Classes[classes[i]]
			stand := min(step, len(classes)-i) * s.Nodes // nodes that it stands for
			w, err := p.nodeCost(ctx, rng, classes[i], s)
			if err != nil {
				return 0, err
			}
			cost += float64(float64(stand) * w)
		}
	}
	return cost, nil
}

func (p *plan) nodeCost(ctx context.Context, rng *rand.Rand, class int, s region.Class) (float64, error) {
	z := make([]float64, s.Arity)
	p.noise[s.Depth].Draw(rng, z)
	plus, minus := make([]float64, len(z)), make([]float64, len(z))
	sum := 0.0
	for i, x := range z {
		plus[i], minus[i] = max(x, 0), max(-x, 0)
		sum += x
	}
	if sum > 0 { // equal totals, up to rounding
		minus[0] += sum
	} else {
		plus[0] -= sum
	}
	res, err := wasserstein.W1(ctx, p.Children(class), plus, minus, &wasserstein.Options{Workers: 1})
	if err != nil {
		return 0, err
	}
	return res.Cost, nil
}
