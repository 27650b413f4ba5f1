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

// view is a factor as a column sees it: the weights of its groups, one after another, for
// every combination of the other columns' groups.
type view struct {
	f       *factor
	at      int     // of the column among the factor's
	cell    []int32 // of the factor, that a weight is for
	weights []float64
	groups  []uint8 // of the column's bins
	size    int     // groups
	a, b    []uint8 // the other columns; b is nil for a pair
	x, y    []int32 // where their bins' weights begin
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
		v := view{f: f}
		for f.Columns[v.at] != j {
			v.at++
		}
		v.groups, v.size = f.Groups[v.at], f.Sizes[v.at]
		for i, off := range f.offsets(v.at) {
			for a := range off {
				off[a] *= int32(v.size)
			}
			switch {
			case i == v.at:
			case v.a == nil:
				v.a, v.x = p.z[f.Columns[i]], off
			default:
				v.b, v.y = p.z[f.Columns[i]], off
			}
		}
		after := f.after(v.at)
		theta := make([]float64, v.size)
		for o := range len(f.theta) / v.size {
			for a := range theta {
				cell := (o/after*v.size+a)*after + o%after
				v.cell = append(v.cell, int32(cell))
				theta[a] = f.theta[cell]
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

// first is where the weights of a row begin.
func (v *view) first(row int) int {
	o := int32(0)
	if v.a != nil {
		o = v.x[v.a[row]]
	}
	if v.b != nil {
		o += v.y[v.b[row]]
	}
	return int(o)
}

// weigh sets q to the weights of the column's bins in a row.
func (c *conditional) weigh(q []float64, row int) {
	copy(q, c.base)
	for i := range c.views {
		v := &c.views[i]
		w, g := v.weights[v.first(row):][:v.size], v.groups[:len(q)]
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
		return p.bins[j] == 1 || len(p.of[j]) == 0 && p.allowed == nil
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
	w := p.Weight()
	for a, n := range p.single(j) {
		p.log[j][a] += eta * step(p.margins[j][a]-w*n, w*n, gentle*w)
	}
	return parallel.Each(ctx, len(p.of[j]), 1, func(i int) error {
		f := p.factors[p.of[j][i]]
		most := 1
		for _, o := range f.Columns {
			most = max(most, len(p.of[o]))
		}
		eta := eta / float64(most) // all tables of a column move at once
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
