package walk

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
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

// TestHaarInt_KnownAnswer, by hand: 3+0+5+1 = 9 on the left and 13 on the
// right, so the total is 22 and the first difference -4. The inverse gives, in
// eighths, the total and the differences above the leaf, once, twice and four
// times: with the noisy ones below, 22 - 1 - 2*5 + 4*3 = 23 for the first leaf
// and 22 + 1 + 2*8 + 4*1 = 43 for the last.
func TestHaarInt_KnownAnswer(t *testing.T) {
	tree := testkit.Must(Balanced(8, 2))
	x := []int64{3, 0, 5, 1, 0, 2, 7, 4}
	testkit.Check(t, tree.HaarInt(x))
	got := []int64{x[0]}
	for v := range 7 {
		got = append(got, x[tree.Split(v)])
	}
	if want := []int64{22, -4, -3, -9, 3, 4, -2, 3}; !slices.Equal(got, want) {
		t.Errorf("coefficients %v, want %v", got, want)
	}
	y := make([]float64, 8)
	y[0] = 22
	for v, d := range []float64{-1, -5, -8, 3, 9, -3, -1} {
		y[tree.Split(v)] = d
	}
	testkit.Check(t, tree.HaarInverse(y)) // halves of small integers: exact
	for i, want := range []float64{23, -1, 67, -5, -5, 19, 35, 43} {
		if 8*y[i] != want {
			t.Errorf("leaf %d: %v eighths, want %v", i, 8*y[i], want)
		}
	}
}

// checkHaarInt compares integer Haar coefficients with the sums they are made
// of, in math/big.
func checkHaarInt(t *testing.T, tree *Tree, coefficients, x []int64) {
	t.Helper()
	sum := func(v int) *big.Int {
		s := new(big.Int)
		lo, hi := tree.LeafRange(v)
		for _, k := range x[lo:hi] {
			s.Add(s, big.NewInt(k))
		}
		return s
	}
	if want := sum(0); want.Cmp(big.NewInt(coefficients[0])) != 0 {
		t.Fatalf("total %d, want %v", coefficients[0], want)
	}
	for v := range tree.Nodes() {
		if lo, hi := tree.Children(v); lo < hi {
			want := sum(lo)
			want.Sub(want, sum(lo+1))
			if got := coefficients[tree.Split(v)]; want.Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("coefficient of %d: %d, want %v", v, got, want)
			}
		}
	}
}

// FuzzHaarInt reads 64-bit integers: whatever they are, the transform either
// refuses and leaves them, or is exact.
func FuzzHaarInt(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add(make([]byte, 64), uint64(2))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 24), 1<<63), uint64(3))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 24), 1<<60), uint64(4))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		n := min(len(data)/8, 64)
		if n == 0 {
			return
		}
		tree := randomBinary(random.Seeded(seed), n)
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		given := slices.Clone(x)
		if tree.HaarInt(x) != nil {
			if !slices.Equal(x, given) {
				t.Fatal("a refused input changed")
			}
			return
		}
		checkHaarInt(t, tree, x, given)
	})
}
