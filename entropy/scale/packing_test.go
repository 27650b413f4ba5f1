package scale

import (
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkCount fails unless the witnesses of c prove what it says.
func checkCount(t *testing.T, f metric.Finite, pts []int, s float64, c Count) {
	t.Helper()
	member := map[int]bool{}
	for _, i := range pts {
		member[i] = true
	}
	if c.Lo < 1 || c.Lo > c.Hi || len(c.Separated) != c.Lo || len(c.Sets) < c.Hi {
		t.Fatalf("[%d, %d], %d separated, %d sets", c.Lo, c.Hi, len(c.Separated), len(c.Sets))
	}
	if (c.Proof == ByPartition) != (len(c.Sets) == c.Hi) {
		t.Fatalf("proof %q, Hi %d, %d sets", c.Proof, c.Hi, len(c.Sets))
	}
	for a, i := range c.Separated {
		if !member[i] {
			t.Fatalf("%d is not in the subset", i)
		}
		for _, j := range c.Separated[:a] {
			if !(f.Distance(i, j) > s) {
				t.Fatalf("points %d, %d at %v, not > %v", i, j, f.Distance(i, j), s)
			}
		}
	}
	seen := map[int]bool{}
	for _, set := range c.Sets {
		for a, i := range set {
			if !member[i] || seen[i] {
				t.Fatalf("point %d: in the subset %v, seen %v", i, member[i], seen[i])
			}
			seen[i] = true
			for _, j := range set[:a] {
				if !(f.Distance(i, j) <= s) {
					t.Fatalf("set with points %d, %d at %v > %v", i, j, f.Distance(i, j), s)
				}
			}
		}
	}
	if len(seen) != len(member) {
		t.Fatalf("%d of %d points in sets", len(seen), len(member))
	}
}

func TestPacking_BruteForce(t *testing.T) {
	for seed := range uint64(200) {
		f, pts, r := randomSubset(12, seed)
		values := bruteValues(f)
		for _, s := range []float64{0, values[r.IntN(len(values))], values[r.IntN(len(values))] * r.Float64(), 100} {
			want := brutePacking(f, pts, s)
			for _, nodes := range []int{0, 2, -1} {
				c := testkit.Must(Packing(t.Context(), f, pts, s, &Options{Nodes: nodes}))
				checkCount(t, f, pts, s, c)
				if c.Lo > want || c.Hi < want || (nodes == 0 && !c.Exact()) || (seed%4 == 3 && !c.Exact()) {
					t.Fatalf("seed %d, s %v, nodes %d: [%d, %d], want %d", seed, s, nodes, c.Lo, c.Hi, want)
				}
			}
		}
	}
}

// TestPacking_Large: the methods for large sets against the matrix, on sets
// that both can take, and the witnesses.
func TestPacking_Large(t *testing.T) {
	testkit.Swept(t)
	testkit.Slow(t)
	cube := make([][]float64, 300)
	r := random.Seeded(3)
	for i := range cube {
		cube[i] = []float64{r.Float64(), r.Float64(), r.Float64()}
	}
	solid := testkit.Must(metric.NewPoints(cube, metric.Chebyshev{}))
	matrix := testkit.Must(metric.Densify(t.Context(), planePoints(200, 4))) // without coordinates
	for _, f := range []metric.Finite{planePoints(400, 1), solid, matrix, randomSpace(100, 1)} {
		for _, s := range []float64{0, .03, .1, .3, .5, 1.1, 2} {
			all := spaces.AllPoints(f.Len())
			var p packer
			c := testkit.Must(p.packLarge(t.Context(), f, all, s, 1000))
			checkCount(t, f, all, s, c)
			d := testkit.Must(Packing(t.Context(), f, nil, s, nil))
			checkCount(t, f, all, s, d)
			if c.Lo > d.Hi || d.Lo > c.Hi {
				t.Fatalf("s %v: [%d, %d] and [%d, %d]", s, c.Lo, c.Hi, d.Lo, d.Hi)
			}
			sub := all[f.Len()/3:]
			checkCount(t, f, sub, s, testkit.Must(p.packLarge(t.Context(), f, sub, s, 0)))
		}
	}
}

// TestPacking_Line: on a line the sweep is exact, at any size.
func TestPacking_Line(t *testing.T) {
	testkit.Slow(t)
	pts := make([][]float64, 5000)
	for i, k := range random.Seeded(1).Perm(len(pts)) {
		pts[i] = []float64{float64(k)}
	}
	f := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	for s, want := range map[float64]int{0.5: 5000, 10: 455, 5000: 1} {
		c := testkit.Must(Packing(t.Context(), f, nil, s, nil))
		checkCount(t, f, spaces.AllPoints(5000), s, c)
		if c.Lo != want || c.Hi != want {
			t.Errorf("s %v: %v, want %d", s, c, want)
		}
	}
	// Too many pairs to look at: clusters about a net.
	c := testkit.Must(Packing(t.Context(), space.Constant(20000, 1), nil, 2.5, nil))
	if c.Lo != 1 || c.Hi != 1 || len(c.Sets[0]) != 20000 {
		t.Errorf("one cluster: %v", c)
	}
}
