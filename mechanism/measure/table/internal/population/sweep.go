package population

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	rate   = .7 // of corrections
	decay  = .05
	limit  = 12. // of potentials
	gentle = 3.  // rows added to counts before they are divided
)

// view is a factor as a column sees it: the weights of the column's bins, one after another,
// for every combination of the other columns' bins.
type view struct {
	weights []float32
	a, b    []uint8 // the other columns; b is nil for a pair
	size    int     // bins of b
}

// conditional draws a column given the others.
type conditional struct {
	base  []float32
	views []view
}

func (p *Population) conditional(j int) *conditional {
	bins := p.bins[j]
	c := &conditional{base: powers(p.log[j], 0, 1, bins)}
	for _, i := range p.of[j] {
		f := p.factors[i]
		at, after := 0, 1 // where j is, and the cells of the columns after it
		for f.Columns[at] != j {
			at++
		}
		var v view
		for i, o := range f.Columns {
			switch {
			case i == at:
			case v.a == nil:
				v.a, v.size = p.z[o], 1
			default:
				v.b, v.size = p.z[o], p.bins[o]
			}
			if i > at {
				after *= p.bins[o]
			}
		}
		if v.a == nil { // a table of one column
			for a, w := range powers(f.theta, 0, 1, bins) {
				c.base[a] *= w
			}
			continue
		}
		for o := range len(f.theta) / bins {
			v.weights = append(v.weights, powers(f.theta, o/after*after*bins+o%after, after, bins)...)
		}
		c.views = append(c.views, v)
	}
	return c
}

// powers returns e to the power of bins entries of theta, scaled to at most 1.
func powers(theta []float64, first, step, bins int) []float32 {
	most := math.Inf(-1)
	for a := range bins {
		most = max(most, theta[first+a*step])
	}
	out := make([]float32, bins)
	for a := range out {
		out[a] = float32(math.Exp(theta[first+a*step] - most))
	}
	return out
}

// weigh sets q to the weights of the column's bins in a row.
func (c *conditional) weigh(q []float32, row int) {
	copy(q, c.base)
	for i := range c.views {
		v := &c.views[i]
		o := int(v.a[row])
		if v.b != nil {
			o = o*v.size + int(v.b[row])
		}
		w := v.weights[o*len(q):][:len(q)]
		for a := range q {
			q[a] *= w[a]
		}
	}
}

// draw returns a bin with probability in proportion to q, or -1 where all are too small.
func draw(rng *rand.Rand, q []float32) int {
	sum := float32(0)
	for _, v := range q {
		sum += v
	}
	if !(sum > 1e-30) {
		return -1
	}
	u := rng.Float32() * sum
	last := -1
	for a, v := range q {
		if v > 0 {
			if u < v {
				return a
			}
			last = a
		}
		u -= v
	}
	return last
}

// Sweep sweeps n times, as after every table that is added.
func (p *Population) Sweep(ctx context.Context, n int) error {
	for range n {
		if err := p.sweep(ctx, rate, false); err != nil {
			return err
		}
	}
	return nil
}

// sweep draws all columns once, in random order, and corrects the potentials; deal makes the
// bins of every column as frequent as they should be.
func (p *Population) sweep(ctx context.Context, eta float64, deal bool) error {
	for _, j := range p.rng.Perm(len(p.bins)) {
		if len(p.of[j]) == 0 && p.allowed == nil || p.bins[j] == 1 {
			continue // independent of all others, and evenly spread
		}
		c := p.conditional(j)
		z := p.z[j]
		err := p.each(ctx, func(rng *rand.Rand, lo, hi int) {
			q := make([]float32, len(c.base))
			may := p.asker()
			for r := lo; r < hi; r++ {
				c.weigh(q, r)
				for a := draw(rng, q); a >= 0; a = draw(rng, q) {
					if may(j, r, a) {
						z[r] = uint8(a)
						break
					}
					q[a] = 0
				}
			}
		})
		if err != nil {
			return err
		}
		if deal {
			p.deal(j, c)
		}
		if err := p.correct(ctx, j, eta); err != nil {
			return err
		}
	}
	return nil
}

// deal moves rows from bins of column j with a surplus to those with a deficit.
func (p *Population) deal(j int, c *conditional) {
	z := p.z[j]
	over := make([]float64, p.bins[j])
	for a := range over {
		over[a] = -p.margins[j][a] / p.Weight()
	}
	for _, a := range z {
		over[a]++
	}
	q := make([]float32, len(over))
	may := p.asker()
	for _, r := range p.rng.Perm(len(z)) {
		if over[z[r]] < .5 {
			continue
		}
		c.weigh(q, r)
		for a := range q {
			if over[a] > -.5 {
				q[a] = 0
			}
		}
		for a := draw(p.rng, q); a >= 0; a = draw(p.rng, q) {
			if may(j, r, a) {
				over[z[r]]--
				z[r] = uint8(a)
				over[a]++
				break
			}
			q[a] = 0
		}
	}
}

// correct moves the potentials of column j and of its tables towards their counts.
func (p *Population) correct(ctx context.Context, j int, eta float64) error {
	w := p.Weight()
	for a, n := range p.count([]int{j}) {
		p.log[j][a] += eta * step(p.margins[j][a]-w*float64(n), w*float64(n), gentle*w)
	}
	return parallel.Each(ctx, len(p.of[j]), 1, func(i int) error {
		f := p.factors[p.of[j][i]]
		most := 1
		for _, o := range f.Columns {
			most = max(most, len(p.of[o]))
		}
		eta := eta / float64(most) // all tables of a column move at once
		for c, n := range p.count(f.Columns) {
			mu := w * float64(n)
			switch d := f.Counts[c] - mu; {
			case d > f.Scale:
				f.theta[c] += eta * step(d-f.Scale, mu, f.Scale+gentle*w)
			case d < -f.Scale:
				f.theta[c] += eta * step(d+f.Scale, mu, f.Scale+gentle*w)
			default:
				f.theta[c] *= 1 - decay*eta
			}
			f.theta[c] = min(max(f.theta[c], -limit), limit)
		}
		return nil
	})
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
