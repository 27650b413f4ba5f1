package lp

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// BenchmarkOptimal solves the reference points, and above 400 others, to a certified gap,
// in km; l1 grids, random trees and roads at eps = .5; and of roads and points of the plane
// all inputs to some outputs that are far from each other. Rows of more than 100 points
// run where METRICDP_LONG is set.
func BenchmarkOptimal(b *testing.B) {
	for _, c := range []struct {
		n        int
		eps, gap float64
		engine   Engine
	}{
		{20, .5, 1e-6, EngineDense}, {50, .5, 1e-6, EngineDense}, {75, .5, 1e-6, EngineLazy}, {100, .1, 1e-6, EngineLazy}, {100, .5, 1e-6, EngineLazy}, {100, 2, 1e-6, EngineLazy},
		{150, .5, 1e-3, EngineLazy}, {150, .5, 1e-6, EngineLazy}, {200, .5, 1e-3, EngineLazy}, {200, .5, 1e-6, EngineLazy}, {300, .5, 1e-3, EngineLazy}, {400, .5, 5e-4, EngineLazy}, {1000, .5, 1e-3, EngineLazy},
	} {
		b.Run(fmt.Sprintf("n=%d/eps=%v/gap=%v", c.n, c.eps, c.gap), func(b *testing.B) {
			only(b, c.n <= 100)
			f := uniform(c.n)
			if c.n <= 400 {
				f = referencePoints(b, c.n)
			}
			benchOptimal(b, f, c.eps, &Options{Tolerance: c.gap}, c.engine)
		})
	}
	for _, c := range []struct {
		name string
		f    func() metric.Finite
		n, k int
	}{
		{"grid", func() metric.Finite { return space.Grid(10) }, 100, 0}, {"grid", func() metric.Finite { return space.Grid(32) }, 1024, 0},
		{"tree", func() metric.Finite { return tree(100) }, 100, 0}, {"tree", func() metric.Finite { return tree(1000) }, 1000, 0},
		{"roads", func() metric.Finite { return roads(b, 20, 20) }, 400, 0}, {"roads", func() metric.Finite { return roads(b, 32, 32) }, 1024, 20},
		{"roads", func() metric.Finite { return roads(b, 71, 71) }, 5041, 100}, {"roads", func() metric.Finite { return roads(b, 100, 100) }, 10000, 20},
		{"plane", func() metric.Finite { return uniform(500) }, 500, 20}, {"plane", func() metric.Finite { return uniform(2000) }, 2000, 50},
	} {
		b.Run(fmt.Sprintf("%s/n=%d/outputs=%d", c.name, c.n, c.k), func(b *testing.B) {
			only(b, c.n <= 100)
			f, o, engine := c.f(), &Options{Tolerance: 1e-5}, EngineSparse
			if c.k > 0 {
				o.Tolerance, engine = 1e-3, ""
				var err error
				if o.Outputs, _, err = metric.FarthestFirst(b.Context(), f, c.k, 0); err != nil {
					b.Fatal(err)
				}
			}
			benchOptimal(b, f, .5, o, engine)
		})
	}
}

// only skips what takes long, but with METRICDP_LONG.
func only(b *testing.B, quick bool) {
	if !quick && !long {
		b.Skip("METRICDP_LONG is not set")
	}
}

// benchOptimal solves, by the engine that is expected if one is, and reports what came
// of it: GiB is the most memory that the process had.
func benchOptimal(b *testing.B, f metric.Finite, eps float64, o *Options, engine Engine) {
	b.ReportAllocs()
	var s *Solution
	forgetPeak()
	for b.Loop() {
		s = testkit.Must(Optimal(b.Context(), metric.Same(f), eps, o))
	}
	if s.Status != StatusOptimal || engine != "" && s.Engine != engine {
		b.Error(s)
	}
	b.ReportMetric(s.Gap, "gap")
	b.ReportMetric(float64(s.Iterations), "iterations")
	if p := peak(b); p > 0 {
		b.ReportMetric(p, "GiB")
	}
}

// BenchmarkFew solves points of the plane at unit density, all inputs to some outputs that are far
// from each other, or to all, to a certified gap, where METRICDP_LONG is set. All take less than 8 GiB
// but 10,000 to all, which may take 21.
func BenchmarkFew(b *testing.B) {
	for _, c := range []struct {
		n, k       int
		alpha, gap float64
	}{
		{2025, 20, .1, 1e-3}, {2025, 20, .5, 1e-3}, {2025, 20, 2, 1e-3}, {5041, 20, .5, 1e-3}, {1024, 100, .5, 1e-3}, {5041, 100, .5, 1e-3},
		{400, 400, .5, 5e-4}, {1000, 1000, .5, 1e-3}, {2000, 2000, .5, 1e-2}, {4000, 4000, .5, .05}, {10_000, 10_000, .5, .05}, {10_000, 100, .5, 1e-3}, {40_000, 100, .5, 1e-2},
	} {
		b.Run(fmt.Sprintf("n=%d/outputs=%d/alpha=%v", c.n, c.k, c.alpha), func(b *testing.B) {
			only(b, false)
			f := scattered(c.n)
			outputs, _, err := metric.FarthestFirst(b.Context(), f, c.k, 0)
			if err != nil {
				b.Fatal(err)
			}
			limit := 8.0 * (1 << 30)
			if c.n == 10_000 && c.k == c.n {
				limit = 21 * (1 << 30)
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(limit))) // testkit lets garbage grow
			benchOptimal(b, f, c.alpha, &Options{Outputs: outputs, Tolerance: c.gap, MemoryLimit: limit}, "")
		})
	}
}

// forgetPeak has Linux measure the peak anew.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak is the most memory that the process had in GiB, 0 where that is not known.
func peak(b *testing.B) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, found := strings.Cut(string(status), "VmHWM:")
	if !found {
		return 0
	}
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / (1 << 20)
}

// uniform are points of [0, 10]^2, scattered of a square with one on a unit of area.
func uniform(n int) metric.Finite   { return square(n, 10) }
func scattered(n int) metric.Finite { return square(n, math.Sqrt(float64(n))) }

func square(n int, side float64) metric.Finite {
	r := random.Seeded(1)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{side * r.Float64(), side * r.Float64()}
	}
	return space.Euclidean(pts)
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

// BenchmarkOptimal_TenThousand brackets the optimum on ten thousand cities of Europe and
// around, in km, and on as many crossings of roads, from all inputs to some outputs.
// Rows run where METRICDP_LONG is set.
func BenchmarkOptimal_TenThousand(b *testing.B) {
	if !long {
		b.Skip("METRICDP_LONG is not set")
	}
	streets, cities := roads(b, 100, 100), cities(b)
	for _, c := range []struct {
		name    string
		f       metric.Finite
		alpha   float64
		outputs int
	}{
		{"roads", streets, 2, 1000}, {"roads", streets, 1, 1000},
		{"cities", cities, .03, 100}, {"cities", cities, .01, 100}, {"cities", cities, .01, 1000},
	} {
		b.Run(fmt.Sprintf("%s/alpha=%v/outputs=%d", c.name, c.alpha, c.outputs), func(b *testing.B) {
			outputs, _, err := metric.FarthestFirst(b.Context(), c.f, c.outputs, 0)
			if err != nil {
				b.Fatal(err)
			}
			forgetPeak()
			for b.Loop() {
				s := extended(b, metric.Same(c.f), c.alpha, &Options{Outputs: outputs}, mostAnchors)
				b.ReportMetric(s.Gap, "gap")
				b.Log(s)
			}
			if p := peak(b); p > 0 {
				b.ReportMetric(p, "GiB")
			}
		})
	}
}

// cities are the 10,000 places of at least 15,000 people that are nearest to 47 N 15 E
// (GeoNames, CC-BY 4.0, geonames.org).
func cities(t testing.TB) metric.Finite {
	t.Helper()
	f := testkit.Must(os.Open("testdata/cities10k.csv.gz"))
	defer f.Close()
	records := testkit.Must(csv.NewReader(testkit.Must(gzip.NewReader(f))).ReadAll())
	var pts []metric.LatLon
	for _, r := range records[1:] {
		pts = append(pts, metric.LatLon{Lat: testkit.Must(strconv.ParseFloat(r[0], 64)), Lon: testkit.Must(strconv.ParseFloat(r[1], 64))})
	}
	return testkit.Must(metric.NewPoints(pts, metric.GreatCircle{}))
}
