package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
	"github.com/metricdp/metricdp/mechanism/emd/internal/norm"
	"github.com/metricdp/metricdp/metric"
)

// Query is a function from items to R^Norm.Dim that is Lipschitz:
//
//	||f(x) - f(y)|| <= Lipschitz * d_X(x, y) for all items x, y,
//
// in the norm Norm. Its mean over a user's items then moves by at most Lipschitz times d_EM,
// whatever the numbers of items (IRC24, Theorem 4.1).
//
// The constructors here derive the constant; whoever writes a Query by hand states it, for the
// float64s that Func returns. Where these are within e, in Norm, of a function with the constant,
// the promise is about d_X(x, y) + 2e/Lipschitz for x != y: [Average] and [Shares] have e = 0, the
// others here some units in the last place of their terms. A function that jumps between items as near
// as one likes has no constant: smooth it, as [Region] does.
type Query[P any] struct {
	// Name is for errors and people.
	Name string
	// Norm is the norm of the values and their dimension.
	Norm additive.Norm
	// Lipschitz is the constant, > 0, per unit of the distance between items.
	Lipschitz float64
	// Func writes f(x) to all of dst, of length Norm.Dim. It depends on x only, keeps neither, and
	// is safe for concurrent use.
	Func func(x P, dst []float64)
	// Check, where not nil, says why Func, called after it, cannot take an item, or why that lies
	// outside the space of the model.
	Check func(x P) error
}

// check says what is wrong with q.
func (q Query[P]) check(op string) error {
	switch {
	case q.Func == nil:
		return fmt.Errorf("%s: the query %q has no Func", op, q.Name)
	case !(q.Norm.P >= 1):
		return fault.Value(op, "Norm.P", q.Norm.P, "a number in [1, +Inf]")
	case q.Norm.Dim < 1:
		return fault.Value(op, "Norm.Dim", float64(q.Norm.Dim), "an integer >= 1")
	}
	return cmp.Or(fault.Memory(op, float64(q.Norm.Dim), 8), fault.Positive(op, "Lipschitz", q.Lipschitz))
}

// eval writes f(x) to dst and refuses what is no number.
func (q Query[P]) eval(x P, dst []float64) error {
	if q.Check != nil {
		if err := q.Check(x); err != nil {
			return err
		}
	}
	q.Func(x, dst)
	for i, v := range dst {
		if v-v != 0 { // NaN or infinite
			return &fault.ValueError{Op: "query " + strconv.Quote(q.Name), Arg: "f", Index: i, Value: v, Want: "a finite number"}
		}
	}
	return nil
}

// vectorCheck accepts the vectors of length d.
func vectorCheck(name string, d int) func([]float64) error {
	return func(x []float64) error { return fault.Size(name, "x", len(x), d) }
}

// Average is the identity on R^Dim: constant 1 where the distance between items is that of the same
// norm ([metric.Minkowski] of the exponent P).
func Average(norm additive.Norm) Query[[]float64] {
	const name = "average"
	return Query[[]float64]{
		Name: name, Norm: norm, Lipschitz: 1,
		Func:  func(x, dst []float64) { copy(dst, x) },
		Check: vectorCheck(name, norm.Dim),
	}
}

// Landmarks is the vector of the distances to k >= 1 public points, with the l_p norm, 1 <= p <= +Inf:
// constant k^(1/p), rounded up. A point that s refuses is an error. The points are not copied. O(k)
// distances for a value.
func Landmarks[P any](s metric.Space[P], p float64, at ...P) (Query[P], error) {
	const op, name = "query: Landmarks", "distance to landmarks"
	if err := fault.Empty(op, "at", len(at)); err != nil {
		return Query[P]{}, err
	}
	if !(p >= 1) {
		return Query[P]{}, fault.Value(op, "p", p, "a number in [1, +Inf]")
	}
	at = append([]P(nil), at...)
	q := Query[P]{
		Name: name, Norm: additive.Norm{P: p, Dim: len(at)}, Lipschitz: rootUp(float64(len(at)), p),
		Func: func(x P, dst []float64) {
			for i, a := range at {
				dst[i] = s.Distance(x, a)
			}
		},
	}
	if c, ok := s.(metric.Checker[P]); ok {
		for i, a := range at {
			if err := c.Check(at[0], a); err != nil {
				return Query[P]{}, fmt.Errorf("%s: at[%d]: %w", op, i, err)
			}
		}
		q.Check = func(x P) error { return c.Check(at[0], x) }
	}
	return q, nil
}

// rootUp returns k^(1/p), k >= 1, rounded up.
func rootUp(k, p float64) float64 {
	switch {
	case k == 1 || math.IsInf(p, 1):
		return 1
	case p == 1:
		return k
	}
	return directed.ExpUp(directed.DivUp(directed.LogUp(k), p))
}

// Similarity is x -> <x, c> on R^len(c): constant ||c||_2, rounded up, where the distance between items
// is Euclidean. c must be finite and not 0.
func Similarity(c []float64) (Query[[]float64], error) {
	const op, name = "query: Similarity", "similarity"
	if err := cmp.Or(fault.Empty(op, "c", len(c)), fault.AllFinite(op, "c", c)); err != nil {
		return Query[[]float64]{}, err
	}
	l := norm.EuclideanUp(c)
	if err := fault.Positive(op, "||c||", l); err != nil {
		return Query[[]float64]{}, err
	}
	c = append([]float64(nil), c...)
	return Query[[]float64]{
		Name: name, Norm: additive.Norm{P: 2, Dim: 1}, Lipschitz: l,
		Func: func(x, dst []float64) {
			s := 0.0
			for i, v := range c {
				s += float64(v * x[i])
			}
			dst[0] = s
		},
		Check: vectorCheck(name, len(c)),
	}, nil
}

// Shares is the vector with one coordinate for each of the points of space, which are the items: it is
// weight[x] for item x and 0 elsewhere, so that its mean over users divided by weight is an unbiased
// estimate of the share at each point. With half the distance to the nearest other point as weight the
// constant is 1 in l1. Package distribution mostly errs less.
//
// Points at distance 0 are a [*metric.ValueError], fewer than two points a [*metric.SizeError].
// Model.Diameter must be at least the space's. O(n^2) for n points, and O(n) for a value.
func Shares(ctx context.Context, space metric.Finite) (q Query[int], weight []float64, err error) {
	const op, name = "query: Shares", "shares"
	k := fault.Len(space)
	if k < 2 {
		return q, nil, &fault.SizeError{Op: op, Arg: "space", Got: k, Want: "at least 2"}
	}
	e, err := check.DistancesOf(ctx, op, space)
	if err != nil {
		return q, nil, err
	}
	if e.Least < 0x1p-1000 { // half of it must be exact
		return q, nil, fault.Value(op, fmt.Sprintf("distance of points %d and %d", e.Zero[0], e.Zero[1]), e.Least, "a number > 0, 2^-1000 or more")
	}
	weight = make([]float64, k)
	var row []float64
	for x := range weight {
		if err := ctx.Err(); err != nil {
			return q, nil, err
		}
		row = finite.Row(space, x, row)
		row[x] = math.Inf(1)
		weight[x] = slices.Min(row) / 2
		if err := fault.Positive(op, fmt.Sprintf("weight[%d]", x), weight[x]); err != nil {
			return q, nil, err // the space gave another distance than before
		}
	}
	own := slices.Clone(weight)
	return Query[int]{
		Name: name, Norm: additive.Norm{P: 1, Dim: k}, Lipschitz: 1,
		Func: func(x int, dst []float64) {
			clear(dst)
			dst[x] = own[x]
		},
		Check: func(x int) error { return fault.Index(name, "item", x, k) },
	}, weight, nil
}
