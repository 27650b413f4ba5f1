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
			l := testkit.Must(Prepare(context.Background(), c.p))
			s := newSolver(context.Background(), l, Settings{Workers: 1})
			if err := s.start(); err != nil {
				b.Fatal(err)
			}
			if err := s.columns(func(t *task, w int) { s.factor(t, w) }); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.linkSparse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
