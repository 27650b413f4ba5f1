package measure

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

var (
	_ mechanism.Mechanism[*Counts[int], *Release[int]] = (*Synthesizer[int])(nil)
	_ mechanism.Mechanism[[]float64, []float64]        = (*Measure)(nil)
)

// tinyTrees are trees with so few nodes that all outputs can be listed.
func tinyTrees() map[string]*Domain[int] {
	tree := func(paths ...[]string) *Domain[int] {
		return testkit.Must(NewTaxonomy(context.Background(), testkit.Must(metric.TreeFromPaths(paths)), &HierarchyOptions{Ratio: 1}))
	}
	return map[string]*Domain[int]{
		"pair":   tree([]string{"r", "a"}, []string{"r", "b"}),
		"three":  tree([]string{"r", "a"}, []string{"r", "b"}, []string{"r", "c"}),
		"uneven": tree([]string{"r", "a"}, []string{"r", "b", "c"}, []string{"r", "b", "d"}),
		"binary": tree([]string{"r", "a", "x"}, []string{"r", "a", "y"}, []string{"r", "b", "u"}, []string{"r", "b", "v"}),
	}
}

// released returns the noise-free integers that noise is added to, and the
// scale of each; what is public has scale 0. This is the whole of what a
// release reads of the data.
func (p *plan) released(t testing.TB, x []int64) (value []int64, scale []float64) {
	tree := p.tree
	if p.opt.Distribution == walk.DiscreteHaar {
		c := append([]int64(nil), x...)
		testkit.Check(t, tree.HaarInt(c))
		value, scale = []int64{c[0]}, []float64{p.scales.Total}
		for v := range tree.Nodes() {
			if a, b := tree.Children(v); a < b {
				value, scale = append(value, c[tree.Split(v)]), append(scale, p.scales.Level[tree.Depth(v)])
			}
		}
		return value, scale
	}
	c := make([]int64, tree.Nodes())
	testkit.Check(t, tree.CountsInt(c, x))
	value, scale = c[:1], []float64{p.scales.Total}
	for v := range tree.Nodes() {
		if a, b := tree.Children(v); b-a > 1 {
			for i := a; i < b; i++ {
				value, scale = append(value, c[i]), append(scale, p.scales.Level[tree.Depth(v)])
			}
		}
	}
	return value, scale
}

// logProb is the exact probability of an output, as a logarithm: K has
// tanh(s/2) e^(-s|k|), s = 1/scale.
func logProb(y, value []int64, scale []float64) float64 {
	sum := 0.0
	for i, v := range value {
		if scale[i] == 0 {
			if y[i] != v {
				return math.Inf(-1)
			}
			continue
		}
		s := 1 / scale[i]
		sum += math.Log(math.Tanh(s/2)) - s*math.Abs(float64(y[i]-v))
	}
	return sum
}

// compositions lists the ways to put n records into k cells.
func compositions(n, k int) [][]int64 {
	if k == 1 {
		return [][]int64{{int64(n)}}
	}
	var all [][]int64
	for first := range n + 1 {
		for _, rest := range compositions(n-first, k-1) {
			all = append(all, append([]int64{int64(first)}, rest...))
		}
	}
	return all
}

// worstRatio enumerates all neighboring data sets of up to two records and all
// outputs with entries in [-1, 3], and returns the largest log ratio.
func worstRatio(t testing.TB, p *plan) float64 {
	type outcome struct {
		n        int
		x, value []int64
		scale    []float64
	}
	var all []outcome
	for n := range 3 {
		for _, x := range compositions(n, p.cells) {
			v, s := p.released(t, x)
			all = append(all, outcome{n, x, v, s})
		}
	}
	l1 := func(x, y []int64) (d int64) {
		for i := range x {
			d += max(x[i]-y[i], y[i]-x[i])
		}
		return d
	}
	worst := 0.0
	compare := func(a, b outcome) {
		y, outputs := append([]int64(nil), a.value...), 1
		for _, s := range a.scale {
			if s != 0 {
				outputs *= 5
			}
		}
		for digits := range outputs {
			for i, s := range a.scale {
				if s != 0 {
					y[i], digits = int64(digits%5)-1, digits/5
				}
			}
			if r := math.Abs(logProb(y, a.value, a.scale) - logProb(y, b.value, b.scale)); r > worst {
				worst = r
			}
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if apart := l1(a.x, b.x); p.opt.Relation == ReplaceOne && apart == 2 && a.n == b.n || p.opt.Relation == AddRemoveOne && apart == 1 {
				compare(b, a)
			}
		}
	}
	return worst
}

// The stated level is the exact level of the discrete mechanism, found by
// listing all outputs of all neighbors; with scales a tenth smaller it is
// exceeded.
func TestSynthesizer_ExactLevel(t *testing.T) {
	const eps = 0.7
	for name, d := range tinyTrees() {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			for _, o := range []SynthesizerOptions{{Relation: rel}, {Relation: rel, Distribution: DiscreteLaplace}, {Relation: rel, Distribution: DiscreteLaplace, Schedule: Equal}} {
				if d.Tree().Nodes() > 5 && o.Distribution == DiscreteLaplace && (rel == AddRemoveOne || testing.Short()) {
					continue // 5^7 outputs of hundreds of pairs
				}
				s := testkit.Must(NewSynthesizer(d, eps, &o))
				stated := s.Guarantee().Alpha()
				if stated > eps {
					t.Errorf("%s %+v: states %v, asked for %v", name, o, stated, eps)
				}
				worst := worstRatio(t, s.p)
				if worst > stated*(1+1e-12) || worst < stated*(1-1e-9) {
					t.Errorf("%s %+v: level %v, stated %v", name, o, worst, stated)
				}
				for l := range s.p.scales.Level {
					s.p.scales.Level[l] *= 0.9
				}
				s.p.scales.Total *= 0.9
				if again := worstRatio(t, s.p); again < 1.05*stated {
					t.Errorf("%s %+v: smaller scales have level %v only", name, o, again)
				}
			}
		}
	}
}

// What is drawn has the probabilities that the enumeration assumes: the noisy
// counts of a tree with two cells, 40,000 times, false-reject probability 1e-7.
func TestSynthesizer_DrawsStatedLaw(t *testing.T) {
	d := tinyTrees()["pair"]
	for _, o := range []SynthesizerOptions{{}, {Distribution: DiscreteLaplace}} {
		s := testkit.Must(NewSynthesizer(d, 1.5, &o))
		_, scale := s.p.released(t, []int64{3, 1})
		r := random.Seeded(1)
		const half = 12
		hist := make([]int, 2*half+1)
		for range 40000 {
			y := testkit.Must(s.noisyCounts(r, []int64{3, 1}))
			got := y[1] - 3
			if s.p.opt.Distribution == walk.DiscreteHaar {
				got = y[1] - y[2] - 2
			}
			if math.Abs(got) <= half {
				hist[int(got)+half]++
			}
		}
		testkit.ChiSquare(t, hist, twoSided(scale[1], false, half), 1e-7)
	}
}

// twoSided is the distribution of K, P{k} prop. to e^(-|k|/scale), or of the
// difference of two such numbers, on -half, ..., half; what lies beyond is left
// out.
func twoSided(scale float64, difference bool, half int) []float64 {
	k := func(v int) float64 { return math.Tanh(1/(2*scale)) * math.Exp(-math.Abs(float64(v))/scale) }
	p := make([]float64, 2*half+1)
	total := 0.0
	for i := range p {
		if v := i - half; difference {
			for w := -20 * half; w <= 20*half; w++ {
				p[i] += k(w) * k(w-v)
			}
		} else {
			p[i] = k(v)
		}
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// The number of records is released with the noise of its scale where it is
// private, and as it is where it is public, by every way to a release; a tenth
// less noise would be seen. False-reject probability 1e-7 each.
func TestRelease_TotalHasItsNoise(t *testing.T) {
	const half = 20
	for name, c := range map[string]struct {
		o     BoxOptions
		noise Distribution
	}{
		"integers": {BoxOptions{Splits: [][]int{{3}, {2}}}, DiscreteLaplace},
		"Haar":     {BoxOptions{Splits: [][]int{{2}, {2}}}, DiscreteHaar},
		"lazy":     {BoxOptions{Splits: [][]int{{3}, {2}}, Lazy: true}, DiscreteLaplace},
	} {
		d := testkit.Must(NewBox([]Column{{Hi: 1}}, &c.o))
		counts := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.4}, {0.9}}, nil))
		public := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Distribution: c.noise}))
		s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Distribution: c.noise, Relation: AddRemoveOne, Scales: []float64{1, 2}}))
		r := random.Seeded(3)
		hist := make([]int, 2*half+1)
		for i := range 40_000 {
			if out := testkit.Must(s.Release(r, counts)); math.Abs(out.Total-3) <= half {
				hist[int(out.Total)-3+half]++
			}
			if i < 100 {
				if out := testkit.Must(public.Release(r, counts)); out.Total != 3 {
					t.Errorf("%s: the public total is released as %v", name, out.Total)
				}
			}
		}
		t.Log(name)
		testkit.ChiSquare(t, hist, twoSided(s.p.scales.Total, false, half), 1e-7)
	}
}

// Where the counts are large enough not to be projected, the masses of two
// children in a lazy release differ by the difference of their noisy counts: of
// the distribution that the level's scale says. False-reject probability 1e-7
// each.
func TestLazy_DrawsStatedLaw(t *testing.T) {
	const half, n = 20, 4000
	d := testkit.Must(NewBox([]Column{{Hi: 1}}, &BoxOptions{Splits: [][]int{{2}, {2}}, Lazy: true}))
	s := testkit.Must(NewSynthesizer(d, 2, &SynthesizerOptions{Scales: []float64{1, 2}}))
	counts := testkit.Must(CountAll(t.Context(), d, lattice(1, n), nil))
	r := random.Seeded(4)
	hist := [2][]int{make([]int, 2*half+1), make([]int, 2*half+1)}
	for range 40_000 {
		out := testkit.Must(s.Release(r, counts))
		var w [4]float64
		for i, v := range out.nodes {
			if v.Level != 2 {
				t.Fatalf("a node of level %d with a quarter of the records", v.Level)
			}
			w[v.Index] = n * out.Weights[i]
		}
		for l, diff := range []float64{w[0] + w[1] - w[2] - w[3], w[0] - w[1]} {
			if k := math.Round(diff); math.Abs(k) <= half {
				hist[l][int(k)+half]++
			}
		}
	}
	for l, b := range s.p.scales.Level {
		t.Logf("level %d", l)
		testkit.ChiSquare(t, hist[l], twoSided(b, true, half), 1e-7)
	}
}

// Cells without records get noise as all others, and are unfolded for it: that
// there is mass in a cell says nothing. Each half is the heavier one about
// every other time; false-reject probability below 1e-20.
func TestLazy_EmptyCellsHaveNoise(t *testing.T) {
	d := testkit.Must(NewBox([]Column{{Hi: 1}}, &BoxOptions{Splits: [][]int{{2}}, Lazy: true}))
	s := testkit.Must(NewSynthesizer(d, 0.1, &SynthesizerOptions{Relation: AddRemoveOne}))
	r := random.Seeded(5)
	heavier := [2]int{}
	for range 200 {
		out := testkit.Must(s.Release(r, d.NewCounts()))
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

func TestGuarantee_Values(t *testing.T) {
	d := unitBox(2, BoxOptions{Signal: 1e4})
	for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
		for _, sch := range []Schedule{DomainSchedule, Equal, ByCost} {
			for _, eps := range []float64{1e-6, 0.1, 1, math.Pi, 700} {
				g := testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: rel, Schedule: sch})).Guarantee()
				if g.Alpha() > eps || g.Alpha() < eps*(1-1e-11) || g.Delta() != 0 {
					t.Errorf("%v %v eps = %v: %v", rel, sch, eps, g)
				}
			}
		}
	}
}
