package emd

import (
	"fmt"
	"math"
	"strconv"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Move is a change of what a user holds, and what it may reveal: moving a fraction of the items by a
// mean distance is to be protected at the level Eps. Such a change moves the user by d_EM <=
// Fraction*Distance.
type Move struct {
	Distance float64 // mean distance of the items that move, in the metric's unit: > 0
	Fraction float64 // of the user's items: in (0, 1]
	Eps      float64 // > 0; [Guarantee.Protects] does not read it
}

// check says what is wrong with the change, at the given eps.
func (r Move) check(op string, i int, eps float64) error {
	bad := func(arg string, v float64, want string) error {
		return &fault.ValueError{Op: op, Arg: "moves." + arg, Index: i, Value: v, Want: want}
	}
	switch {
	case !(r.Distance > 0) || math.IsInf(r.Distance, 1):
		return bad("Distance", r.Distance, "a finite number > 0")
	case !(r.Fraction > 0 && r.Fraction <= 1):
		return bad("Fraction", r.Fraction, "a number in (0, 1]")
	case !(eps > 0) || math.IsInf(eps, 1):
		return bad("Eps", eps, "a finite number > 0")
	}
	return nil
}

// length bounds d_EM between the user before and after, from above.
func (r Move) length() float64 { return directed.MulUp(r.Fraction, r.Distance) }

// ChooseAlpha returns the largest level per unit of d_EM that keeps every move: the least
// Eps/(Fraction*Distance), rounded down. An empty list is an error, and a Move outside its domain a
// [*metric.ValueError]. O(moves). Source: IRC24, Section 3.
func ChooseAlpha(moves []Move) (float64, error) {
	const op = "emd: ChooseAlpha"
	if err := fault.Empty(op, "moves", len(moves)); err != nil {
		return 0, err
	}
	alpha := math.Inf(1)
	for i, r := range moves {
		if err := r.check(op, i, r.Eps); err != nil {
			return 0, err
		}
		alpha = min(alpha, directed.DivDown(r.Eps, r.length()))
	}
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return 0, fmt.Errorf("%s: the moves ask for a level of %v, beyond the range of float64", op, alpha)
	}
	return alpha, nil
}

// Protection is what a guarantee says about one change of what a user holds.
type Protection struct {
	Move   // Eps is the level that holds: +Inf where nothing is promised
	Delta  float64
	Factor float64 // e^Eps rounded up: how much likelier any result can become, up to Delta
	Unit   metric.Unit
}

// Protects says what g promises for each move, rounded up: the reverse of [ChooseAlpha]. Their Eps are
// not read. A Distance above the model's diameter is a [*metric.ValueError]. O(moves).
func (g Guarantee) Protects(moves []Move) ([]Protection, error) {
	ps := make([]Protection, len(moves))
	for i, r := range moves {
		if err := r.check("emd: Guarantee.Protects", i, 1); err != nil {
			return nil, err
		}
		if diam := g.model.Diameter; r.Distance > diam && diam > 0 {
			return nil, &fault.ValueError{Op: "emd: Guarantee.Protects", Arg: "moves.Distance", Index: i, Value: r.Distance, Want: fmt.Sprintf("at most the model's diameter %v", diam)}
		}
		p := g.At(r.length())
		r.Eps = p.Eps
		ps[i] = Protection{Move: r, Delta: p.Delta, Factor: directed.ExpUp(p.Eps), Unit: g.Model().Unit}
	}
	return ps, nil
}

// String is for people: "moving a third of a user's items by 0.08 km on average
// makes no result more than 1.95 times as likely", rounded up.
func (p Protection) String() string {
	s := fmt.Sprintf("moving %s of a user's items by %s on average ", fractionWords(p.Fraction), fault.Quantity(p.Distance, 6, p.Unit))
	if math.IsInf(p.Factor, 1) || p.Delta >= 1 {
		return s + "is not protected"
	}
	s += fmt.Sprintf("makes no result more than %s times as likely", factorWords(p.Factor))
	if p.Delta > 0 {
		s += ", up to a probability of " + digitsUp(p.Delta)
	}
	return s
}

// fractionWords names a fraction: near 1/k, as a half, a third or one in k.
func fractionWords(f float64) string {
	names := [...]string{"", "all", "half", "a third", "a quarter", "a fifth"}
	inverse := math.Round(1 / f)
	switch whole := inverse >= 1 && inverse <= 1e6 && math.Abs(float64(f*inverse)-1) < 1e-9; {
	case whole && int(inverse) < len(names):
		return names[int(inverse)]
	case whole:
		return fmt.Sprintf("one in %d", int(inverse))
	}
	return fmt.Sprintf("%.4g %%", 100*f)
}

// digitsUp writes f > 0 with three digits, rounded up.
func digitsUp(f float64) string {
	s := fmt.Sprintf("%.3g", f)
	if v, err := strconv.ParseFloat(s, 64); err == nil && v < f {
		s = fmt.Sprintf("%.3g", f*1.005) // rounding drops half of the third digit at most
	}
	return s
}

// factorWords writes f >= 1 with two or three digits, rounded up.
func factorWords(f float64) string {
	if f >= 1e6 {
		return digitsUp(f)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(f))))
	if excess := f - 1; excess > 0 && excess < 0.1 {
		digits = 1 - int(math.Floor(math.Log10(excess)))
	}
	scale := math.Pow(10, float64(digits))
	return fmt.Sprintf("%.*f", digits, math.Ceil(f*scale)/scale)
}
