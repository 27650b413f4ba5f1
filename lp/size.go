package lp

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Size is that of a linear program as a general solver takes it (after IKWAT22, Theorem 1).
type Size struct {
	Variables, Rows int64 // M >= 0 is no row
	Nonzeros        int64 // of all rows
}

// String gives the three.
func (s Size) String() string {
	return fmt.Sprintf("%d variables, %d rows, %d nonzeros", s.Variables, s.Rows, s.Nonzeros)
}

// add counts rows of so many nonzeros each.
func (s *Size) add(rows, nonzeros int64) {
	s.Rows += rows
	s.Nonzeros += rows * nonzeros
}

// Size is that of the program of [Optimal] on b. For n inputs and m outputs there are n*m
// variables and the loss k; n*(n-1)*m rows of privacy, of two entries each, n row sums of m, and
// n losses, without the entries that are 0. Under a prior the loss is the objective.
//
// Errors: those of Optimal. O(n*m).
func (o *Options) Size(ctx context.Context, b metric.Bimetric) (Size, error) {
	return o.size(ctx, "lp: Options.Size", b, func(n int64) int64 { return n * (n - 1) })
}

// size is that of a program with privacy between so many ordered pairs.
func (o *Options) size(ctx context.Context, op string, b metric.Bimetric, pairs func(n int64) int64) (Size, error) {
	set, err := o.defaults(op, b, 1)
	if err != nil {
		return Size{}, err
	}
	n, m := int64(b.Privacy.Len()), int64(len(set.Outputs))
	s := Size{Variables: n * m}
	s.add(pairs(n)*m, 2)
	s.add(n, m)
	if set.Prior != nil {
		return s, nil
	}
	s.Variables++
	losses, row := set.losses(op, b.Utility), make([]float64, m)
	for u := range b.Privacy.Len() {
		if err := ctx.Err(); err != nil {
			return Size{}, fmt.Errorf("%s: stopped: %w", op, context.Cause(ctx))
		}
		if err := losses(u, row); err != nil {
			return Size{}, err
		}
		entries := int64(1) // of k
		for _, l := range row {
			if l > 0 {
				entries++
			}
		}
		s.add(1, entries)
	}
	return s, nil
}

// Size is that of the program of [Spanner] on b: as [Options.Size], with 2*m rows of privacy for
// an edge. Errors and cost: those of [metric.Spanner].
func (o *SpannerOptions) Size(ctx context.Context, b metric.Bimetric) (Size, error) {
	const op = "lp: SpannerOptions.Size"
	if o == nil {
		o = &SpannerOptions{}
	}
	if _, err := o.Options.defaults(op, b, 1); err != nil {
		return Size{}, err
	}
	stretch, err := o.stretch(op)
	if err != nil {
		return Size{}, err
	}
	graph, err := metric.Spanner(ctx, b.Privacy, stretch)
	if err != nil {
		return Size{}, fault.Within(op, err)
	}
	return o.Options.size(ctx, op, b, func(int64) int64 { return 2 * int64(len(graph.Edges())) })
}

// Size is that of a program of [ConstOPT] on b with some lambda > 0. Errors: those of ConstOPT.
// The cost is that of [metric.Index.ReverseNeighbors].
func (o *ConstOptions) Size(ctx context.Context, b metric.Bimetric) (Size, error) {
	const op = "lp: ConstOptions.Size"
	if o == nil {
		o = &ConstOptions{}
	}
	if _, err := (&Options{Unit: o.Unit}).defaults(op, b, 1); err != nil {
		return Size{}, err
	}
	sets, err := o.replacement(ctx, &problem{op: op, b: b, late: ctx, n: b.Len()})
	if err != nil {
		return Size{}, err
	}
	n := int64(b.Len())
	s := Size{Variables: 1}
	s.add(n, n+1)
	s.add(n, n)
	for _, set := range sets {
		in := make(map[int]bool, len(set))
		for _, u := range set {
			in[u] = true
		}
		k := int64(len(in))
		s.Variables += k
		s.add(k*(k-1), 2)
		if k < n {
			s.Variables++
			s.add(2*k, 2)
		}
	}
	return s, nil
}
