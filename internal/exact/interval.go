package exact

import "math/big"

// interval is a real number between two bounds, lo <= hi. Operations round
// outward, so that the result encloses the results of all members.
type interval struct{ lo, hi *big.Float }

func down(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
func up(prec uint) *big.Float   { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

// point is the interval of one float64.
func point(x float64) interval { return interval{big.NewFloat(x), big.NewFloat(x)} }

// around encloses the numbers within err of v.
func around(v, err *big.Float, prec uint) interval {
	return interval{down(prec).Sub(v, err), up(prec).Add(v, err)}
}

func (a interval) neg() interval {
	return interval{new(big.Float).Neg(a.hi), new(big.Float).Neg(a.lo)}
}

func (a interval) add(b interval, prec uint) interval {
	return interval{down(prec).Add(a.lo, b.lo), up(prec).Add(a.hi, b.hi)}
}

// mul takes the least and the largest product of two ends.
func (a interval) mul(b interval, prec uint) interval {
	var c interval
	for _, x := range []*big.Float{a.lo, a.hi} {
		for _, y := range []*big.Float{b.lo, b.hi} {
			if p := down(prec).Mul(x, y); c.lo == nil || p.Cmp(c.lo) < 0 {
				c.lo = p
			}
			if p := up(prec).Mul(x, y); c.hi == nil || p.Cmp(c.hi) > 0 {
				c.hi = p
			}
		}
	}
	return c
}

// quo divides nonnegative numbers by positive ones.
func (a interval) quo(b interval, prec uint) interval {
	return interval{down(prec).Quo(a.lo, b.hi), up(prec).Quo(a.hi, b.lo)}
}

// sqrt is the root of nonnegative numbers. The roots of math/big are taken to be
// right up to a relative 2^-prec, 256 times as much as they promise.
func (a interval) sqrt(prec uint) interval {
	root := func(x *big.Float) interval {
		v := new(big.Float).SetPrec(prec + 8).Sqrt(x)
		return around(v, up(prec).SetMantExp(v, -int(prec)), prec)
	}
	return interval{root(a.lo).lo, root(a.hi).hi}
}

// atLeast0 raises a lower end below 0 to 0, for numbers that are not negative.
func (a interval) atLeast0() interval {
	if a.lo.Sign() < 0 {
		a.lo = new(big.Float)
	}
	return a
}

// negLog is -ln of numbers in (0, 1].
func (a interval) negLog(prec uint) interval {
	return interval{logBounds(a.lo, prec).hi, logBounds(a.hi, prec).lo}.neg().atLeast0()
}

// logBounds encloses ln x for x > 0, within (2+|log2 x|) 2^-prec.
//
// x = m 2^e with m in [0.7, 1.4), and ln m = 2 atanh t, t = (m-1)/(m+1), |t| <
// 0.18. Below 2^10 terms of size at most 1 are rounded three times each, by
// less than 2^-w in all of them, and the tail is below 2^-w: with w = prec+32
// less than 2^-prec. ln 2 has relative error below 2^-w.
func logBounds(x *big.Float, prec uint) interval {
	w := prec + 32
	nf := func() *big.Float { return new(big.Float).SetPrec(w) }
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(0.7)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	one := big.NewFloat(1)
	exact := max(w, m.Prec()+2)
	t := nf().Quo(new(big.Float).SetPrec(exact).Sub(m, one), new(big.Float).SetPrec(exact).Add(m, one))
	square, sum := nf().Mul(t, t), nf()
	for k, pow := int64(1), t; pow.Sign() != 0 && pow.MantExp(nil) > -int(w); k += 2 {
		sum.Add(sum, nf().Quo(pow, nf().SetInt64(k)))
		pow = nf().Mul(pow, square)
	}
	sum.Add(sum.SetMantExp(sum, 1), nf().Mul(ln2(w), nf().SetInt64(int64(e))))
	return around(sum, nf().SetMantExp(nf().SetInt64(int64(max(e, -e)+2)), -int(prec)), w)
}

// cosSin encloses the cosine and the sine of 2 pi v for v in [0, 1].
//
// They are those of theta = 2 pi v.lo, up to theta's change 2 pi (v.hi - v.lo)
// over the interval. The Taylor series at theta < 6.3 has terms below 2^7;
// below 2^10 of them are rounded twice each, and theta errs by less than
// 2^(4-w): with w = prec+32 all is less than 2^-prec.
func cosSin(v interval, prec uint) (cos, sin interval) {
	w := prec + 32
	nf := func() *big.Float { return new(big.Float).SetPrec(w) }
	twoPi := pi(w)
	twoPi.SetMantExp(twoPi, 1)
	theta := nf().Mul(twoPi, v.lo)
	sums := [4]*big.Float{nf(), nf(), nf(), nf()} // of the terms with i mod 4 = 0, ..., 3
	term := nf().SetInt64(1)
	for i := int64(0); term.Sign() != 0 && (i < 8 || term.MantExp(nil) > -int(w)); {
		sums[i%4].Add(sums[i%4], term)
		i++
		term = nf().Quo(nf().Mul(term, theta), nf().SetInt64(i))
	}
	err := up(w).Mul(big.NewFloat(6.3), up(w).Sub(v.hi, v.lo))
	err.Add(err, up(w).SetMantExp(big.NewFloat(1), -int(prec)))
	return around(nf().Sub(sums[0], sums[2]), err, w), around(nf().Sub(sums[1], sums[3]), err, w)
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
