package metrictest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// TestSpace checks the laws of the package's doc for s on the given points. Give it the awkward
// ones: equal, at the ends of the range, empty and long. The error joins a [*Failure] for every
// law that fails, whose witnesses are indices of points; it is [metric.ErrEmpty] for no points
// and a [*metric.ValueError] for an option.
//
// Up to Options.MaxPoints points it takes some 15 len(points)^2 distances,
// above that some millions.
func TestSpace[P any](ctx context.Context, s metric.Space[P], points []P, o *Options) error {
	const op = "metrictest: TestSpace"
	opt, err := withDefaults(op, o)
	if err != nil {
		return err
	}
	if err := fault.Empty(op, "points", len(points)); err != nil {
		return err
	}
	t := &law.Trial{Op: op}
	idx := opt.sample(len(points))
	before := make([]string, len(idx))
	for a, i := range idx {
		before[a] = law.Show(points[i])
	}
	var f *metric.Points[P]
	if !t.Law("check", func() (err error) {
		f, err = checked(ctx, s, points, idx)
		return err
	}) {
		return t.Err() // distances of such points have no meaning
	}
	axioms(ctx, t, f, idx, &opt, func(v *metric.Violation) error { return witness(v, points) })
	t.Law("symmetry", func() error { return symmetric(ctx, s, points, idx, opt.Tolerance) })
	answers(ctx, t, len(idx), func(a, b int) float64 { return s.Distance(points[idx[a]], points[idx[b]]) }, func(a, b int) string {
		return fmt.Sprintf("the distance from points[%d] to points[%d]", idx[a], idx[b])
	})
	e, ok := s.(metric.Embedder[P])
	if !ok || t.Law("coordinates", func() error { return appends(e, points, idx) }) {
		embedding(ctx, t, f, len(points), idx)
	}
	t.Law("points", func() error {
		for a, i := range idx {
			if law.Show(points[i]) != before[a] {
				return fmt.Errorf("points[%d] was %s and is %s", i, before[a], law.Show(points[i]))
			}
		}
		return nil
	})
	return t.Err()
}

// witness adds to a violation the points that it names.
func witness[P any](v *metric.Violation, points []P) error {
	var err error = v
	for _, i := range []int{v.I, v.J, v.K} {
		if i >= 0 {
			err = fmt.Errorf("%w; points[%d] = %s", err, i, law.Brief(points[i]))
		}
	}
	return err
}

// checked makes a Finite of the points, which a Checker must accept in pairs.
func checked[P any](ctx context.Context, s metric.Space[P], points []P, idx []int) (*metric.Points[P], error) {
	if c, ok := s.(metric.Checker[P]); ok {
		for _, i := range idx {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, j := range idx {
				if err := c.Check(points[i], points[j]); err != nil {
					return nil, fmt.Errorf("points[%d] = %s, points[%d] = %s: %w", i, law.Brief(points[i]), j, law.Brief(points[j]), err)
				}
			}
		}
	}
	return metric.NewPoints(points, s)
}

func symmetric[P any](ctx context.Context, s metric.Space[P], points []P, idx []int, tol float64) error {
	for a, i := range idx {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, j := range idx[:a] {
			x, y := points[j], points[i]
			xy, yx := s.Distance(x, y), s.Distance(y, x)
			// A NaN both ways fails the law of finite values, not this one.
			if math.Abs(xy-yx) > tol*max(xy, yx) || math.IsNaN(xy) != math.IsNaN(yx) {
				return fmt.Errorf("points[%d] = %s, points[%d] = %s: distance %v one way and %v back", j, law.Brief(x), i, law.Brief(y), xy, yx)
			}
		}
	}
	return nil
}

// appends checks that an Embedder's Append keeps what dst holds and adds as
// many numbers for every point, whatever dst.
func appends[P any](e metric.Embedder[P], points []P, idx []int) error {
	dim := -1
	for _, i := range idx {
		alone := e.Append(nil, points[i])
		if dim < 0 {
			dim = len(alone)
		}
		if len(alone) != dim {
			return fmt.Errorf("points[%d] has %d coordinates, those before it %d", i, len(alone), dim)
		}
		after := e.Append(append(make([]float64, 0, 2+dim), 7, 11), points[i])
		if len(after) != 2+dim || after[0] != 7 || after[1] != 11 {
			return errors.New("method Append does not append: what dst held is gone")
		}
		for k, v := range alone {
			if !sameBits(after[2+k], v) {
				return fmt.Errorf("coordinate %d of points[%d] is %v, and %v after others", k, i, v, after[2+k])
			}
		}
	}
	return nil
}
