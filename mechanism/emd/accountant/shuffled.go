package accountant

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Shuffled is a release of items through a randomizer whose probabilities are known, a
// finite channel. It is a [Shuffle] that looks at these and not at their level alone: its
// levels are two thirds of the other's and less, of two outputs up to nine tenths, and
// intervals tell how far from the truth they are. A question takes milliseconds for one item, and up to two seconds for
// more, for each kind of change: n inputs have 1 (all alike) to n(n-1).
//
// It keeps what it has summed up, in memory that grows with the questions by some kilobytes
// each, and is safe for concurrent use: questions wait for one another.
//
// Source: the theorems [Blanket] and [TwoOutputs].
type Shuffled struct {
	mu      sync.Mutex
	users   Users
	rows    [][]float64 // probabilities, to rowErr
	shuffle Shuffle     // what their level alone tells
	exact   float64     // no more than that level
	changes []*change   // one of each kind
	theorem Theorem
}

// Users says how many records there are, and how many of them are one user's.
type Users struct {
	Records int64 // N >= 1, the number of all records in the multiset
	Items   int64 // m in [1, N] of them are the user's; at most 2^53
}

// NewShuffled reads the probabilities of c, whose inputs have the distances rho: its
// Diameter is the largest of these. Every record goes through c, and its output is
// published as one of a multiset. A channel whose level is not in [1e-100, 700]/Diameter,
// as one with equal rows or with zeros, or a rho without a positive distance, is a
// [*metric.ValueError]. O(n^2 k log k) for n inputs and k outputs; it keeps k numbers for
// each kind of change.
func NewShuffled(ctx context.Context, c *mechanism.Channel, rho metric.Finite, u Users) (*Shuffled, error) {
	const op = "accountant: NewShuffled"
	audit, err := c.Audit(ctx, rho, nil) // checks both
	if err != nil {
		return nil, fault.Within(op, err)
	}
	s := &Shuffled{users: u, exact: audit.Lo, theorem: Blanket}
	diameter, near := 0.0, math.Inf(1)
	for i := range c.Len() {
		s.rows = append(s.rows, c.Row(i, nil))
		for j := range i {
			if d := rho.Distance(i, j); d > 0 {
				diameter, near = max(diameter, d), min(near, d)
			}
		}
	}
	s.shuffle = Shuffle{Records: u.Records, Items: u.Items, Alpha0: audit.Hi, Diameter: diameter, MinDistance: near}
	b, err := s.shuffle.joint(op)
	if err := cmp.Or(err, b.setAlpha0(op, "the level of c", s.shuffle.Alpha0)); err != nil {
		return nil, err
	}
	return s, s.find(ctx, rho)
}

// find lists the kinds of changes.
func (s *Shuffled) find(ctx context.Context, rho metric.Finite) error {
	least, most := slices.Clone(s.rows[0]), slices.Clone(s.rows[0])
	for _, r := range s.rows[1:] {
		for y, p := range r {
			least[y], most[y] = min(least[y], p), max(most[y], p)
		}
	}
	common := make([]float64, len(least))
	for y, p := range least {
		common[y] = coarse(p*(1-rowErr), false)
	}
	if len(least) == 2 || len(s.rows) == 2 {
		s.theorem = TwoOutputs
	}
	seen := map[string]bool{}
	for x, from := range s.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for z, to := range s.rows {
			d := rho.Distance(x, z)
			if x == z || d == 0 {
				continue
			}
			c := &change{x: x, to: z, distance: d, veils: []veil{newBlanket(from, to, common)}, nodes: map[int]float64{}, chords: map[int]chord{}}
			switch {
			case len(least) == 2:
				c.veils = append(c.veils, twoOutputs(from, to, least, most))
			case len(s.rows) == 2:
				c.veils = append(c.veils, response(directed.MulUp(s.shuffle.Alpha0, d)))
			}
			key := fmt.Sprint(d)
			for _, v := range c.veils {
				key += " " + v.key()
			}
			if !seen[key] {
				seen[key] = true
				s.changes = append(s.changes, c)
			}
		}
	}
	return nil
}

// twoOutputs is the veil of a randomizer with two outputs, whose least and most
// probabilities are given.
func twoOutputs(from, to, least, most []float64) *coins {
	one := 1 // the output that x favors
	if from[1] < to[1] {
		one = 0
	}
	up := func(p float64) float64 { return min(1, coarse(p*(1+rowErr), true)) }
	down := func(p float64) float64 { return coarse(p*(1-rowErr), false) }
	return &coins{
		from: [2]float64{down(from[one]), up(from[one])}, to: [2]float64{down(to[one]), up(to[one])},
		lo: down(least[one]), hi: up(most[one]),
	}
}

// response is the veil of randomized response of level eps, of which every randomizer
// with two inputs and that level is a function.
func response(eps float64) *coins {
	wrong := coarse(directed.DivDown(1, directed.AddUp(1, directed.ExpUp(eps))), false)
	right := directed.SubUp(1, wrong)
	return &coins{[2]float64{right, right}, [2]float64{wrong, wrong}, wrong, right}
}

// proves reports that level alpha per unit of d_EM and e^target hold.
func (s *Shuffled) proves(ctx context.Context, alpha, target float64) (bool, error) {
	if s.users.Items > 1 {
		return newPath(s.users, s.changes).proves(ctx, alpha, target)
	}
	return s.provesOne(ctx, math.Inf(1), target, func(c *change) float64 { return directed.MulDown(alpha, c.distance) })
}

// provesOf reports that eps and e^target hold against the change v.
func (s *Shuffled) provesOf(ctx context.Context, v Moved, eps, target float64) (bool, error) {
	total := v.total()
	if v.Items == 1 {
		return s.provesOne(ctx, total, target, func(*change) float64 { return eps })
	}
	kinds := slices.DeleteFunc(slices.Clone(s.changes), func(c *change) bool { return c.distance > total })
	return newPath(Users{s.users.Records, v.Items}, kinds).provesOf(ctx, eps, total, target)
}

// provesOne reports that eps of its change and e^target hold for one item that moves by
// total or less.
func (s *Shuffled) provesOne(ctx context.Context, total, target float64, eps func(*change) float64) (bool, error) {
	for i, c := range s.changes {
		if c.distance > total {
			continue
		}
		d, err := c.logDelta(ctx, s.users.Records, eps(c))
		if err != nil {
			return false, err
		}
		if d > target {
			s.changes[0], s.changes[i] = c, s.changes[0] // the likeliest to fail again
			return false, nil
		}
	}
	return true, nil
}

// shuffledTol is the relative width to which levels are bisected, and the width of
// logarithms of deltas.
const shuffledTol = 5e-4

// Level returns the least alpha for which the release has level (alpha, delta), delta
// 0 or in [1e-300, 1), rounded up: the best that the bounds of [Shuffle] and of the
// randomizer's probabilities prove. For one item it is within a relative 1e-3 of what
// the latter give in exact arithmetic, for more items within some 1e-2.
func (s *Shuffled) Level(ctx context.Context, delta float64) (Bound, error) {
	return s.level("accountant: Shuffled.Level", delta, func() (Bound, error) { return s.shuffle.Level(ctx, delta) },
		func(alpha, target float64) (bool, error) { return s.proves(ctx, alpha, target) })
}

// Delta returns the least delta found for which the release has level (alpha, delta),
// alpha in [1e-100, 1e100]/Diameter, rounded up; 1 if the bounds prove nothing.
func (s *Shuffled) Delta(ctx context.Context, alpha float64) (Bound, error) {
	return s.delta("accountant: Shuffled.Delta", func() (Bound, error) { return s.shuffle.Delta(ctx, alpha) },
		func(target float64) (bool, error) { return s.proves(ctx, alpha, target) })
}

// MovedLevel is [Shuffle.MovedLevel], with the randomizer's probabilities as [Shuffled.Level].
func (s *Shuffled) MovedLevel(ctx context.Context, v Moved, delta float64) (Bound, error) {
	return s.level("accountant: Shuffled.MovedLevel", delta, s.ofMoved(v, func() (Bound, error) { return s.shuffle.MovedLevel(ctx, v, delta) }),
		func(eps, target float64) (bool, error) { return s.provesOf(ctx, v, eps, target) })
}

// MovedDelta is [Shuffle.MovedDelta], with the randomizer's probabilities as [Shuffled.Delta].
func (s *Shuffled) MovedDelta(ctx context.Context, v Moved, eps float64) (Bound, error) {
	return s.delta("accountant: Shuffled.MovedDelta", s.ofMoved(v, func() (Bound, error) { return s.shuffle.MovedDelta(ctx, v, eps) }),
		func(target float64) (bool, error) { return s.provesOf(ctx, v, eps, target) })
}

// total is a sum of distances, rounded.
func (v Moved) total() float64 { return v.Distance * (1 + 0x1p-40) }

// ofMoved is what is known against the change v: that there is none where no item moves so
// little, or what known says.
func (s *Shuffled) ofMoved(v Moved, known func() (Bound, error)) func() (Bound, error) {
	return func() (Bound, error) {
		b, err := known()
		if err == nil && !slices.ContainsFunc(s.changes, func(c *change) bool { return c.distance <= v.total() }) {
			b = Bound{0, s.theorem}
		}
		return b, err
	}
}

// level is the least level found for which proves holds at delta, or what is known of the
// randomizer's level alone.
func (s *Shuffled) level(op string, delta float64, known func() (Bound, error), proves func(level, target float64) (bool, error)) (Bound, error) {
	if err := s.made(op); err != nil {
		return Bound{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best, err := known()
	if err != nil {
		return Bound{}, fault.Within(op, err)
	}
	if delta == 0 || best.Value < minUnit {
		return best, nil
	}
	target := directed.LogDown(delta)
	level, err := lowest(best.Value, shuffledTol, func(level float64) (bool, error) { return proves(level, target) })
	if err == nil && level < best.Value {
		best = Bound{level, s.theorem}
	}
	return best, err
}

// delta is the least delta found for which proves holds at its logarithm, or what is known
// of the randomizer's level alone.
func (s *Shuffled) delta(op string, known func() (Bound, error), proves func(target float64) (bool, error)) (Bound, error) {
	if err := s.made(op); err != nil {
		return Bound{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best, err := known()
	if err != nil {
		return Bound{}, fault.Within(op, err)
	}
	if best.Value < minSlack { // as far as the search goes
		return best, nil
	}
	hi := math.Log(best.Value)
	ok, err := proves(hi)
	if err != nil || !ok {
		return best, err
	}
	// From ln delta down to where nothing is proved, in steps that double.
	holds := func(x float64) (bool, error) { return proves(hi + x) }
	lo := -1.0
	for {
		if ok, err = holds(lo); err != nil {
			return Bound{}, err
		}
		if !ok || hi+lo < -690 {
			break
		}
		lo *= 2
	}
	_, x, err := search.Bisect(lo, 0, 0x1p-20, holds)
	if err != nil {
		return Bound{}, err
	}
	return Bound{directed.ExpUp(hi + x), s.theorem}, nil
}

// made refuses the zero value.
func (s *Shuffled) made(op string) error {
	return fault.Made(s != nil && len(s.rows) > 0, op, "Shuffled", "NewShuffled")
}
