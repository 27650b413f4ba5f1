package walk

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
)

var laws = []Law{Laplace, KNorm, DiscreteLaplace, DiscreteHaar}

// TestIncrements_Variances: the draws have the variances that the closed form
// gives, within 6 standard errors (2e-9 for each of 60 numbers).
func TestIncrements_Variances(t *testing.T) {
	r := rng.Seeded(20)
	for _, law := range laws {
		for trial := range 2 {
			tree := randomBinary(r, 9)
			if law != DiscreteHaar && trial == 1 {
				tree = randomTree(r, 14)
			}
			w := must(New(tree, law, randomScales(r, tree)))
			x := make([]float64, tree.Len())
			got := make([]moment, tree.Len())
			for range 20_000 {
				check(t, w.Increments(r, x))
				PartialSums(x)
				for k, s := range x {
					got[k].add(s * s)
				}
			}
			want := make([]float64, tree.Len())
			check(t, w.Variances(want))
			for k := range want {
				got[k].check(t, law.String(), want[k])
			}
		}
	}
}

// TestIncrements_AreTheIntegerRoute: noise on counts of 0, transformed back
// exactly, is what Increments gives for the same stream.
func TestIncrements_AreTheIntegerRoute(t *testing.T) {
	for seed := range uint64(20) {
		r := rng.Seeded(seed)
		tree := randomBinary(r, 12)
		s := randomScales(r, tree)
		x, dst := make([]int64, 12), make([]float64, 12)
		w := must(New(tree, DiscreteHaar, s))
		check(t, w.AddHaar(rng.Seeded(seed), x))
		check(t, tree.HaarInverseInt(x))
		check(t, w.Increments(rng.Seeded(seed), dst))
		for i, k := range x {
			if want := math.Ldexp(float64(k), -tree.Height()); dst[i] != want {
				t.Fatalf("Haar, leaf %d: %v, want %v", i, dst[i], want)
			}
		}
		tree = randomTree(r, 20)
		w = must(New(tree, DiscreteLaplace, randomScales(r, tree)))
		counts := make([]int64, 20)
		dst = make([]float64, tree.Len())
		check(t, w.AddCounts(rng.Seeded(seed), counts))
		check(t, w.Increments(rng.Seeded(seed), dst))
		check(t, tree.CenterInt(counts))
		for i, got := range dst {
			if want := float64(counts[tree.LeafNode(i)]) / float64(tree.Unit()); math.Abs(got-want) > 1e-12 {
				t.Fatalf("counts, leaf %d: %v, want %v", i, got, want)
			}
		}
	}
}

func TestIncrements_TotalAndStream(t *testing.T) {
	for _, law := range laws {
		tree := must(Balanced(100, 2))
		w := equalWalk(tree, law, Replace)
		a, b := make([]float64, 100), make([]float64, 100)
		check(t, w.Increments(rng.Seeded(1), a))
		check(t, w.Increments(rng.Seeded(1), b))
		if !slices.Equal(a, b) {
			t.Errorf("%v: two runs of one seed differ", law)
		}
		check(t, w.Increments(nil, b)) // equal with a probability below 2^-50
		if slices.Equal(a, b) {
			t.Errorf("%v: secure noise repeats", law)
		}
		PartialSums(a)
		if math.Abs(a[99]) > 1e-9 {
			t.Errorf("%v: total %v, want 0", law, a[99])
		}
	}
}

func TestIncrements_Allocations(t *testing.T) {
	if testkit.Race {
		t.Skip("sync.Pool drops items under the race detector")
	}
	w := equalWalk(must(Levels(8, 8)), KNorm, Replace)
	dst := make([]float64, 64)
	r := rng.Seeded(1)
	if n := testing.AllocsPerRun(20, func() { _ = w.Increments(r, dst) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// logRatios calls f with the potential's change at z between any two neighbours
// in both directions, the points z being the origin, points near it and far
// off: V is convex and piecewise linear, and its slopes occur there.
func logRatios(t *testing.T, w *Walk, rel Relation, seed uint64, f func(change float64)) {
	tree := w.Tree()
	r := rng.Seeded(seed)
	x := make([]float64, tree.Len())
	delta, z, moved := make([]float64, tree.Nodes()), make([]float64, tree.Nodes()), make([]float64, tree.Nodes())
	for i := range x {
		for j := range x {
			if i == j && rel == Replace {
				continue
			}
			clear(x)
			x[i] = 1
			if rel == Replace {
				x[j] = -1
			}
			check(t, tree.Counts(delta, x))
			for trial := range 8 {
				for v := range z {
					z[v] = []float64{0, 1, 3, 50}[trial%4] * r.NormFloat64()
					if w.Law().Discrete() {
						z[v] = math.Round(z[v])
					}
					moved[v] = z[v] + delta[v]
				}
				if w.scales.Total == 0 {
					z[0], moved[0] = 0, 0
				}
				f(math.Abs(must(w.PotentialCounts(moved)) - must(w.PotentialCounts(z))))
			}
		}
	}
}

// TestPrivacy_LogDensityRatios: for all laws, both relations and any tree, the
// log-density ratio of neighbours is at most Loss, which is attained; so noise
// of 99 % of the scale breaks level 1.
func TestPrivacy_LogDensityRatios(t *testing.T) {
	r := rng.Seeded(21)
	for trial := range uint64(60) {
		for _, law := range laws {
			tree := randomTree(r, 2+r.IntN(14))
			if law == DiscreteHaar {
				tree = randomBinary(r, 2+r.IntN(6))
			}
			for _, rel := range []Relation{Replace, AddRemove} {
				if tree.Sensitivity(rel) == 0 {
					continue
				}
				s := must(tree.Normalize(rel, randomScales(r, tree)))
				worst := 0.0
				logRatios(t, must(New(tree, law, s)), rel, trial, func(c float64) { worst = max(worst, c) })
				if math.Abs(worst-1) > 1e-11 {
					t.Fatalf("%v, %v, %v: the worst log-ratio is %v, want 1", law, rel, tree.first, worst)
				}
				small := Scales{Total: s.Total * .99}
				for _, b := range s.Level {
					small.Level = append(small.Level, b*.99)
				}
				worst = 0
				logRatios(t, must(New(tree, law, small)), rel, trial, func(c float64) { worst = max(worst, c) })
				if worst < 1.009 {
					t.Fatalf("%v, %v: 99 %% of the scale has the log-ratio %v", law, rel, worst)
				}
			}
		}
	}
}

// TestPrivacy_Enumeration is independent of the potential: the probability of
// every released vector in a box is a product of the law of single integers,
// given in closed form, and its ratio between neighbours is at most e^alpha,
// and that somewhere.
func TestPrivacy_Enumeration(t *testing.T) {
	pmf := func(s float64, k int64) float64 { return math.Tanh(s/2) * math.Exp(-s*math.Abs(float64(k))) }
	for _, c := range []struct {
		tree *Tree
		law  Law
	}{
		{must(Balanced(3, 2)), DiscreteHaar},
		{must(Balanced(4, 2)), DiscreteHaar},
		{must(Levels(3)), DiscreteLaplace},
		{must(Balanced(3, 2)), DiscreteLaplace},
	} {
		for _, rel := range []Relation{Replace, AddRemove} {
			const alpha = .8
			s := must(must(c.tree.EqualScales(rel)).At(alpha))
			q := 1 / s.Level[0]
			release := func(x []int64) []int64 { // before noise
				if c.law == DiscreteHaar {
					x = slices.Clone(x)
					check(t, c.tree.HaarInt(x))
					return x
				}
				counts := make([]int64, c.tree.Nodes())
				check(t, c.tree.CountsInt(counts, x))
				return counts
			}
			worst := 0.0
			n := c.tree.Len()
			base := make([]int64, n)
			for i := range n {
				for j := range n {
					if i == j {
						continue
					}
					x, y := slices.Clone(base), slices.Clone(base)
					x[i]++
					if rel == Replace {
						y[j]++
					}
					a, b := release(x), release(y)
					first := 0
					if rel == Replace { // the total is public
						first = 1
					}
					out := make([]int64, len(a))
					var each func(k int)
					each = func(k int) {
						if k < len(out) {
							for out[k] = -3; out[k] <= 3; out[k]++ {
								each(k + 1)
							}
							return
						}
						pa, pb := 1.0, 1.0
						for k := first; k < len(out); k++ {
							pa *= pmf(q, out[k]-a[k])
							pb *= pmf(q, out[k]-b[k])
						}
						worst = max(worst, pa/pb, pb/pa)
					}
					each(first)
				}
			}
			if math.Abs(math.Log(worst)-alpha) > 1e-12 {
				t.Errorf("%v, %v: worst log-ratio %v, want %v", c.law, rel, math.Log(worst), alpha)
			}
		}
	}
}

// TestAdd_Integers: which entries get noise, and which law.
func TestAdd_Integers(t *testing.T) {
	r := rng.Seeded(22)
	tree := shapeTree{{nil, nil}, {{nil}}}.tree() // nodes 0 | 1 2 | 3 4 5 | 6
	w := must(New(tree, DiscreteLaplace, Scales{Level: []float64{2, 3, 4}}))
	noisy := make([]int, 7)
	for range 500 {
		counts := []int64{10, 7, 3, 5, 2, 3, 3}
		check(t, w.AddCounts(r, counts))
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
		check(t, w.AddCounts(r, counts))
		if counts[1] < math.MaxInt64/2 {
			t.Fatal("wrapped around")
		}
		counts[1] = math.MaxInt64
	}
}

func TestWalk_Errors(t *testing.T) {
	var value *ValueError
	var size *SizeError
	wide := must(Levels(3))
	one := Scales{Level: []float64{1}}
	if _, err := New(wide, DiscreteHaar, one); !errors.As(err, &value) {
		t.Errorf("DiscreteHaar: %v", err)
	}
	if _, err := New(wide, 17, one); !errors.As(err, &value) {
		t.Errorf("law 17: %v", err)
	}
	k := must(New(wide, KNorm, one))
	l := must(New(wide, Laplace, one))
	d := must(New(wide, DiscreteLaplace, one))
	h := must(New(must(Levels(2)), DiscreteHaar, one))
	if _, err := l.Potential(make([]float64, 3)); !errors.As(err, &value) {
		t.Errorf("Potential of Laplace: %v", err)
	}
	for i, err := range []error{k.AddCounts(nil, make([]int64, 4)), k.AddHaar(nil, make([]int64, 3)), h.AddCounts(nil, make([]int64, 3)), d.AddHaar(nil, make([]int64, 3))} {
		if !errors.As(err, &value) || value.Arg != "law" {
			t.Errorf("%d: %v", i, err)
		}
	}
	_, short := k.Potential(nil)
	_, shortCounts := l.PotentialCounts(make([]float64, 3))
	for i, err := range []error{short, shortCounts, k.Increments(nil, make([]float64, 2)), d.AddCounts(nil, nil), h.AddHaar(nil, nil)} {
		if !errors.As(err, &size) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := Superregular(0, nil); !errors.As(err, &value) {
		t.Errorf("no steps: %v", err)
	}
}

func TestWalk_Immutable(t *testing.T) {
	s := Scales{Level: []float64{1, 2}}
	w := must(New(must(Levels(2, 2)), KNorm, s))
	s.Level[0] = 9
	w.Scales().Level[1] = 9
	if got := w.Scales().Level; got[0] != 1 || got[1] != 2 || w.Noise(1).Scale() != 2 || w.Noise(0).Law() != KNorm {
		t.Errorf("scales %v", got)
	}
}

// TestSuperregular_Theorem: V is 1-Lipschitz in l1, attained where n is a power
// of two, by the exact formula; and the partial sums stay within a multiple of
// (log n)^(3/2).
func TestSuperregular_Theorem(t *testing.T) {
	r := rng.Seeded(23)
	for n := 1; n <= 70; n++ {
		w := must(Superregular(n, nil))
		x, y := make([]float64, n), make([]float64, n)
		worst := 0.0
		for trial := range 200 {
			for i := range x {
				x[i] = []float64{0, 1, 100}[trial%3] * r.NormFloat64()
			}
			copy(y, x)
			if trial%2 == 0 {
				y[r.IntN(n)] += r.NormFloat64()
			} else {
				for i := range y {
					y[i] += r.NormFloat64()
				}
			}
			dist := 0.0
			for i := range x {
				dist += math.Abs(x[i] - y[i])
			}
			worst = max(worst, math.Abs(must(w.Potential(x))-must(w.Potential(y)))/dist)
		}
		if worst > 1+1e-9 {
			t.Fatalf("n = %d: V rises by %v per unit of l1", n, worst)
		}
		if n&(n-1) == 0 && worst < 1-1e-9 {
			t.Errorf("n = %d: the steepest rise found is %v, want 1", n, worst)
		}
		if loss := must(w.Loss(AddRemove)); loss > 1 || n&(n-1) == 0 && loss < 1 {
			t.Errorf("n = %d: loss %v", n, loss)
		}
		if L := w.Tree().Height(); w.Scales().Total != float64(L+1) {
			t.Errorf("n = %d: scale %v", n, w.Scales().Total)
		}
	}
	paper := must(Superregular(64, &SuperregularOptions{PaperScale: true}))
	if loss := must(paper.Loss(AddRemove)); loss != quotientUp(7, 8) {
		t.Errorf("the paper's scale has the loss %v, want 7/8", loss)
	}
	for _, n := range []int{2, 5, 64, 1000, 1 << 12} {
		w := must(Superregular(n, nil))
		v := make([]float64, n)
		check(t, w.Variances(v))
		L := float64(w.Tree().Height())
		// Each level adds b^2 phi^2/2 or b^2 (1-phi)^2/2, phi in [0, 1], and the
		// total at most 2b^2.
		if top := slices.Max(v); top > (L+1)*(L+1)*(L/2+2) {
			t.Errorf("n = %d: variance %v at height %v", n, top, L)
		}
	}
}

// TestSuperregular_DensityOnTwo: for n = 2 the density of the increments is
// that of (T+D)/2, (T-D)/2: compare V with it.
func TestSuperregular_DensityOnTwo(t *testing.T) {
	w := must(Superregular(2, nil))
	r := rng.Seeded(24)
	for range 100 {
		z := []float64{r.NormFloat64(), r.NormFloat64()}
		want := (math.Abs(z[0]+z[1]) + math.Abs(z[0]-z[1])) / 2
		if got := must(w.Potential(z)); math.Abs(got-want) > 1e-14 {
			t.Errorf("V(%v) = %v, want %v", z, got, want)
		}
	}
}

func TestPartialSums(t *testing.T) {
	x := []float64{1, -2, 4}
	PartialSums(x)
	if !slices.Equal(x, []float64{1, -1, 3}) {
		t.Error(x)
	}
	PartialSums(nil)
}
