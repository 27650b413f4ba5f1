package privatebeam

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/internal/testkit"
)

// keep has fn keep all of col.
func keep(s beam.Scope, fn any, col beam.PCollection) {
	beam.ParDo0(s, fn, beam.Impulse(s), beam.SideInput{Input: col})
}

// piped runs a new pipeline of what build makes, which fn keeps.
func piped(fn any, build func(beam.Scope) (beam.PCollection, error)) func() error {
	return func() error {
		p, s := beam.NewPipelineWithRoot()
		out, err := build(s)
		if err != nil {
			return err
		}
		keep(s, fn, out)
		return ptest.Run(p)
	}
}

// throughput runs op as a benchmark of that name, and reports n units an op.
func throughput(b *testing.B, name, unit string, n int, op func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			testkit.Check(b, op())
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), unit)
	})
}
