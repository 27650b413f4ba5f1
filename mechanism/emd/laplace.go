package emd

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// NewLaplaceFrequencies returns the baseline with a curator, at user-level eps > 0: the
// counts of all items with discrete Laplace noise that hides a whole user. Another user in
// place of one moves the counts by up to 2m in l1, so noise of parameter eps/(2m) is (eps,
// 0)-private, a discrete promise at the diameter. (Half as much, the Lap(1/(n eps)) on the
// frequencies of IRC24, is only (2 eps, 0)-private.) Entries of the estimate need not sum
// to 1. The model must be central and bounded, and space within its diameter.
func NewLaplaceFrequencies(ctx context.Context, space metric.Finite, model Model, eps float64) (*Frequencies, error) {
	const op = "emd: NewLaplaceFrequencies"
	model, _, err := model.checkOn(ctx, op, space)
	if err := cmp.Or(err, model.checkBounded(op), fault.Positive(op, "eps", eps)); err != nil {
		return nil, err
	}
	if model.Trust != Central {
		return nil, fault.Value(op, "Model.Trust", float64(model.Trust), "Central: noise on the counts of all users needs a curator")
	}
	f := &Frequencies{space: space, condition: 1, outputs: space.Len(), noise: directed.DivDown(eps, 2*float64(model.Items))}
	if !(f.noise >= minLaplace) {
		return nil, fault.Value(op, "eps", eps, "a number with eps/(2*Items) >= 2^-40")
	}
	// Once what the total errs is spread evenly, each of the k entries errs with the
	// variance (1-1/k) Var(noise), and d_EM is at most diameter/2 times the sum of their
	// sizes.
	k, variance := float64(space.Len()), 0.5/(math.Sinh(f.noise/2)*math.Sinh(f.noise/2))
	f.bound = func(items int64) float64 {
		return model.Diameter * (math.Sqrt(k*(k-1)*variance) / 2 / float64(items))
	}
	f.g, err = NewDiscrete(model, model.Diameter, DP{Eps: eps})
	return f, err
}

// minLaplace keeps the noise, beyond 700/s with a probability below e^-700,
// within int64.
const minLaplace = 0x1p-40

// noisy is how often each item came up, with noise.
func (f *Frequencies) noisy(rng *rand.Rand, in []run) []int64 {
	rng, done := random.Get(rng)
	defer done()
	n := make([]int64, f.outputs)
	for _, r := range in {
		n[r.x] = r.count
	}
	for x, c := range n {
		n[x] = exact.AddDiscreteLaplace(rng, c, f.noise)
	}
	return n
}
