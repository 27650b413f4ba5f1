package emd

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// Witness is a proof that a Lipschitz constant is at least Ratio: two points
// whose values are Ratio times as far apart as they are.
type Witness struct {
	Ratio float64
	I, J  int  // the points, as numbered in the space; 0, 0 where Ratio is 0
	All   bool // all pairs were looked at, so that no other pair has more
}

// LipschitzError reports a stated constant that a pair of points refutes.
type LipschitzError struct {
	Query   string  // its name
	Stated  float64 // the constant
	Witness Witness // the pair, with a larger one
}

func (e *LipschitzError) Error() string {
	return fmt.Sprintf("emd: query %q: the Lipschitz constant is stated as %v, but points %d and %d show at least %v",
		e.Query, e.Stated, e.Witness.I, e.Witness.J, e.Witness.Ratio)
}

// LipschitzOptions are the options of [LipschitzAtLeast]. nil and the zero value
// are the defaults.
type LipschitzOptions struct {
	// AllPairs is the largest number of points at which all pairs are looked at; 0
	// means 2000.
	AllPairs int
	// Context, where not nil, ends the work early with its error.
	Context context.Context
}

const defaultAllPairs = 2000

// nearCount is how many nearest neighbours of every point are looked at in a
// space with coordinates: a function is steep, as a rule, over short distances.
const nearCount = 8

// valueSlack and distanceSlack are the relative errors that computed values
// and distances are granted, so that a ratio is not a rounding error divided by
// a tiny distance. metric.DefaultTolerance says what distances need; a sum of
// 4,000 terms without cancellation errs by less than 2^-41.
const (
	valueSlack    = 0x1p-40
	distanceSlack = metric.DefaultTolerance
)

// LipschitzAtLeast searches a finite space for the pair of points between which
// q is steepest. The Ratio it returns is a lower bound of the Lipschitz constant
// of q on any space that contains the points, if values are right to a relative
// 2^-40 and distances are too: every difference is diminished, and every
// distance lengthened, by as much. It is +Inf where two points at distance 0
// have different values. (A function that cancels, such as <x, c> for x almost
// orthogonal to c, errs by more: leave points out that differ in the last digits
// only.)
//
// Up to AllPairs points all pairs are looked at and Ratio is the constant on the
// space, but for that slack. Beyond, it is those of some points with all others,
// about AllPairs^2/2 in all and the same in every run, and, where the space has
// coordinates, those of each point with its 8 nearest neighbours.
//
// An error names the point that q does not take or has no finite value at, or is
// a [*metric.Violation] for a distance that is no number. q is called once for a
// point, on every core; n*Norm.Dim numbers are held.
func LipschitzAtLeast[P any](q Query[P], points *metric.Points[P], o *LipschitzOptions) (Witness, error) {
	const op = "emd: LipschitzAtLeast"
	if err := q.check(op); err != nil {
		return Witness{}, err
	}
	var opt LipschitzOptions
	if o != nil {
		opt = *o
	}
	if opt.AllPairs == 0 {
		opt.AllPairs = defaultAllPairs
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	if opt.AllPairs < 0 {
		return Witness{}, &fault.ValueError{Op: op, Arg: "AllPairs", Index: -1, Value: float64(opt.AllPairs), Want: "an integer >= 0"}
	}
	values, err := evalAll(op, q, points, opt.Context)
	if err != nil {
		return Witness{}, err
	}
	s := slopes{points, values, q.Norm.Dim, q.Norm.P}
	n := points.Len()
	if n <= opt.AllPairs {
		w, err := s.rows(opt.Context, n, func(i int) int { return i }, func(i int) int { return i + 1 })
		w.All = err == nil
		return w, err
	}
	// A random order, so that no period of the data meets one of the choice.
	order := rng.Seeded(1).Perm(n)
	few := min(n, opt.AllPairs*opt.AllPairs/(2*n)+1)
	w, err := s.rows(opt.Context, few, func(i int) int { return order[i] }, func(int) int { return 0 })
	if _, ok := points.Embed(); !ok || err != nil {
		return w, err
	}
	near, err := metric.NearestNeighboursContext(opt.Context, points, min(nearCount, n-1))
	if err != nil {
		return Witness{}, fmt.Errorf("%s: %w", op, err)
	}
	k := len(near) / n
	for at, j := range near {
		w = steeper(w, s.between(at/k, j, points.Distance(at/k, j)))
	}
	return w, nil
}

// evalAll returns the values of q at all points, one after another.
func evalAll[P any](op string, q Query[P], points *metric.Points[P], ctx context.Context) ([]float64, error) {
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
	for _, e := range errs {
		if e != nil {
			return nil, e
		}
	}
	return values, err
}

// slopes are difference quotients of the values at points of a space.
type slopes struct {
	f      metric.Finite
	values []float64
	dim    int
	p      float64
}

// rows returns the steepest of the pairs (row(i), j), i < n, j >= from(i).
func (s slopes) rows(ctx context.Context, n int, row, from func(int) int) (Witness, error) {
	const size = 8
	best := make([]Witness, (n+size-1)/size)
	errs := make([]error, len(best))
	err := parallel.Chunks(ctx, n, size, 0, nil, func(c, lo, hi int) {
		var dist []float64
		for r := lo; r < hi; r++ {
			i := row(r)
			dist = metric.Row(s.f, i, dist)
			for j := from(r); j < len(dist); j++ {
				if j == i {
					continue
				}
				if !(dist[j] >= 0) || math.IsInf(dist[j], 1) {
					errs[c] = &metric.Violation{Axiom: metric.FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(dist[j])}
					return
				}
				best[c] = steeper(best[c], s.between(i, j, dist[j]))
			}
		}
	})
	var w Witness
	for c, b := range best {
		if errs[c] != nil {
			return Witness{}, fmt.Errorf("emd: LipschitzAtLeast: %w", errs[c])
		}
		w = steeper(w, b)
	}
	return w, err
}

// steeper keeps a where the two tie, so that results do not depend on the
// number of workers.
func steeper(a, b Witness) Witness {
	if b.Ratio > a.Ratio {
		return b
	}
	return a
}

// between returns the quotient of points i and j at distance d, rounded down by
// the slacks.
func (s slopes) between(i, j int, d float64) Witness {
	a, b := s.values[i*s.dim:(i+1)*s.dim], s.values[j*s.dim:(j+1)*s.dim]
	top, sum := 0.0, 0.0
	for k, v := range a {
		top = max(top, gap(v, b[k]))
	}
	if top == 0 {
		return Witness{}
	}
	top = min(top, math.MaxFloat64) // a difference may overflow
	norm := top
	switch {
	case len(a) == 1 || math.IsInf(s.p, 1):
	case s.p == 1:
		for k, v := range a {
			sum += gap(v, b[k]) / top
		}
		norm = top * sum
	case s.p == 2:
		for k, v := range a {
			u := gap(v, b[k]) / top
			sum += float64(u * u)
		}
		norm = top * math.Sqrt(sum)
	default:
		for k, v := range a {
			sum += math.Pow(gap(v, b[k])/top, s.p)
		}
		norm = top * math.Pow(sum, 1/s.p)
	}
	norm = min(norm, math.MaxFloat64)
	return Witness{Ratio: norm / d * (1 - 2*distanceSlack), I: i, J: j} // d = 0: +Inf
}

// gap returns |u-v| less what rounding may have made of it.
func gap(u, v float64) float64 {
	return max(0, math.Abs(u-v)-(float64(valueSlack*math.Abs(u))+float64(valueSlack*math.Abs(v))))
}
