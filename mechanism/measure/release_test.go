package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func randomCounts(d *Domain[int], n int, r *rand.Rand) *Counts[int] {
	c := d.NewCounts()
	for range n {
		c.add(int(float64(d.Len())*r.Float64()*r.Float64()), 1)
	}
	return c
}

// All estimates but Signed are probability measures of multiples of 2^-52 that
// sum to 1 exactly, in any order, on every kind of tree.
func TestRelease_MassExactlyOne(t *testing.T) {
	r := random.Seeded(1)
	odd := false // multiples of 2^-52, and not of 2^-51
	for name, d := range testDomains() {
		for _, est := range []Estimator{Weighted, Clipped, Nearest} {
			for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
				s := testkit.Must(NewSynthesizer(d, 0.3, &SynthesizerOptions{Estimator: est, Relation: rel}))
				for _, n := range []int{1, 40, 3000} {
					out := testkit.Must(s.Release(r, randomCounts(d, n, r)))
					up, down := 0.0, 0.0
					for i, w := range out.Weights {
						if w < 0 || w*(1<<52) != math.Trunc(w*(1<<52)) {
							t.Fatalf("%s: weight %v", name, w)
						}
						odd = odd || w*(1<<51) != math.Trunc(w*(1<<51))
						up += w
						down += out.Weights[len(out.Weights)-1-i]
					}
					if up != 1 || down != 1 {
						t.Errorf("%s %v %v N=%d: mass 1%+g, 1%+g", name, est, rel, n, up-1, down-1)
					}
				}
			}
		}
	}
	if !odd {
		t.Error("all weights are multiples of 2^-51")
	}
}

// Above nearestExact cells the nearest measure is that of the tree metric.
func TestNearest_ManyCells(t *testing.T) {
	d := unitBox(2, BoxOptions{Depth: 6})
	s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Estimator: Nearest}))
	out := testkit.Must(s.Release(random.Seeded(1), testkit.Must(CountAll(t.Context(), d, mixture(random.Seeded(2), 20000), nil))))
	sum, near := 0.0, 0.0
	for c, w := range out.Weights {
		sum += w
		if x := d.Point(c); math.Hypot(x[0]-.4, x[1]-.8) < 0.1 {
			near += w
		}
	}
	if sum != 1 || math.Abs(near-1.0/3) > 0.05 {
		t.Errorf("mass %v, of it %v around a cluster of a third", sum, near)
	}
}

// Multiplicities sum to m, and every node of the tree has its share to within 1.
func TestMultiplicities_WithinOne(t *testing.T) {
	r := random.Seeded(2)
	for name, d := range testDomains() {
		out := testkit.Must(testkit.Must(NewSynthesizer(d, 1, nil)).Release(r, randomCounts(d, 500, r)))
		for _, m := range []int{1, 7, 500, 1 << 20} {
			n := testkit.Must(out.Multiplicities(m))
			sum := int64(0)
			for i, k := range n {
				sum += k
				if k < 0 || k > 0 && out.Weights[i] == 0 {
					t.Fatalf("%s: %d records for weight %v", name, k, out.Weights[i])
				}
			}
			if sum != int64(m) {
				t.Errorf("%s: %d records, asked for %d", name, sum, m)
			}
			for v := range d.Tree().Nodes() {
				lo, hi := d.Tree().LeafRange(v)
				share, got := 0.0, 0.0
				for c := lo; c < hi; c++ {
					share += out.Weights[c] * float64(m)
					got += float64(n[c])
				}
				if math.Abs(share-got) > 1+1e-9 {
					t.Errorf("%s: node %d has %v of %v", name, v, got, share)
				}
			}
		}
		if recs := testkit.Must(out.Records(nil, 0, nil)); len(recs) != 500 {
			t.Errorf("%s: %d records by default", name, len(recs))
		}
	}
}

// Moving measures to cells contracts total variation (BSV22, Lemma 5.3).
func TestWeights_ContractTV(t *testing.T) {
	r := random.Seeded(3)
	f := randomPoints(30, 2, 7)
	for _, delta := range []float64{0, 0.2, 0.5} {
		d := testkit.Must(NewFinite(t.Context(), f, &FiniteOptions{Separation: delta}))
		all := random.Seeded(1).Perm(f.Len())
		for range 50 {
			a, b := testkit.Distribution(r, f.Len(), nil), testkit.Distribution(r, f.Len(), nil)
			before := (metric.TotalVariation{}).Distance(a, b)
			after := (metric.TotalVariation{}).Distance(testkit.Must(d.Weights(all, a)), testkit.Must(d.Weights(all, b)))
			if after > before*(1+1e-12) {
				t.Fatalf("delta %v: TV %v became %v", delta, before, after)
			}
		}
	}
}

// The Nearest estimate is no farther from the Signed one, made of the same
// noise, than other measures are: random ones, and the default estimate.
func TestNearest_Optimal(t *testing.T) {
	f := testkit.Must(metric.Densify(t.Context(), randomPoints(40, 2, 8)))
	for _, d := range []*Domain[int]{testkit.Must(NewFinite(t.Context(), f, nil)), testkit.Must(NewFolded(t.Context(), f, &FoldedOptions{Tour: true}))} {
		dist := metric.Finite(testkit.Must(d.Points()))
		if d.line != nil {
			dist = linePoints(d.line)
		}
		r := random.Seeded(4)
		c := randomCounts(d, 100, r)
		release := func(e Estimator) []float64 {
			s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Estimator: e}))
			return testkit.Must(s.Release(random.Seeded(5), c)).Weights
		}
		g := release(Signed)
		best := signedW1(t, dist, g, release(Nearest))
		if other := signedW1(t, dist, g, release(Weighted)); other < best-1e-9 {
			t.Errorf("%v: the default is at %v, nearest at %v", d, other, best)
		}
		for range 100 {
			if other := signedW1(t, dist, g, testkit.Distribution(r, len(g), nil)); other < best-1e-9 {
				t.Errorf("%v: some measure is at %v, nearest at %v", d, other, best)
			}
		}
	}
}

// With next to no noise every estimate returns the data.
func TestRelease_Consistent(t *testing.T) {
	for name, d := range testDomains() {
		for _, est := range []Estimator{Weighted, Clipped, Nearest, Signed} {
			r := random.Seeded(6)
			c := randomCounts(d, 1000, r)
			s := testkit.Must(NewSynthesizer(d, 1e6, &SynthesizerOptions{Estimator: est}))
			out := testkit.Must(s.Release(r, c))
			dense := c.dense()
			for cell, w := range out.Weights {
				if math.Abs(w-float64(dense[cell])/1000) > 1e-12 {
					t.Fatalf("%s, estimate %v: cell %d has %v of %d records", name, est, cell, w, dense[cell])
				}
			}
			mu := make([]float64, d.Len())
			mu[d.Len()/2] = 1
			p := testkit.Must(testkit.Must(NewMeasure(d, 1e12, &MeasureOptions{Estimator: est})).Release(r, mu))
			for cell, w := range p {
				if math.Abs(w-mu[cell]) > 1e-9 {
					t.Fatalf("%s, estimate %v: measure %v at %d", name, est, w, cell)
				}
			}
		}
	}
}

// average is the best linear estimate of a node from its own count and those
// below: by hand for a root with two children that have three and two leaves.
func TestAverage_InverseVariance(t *testing.T) {
	d := testkit.Must(NewTaxonomy(t.Context(), testkit.Must(metric.TreeFromPaths([][]string{
		{"r", "a", "1"}, {"r", "a", "2"}, {"r", "a", "3"}, {"r", "b", "1"}, {"r", "b", "2"}})), &HierarchyOptions{Ratio: 1}))
	s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Distribution: DiscreteLaplace, Relation: AddRemoveOne, Scales: []float64{2, 1}}))
	v0, v1 := s.p.noise[0].Variance(2), s.p.noise[1].Variance(2)
	y := []float64{100, 50, 40, 10, 20, 30, 15, 20}
	s.p.average(y)
	a := (50/v0 + 60/(3*v1)) / (1/v0 + 1/(3*v1))
	b := (40/v0 + 35/(2*v1)) / (1/v0 + 1/(2*v1))
	va, vb := 1/(1/v0+1/(3*v1)), 1/(1/v0+1/(2*v1))
	vr := 2 * s.p.scales.Total * s.p.scales.Total
	root := (100/vr + (a+b)/(va+vb)) / (1/vr + 1/(va+vb))
	for i, want := range []float64{root, a, b} {
		if math.Abs(y[i]-want) > 1e-9 {
			t.Errorf("node %d: %v, want %v", i, y[i], want)
		}
	}
}

func TestLazy_AgreesAndScales(t *testing.T) {
	full := unitBox(2, BoxOptions{Signal: 4000})
	lazy := unitBox(2, BoxOptions{Signal: 4000, Lazy: true})
	x := mixture(random.Seeded(1), 4000)
	counts := testkit.Must(CountAll(t.Context(), full, x, nil)) // serve both
	var off [2]float64
	for k, d := range []*Domain[[]float64]{full, lazy} {
		s := testkit.Must(NewSynthesizer(d, 1, nil))
		for seed := range uint64(3) {
			off[k] += w1(t, x[:500], testkit.Must(s.Release(random.Seeded(seed), counts)))
		}
	}
	if off[1] > 1.5*off[0] {
		t.Errorf("lazy error %v, full %v", off[1]/3, off[0]/3)
	}
	fromLazy := testkit.Must(CountAll(t.Context(), lazy, x, nil))
	testkit.Must(testkit.Must(NewSynthesizer(full, 1, nil)).Release(nil, fromLazy))
	depth := 8.
	if math.MaxInt == math.MaxInt32 {
		depth = 5 // 2^30 cells
	}
	six := unitBox(6, BoxOptions{Depth: depth, Lazy: true})
	r := random.Seeded(2)
	y := uniformRecords(6)(r, 10000)
	for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
		s := testkit.Must(NewSynthesizer(six, 1, &SynthesizerOptions{Relation: rel}))
		out := testkit.Must(s.Release(r, testkit.Must(CountAll(t.Context(), six, y, nil))))
		sum := 0.0
		for _, w := range out.Weights {
			sum += w
		}
		if sum != 1 {
			t.Errorf("mass %v", sum)
		}
		for _, p := range testkit.Must(out.Records(r, 100, &RecordOptions{Jitter: true})) {
			testkit.Must(six.Cell(p))
		}
		if limit := testkit.Must(out.Confidence(1, 0.9)); limit != six.Diameter() {
			t.Errorf("a lazy release claims %v, its diameter is %v", limit, six.Diameter())
		}
	}
	few := testkit.Must(NewSynthesizer(six, 1, &SynthesizerOptions{MaxCells: 100}))
	if out := testkit.Must(few.Release(r, testkit.Must(CountAll(t.Context(), six, y, nil)))); len(out.Weights) > 200 {
		t.Errorf("%d regions", len(out.Weights))
	}
}

// Levels where nothing divides change no average: an only child has the count
// and the variance of the node further up where they were drawn.
func TestAverage_OnlyChildren(t *testing.T) {
	r := random.Seeded(17)
	plain := unitBox(1, BoxOptions{Splits: [][]int{{4}, {3}}})
	for _, splits := range [][][]int{{{1}, {4}, {3}}, {{4}, {1}, {1}, {3}}, {{1}, {1}, {4}, {3}, {1}}} {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			o := &SynthesizerOptions{Relation: rel, Distribution: DiscreteLaplace, Schedule: Equal}
			p := testkit.Must(NewSynthesizer(plain, 1, o)).p
			q := testkit.Must(NewSynthesizer(unitBox(1, BoxOptions{Splits: splits}), 1, o)).p
			y, z := make([]float64, p.tree.Nodes()), make([]float64, q.tree.Nodes())
			for v := range y {
				y[v] = float64(r.IntN(100))
			}
			// Nodes of the same leaves are the same; the first was drawn.
			same := func(v int) int {
				first, end := q.tree.LeafRange(v)
				for u := range y {
					if a, b := p.tree.LeafRange(u); a == first && b == end {
						return u
					}
				}
				return -1
			}
			for v := range z {
				z[v] = y[same(v)]
			}
			p.average(y)
			q.average(z)
			for v, got := range z {
				if want := y[same(v)]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("%v, %v, node %d: %v, want %v", splits, rel, v, got, want)
				}
			}
		}
	}
}
