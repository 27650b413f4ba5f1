package query

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Slope is a proof that a Lipschitz constant is at least Ratio: two points whose values are
// Ratio times as far apart as they are themselves.
type Slope struct {
	Ratio float64
	I, J  int // the points, as numbered in the space; 0, 0 where Ratio is 0
}

// LipschitzError reports a stated constant that a pair of points refutes.
type LipschitzError struct {
	Query  string  // its name
	Stated float64 // the constant
	Slope  Slope   // the pair, with a larger one
}

func (e *LipschitzError) Error() string {
	return fmt.Sprintf("query: query %q: the Lipschitz constant is stated as %v, but points %d and %d show at least %v",
		e.Query, e.Stated, e.Slope.I, e.Slope.J, e.Slope.Ratio)
}

// valueSlack and distanceSlack are the relative errors that computed values
// and distances are granted, so that a ratio is not a rounding error divided by
// a tiny distance. metric.DefaultTolerance says what distances need; a sum of
// 4,000 terms without cancellation errs by less than 2^-41.
const (
	valueSlack    = 0x1p-40
	distanceSlack = metric.DefaultTolerance
)

// LipschitzAtLeast returns the pair of points between which q is steepest. Its Ratio is a lower bound
// of the Lipschitz constant of q on any space with these points, if values are right to a relative
// 2^-40 and distances to [metric.DefaultTolerance]; +Inf where two points at distance 0 have different
// values. A function that cancels errs by more: leave out points that differ in the last digits only.
//
// An error names the point that q does not take or has no finite value at, or is a
// [*metric.Violation]. O(n^2 Norm.Dim).
func LipschitzAtLeast[P any](ctx context.Context, q Query[P], points *metric.Points[P]) (Slope, error) {
	const op = "query: LipschitzAtLeast"
	if err := q.check(op); err != nil {
		return Slope{}, err
	}
	values, err := evalAll(ctx, op, q, points)
	if err != nil {
		return Slope{}, err
	}
	const size = 8
	n, k := points.Len(), q.Norm.Dim
	best := make([]Slope, (n+size-1)/size)
	errs := make([]error, len(best))
	err = parallel.Chunks(ctx, n, size, 0, nil, func(c, lo, hi int) {
		var dist []float64
		for i := lo; i < hi; i++ {
			dist = finite.Row(points, i, dist)
			for j := i + 1; j < n; j++ {
				d := dist[j]
				if !(d >= 0) || math.IsInf(d, 1) {
					v := &metric.Violation{Op: op, Axiom: metric.FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
					errs[c] = fmt.Errorf("%s: %w", op, v)
					return
				}
				moved := atLeast(values[i*k:(i+1)*k], values[j*k:(j+1)*k], q.Norm)
				if moved == 0 {
					continue
				}
				if ratio := moved / d * (1 - 2*distanceSlack); ratio > best[c].Ratio { // d = 0: +Inf
					best[c] = Slope{ratio, i, j}
				}
			}
		}
	})
	var w Slope
	for _, b := range best {
		if b.Ratio > w.Ratio {
			w = b
		}
	}
	return w, cmp.Or(cmp.Or(errs...), err)
}

// evalAll returns the values of q at all points, one after another.
func evalAll[P any](ctx context.Context, op string, q Query[P], points *metric.Points[P]) ([]float64, error) {
	n, k := points.Len(), q.Norm.Dim
	if err := fault.Memory(op, float64(n)*float64(k), 8); err != nil {
		return nil, err
	}
	values := make([]float64, n*k)
	const size = 64
	errs := make([]error, n/size+1)
	err := parallel.Chunks(ctx, n, size, 0, nil, func(c, lo, hi int) {
		for i := lo; i < hi && errs[c] == nil; i++ {
			if err := q.eval(points.At(i), values[i*k:(i+1)*k:(i+1)*k]); err != nil {
				errs[c] = fmt.Errorf("%s: point %d: %w", op, i, err)
			}
		}
	})
	return values, cmp.Or(cmp.Or(errs...), err)
}

// atLeast returns the norm of a-b less what rounding may have made of it, and
// no more than the largest float64.
func atLeast(a, b []float64, norm additive.Norm) float64 {
	p, top, sum := norm.P, 0.0, 0.0
	for k, v := range a {
		top = max(top, gap(v, b[k]))
	}
	top = min(top, math.MaxFloat64) // a difference may overflow
	if top == 0 || len(a) == 1 || math.IsInf(p, 1) {
		return top
	}
	for k, v := range a {
		switch u := gap(v, b[k]) / top; p {
		case 1:
			sum += u
		case 2:
			sum += float64(u * u)
		default:
			sum += math.Pow(u, p)
		}
	}
	if p == 2 {
		sum = math.Sqrt(sum)
	} else if p != 1 {
		sum = math.Pow(sum, 1/p)
	}
	return min(top*sum, math.MaxFloat64)
}

// gap returns |u-v| less what rounding may have made of it.
func gap(u, v float64) float64 {
	return max(0, math.Abs(u-v)-(float64(valueSlack*math.Abs(u))+float64(valueSlack*math.Abs(v))))
}
