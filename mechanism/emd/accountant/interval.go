package accountant

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
)

// Interval is a bracket, both ends proved. The end on the safe side, Hi of a level and a delta and
// Lo of a budget, is the plain question's, with its theorem. The other is proved by two explicit
// data sets, the Witness, of the [Randomizer] or of one with the level of the [Shuffle].
type Interval struct {
	Lo, Hi  float64
	Theorem Theorem
	Witness Witness // empty where the other end is trivial: 0, or that of pure composition
}

// pairs lists, of each kind of change, the values of the others that hide it least by
// their estimates, with all of the user's items moved, half of them, and one.
func (s *rowShuffle) pairs() []pair {
	var all []pair
	for _, c := range s.changes {
		var best []pair
		for _, z := range s.rows {
			w := Witness{X: s.rows[c.x], XPrime: s.rows[c.to], Z: z}
			for i, p := range appendPairs(nil, s.users, w, c.distance) {
				switch {
				case i == len(best):
					best = append(best, p)
				case p.about(estimated) > best[i].about(estimated):
					best[i] = p
				}
			}
		}
		all = append(all, best...)
	}
	return all
}

// appendPairs appends w with all, half and one of the user's items moved by distance.
func appendPairs(all []pair, u users, w Witness, distance float64) []pair {
	last := int64(0)
	for _, moved := range [...]int64{u.items, (u.items + 1) / 2, 1} {
		if moved == last {
			continue
		}
		last = moved
		w.Moved, w.Distance = moved, directed.DivUp(directed.MulUp(float64(moved), distance), float64(u.items))
		all = append(all, pair{w, u.records})
	}
	return all
}

// LevelInterval brackets [Shuffle.Level], for all randomizers of that level together or
// the one of the Randomizer. Some seconds for users of many items.
func (s Shuffle) LevelInterval(ctx context.Context, delta float64) (Interval, error) {
	const op = "accountant: Shuffle.LevelInterval"
	return answer(s, op, func(a answers) (Interval, error) {
		hi, err := a.level(ctx, op, delta)
		if err != nil {
			return Interval{}, err
		}
		if delta == 0 {
			return Interval{a.attained(), hi.Value, hi.Theorem, Witness{}}, nil
		}
		lo, w, err := leastLevel(ctx, a.pairs(), directed.LogUp(delta))
		return Interval{min(lo, hi.Value), hi.Value, hi.Theorem, w.clone()}, err
	})
}

// DeltaInterval brackets [Shuffle.Delta] as LevelInterval does the level.
func (s Shuffle) DeltaInterval(ctx context.Context, alpha float64) (Interval, error) {
	const op = "accountant: Shuffle.DeltaInterval"
	return answer(s, op, func(a answers) (Interval, error) {
		hi, err := a.delta(ctx, op, alpha)
		if err != nil {
			return Interval{}, err
		}
		lo, w, err := leastDelta(ctx, worst(a.pairs(), estimated), alpha)
		return Interval{min(lo, hi.Value), hi.Value, hi.Theorem, w.clone()}, err
	})
}

// BudgetInterval brackets [Shuffle.Budget], the largest level at which every randomizer
// keeps the promise: at every level above Hi some randomizer breaks it.
func (s Shuffle) BudgetInterval(ctx context.Context, p Promise) (Interval, error) {
	const op = "accountant: Shuffle.BudgetInterval"
	lo, err := s.Budget(ctx, p)
	if err != nil {
		return Interval{}, fault.Within(op, err)
	}
	if p.Delta == 0 {
		return Interval{lo.Value, directed.DivUp(p.Alpha, float64(s.Items)), lo.Theorem, Witness{}}, nil
	}
	out := Interval{lo.Value, math.Inf(1), lo.Theorem, Witness{}}
	// Many levels are tried, so one pair each has to do.
	breaks := func(alpha0 float64) (bool, error) {
		s := s
		s.Alpha0 = alpha0
		d, w, err := leastDelta(ctx, worst(s.pairs(), math.Log(p.Delta))[:1], p.Alpha)
		if err == nil && d > p.Delta {
			out.Witness = w
		}
		return d > p.Delta, err
	}
	for hi := 2 * lo.Value; hi*s.Diameter <= maxLevel; hi *= 2 {
		broken, err := breaks(hi)
		if err != nil {
			return Interval{}, err
		}
		if broken {
			_, out.Hi, err = search.Bisect(hi/2, hi, shuffledTol, breaks)
			return out, err
		}
	}
	return out, nil
}

// pairs lists data sets of randomizers of level Alpha0 whose outputs hide an item that
// moves from x to x' as little as the level allows. With e = exp(-Alpha0 D), f =
// exp(-Alpha0 d) for d the distance of x and x', an output and its mirror have
//
//	x: A, f A;  x': f A, A;  z: e A, e A,
//
// and z, which is farthest from both, has the rest, at one of two kinds of outputs:
//
//	x: (1-2eA)e;  x': (1-2eA)e;  z: 1-2eA;  A = (1-e)/(1+f-2e^2),
//	x: B, f B;  x': f B, B;  z: B f/e, B f/e;  A+B = 1/(1+f),  2e A + 2f B/e = 1.
//
// As records grow one of these two has the largest sum of (x-x')^2/z.
func (s Shuffle) pairs() []pair {
	level := s.Alpha0 * s.Diameter
	e, em, e2m := math.Exp(-level), math.Expm1(-level), math.Expm1(-2*level)
	var all []pair
	add := func(d float64) {
		if d < s.MinDistance || d == 0 {
			return
		}
		x := -s.Alpha0 * d
		f := math.Exp(x)
		a := -em / (math.Expm1(x) - 2*e2m)
		rest := 1 - float64(2*e*a)
		w := Witness{X: []float64{a, f * a, rest * e}, XPrime: []float64{f * a, a, rest * e}, Z: []float64{e * a, e * a, rest}}
		all = appendPairs(all, users{s.Records, s.Items}, w, d)
		b := (1 + f - 2*e) * e / (2 * (1 + f) * (f - float64(e*e)))
		if a = 1/(1+f) - b; a > 0 && b > 0 {
			w = Witness{X: []float64{a, f * a, b, f * b}, XPrime: []float64{f * a, a, f * b, b}, Z: []float64{e * a, e * a, b * f / e, b * f / e}}
			all = appendPairs(all, users{s.Records, s.Items}, w, d)
		}
	}
	for share := 1.0; share > 1./100; share *= .85 {
		add(s.Diameter * share)
	}
	add(s.MinDistance)
	return all
}
