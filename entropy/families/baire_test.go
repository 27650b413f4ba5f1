package families

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
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
