package exact

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

const piDigits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"

// within fails t where the interval does not hold want, or is wider than stated.
func within(t *testing.T, what string, a Enclosure, want *big.Float, width float64) {
	t.Helper()
	w, _ := new(big.Float).Sub(a.Hi, a.Lo).Float64()
	if a.Lo.Cmp(want) > 0 || a.Hi.Cmp(want) < 0 || w > width {
		t.Errorf("%s: [%.40g, %.40g] for %.40g", what, a.Lo, a.Hi, want)
	}
}

// ln, against e^x of exp.go: ln x lies between y1 and y2 where e^y1 <= x <= e^y2.
func TestLogBounds_Enclose(t *testing.T) {
	rng := random.Seeded(91)
	xs := []float64{1, 0.5, 0.7, math.Nextafter(0.7, 0), 0x1p-63, 0x1p-1074, math.Nextafter(1, 0)}
	for range 50 {
		xs = append(xs, math.Exp(20*rng.Float64()-20), 1-math.Exp(-30*rng.Float64()))
	}
	for _, x := range xs {
		for _, prec := range []uint{64, 127, 300} {
			b, v := logBounds(big.NewFloat(x), prec), big.NewFloat(x)
			if _, hi := ExpBounds(b.Lo, prec+100); hi.Cmp(v) > 0 {
				t.Errorf("ln %v at %d bits: lower end too high", x, prec)
			}
			if lo, _ := ExpBounds(b.Hi, prec+100); lo.Cmp(v) < 0 {
				t.Errorf("ln %v at %d bits: upper end too low", x, prec)
			}
			w, _ := new(big.Float).Sub(b.Hi, b.Lo).Float64()
			if w > math.Ldexp(2*(3+math.Abs(math.Log2(x))), -int(prec)) {
				t.Errorf("ln %v at %d bits: width %v", x, prec, w)
			}
		}
	}
}

func TestPi_Digits(t *testing.T) {
	want, _, _ := big.ParseFloat(piDigits, 10, 400, big.ToNearestEven)
	for _, prec := range []uint{64, 200, 340} {
		e := new(big.Float).Sub(pi(prec), want)
		if f, _ := e.Float64(); math.Abs(f) > math.Ldexp(1, -int(prec)) {
			t.Errorf("%d bits: off by %v", prec, f)
		}
	}
}

// Cosines and sines where they are known, near float64's, on one circle, and for
// an interval those of its members.
func TestCosSin_Enclose(t *testing.T) {
	rng := random.Seeded(92)
	third := new(big.Float).SetPrec(400).Quo(big.NewFloat(1), big.NewFloat(3))
	for _, prec := range []uint{64, 200} {
		eps := math.Ldexp(64, -int(prec))
		for v, want := range map[float64][2]float64{0: {1, 0}, 0.25: {0, 1}, 0.5: {-1, 0}, 0.75: {0, -1}, 1: {1, 0}} {
			c, s := cosSinTurn(point(v), prec)
			within(t, "cos", c, big.NewFloat(want[0]), eps)
			within(t, "sin", s, big.NewFloat(want[1]), eps)
		}
		c, s := cosSinTurn(around(third, big.NewFloat(math.Ldexp(1, -int(prec))), 400), prec) // cos 120 degrees
		within(t, "cos", c, big.NewFloat(-0.5), eps)
		within(t, "square of sin", s.mul(s, 300), big.NewFloat(0.75), 2*eps)
		for range 50 {
			v, w := rng.Float64(), rng.Float64()*1e-3
			c, s := cosSinTurn(Enclosure{big.NewFloat(v), big.NewFloat(v + w)}, prec)
			for _, u := range []float64{v, v + w/2, v + w} {
				d, e := cosSinTurn(point(u), 300)
				within(t, "cos of a member", c, d.Lo, 0.02)
				within(t, "sin of a member", s, e.Hi, 0.02)
			}
			one := c.mul(c, 300).add(s.mul(s, 300), 300)
			within(t, "circle", one, big.NewFloat(1), 0.1)
			if f, _ := c.Lo.Float64(); math.Abs(f-math.Cos(2*math.Pi*v)) > 0.01 {
				t.Errorf("cos 2 pi %v = %v", v, f)
			}
		}
	}
}

// The ends of products, quotients, sums and roots of integers are exact where
// these are, and outward where they are not.
func TestInterval_RoundsOutward(t *testing.T) {
	of := func(a, b float64) Enclosure { return Enclosure{big.NewFloat(a), big.NewFloat(b)} }
	for _, c := range []struct {
		name   string
		got    Enclosure
		lo, hi float64
	}{
		{"add", of(1, 2).add(of(-5, 7), 64), -4, 9},
		{"neg", of(-1, 2).neg(), -2, 1},
		{"mul", of(-1, 2).mul(of(-5, 7), 64), -10, 14},
		{"mul negative", of(-3, -2).mul(of(-5, -4), 64), 8, 15},
		{"mul across", of(-3, -2).mul(of(-5, 4), 64), -12, 15},
		{"quo", of(1, 6).quo(of(2, 4), 64), 0.25, 3},
		{"at least 0", of(-1, 6).atLeast0(), 0, 6},
	} {
		if c.got.Lo.Cmp(big.NewFloat(c.lo)) != 0 || c.got.Hi.Cmp(big.NewFloat(c.hi)) != 0 {
			t.Errorf("%s: [%v, %v]", c.name, c.got.Lo, c.got.Hi)
		}
	}
	e, _, _ := big.ParseFloat("2.71828182845904523536028747135266249775724709369996", 10, 200, big.ToNearestEven)
	if a := of(-1, 1).exp(64); a.Lo.Cmp(new(big.Float).Quo(big.NewFloat(1), e)) >= 0 || a.Hi.Cmp(e) <= 0 {
		t.Errorf("exp: [%v, %v]", a.Lo, a.Hi)
	}
	if a := of(-1e300, -100).exp(64); a.Lo.Sign() != 0 || a.Hi.Cmp(big.NewFloat(0.999*math.Exp(-100))) < 0 || a.Hi.Cmp(big.NewFloat(1.001*math.Exp(-100))) > 0 {
		t.Errorf("exp: [%v, %v]", a.Lo, a.Hi)
	}
	if a := of(-1e300, -1e299).exp(64); a.Lo.Sign() != 0 || a.Hi.MinPrec() != 1 || a.Hi.MantExp(nil) != -255 {
		t.Errorf("exp: [%v, %v]", a.Lo, a.Hi)
	}
	if a := of(0.5, 2).log(64); a.Lo.Cmp(a.Hi.Neg(a.Hi)) != 0 || a.Lo.Cmp(new(big.Float).Neg(ln2(200))) >= 0 {
		t.Errorf("log: [%v, %v]", a.Lo, a.Hi)
	}
	three := point(3)
	third := point(1).quo(three, 64)
	if one := third.mul(three, 200); third.Lo.Cmp(third.Hi) >= 0 || one.Lo.Cmp(big.NewFloat(1)) >= 0 || one.Hi.Cmp(big.NewFloat(1)) <= 0 {
		t.Errorf("1/3 in [%.30g, %.30g]", third.Lo, third.Hi)
	}
	for _, prec := range []uint{64, 200} {
		root := point(2).sqrt(prec)
		within(t, "square of a root", root.mul(root, 500), big.NewFloat(2), math.Ldexp(32, -int(prec)))
		if root.Lo.Cmp(root.Hi) >= 0 {
			t.Errorf("the root of 2 at %d bits has no width", prec)
		}
	}
	if root := of(0, 4).sqrt(64); root.Lo.Sign() != 0 {
		t.Errorf("the root of 0 is %v", root.Lo)
	}
}
