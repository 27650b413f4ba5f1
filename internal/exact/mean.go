package exact

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
)

// Sum is the sum of real numbers, each a multiple of 2^-64 or known to be near one.
// The zero value is the empty sum.
type Sum struct {
	whole int64
	part  uint64 // in units of 2^-64
	near  int64  // how many of the numbers are not known exactly
}

// Add adds whole + part/2^64. The caller sees to it that sums fit.
func (s *Sum) Add(whole int64, part uint64) {
	var carry uint64
	s.part, carry = bits.Add64(s.part, part, 0)
	s.whole += whole + int64(carry)
}

// AddNear adds a number near whole + part/2^64.
func (s *Sum) AddNear(whole int64, part uint64) {
	s.Add(whole, part)
	s.near++
}

// Mean returns the n-th part of the sum, as whole + part/2^digits with part <
// 2^digits, rounded at random to one of the two such numbers next to it: floor(v + U)
// in units of 2^-digits for the exact value v and U uniform, so that its expectation
// is v. digits < 64. Each number added by AddNear is within err of what was given.
// enclose returns the exact sum within bounds that tighten as prec grows.
//
// It draws one word, none where v is known to be such a number, and looks at enclosures where
// the word does not decide: with probability 2^(digits+1) (err + 2^-63) at most.
func (s Sum) Mean(rng *rand.Rand, n int64, digits uint, err float64, enclose func(prec uint) Enclosure) (whole int64, part uint64) {
	q, r := s.whole/n, s.whole%n
	if r < 0 {
		q, r = q-1, r+n
	}
	// The mean is q + t/2^64 with f <= t < f+1, or t = f, up to e.
	f, rest := bits.Div64(uint64(r), s.part, uint64(n))
	if s.near == 0 && rest == 0 && f<<digits == 0 {
		return q, f >> (64 - digits)
	}
	// U 2^(64-digits) lies in [w, w+1).
	w := rng.Uint64() >> digits
	more, e := uint64(0), uint64(0)
	if s.near > 0 || rest > 0 {
		more = 1
	}
	if s.near > 0 {
		v := float64(float64(s.near)/float64(n)*err) * (1 + 0x1p-50)
		if v >= 0.25 {
			return refineMean(rng, w, q, n, digits, enclose)
		}
		e = uint64(v*0x1p64) + 1
	}
	sum, carry := bits.Add64(f, w, 0)
	low, borrow := bits.Sub64(sum, e, 0)
	high, over := bits.Add64(sum, e+more, 0)
	k := (carry-borrow)<<digits + low>>(64-digits) // -1 below 0, where no high end is
	if k != (carry+over)<<digits+high>>(64-digits) {
		return refineMean(rng, w, q, n, digits, enclose)
	}
	return q + int64(k>>digits), k & (1<<digits - 1)
}

// refineMean draws more of U, whose upper bits are w, until enclosures decide.
func refineMean(rng *rand.Rand, w uint64, q, n int64, digits uint, enclose func(prec uint) Enclosure) (whole int64, part uint64) {
	u := &uniform{rng, new(big.Int).SetUint64(w), 64 - digits}
	u.extend(64)
	k := u.decide(func(lo, hi *big.Float, prec uint) (int64, bool) {
		prec += digits
		v := enclose(prec)
		place := func(end *big.Float, v, u *big.Float) *big.Float {
			end.Quo(v, new(big.Float).SetInt64(n))
			end.Sub(end, new(big.Float).SetInt64(q))
			return end.Add(end.SetMantExp(end, int(digits)), u)
		}
		low, acc := place(down(prec), v.Lo, lo).Int64() // towards 0
		if acc == big.Above {
			low--
		}
		high, acc := place(up(prec), v.Hi, hi).Int64() // the largest below, as U < hi
		if acc != big.Below {
			high--
		}
		return low, low == high
	})
	return q + k>>digits, uint64(k) & (1<<digits - 1)
}
