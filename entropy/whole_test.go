package entropy_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// Theorem 1.5 on connected spaces: s(Z, alpha/3) >= min(diameter, 3 ln(2)/alpha), where Lemma 2.7
// has 3/(2 alpha), and StandardBound over s falls with s. So A is at most 13.1 (16.55 by the lemma)
// times s(Z, alpha/3), on norm-convex spaces 8.5 times, and 25.4 times s(Z, alpha).
func TestStandardBound_OfConnectedSpaces(t *testing.T) {
	last := math.Inf(1)
	for _, c := range [][2]float64{{1.5, 16.55}, {3 * math.Ln2, 13.1}, {6 * math.Ln2, 8.5}, {1e9, 3.001}} {
		v := testkit.Must(entropy.StandardBound(1, c[0])) / c[0]
		if v > c[1] || v < c[1]*.99 || v > last {
			t.Errorf("alpha s = %v: %v s after %v s, want %v s", c[0], v, last, c[1])
		}
		last = v
	}
}

// What is said of the whole from a part of it holds for 24 points, of which the part is a net.
func TestWhole_OfFiniteSpaces(t *testing.T) {
	for seed := range testkit.Sweep(3, 60) {
		r := random.Seeded(uint64(seed))
		var f metric.Finite = space.Uniform(24, r)
		if seed%3 == 2 {
			f = space.Path(24, 1)
		}
		diameter, _, _, _ := metric.Diameter(t.Context(), f)
		order, radii, err := metric.FarthestFirst(t.Context(), f, 12, 0)
		testkit.Check(t, err)
		m := 4 + r.IntN(8)
		z := entropy.Whole{Sample: testkit.Must(metric.Subset(f, order[:m])), Gap: radii[m]}
		for _, times := range []float64{1, 5, 40} {
			alphas := []float64{times / diameter, 2 * times / diameter}
			s := testkit.Must(z.EntropicScale(t.Context(), alphas, nil))
			exact := testkit.Must(scale.Entropic(t.Context(), metric.Same(f), alphas, nil))
			for k := range s {
				if s[k].Lo > exact[k].Hi || s[k].Hi < exact[k].Lo {
					t.Errorf("seed %d, alpha %v: %v, the scale is %v", seed, alphas[k], s[k], exact[k].Interval)
				}
			}
			a := testkit.Must(z.Accuracy(t.Context(), alphas[:1], nil))[0]
			best := testkit.Must(lp.Optimal(t.Context(), metric.Same(f), alphas[0], nil))
			for _, v := range a.Bounds {
				if v.Kind == entropy.Lower && v.Value > best.Objective || v.Kind == entropy.Upper && v.Value < best.DualBound {
					t.Errorf("seed %d, alpha %v: %v, the optimum is in [%v, %v]", seed, alphas[0], v, best.DualBound, best.Objective)
				}
			}
		}
	}
}

// Spaces whose scale is known: the cube [0,1]^d under the largest coordinate has ceil(2r/s)^d
// points more than s apart in a ball, and s = min(1, 2d ln(2)/alpha); a circle of length 1,
// connected and not norm-convex, has s = min(1/2, 2 ln(2)/alpha) at most. The accuracy of
// [0,1] is at least 1/(alpha+2) and at most that of Laplace noise, 1/alpha.
func TestWhole_OfKnownSpaces(t *testing.T) {
	const n = 6
	line := testkit.Must(metric.Scaled(space.Path(n+1, 1), 1./n))
	square := space.Func((n+1)*(n+1), func(i, j int) float64 {
		return math.Max(math.Abs(float64(i/(n+1)-j/(n+1))), math.Abs(float64(i%(n+1)-j%(n+1)))) / n
	})
	circle := space.Func(n, func(i, j int) float64 { return float64(min(j-i, n-j+i)) / n })
	alphas := []float64{.5, 1.3, 3, 9, 40, 300}
	for _, c := range []struct {
		name string
		z    entropy.Whole
		s    func(alpha float64) float64
	}{
		{"line", entropy.Whole{Sample: line, Gap: .5 / n, Shape: entropy.NormConvex}, func(a float64) float64 { return min(1, 2*math.Ln2/a) }},
		{"line, as connected", entropy.Whole{Sample: line, Gap: .5 / n, Shape: entropy.Connected}, func(a float64) float64 { return min(1, 2*math.Ln2/a) }},
		{"square", entropy.Whole{Sample: square, Gap: .5 / n, Shape: entropy.NormConvex}, func(a float64) float64 { return min(1, 4*math.Ln2/a) }},
		{"circle", entropy.Whole{Sample: circle, Gap: .5 / n, Shape: entropy.Connected}, func(a float64) float64 { return min(.5, 2*math.Ln2/a) }},
	} {
		s := testkit.Must(c.z.EntropicScale(t.Context(), alphas, &entropy.Options{Nodes: 100}))
		for k, alpha := range alphas {
			if want := c.s(alpha); s[k].Lo > want || s[k].Hi < want*(1-1e-12) || s[k].Lo < want/4.01 {
				t.Errorf("%s, alpha %v: %v, want %v", c.name, alpha, s[k], want)
			}
		}
		if c.name == "square" {
			continue
		}
		for k, a := range testkit.Must(c.z.Accuracy(t.Context(), alphas, nil)) {
			least, most := 0., min(.5, 1/alphas[k])
			if c.name != "circle" {
				least = 1 / (alphas[k] + 2)
			}
			if a.Lo > most || a.Hi < least || a.Lo < s[k].Lo/16 || c.z.Shape == entropy.NormConvex && a.Lo < .99*least {
				t.Errorf("%s: %v, A is in [%v, %v]", c.name, a, least, most)
			}
		}
	}
}

// Two points at distance 1, whose scale is 1 below ln 2 and 0 above: each constant by itself.
func TestWhole_ScaleOfTwoPoints(t *testing.T) {
	for _, c := range []struct {
		shape              entropy.Shape
		gap, alpha, lo, hi float64
	}{
		{entropy.AnyShape, .1, 10, 0, .2},  // 2 Gap, at t = 4
		{entropy.AnyShape, .1, 1.5, 0, .4}, // 4 Gap/(t-1), at t = 2
		{entropy.AnyShape, .1, .6, 1, 1.2},
		{entropy.Connected, .5, 10, math.Ln2 / 10, 1},
		{entropy.NormConvex, .5, 10, math.Ln2 / 5, 1},
	} {
		z := entropy.Whole{Sample: space.Path(2, 1), Gap: c.gap, Shape: c.shape}
		if s := testkit.Must(z.EntropicScale(t.Context(), []float64{c.alpha}, nil))[0]; math.Abs(s.Lo-c.lo) > 1e-9 || math.Abs(s.Hi-c.hi) > 1e-9 {
			t.Errorf("%+v: %v", c, s)
		}
	}
}

// The bounds on the accuracy that two points at distance 1 prove, one by one, in closed form: they
// have the optimum 1/(1+e^alpha), and the exponential mechanism loses 1/(1+e^(alpha/2)) there.
func TestWhole_AccuracyOfTwoPoints(t *testing.T) {
	const alpha = 4
	two, loss := 1/(1+math.Exp(alpha)), 1/(1+math.Exp(alpha/2))
	u := spaces.BestMass / alpha
	for _, c := range []struct {
		shape entropy.Shape
		gap   float64
		want  map[string]float64
	}{
		{entropy.AnyShape, .001, map[string]float64{
			"lower sample": two - .001, "upper constant": 1.001, "upper exponential": math.Exp(.001*alpha)*loss + .001,
		}},
		{entropy.Connected, .5, map[string]float64{
			"lower sample": two / 2, "lower connected": u / (1 + math.Exp(alpha*u)), "lower scale": math.Ln2 / (2 * alpha) / 8,
			"upper constant": 1.5, "upper exponential": math.Exp(.5*alpha)*loss + .5,
		}},
	} {
		z := entropy.Whole{Sample: space.Path(2, 1), Gap: c.gap, Shape: c.shape}
		got := make(map[string]float64)
		for _, b := range testkit.Must(z.Accuracy(t.Context(), []float64{alpha}, nil))[0].Bounds {
			got[map[entropy.Kind]string{entropy.Lower: "lower ", entropy.Upper: "upper "}[b.Kind]+b.Name] = b.Value
		}
		for name, want := range c.want {
			if v, ok := got[name]; !ok || math.Abs(v-want) > 1e-9 {
				t.Errorf("%v, Gap %v, %s: %v, want %v", c.shape, c.gap, name, v, want)
			}
		}
	}
}

// A sample whose parts are farther apart than the balls around them reach is none of a
// connected space.
func TestWhole_Refuses(t *testing.T) {
	f := space.Path(5, 1)
	for _, c := range []struct {
		z   entropy.Whole
		arg string
	}{
		{entropy.Whole{Sample: f, Gap: .4, Shape: entropy.Connected}, "Gap"},
		{entropy.Whole{Sample: f, Shape: entropy.NormConvex}, "Gap"},
		{entropy.Whole{Sample: f, Gap: math.NaN()}, "Gap"},
		{entropy.Whole{Sample: f, Gap: -1}, "Gap"},
		{entropy.Whole{Sample: f, Gap: 1, Shape: 3}, "Shape"},
	} {
		_, err := c.z.EntropicScale(t.Context(), []float64{1}, nil)
		fails(t, err, nil, c.arg, -1)
		_, err = c.z.Accuracy(t.Context(), []float64{1}, nil)
		fails(t, err, nil, c.arg, -1)
	}
	for _, alpha := range []float64{5e-324, 1e-300, 1, 1e4, 1e300, math.MaxFloat64} { // no NaN
		for _, z := range []entropy.Whole{{Sample: space.Path(1, 1), Gap: 1, Shape: entropy.Connected}, {Sample: f, Gap: .5, Shape: entropy.NormConvex}, {Sample: f}} {
			a := testkit.Must(z.Accuracy(t.Context(), []float64{alpha}, nil))[0]
			s := testkit.Must(z.EntropicScale(t.Context(), []float64{alpha}, nil))[0]
			if !(0 <= a.Lo && a.Lo <= a.Hi && a.Hi <= 3) || !(0 <= s.Lo && s.Lo <= s.Hi && !math.IsInf(s.Hi, 1)) {
				t.Errorf("alpha %v: %v, scale %v", alpha, a, s)
			}
		}
	}
	z := entropy.Whole{Sample: f, Gap: .5, Shape: entropy.Connected}
	_, err := z.EntropicScale(t.Context(), []float64{2, 1}, nil)
	fails(t, err, nil, "alphas", 1)
	_, err = z.Accuracy(t.Context(), nil, nil)
	fails(t, err, metric.ErrEmpty, "", 0)
}

// whole is a random metric of whole numbers, of few different distances and many ties.
func whole(n int, r *rand.Rand) metric.Finite {
	var edges []metric.Edge
	for i := range n {
		for j := range i {
			edges = append(edges, metric.Edge{I: i, J: j, Length: float64(1 + r.IntN(6))})
		}
	}
	return testkit.Must(metric.NewGraphEdges(context.Background(), n, edges))
}

// TestRules_OfAnySpace: the rules in THEOREMS.md, on random spaces and at levels from where
// nothing is told to where everything is.
func TestRules_OfAnySpace(t *testing.T) {
	for seed := range testkit.Sweep(3, 40) {
		r := random.Seeded(uint64(seed))
		z, y, loss := whole(4, r), whole(3, r), whole(4, r)
		sub, subLoss := testkit.Must(metric.Subset(z, []int{0, 1, 3})), testkit.Must(metric.Subset(loss, []int{0, 1, 3}))
		gap := min(z.Distance(2, 0), z.Distance(2, 1), z.Distance(2, 3)) // what the subset misses
		sums := space.Func(12, func(i, j int) float64 { return z.Distance(i/3, j/3) + y.Distance(i%3, j%3) })
		two := metric.Bimetric{Privacy: z, Utility: loss}
		last := math.Inf(1)
		var logs []float64
		for alpha := 0.25; alpha < 40; alpha *= 2 {
			accuracy := func(f metric.Finite) *lp.Solution {
				return testkit.Must(lp.Optimal(t.Context(), metric.Same(f), alpha, nil))
			}
			scales := func(b metric.Bimetric) (s, so scale.Scale) {
				return testkit.Must(scale.Entropic(t.Context(), b, []float64{alpha}, nil))[0], testkit.Must(scale.Diametric(t.Context(), b, []float64{alpha}, nil))[0]
			}
			fail := func(what string, v ...any) { t.Errorf("seed %d, alpha %v: %s: %v", seed, alpha, what, v) }
			a, part, other, product := accuracy(z), accuracy(sub), accuracy(y), accuracy(sums)
			if part.DualBound > min(2*a.Objective, a.Objective+gap) {
				fail("a subset, the space", part.DualBound, a.Objective)
			}
			if product.DualBound > a.Objective+other.Objective || product.Objective < max(a.DualBound, other.DualBound) {
				fail("a product, its factors", product.Objective, a.Objective, other.Objective)
			}
			s2, so2 := scales(two)
			if s, so := scales(metric.Bimetric{Privacy: sub, Utility: subLoss}); s.Lo > s2.Hi || so.Lo > so2.Hi {
				fail("a subset has larger scales", s, so, s2, so2)
			}
			s, _ := scales(metric.Same(z))
			outer := testkit.Must(scale.Outer(t.Context(), z, []float64{alpha}, nil))[0]
			all := testkit.Must(scale.Packing(t.Context(), z, nil, s.Hi, nil))
			if s.Lo > 2*outer.Hi || math.Log(float64(all.Lo))/alpha > outer.Hi*(1+1e-12) {
				fail("s, N(s), outer", s, all.Lo, outer.Interval)
			}
			for _, g := range []float64{0.5, 1, 2} {
				if net := testkit.Must(scale.Packing(t.Context(), z, nil, g, nil)); float64(all.Lo) > float64(net.Hi)*math.Exp(alpha*g) {
					fail("N(s), N(g)", all.Lo, g, net.Hi)
				}
			}
			if a.DualBound > last {
				fail("A rises from half the level", last, a.DualBound)
			}
			last = a.Objective
			logs = append(logs, math.Log(so2.Lo))
		}
		for k := 2; k < len(logs); k++ { // levels double: 2a is a third of the way from a to 4a
			if between := logs[k-2]*2/3 + logs[k]/3; logs[k-1] > between+1e-9 {
				t.Errorf("seed %d: ln s_o = %v is not convex", seed, logs)
			}
		}
	}
}

// A box under the largest coordinate, of sides b, has prod ceil(b_i/s) points more than s
// apart, one for each cell of side s.
func lnPacking(s float64, sides ...float64) (sum float64) {
	for _, b := range sides {
		sum += math.Log(max(1, math.Ceil(b/s*(1-1e-12))))
	}
	return sum
}

// TestRules_OfCubes: the rules of norm-convex spaces in THEOREMS.md, BSV24 section 2, on
// [0,1]^d under the largest coordinate, where all packing numbers are known.
func TestRules_OfCubes(t *testing.T) {
	const up = 1 + 1e-9
	r := random.Seeded(1)
	for _, d := range []int{1, 2, 7, 50} {
		dim := float64(d)
		// ball is the sides of a ball, around the middle or another point.
		ball := func(x, radius float64) float64 { return min(1, x+radius) - max(0, x-radius) }
		entropic := func(alpha float64) float64 { return min(1, 2*dim*math.Ln2/alpha) }
		for alpha := .01 * dim; alpha < 1e5*dim; alpha *= 3 {
			fail := func(place string, v ...any) { t.Helper(); t.Errorf("d = %d, alpha %v: %s: %v", d, alpha, place, v) }
			s := entropic(alpha)
			// Definition 1.4: s is enough at every r and at every point, and no less is in the middle.
			enough := func(s float64) bool {
				for radius := 2.; radius > 1e-9; radius /= 1.01 {
					if dim*lnPacking(s, ball(.5, radius)) > alpha*radius*up {
						return false
					}
				}
				return dim*lnPacking(s, 1) <= alpha*.5*up // where the ball becomes the cube
			}
			if !enough(s*1.0001) || s < 1 && enough(s*.98) || s == 1 && enough(.98) {
				fail("closed form of s", s)
			}
			for range 20 { // Lemma 2.5
				x, radius, sep, u := r.Float64(), r.Float64(), r.Float64(), r.Float64()
				if lnPacking(sep, ball(x, radius)) > lnPacking(u*sep, ball(x, u*radius))+1e-9 {
					fail("Lemma 2.5", x, radius, sep, u)
				}
				if v := entropic(u * alpha); v < s || v > s/u*up {
					fail("Proposition 2.4", u, v, s)
				}
			}
			if 1/alpha >= 2 && s < .5 || 1/alpha < 2 && s < 1/(2*alpha) || s < min(1, 2*math.Ln2/alpha) {
				fail("Lemmas 2.6 and 2.7", s)
			}
			doubling := 1.
			for v := 1.; v > 1e-8; v /= 1.003 {
				if dim*lnPacking(v, ball(.5, 2*v)) <= 2*alpha*v {
					doubling = min(doubling, v)
				}
			}
			if doubling < s/4/1.003 || doubling > s*1.003 {
				fail("Proposition 2.9", doubling, s)
			}
			outer := math.Inf(1)
			for k := 1.; k < 1e7; k = max(k+1, math.Floor(k*1.001)) {
				outer = min(outer, 1/k+dim*math.Log(k)/alpha)
			}
			if s > 2*outer*up || outer > 3*s*(1+math.Log(1/s))*up {
				fail("Propositions 2.11 and 2.12", s, outer)
			}
			if alpha > dim && outer < dim/alpha*math.Log(alpha/dim) {
				fail("Remark 2.13", outer)
			}
			for k := 1.; k < 1e7; k *= 1.3 {
				if dim*lnPacking(s, 1) >= 2*dim*lnPacking(k*s, 1) && outer > 2*k*s*up {
					fail("Proposition 2.14", s, k, outer)
				}
			}
			if dim*lnPacking(s, 1)/alpha > outer*up {
				fail("Lemma 2.15", s, outer)
			}
			// Theorem 1.5: the cube is the unit ball, of half the size.
			a := testkit.Must(families.BallAccuracy(d, alpha/2))
			if entropic(2*alpha)/8 > a.Hi/2 || a.Lo/2 > 8.5*entropic(alpha/3) || s/16 > a.Hi/2 || a.Lo/2 > 25.5*s {
				fail("Theorem 1.5", s, a)
			}
		}
	}
}
