package walk

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

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
