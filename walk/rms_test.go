package walk

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestRMS_KnownAnswers, at level 1 per unit of total variation. The share phi
// of a node with N leaves is 1/N, 2/N, ..., 1, equally often, so that
//
//	m(N) = E phi^2 = (N+1)(2N+1)/(6N^2),
//
// and where all nodes have k children, a level whose nodes have kN leaves adds s((k-1)/2 + m(N) - k
// m(kN)) to the mean of E S^2 (see the top of rms.go), noise on the total its variance times m(n).
// s is 2b^2 for Laplace, b^2 for KNorm with k = 2 and else as TestVariance_KNormPairs sums it, and
// for integers 1/(2 sinh^2(1/2b)), half of that for DiscreteHaar.
func TestRMS_KnownAnswers(t *testing.T) {
	levels := func(a ...int) *Tree { return testkit.Must(Levels(a...)) }
	binary := func(L int) *Tree { return testkit.Must(Balanced(1<<L, 2)) }
	paper := func(L int) *Walk {
		t := binary(L)
		return testkit.Must(New(t, KNorm, t.allScales(AddRemoveOne, 2*float64(L+2)))) // total variation is half of l1
	}
	for _, c := range []struct {
		name string
		w    *Walk
		want float64
	}{
		{"paper L=10", paper(10), 37.5308223},
		{"paper L=16", paper(16), 66.8133203},
		{"Haar L=10", equalWalk(binary(10), KNorm, ReplaceOne), 26.6666659},
		{"Haar L=16", equalWalk(binary(16), KNorm, ReplaceOne), 53.3333333},
		{"independent (32,32)", equalWalk(levels(32, 32), Laplace, ReplaceOne), 18.3258937},
		{"independent (16)^4", equalWalk(levels(16, 16, 16, 16), Laplace, ReplaceOne), 36.0566004},
		{"K-norm (10,10,10)", equalWalk(levels(10, 10, 10), KNorm, ReplaceOne), 17.7849099},
		{"K-norm (16)^4", equalWalk(levels(16, 16, 16, 16), KNorm, ReplaceOne), 35.4505639},
		{"discrete Haar L=10", equalWalk(binary(10), DiscreteHaar, ReplaceOne), 26.6638883},
		{"discrete Haar L=16", equalWalk(binary(16), DiscreteHaar, ReplaceOne), 53.3311633},
		{"discrete (32,32)", equalWalk(levels(32, 32), DiscreteLaplace, ReplaceOne), 18.2782568},
		{"discrete (16)^4", equalWalk(levels(16, 16, 16, 16), DiscreteLaplace, ReplaceOne), 36.0331367},
	} {
		if got := testkit.Must(c.w.RMS(nil)); math.Abs(got-c.want) > 6e-8 {
			t.Errorf("%s: %.7f, want %.7f", c.name, got, c.want)
		}
	}
}

// TestVariances_SlowReference sends every single number of the noise through
// Center and adds up squares, on trees of any shape.
func TestVariances_SlowReference(t *testing.T) {
	rng := random.Seeded(2)
	for trial := range 60 {
		tree := randomTree(rng, 1+rng.IntN(30))
		if trial%4 == 0 {
			tree = randomBinary(rng, 1+rng.IntN(15))
		}
		s := randomScales(rng, tree)
		s.Total = float64(rng.IntN(3))
		for _, dist := range dists {
			if dist == DiscreteHaar && tree.checkBinary("") != nil {
				continue
			}
			w := testkit.Must(New(tree, dist, s))
			got := make([]float64, tree.Len())
			testkit.Check(t, w.Variances(got))
			for k, want := range slowVariances(w) {
				if math.Abs(got[k]-want) > 1e-12*(1+want) {
					t.Fatalf("%v on %v: variance %d is %v, want %v", dist, tree.first, k, got[k], want)
				}
			}
		}
	}
}

func slowVariances(w *Walk) []float64 {
	t := w.tree
	out := make([]float64, t.Len())
	counts := make([]float64, t.Nodes())
	add := func(v int, variance float64) { // of an independent number on the count of v
		clear(counts)
		counts[v] = 1
		_ = t.Center(counts)
		sum := 0.0
		for k := range out {
			sum += counts[t.LeafNode(k)]
			out[k] += variance * sum * sum
		}
	}
	add(0, w.totalVariance())
	for v := range t.Nodes() {
		lo, hi := t.Children(v)
		if lo == hi {
			continue
		}
		// Numbers of variance s, independent, have the covariance s*(I - J/k)
		// once they are centered.
		s := w.level[t.Depth(v)].Variance(hi - lo)
		for c := lo; c < hi; c++ {
			add(c, s)
		}
	}
	return out
}

// TestVariance_KNormPairs compares with the sum over all pairs of the squared
// distance of the ordered entries, E (sum of gaps)^2 = (sum m)^2 + sum m^2.
func TestVariance_KNormPairs(t *testing.T) {
	for k := 2; k <= 40; k++ {
		sum := 0.0
		for i := range k {
			mean, squares := 0.0, 0.0
			for j := i + 1; j < k; j++ {
				m := 1 / float64(min(j, k-j))
				mean += m
				squares += m * m
				sum += mean*mean + squares
			}
		}
		want := sum / float64(k) / float64(k-1)
		n := testkit.Must(NewNoise(KNorm, 3))
		if got := n.Variance(k); math.Abs(got-9*want) > 1e-12*9*want {
			t.Errorf("k = %d: %v, want %v", k, got, 9*want)
		}
		if k > 2 && want >= 2 {
			t.Errorf("k = %d: the K-norm distribution has variance factor %v, not below the 2 of Laplace noise", k, want)
		}
	}
}

// TestAt_KeepsTheLevel: equal scales divided by alpha have a loss of alpha at
// most, as the outward rounding of Loss sees it.
func TestAt_KeepsTheLevel(t *testing.T) {
	rng := random.Seeded(11)
	for range 2000 {
		tree := testkit.Must(Balanced(2+rng.IntN(1000), 2+rng.IntN(20)))
		alpha := math.Exp(rng.NormFloat64())
		s := testkit.Must(testkit.Must(tree.EqualScales(ReplaceOne)).At(alpha))
		if loss := testkit.Must(tree.Loss(ReplaceOne, s)); loss > alpha || loss < alpha*(1-1e-15) {
			t.Fatalf("alpha %v: loss %v", alpha, loss)
		}
	}
}

func TestNormalize_LossIsOne(t *testing.T) {
	rng := random.Seeded(12)
	for range 500 {
		tree := randomTree(rng, 2+rng.IntN(60))
		s := randomScales(rng, tree)
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			n := testkit.Must(tree.Normalize(rel, s))
			loss := testkit.Must(tree.Loss(rel, n))
			if tree.Sensitivity(rel) == 0 {
				continue
			}
			if loss > 1 || loss < 1-1e-12 {
				t.Fatalf("%v: loss %v", rel, loss)
			}
			if (n.Total == 0) != (rel == ReplaceOne) {
				t.Fatalf("%v: total %v", rel, n.Total)
			}
			for l, b := range n.Level {
				if ratio := b / n.Level[0]; math.Abs(ratio-s.Level[l]/s.Level[0]) > 1e-14*ratio {
					t.Fatalf("level %d: ratio %v", l, ratio)
				}
			}
		}
	}
	deep := chain(3000) // many additions, each rounded
	s := testkit.Must(deep.Normalize(ReplaceOne, randomScales(rng, deep)))
	if loss := testkit.Must(deep.Loss(ReplaceOne, s)); loss > 1 || loss < 1-1e-10 {
		t.Errorf("chain: loss %v", loss)
	}
}

// chain is the binary tree of n leaves and the greatest height.
func chain(n int) *Tree {
	parent := []int{-1}
	for len(parent) < 2*n-1 {
		v := max(0, len(parent)-1)
		parent = append(parent, v, v)
	}
	t, _, err := NewTree(parent)
	return testkit.Must(t, err)
}
