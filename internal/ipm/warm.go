package ipm

import (
	"math"
	"slices"
)

// A round starts from an iterate of the round before, made feasible for the new
// rows, where that disturbs it less than what it has to go: half the
// iterations, for small gaps. Iterates close to the optimum are the worst to
// start from, their slacks and multipliers being lopsided; so some are kept
// from the way there.

// The first iterate whose relative gap is below firstKept is kept, and so is
// the first one below each power of 10 after that: the last mostKept of them.
const (
	firstKept = 1e-2
	mostKept  = 4
)

// The parameters of a warm start, by experiment at n = 150 and 200 (all
// insensitive within a factor of 2).
const (
	// disturbed is how much, in units of the iterate's gap, rows may come to
	// exceed 1, and losses the price they had, relative.
	disturbed = 0.3
	// pushed is the share of the cold start that is mixed in, in the same unit:
	// new rows begin with that part of its slack.
	pushed = 0.1
	// floored bounds products of slacks and multipliers from below, in units of
	// their target.
	floored = 0.1
)

// kept is an iterate of a round.
type kept struct {
	gap, k     float64
	x, y, z, t []float64
	lambda     []float64
	index      [][]int32 // the pairs of every column then
}

// keep keeps the iterate where it is due.
func (s *solver) keep() {
	gap := (s.best.Upper - s.best.Lower) / s.best.Upper
	if !(gap > 0 && gap <= s.due) { // rounding may have it below 0
		return
	}
	for gap <= s.due {
		s.due /= 10
	}
	c := &kept{
		gap: gap, k: s.k, x: slices.Clone(s.x), y: slices.Clone(s.y), z: slices.Clone(s.z), t: slices.Clone(s.t),
		lambda: slices.Clone(s.lambda), index: make([][]int32, s.m),
	}
	for w := range s.parts {
		c.index[w] = s.parts[w].index
	}
	if len(s.way) == mostKept {
		s.way = slices.Delete(s.way, 0, 1)
	}
	s.way = append(s.way, c)
}

// warm replaces the cold start by one from the last iterate that serves, and
// reports whether there is one. The Newton steps mend the dual residual of new
// rows, and row sums.
func (s *solver) warm(way []*kept) (ok bool, err error) {
	if len(way) == 0 {
		return false, nil
	}
	decay := make([]float64, len(s.p.Budget))
	for i, e := range s.p.Budget {
		decay[i] = math.Exp(-min(e, MaxBudget))
	}
	cold := slices.Clone(s.x)
	for _, c := range slices.Backward(way) {
		k, excess, err := s.raise(c, decay)
		if err != nil {
			return false, err
		}
		if max(excess, k/c.k-1) <= disturbed*c.gap {
			return true, s.take(c, cold, k)
		}
	}
	copy(s.x, cold)
	return false, s.measure()
}

// raise sets s.x to the least matrix above that of c that obeys all privacy rows,
// by the triangle inequality. It returns the k that leaves losses half the room
// they had, and how much a row sum exceeds 1.
func (s *solver) raise(c *kept, decay []float64) (k, excess float64, err error) {
	err = s.columns(func(_ *task, w int) {
		from, to := s.column(c.x, w), s.column(s.x, w)
		copy(to, from)
		for u, xu := range from {
			for v, d := range decay[u*s.n : (u+1)*s.n] {
				if y := d * xu; y > to[v] {
					to[v] = y
				}
			}
		}
	})
	if err == nil {
		err = s.measure()
	}
	for _, v := range s.sum {
		excess = max(excess, v-1)
	}
	for i, t := range c.t {
		k = max(k, s.loss[i]+t/2)
	}
	return k, excess, err
}

// take moves to c, s.x and k being its own made feasible, mixed with the cold
// start. The rest of s is still that of the cold start.
func (s *solver) take(c *kept, cold []float64, k float64) error {
	theta := pushed * c.gap
	for i, v := range cold {
		s.x[i] = (1-theta)*s.x[i] + theta*v
	}
	s.k = (1-theta)*k + theta*s.k
	if err := s.measure(); err != nil {
		return err
	}
	target := c.gap * c.k / s.weight
	copy(s.y, c.y)
	copy(s.z, c.z)
	for i, t := range s.t {
		s.t[i] = max(s.k-s.loss[i], theta*t)
		s.z[i] = max(s.z[i], floored*target/s.t[i])
	}
	at := make([]int, s.m) // where the rows of a column begin in c
	for w := 1; w < s.m; w++ {
		at[w] = at[w-1] + 2*len(c.index[w-1])
	}
	s.clearPrices()
	return s.columns(func(t *task, w int) {
		v, x, index := s.view(w), s.column(s.x, w), c.index[w]
		f, b := c.lambda[at[w]:][:len(index)], c.lambda[at[w]+len(index):][:len(index)]
		next := 0 // pair that c has, too
		v.each(func(i int32, p, q int) {
			// What rounding may hide is the part of the cold start.
			v.sf[i] = max(v.b[i]*x[q]-v.a[i]*x[p], theta*v.sf[i])
			v.sk[i] = max(v.b[i]*x[p]-v.a[i]*x[q], theta*v.sk[i])
			v.rf[i], v.rk[i] = 1/v.sf[i], 1/v.sk[i]
			v.lf[i], v.lk[i] = target*v.omega[i]*v.rf[i], target*v.omega[i]*v.rk[i]
			if next < len(index) && index[next] == s.parts[w].index[i] {
				v.lf[i], v.lk[i] = max(floored*v.lf[i], f[next]), max(floored*v.lk[i], b[next])
				next++
			}
		})
		s.price(t, w)
	})
}
