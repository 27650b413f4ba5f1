package exact

import (
	"math/big"
	"math/rand/v2"
)

// uniform is a real number U, uniform on [0, 1): num/2^bits <= U <
// (num+1)/2^bits. More digits are drawn from r when a decision needs them.
type uniform struct {
	r    *rand.Rand
	num  *big.Int
	bits uint
}

func newUniform(u uint64, rng *rand.Rand) *uniform {
	return &uniform{rng, new(big.Int).SetUint64(u), 64}
}

func (v *uniform) extend(bits uint) {
	for v.bits < bits {
		v.num.Lsh(v.num, 64)
		v.num.Or(v.num, new(big.Int).SetUint64(v.r.Uint64()))
		v.bits += 64
	}
}

// bounds returns the interval's ends, exactly.
func (v *uniform) bounds() (lo, hi *big.Float) {
	end := func(n *big.Int) *big.Float {
		f := new(big.Float).SetPrec(v.bits + 1).SetInt(n)
		return f.SetMantExp(f, -int(v.bits))
	}
	return end(v.num), end(new(big.Int).Add(v.num, big.NewInt(1)))
}

// decide finds the outcome of an inverse-CDF draw: try is called with bounds on U and a
// precision that grows with the digits known, and answers ok = false while the bounds do not
// decide. It ends with probability 1, and after k rounds with probability at least 1 - 2^-(64k)
// times the number of boundaries.
func (v *uniform) decide(try func(lo, hi *big.Float, prec uint) (k int64, ok bool)) int64 {
	for {
		lo, hi := v.bounds()
		if k, ok := try(lo, hi, v.bits+64); ok {
			return k
		}
		v.extend(v.bits + max(64, v.bits/2))
	}
}

// digits is a uniform number U of which the upper 63 bits of a word are known, and
// more where float64 did not suffice. The lowest bit of the word may be a sign.
type digits struct {
	word uint64
	more *uniform
}

// refine calls try with enclosures of the numbers, in (0, 1), of which it draws
// further bits until try is true.
func refine(rng *rand.Rand, us []digits, try func(u []Enclosure, prec uint) bool) {
	cells := make([]Enclosure, len(us))
	for i := range us {
		if us[i].more == nil {
			us[i].more = &uniform{rng, new(big.Int).SetUint64(us[i].word >> 1), 63}
		}
	}
	for {
		prec, positive := us[0].more.bits+64, true
		for i := range us {
			cells[i].Lo, cells[i].Hi = us[i].more.bounds()
			positive = positive && cells[i].Lo.Sign() > 0
		}
		if positive && try(cells, prec) { // else a logarithm is unbounded
			return
		}
		for i := range us {
			us[i].more.extend(us[i].more.bits + 64)
		}
	}
}
