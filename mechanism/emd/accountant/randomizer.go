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

// Randomizer is a finite channel whose probabilities are known. A [Shuffle] with it looks at these
// and not at its level alone: levels are two thirds and less, of two outputs up to nine tenths. A
// question takes milliseconds for one item, and up to two seconds for more, for each kind of change:
// n inputs have 1 (all alike) to n(n-1). It keeps some kilobytes of sums a question for the last
// number of records, and is safe for concurrent use: questions wait for one another.
type Randomizer struct {
	mu      sync.Mutex
	rows    [][]float64 // probabilities, to rowErr
	byLevel Shuffle     // by their level alone: no records yet
	atLeast float64     // that level, rounded down
	theorem Theorem
	records int64
	changes []*change // one of each kind, with sums for so many records
}

// users says how many records there are, and how many of them are one user's.
type users struct{ records, items int64 }

// NewRandomizer reads the probabilities of c, whose inputs have the distances rho. A channel
// whose level is not in [1e-100, 700] over the largest of these, as one with equal rows or
// zeros, or a rho without a positive distance, is a [*metric.ValueError].
// O(n^2 k log k) for n inputs and k outputs.
func NewRandomizer(ctx context.Context, c *mechanism.Channel, rho metric.Finite) (*Randomizer, error) {
	const op = "accountant: NewRandomizer"
	audit, err := c.Audit(ctx, rho, nil) // checks both
	if err != nil {
		return nil, fault.Within(op, err)
	}
	r := &Randomizer{atLeast: audit.Lo, theorem: Blanket}
	diameter, near := 0.0, math.Inf(1)
	for i := range c.Len() {
		r.rows = append(r.rows, c.Row(i, nil))
		for j := range i {
			if d := rho.Distance(i, j); d > 0 {
				diameter, near = max(diameter, d), min(near, d)
			}
		}
	}
	r.byLevel = Shuffle{Records: 1, Items: 1, Alpha0: audit.Hi, Diameter: diameter, MinDistance: near}
	b, err := r.byLevel.check(op)
	if err := cmp.Or(err, b.setAlpha0(op, "the level of c", r.byLevel.Alpha0)); err != nil {
		return nil, err
	}
	return r, r.find(ctx, rho)
}

// rowShuffle is a [Shuffle] with a Randomizer.
type rowShuffle struct {
	*Randomizer
	users users
	alone Shuffle // by the level of the randomizer alone
}

func (s Shuffle) byRows() *rowShuffle {
	k := &rowShuffle{s.Randomizer, users{s.Records, s.Items}, s.Randomizer.byLevel}
	k.alone.Records, k.alone.Items = s.Records, s.Items
	return k
}

// answers are a Shuffle by its level alone, or a rowShuffle.
type answers interface {
	level(ctx context.Context, op string, delta float64) (Bound, error)
	delta(ctx context.Context, op string, alpha float64) (Bound, error)
	movedLevel(ctx context.Context, op string, v Moved, delta float64) (Bound, error)
	movedDelta(ctx context.Context, op string, v Moved, eps float64) (Bound, error)
	attained() float64 // level at delta 0 of an output that is the one whose ratio is largest
	pairs() []pair
}

func answer[T any](s Shuffle, op string, of func(answers) (T, error)) (none T, err error) {
	r := s.Randomizer
	if r == nil {
		return of(s)
	}
	if err := fault.Made(len(r.rows) > 0, op, "Randomizer", "NewRandomizer"); err != nil {
		return none, err
	}
	if s.Alpha0 != 0 || s.Diameter != 0 || s.MinDistance != 0 || s.Clones != Dominated {
		return none, fmt.Errorf("%s: a Randomizer, and a level, distance or Clones: these are the Randomizer's own", op)
	}
	k := s.byRows()
	if _, err := k.alone.check(op); err != nil {
		return none, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records != s.Records {
		r.records = s.Records
		for _, c := range r.changes {
			clear(c.nodes)
		}
	}
	return of(k)
}

// find lists the kinds of changes.
func (s *Randomizer) find(ctx context.Context, rho metric.Finite) error {
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
			c := &change{x: x, to: z, distance: d, veils: []veil{newBlanket(from, to, common)}, nodes: map[int]float64{}}
			switch {
			case len(least) == 2:
				c.veils = append(c.veils, twoOutputs(from, to, least, most))
			case len(s.rows) == 2:
				c.veils = append(c.veils, response(directed.MulUp(s.byLevel.Alpha0, d)))
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

// proves reports that level alpha per unit of d_EM and e^target hold.
func (s *rowShuffle) proves(ctx context.Context, alpha, target float64) (bool, error) {
	if s.users.items > 1 {
		return newPath(s.users, s.changes).proves(ctx, alpha, target)
	}
	return s.provesOne(ctx, math.Inf(1), target, func(c *change) float64 { return directed.MulDown(alpha, c.distance) })
}

// provesOf reports that eps and e^target hold against the change v.
func (s *rowShuffle) provesOf(ctx context.Context, v Moved, eps, target float64) (bool, error) {
	total := v.total()
	if v.Items == 1 {
		return s.provesOne(ctx, total, target, func(*change) float64 { return eps })
	}
	kinds := slices.DeleteFunc(slices.Clone(s.changes), func(c *change) bool { return c.distance > total })
	return newPath(users{s.users.records, v.Items}, kinds).provesOf(ctx, eps, total, target)
}

// provesOne reports that eps of its change and e^target hold for one item that moves by
// total or less.
func (s *rowShuffle) provesOne(ctx context.Context, total, target float64, eps func(*change) float64) (bool, error) {
	for i, c := range s.changes {
		if c.distance > total {
			continue
		}
		d, err := c.logDelta(ctx, s.users.records, eps(c))
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

// shuffledTol is the relative width of levels, and the width of logarithms of deltas.
const shuffledTol = 5e-4

func (s *rowShuffle) level(ctx context.Context, op string, delta float64) (Bound, error) {
	b, err := s.alone.level(ctx, op, delta)
	return s.least(b, err, delta, func(alpha, target float64) (bool, error) { return s.proves(ctx, alpha, target) })
}

func (s *rowShuffle) attained() float64 { return directed.MulDown(float64(s.users.items), s.atLeast) }

func (s *rowShuffle) delta(ctx context.Context, op string, alpha float64) (Bound, error) {
	b, err := s.alone.delta(ctx, op, alpha)
	return s.leastDelta(b, err, func(target float64) (bool, error) { return s.proves(ctx, alpha, target) })
}

func (s *rowShuffle) movedLevel(ctx context.Context, op string, v Moved, delta float64) (Bound, error) {
	b, err := s.alone.movedLevel(ctx, op, v, delta)
	return s.least(s.ofMoved(v, b), err, delta, func(eps, target float64) (bool, error) { return s.provesOf(ctx, v, eps, target) })
}

func (s *rowShuffle) movedDelta(ctx context.Context, op string, v Moved, eps float64) (Bound, error) {
	b, err := s.alone.movedDelta(ctx, op, v, eps)
	return s.leastDelta(s.ofMoved(v, b), err, func(target float64) (bool, error) { return s.provesOf(ctx, v, eps, target) })
}

// total is a sum of distances, rounded.
func (v Moved) total() float64 { return v.Distance * (1 + 0x1p-40) }

// ofMoved is b, or 0 where no item moves as little as v.
func (s *rowShuffle) ofMoved(v Moved, b Bound) Bound {
	if slices.ContainsFunc(s.changes, func(c *change) bool { return c.distance <= v.total() }) {
		return b
	}
	return Bound{0, s.theorem}
}

// least is the least level found for which proves holds at delta, or best, that of the
// randomizer's level alone.
func (s *rowShuffle) least(best Bound, err error, delta float64, proves func(level, target float64) (bool, error)) (Bound, error) {
	if err != nil || delta == 0 || best.Value < minUnit {
		return best, err
	}
	target := directed.LogDown(delta)
	level, err := lowest(best.Value, shuffledTol, func(level float64) (bool, error) { return proves(level, target) })
	if err == nil && level < best.Value {
		best = Bound{level, s.theorem}
	}
	return best, err
}

// leastDelta is the least delta found for which proves holds at its logarithm, or best.
func (s *rowShuffle) leastDelta(best Bound, err error, proves func(target float64) (bool, error)) (Bound, error) {
	if err != nil || best.Value < minSlack { // as far as the search goes
		return best, err
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
