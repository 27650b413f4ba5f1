package wasserstein

import (
	"cmp"
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Cost is what a unit of mass costs to move from source i to sink j, of n sources and m
// sinks: finite and >= 0, from a metric or not. At must be safe for concurrent use and
// return the same number every time. Every gonum mat.Matrix is a Cost.
type Cost interface {
	// Dims returns the numbers of rows and columns.
	Dims() (n, m int)
	// At returns what it costs to move a unit of mass from i to j.
	At(i, j int) float64
}

// CostRows is an optional capability of a [Cost]: CostsFrom returns At(i, 0), ..., At(i,
// m-1), written to dst, which has length m, or in memory of its own, which is only read.
type CostRows interface {
	CostsFrom(i int, dst []float64) []float64
}

type matrixCost struct {
	n, m int
	cost []float64
}

// Matrix is the Cost stored row by row in cost, of length n*m ([*metric.SizeError]). The slice is
// not copied: it must not change while the Cost is in use.
func Matrix(n, m int, cost []float64) (Cost, error) {
	const op = "wasserstein: Matrix"
	if n <= 0 || m <= 0 {
		return nil, fmt.Errorf("%s: %d x %d: %w", op, n, m, fault.ErrEmpty)
	}
	if len(cost)/m != n || len(cost)%m != 0 {
		return nil, &fault.SizeError{Op: op, Arg: "cost", Got: len(cost), Want: fmt.Sprintf("%d*%d", n, m)}
	}
	return &matrixCost{n, m, cost}, nil
}

func (c *matrixCost) Dims() (n, m int)                       { return c.n, c.m }
func (c *matrixCost) At(i, j int) float64                    { return c.cost[i*c.m+j] }
func (c *matrixCost) CostsFrom(i int, _ []float64) []float64 { return c.cost[i*c.m : (i+1)*c.m] }

type costFunc struct {
	n, m int
	at   func(i, j int) float64
}

// CostFunc is the Cost at(i, j) for n sources and m sinks, computed when it is asked for. at must
// be safe for concurrent use. For two lists of points take [W1Points], which is faster.
func CostFunc(n, m int, at func(i, j int) float64) Cost { return &costFunc{n, m, at} }

func (c *costFunc) Dims() (n, m int)    { return c.n, c.m }
func (c *costFunc) At(i, j int) float64 { return c.at(i, j) }

// Distances is the Cost f.Distance(a[i], b[j]): two lists of points of one metric, which may repeat
// and overlap. An index outside [0, f.Len()) is a [*metric.ValueError]. The lists are not copied.
func Distances(f metric.Finite, a, b []int) (Cost, error) {
	const op = "wasserstein: Distances"
	n := fault.Len(f)
	if err := cmp.Or(fault.Indices(op, "a", a, n), fault.Indices(op, "b", b, n)); err != nil {
		return nil, err
	}
	return &distances{f, a, b}, nil
}

type distances struct {
	f    metric.Finite
	a, b []int
}

func (c *distances) Dims() (n, m int)    { return len(c.a), len(c.b) }
func (c *distances) At(i, j int) float64 { return c.f.Distance(c.a[i], c.b[j]) }

// unitOf is the unit of a cost that is a distance, if it has one.
func unitOf(c Cost) metric.Unit {
	switch c := c.(type) {
	case metricCost:
		return metric.UnitOf(c.Finite)
	case *distances:
		return metric.UnitOf(c.f)
	}
	return ""
}

// dims is c.Dims(), and 0, 0 where c is nil.
func dims(c Cost) (n, m int) {
	if c == nil {
		return 0, 0
	}
	return c.Dims()
}

// metricCost is all of a metric, and so has its rows.
type metricCost struct{ metric.Finite }

func (c metricCost) Dims() (n, m int)    { return c.Len(), c.Len() }
func (c metricCost) At(i, j int) float64 { return c.Distance(i, j) }
func (c metricCost) CostsFrom(i int, dst []float64) []float64 {
	return finite.Row(c.Finite, i, dst)
}

// denseLimit is the size in bytes up to which costs are stored by default.
const denseLimit = 1 << 30

// readAgain is up to how many times as many costs the certificate may read as the solver
// for all to be stored.
const readAgain = 16

// worthStoring tells whether n x m costs should be stored, and again those of src x dst of
// them if these are fewer.
func worthStoring(n, m, src, dst int) bool {
	all, again := float64(float64(n)*float64(m)), float64(float64(src)*float64(dst))
	if all > readAgain*again {
		return false
	}
	if again == all {
		again = 0
	}
	return 8*(all+again) <= denseLimit
}

// inMemory tells whether the rows of c are read from memory of its own.
func inMemory(c Cost) bool {
	r, ok := c.(CostRows)
	if !ok {
		return false
	}
	_, m := c.Dims()
	buf := make([]float64, m)
	return &r.CostsFrom(0, buf)[0] != &buf[0]
}

// store returns c with its costs in memory, of which there is room.
func store(ctx context.Context, c Cost, workers int) (Cost, error) {
	n, m := c.Dims()
	s := &matrixCost{n: n, m: m}
	var err error
	if f, ok := c.(metricCost); ok && finite.Dim(f.Finite) > 0 {
		s.cost, err = rows.StoreSymmetric(ctx, f.Distance, n, workers)
	} else if inMemory(c) {
		return c, nil
	} else if p, ok := c.(*products); ok {
		all := make([]float64, n*m)
		err = parallel.Chunks(ctx, n, rows.Chunk, workers, nil, func(_, lo, hi int) { p.fill(ctx, lo, hi, all[lo*m:hi*m]) })
		p.stored, p.x, p.norm = all, nil, nil
		return p, err
	} else {
		s.cost, err = rows.Store(ctx, costRows(c), n, m, workers)
	}
	return s, err
}

// costRows returns the rows of c.
func costRows(c Cost) rows.Func {
	if r, ok := c.(CostRows); ok {
		return r.CostsFrom
	}
	return func(i int, buf []float64) []float64 {
		for j := range buf {
			buf[j] = c.At(i, j)
		}
		return buf
	}
}
