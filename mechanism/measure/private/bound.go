package private

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Bound bounds the expected W1 error of a [Measure], whatever the data, in units of the metric,
// from the measure moved to the points of the cells: rigorous, in closed form.
type Bound struct {
	// Signed bounds the error of the Signed estimate.
	Signed float64
	// Nearest is twice that, for the Nearest estimate where it is nearest in the metric or on the
	// line.
	Nearest float64
	// Weighted bounds the error of the Weighted estimate, the default.
	Weighted float64
	// Resolution is the most that moving records to their cells' points adds, NaN where unknown.
	Resolution float64
}

// Bound returns the error bounds. It reads no data. O(nodes).
func (m *Measure) Bound() (Bound, error) {
	if err := m.check("private: Measure.Bound"); err != nil {
		return Bound{}, err
	}
	signed := m.p.signedCost()
	return Bound{Signed: signed, Nearest: 2 * signed, Weighted: m.p.weightedCost(), Resolution: m.p.resolution}, nil
}

// LowerBound is a lower bound on the worst expected error, over all measures, of every mechanism as
// private, on the points of up to 1,024 cells (BSV22, Theorem 8.5, with constants). It reads no
// data.
func (m *Measure) LowerBound(ctx context.Context) (float64, error) {
	if err := m.check("private: Measure.LowerBound"); err != nil {
		return 0, err
	}
	if m.p.loss == 0 { // one cell
		return 0, nil
	}
	f, err := m.p.points(region.LowerCells)
	if err != nil {
		return 0, err
	}
	least, err := families.PrivateMeasureBound(ctx, f, m.p.loss)
	return least.Value, err
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
