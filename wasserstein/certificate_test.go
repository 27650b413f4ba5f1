package wasserstein

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Wrong plans and potentials can only widen the interval.
func TestCertify_CatchesWrongInput(t *testing.T) {
	r := random.Seeded(1)
	for range 300 {
		n, m := 2+r.IntN(10), 2+r.IntN(10)
		c := w1Matrix(n, m, w1Random(r, n, m))
		mu, nu := w1Weights(r, n, true), w1Weights(r, m, true)
		best := testkit.Must(Between(t.Context(), c, mu, nu, nil))
		same, err := Certify(t.Context(), c, mu, nu, best.Plan, best.V, &CertifyOptions{Workers: 3})
		if err != nil || same.Lower != best.Lower || same.Upper != best.Upper || same.Cost != best.Cost {
			t.Fatalf("own plan: %+v, %v, want %+v", same, err, best)
		}
		plan, v := append([]Flow(nil), best.Plan...), append([]float64(nil), best.V...)
		switch k := r.IntN(len(plan)); r.IntN(5) {
		case 0:
			plan[k].Mass *= 2 * r.Float64()
		case 1:
			plan[k].J = r.IntN(m)
		case 2:
			plan = append(plan[:k], plan[k+1:]...)
		case 3:
			plan = append(plan, plan[k])
		case 4:
			v[r.IntN(m)] += r.NormFloat64()
			v[r.IntN(m)] *= 1e6
		}
		bad := testkit.Must(Certify(t.Context(), c, mu, nu, plan, v, nil))
		if bad.Upper < best.Lower || bad.Lower > best.Upper || bad.Cost < bad.Lower || bad.Cost > bad.Upper {
			t.Fatalf("[%v, %v] excludes the optimum %v", bad.Lower, bad.Upper, best.Cost)
		}
	}
	none, err := Certify(t.Context(), w1Matrix(1, 2, []float64{1, 3}), []float64{1}, []float64{.5, .5}, nil, nil, nil)
	if err != nil || none.Upper != 3 || none.Lower != 1 || none.Unmatched != 1 {
		t.Errorf("no plan at all: %+v, %v", none, err)
	}
}

// The ends against exact rational arithmetic: Lower is at most the value of U
// and V, and Upper at least the cost of the plan.
func TestCertify_RoundsOutward(t *testing.T) {
	r := random.Seeded(2)
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	addProduct := func(sum *big.Rat, a, b float64) { sum.Add(sum, new(big.Rat).Mul(rat(a), rat(b))) }
	for range 100 {
		n, m := 1+r.IntN(8), 1+r.IntN(8)
		c := w1Matrix(n, m, w1Random(r, n, m))
		mu, nu := w1Weights(r, n, false), w1Weights(r, m, false)
		got := testkit.Must(Between(t.Context(), c, mu, nu, nil))
		dual, primal := new(big.Rat), new(big.Rat)
		for i, w := range mu {
			addProduct(dual, w, got.U[i])
		}
		for j, w := range nu {
			addProduct(dual, w, got.V[j])
		}
		for _, p := range got.Plan {
			addProduct(primal, p.Mass, c.At(p.I, p.J))
		}
		if got.Lower > 0 && rat(got.Lower).Cmp(dual) > 0 || rat(got.Upper).Cmp(primal) < 0 {
			t.Fatalf("[%v, %v], the potentials give %v and the plan %v", got.Lower, got.Upper, dual, primal)
		}
	}
}

// What a plan leaves unmatched counts at the largest cost, rounded up: of one source and
// one sink all plans cost the same.
func TestCertify_UnmatchedIsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(3)
	for range 300 {
		mass, cost := r.Float64(), r.Float64()
		exactly := new(big.Rat).Mul(new(big.Rat).SetFloat64(mass), new(big.Rat).SetFloat64(cost))
		for _, plan := range [][]Flow{nil, {{Mass: mass * r.Float64()}}} {
			got := testkit.Must(Certify(t.Context(), w1Matrix(1, 1, []float64{cost}), []float64{mass}, []float64{mass}, plan, nil, nil))
			if new(big.Rat).SetFloat64(got.Upper).Cmp(exactly) < 0 || got.Upper > mass*cost*(1+0x1p-48) {
				t.Fatalf("%v over %v, the plan %v: at most %v", mass, cost, plan, got.Upper)
			}
		}
	}
}

// Totals that differ by rounding: the claim is about both measures cut down to
// the smaller total, wherever that is done.
func TestCertify_UnequalTotals(t *testing.T) {
	const ulp = 0x1p-52
	c := w1Matrix(2, 2, []float64{0, 1, 5, 2})
	r := testkit.Must(Between(t.Context(), c, []float64{.5, .5}, []float64{.5 + ulp, .5}, nil))
	// Mass from 0 stays, mass from 1 costs 2, and as much as an ulp of it may
	// have to go to 0 at cost 5 while 0 sends its own to 1.
	if r.Unmatched < ulp || r.Lower > 1 || r.Upper < 1+4*ulp || r.Gap() > 20*ulp {
		t.Errorf("%+v", r)
	}
}

func TestCertify_OfHugeNumbers(t *testing.T) {
	c, w := w1Matrix(2, 2, []float64{0, 1, 1, 0}), []float64{1, 1}
	if got, err := Certify(t.Context(), c, w, w, []Flow{{0, 1, 1e308}, {0, 1, 1e308}}, nil, nil); err != nil || !math.IsInf(got.Upper, 1) || got.Lower != 0 {
		t.Errorf("huge plan: %+v, %v", got, err)
	}
	if got, err := Certify(t.Context(), c, w, w, nil, []float64{1e308, -1e308}, nil); err != nil || got.Lower != 0 {
		t.Errorf("huge potentials: %+v, %v", got, err)
	}
}

// A gap is never below the exact difference: here that is 1+2^-54, which to nearest is 1.
func TestGap_RoundsUp(t *testing.T) {
	const upper, lower, want = 1 + 0x1p-52, 3 * 0x1p-54, 1 + 0x1p-52
	for name, got := range map[string]float64{
		"Certificate": (&Certificate{Upper: upper, Lower: lower}).Gap(),
		"Projection":  (&Projection{Upper: upper, Lower: lower}).Gap(),
	} {
		if got != want {
			t.Errorf("%s: %b, want %b", name, got, want)
		}
	}
	if s := (&Result{Certificate: Certificate{Cost: 2, Lower: 1.5, Upper: 2.125}}).String(); !strings.HasSuffix(s, "cost 2, the least in [1.5, 2.125], gap 0.7") {
		t.Error(s)
	}
}

// What the heavier measure has too much is taken off Lower rounded up. The least cost is that of
// the lighter mass s, here s*c = F - 2^-105 for a float64 F: s is M/2^53 and c = K/2^52 with M*K =
// -1 modulo 2^52. With the excess 3*2^-53 times c rounded down, or left out, Lower would be F.
func TestCertify_LowerIsThatOfTheLighterMeasure(t *testing.T) {
	r := random.Seeded(3)
	tried := 0
	for range 200 {
		m := 1<<52 + 2*r.Uint64N(1<<48) + 1
		inverse := m // of m modulo 2^64: each step doubles the bits that are right
		for range 6 {
			inverse *= 2 - m*inverse
		}
		k := -inverse%(1<<52) + 1<<52
		s, c := math.Ldexp(float64(m), -53), math.Ldexp(float64(k), -52)
		if s*c >= 1 { // F may be the middle between two float64s there
			continue
		}
		tried++
		least := new(big.Rat).Mul(new(big.Rat).SetFloat64(s), new(big.Rat).SetFloat64(c))
		if f, exact := least.Float64(); exact || new(big.Rat).SetFloat64(f).Cmp(least) < 0 {
			t.Fatalf("%v*%v is not just below a float64", s, c)
		}
		for _, w := range [][2]float64{{s + 3*0x1p-53, s}, {s, s + 3*0x1p-53}} {
			// Potentials c and 0 where the source is heavier, 0 and c where the sink is.
			v := []float64{0}
			if w[1] > w[0] {
				v[0] = c
			}
			got := testkit.Must(Certify(t.Context(), w1Matrix(1, 1, []float64{c}), w[:1], w[1:], []Flow{{0, 0, s}}, v, nil))
			if new(big.Rat).SetFloat64(got.Lower).Cmp(least) > 0 || new(big.Rat).SetFloat64(got.Upper).Cmp(least) < 0 {
				t.Fatalf("masses %v at cost %v: [%b, %b] excludes %v", w, c, got.Lower, got.Upper, least.FloatString(40))
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d trials", tried)
	}
}
