package walk

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
)

// TestHaarInt_KnownAnswer: MATH.md section 3.
func TestHaarInt_KnownAnswer(t *testing.T) {
	tree := must(Balanced(8, 2))
	x := []int64{3, 0, 5, 1, 0, 2, 7, 4}
	check(t, tree.HaarInt(x))
	got := []int64{x[0]}
	for v := range 7 {
		got = append(got, x[tree.Split(v)])
	}
	if want := []int64{22, -4, -3, -9, 3, 4, -2, 3}; !slices.Equal(got, want) {
		t.Errorf("coefficients %v, want %v", got, want)
	}
	for v, d := range []int64{-1, -5, -8, 3, 9, -3, -1} {
		x[tree.Split(v)] = d
	}
	check(t, tree.HaarInverseInt(x))
	if want := []int64{23, -1, 67, -5, -5, 19, 35, 43}; !slices.Equal(x, want) {
		t.Errorf("leaves in eighths %v, want %v", x, want)
	}
}

func TestHaar_RoundTrip(t *testing.T) {
	r := rng.Seeded(6)
	for range 300 {
		tree := randomBinary(r, 1+r.IntN(40))
		x := make([]float64, tree.Len())
		k := make([]int64, tree.Len())
		for i := range x {
			x[i] = r.NormFloat64()
			k[i] = int64(r.IntN(100))
		}
		y, m := slices.Clone(x), slices.Clone(k)
		check(t, tree.Haar(y))
		sum := make([]float64, tree.Nodes())
		check(t, tree.Counts(sum, x))
		for v := range tree.Nodes() {
			if lo, hi := tree.Children(v); lo < hi {
				if got, want := y[tree.Split(v)], sum[lo]-sum[lo+1]; math.Abs(got-want) > 1e-13 {
					t.Fatalf("coefficient of %d: %v, want %v", v, got, want)
				}
			}
		}
		check(t, tree.HaarInverse(y))
		check(t, tree.HaarInt(m))
		check(t, tree.HaarInverseInt(m))
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-13 {
				t.Fatalf("leaf %d: %v, want %v", i, y[i], x[i])
			}
			if m[i] != k[i]<<tree.Height() {
				t.Fatalf("leaf %d: %v, want %v * 2^%d", i, m[i], k[i], tree.Height())
			}
		}
	}
}

// ratCentre is the centring of all counts, in rational numbers.
func ratCentre(tree *Tree, counts []int64) []*big.Rat {
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

// TestHaarInverseInt_LimitIsSafe: coefficients at the limit and any below it
// give the exact leaves, against math/big.
func TestHaarInverseInt_LimitIsSafe(t *testing.T) {
	r := rng.Seeded(7)
	for trial := range 400 {
		tree := randomBinary(r, 1+r.IntN(20))
		limit := tree.HaarLimit()
		x := make([]int64, tree.Len())
		for i := range x {
			switch r.IntN(4) {
			case 0:
				x[i] = limit
			case 1:
				x[i] = -limit
			default:
				x[i] = r.Int64N(limit) - limit/2
			}
		}
		if trial%2 == 0 {
			for i := range x {
				x[i] = limit
			}
		}
		// As counts: the children of v are d and 0, before centring (p, d are
		// what centring makes of them).
		counts := make([]int64, tree.Nodes())
		counts[0] = x[0]
		for v := range counts {
			if lo, hi := tree.Children(v); lo < hi {
				counts[lo] = x[tree.Split(v)]
			}
		}
		want := ratCentre(tree, counts)
		check(t, tree.HaarInverseInt(x))
		unit := new(big.Rat).SetInt64(1 << tree.Height())
		for i, got := range x {
			w := new(big.Rat).Mul(unit, want[tree.LeafNode(i)])
			if !w.IsInt() || w.Num().Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("leaf %d: %d, want %v", i, got, w)
			}
		}
	}
}

func TestHaarInt_Overflow(t *testing.T) {
	tree := must(Balanced(4, 2))
	var over *OverflowError
	for _, x := range [][]int64{
		{math.MaxInt64, 1, 0, 0}, {math.MinInt64, 0, 0, 0}, {0, math.MaxInt64, 0, -1}, {1 << 62, 0, 0, 1 << 62},
	} {
		before := slices.Clone(x)
		if err := tree.HaarInt(x); !errors.As(err, &over) {
			t.Errorf("%v: %v", before, err)
		}
		if !slices.Equal(x, before) {
			t.Errorf("%v became %v", before, x)
		}
	}
	limit := tree.HaarLimit()
	if limit != math.MaxInt64>>2 {
		t.Errorf("limit %d", limit)
	}
	for _, v := range []int64{limit + 1, -limit - 1, math.MinInt64, math.MaxInt64} {
		x := []int64{0, 0, v, 0}
		if err := tree.HaarInverseInt(x); !errors.As(err, &over) || over.Index != 2 || over.Value != v || over.Limit != limit || x[2] != v {
			t.Errorf("%d: %v, x = %v", v, err, x)
		}
		if Clamp(x, limit) != 1 || x[2] != max(-limit, min(v, limit)) {
			t.Errorf("clamped %v", x)
		}
		check(t, tree.HaarInverseInt(x))
	}
	// A chain deeper than 63 bits takes zeros only.
	var s shapeTree
	for range 70 {
		s = shapeTree{nil, s}
	}
	deep := s.tree()
	x := make([]int64, deep.Len())
	check(t, deep.HaarInverseInt(x))
	x[3] = 1
	if err := deep.HaarInverseInt(x); !errors.As(err, &over) || over.Limit != 0 {
		t.Errorf("deep: %v", err)
	}
}

func TestHaar_Errors(t *testing.T) {
	tree := must(Levels(2, 3))
	var value *ValueError
	if err := tree.Haar(make([]float64, 6)); !errors.As(err, &value) || value.Index != 1 {
		t.Errorf("not binary: %v", err)
	}
	if err := tree.HaarInverseInt(make([]int64, 6)); !errors.As(err, &value) {
		t.Errorf("not binary: %v", err)
	}
	tree = must(Balanced(6, 2))
	var size *SizeError
	for _, err := range []error{tree.Haar(nil), tree.HaarInverse(make([]float64, 7)), tree.HaarInt(nil), tree.HaarInverseInt(nil)} {
		if !errors.As(err, &size) {
			t.Errorf("wrong length: %v", err)
		}
	}
}

// FuzzHaarInt reads 64-bit integers: whatever they are, both transforms either
// refuse and leave them, or are exact.
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
		tree := randomBinary(rng.Seeded(seed), n)
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		given := slices.Clone(x)
		if tree.HaarInt(x) != nil {
			if !slices.Equal(x, given) {
				t.Fatal("a refused input changed")
			}
			Clamp(x, tree.HaarLimit())
			check(t, tree.HaarInverseInt(x))
			return
		}
		coefficients := slices.Clone(x)
		if tree.HaarInverseInt(x) != nil {
			if !slices.Equal(x, coefficients) {
				t.Fatal("refused coefficients changed")
			}
			return
		}
		for i := range x {
			if x[i] != given[i]<<tree.Height() || x[i]>>tree.Height() != given[i] {
				t.Fatalf("leaf %d: %d of %d at height %d", i, x[i], given[i], tree.Height())
			}
		}
	})
}
