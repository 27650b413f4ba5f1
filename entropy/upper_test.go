package entropy_test

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// BSV24 Lemma 4.1 with explicit constants: 14.898 at alpha = 1, s = 0; the
// minimum against a dense scan of u; and the mechanism stays below it.
func TestStandardBound(t *testing.T) {
	if b, err := entropy.StandardBound(1, 0); err != nil || math.Abs(b-14.898) > 5e-4 {
		t.Errorf("bound %v (%v), want 14.898", b, err)
	}
	for _, alpha := range []float64{0.01, 1, 30} {
		last := 0.0
		for _, s := range []float64{0, 0.1, 1, 50, 1e9} {
			b := testkit.Must(entropy.StandardBound(alpha, s))
			least := math.Inf(1)
			for u := 2.0; u < 180; u += 1e-3 {
				least = min(least, 3*s+u/alpha+math.Exp(-u/6)*(9*s+(3*u+12)/alpha))
			}
			if b > least*(1+1e-9) || b < least*(1-1e-4) || b < last {
				t.Errorf("alpha %v, s %v: %v, scan %v", alpha, s, b, least)
			}
			last = b
		}
	}
	for _, c := range [][2]float64{{0, 1}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}, {math.Inf(1), 1}} {
		if _, err := entropy.StandardBound(c[0], c[1]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	// Extremes: no NaN.
	for _, c := range [][2]float64{{5e-324, 0}, {math.MaxFloat64, math.MaxFloat64}, {5e-324, 5e-324}, {1e300, 0}} {
		if b, err := entropy.StandardBound(c[0], c[1]); !(b > 0) || err != nil {
			t.Errorf("%v: %v, %v", c, b, err)
		}
	}
	// On a path of unit gaps s = 0 serves at a large level: N(B(x,r), 0) =
	// 2r+1 <= e^(alpha*r/3) for all r >= 1.
	f := space.Path(40, 1)
	m := testkit.Must(exponential.Standard(t.Context(), f, 6, nil))
	l := testkit.Must(m.Loss(t.Context(), f))
	worst, _ := l.Worst()
	if b, _ := entropy.StandardBound(6, 0); worst > b {
		t.Errorf("loss %v above the bound %v", worst, b)
	}
}

func TestRelaxedBound(t *testing.T) {
	if b, err := entropy.RelaxedBound(0.5, 0.25, 1); b != 4 || err != nil {
		t.Errorf("%v (%v), want 4", b, err)
	}
	// Upward: 0.1 + 14*0.7 is not a float64.
	if b, _ := entropy.RelaxedBound(0.1, 0.7, 1); b < 0.1+14*0.7 {
		t.Errorf("%v", b)
	}
	if b, err := entropy.RelaxedBound(0.5, 0.25, 3); b != 11.5 || err != nil {
		t.Errorf("%v (%v), want 11.5", b, err)
	}
	if _, err := entropy.RelaxedBound(0.5, 0.25, 0); err == nil {
		t.Error("accepted k = 0")
	}
	for _, c := range [][2]float64{{-1, 1}, {1, math.NaN()}, {math.Inf(1), 0}, {0, -1}} {
		if _, err := entropy.RelaxedBound(c[0], c[1], 1); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
}

// A witness proves the loss of its mechanism, from above and closely, and no other
// net of the farthest-first order loses less.
func TestUpperBounds_AreLosses(t *testing.T) {
	for number := range 40 {
		b, alpha := randomSpace(t, number)
		_, center, _ := metric.Radius(t.Context(), b.Utility)
		for _, u := range testkit.Must(entropy.UpperBounds(t.Context(), b, alpha, nil)) {
			w, ok := u.Witness.(entropy.NetOutputs)
			if !ok {
				continue
			}
			loss, level := netLoss(b, alpha, w)
			if level > alpha*(1+1e-9) {
				t.Errorf("space %d: %v is %v-private at level %v", number, u, level, alpha)
			}
			if !(u.Value >= loss*(1-1e-13) && u.Value <= loss*(1+1e-6)) {
				t.Errorf("space %d: %v, loss %v", number, u, loss)
			}
			if p, err := w.Prove(t.Context(), b, alpha); p != u.Value || err != nil {
				t.Errorf("space %d: %v is proved %v (%v)", number, u, p, err)
			}
			f := b.Privacy
			if w.Cells {
				f = b.Utility
			}
			order, _, _ := metric.FarthestFirst(t.Context(), f, min(9, f.Len()), center)
			for m := range order {
				if (m+1)&m == 0 || !w.Cells { // with cells 1, 2, 4, 8 are tried
					if loss, _ := netLoss(b, alpha, entropy.NetOutputs{Outputs: order[:m+1], Cells: w.Cells, Rate: 0.5}); loss < u.Value*(1-1e-6) {
						t.Errorf("space %d: %d outputs lose %v, less than %v", number, m+1, loss, u)
					}
				}
			}
		}
	}
}

// A witness at any rate proves a loss only of a mechanism that is private; and on
// points all alike, where the normalizer is the same, that at nearly all of alpha.
func TestUpperBounds_ProvePrivacy(t *testing.T) {
	r := random.Seeded(7)
	proved, refused := 0, 0
	for number := range testkit.Sweep(80, 200) {
		b, alpha := randomSpace(t, number)
		w := entropy.NetOutputs{Outputs: r.Perm(b.Len())[:1+r.IntN(b.Len())], Cells: r.IntN(2) == 0, Rate: r.Float64()}
		if number%2 == 0 {
			w.Weights = make([]float64, len(w.Outputs))
			for j := range w.Weights { // some are 0, if not all
				w.Weights[j] = max(0, math.Exp(r.NormFloat64()*float64(number%3))-.3)
			}
			w.Weights[r.IntN(len(w.Weights))] = .5
		}
		if number%3 == 0 {
			for range w.Outputs {
				w.Answers = append(w.Answers, []entropy.Answer{{r.IntN(b.Len()), r.Float64()}, {r.IntN(b.Len()), 1}}[:1+r.IntN(2)])
			}
		}
		v := testkit.Must(w.Prove(t.Context(), b, alpha))
		loss, level := netLoss(b, alpha, w)
		switch {
		case math.IsInf(v, 1):
			refused++
			if w.Rate <= 0.5 {
				t.Errorf("space %d: %+v is refused", number, w)
			}
			continue
		case w.Rate > 0.5:
			proved++
		}
		if level > alpha*(1+1e-9) || !(v >= loss*(1-1e-13) && v <= loss*(1+1e-6)) {
			t.Errorf("space %d: %+v proves %v at level %v; loss %v at level %v", number, w, v, alpha, loss, level)
		}
	}
	if few := testkit.Sweep(12, 20); proved < few || refused < few {
		t.Errorf("%d proved, %d refused", proved, refused)
	}
	for _, w := range []entropy.NetOutputs{
		{}, {Outputs: []int{2}}, {Outputs: []int{0}, Rate: -1}, {Outputs: []int{0}, Rate: 1.5}, {Outputs: []int{0}, Rate: math.NaN()},
		{Outputs: []int{0}, Weights: []float64{1, 1}}, {Outputs: []int{0}, Weights: []float64{-1}}, {Outputs: []int{0}, Weights: []float64{math.NaN()}},
		{Outputs: []int{0}, Answers: [][]entropy.Answer{}}, {Outputs: []int{0}, Answers: [][]entropy.Answer{{}}},
		{Outputs: []int{0}, Answers: [][]entropy.Answer{{{2, 1}}}}, {Outputs: []int{0}, Answers: [][]entropy.Answer{{{0, 1}, {1, 0}}}},
	} {
		if _, err := w.Prove(t.Context(), metric.Same(space.Path(2, 1)), 1); err == nil {
			t.Errorf("%+v is accepted", w)
		}
	}
	none := entropy.NetOutputs{Outputs: []int{0, 1}, Weights: []float64{0, 0}}
	if v := testkit.Must(none.Prove(t.Context(), metric.Same(space.Path(2, 1)), 1)); !math.IsInf(v, 1) {
		t.Errorf("without outputs the loss is %v", v)
	}
	const n = 300
	e := math.Exp(12)
	best := testkit.Must(entropy.UpperBounds(t.Context(), metric.Same(space.Simplex(n, 1)), 12, nil))[0]
	if want := (n - 1) / (n - 1 + e); !(best.Value >= want && best.Value <= want*(1+1e-4)) {
		t.Errorf("%v, optimum %v", best, want)
	}
}

// netLoss is the worst loss of the mechanism, and its level.
func netLoss(b metric.Bimetric, alpha float64, w entropy.NetOutputs) (worst, level float64) {
	logs := make([][]float64, b.Len())
	for x := range logs {
		sigma := slices.Repeat([]float64{math.Inf(1)}, len(w.Outputs))
		for v := range b.Len() {
			near := 0
			for j, y := range w.Outputs {
				if b.Utility.Distance(v, y) < b.Utility.Distance(v, w.Outputs[near]) {
					near = j
				}
			}
			if w.Cells {
				sigma[near] = min(sigma[near], b.Privacy.Distance(x, v))
			}
		}
		mass, least := 0.0, math.Inf(1)
		for j, y := range w.Outputs {
			if !w.Cells {
				sigma[j] = b.Privacy.Distance(x, y)
			}
			least = min(least, sigma[j])
		}
		weights := w.Weights
		if weights == nil {
			weights = slices.Repeat([]float64{1}, len(sigma))
		}
		for j, d := range sigma {
			mass += weights[j] * math.Exp(-w.Rate*alpha*(d-least))
		}
		loss := 0.0
		for j, y := range w.Outputs {
			logs[x] = append(logs[x], math.Log(weights[j])-w.Rate*alpha*(sigma[j]-least)-math.Log(mass))
			cost, all := b.Utility.Distance(x, y), 0.0
			if w.Answers != nil {
				cost = 0
				for _, a := range w.Answers[j] {
					cost, all = cost+a.Weight*b.Utility.Distance(x, a.Output), all+a.Weight
				}
				cost /= all
			}
			loss += math.Exp(logs[x][j]) * cost
		}
		worst = max(worst, loss)
	}
	for x := range logs {
		for z := range logs {
			for j := range w.Outputs {
				if d := b.Privacy.Distance(x, z); d > 0 && !math.IsInf(logs[x][j], -1) {
					level = max(level, (logs[x][j]-logs[z][j])/d)
				}
			}
		}
	}
	return worst, level
}

// The theorems: what the witnesses prove is at most the bounds by the scales.
func TestUpperBounds_Theorems(t *testing.T) {
	for number := range 60 {
		b, alpha := randomSpace(t, number)
		bounds := testkit.Must(entropy.UpperBounds(t.Context(), b, alpha, nil))
		scales := func(b metric.Bimetric, c, d float64) (s, so float64) {
			return testkit.Must(scale.Entropic(t.Context(), b, []float64{c * alpha}, nil))[0].Hi,
				testkit.Must(scale.Diametric(t.Context(), b, []float64{d * alpha}, nil))[0].Hi
		}
		net := bound(t, bounds, "exponential").Value
		for _, e := range [][2]float64{{1. / 3, 1. / 7}, {0.4, 0.05}, {0.05, 0.4}, {0.24, 0.24}} {
			c, d := e[0], e[1]
			s, _ := scales(metric.Same(b.Privacy), c, d)
			_, so := scales(b, c, d)
			if v := (0.5 - d) / (0.5 - c - d) * math.Exp((c+d)*alpha*s) * so; net > v {
				t.Errorf("space %d, c = %v, d = %v: %v above %v", number, c, d, net, v)
			}
		}
		s, _ := scales(metric.Same(b.Privacy), 1./3, 1./7)
		if l, _, _, _ := b.Lipschitz(t.Context()); net > l*testkit.Must(entropy.StandardBound(alpha, s)) {
			t.Errorf("space %d: %v above Lemma 4.1's bound", number, net)
		}
		s, so := scales(b, 1./3, 1./7)
		if b.OneMetric() && net > 25*max(s, so) {
			t.Errorf("space %d: %v, s = %v, s_o = %v", number, net, s, so)
		}
		if metric.ValidateUltrametric(t.Context(), b.Utility, 0) == nil {
			if v := testkit.Must(entropy.RelaxedBound(s, so, 1)); bound(t, bounds, "relaxed").Value > v {
				t.Errorf("space %d: %v above Theorem 5.1's %v", number, bound(t, bounds, "relaxed"), v)
			}
		}
	}
}

// Two points: rho2/(1+e^(alpha*rho1)) = loss.
func TestLevelFor_KnownAnswers(t *testing.T) {
	two := metric.Same(space.Euclidean([][]float64{{0}, {3}}))
	for _, loss := range []float64{1e-6, 0.1, 1, 1.4} {
		alpha, proof, err := entropy.LevelFor(t.Context(), two, loss, nil)
		want := math.Log(3/loss-1) / 3
		if err != nil || alpha > want || alpha < want*(1-2e-3) || proof.Value <= loss {
			t.Errorf("loss %v: level %v by %v (%v), want %v", loss, alpha, proof, err, want)
		}
	}
	for _, loss := range []float64{1.5, 7} {
		if alpha, proof, err := entropy.LevelFor(t.Context(), two, loss, nil); alpha != 0 || proof.Witness != nil || err != nil {
			t.Errorf("loss %v is no constraint: %v, %v, %v", loss, alpha, proof, err)
		}
	}
	hidden := metric.Bimetric{Privacy: space.Simplex(4, 0), Utility: space.Path(4, 1)}
	if alpha, proof, err := entropy.LevelFor(t.Context(), hidden, 1, nil); !math.IsInf(alpha, 1) || proof.Value < 1.49 || err != nil {
		t.Errorf("indistinguishable points: %v, %v, %v", alpha, proof, err)
	}
	alike := metric.Bimetric{Privacy: space.Simplex(4, 0), Utility: space.Simplex(4, 1)} // A = 3/4 at every level
	if alpha, proof, err := entropy.LevelFor(t.Context(), alike, 0.7, nil); !math.IsInf(alpha, 1) || proof.Name != "closed star" || err != nil {
		t.Errorf("four points as one: %v, %v, %v", alpha, proof, err)
	}
	if alpha, _, err := entropy.LevelFor(t.Context(), alike, 0.8, nil); alpha != 0 || err != nil {
		t.Errorf("four points as one: %v, %v", alpha, err)
	}
	if alpha, _, err := entropy.LevelFor(t.Context(), metric.Same(space.Path(1, 1)), 1, nil); alpha != 0 || err != nil {
		t.Errorf("one point: %v, %v", alpha, err)
	}
}

// The proof is above the loss, and mechanisms with the loss have a larger level.
func TestLevelFor_BelowMechanisms(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for number := range testkit.Sweep(2, 6) {
		b, alpha := randomSpace(t, number)
		best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
		least, proof, err := entropy.LevelFor(t.Context(), b, best.Objective, nil)
		if err != nil || least >= alpha {
			t.Errorf("space %d: a loss of %v at level %v, but %v is needed by %v (%v)", number, best.Objective, alpha, least, proof, err)
		}
		if least > 0 {
			if v, err := proof.Witness.Prove(t.Context(), b, least); !(v > best.Objective) || err != nil {
				t.Errorf("space %d: %v at %v proves %v (%v)", number, proof, least, v, err)
			}
		}
	}
}
