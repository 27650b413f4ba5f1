package metrictest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Failure reports one law that does not hold: Op the call, Law its name in the
// package's doc, Err what shows that it fails, for [errors.As] and [errors.Is].
type Failure = law.Failure

// Options are the settings of the tests. Nil means the defaults.
type Options struct {
	// Tolerance is the relative slack of the triangle inequality, and of the symmetry of a
	// Space. 0 means [metric.DefaultTolerance], a positive number below 1e-16 no slack at all.
	Tolerance float64

	// Strict also forbids distance 0 between points of different index.
	Strict bool

	// Ultrametric also asks for the strong triangle inequality, without tolerance.
	Ultrametric bool

	// MaxPoints is the largest number of points of which all pairs, triples and
	// rows are checked, at most 10,000; 0 means 200. Of more points, as many random
	// ones are taken for pairs, random triples of all, and fewer rows.
	MaxPoints int

	// Seed fixes the samples.
	Seed uint64
}

const (
	defaultMaxPoints = 200
	maxMaxPoints     = 10_000 // two matrices of 800 MB
	// Triples drawn of spaces above MaxPoints. A law that fails on a fraction
	// 1.1e-4 of them is missed with probability 1e-6.
	samples = 1 << 17
	// Distances in all the rows that are read at the most, but for the first
	// few rows, which are read at any length.
	maxRowEntries = 1 << 18
	minRows       = 4
	// Goroutines of the laws on concurrent use.
	workers = 8
)

// withDefaults returns o with its defaults in place of zeros.
func withDefaults(op string, o *Options) (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if err := fault.NonNegative(op, "Tolerance", c.Tolerance); err != nil {
		return c, err
	}
	if c.MaxPoints < 0 || c.MaxPoints > maxMaxPoints {
		return c, fault.Value(op, "MaxPoints", float64(c.MaxPoints), fmt.Sprintf("an integer in [0, %d]", maxMaxPoints))
	}
	c.Tolerance = cmp.Or(c.Tolerance, metric.DefaultTolerance)
	c.MaxPoints = cmp.Or(c.MaxPoints, defaultMaxPoints)
	return c, nil
}

// sample returns the points that the laws on pairs look at: all n, or
// MaxPoints of them in ascending order.
func (o *Options) sample(n int) []int {
	if n <= o.MaxPoints {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	rng, in := random.Seeded(o.Seed), make(map[int]bool, o.MaxPoints)
	for len(in) < o.MaxPoints {
		in[rng.IntN(n)] = true
	}
	return slices.Sorted(maps.Keys(in))
}
