package measure

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

var _ mechanism.Mechanism[*Counts[int], *Release[int]] = (*Synthesizer[int])(nil)

// What a release spends on the way to each leaf is the stated level exactly, in whole quanta, and
// the parts of a region are apart, so that a cell is on one way; the rest is package adaptive's.
func TestSynthesizer_SpendsItsLevel(t *testing.T) {
	testkit.Rounding(t)
	for name, d := range samples.Tiny() {
		spendsLevel(t, name, d)
	}
	for name, d := range samples.Masked(false) {
		spendsLevel(t, name, d)
	}
}

func spendsLevel[P any](t *testing.T, name string, d *domain.Domain[P]) {
	const eps = 0.7
	for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
		for _, levels := range [][]int{nil, slices.Repeat([]int{1}, min(samples.Inside(d).Regions.Height(region.Node{}), 3))} {
			s := testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: rel, Levels: levels}))
			stated := s.Guarantee().Alpha()
			if stated > eps || stated < eps*(1-1e-6) {
				t.Errorf("%s: states %v, asked for %v", name, stated, eps)
			}
			r := random.Seeded(5)
			nodes := testkit.Must(s.Release(r, someCounts(t, d, r))).tree.Nodes
			quantum := new(big.Rat).Quo(new(big.Rat).SetFloat64(stated), big.NewRat(1<<30, 1))
			spent := make([]int64, len(nodes))
			for i, n := range nodes {
				spent[i] += n.Quanta
				lo, end := s.space.Regions.Cells(n.At)
				for j := n.First; j < n.First+n.Parts; j++ {
					spent[j] = spent[i]
					first, last := s.space.Regions.Cells(nodes[j].At)
					if first < lo || last > end {
						t.Fatalf("%s: %v is no part of %v, or two have a cell", name, nodes[j].At, n.At)
					}
					lo = last
				}
				if n.Parts == 0 && new(big.Rat).Mul(quantum, big.NewRat(spent[i], 1)).Cmp(new(big.Rat).SetFloat64(stated)) != 0 {
					t.Errorf("%s, %v, levels %v: %d quanta for leaf %v", name, rel, levels, spent[i], n.At)
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
	d := samples.Tiny()["pair"]
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

// The number of records is released with the noise of its share where it is private, and as it is
// where it is public; a tenth less noise would be seen. False-reject probability 1e-7.
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

// Cells without records get noise as all others: that there is mass in a cell says nothing. Each
// half is the heavier one about every other time; false-reject probability below 1e-20.
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
