package exponential

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/healpix"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Net is a finite public set of points of a space, At(0) to At(Len-1), which may
// be too many to be stored.
type Net[Y any] struct {
	Len int
	At  func(k int) Y // safe for concurrent use
	// Radius says that every point of the space has one of the net within it. It
	// is the caller's claim: utility rests on it, and privacy does not.
	Radius float64
}

// Nets is a probability measure on a compact space that may be infinite, with some mass
// near every point (uniformly positive), from nets C_0, C_1, ..., C_(depth-1) that become
// finer:
//
//	mu(y) = sum over i with y in C_i of w_i/|C_i|, w_i = 2^-(i+1),
//
// the last w_i doubled, so that they add up to 1. It serves [BaseMeasure] as Draw. On
// finite spaces see [scale.PositiveMeasure].
//
// A net is made when it is first needed, once, and kept. A net that cannot be made fails
// every call that needs it. Safe for concurrent use.
//
// Source: KL10, who take the nets at the scales 2^-i times the diameter, without end. Any
// base measure is as private, and where the rate is below the inverse of the last radius
// the rest of the nets would hardly be seen.
type Nets[Y any] struct {
	made []func() (Net[Y], error)
}

// NewNets returns the measure of 1 <= depth <= 64 nets: level(i) makes the i-th.
// It sees no private data, and its results depend on i alone.
func NewNets[Y any](depth int, level func(i int) (Net[Y], error)) (*Nets[Y], error) {
	const op = "exponential: NewNets"
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
				err = fmt.Errorf("exponential: Nets: level %d: %w", i, err)
			}
			return c, err
		}))
	}
	return n, nil
}

// BoxNets returns the measure of the grids of a box: C_i has the centers of 2^i
// equal parts of every side. lo < hi are the ends of the sides, of at most 62
// dimensions, and radii are in the l_p norm, 1 <= p <= +Inf. There are 41 nets, or
// as many as keep the number of points a quarter of the largest int.
func BoxNets(lo, hi []float64, p float64) (*Nets[[]float64], error) {
	const op = "exponential: BoxNets"
	d := len(lo)
	if err := cmp.Or(fault.Empty(op, "lo", d), fault.Size(op, "hi", len(hi), d), fault.AllFinite(op, "lo", lo), fault.AllFinite(op, "hi", hi)); err != nil {
		return nil, err
	}
	if d > 62 {
		return nil, &fault.SizeError{Op: op, Arg: "lo", Got: d, Want: "at most 62"}
	}
	if !(p >= 1) {
		return nil, fault.Value(op, "p", p, "a number in [1, +Inf]")
	}
	start, end, sides := slices.Clone(lo), slices.Clone(hi), make([]float64, d)
	for j, v := range hi {
		sides[j] = v - lo[j]
		if !(sides[j] > 0 && sides[j] <= math.MaxFloat64) {
			return nil, &fault.ValueError{Op: op, Arg: "hi", Index: j, Value: v, Want: "more than lo, by a finite number"}
		}
	}
	return NewNets(min(41, 1+(bits.UintSize-2)/d), func(i int) (Net[[]float64], error) {
		parts := math.Ldexp(1, i)
		half := make([]float64, d)
		for j, s := range sides { // what At rounds is below 2^-50 of the larger end
			half[j] = s/2/parts + float64(0x1p-50*max(math.Abs(start[j]), math.Abs(end[j])))
		}
		return Net[[]float64]{
			Len: 1 << (i * d),
			At: func(k int) []float64 {
				y := make([]float64, d)
				for j := range y {
					y[j] = start[j] + float64((float64(k&(1<<i-1))+0.5)/parts*sides[j])
					k >>= i
				}
				return y
			},
			Radius: floats.Norm(half, p) * (1 + 0x1p-40),
		}, nil
	})
}

// SphereNets returns the measure of grids of the sphere of the given radius, 0
// for that of the Earth in km: C_i has the centers of the 12*4^i cells of equal
// area of HEALPix (Górski et al. 2005), radii are along great circles.
func SphereNets(radius float64) (*Nets[metric.LatLon], error) {
	const op = "exponential: SphereNets"
	radius = cmp.Or(radius, metric.EarthRadiusKm)
	if err := fault.Positive(op, "radius", radius); err != nil {
		return nil, err
	}
	return NewNets(min(27, (bits.UintSize-3)/2), func(i int) (Net[metric.LatLon], error) {
		n := 1 << i
		return Net[metric.LatLon]{
			Len: 12 << (2 * i),
			At: func(k int) metric.LatLon {
				cell := k / 12
				x, y := float64(cell&(n-1))+0.5, float64(cell>>i)+0.5
				return healpix.Point(k%12, x/float64(n), y/float64(n))
			},
			Radius: healpix.Radius(n) * radius,
		}, nil
	})
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
	if err := n.check("exponential: Nets.Draw"); err != nil {
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

// MinMass returns a number that the acceptance probability of [BaseMeasure] is
// at least at the rate beta, whatever the input: a point y0 has one of C_i within
// its radius R_i, and so
//
//	integral of exp(-beta*sigma(y0,y)) dmu(y) >= sum_i w_i/|C_i| exp(-beta*R_i),
//
// rounded down, of which it takes the terms up to where the next cannot double
// the sum. A release takes 1/MinMass draws on average, at most. It is 0 where the
// last net is too coarse for the rate.
func (n *Nets[Y]) MinMass(beta float64) (float64, error) {
	const op = "exponential: Nets.MinMass"
	if err := cmp.Or(n.check(op), fault.Positive(op, "beta", beta)); err != nil {
		return 0, err
	}
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

// Beta returns a rate at which [BaseMeasure] reaches the target: the least over
// the levels i whose radius R_i is below Gamma of
//
//	ln(|C_i|/(w_i*Delta)) / (Gamma - R_i),
//
// rounded up. A point of C_i is within R_i of the ideal output, so that the
// normalizer is at least w_i/|C_i| exp(-beta*R_i), while what is farther than
// Gamma weighs at most exp(-beta*Gamma): their quotient is at most Delta. KL10's
// rate, [UtilityBeta], is the case R_i <= Gamma/2 with m = w_i/|C_i| for the mass
// of a ball, never below. Levels too fine to help are not made; it takes nets for
// not smaller than those before.
func (n *Nets[Y]) Beta(t Target) (float64, error) {
	const op = "exponential: Nets.Beta"
	if err := cmp.Or(n.check(op), fault.Positive(op, "Gamma", t.Gamma)); err != nil {
		return 0, err
	}
	if !(t.Delta > 0 && t.Delta < 1) {
		return 0, fault.Value(op, "Delta", t.Delta, "a number in (0, 1)")
	}
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
