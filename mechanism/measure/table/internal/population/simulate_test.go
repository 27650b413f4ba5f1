package population

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sample is a table of whole numbers below size; ordered columns are numbers.
type sample struct {
	name    string
	size    []int
	ordered []bool
	z       [][]int // column by column
}

// counted is private counts, released at a level that can be raised (gradual release).
type counted struct {
	truth, noise []float64
	level        float64
}

func laplace(rng *rand.Rand, scale float64) float64 {
	return scale * (rng.ExpFloat64() - rng.ExpFloat64())
}

func (c *counted) raise(rng *rand.Rand, level float64) {
	if c.noise == nil {
		for range c.truth {
			c.noise = append(c.noise, laplace(rng, 1/level))
		}
	} else if level > c.level {
		for i, n := range c.noise {
			c.noise[i] = refined(rng, n, c.level, level)
		}
	}
	c.level = level
}

// refined draws Laplace noise of rate b, given that it and Laplace noise of rate a, but for an
// atom at 0, sum to n.
func refined(rng *rand.Rand, n, a, b float64) float64 {
	same := a * a / b / b
	part := (1 - same) * a / 2
	m := math.Abs(n)
	weights := []float64{
		same * math.Exp(-b*m),
		part * math.Exp(-a*m) / (a + b),
		part * math.Exp(-a*m) * -math.Expm1(-(b-a)*m) / (b - a),
		part * math.Exp(-b*m) / (a + b),
	}
	u := rng.Float64() * (weights[0] + weights[1] + weights[2] + weights[3])
	y := m
	switch {
	case u < weights[0]:
	case u < weights[0]+weights[1]:
		y = -rng.ExpFloat64() / (a + b)
	case u < weights[0]+weights[1]+weights[2]:
		y = -math.Log1p(rng.Float64()*math.Expm1(-(b-a)*m)) / (b - a)
	default:
		y = m + rng.ExpFloat64()/(a+b)
	}
	return math.Copysign(y, y*n)
}

func (c *counted) counts() []float64 {
	out := slices.Clone(c.truth)
	for i, n := range c.noise {
		out[i] += n
	}
	return out
}

func (c *counted) table(g Grid) Table { return Table{g, c.counts(), 1 / c.level} }

// histogram counts columns of z.
func histogram(z [][]int, size []int, columns ...int) []float64 {
	cells := 1
	for _, j := range columns {
		cells *= size[j]
	}
	out := make([]float64, cells)
	for r := range z[0] {
		c := 0
		for _, j := range columns {
			c = c*size[j] + z[j][r]
		}
		out[c]++
	}
	return out
}

// histogram counts the rows of bins in the cells of g.
func (g Grid) histogram(z [][]int) []float64 {
	out := make([]float64, g.Cells())
	at := g.Offsets()
	for r := range z[0] {
		c := int32(0)
		for i, j := range g.Columns {
			c += at[i][z[j][r]]
		}
		out[c]++
	}
	return out
}

// synthesize is a whole release of s, but for exact noise: what comes out, and the sets picked.
func synthesize(t testing.TB, rng *rand.Rand, s *sample, eps float64, independent bool) (rows [][]int, picked [][]int) {
	ctx, k := context.Background(), len(s.size)
	var own []*counted
	for j := range k {
		own = append(own, &counted{truth: histogram(s.z, s.size, j)})
	}
	var total float64
	raise := func(levels []float64) {
		sum, weight := 0.0, 0.0
		for j, c := range own {
			c.raise(rng, levels[j])
			w := levels[j] * levels[j] / float64(len(c.truth))
			for _, v := range c.counts() {
				sum += w * v
			}
			weight += w
		}
		total = max(1, sum/weight)
	}
	margins := func() (out [][]float64) {
		for j, c := range own {
			y := c.counts()
			if s.ordered[j] {
				y = Segments(y, 2/c.level/c.level)
			}
			out = append(out, project(y, total))
		}
		return out
	}
	if independent {
		raise(slices.Repeat([]float64{eps / float64(k)}, k))
		for _, g := range margins() {
			rows = append(rows, Spread(rng, g, int(math.Round(total))))
		}
		return rows, nil
	}
	n := max(1, math.Round(float64(len(s.z[0]))+laplace(rng, 100/eps)))
	l := NewLevels(.99*eps, n, s.size, 1)
	raise(l.Margins)
	estimate := margins()
	coarse := make([][]float64, k)
	bin := make([][]uint8, k)
	size := make([]int, k)
	z := make([][]int, k)
	for j, g := range estimate {
		bin[j] = Bins(g, s.ordered[j], MostBins)
		size[j] = Size(bin[j])
		coarse[j] = Sum(g, bin[j], size[j])
		for _, v := range s.z[j] {
			z[j] = append(z[j], int(bin[j][v]))
		}
	}
	p, err := New(rng, size, coarse, min(max(int(total), 1000), 6000), nil)
	if err != nil {
		t.Fatal(err)
	}
	var pairs []*counted
	picks := 0
	var grids []Grid
	var truth [][]float64
	for i := range k {
		for j := range i {
			g := NewGrid(size, func(j, most int) []uint8 { return Bins(coarse[j], s.ordered[j], most) }, l.CellsOf(s.ordered[j], s.ordered[i]), j, i)
			grids = append(grids, g)
			truth = append(truth, g.histogram(z))
		}
	}
	l.Consider(grids)
	scale := 2 / l.Pick
	var chosen []Grid
	for picks < l.Picks {
		picks++
		first := len(pairs) == 0
		most := scale * (Threshold(len(truth), first) + rng.ExpFloat64())
		best := -1
		for i, x := range truth {
			if x == nil || !l.Fits(chosen, grids[i]) {
				continue
			}
			q := p.Predict(l.Scale(chosen, grids[i]), first, grids[i])
			score := scale*rng.ExpFloat64() - q.Cost
			for c, v := range x {
				score += math.Abs(v - float64(q.Counts[c]))
			}
			if score > most {
				most, best = score, i
			}
		}
		if best < 0 {
			break
		}
		c := &counted{truth: truth[best]}
		truth[best] = nil
		c.raise(rng, l.Pair(grids[best]))
		pairs, chosen, picked = append(pairs, c), append(chosen, grids[best]), append(picked, grids[best].Columns)
		p.Add(c.table(grids[best]))
		if err := p.Sweep(ctx, 3); err != nil {
			t.Fatal(err)
		}
	}
	levels, rest := l.Rest(chosen, picks)
	raise(levels)
	var tables []Table
	for i, c := range pairs {
		c.raise(rng, rest[i])
		tables = append(tables, c.table(chosen[i]))
	}
	estimate = margins()
	for j, g := range estimate {
		estimate[j] = Combine(g, Sum(slices.Repeat([]float64{2 / own[j].level / own[j].level}, len(g)), bin[j], size[j]), bin[j], j, size[j], tables, total)
		coarse[j] = Sum(estimate[j], bin[j], size[j])
	}
	if err := p.Finish(ctx, coarse, tables, min(max(1, int(math.Round(total))), 1<<17), 40); err != nil {
		t.Fatal(err)
	}
	for j, a := range p.Rows() {
		rows = append(rows, values(rng, a, bin[j], estimate[j]))
	}
	return rows, picked
}

// errors returns the mean total variation of all single columns, pairs and (at most 300)
// triples.
func variations(s *sample, rows [][]int) (out [3]float64) {
	k := len(s.size)
	sets := [3][][]int{}
	for i := range k {
		sets[0] = append(sets[0], []int{i})
		for j := range i {
			sets[1] = append(sets[1], []int{j, i})
			for l := range j {
				sets[2] = append(sets[2], []int{l, j, i})
			}
		}
	}
	if len(sets[2]) > 300 {
		r := rand.New(rand.NewPCG(1, 1))
		r.Shuffle(len(sets[2]), func(a, b int) { sets[2][a], sets[2][b] = sets[2][b], sets[2][a] })
		sets[2] = sets[2][:300]
	}
	for m, list := range sets {
		for _, c := range list {
			x, y := histogram(s.z, s.size, c...), histogram(rows, s.size, c...)
			for a := range x {
				out[m] += math.Abs(x[a]/float64(len(s.z[0]))-y[a]/float64(len(rows[0]))) / 2 / float64(len(list))
			}
		}
	}
	return out
}

// values returns a value for every row of a column: those of a bin are dealt evenly by counts.
func values(rng *rand.Rand, rows []uint8, bins []uint8, counts []float64) []int {
	out := make([]int, len(rows))
	rowsOf := make([][]int, 256)
	for r, a := range rows {
		rowsOf[a] = append(rowsOf[a], r)
	}
	for a, in := range rowsOf {
		var of []int
		var weights []float64
		for v, b := range bins {
			if int(b) == a {
				of, weights = append(of, v), append(weights, counts[v])
			}
		}
		if len(in) == 0 || len(of) == 0 {
			continue
		}
		for i, v := range Spread(rng, weights, len(in)) {
			out[in[i]] = of[v]
		}
	}
	return out
}
