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

// LaplaceFrequencies is the baseline with a curator: the counts of all items with discrete
// Laplace noise that hides a whole user. Another user in place of one moves the counts by
// up to 2m in l1, so noise of parameter eps/(2m) is (eps, 0)-private. (Half as much, the
// Lap(1/(n eps)) on the frequencies of IRC24, is only (2 eps, 0)-private.) Immutable and
// safe for concurrent use.
type LaplaceFrequencies struct {
	space metric.Finite
	g     Guarantee
	s     float64 // P{noise = j} prop. to exp(-s|j|)
}

// NewLaplaceFrequencies returns the baseline at user-level eps > 0. The model must be
// central and bounded, and space within its diameter. The promise is (eps, 0) between any
// two users, a discrete one at the diameter.
func NewLaplaceFrequencies(ctx context.Context, space metric.Finite, model Model, eps float64) (*LaplaceFrequencies, error) {
	const op = "emd: NewLaplaceFrequencies"
	model, _, err := model.checkOn(ctx, op, space)
	if err := cmp.Or(err, model.checkBounded(op), fault.Positive(op, "eps", eps)); err != nil {
		return nil, err
	}
	if model.Trust != Central {
		return nil, fault.Value(op, "Model.Trust", float64(model.Trust), "Central: noise on the counts of all users needs a curator")
	}
	f := &LaplaceFrequencies{space: space, s: directed.DivDown(eps, 2*float64(model.Items))}
	if !(f.s >= minLaplace) {
		return nil, fault.Value(op, "eps", eps, "a number with eps/(2*Items) >= 2^-40")
	}
	f.g, err = NewDiscrete(model, model.Diameter, DP{Eps: eps})
	return f, err
}

// minLaplace keeps the noise, beyond 700/s with a probability below e^-700,
// within int64.
const minLaplace = 0x1p-40

func (f *LaplaceFrequencies) made(op string) error {
	return fault.Made(f != nil && f.space != nil, op, "LaplaceFrequencies", "NewLaplaceFrequencies")
}

// Guarantee is the promise of one release.
func (f *LaplaceFrequencies) Guarantee() Guarantee {
	if f == nil {
		return Guarantee{}
	}
	return f.g
}

// Release returns the noisy mean of the users' distributions, an unbiased estimate of the
// exact one. The entries need not sum to 1; see [Project]. StdErr is the known deviation of
// the noise. Errors are those of [Frequencies.Release]. O(items + points).
func (f *LaplaceFrequencies) Release(rng *rand.Rand, data Users[int]) (*Estimate, error) {
	const op = "emd: LaplaceFrequencies.Release"
	if err := f.made(op); err != nil {
		return nil, err
	}
	m := f.g.model
	k := f.space.Len()
	in, users, err := tally(context.Background(), op, m, k, data)
	if err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	e := &Estimate{Mean: make([]float64, k), StdErr: make([]float64, k), Users: users, Items: users * int64(m.Items)}
	counts := make([]int64, k)
	for _, n := range in {
		counts[n.x] = n.count
	}
	// Var = 2 q/(1-q)^2 for q = e^-s.
	dev := math.Sqrt(0.5) / math.Sinh(f.s/2) / float64(e.Items)
	for x, n := range counts {
		e.Mean[x] = float64(exact.AddDiscreteLaplace(rng, n, f.s)) / float64(e.Items)
		e.StdErr[x] = dev
	}
	return e, nil
}

// ErrorBound bounds the expected earth mover's distance between the mean of the users'
// distributions and the estimate, once what its total errs is spread evenly, as [Project]
// does. Each of the k entries then errs with the variance (1-1/k) Var(noise), and d_EM is
// at most diameter/2 times the sum of their sizes. Never above the diameter, as in
// [Frequencies.ErrorBound].
func (f *LaplaceFrequencies) ErrorBound() float64 {
	fault.Must(f, f.made("emd: LaplaceFrequencies.ErrorBound"))
	m, k := f.g.model, float64(f.space.Len())
	variance := 0.5 / (math.Sinh(f.s/2) * math.Sinh(f.s/2))
	return m.Diameter * min(1, math.Sqrt(k*(k-1)*variance)/2/(float64(m.Users)*float64(m.Items)))
}
