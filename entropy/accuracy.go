package entropy

import (
	"cmp"
	"context"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Options are those of package scale.
type Options = scale.Options

// Accuracy encloses the optimal accuracy A(Z, alpha) of a bimetric space, in units of rho2, at
// every level of alphas, by [LowerBounds] and [UpperBounds]; [Bracket.With] adds losses of
// mechanisms. Errors, here and in the other functions on spaces, are [*metric.ValueError],
// [metric.ErrEmpty], [*metric.SizeError], and [*metric.Violation] for a distance that is none,
// any in a space of up to 1024 points.
func Accuracy(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) ([]Bracket, error) {
	const op = "entropy: Accuracy"
	if err := cmp.Or(fault.Empty(op, "alphas", len(alphas)), spaces.CheckSpace(op, b), spaces.CheckPositive(op, alphas)); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, alphas, spaces.OrDefault(o))
	if err != nil {
		return nil, err
	}
	lower, err := w.lower(ctx)
	if err != nil {
		return nil, err
	}
	upper, err := w.upper(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Bracket, len(alphas))
	for k := range out {
		out[k] = newBracket(alphas[k], append(lower[k], upper[k]...))
	}
	return out, nil
}

// work is a bimetric space with what its bounds at some levels share.
type work struct {
	b      metric.Bimetric
	stored metric.Bimetric // b, with its distances stored if it is small
	alphas []float64
	o      *Options
	closed *closedStars // once lower has run

	// Once bestNets has run: the point of least radius under rho2, and the points from there on,
	// farthest-first under rho1.
	center int
	radius float64
	order  []int
	radii  []float64
}

func newWork(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) (*work, error) {
	stored, err := spaces.Stored(ctx, b)
	return &work{b: b, stored: stored, alphas: alphas, o: o}, err
}

// one is the first of what was found for a list of one level.
func one[T any](all []T, err error) (first T, _ error) {
	if err != nil {
		return first, err
	}
	return all[0], nil
}
