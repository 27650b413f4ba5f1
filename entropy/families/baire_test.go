package families

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

func power(base float64) func(int) float64 {
	return func(k int) float64 { return math.Pow(base, -float64(k)) }
}

func harmonic(k int) float64 { return 1 / float64(k) }

// The closed forms at some levels, to nine digits, by another program.
func TestBaire_KnownAnswers(t *testing.T) {
	half := Baire{Privacy: power(2), Utility: power(2)}
	for _, c := range []struct {
		b     Baire
		alpha float64
		depth []int
		s, so float64
	}{
		{half, 1, []int{0, 6, 8, 10}, .5, .303265330},
		{half, 4, []int{0, 6, 8, 10}, .125, .0919698603},
		{half, 10, []int{0, 6, 8, 10}, .0625, .0358130996},
		{half, 50, []int{6}, 0, .00715364628},
		{half, 50, []int{0, 8, 10}, .0078125, .00715364628},
		{half, 200, []int{6}, 0, .000686514588},
		{half, 200, []int{8}, 0, .00178841157},
		{half, 200, []int{0, 10}, .001953125, .00178841157},
		{Baire{Privacy: power(2), Utility: power(3)}, 4, []int{0, 10}, 1. / 27, .0451117611},
		{Baire{Privacy: harmonic, Utility: power(2)}, 4, []int{0, 10}, .0625, .0338338208},
	} {
		for _, depth := range c.depth {
			c.b.Depth = depth
			s, err := c.b.EntropicScale(c.alpha)
			if err != nil || !s.Exact() || math.Abs(s.Lo-c.s) > 1e-12*c.s {
				t.Errorf("alpha %v, depth %d: s = %v (%v), want %v", c.alpha, depth, s, err, c.s)
			}
			so, err := c.b.DiametricScale(c.alpha)
			if err != nil || so.Width() > 1e-14*so.Hi || math.Abs(so.Lo-c.so) > 1e-8*c.so {
				t.Errorf("alpha %v, depth %d: s_o = %v (%v), want %v", c.alpha, depth, so, err, c.so)
			}
		}
	}
}

// The closed forms against the definitions on the finite space, for arities 2
// to 4, plateaus and zeros included.
func TestBaire_ClosedFormIsTheDefinition(t *testing.T) {
	step := func(k int) float64 { return math.Pow(2, -float64((k+1)/2)) }
	ends := func(k int) float64 { return float64(max(0, 4-k)) }
	for _, c := range []struct{ f, g func(int) float64 }{
		{power(2), power(2)}, {power(2), power(3)}, {harmonic, power(2)}, {step, power(2)}, {power(2), step}, {step, step}, {ends, power(2)}, {power(3), ends},
	} {
		for _, size := range [][2]int{{2, 1}, {2, 5}, {3, 3}, {4, 2}} {
			for _, alpha := range []float64{0.1, 1, 3, 4, 10, 50, 1e3} {
				b := Baire{Arity: size[0], Depth: size[1], Privacy: c.f, Utility: c.g}
				space := testkit.Must(b.Space())
				wantS, wantD := scalesByDefinition(space, alpha)
				s, err := b.EntropicScale(alpha)
				if err != nil || !s.Contains(wantS) || !s.Exact() {
					t.Errorf("%v, alpha %v: s = %v (%v), want %v", size, alpha, s, err, wantS)
				}
				d, err := b.DiametricScale(alpha)
				if err != nil || math.Abs(d.Lo-wantD) > 1e-12*wantD { // exp(-1000 r) in float64
					t.Errorf("%v, alpha %v: s_o = %v (%v), want %v", size, alpha, d, err, wantD)
				}
			}
		}
	}
}

// scalesByDefinition needs no more of x than one point: the space is the same
// from everywhere. rho2 is an ultrametric, so that greedy nets are packings.
func scalesByDefinition(b metric.Bimetric, alpha float64) (entropic, diametric float64) {
	r1 := finite.Row(b.Privacy, 0, nil)
	for _, r := range r1 {
		var ball []int
		for y, d := range r1 {
			if d <= r {
				ball = append(ball, y)
			}
		}
		f, _ := metric.Subset(b.Utility, ball)
		diameter, _, _, _ := metric.Diameter(context.Background(), f)
		diametric = max(diametric, diameter*math.Exp(-alpha*r))
		// The least of 0 and the distances at which the ball packs few points.
		least := diameter
		for _, s := range append(finite.Row(b.Utility, 0, nil), 0) {
			if net, _ := metric.Net(context.Background(), f, s, nil); s < least && float64(len(net)) <= math.Exp(alpha*r) {
				least = s
			}
		}
		entropic = max(entropic, least)
	}
	return entropic, diametric
}

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

// The distances against W1 of every pair, the axioms, and TV against its definition.
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
