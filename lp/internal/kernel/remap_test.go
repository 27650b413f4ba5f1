package kernel

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Columns that are remapped lose some per cent less at the worst input, the channel is as private, and
// what it loses is what is said.
func TestRemap_LosesLess(t *testing.T) {
	labels := make([]int, 150)
	for i := range labels {
		labels[i] = i
	}
	for _, alpha := range []float64{4, 12} {
		k, f := halton(t, len(labels), alpha)
		before := slices.Max(testkit.Must(k.Losses()))
		losses := testkit.Must(k.Remap())
		c := testkit.Must(k.Channel(t.Context(), labels, false))
		if l := testkit.Must(c.Audit(t.Context(), f, nil)).Hi; !(l > .99 && l <= 1) {
			t.Errorf("alpha %v: level %v", alpha, l)
		}
		var row []float64
		for u, want := range losses {
			row = c.Row(u, row)
			loss := 0.0
			for y, q := range row {
				loss += q * f.Distance(u, c.Output(y))
			}
			if math.Abs(loss-want) > .01*want {
				t.Errorf("alpha %v: input %d loses %v, not %v", alpha, u, loss, want)
			}
		}
		if after := slices.Max(losses); after > .97*before {
			t.Errorf("alpha %v: %v before, %v after", alpha, before, after)
		}
	}
}

// Where envelopes take too long the rate is lower by the unevenness of the row sums: the channel keeps
// the level as it is, remapped too.
func TestChannel_KeepsTheLevelUnmended(t *testing.T) {
	defer func(was float64) { mended = was }(mended)
	mended = 0
	labels := make([]int, 60)
	for i := range labels {
		labels[i] = i
	}
	for _, alpha := range []float64{2, 10, 40} {
		k, f := halton(t, len(labels), alpha)
		for range 2 {
			l := testkit.Must(testkit.Must(k.Channel(t.Context(), labels, false)).Audit(t.Context(), f, nil)).Hi
			if !(l > .8 && l <= 1) {
				t.Errorf("alpha %v, rate %v: level %v", alpha, k.rate, l)
			}
			testkit.Must(k.Remap())
		}
	}
}

// A context that ends leaves the columns as they were, and so do weights that are no numbers.
func TestRemap_KeepsWhatThereWas(t *testing.T) {
	k, _ := halton(t, 40, 4)
	before := testkit.Must(k.Losses())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k.ctx = ctx
	if _, err := k.Remap(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	k.ctx = t.Context()
	if after := testkit.Must(k.Losses()); !slices.Equal(before, after) {
		t.Errorf("%v before, %v after", before, after)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 0} {
		for u := range k.weight {
			k.weight[u] = v
		}
		k.rings = nil
		if _, err := k.Remap(); err != ErrNone {
			t.Errorf("weights %v: %v", v, err)
		}
	}
}

// Of a line the prior is a squared arch: least at the ends, level around the middle. Many inputs at
// one place weigh as much as one.
func TestPrior_KnownAnswers(t *testing.T) {
	const n, crowd = 81, 20
	at := make([]float64, n+crowd)
	for i := range at {
		at[i] = .5 * float64(min(i, n-1))
		if i >= n {
			at[i] = 20 + 1e-4*float64(i-n+1)
		}
	}
	p := &Problem{Inputs: len(at), Outputs: len(at), Memory: func(float64) error { return nil }}
	budget := finite.Square{N: len(at)}
	for _, x := range at {
		for _, y := range at {
			budget.D = append(budget.D, math.Abs(x-y))
		}
	}
	p.Budget, p.Loss = budget, budget.D
	k := testkit.Must(New(t.Context(), p, nil, 0))
	prior := testkit.Must(k.Prior())
	if s := floats.Sum(prior); math.Abs(s-1) > 1e-12 || slices.Min(prior) <= 0 {
		t.Errorf("sum %v, least %v", s, slices.Min(prior))
	}
	const middle = (n - 1) / 2
	most := prior[middle] + floats.Sum(prior[n:])
	for i, q := range prior[:n] {
		if i == middle {
			continue
		}
		// The eigenfunction is an arch that ends some 1/alpha outside.
		want := math.Pow(math.Cos(math.Pi*(at[i]-20)/(40+2)), 2)
		if math.Abs(q/most-want) > .06 {
			t.Errorf("at %v: %v, not %v", at[i], q/most, want)
		}
	}
}
