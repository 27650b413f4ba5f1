package mechanism

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// atoms is a mechanism whose privacy loss has a few values, times the distance.
type atoms struct {
	loss, here []float64 // ascending
	g          Guarantee
	law        PrivacyLoss
	err        error
}

func (m *atoms) Guarantee() Guarantee { return m.g }

func (m *atoms) PrivacyLoss(distance float64) (PrivacyLoss, error) {
	law := m.law
	if law.Mass == nil && m.loss != nil {
		law = PrivacyLoss{Bottom: distance * m.loss[0], Top: distance * m.loss[len(m.loss)-1], Err: 0x1p-45, Mass: func(lo, hi float64) (p, q float64) {
			for i, l := range m.loss {
				if l *= distance; lo < l && l <= hi {
					p, q = p+m.here[i], q+m.here[i]*math.Exp(-l)
				}
			}
			return p, q
		}}
	}
	return law, m.err
}

// someAtoms is a random one, of total mass 1 at x' too where at x it is.
func someAtoms(t testing.TB, m int) *atoms {
	r := random.Seeded(uint64(m))
	a := &atoms{g: promise(3, 0, 0, "")}
	p, q, sum, other := make([]float64, m), make([]float64, m), 0.0, 0.0
	for i := range m {
		p[i] = math.Exp(r.NormFloat64())
		q[i] = p[i] * math.Exp(1-2*r.Float64())
		sum, other = sum+p[i], other+q[i]
	}
	for i := range m {
		p[i] /= sum
		a.here = append(a.here, p[i])
		a.loss = append(a.loss, math.Log(p[i]/(q[i]/other)))
	}
	for i := range m { // few
		for j := range i {
			if a.loss[i] < a.loss[j] {
				a.loss[i], a.loss[j], a.here[i], a.here[j] = a.loss[j], a.loss[i], a.here[j], a.here[i]
			}
		}
	}
	return a
}

// deltaOf is delta at eps of two mechanisms, each so often, by enumeration.
func deltaOf(eps float64, times int, ms ...*atoms) float64 {
	losses, mass := []float64{0}, []float64{1}
	for _, m := range ms {
		for range times {
			var nl, nm []float64
			for i, l := range losses {
				for j, k := range m.loss {
					nl, nm = append(nl, l+k), append(nm, mass[i]*m.here[j])
				}
			}
			losses, mass = nl, nm
		}
	}
	sum := 0.0
	for i, l := range losses {
		if l > eps {
			sum -= mass[i] * math.Expm1(eps-l)
		}
	}
	return sum
}

func TestAuditAt_ContainsExactLevel(t *testing.T) {
	for trial := range 12 {
		a, b := someAtoms(t, 2+trial%4), someAtoms(t, 3+trial%3)
		const times = 3
		c := testkit.Must(NewComposition(Repeated{a, times}, Repeated{b, times}))
		for _, delta := range []float64{.05, 1e-4, 1e-9} {
			audit := testkit.Must(c.AuditAt(t.Context(), 1, delta))
			if lo, hi := deltaOf(audit.Lo, times, a, b), deltaOf(audit.Hi, times, a, b); audit.Lo > 0 && lo < delta*(1-1e-9) || hi > delta*(1+1e-12) || audit.Hi-audit.Lo > 2e-3*audit.Hi+1e-6 {
				t.Errorf("trial %d: %v: delta from %v to %v, not %v", trial, audit, lo, hi, delta)
			}
		}
		// Above is right however coarse the cells are, and below as well.
		all := testkit.Must(c.lossesAt("test", 1))
		for i := range all {
			all[i].cut(1e-3)
		}
		for _, step := range []float64{1, .5, .0625} {
			var up, down composedLoss
			for i := range all {
				u, d, err := all[i].factors(step)
				testkit.Check(t, err)
				up.factors, down.factors = append(up.factors, u), append(down.factors, d)
			}
			s := testkit.Must(up.levelOn(t.Context(), 1e-3, step))
			low := testkit.Must(down.atLeast(t.Context(), 1e-3, s, step))
			if d := deltaOf(s, times, a, b); d > 1e-3 {
				t.Errorf("trial %d, step %v: delta %v at the upper end %v", trial, step, d, s)
			}
			if d := deltaOf(low, times, a, b); low > 0 && d < 1e-3*(1-1e-9) {
				t.Errorf("trial %d, step %v: delta %v at the lower end %v", trial, step, d, low)
			}
		}
	}
}

// Both ends count what masses may be off by.
func TestAuditAt_CountsErrors(t *testing.T) {
	a := someAtoms(t, 4)
	law := testkit.Must(a.PrivacyLoss(1))
	law.Err = 1e-7
	wide := &atoms{g: a.g, law: law}
	const times = 1000
	exact := testkit.Must(testkit.Must(NewComposition(Repeated{a, times})).AuditAt(t.Context(), 1, 1e-5))
	off := testkit.Must(testkit.Must(NewComposition(Repeated{wide, times})).AuditAt(t.Context(), 1, 1e-5))
	if off.Hi < exact.Lo+times*2e-7 || off.Lo > exact.Hi-times*2e-7 {
		t.Errorf("%v, without errors %v", off, exact)
	}
}

// A mechanism of which only the level is known counts as randomized response does, and one
// with a delta loses that often besides.
func TestAuditAt_LevelsAloneAreRandomizedResponse(t *testing.T) {
	for _, eps := range []float64{1e-3, .4, 5} {
		for _, delta := range []float64{0, 1e-9} {
			c := testkit.Must(FromLogWeights(t.Context(), 2, 2, []float64{eps, 0, 0, eps}, nil)).WithGuarantee(promise(eps/2, delta, 0, ""))
			less := math.Exp(-eps)
			response := &atoms{g: c.Guarantee(), loss: []float64{-eps / 2, eps / 2}, here: []float64{less / (1 + less), 1 / (1 + less)}}
			for _, times := range []int64{2, 1000} {
				got := testkit.Must(testkit.Must(NewComposition(Repeated{c, times})).AuditAt(t.Context(), 2, 1e-4))
				never := -math.Expm1(float64(times) * math.Log1p(-delta))
				want := testkit.Must(testkit.Must(NewComposition(Repeated{response, times})).AuditAt(t.Context(), 2, (1e-4-never)/(1-never)))
				if got.Lo != 0 || got.Hi < want.Lo || got.Hi > want.Hi*1.002 {
					t.Errorf("eps %v, delta %v, %d times: %v, want %v", eps, delta, times, got, want)
				}
			}
		}
	}
}

func TestAuditAt_Ends(t *testing.T) {
	a := someAtoms(t, 3)
	c := testkit.Must(NewComposition(Repeated{a, 7}))
	pure := testkit.Must(c.AuditAt(t.Context(), 2, 0))
	if want := 7 * a.loss[2]; !(pure.Lo <= want && want <= pure.Hi) || pure.Hi > want*(1+1e-12) {
		t.Errorf("delta = 0: %v, want %v", pure, want)
	}
	tiny := testkit.Must(c.AuditAt(t.Context(), 2, 1e-300))
	if tiny.Hi > pure.Hi || tiny.Hi < pure.Hi*.9 {
		t.Errorf("delta = 1e-300: %v", tiny)
	}
	if most := testkit.Must(c.AuditAt(t.Context(), 2, .999999)); most.Lo != 0 || most.Hi > 1e-9 {
		t.Errorf("delta next to 1: %v", most)
	}
	nothing := testkit.Must(NewComposition(Repeated{&atoms{g: promise(0, 0, 0, ""), loss: []float64{0}, here: []float64{1}}, 7}))
	for _, delta := range []float64{0, 1e-3} {
		if a := testkit.Must(nothing.AuditAt(t.Context(), 2, delta)); a.Hi > 1e-6 {
			t.Errorf("no loss at all: %v", a)
		}
	}
	unknown := testkit.Must(NewComposition(Repeated{a, 1}, Repeated{testkit.Must(FromWeights(t.Context(), 2, 2, []float64{1, 2, 2, 1}, nil)), 1}))
	if a := testkit.Must(unknown.AuditAt(t.Context(), 1, 1e-3)); !math.IsInf(a.Hi, 1) || a.Lo > 0 && deltaOf(a.Lo, 1, someAtoms(t, 3)) < 1e-3*(1-1e-9) {
		t.Errorf("with a channel that promises nothing: %v", a)
	}
}

// A law that is none, whose masses are not those of its losses or do not add up to 1, is refused, and what
// is for channels alone.
func TestAuditAt_Refuses(t *testing.T) {
	a := someAtoms(t, 3)
	good := testkit.Must(NewComposition(Repeated{a, 2}))
	with := func(m *atoms) error {
		m.g = a.g
		return testkit.Err(testkit.Must(NewComposition(Repeated{m, 3})).AuditAt(t.Context(), 1, 1e-3))
	}
	rows := []refused{
		{with(&atoms{err: errors.New("no law")}), "Composition.AuditAt: cs[0]: no law"},
		{with(&atoms{}), "Composition.AuditAt: cs[0]"},
		{testkit.Err(good.Audit(t.Context(), nil, nil)), "Composition.Audit: not all mechanisms are channels"},
		{testkit.Err(good.Release(nil, 0)), "Composition.Release: not all mechanisms are channels"},
	}
	for _, c := range []struct{ bottom, top, p, q float64 }{
		{-1, 1, math.NaN(), 0}, {-1, 1, 0x1p-7, math.NaN()}, {-1, 1, math.Inf(1), 0}, {-1, 1, -1, 0}, {-1, 1, 0, 0}, {-1, 1, 0x1p-7, math.Inf(1)},
		{math.Inf(-1), math.Inf(-1), 1, 1}, {1, 0, 0, 0},
	} {
		rows = append(rows, refused{with(&atoms{law: PrivacyLoss{Bottom: c.bottom, Top: c.top, Mass: func(lo, hi float64) (here, there float64) {
			if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
				return 0, 0
			}
			return c.p, c.q
		}}}), "Composition.AuditAt: cs[0]"})
	}
	// Masses whose quotient is that of another loss.
	rows = append(rows, refused{with(&atoms{law: PrivacyLoss{Bottom: -5, Top: 5, Mass: func(lo, hi float64) (here, there float64) {
		if lo < .1 && .1 <= hi {
			return 1, .5
		}
		return 0, 0
	}}}), "Composition.AuditAt: cs[0]"})
	refuse(t, rows)
}

// No delta is too small, and no level times distance: where float64 has no masses for it, the
// sum of the levels stays. 1e4 releases at 1 have 7,353 at 1e-240.
func TestAuditAt_FloatsEnd(t *testing.T) {
	less := math.Exp(-1)
	response := &atoms{g: promise(1, 0, 0, ""), loss: []float64{-1, 1}, here: []float64{less / (1 + less), 1 / (1 + less)}}
	for _, delta := range []float64{5e-324, 1e-300, 1e-242} {
		if a := testkit.Must(testkit.Must(NewComposition(Repeated{response, 1e4})).AuditAt(t.Context(), 1, delta)); a.Hi < 7360 {
			t.Errorf("delta %v: %v", delta, a)
		}
	}
	for _, alpha := range []float64{1e-100, 1, 1e100} {
		for _, distance := range []float64{1e-320, 1e-224, 1e-180, 1e-30, 1e200, 1e300} {
			for _, delta := range []float64{1e-300, 1e-6, 1 - 1e-9} {
				once := testkit.Must(NewComposition(Repeated{fixed{promise(alpha, 0, 0, "")}, 1}))
				a := testkit.Must(once.AuditAt(t.Context(), distance, delta))
				// Randomized response has delta (e^eps-1)/(e^eps+1) at level 0.
				if e := alpha * distance; delta < 1e-3 && e > 1e-3 && a.Hi < alpha*(1-1e-3) || !(a.Hi >= 0) || a.Lo != 0 {
					t.Errorf("alpha %v, distance %v, delta %v: %v", alpha, distance, delta, a)
				}
			}
		}
	}
}

// One law bounds from above and another from below, each as it does alone.
func TestAuditAt_TwoLaws(t *testing.T) {
	less, more, known := someAtoms(t, 4), someAtoms(t, 4), someAtoms(t, 3)
	for i := range more.loss {
		more.loss[i] += 1
	}
	alone := func(delta float64, ms ...*atoms) Audit {
		var all []Repeated
		for i, m := range ms {
			all = append(all, Repeated{m, int64(20 + i)})
		}
		return testkit.Must(testkit.Must(NewComposition(all...)).AuditAt(t.Context(), 1, delta))
	}
	above, below := testkit.Must(more.PrivacyLoss(1)), testkit.Must(less.PrivacyLoss(1))
	above.Bound, above.Below = true, &below
	for _, delta := range []float64{0, 1e-6, .1} {
		two := alone(delta, &atoms{g: more.g, law: above}, known)
		if lo, hi := alone(delta, less, known).Lo, alone(delta, more, known).Hi; math.Abs(two.Lo-lo) > 1e-9*lo || math.Abs(two.Hi-hi) > 1e-4*hi || lo > .8*hi {
			t.Errorf("delta %v: %v, want from %v to %v", delta, two, lo, hi)
		}
	}
	below.Bound = true
	if a := alone(.1, &atoms{g: more.g, law: above}); a.Lo != 0 {
		t.Errorf("%v of a law below that is a bound itself", a)
	}
	below.Err = -1
	if a, err := testkit.Must(NewComposition(Repeated{&atoms{g: more.g, law: above}, 2})).AuditAt(t.Context(), 1, .1); err == nil {
		t.Errorf("%v of a law below that is none", a)
	}
}

// drawn is a mechanism of that law, and drawnFixed one of a level alone.
type (
	drawn      struct{ *atoms }
	drawnFixed struct{ fixed }
)

func (drawn) Release(*rand.Rand, int) (int, error)      { return 0, nil }
func (drawnFixed) Release(*rand.Rand, int) (int, error) { return 0, nil }

// What is released and then processed has at most the level of what was released, however often it
// is processed, and may have none.
func TestAuditAt_ProcessedHasTheLawAbove(t *testing.T) {
	a := drawn{someAtoms(t, 4)}
	of := func(m interface{ Guarantee() Guarantee }) Audit {
		return testkit.Must(testkit.Must(NewComposition(Repeated{m, 30})).AuditAt(t.Context(), 1, 1e-5))
	}
	labels := testkit.Must(Labels(Then[int, int, int](a, func(y int) (int, error) { return 0, nil }), []string{"a", "b"}, []string{"a", "b"}))
	points := On(a, testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{})))
	own := testkit.Must(a.PrivacyLoss(1))
	both := own
	both.Bound, both.Below = true, &own
	between := drawn{&atoms{g: a.g, law: both}}
	again := Then[int, int, int](between, func(y int) (int, error) { return y, nil })
	want := of(a)
	if got := of(between); got.Lo == 0 {
		t.Errorf("between two laws: %v", got)
	}
	for _, m := range []interface{ Guarantee() Guarantee }{labels, points, again} {
		if got := of(m); math.Abs(got.Hi-want.Hi) > 1e-4*want.Hi || got.Lo != 0 || want.Lo == 0 {
			t.Errorf("%v, want at most %v", got, want)
		}
	}
	plain := Then[int, int, int](drawnFixed{fixed{a.g}}, func(y int) (int, error) { return y, nil })
	if got := of(plain); got.Hi < 2*want.Hi {
		t.Errorf("of a level alone: %v", got)
	}
}

// Losses far from 0, and a lone finite one.
func TestAuditAt_LoneLosses(t *testing.T) {
	lone := func(at, p float64) *Composition {
		law := PrivacyLoss{Bottom: at, Top: math.Inf(1), Mass: func(lo, hi float64) (here, there float64) {
			if lo < at && at <= hi {
				here, there = p, p*math.Exp(-at)
			}
			if math.IsInf(hi, 1) {
				here += 1 - p
			}
			return here, there
		}}
		return testkit.Must(NewComposition(Repeated{&atoms{g: promise(1, 0, 0, ""), law: law}, 3}))
	}
	for _, c := range []struct{ at, p, least, most float64 }{
		{300, 1, 899, 901}, {1e6, 1, 2.99e6, 3.02e6}, {-.3, math.Exp(-.3), math.Inf(1), math.Inf(1)}, {0, 1 - 1e-9, 0, 1e-6}, {math.Inf(1), 0, math.Inf(1), math.Inf(1)},
	} {
		if a := testkit.Must(lone(c.at, c.p).AuditAt(t.Context(), 1, 1e-3)); a.Hi < c.least || a.Hi > c.most || a.Lo > c.most {
			t.Errorf("%+v: %v", c, a)
		}
	}
}

// The atoms of the upper end are at least as large as what masses may be, those of the lower at
// most, within their cells; all mass is in the upper's.
func TestFactors_CountWhatMassesMayBeOff(t *testing.T) {
	const off, step = 1e-7, 0x1p-5
	mass := func(lo, hi float64) float64 { return math.Exp(-math.Abs(lo)) - math.Exp(-math.Abs(hi)) } // on one side of 0
	l := lossAt{times: 3, law: PrivacyLoss{Bottom: -40, Top: 4, Err: off, Mass: func(lo, hi float64) (p, q float64) {
		lo, hi = max(lo, -700), min(hi, 700)
		if hi <= 0 {
			p = -mass(lo, hi) / 2
		} else if lo >= 0 {
			p = mass(lo, hi) / 2
		} else {
			p = (2 - math.Exp(lo) - math.Exp(-hi)) / 2
		}
		return p, p * math.Exp(-(max(lo, -40)+min(hi, 4))/2)
	}}}
	up, down, err := l.factors(step)
	testkit.Check(t, err)
	if !(up.err >= off && down.err >= off) || len(up.atoms) != len(down.atoms)+1 {
		t.Fatalf("errors %v and %v, %d and %d atoms", up.err, down.err, len(up.atoms), len(down.atoms))
	}
	sum := up.never
	for i, a := range up.atoms {
		if sum += a.mass; i >= len(down.atoms)-1 { // the cell of Bottom, and what is below
			continue
		}
		at := up.top - float64(i)*step
		loss := at - step/2
		if a.loss < loss+2*off || a.loss > at || down.atoms[i].loss > loss-2*off || down.atoms[i].loss < at-step {
			t.Fatalf("cell below %v: %v and %v", at, a, down.atoms[i])
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("masses of the upper end: %v", sum)
	}
}

func TestLosses(t *testing.T) {
	f := space.Path(3, 2)
	c := testkit.Must(FromWeights(t.Context(), 3, 2, []float64{1, 1, 3, 1, 0, 1}, &ChannelOptions{Labels: []int{0, 2}}))
	l, err := c.Loss(t.Context(), f)
	if err != nil || l[0] != 2 || l[1] != 2 || l[2] != 0 {
		t.Fatal(l, err)
	}
	if v, x := l.Worst(); v != 2 || x != 0 {
		t.Error(v, x)
	}
	if m, err := l.Mean([]float64{0.25, 0.25, 0.5}); m != 1 || err != nil {
		t.Error(m, err)
	}
	if m, _ := l.Mean(nil); math.Abs(m-4.0/3) > 1e-15 {
		t.Error(m)
	}
	long := make(Losses, 100)
	for i := range long {
		long[i] = float64(i)
	}
	for q, want := range map[float64]float64{0.95: 94, 1: 99, 0.01: 0, 0.5: 49, 0.07: 6} {
		if got, err := long.Quantile(q); got != want || err != nil {
			t.Errorf("quantile %v = %v (%v), want %v", q, got, err, want)
		}
	}
	for x := range 3 {
		if v, err := c.LossAt(x, f); v != l[x] || err != nil {
			t.Error(v, err)
		}
	}
}

// The remap attains the least mean loss of all relabelings (brute force).
func TestRemap_IsOptimal(t *testing.T) {
	r := random.Seeded(4)
	for range 30 {
		n := 4
		f := space.Uniform(n, r)
		c := arbitrary(t, r, n, 3, true, 0)
		prior := []float64{0.1, 0.2, 0.3, 0.4}
		remap := testkit.Must(c.Remap(t.Context(), prior, f))
		mean := func(labels []int) float64 {
			d := testkit.Must(c.Relabel(labels))
			l := testkit.Must(d.Loss(t.Context(), f))
			m, _ := l.Mean(prior)
			return m
		}
		best := math.Inf(1)
		for k := range n * n * n {
			best = min(best, mean([]int{k % n, k / n % n, k / n / n}))
		}
		if got := mean(remap); got > best+1e-12 {
			t.Errorf("remap %v has loss %v, the best %v", remap, got, best)
		}
	}
}

// An adversary errs by 0 where the channel tells the input, by the mean distance to the
// median where it tells nothing, and else by that of the best of all maps from outputs
// to points (brute force), which may be no inputs.
func TestAdversaryError_IsOfTheBestGuess(t *testing.T) {
	r := random.Seeded(40)
	for range 30 {
		const n, m, k = 4, 3, 5
		f := space.Uniform(k, r)
		prior := []float64{0.1, 0.2, 0.3, 0.4}
		c := arbitrary(t, r, n, m, true, 0)
		cost := func(y, z int) (sum float64) {
			for x, p := range prior {
				sum += p * c.Prob(x, y) * f.Distance(x, z)
			}
			return sum
		}
		best := math.Inf(1)
		for code := range k * k * k {
			best = min(best, cost(0, code%k)+cost(1, code/k%k)+cost(2, code/k/k))
		}
		if got := testkit.Must(c.AdversaryError(t.Context(), prior, f)); math.Abs(got-best) > 1e-14 {
			t.Errorf("%v, the best guesses err by %v", got, best)
		}
		c = testkit.Must(FromWeights(t.Context(), n, 1, []float64{1, 1, 1, 1}, nil))
		median := min(cost(0, 0), cost(0, 1), cost(0, 2), cost(0, 3), cost(0, 4))
		if got := testkit.Must(c.AdversaryError(t.Context(), prior, f)); math.Abs(got-median) > 1e-15 {
			t.Errorf("%v of a constant, want %v", got, median)
		}
		identity := testkit.Must(FromWeights(t.Context(), 2, 2, []float64{1, 0, 0, 1}, nil))
		if got := testkit.Must(identity.AdversaryError(t.Context(), nil, f)); got != 0 {
			t.Errorf("%v of the identity", got)
		}
	}
}

// Distances that are none are an error that names the pair, whatever the channel makes of them.
func TestLoss_RefusesBadDistances(t *testing.T) {
	c := testkit.Must(FromWeights(t.Context(), 2, 2, []float64{1, 2, 2, 1}, nil))
	for _, d := range []float64{math.NaN(), math.Inf(1), -1} {
		rho := testkit.Must(metric.NewPoints([]int{0, 1}, metric.Func[int](func(x, y int) float64 { return d * math.Abs(float64(y-x)) })))
		_, lossErr := c.Loss(t.Context(), rho)
		_, atErr := c.LossAt(1, rho)
		_, remapErr := c.Remap(t.Context(), nil, rho)
		_, adversaryErr := c.AdversaryError(t.Context(), nil, rho)
		for what, err := range map[string]error{"Loss": lossErr, "LossAt": atErr, "Remap": remapErr, "AdversaryError": adversaryErr} {
			var v *metric.Violation
			if !errors.As(err, &v) || v.Axiom != metric.FiniteValue {
				t.Errorf("%s of distance %v: %v", what, d, err)
			}
		}
	}
}
