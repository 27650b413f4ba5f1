package lp

import (
	"fmt"
	"os"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

// BenchmarkOptimal solves the reference points at eps = .5 to a certified gap of
// 1e-6. Above 100 points a run takes minutes and up to 400 MB; they run where
// METRICDP_LONG is set.
func BenchmarkOptimal(b *testing.B) {
	for _, n := range []int{20, 50, 75, 100, 150, 200} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			if n > 100 && os.Getenv("METRICDP_LONG") == "" {
				b.Skip("METRICDP_LONG is not set")
			}
			file := sharedPoints
			if n <= 50 {
				file = "testdata/points.csv"
			}
			space := metric.Same(referencePoints(b, file, n))
			b.ReportAllocs()
			var s *Solution
			for b.Loop() {
				var err error
				if s, err = Optimal(space, .5, &Options{Tolerance: 1e-6}); err != nil {
					b.Fatal(err)
				}
			}
			if s.Status != Optimum {
				b.Error(s)
			}
			b.ReportMetric(s.Gap, "gap")
			b.ReportMetric(float64(s.Iterations), "iterations")
		})
	}
}

// BenchmarkOptimal_Graph solves l1 grids and random trees at eps = .5 to a
// certified gap of 1e-5, with sparse factors.
func BenchmarkOptimal_Graph(b *testing.B) {
	for _, c := range []struct {
		name string
		f    metric.Finite
	}{
		{"grid n=100", grid(10)}, {"grid n=400", grid(20)}, {"grid n=1024", grid(32)},
		{"tree n=100", tree(100)}, {"tree n=400", tree(400)},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.f.Len() > 400 && os.Getenv("METRICDP_LONG") == "" {
				b.Skip("METRICDP_LONG is not set")
			}
			b.ReportAllocs()
			var s *Solution
			for b.Loop() {
				var err error
				if s, err = Optimal(metric.Same(c.f), .5, &Options{Tolerance: 1e-5}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(s.Gap, "gap")
			b.ReportMetric(float64(s.Iterations), "iterations")
		})
	}
}
