package tsp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
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

func BenchmarkHeldKarpBound(b *testing.B) {
	for _, f := range []metric.Finite{plane(1000, 1), plane(10_000, 1), plane(100_000, 1), randomMetric(1000, 1), randomMetric(2000, 1)} {
		name := "plane"
		if _, ok := f.(*metric.Dense); ok {
			name = "random"
		}
		bench(b, name, f, func(b *testing.B) map[string]float64 {
			h := testkit.Must(heldKarpBound(b.Context(), f, heldkarp.Options{}))
			return map[string]float64{"iterations": float64(h.Iterations), "bound": h.Value}
		})
	}
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

func BenchmarkTours(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		f := plane(n, 1)
		for name, call := range map[string]func() error{
			"OneTree": func() error { return second(oneTreeBound(b.Context(), f, nil, Closed)) },
			"Hilbert": func() error { return second(SpaceFilling(b.Context(), f, Closed)) },
		} {
			bench(b, name, f, func(b *testing.B) map[string]float64 {
				if err := call(); err != nil {
					b.Fatal(err)
				}
				return nil
			})
		}
	}
}
