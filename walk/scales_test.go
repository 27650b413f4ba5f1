package walk

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
)

func TestEqualScales_AreIntegers(t *testing.T) {
	tree := must(Balanced(1<<10, 2))
	for rel, want := range map[Relation]float64{ReplaceOne: 20, AddRemoveOne: 11} {
		s := must(tree.EqualScales(rel))
		for _, b := range s.Level {
			if b != want {
				t.Errorf("%v: scale %v, want %v", rel, b, want)
			}
		}
		if (s.Total == want) != (rel == AddRemoveOne) || (s.Total == 0) != (rel == ReplaceOne) {
			t.Errorf("%v: total %v", rel, s.Total)
		}
		if loss := must(tree.Loss(rel, s)); loss != 1 {
			t.Errorf("%v: loss %v", rel, loss)
		}
	}
}

// TestAt_KeepsTheLevel: equal scales divided by alpha have a loss of alpha at
// most, as the outward rounding of Loss sees it.
func TestAt_KeepsTheLevel(t *testing.T) {
	r := rng.Seeded(11)
	for range 2000 {
		tree := must(Balanced(2+r.IntN(1000), 2+r.IntN(20)))
		alpha := math.Exp(r.NormFloat64())
		s := must(must(tree.EqualScales(ReplaceOne)).At(alpha))
		if loss := must(tree.Loss(ReplaceOne, s)); loss > alpha || loss < alpha*(1-1e-15) {
			t.Fatalf("alpha %v: loss %v", alpha, loss)
		}
	}
}

func TestNormalise_LossIsOne(t *testing.T) {
	r := rng.Seeded(12)
	for range 500 {
		tree := randomTree(r, 2+r.IntN(60))
		s := randomScales(r, tree)
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			n := must(tree.Normalise(rel, s))
			loss := must(tree.Loss(rel, n))
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
	s := must(deep.Normalise(ReplaceOne, randomScales(r, deep)))
	if loss := must(deep.Loss(ReplaceOne, s)); loss > 1 || loss < 1-1e-10 {
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
	return must(t, err)
}

func TestPowerScales_Ratios(t *testing.T) {
	for _, d := range []float64{1, 2, 3, 7} {
		s := must(must(Balanced(1<<9, 2)).PowerScales(ReplaceOne, DimensionPower(d)))
		wide := must(must(Levels(8, 8, 8)).PowerScales(ReplaceOne, DimensionPower(d)))
		for l := range s.Level {
			want := math.Exp2(-float64(l) * (1 - 1/d) / 2)
			if got := s.Level[l] / s.Level[0]; math.Abs(got-want) > 1e-13 {
				t.Errorf("d = %v, level %d: %v, want %v", d, l, got, want)
			}
			if l%3 == 0 { // three binary levels are one 8-ary
				if got := wide.Level[l/3] / wide.Level[0]; math.Abs(got-want) > 1e-13 {
					t.Errorf("d = %v, 8-ary level %d: %v, want %v", d, l/3, got, want)
				}
			}
		}
		sum := 0.0
		for _, b := range s.Level {
			sum += 2 / b
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("d = %v: the rates sum to %v", d, sum)
		}
	}
	tree := must(Balanced(9, 2))
	for _, p := range []float64{math.NaN(), math.Inf(1), 9} {
		if _, err := tree.PowerScales(ReplaceOne, p); err == nil {
			t.Errorf("p = %v: no error", p)
		}
	}
}

// TestGapScales_AreBest: where all leaves are equally deep no other scales of
// loss 1 have a smaller RMS.
func TestGapScales_AreBest(t *testing.T) {
	r := rng.Seeded(13)
	for trial := range 40 {
		tree := must(Levels(2, 3, 4, 2))
		law := KNorm
		if trial%2 == 0 {
			law = Laplace
		}
		rel := Relation(trial / 2 % 2)
		gaps := make([]float64, tree.Len())
		for i := range gaps {
			gaps[i] = math.Exp(3 * r.NormFloat64())
		}
		rms := func(s Scales) float64 { return must(must(New(tree, law, s)).RMS(gaps)) }
		s := must(tree.GapScales(rel, law, gaps))
		best := rms(s)
		if equal := rms(must(tree.EqualScales(rel))); equal < best {
			t.Fatalf("RMS %v, but %v at equal scales", best, equal)
		}
		for range 20 {
			other := Scales{Total: s.Total * math.Exp(.1*r.NormFloat64())}
			for _, b := range s.Level {
				other.Level = append(other.Level, b*math.Exp(.1*r.NormFloat64()))
			}
			if got := rms(must(tree.Normalise(rel, other))); got < best*(1-1e-12) {
				t.Fatalf("RMS %v, but %v at %v in place of %v", best, got, other, s)
			}
		}
	}
}

func TestGapScales_Corners(t *testing.T) {
	tree := must(Balanced(8, 2))
	zero := must(tree.GapScales(ReplaceOne, KNorm, make([]float64, 8)))
	for _, b := range zero.Level {
		if b != 6 {
			t.Errorf("no gaps: %v", zero)
		}
	}
	// Only the sum at the middle weighs: only the root's noise reaches it.
	s := must(tree.GapScales(ReplaceOne, KNorm, []float64{0, 0, 0, 1, 0, 0, 0, 0}))
	if s.Level[0] > 2.01 || s.Level[1] != s.Level[2] {
		t.Errorf("one gap: %v", s)
	}
	huge := must(tree.GapScales(ReplaceOne, KNorm, []float64{1e308, 1e308, 1e308, 1e308, 1e308, 1e308, 1e308, 1e308}))
	if loss := must(tree.Loss(ReplaceOne, huge)); !(loss <= 1) {
		t.Errorf("huge gaps: loss %v of %v", loss, huge)
	}
	for _, gaps := range [][]float64{nil, {1, 1, 1, 1, 1, 1, 1, math.NaN()}, {1, 1, 1, 1, 1, 1, 1, -1}} {
		if _, err := tree.GapScales(ReplaceOne, KNorm, gaps); err == nil {
			t.Errorf("gaps %v: no error", gaps)
		}
	}
	var value *ValueError
	if _, err := must(Levels(3)).GapScales(ReplaceOne, DiscreteHaar, ones(3)); !errors.As(err, &value) {
		t.Errorf("DiscreteHaar on three children: %v", err)
	}
	if _, err := tree.GapScales(ReplaceOne, 9, ones(8)); !errors.As(err, &value) {
		t.Errorf("law 9: %v", err)
	}
	single := must(Levels()) // one leaf: nothing to tell apart, nothing to fail
	for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
		for _, s := range []Scales{must(single.EqualScales(rel)), must(single.PowerScales(rel, .25)), must(single.GapScales(rel, KNorm, []float64{1}))} {
			if loss := must(single.Loss(rel, s)); loss != float64(rel) {
				t.Errorf("one leaf, %v: loss %v of %v", rel, loss, s)
			}
		}
	}
	if _, err := tree.Normalise(5, Scales{Level: ones(3)}); !errors.As(err, &value) {
		t.Errorf("relation 5: %v", err)
	}
}
