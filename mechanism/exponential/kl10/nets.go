package kl10

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
)

// Net is a finite public set of points of a space, At(0) to At(Len-1), which may be too many to be stored.
type Net[Y any] struct {
	Len int
	At  func(k int) Y // safe for concurrent use
	// Radius says that every point of the space has one of the net within it. It
	// is the caller's claim: utility rests on it, and privacy does not.
	Radius float64
}

// Nets is a probability measure with some mass near every point of a compact space, from nets C_0,
// C_1, ..., C_(depth-1) that become finer:
//
//	mu(y) = sum over i with y in C_i of w_i/|C_i|, w_i = 2^-(i+1),
//
// the last w_i doubled. [Nets.Draw] serves [BaseMeasure]. A net is made when first needed, and
// kept; one that cannot be made fails every call that needs it. Safe for concurrent use.
//
// Source: KL10, Theorem 3.4, (4) to (3), without end.
type Nets[Y any] struct {
	made []func() (Net[Y], error)
}

// NewNets returns the measure of 1 <= depth <= 64 nets: level(i) makes the i-th.
// It sees no private data, and its results depend on i alone.
func NewNets[Y any](depth int, level func(i int) (Net[Y], error)) (*Nets[Y], error) {
	const op = "kl10: NewNets"
	if !(depth >= 1 && depth <= 64) {
		return nil, fault.Value(op, "depth", float64(depth), "an integer in [1, 64]")
	}
	if level == nil {
		return nil, fmt.Errorf("%s: level is required", op)
	}
	n := &Nets[Y]{}
	for i := range depth {
		n.made = append(n.made, sync.OnceValues(func() (Net[Y], error) {
			c, err := level(i)
			if err == nil {
				err = fault.NonNegative(op, "Radius", c.Radius)
			}
			if err == nil && (c.Len < 1 || c.At == nil) {
				err = fault.Empty(op, "the net", 0)
			}
			if err != nil {
				err = fmt.Errorf("kl10: Nets: level %d: %w", i, err)
			}
			return c, err
		}))
	}
	return n, nil
}

// net is the i-th net and its weight.
func (n *Nets[Y]) net(i int) (c Net[Y], w float64, err error) {
	c, err = n.made[i]()
	return c, math.Ldexp(1, -min(i+1, len(n.made)-1)), err
}

func (n *Nets[Y]) check(op string) error {
	return fault.Made(n != nil && n.made != nil, op, "Nets", "NewNets")
}

// Draw returns a point of the measure, exactly: a level and a point of its net, uniformly.
// An error is that of making the net.
func (n *Nets[Y]) Draw(rng *rand.Rand) (y Y, err error) {
	if err := n.check("kl10: Nets.Draw"); err != nil {
		return y, err
	}
	rng, done := random.Get(rng)
	defer done()
	c, _, err := n.net(min(bits.LeadingZeros64(rng.Uint64()), len(n.made)-1))
	if err != nil {
		return y, err
	}
	return c.At(int(rng.Uint64N(uint64(c.Len)))), nil
}

// MinMass returns a lower bound, at the rate beta > 0, on the acceptance probability of
// [BaseMeasure] at any input. A release takes at most 1/MinMass draws on average. It is 0 where
// the last net is too coarse for the rate.
func (n *Nets[Y]) MinMass(beta float64) (float64, error) {
	const op = "kl10: Nets.MinMass"
	if err := cmp.Or(n.check(op), fault.Positive(op, "beta", beta)); err != nil {
		return 0, err
	}
	// A point y0 has one of C_i within its radius R_i, and so
	//
	//	integral of exp(-beta*sigma(y0,y)) dmu(y) >= sum_i w_i/|C_i| exp(-beta*R_i),
	//
	// rounded down. It takes the terms up to where the next cannot double the sum.
	sum := 0.0
	for i := range n.made {
		c, w, err := n.net(i)
		if err != nil {
			return 0, err
		}
		each := directed.DivDown(w, directed.Next(float64(c.Len))) // Len may round
		if each <= sum {
			break
		}
		sum = directed.AddDown(sum, directed.MulDown(each, directed.ExpDown(-directed.MulUp(beta, c.Radius))))
	}
	return min(sum, 1), nil
}

// Beta returns a rate at which [BaseMeasure] reaches the target: the least, rounded up, over the
// levels i whose radius R_i is below Gamma of
//
//	ln(|C_i|/(w_i*Delta)) / (Gamma - R_i).
//
// It is never above KL10's rate (Theorem 3.4). Levels too fine to help are not made, provided that
// nets do not become smaller. A Gamma not above the last radius is an error.
func (n *Nets[Y]) Beta(t Target) (float64, error) {
	const op = "kl10: Nets.Beta"
	if err := cmp.Or(n.check(op), fault.Positive(op, "Gamma", t.Gamma), fault.Fraction(op, "Delta", t.Delta)); err != nil {
		return 0, err
	}
	// A point of C_i is within R_i of the ideal output, so that the normalizer is at least
	// w_i/|C_i| exp(-beta*R_i), while what is farther than Gamma weighs at most exp(-beta*Gamma):
	// their quotient is at most Delta. KL10's rate (Theorem 3.4), FormulaBeta of a [Mechanism], is
	// the case R_i <= Gamma/2 with m = w_i/|C_i| for the mass of a ball.
	best := math.Inf(1)
	for i := range n.made {
		c, w, err := n.net(i)
		if err != nil {
			return 0, err
		}
		gain := directed.SubUp(directed.SubUp(directed.LogUp(directed.Next(float64(c.Len))), directed.LogDown(w)), directed.LogDown(t.Delta))
		if gain/t.Gamma >= best {
			break
		}
		if room := directed.SubDown(t.Gamma, c.Radius); room > 0 {
			best = min(best, directed.DivUp(gain, room))
		}
	}
	if math.IsInf(best, 1) {
		return 0, fault.Value(op, "Gamma", t.Gamma, "more than the radius of the finest net")
	}
	return best, nil
}
