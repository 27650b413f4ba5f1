package entropy

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// Options tune what searches and what takes long. Nil and the zero value mean
// the defaults. Results depend on Nodes, and not on Workers or on time.
type Options struct {
	// Nodes bounds the branch-and-bound nodes spent on one packing or covering
	// problem, less on more than some hundred points, where a node takes
	// longer. 0 is DefaultNodes, and a negative number none: greedy sets and
	// partitions only. Fewer nodes are faster and may leave wider intervals,
	// never wrong ones.
	Nodes int
	// Progress, where not nil, is told how many of how many parts are done.
	// Calls do not overlap. Those that call it are [BallMass],
	// [Measures.Wasserstein] and the scales where they take long: [OuterScales]
	// counts levels, [DiametricScales] points, and [EntropicScales] and
	// [DoublingScales] points or a budget of work that is seldom used up, for one
	// level after another. [LowerBounds], [UpperBounds], [Accuracy] and
	// [Accuracies] pass it to the scales that they take, so that it starts again
	// with each.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS. All that have
	// Options read it but [Packing], [Covering] and [OuterScales], whose searches
	// are one after another, [PositiveMeasure], [PrivateMeasureBound] and
	// [PrivateDataBound].
	Workers int
}

// DefaultNodes is enough to make packing numbers exact in most sets of some
// dozens of points.
const DefaultNodes = 20000

func (o *Options) orDefault() *Options {
	if o == nil {
		return &Options{}
	}
	return o
}

func (o *Options) nodes() int {
	if o.Nodes == 0 {
		return DefaultNodes
	}
	return max(0, o.Nodes)
}

// checkPoints refuses a space without points, nil among them.
func checkPoints(op string, f metric.Finite) error {
	return fault.Empty(op, "f", fault.Len(f))
}

// checkedPoints is the number of points up to which checkDistances looks at all
// pairs: a few milliseconds.
const checkedPoints = 1024

// checkDistances refuses a negative or non-finite distance with its pair: any in
// a space of up to checkedPoints points, and in a larger one any from its first
// point, which finds what is wrong throughout. The types of package metric that
// were checked when they were made are believed.
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
