package demo

import (
	"context"
	"errors"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Loss is what a table shows of the losses of a mechanism.
type Loss struct {
	Worst, Mean float64
	Quantile    float64 // 95 % of the inputs lose no more
}

// LossOf summarizes losses, with the mean under the prior; nil is uniform.
func LossOf(losses mechanism.Losses, prior []float64) (l Loss, err error) {
	l.Worst, _ = losses.Worst()
	if l.Mean, err = losses.Mean(prior); err != nil {
		return l, err
	}
	l.Quantile, err = losses.Quantile(0.95)
	return l, err
}

// Simulate is [LossOf] a mechanism that has no matrix, estimated from so many
// releases an input.
func Simulate(ctx context.Context, m mechanism.Mechanism[int, int], f metric.Finite, prior []float64, seed uint64, releases int) (Loss, error) {
	r := random.Seeded(seed)
	losses := make(mechanism.Losses, f.Len())
	for x := range losses {
		if ctx.Err() != nil {
			return Loss{}, ctx.Err()
		}
		for range releases {
			y, err := m.Release(r, x)
			if err != nil {
				return Loss{}, err
			}
			losses[x] += f.Distance(x, y) / float64(releases)
		}
	}
	return LossOf(losses, prior)
}

// Why is the reason for which a mechanism does not exist, in short where that
// is common.
func Why(err error) string {
	if negative := new(exponential.NegativeWeightError); errors.As(err, &negative) {
		return "a weight would be negative"
	}
	return err.Error()
}
