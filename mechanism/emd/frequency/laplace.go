package frequency

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
	"github.com/metricdp/metricdp/metric"
)

// NewLaplaceBaseline returns the baseline with a curator, at user-level eps > 0: the counts of all
// items with discrete Laplace noise. Another user in place of one moves the counts by up to 2m in l1,
// so noise of parameter eps/(2m) is (eps, 0)-private, a discrete promise at the diameter. Entries of
// the estimate need not sum to 1. The model must be central and bounded, and space within its diameter.
func NewLaplaceBaseline(ctx context.Context, space metric.Finite, model emd.Model, eps float64) (*Estimator, error) {
	const op = "frequency: NewLaplaceBaseline"
	model, _, err := checkOn(ctx, op, model, space)
	if err := cmp.Or(err, model.CheckBounded(op), fault.Positive(op, "eps", eps)); err != nil {
		return nil, err
	}
	if model.Trust != emd.Central {
		return nil, fault.Value(op, "Model.Trust", float64(model.Trust), "Central: noise on the counts of all users needs a curator")
	}
	f := &Estimator{space: space, condition: 1, outputs: space.Len(), noise: directed.DivDown(eps, 2*float64(model.Items))}
	if !(f.noise >= check.LeastNoise) {
		return nil, fault.Value(op, "eps", eps, "a number with eps/(2*Items) >= 2^-40")
	}
	// Once what the total errs is spread evenly, each of the k entries errs with the
	// variance (1-1/k) Var(noise), and d_EM is at most diameter/2 times the sum of their
	// sizes.
	k, variance := float64(space.Len()), 0.5/(math.Sinh(f.noise/2)*math.Sinh(f.noise/2))
	f.bound = func(items int64) float64 {
		return model.Diameter * (math.Sqrt(k*(k-1)*variance) / 2 / float64(items))
	}
	f.g, err = emd.NewDiscrete(model, model.Diameter, emd.DP{Eps: eps})
	return f, err
}

// noisy is how often each item came up, with noise.
func (f *Estimator) noisy(rng *rand.Rand, in []run) []int64 {
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
