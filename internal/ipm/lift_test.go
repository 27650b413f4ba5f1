package ipm

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func wide(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }

// A cost is moved where the constraint of two inputs is an equality, so that no channel
// pays more under what came out, in 400 bits.
func TestMove_RoundsDown(t *testing.T) {
	r := random.Seeded(12)
	moved := 0
	for range 500 {
		e := 3 * r.Float64()
		was := []float64{r.Float64(), 2 + 20*r.Float64()}
		c := slices.Clone(was)
		move(waysOf(finite.Square{N: 2, D: []float64{0, e, e, 0}}), c, []float64{1 + r.Float64(), 1}, make([]float64, 2))
		if c[0] == was[0] {
			continue
		}
		moved++
		// x = (exp(e), 1) pays f exp(e) more and less.
		low, _ := exact.ExpBounds(wide(e), 400)
		more, less := wide(0).Sub(wide(c[0]), wide(was[0])), wide(0).Sub(wide(was[1]), wide(c[1]))
		if more.Mul(more, low).Cmp(less) > 0 {
			t.Fatalf("exp(%v) x: %v becomes %v, which costs more", e, was, c)
		}
	}
	if moved < 300 {
		t.Errorf("%d moves", moved)
	}
}

// Two inputs and an output whose cost is moved as far as privacy allows, beside one that costs more: the
// bound is at most (c0 + c1/exp(e))/(z0+z1), in 400 bits.
func TestLift_RoundsDown(t *testing.T) {
	r := random.Seeded(13)
	for trial := range 400 {
		e := 30 * r.Float64()
		loss := []float64{1 + r.Float64(), 1 + r.Float64()}
		z, y := []float64{1 + r.Float64(), (1 + r.Float64()) * math.Exp(e)}, []float64{100, 0}
		if trial%2 == 0 { // nothing to move
			z[1] = 1 + r.Float64()
			y[1] = 100
		}
		if trial%4 == 0 { // only the sum is rounded
			z, loss[1] = []float64{.5, .5}, loss[1]/8
		}
		got, lack, err := Lift(t.Context(), finite.Square{N: 2, D: []float64{0, e, e, 0}}, z, y, 2, 1, func(w int, to []float64) {
			for i, l := range loss {
				to[i] = float64(1+w) * l
			}
		})
		testkit.Check(t, err)
		least, _ := exact.ExpBounds(wide(e), 400)
		want := wide(0).Mul(wide(z[1]), wide(loss[1]))
		if trial%2 == 1 {
			want.Quo(want, least)
		}
		want.Add(want, wide(0).Mul(wide(z[0]), wide(loss[0])))
		have := wide(0).Sub(wide(y[0]), want)
		want.Quo(want, wide(0).Add(wide(z[0]), wide(z[1])))
		if v, _ := want.Float64(); wide(got).Cmp(want) > 0 || got < v*(1-1e-12)-0x1p-50 { // an ulp of what is left of c1
			t.Fatalf("trial %d: %v, exactly %v", trial, got, want)
		}
		if v, _ := have.Float64(); trial%2 == 1 && math.Abs(lack[0]-v) > 1e-9*v+1e-15*z[1] {
			t.Fatalf("trial %d: %v is lacking, exactly %v", trial, lack[0], v)
		}
	}
	// No float64 is 1 + 2^-54.
	if got, _, err := Lift(t.Context(), finite.Square{N: 2, D: make([]float64, 4)}, []float64{1, 0x1p-54}, []float64{.5, 0}, 1, 1, func(_ int, to []float64) { to[0], to[1] = 1, 1 }); !(got < .5) || err != nil {
		t.Errorf("%v (%v), below .5 exactly", got, err)
	}
}
