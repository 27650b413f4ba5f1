package entropy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Shape is what is known of a metric space that no finite sample of it shows.
type Shape int

const (
	// AnyShape promises nothing.
	AnyShape Shape = iota
	// Connected promises a space that is not the union of two disjoint closed parts.
	Connected
	// NormConvex promises a convex subset of a normed space, with its metric: a ball, a box,
	// all probability measures under W1. It is connected.
	NormConvex
)

// Whole is a metric space Z, one metric for privacy and loss, of which a finite sample is at hand.
// Shape and Gap are taken at their word, but a sample that contradicts them is refused: the closed
// balls of radius Gap around the points of a sample of a connected space hang together.
type Whole struct {
	Sample metric.Finite // points of Z
	Gap    float64       // every point of Z is within Gap of one of them
	Shape  Shape
}

// check checks the fields, and returns the diameter of the sample.
func (z Whole) check(ctx context.Context, op string) (diameter float64, err error) {
	if z.Shape < AnyShape || z.Shape > NormConvex {
		return 0, fault.Value(op, "Shape", float64(z.Shape), "AnyShape, Connected or NormConvex")
	}
	if err := cmp.Or(fault.NonNegative(op, "Gap", z.Gap), spaces.CheckSpace(op, metric.Same(z.Sample))); err != nil {
		return 0, err
	}
	if diameter, _, _, err = metric.Diameter(ctx, z.Sample); err != nil || z.Shape == AnyShape {
		return diameter, err
	}
	tree, err := metric.Subdominant(ctx, z.Sample)
	if err != nil {
		return 0, err
	}
	step := 0.0
	for _, h := range tree.Heights() {
		step = max(step, h)
	}
	if step > 2*z.Gap*spaces.SlackUp {
		return 0, fault.Value(op, "Gap", z.Gap, fmt.Sprintf("at least %v, half the step that connects the sample", step/2))
	}
	return diameter, nil
}

// stretches are the t of EntropicScale at which a sample with gaps is asked.
var stretches = []float64{1.25, 1.5, 2, 4}

// EntropicScale encloses the entropic scale s(Z, alpha) at the levels of alphas, which are
// positive and ascend. The sample has no larger a scale, and
//
//	s(Z, alpha) <= max(4 Gap/(t-1), s(Sample, alpha/t) + 2 Gap) for all t > 1,
//	s(Z, alpha) >= min(diameter, c ln(2)/alpha),
//
// c = 1 if Z is connected (BSV24 Lemmas 2.6 and 2.7 have half of that), 2 if norm-convex;
// then also s(Z, t alpha) <= s(Z, alpha)/t for t <= 1 (Proposition 2.4). The cost is that
// of [scale.Entropic] at five times as many levels.
func (z Whole) EntropicScale(ctx context.Context, alphas []float64, o *Options) ([]scale.Interval, error) {
	const op = "entropy: Whole.EntropicScale"
	diameter, err := z.check(ctx, op)
	if err != nil {
		return nil, err
	}
	b := metric.Same(z.Sample)
	if err := spaces.CheckLevels(op, b, alphas); err != nil {
		return nil, err
	}
	return z.scales(ctx, diameter, alphas, o)
}

// The proof of EntropicScale. Let s be the right side for some t. A ball of radius r < s/2
// has one s-separated point. For r >= s/2 move the points of such a set in B(x,r) to the
// nearest of the sample, and x too: they stay more than s - 2 Gap apart, within r + 2 Gap, so
// that there are at most e^(alpha/t (r + 2 Gap)) of them, and r + 2 Gap <= t r.
//
// Two points x, y have the distance D, the diameter of the sample. If Z is connected,
// rho(x, .) takes every value r <= D, and two points of B(x,r) are r apart: more than
// e^(alpha r) for r < ln(2)/alpha, so that no s < r will do. In a norm-convex Z two points of
// the segment at a distance u < 2 ln(2)/alpha are in a ball of radius u/2 around their middle.

// below is a level at most alpha/t, where scales are not smaller.
func below(alpha, t float64) float64 { return directed.DivDown(alpha, t) }

func (z Whole) scales(ctx context.Context, diameter float64, alphas []float64, o *Options) ([]scale.Interval, error) {
	levels := slices.Clone(alphas)
	for _, alpha := range alphas {
		for _, t := range stretches {
			levels = append(levels, below(alpha, t))
		}
	}
	at, err := spaces.ByLevel(levels, func(levels []float64) ([]scale.Scale, error) {
		return scale.Entropic(ctx, metric.Same(z.Sample), levels, o)
	})
	if err != nil {
		return nil, err
	}
	two := float64(2 * z.Gap)
	out := make([]scale.Interval, len(alphas))
	for k, alpha := range alphas {
		s := scale.Interval{Lo: at[alpha].Lo, Hi: math.Inf(1)}
		if z.Gap == 0 {
			s.Hi = at[alpha].Hi
		}
		for _, t := range stretches {
			if v, ok := at[below(alpha, t)]; ok {
				s.Hi = min(s.Hi, max(directed.DivUp(2*two, t-1), directed.AddUp(v.Hi, two)))
			}
		}
		switch z.Shape {
		case Connected:
			s.Lo = max(s.Lo, min(diameter, directed.DivDown(math.Ln2, alpha))*spaces.SlackDown)
		case NormConvex:
			s.Lo = max(s.Lo, min(diameter, directed.DivDown(2*math.Ln2, alpha))*spaces.SlackDown)
		}
		s.Hi = min(s.Hi*spaces.SlackUp, math.MaxFloat64)
		out[k] = s
	}
	for i := range out {
		for j := range i { // scales fall with the level, alpha s rises
			p, q := &out[j], &out[i]
			p.Lo, q.Hi = max(p.Lo, q.Lo), min(q.Hi, p.Hi)
			if z.Shape == NormConvex {
				p.Hi = min(p.Hi, directed.MulUp(directed.DivUp(alphas[i], alphas[j]), q.Hi))
				q.Lo = max(q.Lo, directed.MulDown(directed.DivDown(alphas[j], alphas[i]), p.Lo))
			}
		}
	}
	return out, nil
}

// Accuracy encloses the optimal accuracy A(Z, alpha), of mechanisms that take and return points of
// Z, at every level of alphas. A lower bound v of the sample proves max(v/2, v - Gap); an
// exponential mechanism with outputs in the sample, worst v there, loses e^(alpha Gap) v + Gap at
// most: take a Gap below 1/alpha. Z itself adds s(Z, 2 alpha)/8, [StandardBound] at s(Z, alpha/3),
// if it is connected two points at every distance, if norm-convex an interval.
//
// Bounds have no witness. The cost is that of [LowerBounds], [UpperBounds] and
// [Whole.EntropicScale].
func (z Whole) Accuracy(ctx context.Context, alphas []float64, o *Options) ([]Bracket, error) {
	const op = "entropy: Whole.Accuracy"
	if err := cmp.Or(fault.Empty(op, "alphas", len(alphas)), spaces.CheckPositive(op, alphas)); err != nil {
		return nil, err
	}
	diameter, err := z.check(ctx, op)
	if err != nil {
		return nil, err
	}
	var levels []float64
	for _, a := range alphas {
		levels = append(levels, below(a, 3), 2*a)
	}
	s, err := spaces.ByLevel(levels, func(levels []float64) ([]scale.Interval, error) {
		return z.scales(ctx, diameter, levels, o)
	})
	if err != nil {
		return nil, err
	}
	w, err := newWork(ctx, metric.Same(z.Sample), alphas, spaces.OrDefault(o))
	if err != nil {
		return nil, err
	}
	lower, err := w.lower(ctx)
	if err != nil {
		return nil, err
	}
	nets, err := w.bestNets(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Bracket, len(alphas))
	for k, alpha := range alphas {
		loss, err := nets[k].prove(ctx, w.stored, alpha, w.o.Workers)
		if err != nil {
			return nil, err
		}
		best := lower[k][0]
		spread := directed.MulUp(min(directed.ExpUp(directed.MulUp(alpha, z.Gap)), math.MaxFloat64), loss)
		bounds := []Bound{
			{Kind: Lower, Value: max(best.Value/2, directed.SubDown(best.Value, z.Gap)) * spaces.SlackDown, Name: "sample", Source: best.Source},
			{Kind: Upper, Value: directed.AddUp(w.radius, z.Gap) * spaces.SlackUp, Name: "constant", Source: "the radius"},
			{Kind: Upper, Value: directed.AddUp(spread, z.Gap) * spaces.SlackUp, Name: "exponential", Source: "loss on a net, BSV24 Lemma 4.1"},
		}
		if at, ok := s[2*alpha]; ok {
			bounds = append(bounds, Bound{Kind: Lower, Value: at.Lo / 8, Name: "scale", Source: "BSV24 Theorem 3.1"})
		}
		if at, ok := s[below(alpha, 3)]; ok {
			v, err := StandardBound(alpha, at.Hi)
			if err != nil {
				return nil, err
			}
			bounds = append(bounds, Bound{Kind: Upper, Value: v, Name: "scale", Source: "BSV24 Lemma 4.1"})
		}
		switch z.Shape {
		case Connected:
			u := min(diameter, spaces.BestMass/alpha) * spaces.SlackDown
			pair := directed.DivDown(u, directed.AddUp(1, directed.ExpUp(directed.MulUp(alpha, u))))
			bounds = append(bounds, Bound{Kind: Lower, Value: pair, Name: "connected", Source: "two points at every distance"})
		case NormConvex:
			line := directed.MulDown(diameter, spaces.LineMinimax(directed.MulUp(alpha, diameter))) * spaces.SlackDown
			bounds = append(bounds, Bound{Kind: Lower, Value: line, Name: "norm-convex", Source: "an interval, by a functional of norm 1"})
		}
		out[k] = newBracket(alpha, bounds)
	}
	return out, nil
}
