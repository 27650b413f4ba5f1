package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/wasserstein"
)

// values returns those of an entry that are not missing, ascending.
func (e *entry) values(records [][]float64) []float64 {
	var v []float64
	for _, x := range records {
		if !math.IsNaN(x[e.at]) {
			v = append(v, x[e.at])
		}
	}
	slices.Sort(v)
	return v
}

// shares returns how often each name occurs.
func (e *entry) shares(records [][]float64) []float64 {
	p := make([]float64, len(e.names))
	for _, x := range records {
		if !math.IsNaN(x[e.at]) {
			p[int(x[e.at])] += 1 / float64(len(records))
		}
	}
	return p
}

// groups are counts, sums and sums of squares.
type groups struct{ n, sum, squares float64 }

func (g *groups) add(v float64) {
	g.n++
	g.sum += v
	g.squares += v * v
}

// spread is the sum of squares around the mean.
func (g *groups) spread() float64 {
	if g.n == 0 {
		return 0
	}
	return max(0, g.squares-g.sum*g.sum/g.n)
}

// association is how closely two entries hang together, from 0 to 1, and its name:
// the correlation of two numbers, with its sign; how much of the variance of a number
// is between names, as a correlation ratio; Cramér's V of two names. NaN where one is
// constant.
func association(a, b *entry, records [][]float64) (what string, v float64) {
	if a.names != nil && b.names == nil {
		a, b = b, a
	}
	if a.names != nil {
		return "Cramér's V", cramer(a, b, records)
	}
	span := func(e *entry, v float64) float64 { return (v - e.lo) / (e.hi - e.lo) }
	var x, y groups
	xy := 0.0
	byName := make([]groups, len(b.names))
	for _, r := range records {
		u, w := r[a.at], r[b.at]
		if math.IsNaN(u) || math.IsNaN(w) {
			continue
		}
		u = span(a, u)
		x.add(u)
		if b.names != nil {
			byName[int(w)].add(u)
			continue
		}
		w = span(b, w)
		y.add(w)
		xy += u * w
	}
	if b.names == nil {
		return "correlation", (xy - x.sum*y.sum/x.n) / math.Sqrt(x.spread()*y.spread())
	}
	within := 0.0
	for _, g := range byName {
		within += g.spread()
	}
	return "correlation ratio", math.Sqrt(max(0, 1-within/x.spread()))
}

func cramer(a, b *entry, records [][]float64) float64 {
	n, rows, columns := 0.0, make([]float64, len(a.names)), make([]float64, len(b.names))
	cells := map[[2]int]float64{}
	for _, r := range records {
		if math.IsNaN(r[a.at]) || math.IsNaN(r[b.at]) {
			continue
		}
		i, j := int(r[a.at]), int(r[b.at])
		n++
		rows[i]++
		columns[j]++
		cells[[2]int{i, j}]++
	}
	used := func(sums []float64) (k float64) {
		for _, v := range sums {
			if v > 0 {
				k++
			}
		}
		return k
	}
	sum := 0.0
	for at, v := range cells {
		sum += v * v / rows[at[0]] / columns[at[1]]
	}
	return math.Sqrt(max(0, sum-1) / (min(used(rows), used(columns)) - 1))
}

// ranges are random queries: how many records have values in these ranges?
type ranges []query

// query has conditions on one or two fields; a record counts that meets all.
type query []condition

type condition struct {
	e      *entry
	lo, hi float64
	in     []bool // of names
}

// How many there are: fewer where records are many.
const (
	maxQueries, minQueries = 500, 50
	queryRecords           = 50_000_000 // in all queries
)

// newRanges draws the queries from the public schema alone: of two fields each, an
// interval between two uniform numbers, or names, each with probability 1/4.
func (s *study) newRanges() (all ranges) {
	rng := random.Seeded(s.seed)
	fields := len(s.schema.Fields())
	for range max(minQueries, min(maxQueries, queryRecords/len(s.original))) {
		var q query
		for _, k := range rng.Perm(fields)[:min(2, fields)] {
			for i := range s.entries {
				e := &s.entries[i]
				if e.field != k {
					continue
				}
				c := condition{e: e}
				for range e.names {
					c.in = append(c.in, rng.IntN(4) == 0)
				}
				u, v := rng.Float64(), rng.Float64()
				c.lo, c.hi = e.lo+min(u, v)*(e.hi-e.lo), e.lo+max(u, v)*(e.hi-e.lo)
				q = append(q, c)
			}
		}
		all = append(all, q)
	}
	return all
}

func (q query) holds(x []float64) bool {
	for _, c := range q {
		v := x[c.e.at]
		if math.IsNaN(v) || c.in != nil && !c.in[int(v)] || c.in == nil && !(v >= c.lo && v <= c.hi) {
			return false
		}
	}
	return true
}

// shares answers every query by a share of the records.
func (r ranges) shares(ctx context.Context, records [][]float64) ([]float64, error) {
	p := make([]float64, len(r))
	return p, parallel.Chunks(ctx, len(r), 1, 0, nil, func(i, _, _ int) {
		n := 0
		for _, x := range records {
			if r[i].holds(x) {
				n++
			}
		}
		p[i] = float64(n) / float64(len(records))
	})
}

const (
	// centers is how many k-means looks for, in so many records at most.
	centers          = 8
	clusteredRecords = 20_000
)

// points are the numbers of records in which none is missing, as weighted shares of
// their ranges, and unit vectors of places. There are none without numbers.
func (s *study) points(records [][]float64) (points [][]float64) {
next:
	for _, x := range records {
		var y []float64
		for i, e := range s.entries {
			v := x[e.at]
			switch {
			case e.names != nil:
			case math.IsNaN(v):
				continue next
			case e.kind == table.Place && i+1 < len(s.entries) && s.entries[i+1].field == e.field:
				lat, lon := v*math.Pi/180, x[e.at+1]*math.Pi/180
				y = append(y, e.weight/2*math.Cos(lat)*math.Cos(lon), e.weight/2*math.Cos(lat)*math.Sin(lon), e.weight/2*math.Sin(lat))
			case e.kind != table.Place:
				y = append(y, e.weight*(v-e.lo)/(e.hi-e.lo))
			}
		}
		if y != nil {
			points = append(points, y)
		}
	}
	return points
}

func square(x, y []float64) (d float64) {
	for k, v := range x {
		d += (v - y[k]) * (v - y[k])
	}
	return d
}

// cost is the mean squared distance of the points to the nearest center; nearest, where
// not nil, gets which it is.
func cost(points, centers [][]float64, nearest []int) (sum float64) {
	for i, x := range points {
		best, at := math.Inf(1), 0
		for k, c := range centers {
			if d := square(x, c); d < best {
				best, at = d, k
			}
		}
		if nearest != nil {
			nearest[i] = at
		}
		sum += best / float64(len(points))
	}
	return sum
}

// means is k-means: the best of ten runs of Lloyd's method from k-means++.
func means(ctx context.Context, rng *rand.Rand, points [][]float64) (best [][]float64, err error) {
	if len(points) == 0 {
		return nil, nil
	}
	nearest, far := make([]int, len(points)), make([]float64, len(points))
	least := math.Inf(1)
	for range 10 {
		found := [][]float64{slices.Clone(points[rng.IntN(len(points))])}
		for len(found) < centers {
			sum := 0.0
			for i, x := range points {
				if d := square(x, found[len(found)-1]); len(found) == 1 || d < far[i] {
					far[i] = d
				}
				sum += far[i]
			}
			at, u := 0, rng.Float64()*sum
			for at < len(points)-1 && u >= far[at] {
				u -= far[at]
				at++
			}
			found = append(found, slices.Clone(points[at]))
		}
		last := math.Inf(1)
		for {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := cost(points, found, nearest)
			if !(c < last*(1-1e-4)) {
				break
			}
			last = c
			n := make([]float64, centers)
			sums := make([][]float64, centers)
			for i, x := range points {
				k := nearest[i]
				n[k]++
				if sums[k] == nil {
					sums[k] = make([]float64, len(x))
				}
				for a, v := range x {
					sums[k][a] += v
				}
			}
			for k, sum := range sums {
				for a := range sum {
					found[k][a] = sum[a] / n[k]
				}
			}
		}
		if last < least {
			least, best = last, found
		}
	}
	return best, nil
}

const (
	// Up to so many records are compared in full by W1; of more, samples are.
	exactRecords, sampledRecords = 8192, 4096
	// More columns, distances of places and along trees take longer.
	slowRecords = 2048
)

// sample returns up to so many of the records, drawn once and for all.
func sample(records [][]float64, n int) [][]float64 {
	if len(records) <= n {
		return records
	}
	some := slices.Clone(records)
	random.Seeded(uint64(n)).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return some[:n]
}

// w1 is the distance of two sets of records in the metric of the schema.
func (s *study) w1(ctx context.Context, a, b [][]float64) (float64, error) {
	if e := &s.entries[0]; s.line() {
		w, err := wasserstein.W1Samples(e.values(a), e.values(b))
		return w / (e.hi - e.lo) * e.weight, err
	}
	var c wasserstein.Cost = &distances{s.metric, a, b}
	if !s.slow() {
		c = newShares(s.entries, a, b)
	}
	r, err := wasserstein.Between(ctx, c, uniform(len(a)), uniform(len(b)), &wasserstein.Options{Lazy: !s.slow()})
	if err != nil {
		return 0, err
	}
	return r.Cost, nil
}

// line tells whether records are numbers.
func (s *study) line() bool {
	return len(s.entries) == 1 && s.entries[0].names == nil && !s.entries[0].missing
}

// slow tells whether only the domain knows the distances.
func (s *study) slow() bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.kind == table.Place || e.kind == table.Taxonomy })
}

func uniform(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// distances are those of the domain.
type distances struct {
	d    *domain.Domain[[]float64]
	a, b [][]float64
}

func (d *distances) Dims() (n, m int)    { return len(d.a), len(d.b) }
func (d *distances) At(i, j int) float64 { return d.d.Distance(d.a[i], d.b[j]) }

// shares are the same, a row at a time: the largest difference in any column, and of
// names no more than the weight.
type shares struct {
	a, b [][]float64 // values of every column
	most []float64
}

func newShares(entries []entry, a, b [][]float64) *shares {
	c := &shares{}
	column := func(most float64, value func(x []float64) float64) {
		of := func(records [][]float64) []float64 {
			v := make([]float64, len(records))
			for i, x := range records {
				v[i] = value(x)
			}
			return v
		}
		c.a, c.b, c.most = append(c.a, of(a)), append(c.b, of(b)), append(c.most, most)
	}
	for _, e := range entries {
		scale, most, missing := e.weight, e.weight, -e.weight
		if e.names == nil {
			// What is missing lies in the middle, and as far from all else in a
			// column of its own.
			scale, most, missing = e.weight/(e.hi-e.lo), math.Inf(1), e.weight/2
			if e.missing {
				column(most, func(x []float64) float64 {
					if math.IsNaN(x[e.at]) {
						return e.weight
					}
					return 0
				})
			}
		}
		column(most, func(x []float64) float64 {
			if v := x[e.at]; !math.IsNaN(v) {
				return (v - e.lo) * scale
			}
			return missing
		})
	}
	return c
}

func (c *shares) Dims() (n, m int) { return len(c.a[0]), len(c.b[0]) }

func (c *shares) At(i, j int) float64 {
	d := 0.0
	for k := range c.a {
		d = max(d, min(math.Abs(c.a[k][i]-c.b[k][j]), c.most[k]))
	}
	return d
}

func (c *shares) CostsFrom(i int, dst []float64) []float64 {
	clear(dst)
	for k := range c.a {
		x, most := c.a[k][i], c.most[k]
		for j, y := range c.b[k] {
			dst[j] = max(dst[j], min(math.Abs(x-y), most))
		}
	}
	return dst
}
