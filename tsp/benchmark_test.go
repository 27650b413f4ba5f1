package tsp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// bench times call on f, which returns what is to be reported besides.
func bench(b *testing.B, name string, f metric.Finite, call func(b *testing.B) map[string]float64) {
	b.Run(fmt.Sprintf("%s/n=%d", name, f.Len()), func(b *testing.B) {
		b.ReportAllocs()
		var found map[string]float64
		for b.Loop() {
			found = call(b)
		}
		for unit, v := range found {
			b.ReportMetric(v, unit)
		}
	})
}

// BenchmarkSolve reports the proved gap in percent and, for uniform points, the
// length over 0.7124 sqrt(n A), to which the shortest tour of n of them tends; on
// a grid, by how many percent it is above the shortest.
func BenchmarkSolve(b *testing.B) {
	solve := func(name string, f metric.Finite, o *SolveOptions, more func(t *Tour) (unit string, v float64)) {
		bench(b, name, f, func(b *testing.B) map[string]float64 {
			t := testkit.Must(Solve(b.Context(), f, o))
			found := map[string]float64{"gap%": 100 * t.Gap()}
			if more != nil {
				unit, v := more(t)
				found[unit] = v
			}
			return found
		})
	}
	ratio := func(t *Tour) (string, float64) {
		return "ratio", t.Length / (0.7124 * math.Sqrt(float64(len(t.Order))))
	}
	excess := func(t *Tour) (string, float64) {
		return "above%", 100 * (t.Length/float64(len(t.Order)) - 1)
	}
	for _, s := range shapes {
		for _, n := range []int{200, 1000, 3000} {
			more := map[string]func(*Tour) (string, float64){"uniform": ratio, "grid": excess}[s.name]
			solve(s.name, s.make(n, 1), nil, more)
		}
	}
	solve("uniform", plane(100_000, 1), nil, ratio)
	solve("general", testkit.Must(metric.Densify(b.Context(), plane(2000, 1))), nil, nil)
	solve("path", plane(1000, 1), &SolveOptions{Kind: Open}, nil)
}
