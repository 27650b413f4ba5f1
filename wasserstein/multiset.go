package wasserstein

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// DistanceEM returns the earth mover's distance d_EM of two multisets of points of f (IRC24):
// the W1 distance of their empirical measures. It is a metric on multisets up to proportions
// where f is one, symmetric and free of order to the last bit. Errors are [metric.ErrEmpty],
// [*metric.ValueError], and [*metric.SizeError] for sizes with a common multiple above 2^53.
func DistanceEM(ctx context.Context, f metric.Finite, a, b []int) (float64, error) {
	const op = "wasserstein: DistanceEM"
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "a", len(a)), fault.Empty(op, "b", len(b)),
		fault.Indices(op, "a", a, n), fault.Indices(op, "b", b, n)); err != nil {
		return 0, err
	}
	na, nb := int64(len(a)), int64(len(b))
	g := gcd(na, nb)
	if na/g > 1<<53/nb {
		return 0, &fault.SizeError{Op: op, Arg: "b", Got: len(b), Want: fmt.Sprintf("a size with a common multiple <= 2^53 with %d", len(a))}
	}
	// Masses in units of 1/unit are integers.
	unit := na / g * nb
	x, y := multisetDifference(a, b, nb/g, na/g)
	if len(x) == 0 {
		return 0, nil
	}
	if y[0].point < x[0].point { // one order of the two, for symmetry
		x, y = y, x
	}
	cost, err := multisetCost(ctx, op, f, x, y)
	if err != nil {
		return 0, err
	}
	return cost / float64(unit), nil
}

// multisetMass is a point with a number of units of mass.
type multisetMass struct {
	point int
	mass  int64
}

// multisetDifference returns the positive and the negative part of wa times the
// counts of a minus wb times the counts of b, in ascending order of points.
func multisetDifference(a, b []int, wa, wb int64) (x, y []multisetMass) {
	mass := map[int]int64{}
	for _, p := range a {
		mass[p] += wa
	}
	for _, p := range b {
		mass[p] -= wb
	}
	for _, p := range slices.Sorted(maps.Keys(mass)) {
		if d := mass[p]; d > 0 {
			x = append(x, multisetMass{p, d})
		} else if d < 0 {
			y = append(y, multisetMass{p, -d})
		}
	}
	return x, y
}

// multisetCopies is the number of items to a point, on average over the smaller support, up
// to which copies are matched one by one.
const multisetCopies = 2

// multisetCost returns the least cost of moving x to y, two measures of equal
// mass without a common point.
func multisetCost(ctx context.Context, op string, f metric.Finite, x, y []multisetMass) (float64, error) {
	g, total := int64(0), int64(0)
	for _, p := range x {
		g = gcd(g, p.mass)
		total += p.mass
	}
	for _, p := range y {
		g = gcd(g, p.mass)
	}
	var cost float64
	t := multisetTransport(op, f, x, y)
	err := func() error {
		if items := total / g; items <= multisetCopies*int64(min(len(x), len(y))) && t.places == nil {
			m, err := match(ctx, &distances{f, multisetExpand(x, g, items), multisetExpand(y, g, items)}, 0)
			if err == nil {
				cost = m.Cost * float64(g)
			}
			return err
		}
		r, err := t.solve(ctx)
		if err == nil {
			cost = r.Cost
		}
		return err
	}()
	if err != nil && ctx.Err() == nil { // a bad cost: name the points
		for _, p := range x {
			for _, q := range y {
				if d := f.Distance(p.point, q.point); !(d >= 0 && d <= rows.Max) {
					return 0, fault.Value(op, fmt.Sprintf("distance of points %d and %d", p.point, q.point), d, "a number in [0, 2^960]")
				}
			}
		}
	}
	return cost, err
}

// multisetTransport is the problem of moving x to y.
func multisetTransport(op string, f metric.Finite, x, y []multisetMass) *transport {
	c := &distances{f: f}
	t := &transport{op: op, cost: c}
	for _, p := range x {
		c.a, t.mu = append(c.a, p.point), append(t.mu, float64(p.mass))
	}
	for _, p := range y {
		c.b, t.nu = append(c.b, p.point), append(t.nu, float64(p.mass))
	}
	t.moveAll()
	t.places = placesOf(c)
	return t
}

// multisetExpand lists every point once for g units of its mass.
func multisetExpand(x []multisetMass, g, items int64) []int {
	out := make([]int, 0, items)
	for _, p := range x {
		for range p.mass / g {
			out = append(out, p.point)
		}
	}
	return out
}
