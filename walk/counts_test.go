package walk

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestCounts_SumLeaves(t *testing.T) {
	rng := random.Seeded(8)
	for range 100 {
		tree := randomTree(rng, 1+rng.IntN(60))
		x := make([]int64, tree.Len())
		y := make([]float64, tree.Len())
		for i := range x {
			x[i] = rng.Int64N(2000) - 1000
			y[i] = float64(x[i])
		}
		counts, float := make([]int64, tree.Nodes()), make([]float64, tree.Nodes())
		testkit.Check(t, tree.CountsInt(counts, x))
		testkit.Check(t, tree.Counts(float, y))
		for v, c := range counts {
			lo, hi := tree.LeafRange(v)
			want := int64(0)
			for _, k := range x[lo:hi] {
				want += k
			}
			if c != want || float[v] != float64(want) {
				t.Fatalf("node %d: %d and %v, want %d", v, c, float[v], want)
			}
		}
		testkit.Check(t, tree.Center(float)) // consistent already
		for v, c := range counts {
			if math.Abs(float[v]-float64(c)) > 1e-9 {
				t.Fatalf("centered %v, want %d", float[v], c)
			}
		}
	}
}

// TestCenter_RationalReference: within the rounding of its sums, centering is
// what it is in rational numbers, for counts of any size that CountsInt takes.
func TestCenter_RationalReference(t *testing.T) {
	rng := random.Seeded(9)
	for trial := range 400 {
		tree := randomTree(rng, 1+rng.IntN(30))
		limit := int64(math.MaxInt64) >> (trial % 60)
		counts, float := make([]int64, tree.Nodes()), make([]float64, tree.Nodes())
		for v := range counts {
			counts[v] = rng.Int64N(limit)*2 - limit
			if trial%3 == 0 {
				counts[v] = limit * (2*rng.Int64N(2) - 1)
			}
			float[v] = float64(counts[v])
		}
		want := ratCenter(tree, counts)
		testkit.Check(t, tree.Center(float))
		for v, w := range want {
			f, _ := w.Float64()
			if math.Abs(float[v]-f) > 1e-13*float64(limit)*float64(len(counts)) {
				t.Fatalf("node %d: %v, want %v", v, float[v], f)
			}
		}
	}
}

// ratCenter is the centering of all counts, in rational numbers.
func ratCenter(tree *Tree, counts []int64) []*big.Rat {
	out := make([]*big.Rat, len(counts))
	for v, c := range counts {
		out[v] = new(big.Rat).SetInt64(c)
	}
	for v := range counts {
		lo, hi := tree.Children(v)
		if lo == hi {
			continue
		}
		shift := new(big.Rat).Set(out[v])
		for _, c := range out[lo:hi] {
			shift.Sub(shift, c)
		}
		shift.Quo(shift, new(big.Rat).SetInt64(int64(hi-lo)))
		for _, c := range out[lo:hi] {
			c.Add(c, shift)
		}
	}
	return out
}
