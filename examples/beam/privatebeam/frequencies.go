package privatebeam

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
)

// An Estimator describes a [frequency.Estimator] so that a worker can build it, for the
// channel that the items went through. It is a value that survives
// encoding/json, and registered with [RegisterEstimator].
type Estimator interface {
	Frequencies(ctx context.Context) (*frequency.Estimator, error)
}

// Estimate is a [frequency.Estimate] of how the users' items are distributed, and the
// distribution nearest to it.
type Estimate struct {
	Mean, StdErr []float64 // by item
	Distribution []float64 // nearest to Mean in the earth mover's distance
	Distance     float64   // of the two
	Users, Items int64
}

// Frequencies estimates the distribution of the items, from the one element of
// the PCollection<Multiset> of [ItemWise]: a PCollection<Estimate> of one element.
// The inverse of the channel is computed and applied once, by the worker that
// meets it. It draws nothing and costs no privacy.
func Frequencies[E Estimator](s beam.Scope, e E, counts beam.PCollection) (beam.PCollection, error) {
	if err := survives(e); err != nil {
		return beam.PCollection{}, fmt.Errorf("privatebeam: Frequencies: %w", err)
	}
	return beam.ParDo(s.Scope("privatebeam.Frequencies"), &estimateFn[E]{Estimator: e}, counts), nil
}

// RegisterEstimator makes a kind of estimator known to the workers. Call it from
// an init function, once for every E.
func RegisterEstimator[E Estimator]() {
	register.DoFn2x2[context.Context, Multiset, Estimate, error](&estimateFn[E]{})
}

type estimateFn[E Estimator] struct {
	Estimator E
}

func (f *estimateFn[E]) ProcessElement(ctx context.Context, m Multiset) (Estimate, error) {
	q, err := build(f.Estimator, func() (*frequency.Estimator, error) { return f.Estimator.Frequencies(context.WithoutCancel(ctx)) })
	if err != nil {
		return Estimate{}, err
	}
	return estimate(ctx, q, m)
}

// estimate is what Frequencies does with its counts.
func estimate(ctx context.Context, q *frequency.Estimator, m Multiset) (Estimate, error) {
	c := &emd.Report{Sums: m.Counts, Users: m.Users, Reports: 1}
	for _, n := range m.Counts {
		c.Items += n
	}
	e, err := q.Estimate(c)
	if err != nil {
		return Estimate{}, err
	}
	p, d, err := q.Distribution(ctx, e)
	return Estimate{Mean: e.Mean, StdErr: e.StdErr, Distribution: p, Distance: d, Users: e.Users, Items: e.Items}, err
}
