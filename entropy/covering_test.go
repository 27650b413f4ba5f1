package entropy

import (
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// checkCover fails unless the witnesses of c prove what it says.
func checkCover(t *testing.T, f metric.Finite, pts []int, s float64, c Cover) {
	t.Helper()
	if c.Lo < 1 || c.Lo > c.Hi || len(c.Centers) != c.Hi {
		t.Fatalf("[%d, %d], %d centers", c.Lo, c.Hi, len(c.Centers))
	}
	if len(c.Separated) > c.Lo || (c.Proof == ByPacking) != (len(c.Separated) == c.Lo) {
		t.Fatalf("proof %q, Lo %d, %d separated", c.Proof, c.Lo, len(c.Separated))
	}
	for _, i := range pts {
		ok := false
		for _, center := range c.Centers {
			ok = ok || f.Distance(center, i) <= s
		}
		if !ok {
			t.Fatalf("point %d is not covered", i)
		}
	}
	for center := range f.Len() {
		inside := 0
		for _, i := range c.Separated {
			if f.Distance(center, i) <= s {
				inside++
			}
		}
		if inside > 1 {
			t.Fatalf("%d separated points within %v of %d", inside, s, center)
		}
	}
}

func TestCovering_BruteForce(t *testing.T) {
	for seed := range uint64(200) {
		f, pts, r := randomSubset(11, seed)
		values := bruteValues(f)
		for _, s := range []float64{0, values[r.IntN(len(values))], values[r.IntN(len(values))] * r.Float64()} {
			want := bruteCovering(f, pts, s)
			for _, nodes := range []int{0, 2, -1} {
				c := testkit.Must(Covering(t.Context(), f, pts, s, &SearchOptions{Nodes: nodes}))
				checkCover(t, f, pts, s, c)
				if c.Lo > want || c.Hi < want || (nodes == 0 && !c.Exact()) {
					t.Fatalf("seed %d, s %v, nodes %d: [%d, %d], want %d", seed, s, nodes, c.Lo, c.Hi, want)
				}
			}
		}
	}
}

// TestCovering_Chain: N(S, 2s) <= covering number <= N(S, s), and the bracket
// against the search.
func TestCovering_Chain(t *testing.T) {
	for _, f := range []metric.Finite{planePoints(200, 1), dense(planePoints(60, 4)), randomSpace(64, 1), randomSpace(80, 1)} {
		for _, s := range []float64{0, .03, .1, .3, .5, 1.1} {
			all := allPoints(f.Len())
			c := testkit.Must(Covering(t.Context(), f, nil, s, &SearchOptions{Nodes: 500}))
			checkCover(t, f, all, s, c)
			far, err1 := Packing(t.Context(), f, nil, 2*s, nil)
			near, err2 := Packing(t.Context(), f, nil, s, nil)
			if err1 != nil || err2 != nil || far.Lo > c.Hi || c.Lo > near.Hi {
				t.Fatalf("s %v: %d <= [%d, %d] <= %d fails", s, far.Lo, c.Lo, c.Hi, near.Hi)
			}
			d := testkit.Must(coverBracket(t.Context(), f, all[10:], s, 100))
			checkCover(t, f, all[10:], s, d)
			if d.Lo > c.Hi {
				t.Fatalf("s %v: %d points of %d need %d balls", s, len(all)-10, len(all), d.Lo)
			}
		}
	}
}

// A greedy cover is smaller than a net on points of the plane.
func TestCovering_Greedy(t *testing.T) {
	f := planePoints(300, 1)
	c := testkit.Must(Covering(t.Context(), f, nil, .1, nil))
	checkCover(t, f, allPoints(300), .1, c)
	if net := testkit.Must(metric.Net(t.Context(), f, .1, nil)); c.Hi >= len(net)*9/10 {
		t.Errorf("%v, a net has %d", c, len(net))
	}
}

func BenchmarkCovering(b *testing.B) {
	for _, n := range []int{100, 1000, 10000, 100000} {
		f := planePoints(n, 1)
		for _, s := range []float64{.3, .05} {
			b.Run(fmt.Sprintf("n=%d/s=%v", n, s), func(b *testing.B) {
				b.ReportAllocs()
				var c Cover
				for b.Loop() {
					c = testkit.Must(Covering(b.Context(), f, nil, s, nil))
				}
				b.ReportMetric(float64(c.Lo), "lo")
				b.ReportMetric(float64(c.Hi), "hi")
			})
		}
	}
}
