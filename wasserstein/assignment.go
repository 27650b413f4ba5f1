package wasserstein

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Matching is the answer of [Assignment], with its proof: every matching costs
// at least Lower, and this one at most Upper.
type Matching struct {
	// Column is the column of each row.
	Column []int
	// Cost is the sum of cost[i][Column[i]], rounded to nearest, and Upper a
	// bound of it from above. They are equal where no addition rounded, as for
	// integers below 2^53.
	Cost, Upper float64
	// U and V are the dual potentials of rows and columns. As real numbers
	// U[i]+V[j] <= cost[i][j] for every pair, without any rounding, and
	// where there are more columns than rows also V[j] <= 0. So no matching
	// costs less than the sum of all potentials.
	U, V []float64
	// Lower is the sum of the potentials, rounded down.
	Lower float64
}

// Gap returns Upper-Lower, rounded up: what the matching costs too much at most.
// It is rounding only, some units of 2^-53 times the sizes of the costs and
// potentials, added over the rows.
func (m *Matching) Gap() float64 { return directed.SubUp(m.Upper, m.Lower) }

// assignMax bounds the costs. Each of at most 2^8 n bids and n searches lowers a
// potential by at most the spread of the reduced costs, so with n < 2^28 none
// gets near 2^1023: a matching moves potentials by sums of costs along paths.
const assignMax = 0x1p960

// Assignment matches every row of the n x m costs c, n <= m, to a column of its
// own so that the sum of the costs is least. Costs may have any sign here. They
// are read three times each, and some more often, so a Cost that computes them
// needs no memory for them: see [Distances] for the items of two multisets.
//
// n > m is a [*metric.SizeError], n = 0 [metric.ErrEmpty] and a cost that is no
// number or larger than 2^960 in size a [*metric.ValueError], with its index in
// row order. Of o only Context, whose error ends the work, and Workers count.
//
// The algorithm is that of shortest augmenting paths (Jonker and Volgenant
// 1987), helped by an auction on hard costs (Bertsekas 1988), on short lists of
// the cheapest columns of each row, which are made longer wherever they cannot
// prove a step: O(n^2 m) in the worst case, and on random costs little more than
// the three passes over all costs that check them, make the lists and prove the
// result. The passes use every core. Memory beyond the costs is about 0.7 kB a
// row, and some kB more where lists grow. Ties are broken the same way every
// time.
func Assignment(c Cost, o *Options) (*Matching, error) {
	const op = "wasserstein: Assignment"
	n, m := dims(c)
	if err := assignSize(op, n, m); err != nil {
		return nil, err
	}
	return assign(op, n, m, assignRows(costRows(c)), o)
}

func assignSize(op string, n, m int) error {
	if n == 0 || m == 0 {
		return fmt.Errorf("%s: cost: %w", op, fault.ErrEmpty)
	}
	if n < 0 || n > m {
		return &fault.SizeError{Op: op, Arg: "rows", Got: n, Want: fmt.Sprintf("at most %d, the number of columns", m)}
	}
	// The lists, the survey's arrays and those of the search; the indices are
	// int32, which MemoryLimit keeps n and m far below.
	return fault.Memory(op, float64(float64(n)*(float64(24*assignWidth)+100))+float64(float64(m)*260), 1)
}

func assign(op string, n, m int, rows assignRows, o *Options) (*Matching, error) {
	opt := o.get()
	ctx, workers := opt.Context, opt.Workers
	least, arg, err := assignSurvey(ctx, op, n, m, rows, workers)
	if err != nil {
		return nil, err
	}
	s := newAssignSolver(n, m, rows)
	if err := s.solve(ctx, least, arg, workers); err != nil {
		return nil, err
	}
	return assignProve(ctx, m, rows, s.col, s.v, workers)
}

// assignSurvey checks the costs and finds the least of every column and the
// first row that has it.
func assignSurvey(ctx context.Context, op string, n, m int, rows assignRows, workers int) ([]float64, []int32, error) {
	type part struct {
		least []float64
		arg   []int32
		bad   int
	}
	// Pieces of equal size for at most 16 of them: each has arrays of its own.
	size := max(assignChunk, (n+15)/16)
	parts := make([]part, (n+size-1)/size)
	err := parallel.Chunks(ctx, n, size, workers, nil, func(c, lo, hi int) {
		p := part{make([]float64, m), make([]int32, m), -1}
		buf := make([]float64, m)
		for j := range p.least {
			p.least[j] = math.Inf(1)
		}
		for i := lo; i < hi && p.bad < 0; i++ {
			row := rows(i, buf)
			worst := uint64(0) // NaN and Inf have the largest bit patterns
			least := p.least[:len(row)]
			for j, x := range row {
				worst = max(worst, math.Float64bits(x)&^(1<<63))
				if x < least[j] {
					least[j], p.arg[j] = x, int32(i)
				}
			}
			if worst > math.Float64bits(assignMax) {
				p.bad = i
			}
		}
		parts[c] = p
	})
	if err != nil {
		return nil, nil, err
	}
	least, arg := parts[0].least, parts[0].arg
	for _, p := range parts {
		if p.bad >= 0 {
			for j, x := range rows(p.bad, make([]float64, m)) {
				if !(math.Abs(x) <= assignMax) {
					return nil, nil, &fault.ValueError{Op: op, Arg: "cost", Index: p.bad*m + j, Value: x, Want: "a finite number of size at most 2^960"}
				}
			}
		}
		for j, x := range p.least {
			if x < least[j] {
				least[j], arg[j] = x, p.arg[j]
			}
		}
	}
	return least, arg, nil
}
