package clique

import (
	"math/bits"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// randomGraph returns a graph on m vertices with edges of probability p.
func randomGraph(m int, p float64, seed uint64) *Graph {
	r, g := random.Seeded(seed), NewGraph(m)
	for i := range m {
		for j := range i {
			if r.Float64() < p {
				g.Join(i, j)
			}
		}
	}
	return g
}

// bruteClique is the clique number of a graph of m <= 20 vertices, from all subsets.
func bruteClique(g *Graph) int {
	best := 0
	for set := range uint64(1) << g.Len() {
		ok := true
		for x := set; x != 0 && ok; x &= x - 1 {
			v := bits.TrailingZeros64(x)
			ok = (set&^(1<<v))&^g.Row(v)[0] == 0
		}
		if ok {
			best = max(best, bits.OnesCount64(set))
		}
	}
	return best
}

func checkClique(t *testing.T, g *Graph, set []int) {
	t.Helper()
	for a, i := range set {
		for _, j := range set[:a] {
			if i == j || !g.Row(i).Has(j) {
				t.Fatalf("%v is no clique: %d, %d", set, i, j)
			}
		}
	}
}

func TestClique_BruteForce(t *testing.T) {
	var c Solver
	for seed := range uint64(150) {
		m := 1 + int(seed%13)
		g := randomGraph(m, float64(seed%7)/6, seed)
		want := bruteClique(g)
		c.Load(g)
		set, hi := c.Solve(t.Context(), m+1, nil)
		checkClique(t, g, set)
		if len(set) != want || hi != want {
			t.Fatalf("seed %d: [%d, %d], want %d", seed, len(set), hi, want)
		}
		zero := 0
		c.Load(g)
		set, hi = c.Solve(t.Context(), m+1, &zero)
		checkClique(t, g, set)
		if len(set) > want || hi < want || len(set) < min(want, 1) {
			t.Fatalf("seed %d, no nodes: [%d, %d], want %d", seed, len(set), hi, want)
		}
		for need := 1; need <= m+1; need++ {
			c.Load(g)
			set, hi = c.Reaches(t.Context(), need, nil)
			checkClique(t, g, set)
			if (len(set) >= need) != (want >= need) || hi < want || (want < need && hi >= need) {
				t.Fatalf("seed %d, need %d: [%d, %d], want %d", seed, need, len(set), hi, want)
			}
		}
		class, k := c.Partition()
		for i := range m {
			for j := range i {
				if class[i] == class[j] && g.Row(i).Has(j) {
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
	var c Solver
	for seed := range uint64(10) {
		const m = 90
		g := randomGraph(m, .7, seed)
		c.Load(g)
		all, want := c.Solve(t.Context(), m+1, nil)
		if len(all) != want {
			t.Fatal("not finished")
		}
		last := m
		for n := 1; n < 1<<14; n *= 4 {
			left := n
			c.Load(g)
			set, hi := c.Solve(t.Context(), m+1, &left)
			checkClique(t, g, set)
			if len(set) > want || hi < want || hi > last || left < 0 {
				t.Fatalf("seed %d, %d nodes: [%d, %d], want %d", seed, n, len(set), hi, want)
			}
			last = hi
		}
	}
}
