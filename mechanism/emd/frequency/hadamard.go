package frequency

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/metric"
)

// hadamard is Hadamard response: it has K = 2^ceil(log2(k+1)) outputs for k items. With H the Hadamard
// matrix, item x is released as a uniform y with H[x+1,y] = 1 with probability e^eps/(1+e^eps), else
// of the other half: every item is hidden from every other at level eps, near or far. Draws are exact.
type hadamard struct {
	size int
	eps  float64
	coin *exact.Table // 0 for the half of x, 1 for the other
}

// newHadamard is for 1 <= k < 2^30 items; an eps without a finite reciprocal is a [*metric.ValueError].
func newHadamard(op string, k int, eps float64) (*hadamard, error) {
	level := directed.MulDown(eps, 1-auditMargin)
	if k >= 1<<30 || math.IsInf(1/level, 1) {
		return nil, fault.Value(op, "eps", eps, "a number with a finite reciprocal, for fewer than 2^30 items")
	}
	return &hadamard{1 << bits.Len(uint(k)), level, exact.NewTable(exact.Weights{W: []float64{0, -level}, Log: true})}, nil
}

// draw takes a uniform output and, where it is in the wrong half, flips a bit
// that x+1 has, which pairs the halves one to one.
func (h *hadamard) draw(rng *rand.Rand, x int) int {
	side := h.coin.Draw(rng)
	a, y := uint(x+1), uint(rng.Uint64())&uint(h.size-1)
	if bits.OnesCount(a&y)&1 != side {
		y ^= a & -a
	}
	return int(y)
}

// gain is (e^eps+1)/(e^eps-1), the estimator's factor.
func (h *hadamard) gain() float64 { return 1 / math.Tanh(h.eps/2) }

// estimate implements inverter: item x's frequency is 2 gain (f(C_x) - 1/2) = gain * (H f)[x+1]. A
// draw contributes +-gain to it, so N Var_x = gain^2 - frequency. The estimates need not sum to 1.
func (h *hadamard) estimate(f, mean, variance []float64) {
	walshHadamard(f)
	g := h.gain()
	for x := range mean {
		mean[x] = float64(g * f[x+1])
		variance[x] = max(0, float64(g*g)-mean[x])
	}
}

// walshHadamard multiplies f by the Hadamard matrix; len(f) is a power of two.
func walshHadamard(f []float64) {
	for half := 1; half < len(f); half *= 2 {
		for lo := 0; lo < len(f); lo += 2 * half {
			a, b := f[lo:lo+half], f[lo+half:lo+2*half]
			for i, u := range a {
				v := b[i]
				a[i], b[i] = u+v, u-v
			}
		}
	}
}

// NewHadamardBaseline returns the baseline: an [Estimator] with Hadamard response at the largest
// level per item at which all m items of a user together are (pair.Eps, pair.Delta)-private, by exact
// composition ([accountant.ComposeBudget]). The promise is that pair between any two users, a
// discrete one at the diameter. Of the options it takes Workers alone. Compare IRC24, Lemma 6.4.
// Source: Acharya, Sun, Zhang, "Hadamard response: estimating distributions privately, efficiently,
// and with little communication", 2019.
func NewHadamardBaseline(ctx context.Context, space metric.Finite, model emd.Model, pair emd.DP, o *Options) (*Estimator, error) {
	const op = "frequency: NewHadamardBaseline"
	o = cmp.Or(o, &Options{})
	if *o != (Options{Workers: o.Workers}) {
		return nil, fmt.Errorf("%s: options %+v: want Workers alone", op, *o)
	}
	model, _, err := checkOn(ctx, op, model, space)
	if err := cmp.Or(err, model.CheckBounded(op)); err != nil {
		return nil, err
	}
	eps, err := accountant.ComposeBudget(ctx, int64(model.Items), pair.Eps, pair.Delta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	h, err := newHadamard(op, space.Len(), eps)
	g, err2 := emd.NewDiscrete(model, model.Diameter, pair)
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	f := &Estimator{space: space, g: g, inv: h, condition: h.gain(), outputs: h.size, workers: o.Workers, draw: eachBy(h.draw)}
	// As inverse.errorBound, with weights diam/2: once what the total errs is
	// spread evenly, which shortens the vector of errors, k*gain^2 - 1
	// is the sum of N times the variances of its entries.
	k := float64(space.Len())
	f.bound = func(items int64) float64 {
		return model.Diameter / 2 * math.Sqrt(k*(float64(k*h.gain()*h.gain())-1)/float64(items))
	}
	return f, nil
}
