package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// geometric returns min(K, 2^64-1), where P{K = k} = (1 - e^-s) e^(-sk) for k =
// 0, 1, ..., exactly, for a finite s > 0 taken as an exact real; in arbitrary
// precision only where exact is set, as a test.
//
// It inverts the survival function: K >= k when U < e^(-sk). About one draw in s*2^47 is
// decided in arbitrary precision, about 20 microseconds, so that down to s = 2^-32 the cost is
// that of a logarithm; from 2^-48 on every draw takes the long way.
//
// The float64 way: -ln U for U in [u, u+1)/2^64 is e up to e*2^-50 (math.Log, with the four
// ulps that package directed allows it), 2^-52 (conversion of u) and 1/u (the interval);
// inverting s and multiplying adds 2^-52 relative. So K = floor(q) unless an integer other than
// 0 lies within width of q. Where q passes 2^50 the width passes 1 and the exact way is taken.
func geometric(rng *rand.Rand, s float64, exact bool) uint64 {
	u := rng.Uint64()
	e := -math.Log(float64(u) * 0x1p-64)
	width := e*0x1p-49 + 0x1p-50
	if u < 1<<52 {
		width += 1 / float64(u)
	}
	inv := 1 / s
	q := float64(e * inv)
	width *= inv
	k := math.Floor(q)
	if !exact && (k == 0 || q-k > width) && k+1-q > width {
		return uint64(k)
	}
	return geometricBig(u, rng, s, q, width)
}

// geometricBig finds K by bisection of the integers within width of q, or of
// all where that is NaN or infinite.
func geometricBig(u uint64, rng *rand.Rand, s, q, width float64) uint64 {
	first, last := toUint64(q-width-1), toUint64(q+width+1)
	if math.IsNaN(q-width) || math.IsNaN(q+width) {
		first, last = 0, math.MaxUint64
	}
	minus := new(big.Float).SetFloat64(-s)
	survival := func(k uint64, prec uint) (lo, hi *big.Float) {
		x := new(big.Float).SetPrec(53 + 64).SetUint64(k)
		return ExpBounds(x.Mul(x, minus), prec) // the product is exact
	}
	k := newUniform(u, rng).decide(func(ulo, uhi *big.Float, prec uint) (int64, bool) {
		// The largest k with K >= k for certain; then K < k+1 must be certain.
		// The saturated end needs no second test.
		a, b := first, last
		for a < b {
			mid := b - (b-a)/2
			if lo, _ := survival(mid, prec); uhi.Cmp(lo) <= 0 {
				a = mid
			} else {
				b = mid - 1
			}
		}
		if a == math.MaxUint64 {
			return int64(a), true
		}
		_, hi := survival(a+1, prec)
		return int64(a), ulo.Cmp(hi) >= 0
	})
	return uint64(k)
}

// toUint64 is the integer part of f, saturated at both ends.
func toUint64(f float64) uint64 {
	switch {
	case !(f > 0):
		return 0
	case f >= 0x1p64:
		return math.MaxUint64
	default:
		return uint64(f)
	}
}
