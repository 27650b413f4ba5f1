package ipm

import (
	"context"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// BenchmarkLink builds the linking system of one iteration from sparse factors.
func BenchmarkLink(b *testing.B) {
	for _, c := range []struct {
		name string
		p    *Problem
	}{{"grid n=400", grid(20, .5)}, {"grid n=1024", grid(32, .5)}, {"tree n=1000", randomTree(1000, .5)}} {
		b.Run(c.name, func(b *testing.B) {
			e := started(b, testkit.Must(Prepare(context.Background(), c.p)), 0).engine.(*sparseEngine)
			testkit.Check(b, e.factor())
			for b.Loop() {
				testkit.Check(b, e.formLink())
			}
		})
	}
}
