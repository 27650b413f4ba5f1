package population

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	rate   = .7 // of corrections
	decay  = .05
	limit  = 12. // of potentials
	gentle = 3.  // rows added to counts before they are divided
	recent = .15 // of a mean
)

// view is a factor as one of its columns sees it: the weights of the column's groups, one
// after another, for every group of the other column.
type view struct {
	f       *factor
	at      int // of the column in the factor
	weights []float64
	groups  []uint8 // of the column's bins
	other   []uint8 // column
	begin   []int32 // of the weights for a bin of it
}

// conditional draws a column given the others.
type conditional struct {
	base  []float64
	views []view
}

func (p *Population) conditional(j int) *conditional {
	c := &conditional{base: powers(p.log[j])}
	for _, i := range p.of[j] {
		f := p.factors[i]
		at := slices.Index(f.Columns, j)
		size := f.Sizes[at]
		v := view{f: f, at: at, groups: f.Groups[at], other: p.z[f.Columns[1-at]], begin: multiply(f.Groups[1-at], size)}
		theta := make([]float64, size)
		for b := range f.Sizes[1-at] {
			for a := range theta {
				theta[a] = f.theta[f.cell(at, a, b)]
			}
			v.weights = append(v.weights, powers(theta)...)
		}
		c.views = append(c.views, v)
	}
	return c
}

// powers returns e to the power of theta, scaled to at most 1.
func powers(theta []float64) []float64 {
	most := slices.Max(theta)
	out := make([]float64, len(theta))
	for a, v := range theta {
		out[a] = math.Exp(v - most)
	}
	return out
}

// weigh sets q to the weights of the column's bins in a row.
func (c *conditional) weigh(q []float64, row int) {
	copy(q, c.base)
	for i := range c.views {
		v := &c.views[i]
		w, g := v.weights[v.begin[v.other[row]]:], v.groups[:len(q)]
		for a := range q {
			q[a] *= w[g[a]]
		}
	}
}

// draw returns a bin that may be with probability in proportion to q, or -1 where there is
// none or all are too small. It changes q.
func draw(rng *rand.Rand, q []float64, may func(a int) bool) int {
	for {
		sum := 0.
		for _, v := range q {
			sum += v
		}
		if !(sum > 1e-200) {
			return -1
		}
		u := rng.Float64() * sum
		at := -1
		for a, v := range q {
			if v > 0 {
				at = a
				if u < v {
					break
				}
				u -= v
			}
		}
		if may(at) {
			return at
		}
		q[at] = 0
	}
}

// Sweep sweeps n times, as after every table that is added.
func (p *Population) Sweep(ctx context.Context, n int) error {
	for range n {
		if err := p.sweep(ctx, rate); err != nil {
			return err
		}
	}
	return nil
}

// order is that of a sweep: the columns that are not independent of all others.
func (p *Population) order() []int {
	return slices.DeleteFunc(p.rng.Perm(len(p.bins)), func(j int) bool {
		return p.bins[j] == 1 || p.free(j)
	})
}

// sweep draws all columns once and corrects the potentials.
func (p *Population) sweep(ctx context.Context, eta float64) error {
	for _, j := range p.order() {
		if p.allowed != nil {
			p.rake(j)
		}
		c := p.conditional(j)
		err := p.each(ctx, func(rng *rand.Rand, lo, hi int) {
			q := make([]float64, p.bins[j])
			may := p.asker()
			for r := lo; r < hi; r++ {
				c.weigh(q, r)
				if a := draw(rng, q, func(a int) bool { return may(j, r, a) }); a >= 0 {
					p.z[j][r] = uint8(a)
				}
			}
		})
		if err == nil {
			err = p.correct(ctx, j, eta)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// correct moves the potentials of column j and of its tables towards their counts.
func (p *Population) correct(ctx context.Context, j int, eta float64) error {
	w := p.weight()
	for a, n := range p.single(j) {
		p.log[j][a] += eta * step(p.margins[j][a]-w*n, w*n, gentle*w)
	}
	return parallel.Each(ctx, len(p.of[j]), 1, func(i int) error {
		f := p.factors[p.of[j][i]]
		eta := eta / float64(max(len(p.of[f.Columns[0]]), len(p.of[f.Columns[1]]))) // all move at once
		for c, mu := range p.Counts(f.Grid) {
			f.mean[c] += recent * (mu - f.mean[c])
			if d := f.lacks(c, mu); d != 0 {
				f.theta[c] += eta * step(d, mu, f.Scale+gentle*w)
			} else {
				f.theta[c] *= 1 - decay*eta
			}
			f.theta[c] = min(max(f.theta[c], -limit), limit)
		}
		return nil
	})
}

// lacks is what a cell that counts mu lacks, of which the scale of the noise may be noise.
func (f *factor) lacks(c int, mu float64) float64 {
	d := f.Counts[c] - mu
	return d - min(max(d, -f.Scale), f.Scale)
}

// step is that of iterative proportional fitting, from a count of mu to d more, made smaller
// where counts are small.
func step(d, mu, add float64) float64 {
	return min(max(math.Log((max(mu+d, 0)+add)/(mu+add)), -1), 1)
}

// logs are the potentials of independent columns.
func logs(counts []float64, total float64) []float64 {
	out := make([]float64, len(counts))
	for a, v := range counts {
		out[a] = math.Log(v/total + 1e-6)
	}
	return out
}
