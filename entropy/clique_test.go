package entropy

import (
	"math/bits"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
)

// randomGraph returns the rows of a graph on m vertices with edges of
// probability p.
func randomGraph(m int, p float64, seed uint64) []uint64 {
	r, w := rng.Seeded(seed), bitWords(m)
	rows := make([]uint64, m*w)
	for i := range m {
		for j := range i {
			if r.Float64() < p {
				rows[i*w+j/64] |= 1 << (j % 64)
				rows[j*w+i/64] |= 1 << (i % 64)
			}
		}
	}
	return rows
}

func adjacent(rows []uint64, m, i, j int) bool { return rows[i*bitWords(m)+j/64]>>(j%64)&1 == 1 }

// bruteClique is the clique number of a graph of m <= 20 vertices, from all
// subsets.
func bruteClique(rows []uint64, m int) int {
	best := 0
	for set := range uint64(1) << m {
		ok := true
		for x := set; x != 0 && ok; x &= x - 1 {
			v := bits.TrailingZeros64(x)
			ok = (set&^(1<<v))&^rows[v] == 0
		}
		if ok {
			best = max(best, bits.OnesCount64(set))
		}
	}
	return best
}

func checkClique(t *testing.T, rows []uint64, m int, set []int) {
	t.Helper()
	for a, i := range set {
		for _, j := range set[:a] {
			if i == j || !adjacent(rows, m, i, j) {
				t.Fatalf("%v is no clique: %d, %d", set, i, j)
			}
		}
	}
}

func TestClique_BruteForce(t *testing.T) {
	var c cliqueSolver
	for seed := range uint64(150) {
		m := 1 + int(seed%13)
		rows := randomGraph(m, float64(seed%7)/6, seed)
		want := bruteClique(rows, m)
		c.load(m, rows)
		set, hi := c.solve(m+1, nil)
		checkClique(t, rows, m, set)
		if len(set) != want || hi != want {
			t.Fatalf("seed %d: [%d, %d], want %d", seed, len(set), hi, want)
		}
		zero := 0
		c.load(m, rows)
		set, hi = c.solve(m+1, &zero)
		checkClique(t, rows, m, set)
		if len(set) > want || hi < want || len(set) < min(want, 1) {
			t.Fatalf("seed %d, no nodes: [%d, %d], want %d", seed, len(set), hi, want)
		}
		for need := 1; need <= m+1; need++ {
			c.load(m, rows)
			set, hi = c.reaches(need, nil)
			checkClique(t, rows, m, set)
			if (len(set) >= need) != (want >= need) || hi < want || (want < need && hi >= need) {
				t.Fatalf("seed %d, need %d: [%d, %d], want %d", seed, need, len(set), hi, want)
			}
		}
		class, k := c.partition()
		for i := range m {
			for j := range i {
				if class[i] == class[j] && adjacent(rows, m, i, j) {
					t.Fatalf("seed %d: edge %d %d inside class %d", seed, i, j, class[i])
				}
			}
			if class[i] < 0 || int(class[i]) >= k {
				t.Fatalf("class %d of %d", class[i], k)
			}
		}
		if k < want {
			t.Fatalf("%d classes, clique %d", k, want)
		}
	}
}

// TestClique_Budget: whatever the budget, the bounds enclose the clique number
// and more nodes do not widen them.
func TestClique_Budget(t *testing.T) {
	var c cliqueSolver
	for seed := range uint64(10) {
		const m = 90
		rows := randomGraph(m, .7, seed)
		c.load(m, rows)
		all, want := c.solve(m+1, nil)
		if len(all) != want {
			t.Fatal("not finished")
		}
		last := m
		for n := 1; n < 1<<14; n *= 4 {
			left := n
			c.load(m, rows)
			set, hi := c.solve(m+1, &left)
			checkClique(t, rows, m, set)
			if len(set) > want || hi < want || hi > last || left < 0 {
				t.Fatalf("seed %d, %d nodes: [%d, %d], want %d", seed, n, len(set), hi, want)
			}
			last = hi
		}
	}
}

func TestClique_NoAllocation(t *testing.T) {
	var c cliqueSolver
	rows := randomGraph(100, .6, 1)
	if n := testing.AllocsPerRun(5, func() {
		c.load(100, rows)
		c.solve(101, nil)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClique(b *testing.B) {
	for _, g := range []struct {
		name string
		m    int
		p    float64
	}{{"m=30/p=0.7", 30, .7}, {"m=100/p=0.7", 100, .7}, {"m=200/p=0.5", 200, .5}} {
		b.Run(g.name, func(b *testing.B) {
			b.ReportAllocs()
			rows := randomGraph(g.m, g.p, 1)
			var c cliqueSolver
			n := 0
			for b.Loop() {
				n = 1 << 30
				c.load(g.m, rows)
				c.solve(g.m+1, &n)
			}
			b.ReportMetric(float64(1<<30-n), "nodes")
		})
	}
}
