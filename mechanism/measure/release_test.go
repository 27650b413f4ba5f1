package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

func randomCounts(d *domain.Domain[int], n int, r *rand.Rand) *Counts[int] {
	c := NewCounts(d)
	for range n {
		c.add(int(float64(d.Len())*r.Float64()*r.Float64()), 1)
	}
	return c
}

// The weights of a release are multiples of 2^-52 that sum to 1 exactly, in any order, on every
// kind of tree.
func TestRelease_MassExactlyOne(t *testing.T) {
	r := random.Seeded(1)
	odd := false
	for name, d := range samples.Domains() {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			s := testkit.Must(NewSynthesizer(d, 0.3, &SynthesizerOptions{Relation: rel}))
			for _, n := range []int{1, 40, 3000} {
				finest, err := samples.Mass(testkit.Must(s.Release(r, randomCounts(d, n, r))).Weights)
				if odd = odd || finest; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if !odd {
		t.Error("all weights are multiples of 2^-51")
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

// With next to no noise a release is the data.
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
	}
}
