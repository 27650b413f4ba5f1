package lp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// BenchmarkOptimal solves the reference points at eps = .5 to a certified gap of
// 1e-6 with dense factors; BenchmarkOptimal_Lazy has more points.
func BenchmarkOptimal(b *testing.B) {
	for _, n := range []int{20, 50, 75, 100} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchOptimal(b, referencePoints(b, n), 1e-6, EngineDense) })
	}
}

// benchOptimal solves at eps = .5 to a gap, by the engine that is expected.
func benchOptimal(b *testing.B, f metric.Finite, tolerance float64, engine Engine) {
	b.ReportAllocs()
	var s *Solution
	for b.Loop() {
		s = testkit.Must(Optimal(b.Context(), metric.Same(f), .5, &Options{Tolerance: tolerance}))
	}
	if s.Status != StatusOptimal || s.Engine != engine {
		b.Error(s)
	}
	b.ReportMetric(s.Gap, "gap")
	b.ReportMetric(float64(s.Iterations), "iterations")
}

// BenchmarkOptimal_Graph solves l1 grids, random trees and roads at eps = .5 to
// a certified gap of 1e-5, with sparse factors. Those of 1,000 points take some
// minutes and half a GB; they run where METRICDP_LONG is set.
func BenchmarkOptimal_Graph(b *testing.B) {
	for _, c := range []struct {
		name string
		f    metric.Finite
	}{
		{"grid n=100", space.Grid(10)}, {"grid n=400", space.Grid(20)}, {"grid n=1024", space.Grid(32)},
		{"tree n=100", tree(100)}, {"tree n=400", tree(400)}, {"tree n=1000", tree(1000)},
		{"roads n=400", roads(b, 20, 20)}, {"roads n=1000", roads(b, 25, 40)},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.f.Len() > 400 && !long {
				b.Skip("METRICDP_LONG is not set")
			}
			benchOptimal(b, c.f, 1e-5, EngineSparse)
		})
	}
}

// roads is a planar graph like those of streets: a grid whose crossings are moved
// at random, two fifths of the streets in one direction closed.
func roads(t testing.TB, rows, columns int) metric.Finite {
	t.Helper()
	n, r := rows*columns, random.Seeded(7)
	x, y := make([]float64, n), make([]float64, n)
	for u := range n {
		x[u] = float64(u/columns) + .7*(r.Float64()-.5)
		y[u] = float64(u%columns) + .7*(r.Float64()-.5)
	}
	var edges []metric.Edge
	add := func(u, v int) {
		edges = append(edges, metric.Edge{I: u, J: v, Length: math.Hypot(x[u]-x[v], y[u]-y[v])})
	}
	for u := range n {
		if u%columns < columns-1 {
			add(u, u+1)
		}
		if u+columns < n && (u%columns == 0 || r.Float64() >= .4) {
			add(u, u+columns)
		}
	}
	return testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
}
