package wasserstein

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/wasserstein/internal/assignment"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Matching is the answer of [Assignment].
type Matching struct {
	// Column is the column of each row.
	Column []int
	// The proof: every matching costs at least Lower, the sum of the potentials rounded down, and
	// this one at most Upper. They are Cost where no addition rounded, as for a [Matrix] of integers
	// below 2^53, and otherwise some units of 2^-53 times the costs and potentials apart. Where
	// there are more columns than rows V[j] <= 0.
	Certificate
}

// AssignmentOptions are the settings of [Assignment]; nil and zeros mean the defaults.
type AssignmentOptions struct {
	Workers int // goroutines; 0 means one a processor, with the same result
}

// Assignment matches every row of the n x m costs c, n <= m ([*metric.SizeError]), to a column
// of its own at least total cost. Costs are numbers of any sign of size at most 2^960
// ([*metric.ValueError]). O(n^2 m) at worst, on random costs some three passes, with 700
// bytes a row, 16 a coordinate and up to 1 GiB of costs.
func Assignment(ctx context.Context, c Cost, o *AssignmentOptions) (*Matching, error) {
	const op = "wasserstein: Assignment"
	n, m := dims(c)
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("%s: cost: %w", op, fault.ErrEmpty)
	}
	if n < 0 || n > m {
		return nil, &fault.SizeError{Op: op, Arg: "rows", Got: n, Want: fmt.Sprintf("at most %d, the number of columns", m)}
	}
	// The limit keeps n and m far below 2^31.
	if err := fault.Memory(op, assignment.Bytes(n, m), 1); err != nil {
		return nil, err
	}
	if o == nil {
		o = new(AssignmentOptions)
	}
	if n == m { // the engine of Between, for points of R^d
		if at := placesOf(c); at != nil {
			return matchPlaces(ctx, c, at, o.Workers)
		}
	}
	r, err := match(ctx, c, o.Workers)
	var bad *rows.BadCost
	if errors.As(err, &bad) {
		err = &fault.ValueError{Op: op, Arg: fmt.Sprintf("cost[%d]", bad.I), Index: bad.J, Value: bad.Value, Want: "a finite number of size at most 2^960"}
	}
	return r, err
}

// matchPlaces matches points in space as a transport of units of mass, whose
// basic flows are 0 and 1.
func matchPlaces(ctx context.Context, c Cost, at *places, workers int) (*Matching, error) {
	n, _ := c.Dims()
	t := transport{op: "wasserstein: Assignment", cost: c, places: at, opt: &Options{Workers: workers}}
	t.mu = slices.Repeat([]float64{1}, n)
	t.nu = t.mu
	t.moveAll()
	r, err := t.solve(ctx)
	if err != nil {
		return nil, err
	}
	m := &Matching{make([]int, n), r.Certificate}
	for _, p := range r.Plan {
		m.Column[p.I] = p.J
	}
	return m, nil
}

func match(ctx context.Context, c Cost, workers int) (*Matching, error) {
	n, m := c.Dims()
	c = productsOf(c)
	if worthStoring(n, m, n, m) {
		var err error
		if c, err = store(ctx, c, workers); err != nil {
			return nil, err
		}
	}
	col, v, err := assignment.Solve(ctx, n, m, costRows(c), workers)
	if err != nil {
		return nil, err
	}
	return proveMatching(ctx, c, col, v, workers)
}

// proveMatching makes a Matching of the columns col and any potentials v <= 0 of the columns (of
// any sign where every column is matched), with bounds that rest on the costs alone.
func proveMatching(ctx context.Context, c Cost, col []int32, v []float64, workers int) (*Matching, error) {
	n := len(col)
	r := &Matching{make([]int, n), Certificate{U: make([]float64, n), V: v}}
	paid := make([]float64, n)
	err := rows.Each(ctx, costRows(c), n, len(v), workers, func(i int, row []float64) {
		r.U[i] = slackOf(c, i, row, v)
		r.Column[i], paid[i] = int(col[i]), c.At(i, int(col[i]))
	})
	if err != nil {
		return nil, err
	}
	var upper, lower directed.Sum
	for i, u := range r.U {
		upper.Add(paid[i])
		lower.Add(u)
	}
	for _, x := range v {
		lower.Add(x)
	}
	_, r.Cost, r.Upper = upper.Bounds()
	r.Lower, _, _ = lower.Bounds()
	return r, nil
}
