package constopt

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/parallel"
)

const mostTasks = 16

func (s *solver) taskSize() int { return max(8, (s.m+mostTasks-1)/mostTasks) }

// outputs calls f for every output, tasks in parallel.
func (s *solver) outputs(f func(t *task, w int)) error {
	ctx := s.ctx
	err := parallel.Chunks(ctx, s.m, s.taskSize(), s.o.Workers, nil, func(c, lo, hi int) {
		for w := lo; w < hi && ctx.Err() == nil; w++ {
			f(&s.tasks[c], w)
		}
	})
	return cmp.Or(err, ctx.Err())
}

func (s *solver) kappaOf(w int) []float64 { return s.kappa[w*s.n : (w+1)*s.n] }
func (s *solver) lossOf(w int) []float64  { return s.p.Loss[w*s.losses : (w+1)*s.losses] }

// of is the part of v, by unknown, that belongs to b.
func of(v []float64, b *block) []float64 { return v[b.first : b.first+b.size()] }

// column writes the column of output w with the unknowns v to dst.
func (s *solver) column(dst []float64, w int, v []float64) {
	b, kappa := &s.blocks[w], s.kappaOf(w)
	y := 0.0
	if b.outside {
		y = v[len(b.in)]
	}
	for u, k := range kappa {
		dst[u] = k * y
	}
	for a, u := range b.in {
		dst[u] = kappa[u] * v[a]
	}
}

// sums adds up all columns with the unknowns v, over outputs and, loss by loss, in the loss rows.
func (s *solver) sums(v, sum, loss []float64) error {
	for i := range s.tasks {
		clear(s.tasks[i].sum)
		clear(s.tasks[i].loss)
	}
	err := s.outputs(func(t *task, w int) {
		s.column(t.column, w, of(v, &s.blocks[w]))
		floats.Add(t.sum, t.column)
		for i, l := range s.lossOf(w) {
			t.loss[i] += (l + s.p.Lambda) * t.column[s.p.Class[i]]
		}
	})
	clear(sum)
	clear(loss)
	for i := range s.tasks {
		floats.Add(sum, s.tasks[i].sum)
		floats.Add(loss, s.tasks[i].loss)
	}
	return err
}

// worth writes to dst, by unknown of output w, what the row sums count under y
// less what the loss rows count under z.
func (s *solver) worth(t *task, dst []float64, w int, y, z []float64) {
	b, kappa, c := &s.blocks[w], s.kappaOf(w), t.column
	copy(c, y)
	class, lambda := s.p.Class, s.p.Lambda
	for i, l := range s.lossOf(w) {
		c[class[i]] -= (l + lambda) * z[i]
	}
	for a, u := range b.in {
		dst[a], c[u] = kappa[u]*c[u], 0
	}
	if b.outside {
		dst[len(b.in)] = floats.Dot(kappa, c)
	}
}

// transpose adds G'v to dst, v by row of all blocks.
func (s *solver) transpose(b *block, v, dst []float64) {
	for r := b.row; r < b.end; r++ {
		g := &s.rows[r]
		dst[g.to] += g.beta * v[r]
		dst[g.from] -= g.alpha * v[r]
	}
}

// The start has row sums of 1 + firstSlack at least, and a k above all losses by
// the same fraction. firstPrice of the least cost of an output is what a unit of a
// row sum is worth at first; leastPrice, of the mean, where that is 0.
//
// firstRatio bounds |ln x| of the unknowns at the start.
const (
	firstRatio = 2.0
	firstSlack = 0.1
	firstPrice = 0.5
	leastPrice = 1e-3
)

// start sets a point that is strictly feasible on the primal side, and on the
// dual side where every output costs every input something: Lambda > 0.
func (s *solver) start() error {
	for w := range s.blocks {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		b := &s.blocks[w]
		s.center(b, of(s.x, b))
	}
	// Row sums above 1, and k above all losses.
	if err := s.sums(s.x, s.sum, s.loss); err != nil {
		return err
	}
	if least := slices.Min(s.sum); least > 0 {
		floats.Scale((1+firstSlack)/least, s.x)
	}
	if err := s.sums(s.x, s.sum, s.loss); err != nil {
		return err
	}
	s.k = (1+firstSlack)*slices.Max(s.loss) + firstSlack*floats.Sum(s.loss)/float64(s.losses)
	for i, l := range s.loss {
		s.t[i] = s.k - l
		s.z[i] = 1 / float64(s.losses)
	}
	// Row sums are worth less than any output costs their input.
	for u, v := range s.sum {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.q[u] = v - 1
		least := math.Inf(1)
		for w := range s.m {
			cost := 0.0
			for _, i := range s.members[u] {
				cost += (s.lossOf(w)[i] + s.p.Lambda) * s.z[i]
			}
			least = min(least, cost)
		}
		s.y[u] = max(firstPrice*least, leastPrice*s.k/float64(s.n))
	}
	// Multipliers of rows share out what is then left of the cost of each unknown.
	t := &s.tasks[0]
	for w := range s.blocks {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		b := &s.blocks[w]
		g := of(s.h, b)
		s.worth(t, g, w, s.y, s.z)
		share := max(1, float64(b.size()-1))
		for a, v := range g {
			g[a] = max(-v, leastPrice*math.Abs(v)) / share
		}
		// Rows come in pairs (p, q), (q, p): the two multipliers that are worth
		// g[p] and g[q] together.
		x := of(s.x, b)
		for r := b.row; r < b.end; r++ {
			row := &s.rows[r]
			p, q := row.from, row.to
			s.s[r] = row.slack(x)
			if p == q {
				s.lambda[r] = g[p]
				continue
			}
			back := &s.rows[b.row+((r-b.row)^1)] // blocks may have an odd number of rows
			s.lambda[r] = (g[q] + g[p]*back.alpha/back.beta) / row.beta / -math.Expm1(-(row.budget + back.budget))
		}
	}
	return nil
}

// center sets x strictly inside the rows of b. With c(a,b) the shortest chain of
// budgets from a to b, ln x[a] = c(a,z) and ln x[a] = -c(z,a) satisfy the rows for
// every z; so does their mean over z, with room where chains there and back have.
// And so do multiples of it, the rows of d itself having room >= 0: it is scaled
// to firstRatio at most, so that budgets of hundreds do not tear columns apart.
func (s *solver) center(b *block, x []float64) {
	k := b.size()
	c := make([]float64, k*k)
	for i := range c {
		c[i] = math.Inf(1)
	}
	for i := range k {
		c[i*k+i] = 0
	}
	for _, r := range s.rows[b.row:b.end] {
		if r.from != r.to {
			c[int(r.from)*k+int(r.to)] = r.budget
		}
	}
	for z := range k { // shortest chains (Floyd)
		for i := range k {
			iz := c[i*k+z]
			for j := range k {
				c[i*k+j] = min(c[i*k+j], iz+c[z*k+j])
			}
		}
	}
	most := firstRatio
	for a := range x {
		x[a] = 0
		for z := range k {
			x[a] += (c[a*k+z] - c[z*k+a]) / float64(2*k)
		}
		most = max(most, math.Abs(x[a]))
	}
	for a, v := range x {
		x[a] = math.Exp(v * firstRatio / most)
	}
}
