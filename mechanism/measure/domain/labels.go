package domain

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
)

// On lifts a domain on the points of p to records anywhere in p's space: a record counts at the
// point nearest to it, and p.At is reported. What a [metric.Checker] refuses is an error. The
// resolution is then NaN: a record may be far from all points. p must have as many points as the
// metric that d was made of (*[metric.SizeError]), at distances no larger than there: 8 of each
// point are compared (*[metric.ValueError]).
func On[P any](ctx context.Context, d *Domain[int], p *metric.Points[P]) (*Domain[P], error) {
	const op = "domain: On"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if n := fault.Len(p); n != d.points {
		return nil, &fault.SizeError{Op: op, Arg: "p", Got: n, Want: fmt.Sprint(d.points)}
	}
	distances, err := sketch(ctx, p.Len(), 8, func(i, j int) (float64, error) {
		x, err := distanceOf(op, p, i, j)
		if y := d.space.Distance(i, j); err == nil && x > y*(1+1e-9) {
			err = notADistance(op, i, j, x, fmt.Sprintf("at most %v, as in the metric of d", y))
		}
		return x, err
	})
	if err != nil {
		return nil, err
	}
	a := *d.space.Partition
	a.ID = digest(a.Kind, d.space.ID, names(p.Len(), p.At), distances)
	a.Resolution = math.NaN()
	loc := metric.NewLocator(p)
	check, _ := p.Space().(metric.Checker[P])
	return &Domain[P]{&region.Space[P]{
		Partition: &a,
		Locate: func(x P) (int, error) {
			if check != nil {
				if err := check.Check(p.At(0), x); err != nil {
					return 0, fmt.Errorf("domain: Domain.Cell: %w", fault.Private(err))
				}
			}
			i, _ := loc.Nearest(x)
			if i < 0 {
				return 0, fmt.Errorf("domain: Domain.Cell: no point has a distance from the record")
			}
			return d.space.Locate(i)
		},
		At:       func(_ *rand.Rand, v node) P { return p.At(d.space.At(nil, v)) },
		Distance: p.Space().Distance,
	}, d.points}, nil
}

// Labels renames the points of a domain: record labels[i] is point i. Labels are different from one
// another (*[metric.ValueError] at the second), as many as points (*[metric.SizeError]); a record
// that is no label is [ErrUnknown].
func Labels[K comparable](d *Domain[int], labels []K) (*Domain[K], error) {
	const op = "domain: Labels"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if d.points != len(labels) {
		return nil, &fault.SizeError{Op: op, Arg: "labels", Got: len(labels), Want: fmt.Sprint(d.points)}
	}
	labels = append([]K(nil), labels...)
	a := *d.space.Partition
	a.ID = digest(a.Kind, d.space.ID, names(len(labels), func(i int) K { return labels[i] }))
	index := make(map[K]int, len(labels))
	for i, k := range labels {
		if j, twice := index[k]; twice {
			return nil, &fault.ValueError{Op: op, Arg: "labels", Index: i, Value: float64(j), Want: "a label that no other point has (the value is the index of the first)"}
		}
		index[k] = i
	}
	return &Domain[K]{&region.Space[K]{
		Partition: &a,
		Locate: func(k K) (int, error) {
			i, ok := index[k]
			if !ok {
				return 0, fmt.Errorf("domain: Domain.Cell: %w", ErrUnknown)
			}
			return d.space.Locate(i)
		},
		At: func(_ *rand.Rand, v node) K { return labels[d.space.At(nil, v)] },
		Distance: func(x, y K) float64 {
			i, ok1 := index[x]
			j, ok2 := index[y]
			if !ok1 || !ok2 {
				return math.NaN()
			}
			return d.space.Distance(i, j)
		},
	}, d.points}, nil
}
