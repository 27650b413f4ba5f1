package main

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/wasserstein"
)

const (
	// exactPoints is how many records of either kind are compared in full. Of
	// more, sampledPoints are. One column only needs sorting.
	exactPoints   = 8192
	sampledPoints = 4096
)

// compare prints, and writes, how far the synthetic records are from the
// originals, and statistics of both.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	errors, err := s.errors(ctx, p)
	if err != nil {
		return err
	}
	statistics := s.statistics()
	p.Print(errors)
	fmt.Fprintln(p.Stdout)
	p.Print(statistics)
	s.explain(p)
	return cmp.Or(p.WriteFile("errors.csv", errors.WriteCSV), p.WriteFile("statistics.csv", statistics.WriteCSV))
}

// errors is the table of what is known of the error.
func (s *study) errors(ctx context.Context, p *demo.Program) (*demo.Table, error) {
	least, err := s.synthesizer.LowerBound(ctx, float64(s.original.n))
	if err != nil {
		return nil, err
	}
	t := demo.NewTable("error", "W1 (share of a range)", "known")
	t.Row("of any mechanism, at least", least, "proved: some data set costs everyone as much")
	return t, s.measure(ctx, p, t)
}

// measure adds the rows with the actual distance.
func (s *study) measure(ctx context.Context, p *demo.Program, t *demo.Table) error {
	n, m := s.original.n, s.synthetic.n
	limit, fewer := exactPoints, sampledPoints
	if len(s.columns) == 1 {
		limit, fewer = maxSample, maxSample/2
	}
	if max(n, m) > limit {
		limit = fewer
	}
	a, b := s.original.some(2*limit), s.synthetic.some(limit)
	var rest [][]float64
	if len(a) > limit {
		a, rest = a[:limit], a[limit:]
	}
	report, wipe := p.Progress("measuring")
	defer wipe()
	w, err := s.w1(ctx, report, a, b)
	if err != nil {
		return err
	}
	known := fmt.Sprintf("measured, %d against %d", len(a), len(b))
	if len(a) < n || len(b) < m {
		known += ", drawn from all"
	}
	t.Row("in all", w, known)
	if len(rest) == 0 {
		return nil
	}
	if w, err = s.w1(ctx, report, a, rest); err != nil {
		return err
	}
	s.blur = w
	t.Row("of drawing so few", w, fmt.Sprintf("measured, %d originals against %d others", len(a), len(rest)))
	return nil
}

// w1 is the distance of two samples, as a share of the columns' ranges.
func (s *study) w1(ctx context.Context, report func(done, total int), a, b [][]float64) (float64, error) {
	if len(s.columns) == 1 {
		return wasserstein.W1Samples(s.flat(a)[0], s.flat(b)[0])
	}
	// Costs are computed anew in every pass, or they would take half a GB.
	o := &wasserstein.Options{Lazy: true}
	// How many pivots there will be is not known; in the plane it is about this.
	o.Progress = func(pivots int, _ float64) { report(pivots, 10*(len(a)+len(b))) }
	r, err := wasserstein.Between(ctx, &shares{s.flat(a), s.flat(b)}, uniform(len(a)), uniform(len(b)), o)
	if err != nil {
		return 0, err
	}
	return r.Cost, nil
}

// shares is the cost of moving one record to another: the largest difference in
// a column, as a share of its range. It is the metric of the domain, a row at a
// time. a[k] and b[k] are the values of column k.
type shares struct{ a, b [][]float64 }

func (c *shares) Dims() (n, m int) { return len(c.a[0]), len(c.b[0]) }

func (c *shares) At(i, j int) float64 {
	d := 0.0
	for k := range c.a {
		d = max(d, math.Abs(c.a[k][i]-c.b[k][j]))
	}
	return d
}

func (c *shares) CostsFrom(i int, dst []float64) []float64 {
	clear(dst)
	for k := range c.a {
		x := c.a[k][i]
		for j, y := range c.b[k] {
			dst[j] = max(dst[j], math.Abs(x-y))
		}
	}
	return dst
}

// flat returns the values of every column, as shares of its range.
func (s *study) flat(records [][]float64) [][]float64 {
	v := make([][]float64, len(s.columns))
	for k, c := range s.columns {
		for _, x := range records {
			v[k] = append(v[k], (x[k]-c.Lo)*c.Weight)
		}
	}
	return v
}

// uniform returns n equal weights of sum 1.
func uniform(n int) []float64 {
	w := make([]float64, n)
	floats.AddConst(1/float64(n), w)
	return w
}

// statistics is the table of what a reader would compute first.
func (s *study) statistics() *demo.Table {
	t := demo.NewTable("of", "statistic", "original", "synthetic", "difference")
	row := func(of, name string, x, y float64) {
		t.Row(of, name, x, y, y-x) // the correlation of a constant is NaN
	}
	shares := []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	for i, name := range s.names {
		row(name, "mean", s.original.mean[i], s.synthetic.mean[i])
		row(name, "standard deviation", s.original.deviation(i), s.synthetic.deviation(i))
		x, y := s.original.quantiles(i, shares...), s.synthetic.quantiles(i, shares...)
		for k, q := range shares {
			row(name, fmt.Sprintf("%v %% quantile", 100*q), x[k], y[k])
		}
	}
	for i := range s.names {
		for j := range i {
			row(s.names[j]+", "+s.names[i], "correlation", s.original.correlation(i, j), s.synthetic.correlation(i, j))
		}
	}
	return t
}
