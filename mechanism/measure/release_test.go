package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

func randomCounts(d *domain.Domain[int], n int, r *rand.Rand) *Counts[int] {
	c := NewCounts(d)
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
	check := func(name string, weights []float64) {
		t.Helper()
		up, down := 0.0, 0.0
		for i, w := range weights {
			if w < 0 || w*(1<<52) != math.Trunc(w*(1<<52)) {
				t.Fatalf("%s: weight %v", name, w)
			}
			odd = odd || w*(1<<51) != math.Trunc(w*(1<<51))
			up += w
			down += weights[len(weights)-1-i]
		}
		if up != 1 || down != 1 {
			t.Errorf("%s: mass 1%+g, 1%+g", name, up-1, down-1)
		}
	}
	for name, d := range samples.Domains() {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			s := testkit.Must(NewSynthesizer(d, 0.3, &SynthesizerOptions{Relation: rel}))
			for _, n := range []int{1, 40, 3000} {
				check(name, testkit.Must(s.Release(r, randomCounts(d, n, r))).Weights)
			}
		}
		for _, est := range []Estimator{Weighted, Nearest} {
			m := testkit.Must(NewMeasure(d, 30, &MeasureOptions{Estimator: est}))
			check(name, testkit.Must(m.Release(r, testkit.Distribution(r, d.Len(), nil))))
		}
	}
	if !odd {
		t.Error("all weights are multiples of 2^-51")
	}
}

// Above nearestExact cells the nearest measure is that of the tree metric.
func TestNearest_ManyCells(t *testing.T) {
	d := samples.Unit(2, domain.BoxOptions{Depth: 6})
	m := testkit.Must(NewMeasure(d, 20000, &MeasureOptions{Estimator: Nearest}))
	weights := testkit.Must(m.Release(random.Seeded(1), testkit.Must(d.Weights(mixture(random.Seeded(2), 20000), nil))))
	sum, near := 0.0, 0.0
	for c, w := range weights {
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
	for name, d := range samples.Domains() {
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
			for lo := range n {
				share, got := 0.0, 0.0
				for i := lo; i < len(n); i++ {
					share += out.Weights[i] * float64(m)
					if got += float64(n[i]); math.Abs(share-got) > 1+1e-9 {
						t.Errorf("%s: weights %d to %d have %v of %v", name, lo, i, got, share)
					}
				}
			}
		}
		if recs := testkit.Must(out.Records(nil, 0, nil)); len(recs) != 500 {
			t.Errorf("%s: %d records by default", name, len(recs))
		}
	}
}

// The Nearest estimate is no farther from the Signed one, made of the same
// noise, than other measures are: random ones, and the default estimate.
func TestNearest_Optimal(t *testing.T) {
	f := testkit.Must(metric.Densify(t.Context(), samples.Points(40, 2, 8)))
	for _, d := range []*domain.Domain[int]{testkit.Must(domain.NewFinite(t.Context(), f, nil)), testkit.Must(domain.NewFolded(t.Context(), f, &domain.FoldedOptions{Tour: true}))} {
		dist := metric.Finite(testkit.Must(d.Points()))
		if line := testkit.Must(samples.Inside(d).Explicit("")).Line; line != nil {
			dist = samples.Line(line...)
		}
		r := random.Seeded(4)
		mu := testkit.Distribution(r, d.Len(), nil)
		release := func(e Estimator) []float64 {
			m := testkit.Must(NewMeasure(d, 100, &MeasureOptions{Estimator: e}))
			return testkit.Must(m.Release(random.Seeded(5), mu))
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
	for name, d := range samples.Domains() {
		r := random.Seeded(6)
		c := randomCounts(d, 1000, r)
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			out := testkit.Must(testkit.Must(NewSynthesizer(d, 1e6, &SynthesizerOptions{Relation: rel})).Release(r, c))
			for i, w := range out.Weights {
				lo, hi := samples.Inside(d).Regions.Cells(out.nodes[i])
				n := int64(0)
				for _, k := range c.dense()[lo:hi] {
					n += k
				}
				if hi != lo+1 || math.Abs(w-float64(n)/1000) > 1e-12 {
					t.Fatalf("%s: cells %d to %d have %v of %d records", name, lo, hi, w, n)
				}
			}
		}
		for _, est := range []Estimator{Weighted, Nearest, Signed} {
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

// A release of 2^48 cells has as many regions as it may.
func TestRelease_MaxCells(t *testing.T) {
	six := samples.Unit(6, domain.BoxOptions{})
	r := random.Seeded(2)
	s := testkit.Must(NewSynthesizer(six, 1, &SynthesizerOptions{MaxCells: 100}))
	if out := releaseOf(t, s, r, samples.Uniform(6)(r, 10000)); len(out.tree.Nodes) > 100 {
		t.Errorf("%d regions", len(out.tree.Nodes))
	}
}
