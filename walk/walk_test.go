package walk

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

var dists = []Distribution{Laplace, KNorm, DiscreteLaplace, DiscreteHaar}

// TestIncrements_Variances: the draws have the variances that the closed form
// gives, within 6 standard errors (2e-9 for each of 60 numbers).
func TestIncrements_Variances(t *testing.T) {
	rng := random.Seeded(20)
	for _, dist := range dists {
		for trial := range 2 {
			tree := randomBinary(rng, 9)
			if dist != DiscreteHaar && trial == 1 {
				tree = randomTree(rng, 14)
			}
			w := testkit.Must(New(tree, dist, randomScales(rng, tree)))
			x := make([]float64, tree.Len())
			got := make([]moment, tree.Len())
			for range 20_000 {
				testkit.Check(t, w.Increments(rng, x))
				floats.CumSum(x, x)
				for k, s := range x {
					got[k].add(s * s)
				}
			}
			want := make([]float64, tree.Len())
			testkit.Check(t, w.Variances(want))
			for k := range want {
				got[k].check(t, dist.String(), want[k])
			}
		}
	}
}

// TestIncrements_AreTheIntegerRoute: noise on counts of 0, transformed back
// exactly, is what Increments gives for the same stream.
func TestIncrements_AreTheIntegerRoute(t *testing.T) {
	for seed := range uint64(20) {
		rng := random.Seeded(seed)
		tree := randomBinary(rng, 12)
		s := randomScales(rng, tree)
		x, dst := make([]int64, 12), make([]float64, 12)
		w := testkit.Must(New(tree, DiscreteHaar, s))
		testkit.Check(t, w.AddHaar(random.Seeded(seed), x))
		testkit.Check(t, w.Increments(random.Seeded(seed), dst))
		haar := make([]float64, 12)
		for i, k := range x {
			haar[i] = float64(k)
		}
		testkit.Check(t, tree.HaarInverse(haar)) // exact: integers and 11 halvings at most
		if !slices.Equal(dst, haar) {
			t.Fatalf("Haar: %v, want %v", dst, haar)
		}
		tree = randomTree(rng, 20)
		w = testkit.Must(New(tree, DiscreteLaplace, randomScales(rng, tree)))
		counts := make([]int64, 20)
		dst = make([]float64, tree.Len())
		testkit.Check(t, w.AddCounts(random.Seeded(seed), counts))
		testkit.Check(t, w.Increments(random.Seeded(seed), dst))
		centered := ratCenter(tree, counts)
		for i, got := range dst {
			if want, _ := centered[tree.LeafNode(i)].Float64(); math.Abs(got-want) > 1e-12 {
				t.Fatalf("counts, leaf %d: %v, want %v", i, got, want)
			}
		}
	}
}

// TestAdd_Integers: which entries get noise, and which distribution.
func TestAdd_Integers(t *testing.T) {
	rng := random.Seeded(22)
	tree := shapeTree{{nil, nil}, {{nil}}}.tree() // nodes 0 | 1 2 | 3 4 5 | 6
	w := testkit.Must(New(tree, DiscreteLaplace, Scales{Level: []float64{2, 3, 4}}))
	noisy := make([]int, 7)
	for range 500 {
		counts := []int64{10, 7, 3, 5, 2, 3, 3}
		testkit.Check(t, w.AddCounts(rng, counts))
		for v, c := range []int64{10, 7, 3, 5, 2, 3, 3} {
			if counts[v] != c {
				noisy[v]++
			}
		}
		if counts[0] != 10 || counts[5] != counts[2] || counts[6] != counts[2] {
			t.Fatalf("%v: the public total or an only child is wrong", counts)
		}
	}
	for _, v := range []int{1, 2, 3, 4} {
		if noisy[v] < 300 { // P{0} = tanh(1/2b) < .25; 300 of 500 has a tail below 1e-12
			t.Errorf("node %d got noise %d times of 500", v, noisy[v])
		}
	}
	counts := []int64{math.MaxInt64, math.MaxInt64, 0, math.MaxInt64, 0, 0, 0}
	for range 100 {
		testkit.Check(t, w.AddCounts(rng, counts))
		if counts[1] < math.MaxInt64/2 {
			t.Fatal("wrapped around")
		}
		counts[1] = math.MaxInt64
	}
}

// TestAdd_EntriesHaveTheirScales: the total and every level, of which a tenth less would be seen.
func TestAdd_EntriesHaveTheirScales(t *testing.T) {
	tree := testkit.Must(Levels(2, 2))
	s := Scales{Total: 3, Level: []float64{1.5, 2.2}}
	counts := testkit.Must(New(tree, DiscreteLaplace, s)) // nodes 0 | 1 2 | 3 4 5 6
	haar := testkit.Must(New(tree, DiscreteHaar, s))      // the total, then the splits
	for name, c := range map[string]struct {
		add   func(*rand.Rand, []int64) error
		scale []float64
	}{
		"counts": {counts.AddCounts, []float64{3, 1.5, 1.5, 2.2, 2.2, 2.2, 2.2}},
		"Haar":   {haar.AddHaar, []float64{3, 2.2, 1.5, 2.2}},
	} {
		tally := make([][]int, len(c.scale))
		for i := range tally {
			tally[i] = make([]int, 41)
		}
		rng := random.Seeded(23)
		for range 40_000 {
			x := make([]int64, len(c.scale))
			testkit.Check(t, c.add(rng, x))
			for i, k := range x {
				tallyInteger(tally[i], k)
			}
		}
		for i, b := range c.scale {
			t.Log(name, i)
			testkit.ChiSquare(t, tally[i], integers(b), reject)
		}
	}
}

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
		sums, float := make([]int64, tree.Nodes()), make([]float64, tree.Nodes())
		testkit.Check(t, tree.CountsInt(sums, x))
		counts(tree, float, y)
		for v, c := range sums {
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
		for v, c := range sums {
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

// TestHaarInt_KnownAnswer, by hand: 3+0+5+1 = 9 on the left and 13 on the right, so the total is 22
// and the first difference -4. The inverse gives, in eighths, the total and the differences above
// the leaf, once, twice and four times: with the noisy ones below, 22 - 1 - 2*5 + 4*3 = 23 for the
// first leaf and 22 + 1 + 2*8 + 4*1 = 43 for the last.
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

// checkHaarInt compares integer Haar coefficients with the sums they are made of, in math/big.
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

// BenchmarkWalk is the noise of 2^20 leaves, for simulation and as it is released.
func BenchmarkWalk(b *testing.B) {
	const n = 1 << 20
	weights, given, leaves, rng := make([]float64, n), make([]int64, n), make([]float64, n), random.Seeded(1)
	for i := range given {
		weights[i], given[i] = float64(i&7), int64(i&7)
	}
	for _, dist := range dists {
		tree := testkit.Must(Levels(32, 32, 32, 32))
		if dist == DiscreteHaar {
			tree = testkit.Must(Balanced(n, 2))
		}
		w, x, counts, nodes := equalWalk(tree, dist, ReplaceOne), make([]int64, n), make([]int64, tree.Nodes()), make([]float64, tree.Nodes())
		testkit.Bench(b, dist.String()+"/increments/n=1048576", func() { testkit.Check(b, w.Increments(rng, leaves)) })
		testkit.Bench(b, dist.String()+"/release/n=1048576", func() {
			switch dist {
			case DiscreteHaar:
				copy(x, given)
				testkit.Check(b, tree.HaarInt(x))
				testkit.Check(b, w.AddHaar(rng, x))
			case DiscreteLaplace:
				testkit.Check(b, tree.CountsInt(counts, given))
				testkit.Check(b, w.AddCounts(rng, counts))
			default:
				testkit.Check(b, w.AddShares(rng, nodes, weights))
				testkit.Check(b, tree.Center(nodes))
			}
		})
	}
}
