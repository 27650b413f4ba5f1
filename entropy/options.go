package entropy

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// Options tune the entropic and the doubling scale and the bounds. Nil and the
// zero value mean the defaults. Results depend on Nodes alone.
type Options struct {
	// Nodes bounds the branch-and-bound nodes of one packing problem, as in
	// [SearchOptions].
	Nodes int
	// Progress, where not nil, is told how many of how many parts are done. It
	// starts again with each level, scale and bound. Calls do not overlap.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS.
	Workers int
}

// PassOptions tune what passes over all pairs of points, on several cores:
// [DiametricScale], [LowerBounds], [LevelFor], [BallMass] and [Measures.Wasserstein]. Nil and
// the zero value mean the defaults, and results do not depend on them.
type PassOptions struct {
	// Progress, where not nil, is told how many of how many parts are done. It
	// starts again with each level. Calls do not overlap.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS.
	Workers int
}

// options is o with the default for nodes.
func (o *PassOptions) options() *Options { return &Options{Progress: o.Progress, Workers: o.Workers} }

// SearchOptions tune a search on one core: [Packing] and [OuterScale]. Nil and the zero value mean the defaults.
type SearchOptions struct {
	// Nodes bounds the branch-and-bound nodes of one problem, less on more than
	// some hundred points. 0 means 20000, enough for some dozens of points; a
	// negative number none: greedy sets and partitions only. Fewer nodes leave
	// wider intervals, never wrong ones.
	Nodes int
}

const defaultNodes = 20000

// budget applies the default to the field Nodes of options.
func budget(nodes int) int {
	if nodes == 0 {
		return defaultNodes
	}
	return max(0, nodes)
}

// orDefault is o, or where that is nil the zero value.
func orDefault[T any](o *T) *T {
	if o == nil {
		return new(T)
	}
	return o
}

// one is the first of what was found for a list of one level.
func one[T any](all []T, err error) (first T, _ error) {
	if err != nil {
		return first, err
	}
	return all[0], nil
}

// oneLevel is what scales returns for the level alpha of b, checked.
func oneLevel[T any](op string, b metric.Bimetric, alpha float64, scales func([]float64) ([]T, error)) (first T, _ error) {
	if err := checkScale(op, b, alpha); err != nil {
		return first, err
	}
	return one(scales([]float64{alpha}))
}

// checkPoints refuses a space without points, nil among them.
func checkPoints(op string, f metric.Finite) error {
	return fault.Empty(op, "f", fault.Len(f))
}

// checkedPoints is the number of points up to which checkDistances looks at all
// pairs: a few milliseconds.
const checkedPoints = 1024

// checkDistances refuses a negative or non-finite distance with its pair: any
// of up to checkedPoints points, in a larger space any from the first point.
// The checked types of package metric are believed.
func checkDistances(op string, f metric.Finite) error {
	switch f.(type) {
	case *metric.Dense, *metric.Graph, *metric.Ultrametric, *metric.Clustered:
		return nil
	}
	n := f.Len()
	rows := n
	if n > checkedPoints {
		rows = 1
	}
	var row []float64
	for i := range rows {
		row = finite.Row(f, i, row)
		for j, d := range row {
			if !(d >= 0 && d <= math.MaxFloat64) {
				return fmt.Errorf("%s: %w", op, &metric.Violation{Axiom: metric.FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)})
			}
		}
	}
	return nil
}

// pause is how many cheap steps lie between two looks at the context.
const pause = 1024
