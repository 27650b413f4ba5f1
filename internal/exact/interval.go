package exact

import (
	"math"
	"math/big"
)

// Enclosure is a real number from Lo to Hi. Operations round outward, so that the
// result encloses the results of all members.
type Enclosure struct{ Lo, Hi *big.Float }

func down(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
func up(prec uint) *big.Float   { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

// point is the interval of one float64.
func point(x float64) Enclosure { return Enclosure{big.NewFloat(x), big.NewFloat(x)} }

// around encloses the numbers within err of v.
func around(v, err *big.Float, prec uint) Enclosure {
	return Enclosure{down(prec).Sub(v, err), up(prec).Add(v, err)}
}

func (a Enclosure) neg() Enclosure {
	return Enclosure{new(big.Float).Neg(a.Hi), new(big.Float).Neg(a.Lo)}
}

func (a Enclosure) add(b Enclosure, prec uint) Enclosure {
	return Enclosure{down(prec).Add(a.Lo, b.Lo), up(prec).Add(a.Hi, b.Hi)}
}

// mul takes the least and the largest product of two ends.
func (a Enclosure) mul(b Enclosure, prec uint) Enclosure {
	var c Enclosure
	for _, x := range []*big.Float{a.Lo, a.Hi} {
		for _, y := range []*big.Float{b.Lo, b.Hi} {
			if p := down(prec).Mul(x, y); c.Lo == nil || p.Cmp(c.Lo) < 0 {
				c.Lo = p
			}
			if p := up(prec).Mul(x, y); c.Hi == nil || p.Cmp(c.Hi) > 0 {
				c.Hi = p
			}
		}
	}
	return c
}

// hull encloses both a and b.
func (a Enclosure) hull(b Enclosure) Enclosure {
	if b.Lo.Cmp(a.Lo) < 0 {
		a.Lo = b.Lo
	}
	if b.Hi.Cmp(a.Hi) > 0 {
		a.Hi = b.Hi
	}
	return a
}

// quo divides nonnegative numbers by positive ones.
func (a Enclosure) quo(b Enclosure, prec uint) Enclosure {
	return Enclosure{down(prec).Quo(a.Lo, b.Hi), up(prec).Quo(a.Hi, b.Lo)}
}

// sqrt is the root of nonnegative numbers. The roots of math/big are taken to be
// right up to a relative 2^-prec, 256 times as much as they promise.
func (a Enclosure) sqrt(prec uint) Enclosure {
	root := func(x *big.Float) Enclosure {
		v := new(big.Float).SetPrec(prec + 8).Sqrt(x)
		return around(v, up(prec).SetMantExp(v, -int(prec)), prec)
	}
	return Enclosure{root(a.Lo).Lo, root(a.Hi).Hi}
}

// atLeast0 raises a lower end below 0 to 0, for numbers that are not negative.
func (a Enclosure) atLeast0() Enclosure {
	if a.Lo.Sign() < 0 {
		a.Lo = new(big.Float)
	}
	return a
}

// log is ln of positive numbers.
func (a Enclosure) log(prec uint) Enclosure {
	return Enclosure{logBounds(a.Lo, prec).Lo, logBounds(a.Hi, prec).Hi}
}

// negLog is -ln of numbers in (0, 1].
func (a Enclosure) negLog(prec uint) Enclosure { return a.log(prec).neg().atLeast0() }

// exp is e to the power of any numbers. Below 2^(-4 prec) it is enclosed by that and 0:
// adding numbers whose exponents lie far apart would take memory for all bits between.
func (a Enclosure) exp(prec uint) Enclosure {
	low := -4 * float64(prec)
	lo, hi := new(big.Float), new(big.Float).SetMantExp(big.NewFloat(1), -4*int(prec))
	if x, _ := a.Lo.Float64(); x > low {
		lo, _ = ExpBounds(a.Lo, prec)
	}
	if x, _ := a.Hi.Float64(); x > low {
		_, hi = ExpBounds(a.Hi, prec)
	}
	return Enclosure{lo, hi}
}

// logBounds encloses ln x for x > 0, within (2+|log2 x|) 2^-prec.
//
// x = m 2^e with m in [0.7, 1.4), and ln m = 2 atanh t, t = (m-1)/(m+1), |t| < 0.18. Below
// 2^10 terms of size at most 1 are rounded three times each, and t three times, by less than
// 2^-w of it each, by less than 2^(10-w) in all of them, and the tail is below 2^-w: with w =
// prec+32 less than 2^-prec. ln 2 has relative error below 2^-w.
func logBounds(x *big.Float, prec uint) Enclosure {
	w := prec + 32
	nf := func() *big.Float { return new(big.Float).SetPrec(w) }
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(0.7)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	one := big.NewFloat(1)
	t := nf().Quo(nf().Sub(m, one), nf().Add(m, one))
	square, sum := nf().Mul(t, t), nf()
	for k, pow := int64(1), t; pow.Sign() != 0 && pow.MantExp(nil) > -int(w); k += 2 {
		sum.Add(sum, nf().Quo(pow, nf().SetInt64(k)))
		pow = nf().Mul(pow, square)
	}
	sum.Add(sum.SetMantExp(sum, 1), nf().Mul(ln2(w), nf().SetInt64(int64(e))))
	return around(sum, nf().SetMantExp(nf().SetInt64(int64(max(e, -e)+2)), -int(prec)), w)
}

// cosSinTurn encloses the cosine and the sine of 2 pi v for v in [0, 1].
func cosSinTurn(v Enclosure, prec uint) (cos, sin Enclosure) {
	return v.mul(circle(prec+64), prec+64).cosSin(prec)
}

// cosSinDegrees encloses the cosine and the sine of degrees in [-360, 360].
func cosSinDegrees(degrees *big.Float, prec uint) (cos, sin Enclosure) {
	abs := new(big.Float).Abs(degrees)
	cos, sin = cosSinTurn(Enclosure{abs, abs}.quo(point(360), prec), prec)
	if degrees.Sign() < 0 {
		sin = sin.neg()
	}
	return cos, sin
}

// circle encloses 2 pi.
func circle(prec uint) Enclosure {
	p := pi(prec + 2)
	return around(p.SetMantExp(p, 1), new(big.Float).SetMantExp(big.NewFloat(1), -int(prec)), prec+32)
}

// cosSin encloses the cosine and the sine of numbers in [-7, 7].
//
// They are those of theta = a.lo, up to its rounding and the width of a. The Taylor
// series at |theta| < 7 has terms below 2^8; below 2^10 of them are rounded twice
// each, and theta errs by less than 2^(3-w): with w = prec+32 all is less than 2^-prec.
func (a Enclosure) cosSin(prec uint) (cos, sin Enclosure) {
	w := prec + 32
	nf := func() *big.Float { return new(big.Float).SetPrec(w) }
	theta := nf().Set(a.Lo)
	sums := [4]*big.Float{nf(), nf(), nf(), nf()} // of the terms with i mod 4 = 0, ..., 3
	term := nf().SetInt64(1)
	for i := int64(0); term.Sign() != 0 && (i < 8 || term.MantExp(nil) > -int(w)); {
		sums[i%4].Add(sums[i%4], term)
		i++
		term = nf().Quo(nf().Mul(term, theta), nf().SetInt64(i))
	}
	err := up(w).Sub(a.Hi, a.Lo)
	err.Add(err, up(w).SetMantExp(big.NewFloat(1), -int(prec)))
	return around(nf().Sub(sums[0], sums[2]), err, w), around(nf().Sub(sums[1], sums[3]), err, w)
}

// atan2 encloses the angle of the points (x, y), up to a multiple of 2 pi; ok = false
// where they lie too far apart as seen from the origin.
//
// It turns them back by the angle t of one of them in float64, so that the rest is
// small: an arctangent between the partial sums of r - r^3/3 + r^5/5 - ...
func atan2(y, x Enclosure, prec uint) (angle Enclosure, ok bool) {
	v, _ := y.Lo.Float64()
	u, _ := x.Lo.Float64()
	t := math.Atan2(v, u)
	cos, sin := point(t).cosSin(prec)
	along := x.mul(cos, prec).add(y.mul(sin, prec), prec)
	if along.Lo.Sign() <= 0 {
		return Enclosure{}, false
	}
	across := y.mul(cos, prec).add(x.mul(sin, prec).neg(), prec)
	r := across.mul(point(1).quo(along, prec), prec)
	if r.Lo.Cmp(big.NewFloat(-0.25)) < 0 || r.Hi.Cmp(big.NewFloat(0.25)) > 0 {
		return Enclosure{}, false
	}
	arctan := func(r *big.Float) Enclosure {
		sum, pow := point(0), Enclosure{r, r}
		square := pow.mul(pow, prec)
		for k := 1.0; ; k += 2 {
			term := pow.mul(point(1).quo(point(k), prec), prec)
			next := sum.add(term, prec)
			if term.Lo.Sign() == 0 || term.Lo.MantExp(nil) < -int(prec) {
				return sum.hull(next)
			}
			sum, pow = next, pow.mul(square, prec).neg()
		}
	}
	return Enclosure{arctan(r.Lo).Lo, arctan(r.Hi).Hi}.add(point(t), prec), true
}

// pi returns pi with absolute error below 2^-prec, by Machin's formula 16
// atan(1/5) - 4 atan(1/239) in integers of units 2^-(prec+32): every term is
// cut off by less than two units, and there are fewer than 2^20 of them.
func pi(prec uint) *big.Float {
	w := prec + 32
	sum := new(big.Int)
	atan := func(factor, q int64) {
		pow := new(big.Int).Lsh(big.NewInt(factor), w)
		pow.Quo(pow, big.NewInt(q))
		for i := int64(1); pow.Sign() != 0; i += 2 {
			term := new(big.Int).Quo(pow, big.NewInt(i))
			if i%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			pow.Quo(pow, big.NewInt(q*q))
		}
	}
	atan(16, 5)
	atan(-4, 239)
	v := new(big.Float).SetPrec(w).SetInt(sum)
	return v.SetMantExp(v, -int(w))
}
