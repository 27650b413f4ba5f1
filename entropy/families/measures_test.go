package families

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// |net| = C(n+m-1, m), every measure once, in lexicographic order.
func TestMeasureNet_ListsEveryMeasureOnce(t *testing.T) {
	for _, c := range []struct{ n, m, want int }{{1, 1, 1}, {1, 9, 1}, {2, 5, 6}, {3, 4, 15}, {4, 6, 84}, {5, 3, 35}, {9, 1, 9}} {
		s := testkit.Must(MeasureNet(t.Context(), space.Uniform(c.n, random.Seeded(1)), c.m))
		if s.Len() != c.want {
			t.Errorf("n %d, m %d: %d measures, want %d", c.n, c.m, s.Len(), c.want)
		}
		var last []float64
		for i := range s.Len() {
			p := s.Measure(i, nil)
			sum := 0.0
			for _, v := range p {
				if k := v * float64(c.m); math.Abs(k-math.Round(k)) > 1e-12 {
					t.Errorf("weight %v is no multiple of 1/%d", v, c.m)
				}
				sum += v
			}
			if math.Abs(sum-1) > 1e-12 || i > 0 && slices.Compare(last, p) >= 0 {
				t.Errorf("measure %d is %v after %v", i, p, last)
			}
			last = p
		}
	}
}

// Random measures, dense, sparse and adversarial, are never farther than the
// covering radius; and both terms of the radius are needed.
func TestMeasures_CoveringRadius(t *testing.T) {
	r := random.Seeded(2)
	byTree, byMass, closest := 0, 0, 0.0
	for range 150 {
		n, m := 1+r.IntN(5), 1+r.IntN(4)
		f := space.Uniform(n, random.Seeded(r.Uint64()))
		if r.IntN(3) == 0 { // all points at distance 1
			f = space.Simplex(n, 1)
		}
		s := testkit.Must(MeasureNet(t.Context(), f, m))
		radius := s.CoveringRadius()
		if diameter, _, _, _ := metric.Diameter(t.Context(), f); n > 2 {
			if radius < diameter*float64(n*n/4)/float64(n*m)*(1-1e-12) {
				byTree++
			} else {
				byMass++
			}
		}
		for range 6 {
			p := make([]float64, n)
			sum := 0.0
			for i := range p {
				switch r.IntN(4) {
				case 0:
					p[i] = 0
				case 1:
					p[i] = (float64(r.IntN(m)) + 0.5) / float64(m)
				default:
					p[i] = -math.Log(1 - r.Float64())
				}
				sum += p[i]
			}
			if sum == 0 {
				p[0], sum = 1, 1
			}
			for i := range p {
				p[i] /= sum
			}
			near := math.Inf(1)
			for i := range s.Len() {
				d := testkit.Must(wasserstein.W1(t.Context(), f, p, s.Measure(i, nil), nil))
				near = min(near, d.Upper)
			}
			if near > radius+1e-12 {
				t.Errorf("n %d, m %d: %v is %v from the net, radius %v", n, m, p, near, radius)
			}
			closest = max(closest, near/radius)
		}
	}
	if closest < .9 {
		t.Errorf("no measure is farther than %v of the radius", closest)
	}
	if byTree == 0 || byMass == 0 {
		t.Errorf("the radius came from the tree %d times and from the mass %d times", byTree, byMass)
	}
}

// The distances against W1 of every pair, the axioms, and TV against its
// definition.
func TestMeasures_Distances(t *testing.T) {
	f := space.Uniform(4, random.Seeded(3))
	s := testkit.Must(MeasureNet(t.Context(), f, 4))
	d := testkit.Must(s.Wasserstein(t.Context(), nil))
	tv := testkit.Must(s.TotalVariation(t.Context()))
	diameter, _, _, _ := metric.Diameter(t.Context(), f)
	for i := range s.Len() {
		for j := range s.Len() {
			p, q := s.Measure(i, nil), s.Measure(j, nil)
			want := testkit.Must(wasserstein.W1(t.Context(), f, p, q, nil))
			if math.Abs(d.Distance(i, j)-want.Upper) > 1e-14 {
				t.Fatalf("W1(%d, %d) = %v, want %v", i, j, d.Distance(i, j), want.Upper)
			}
			mass := 0.0
			for k := range p {
				mass += math.Abs(p[k]-q[k]) / 2
			}
			if math.Abs(tv.Distance(i, j)-mass) > 1e-15 || want.Upper > diameter*mass+1e-15 {
				t.Fatalf("TV(%d, %d) = %v, want %v; W1 = %v", i, j, tv.Distance(i, j), mass, want.Upper)
			}
		}
	}
	if err := metric.Validate(t.Context(), d, nil); err != nil {
		t.Error(err)
	}
	other := testkit.Must(s.Wasserstein(t.Context(), &scale.Options{Workers: 1}))
	for i := range s.Len() {
		if d.Distance(i, 7) != other.Distance(i, 7) {
			t.Fatal("the result depends on the number of workers")
		}
	}
}
