package measure

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

var (
	_ mechanism.Mechanism[*Counts[int], *Release[int]] = (*Synthesizer[int])(nil)
	_ mechanism.Mechanism[[]float64, []float64]        = (*Measure)(nil)
)

// A measure's level is not above what was asked for, however the scales of its levels round.
func TestPlan_LevelIsNotAboveTheOneAskedFor(t *testing.T) {
	r, d := random.Seeded(61), samples.Unit(1, domain.BoxOptions{Depth: 7})
	for range 200 {
		scales := make([]float64, 7)
		for i := range scales {
			scales[i] = math.Exp(r.NormFloat64())
		}
		level := math.Exp(3 * r.NormFloat64())
		p := testkit.Must(newPlan("test", d, level, MeasureOptions{Distribution: Laplace, Scales: scales}))
		if p.loss > level || p.loss < level*(1-1e-12) {
			t.Fatalf("level %v: %v", level, p.loss)
		}
	}
}

// tinyTrees are trees with so few nodes that all outputs can be listed.
func tinyTrees() map[string]*domain.Domain[int] {
	tree := func(paths ...[]string) *domain.Domain[int] {
		return testkit.Must(domain.NewTaxonomy(context.Background(), testkit.Must(metric.TreeFromPaths(paths)), &domain.HierarchyOptions{Ratio: 1}))
	}
	return map[string]*domain.Domain[int]{
		"pair":   tree([]string{"r", "a"}, []string{"r", "b"}),
		"three":  tree([]string{"r", "a"}, []string{"r", "b"}, []string{"r", "c"}),
		"uneven": tree([]string{"r", "a"}, []string{"r", "b", "c"}, []string{"r", "b", "d"}),
		"binary": tree([]string{"r", "a", "x"}, []string{"r", "a", "y"}, []string{"r", "b", "u"}, []string{"r", "b", "v"}),
	}
}

// What a release spends on the way to each leaf is the stated level exactly, in
// whole quanta, and the counts that it is made of are of the data. That no more is
// read of them, and the level of what is read, package adaptive tests.
func TestSynthesizer_SpendsItsLevel(t *testing.T) {
	testkit.Rounding(t)
	const eps = 0.7
	for name, d := range tinyTrees() {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			for _, levels := range [][]int{nil, slices.Repeat([]int{1}, d.Height())} {
				s := testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: rel, Levels: levels}))
				stated := s.Guarantee().Alpha()
				if stated > eps || stated < eps*(1-1e-6) {
					t.Errorf("%s: states %v, asked for %v", name, stated, eps)
				}
				r := random.Seeded(1)
				nodes := testkit.Must(s.Release(r, randomCounts(d, 500, r))).tree.Nodes
				unit := big.NewRat(1, 1).Quo(new(big.Rat).SetFloat64(stated), big.NewRat(1<<30, 1)) // a quantum
				spent := make([]*big.Rat, len(nodes))
				spent[0] = new(big.Rat)
				for i, n := range nodes {
					spent[i].Add(spent[i], new(big.Rat).Mul(unit, big.NewRat(n.Quanta, 1)))
					for j := range n.Parts {
						spent[n.First+j] = new(big.Rat).Set(spent[i])
					}
					if n.Parts == 0 && spent[i].Cmp(new(big.Rat).SetFloat64(stated)) != 0 {
						t.Errorf("%s, %v: a leaf after %v, stated %v", name, rel, spent[i], stated)
					}
				}
			}
		}
	}
}

// The counts of a tree of two cells have exactly the noise of the level: 40,000
// times, false-reject probability 1e-7.
func TestSynthesizer_DrawsStatedLaw(t *testing.T) {
	testkit.Slow(t)
	const half, eps = 12, 1.5
	d := tinyTrees()["pair"]
	c := NewCounts(d)
	testkit.Check(t, c.AddN(0, 3))
	testkit.Check(t, c.AddN(1, 1))
	for rel, scale := range map[Relation]float64{ReplaceOne: 2 / eps, AddRemoveOne: 1 / (eps * 7 / 8)} {
		s := testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: rel}))
		r := random.Seeded(1)
		hist := make([]int, 2*half+1)
		for range 40000 {
			n := testkit.Must(s.Release(r, c)).tree.Nodes
			if got := int(n[1].Count - 3); max(got, -got) <= half {
				hist[got+half]++
			}
		}
		testkit.ChiSquare(t, hist, twoSided(scale, half), 1e-7)
	}
}

// twoSided is the distribution of K, P{k} prop. to e^(-|k|/scale), on -half, ...,
// half; what lies beyond is left out.
func twoSided(scale float64, half int) []float64 {
	p := make([]float64, 2*half+1)
	total := 0.0
	for i := range p {
		p[i] = math.Exp(-math.Abs(float64(i-half)) / scale)
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// The number of records is released with the noise of its share where it is
// private, and as it is where it is public; a tenth less noise would be seen.
// False-reject probability 1e-7.
func TestRelease_TotalHasItsNoise(t *testing.T) {
	const half = 40
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{3}, {2}}}))
	counts := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.4}, {0.9}}, nil))
	public := testkit.Must(NewSynthesizer(d, 1, nil))
	s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: AddRemoveOne}))
	r := random.Seeded(3)
	hist := make([]int, 2*half+1)
	for i := range 40_000 {
		if out := testkit.Must(s.Release(r, counts)); math.Abs(out.Total-3) <= half {
			hist[int(out.Total)-3+half]++
		}
		if i < 100 {
			if out := testkit.Must(public.Release(r, counts)); out.Total != 3 {
				t.Errorf("the public total is released as %v", out.Total)
			}
		}
	}
	testkit.ChiSquare(t, hist, twoSided(8, half), 1e-7)
}

// Cells without records get noise as all others: that there is mass in a cell says
// nothing. Each half is the heavier one about every other time; false-reject
// probability below 1e-20.
func TestRelease_EmptyCellsHaveNoise(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	s := testkit.Must(NewSynthesizer(d, 0.1, &SynthesizerOptions{Relation: AddRemoveOne}))
	r := random.Seeded(5)
	heavier := [2]int{}
	for range 200 {
		out := testkit.Must(s.Release(r, NewCounts(d)))
		var w [2]float64
		for i, v := range out.nodes {
			w[v.Index] += out.Weights[i]
		}
		for i := range w {
			if w[i] > w[1-i] {
				heavier[i]++
			}
		}
	}
	if heavier[0] < 20 || heavier[1] < 20 {
		t.Errorf("the halves of no records are the heavier one %v times of 200", heavier)
	}
}

// The level of a Measure, by the exact density of its noise: on a regular tree a
// shift of mass between two leaves is the worst, and the walk's potential knows
// its log ratio.
func TestMeasure_Level(t *testing.T) {
	testkit.Rounding(t)
	for name, d := range tinyTrees() {
		m := testkit.Must(NewMeasure(d, 5, nil))
		n := d.Len()
		r := random.Seeded(2)
		z := make([]float64, n)
		worst := 0.0
		for range 2000 {
			testkit.Check(t, m.p.walk.Increments(r, z))
			v := testkit.Must(m.p.walk.Potential(z))
			for i := range n {
				for j := range n {
					if i == j {
						continue
					}
					const tv = 0.01
					y := append([]float64(nil), z...)
					y[i] += tv
					y[j] -= tv
					worst = max(worst, math.Abs(testkit.Must(m.p.walk.Potential(y))-v)/tv)
				}
			}
		}
		alpha := m.Guarantee().Alpha()
		if alpha > 5 || worst > alpha*(1+1e-9) || worst < 0.99*alpha {
			t.Errorf("%s: level %v, stated %v", name, worst, alpha)
		}
	}
}

// What a Measure draws is what its level assumes: between two cells the
// difference has a Laplace distribution of the scale. False-reject probability
// as of testkit.Uniform.
func TestMeasure_DrawsStatedLaw(t *testing.T) {
	m := testkit.Must(NewMeasure(tinyTrees()["pair"], 5, &MeasureOptions{Estimator: Signed}))
	r := random.Seeded(6)
	u := make([]float64, 20_000)
	for i := range u {
		w := testkit.Must(m.Release(r, []float64{0.75, 0.25}))
		z := (w[0] - w[1] - 0.5) / m.p.scales.Level[0]
		if u[i] = math.Exp(-math.Abs(z)) / 2; z > 0 {
			u[i] = 1 - u[i]
		}
	}
	testkit.Uniform(t, "difference", u)
}

// Two measures that differ by 2^-40, promised to look alike up to 1e-11: the noise of neither is
// told by its last bits. In real arithmetic it was b times a float64, b the scale, and not every
// float64 is; less the other measure it is one in some 3 of 4 draws. A difference of 6 standard
// errors, 2e-9.
func TestMeasure_LowBitsTellNothing(t *testing.T) {
	m := testkit.Must(NewMeasure(tinyTrees()["pair"], 0.073, &MeasureOptions{Estimator: Signed}))
	b := m.p.scales.Level[0]
	possible := func(d float64) bool { // that d is b times a float64, rounded
		e := d / b
		return float64(b*e) == d || float64(b*math.Nextafter(e, 0)) == d || float64(b*math.Nextafter(e, 2*e)) == d
	}
	const draws = 20_000
	var share [2]float64
	for i, off := range []float64{0, 0x1p-40} {
		r := random.Seeded(7)
		for range draws {
			w := testkit.Must(m.Release(r, []float64{0.5 + off, 0.5 - off}))
			if possible(2 * (w[0] - 0.5)) {
				share[i] += 1.0 / draws
			}
		}
	}
	if gap := math.Abs(share[0] - share[1]); gap > 6*math.Sqrt(0.5/draws) {
		t.Errorf("%v of the releases of one measure are possible, and %v of those of the other", share[0], share[1])
	}
}

// Signed estimates of two cells are half of 1 and of a multiple of the public step, from
// weights of any size.
func TestMeasure_ReleasesTheGridAlone(t *testing.T) {
	r := random.Seeded(8)
	d := tinyTrees()["pair"]
	for _, alpha := range []float64{0.01, 5, 1e5, 1e12, 1e30} {
		m := testkit.Must(NewMeasure(d, alpha, &MeasureOptions{Estimator: Signed}))
		step := m.p.noise[0].Step()
		for range 2000 {
			x := r.Float64() * math.Ldexp(1, -r.IntN(80))
			w := testkit.Must(m.Release(r, []float64{x, r.Float64()}))
			if k := (2*min(w[0], w[1]) - 1) / step; k != math.Round(k) { // the other may be rounded
				t.Fatalf("alpha = %v: %v, of which the difference is %v steps", alpha, w, k)
			}
		}
	}
}

// The level for records is alpha/N to the last bit: counts are divided exactly. From 10 records
// of which one is replaced the release is that from counts in another unit, whose float64 shares
// differ by other roundings.
func TestMeasure_CountsAreDividedExactly(t *testing.T) {
	d := samples.Domains()["net"]
	for seed := range uint64(20) {
		r := random.Seeded(seed)
		m := testkit.Must(NewMeasure(d, 30, nil))
		var points []int
		for range 10 {
			points = append(points, d.Point(r.IntN(d.Len())))
		}
		counts := testkit.Must(d.Weights(points, nil))
		thrice := testkit.Must(d.Weights(slices.Concat(points, points, points), nil))
		sum := 0.0
		for c, n := range counts {
			if sum += n; thrice[c] != 3*n {
				t.Fatalf("cell %d: %v and %v", c, n, thrice[c])
			}
		}
		a, b := testkit.Must(m.Release(random.Seeded(seed), counts)), testkit.Must(m.Release(random.Seeded(seed), thrice))
		if sum != 10 || !slices.Equal(a, b) {
			t.Fatalf("%v of %v records, %v of thrice as many", a, sum, b)
		}
	}
}
