package exponential

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// sigmaByDefinition is the formula of Theorem 5.1.
func sigmaByDefinition(b metric.Bimetric, x, y int, s float64) float64 {
	least := math.Inf(1)
	for v := range b.Len() {
		if b.Utility.Distance(v, y) <= s {
			least = min(least, b.Privacy.Distance(x, v))
		}
	}
	return least
}

// asZero is a separation that merges what a separation of 0 does.
const asZero = math.SmallestNonzeroFloat64

// The law is the theorem's: sigma by brute force, on a maximal s-separated net.
func TestRelaxed_SigmaIsTheDefinition(t *testing.T) {
	r := random.Seeded(21)
	for range 60 {
		b := randomBimetric(t, r, 2+r.IntN(25))
		s := math.Pow(2, -float64(r.IntN(7)))
		if r.IntN(4) == 0 {
			s = 0
		}
		o := &RelaxedOptions{Separation: max(s, asZero)}
		if r.IntN(3) == 0 {
			o.Outputs = r.Perm(b.Len())[:1+r.IntN(b.Len())]
		}
		m := testkit.Must(Relaxed(t.Context(), b, 3, o))
		var outputs []int
		for y := range m.Outputs() {
			outputs = append(outputs, m.Output(y))
			for z := range y {
				if b.Utility.Distance(m.Output(y), m.Output(z)) <= s {
					t.Fatalf("outputs %d and %d are too close", y, z)
				}
			}
			if o.Outputs != nil && !slices.Contains(o.Outputs, m.Output(y)) {
				t.Fatalf("output %d is not in the net", m.Output(y))
			}
		}
		for x := range b.Len() {
			if o.Outputs == nil && !slices.ContainsFunc(outputs, func(y int) bool { return b.Utility.Distance(x, y) <= s }) {
				t.Fatalf("no output near %d", x)
			}
			z, p := 0.0, make([]float64, m.Outputs())
			for y := range p {
				p[y] = math.Exp(-m.Beta * sigmaByDefinition(b, x, m.Output(y), s))
				z += p[y]
			}
			for y := range p {
				if got := m.Prob(x, y); !near(got, p[y]/z, 1e-10) {
					t.Fatalf("P(%d|%d) = %v, want %v", m.Output(y), x, got, p[y]/z)
				}
			}
		}
	}
}

// On 100 random bimetric spaces the audited level is at most alpha, tuned or
// not, ultrametric or not, and tuning never loses.
func TestRelaxed_AuditsAtItsLevel(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(22)
	spent := 0
	for i := range 100 {
		b := randomBimetric(t, r, 1+i%25+1)
		alpha := math.Pow(10, 4*r.Float64()-1)
		o := RelaxedOptions{Options: Options{Unit: "km"}}
		switch r.IntN(3) {
		case 1:
			o.Accuracy, o.Separation = true, max(asZero, testkit.Must(scale.Entropic(t.Context(), b, []float64{directed.DivDown(alpha, 3)}, nil))[0].Hi)
		case 2:
			o.Separation = r.Float64()
		}
		var loss [2]float64
		for k, tuned := range []bool{false, true} {
			o.Tuned = tuned
			m := testkit.Must(Relaxed(t.Context(), b, alpha, &o))
			a, err := m.Audit(t.Context(), b.Privacy, nil)
			if err != nil || a.Hi > alpha || m.Guarantee().Alpha() != a.Hi || m.Guarantee().Unit() != "km" {
				t.Errorf("alpha %v, tuned %v: %v, guarantee %v (%v)", alpha, tuned, a, m.Guarantee(), err)
			}
			if loss[k] = worst(t, &m.Mechanism, b.Utility); loss[k] > m.Bound {
				t.Errorf("loss %v above the bound %v", loss[k], m.Bound)
			}
			if m.Method == MethodRelaxedTuned && a.Lo > alpha*(1-1e-9) {
				spent++
			}
		}
		if loss[1] > loss[0]*(1+1e-12) {
			t.Errorf("tuned %v, plain %v", loss[1], loss[0])
		}
	}
	if spent < 20 {
		t.Errorf("tuning spent the whole budget %d times only", spent)
	}
}

// Theorem 5.1: where rho2 is an ultrametric the loss is at most s + 14 s_o, and
// the best separation is no worse than the theorem's, nor than s = 0.
func TestRelaxed_AccuracyBound(t *testing.T) {
	r := random.Seeded(23)
	check := func(b metric.Bimetric, alpha float64) {
		t.Helper()
		s := testkit.Must(scale.Entropic(t.Context(), b, []float64{directed.DivDown(alpha, 3)}, nil))[0]
		thm := testkit.Must(Relaxed(t.Context(), b, alpha, &RelaxedOptions{Accuracy: true, Separation: max(asZero, s.Hi)}))
		so := testkit.Must(scale.Diametric(t.Context(), b, []float64{alpha / 7}, nil))[0]
		if !near(thm.Bound, s.Hi+14*so.Hi, 1e-12) || thm.Separation != max(asZero, s.Hi) {
			t.Errorf("bound %v at s = %v, want %v at %v", thm.Bound, thm.Separation, s.Hi+14*so.Hi, s.Hi)
		}
		best := testkit.Must(Relaxed(t.Context(), b, alpha, &RelaxedOptions{Accuracy: true}))
		zero := testkit.Must(Relaxed(t.Context(), b, alpha, &RelaxedOptions{Separation: asZero}))
		l, k, z := worst(t, &best.Mechanism, b.Utility), worst(t, &thm.Mechanism, b.Utility), worst(t, &zero.Mechanism, b.Utility)
		if l > min(k, z)*(1+1e-12) || k > thm.Bound || l > best.Bound {
			t.Errorf("loss at the best s %v, at the theorem's %v, at 0 %v; bounds %v, %v", l, k, z, best.Bound, thm.Bound)
		}
	}
	for i := range 60 {
		n := 2 + i%30
		u := randomUltrametric(t, r, n)
		alpha := math.Pow(10, 4*r.Float64()-1)
		check(metric.Bimetric{Privacy: randomPoints(t, r, n), Utility: u}, alpha)
		check(metric.Bimetric{Privacy: randomUltrametric(t, r, n), Utility: u}, alpha)
		check(metric.Same(u), alpha)
	}
	for _, alpha := range []float64{0.5, 4, 50} {
		b := testkit.Must(families.Baire{Depth: 6, Privacy: func(k int) float64 { return 1 / float64(k) },
			Utility: func(k int) float64 { return math.Pow(2, -float64(k)) }}.Space())
		check(b, alpha)
	}
}

// Where rho2 is no ultrametric the bound is there if asked for, with the number of
// outputs near a point, and the loss is below it.
func TestRelaxed_BoundOfAnyMetric(t *testing.T) {
	r := random.Seeded(25)
	crowded := 0
	for i := range 60 {
		n := 2 + i%30
		b := metric.Bimetric{Privacy: randomPoints(t, r, n), Utility: randomPoints(t, r, n)}
		alpha := math.Pow(10, 4*r.Float64()-1)
		s := testkit.Must(scale.Entropic(t.Context(), b, []float64{directed.DivDown(alpha, 3)}, nil))[0].Hi
		so := testkit.Must(scale.Diametric(t.Context(), b, []float64{alpha / 7}, nil))[0].Hi
		most := 0 // the definition
		net := testkit.Must(metric.Net(t.Context(), b.Utility, s, nil))
		for w := range n {
			k := 0
			for _, y := range net {
				if b.Utility.Distance(w, y) <= 2*s {
					k++
				}
			}
			most = max(most, k)
		}
		if most > 1 {
			crowded++
		}
		for _, o := range []RelaxedOptions{{Accuracy: true}, {Accuracy: true, Separation: max(s, asZero)}} {
			m := testkit.Must(Relaxed(t.Context(), b, alpha, &o))
			if want := s + (15*float64(most)-1)*so; m.Overlap != most || !near(m.Bound, want, 1e-9) {
				t.Errorf("%+v: overlap %d, bound %v; want %d, %v", o, m.Overlap, m.Bound, most, want)
			}
			if loss := worst(t, &m.Mechanism, b.Utility); loss > m.Bound {
				t.Errorf("%+v: loss %v above the bound %v", o, loss, m.Bound)
			}
		}
	}
	if crowded < 10 {
		t.Errorf("outputs near one another in %d spaces only", crowded)
	}
	f := space.Path(5, 1)
	m, err := Relaxed(t.Context(), metric.Same(f), 1, nil)
	if err != nil || !math.IsInf(m.Bound, 1) {
		t.Errorf("without asking: %v, %v", m, err)
	}
	single, err := Relaxed(t.Context(), metric.Same(space.Path(1, 1)), 1, nil)
	if err != nil || worst(t, &single.Mechanism, space.Path(1, 1)) != 0 {
		t.Errorf("one point: %v, %v", single, err)
	}
	// All points identical under rho2: nothing can be lost.
	flat := space.Func(4, func(int, int) float64 { return 0 })
	if m, err := Relaxed(t.Context(), metric.Bimetric{Privacy: space.Path(4, 1), Utility: flat}, 1, nil); err != nil || m.Outputs() != 1 || m.Audited.Hi > 1e-20 || m.Bound != 0 {
		t.Errorf("identical points: %+v, %v", m, err)
	}
}

// At a given separation Tuned takes the largest rate wherever that loses less than alpha/2, also where alpha
// itself would not; of several separations it loses no more than alpha/2 does, and mostly less.
func TestRelaxed_TunedTakesTheRateThatLosesLess(t *testing.T) {
	r, between, won := random.Seeded(31), 0, 0
	const alpha = 4
	for range 300 {
		b := randomBimetric(t, r, 4+r.IntN(3))
		o := &RelaxedOptions{Options: Options{Outputs: r.Perm(b.Len())[:2+r.IntN(2)]}, Separation: asZero, Tuned: true}
		work := &relaxation{b: b, alpha: alpha, o: o, index: metric.NewIndex(b.Utility)}
		c := testkit.Must(work.clusters(t.Context(), 0))
		at := func(rate float64) float64 { return testkit.Must(work.loss(t.Context(), c, rate)) }
		rate := testkit.Must(work.family(c).largestRate(t.Context()))
		half, tuned, full := at(alpha/2), at(rate), at(alpha)
		if tuned < half && full >= half {
			between++
		}
		m := testkit.Must(Relaxed(t.Context(), b, alpha, o))
		if want := tuned < half; want != (m.Method == MethodRelaxedTuned) || !near(worst(t, &m.Mechanism, b.Utility), min(half, tuned), 1e-8) {
			t.Errorf("%s loses %v; at alpha/2 %v, tuned %v, at alpha %v", m.Method, worst(t, &m.Mechanism, b.Utility), half, tuned, full)
		}
		plain := testkit.Must(Relaxed(t.Context(), b, alpha, &RelaxedOptions{Options: Options{Outputs: o.Outputs}}))
		best := testkit.Must(Relaxed(t.Context(), b, alpha, &RelaxedOptions{Options: Options{Outputs: o.Outputs}, Tuned: true}))
		if before, after := worst(t, &plain.Mechanism, b.Utility), worst(t, &best.Mechanism, b.Utility); after > before*(1+1e-8) {
			t.Errorf("tuning makes a loss of %v one of %v", before, after)
		} else if after < before*(1-1e-6) {
			won++
		}
	}
	if won < 50 {
		t.Errorf("of several separations tuning gained in %d cases", won)
	}
	if between == 0 {
		t.Error("no rate between alpha/2 and alpha alone loses less")
	}
}
