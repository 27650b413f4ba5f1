package direct

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func matrix(n int, at func(u, v int) float64) []float64 {
	d := make([]float64, n*n)
	for u := range n {
		for v := range u {
			d[u*n+v] = at(u, v)
			d[v*n+u] = d[u*n+v]
		}
	}
	return d
}

// plain is the rule without haste: a pair is implied by any two shorter ones.
func plain(n int, d []float64) [][]int32 {
	pairs := make([][]int32, n)
	for u := range n {
	next:
		for v := u + 1; v < n; v++ {
			uv := d[u*n+v]
			for z := range n {
				a, b := d[u*n+z], d[z*n+v]
				if z != u && z != v && a+b <= uv*(1+rounding(n)) && max(a, b) < uv*(1-shorter) {
					continue next
				}
			}
			pairs[u] = append(pairs[u], int32(v))
		}
	}
	return pairs
}

// closed are the shortest paths, by the algorithm of Floyd and Warshall.
func closed(n int, d []float64) []float64 {
	d = slices.Clone(d)
	for z := range n {
		for u := range n {
			for v := range n {
				d[u*n+v] = min(d[u*n+v], d[u*n+z]+d[z*n+v])
			}
		}
	}
	return d
}

// graph is the shortest-path metric of a random tree and some more edges.
func graph(n int, r *rand.Rand, edges int, length func() float64) []float64 {
	d := matrix(n, func(int, int) float64 { return math.Inf(1) })
	join := func(u, v int) {
		if u != v {
			d[u*n+v] = length()
			d[v*n+u] = d[u*n+v]
		}
	}
	for u := 1; u < n; u++ {
		join(u, r.IntN(u))
	}
	for range edges {
		join(r.IntN(n), r.IntN(n))
	}
	return closed(n, d)
}

func spaces(r *rand.Rand) map[string][]float64 {
	n := 3 + r.IntN(40)
	ties := func() float64 { return float64(1 + r.IntN(3)) }
	any := func() float64 { return .1 + r.Float64() }
	x := make([]float64, n)
	for u := 1; u < n; u++ {
		x[u] = x[u-1] + r.ExpFloat64()
	}
	return map[string][]float64{
		"tree":           graph(n, r, 0, any),
		"tree, ties":     graph(n, r, 0, ties),
		"graph":          graph(n, r, n, any),
		"graph, ties":    graph(n, r, n, ties),
		"scales":         graph(n, r, n/2, func() float64 { return math.Exp(20 * r.Float64()) }),
		"grid":           matrix(36, func(u, v int) float64 { return math.Abs(float64(u/6-v/6)) + math.Abs(float64(u%6-v%6)) }),
		"grid of tenths": matrix(36, func(u, v int) float64 { return .1*math.Abs(float64(u/6-v/6)) + .3*math.Abs(float64(u%6-v%6)) }),
		"simplex":        matrix(n, func(int, int) float64 { return 1 }),
		"plane":          plane(n, r.Float64),
		"lattice points": plane(25, func() float64 { return float64(r.IntN(1000)) }),
		"line":           matrix(n, func(u, v int) float64 { return x[u] - x[v] }),
		"some far":       matrix(n, func(u, v int) float64 { return []float64{1, math.Inf(1)}[min(1, u/(n-1))] }),
		"rounded":        rounded(graph(n, r, n, any), r),
	}
}

// plane are points of the plane, no two the same.
func plane(n int, draw func() float64) []float64 {
	x, y := make([]float64, n), make([]float64, n)
	for u := range n {
		x[u], y[u] = draw(), draw()+float64(u)/1024
	}
	return matrix(n, func(u, v int) float64 { return math.Hypot(x[u]-x[v], y[u]-y[v]) })
}

// rounded moves distances by an ulp.
func rounded(d []float64, r *rand.Rand) []float64 {
	n := int(math.Sqrt(float64(len(d))))
	return matrix(n, func(u, v int) float64 { return math.Nextafter(d[u*n+v], float64(r.IntN(2))*1e9) })
}

// In a metric the pairs are those of the plain rule.
func TestPairs_AreThoseThatNoOthersImply(t *testing.T) {
	r := random.Seeded(4)
	for i := range 60 {
		for name, d := range spaces(r) {
			n := int(math.Sqrt(float64(len(d))))
			got := testkit.Must(Pairs(context.Background(), finite.Square{N: n, D: d}, 1+i%3))
			want := plain(n, d)
			for u := range n {
				if !slices.Equal(got[u], want[u]) {
					t.Fatalf("%s, n=%d: pairs of %d are %v, want %v", name, n, u, got[u], want[u])
				}
			}
			if ok, err := Metric(context.Background(), finite.Square{N: n, D: d}, got, 0); !ok || err != nil {
				t.Fatalf("%s, n=%d: no metric, %v", name, n, err)
			}
		}
	}
}

// Where the triangle inequality is broken, by however few pairs, it is seen; the
// shortest paths along the pairs are those along all.
func TestPairs_OfADissimilarity(t *testing.T) {
	r := random.Seeded(5)
	for i := range 300 {
		n := 4 + r.IntN(30)
		d := matrix(n, func(int, int) float64 { return math.Exp(3 * r.Float64()) })
		if i%2 == 0 { // a metric but for one pair
			d = graph(n, r, n, func() float64 { return .1 + r.Float64() })
			u, v := r.IntN(n), r.IntN(n-1)
			if v >= u {
				v++
			}
			d[u*n+v] *= []float64{1 + 1e-9, 3}[i/2%2]
			d[v*n+u] = d[u*n+v]
		}
		whole := closed(n, d)
		broken := false
		for i, e := range d {
			broken = broken || whole[i] < e*(1-1e-12)
		}
		pairs := testkit.Must(Pairs(context.Background(), finite.Square{N: n, D: d}, 0))
		along := matrix(n, func(int, int) float64 { return math.Inf(1) })
		for u, list := range pairs {
			for _, v := range list {
				along[u*n+int(v)], along[int(v)*n+u] = d[u*n+int(v)], d[u*n+int(v)]
			}
		}
		for i, e := range closed(n, along) {
			if math.Abs(e-whole[i]) > 1e-12*e {
				t.Fatalf("n=%d: %v along the pairs, %v along all", n, e, whole[i])
			}
		}
		if ok := testkit.Must(Metric(context.Background(), finite.Square{N: n, D: d}, pairs, 0)); ok == broken {
			t.Errorf("n=%d: metric %v, broken %v", n, ok, broken)
		}
	}
}

// A way over (1, h) is sqrt(1+h^2) times as long as the straight one.
func TestNearly_KnownAnswer(t *testing.T) {
	for _, c := range []struct {
		h       float64
		implied bool
	}{{0.66, true}, {0.67, false}} { // 1.1982, 1.2037
		x := [][2]float64{{0, 0}, {1, c.h}, {2, 0}}
		d := matrix(3, func(u, v int) float64 { return math.Hypot(x[u][0]-x[v][0], x[u][1]-x[v][1]) })
		pairs := testkit.Must(Nearly(t.Context(), finite.Square{N: 3, D: d}, 1.2, 1))
		if got := !slices.Contains(pairs[0], 2); got != c.implied || !slices.Contains(pairs[0], 1) || !slices.Contains(pairs[1], 2) {
			t.Errorf("h = %v: pairs %v", c.h, pairs)
		}
	}
}
