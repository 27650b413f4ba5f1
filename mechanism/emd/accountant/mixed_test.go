package accountant

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/lattice"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// kinds are u, v and the two rows that hide them least.
func kinds(alpha0, d float64) (u, v [4]float64, first, second []float64) {
	t, e := math.Tanh(alpha0*d/2), math.Exp(-alpha0)
	lo, hi := e*(1+t), 1/e
	share := (1 - lo) / (hi - lo)
	z := [4]float64{1, 1, -1, -1}
	q := [4]float64{.5, 0, .5 - share, share}
	r := [4]float64{lo, hi, lo, hi}
	for y := range z {
		first = append(first, q[y]*r[y])
		second = append(second, q[(y+2)%4]*r[y])
		u[y], v[y] = q[y]*(1+z[y]*t), q[y]*(1-z[y]*t)
	}
	return u, v, first, second
}

// Among many records of one kind the divergence is known: that of a blanket that is their row.
func TestMixture_IsNotBelowTheDivergence(t *testing.T) {
	r := random.Seeded(73)
	for range testkit.Sweep(12, 300) {
		alpha0, d := math.Exp(-2.7+4*r.Float64()), 1-math.Pow(r.Float64(), 2)*.999
		records := int64(math.Exp(math.Log(mixtureClones)+alpha0+8*r.Float64())) + 2
		if !mixes(alpha0, records-1) {
			continue
		}
		x, th := newMixture(alpha0, d, records-1), math.Tanh(alpha0*d/2)
		u, v, first, _ := kinds(alpha0, d)
		for side := range 2 {
			var from, to, b []float64
			for y := range u {
				if first[y] > 0 {
					from, to, b = append(from, u[y]), append(to, v[y]), append(b, first[y])
				}
			}
			if side == 1 { // as of x' and x: the row is the mirror's
				from, to = to, from
			}
			for _, k := range []float64{0.3, 2, 5} {
				tau := k / math.Sqrt(float64(records)*x.clones())
				eps := 2 * math.Atanh(tau*th)
				truth := testkit.Must(newBlanket(from, to, b).logDelta(bg, records, eps))
				if got := math.Log(math.Expm1(eps)/tau) + x.logPsi(tau); !(got > truth-1e-6 && got < truth+1.2) {
					t.Errorf("alpha0=%g d=%g, %d records, tau=%g, side %d: %g, the divergence is %g", alpha0, d, records, tau, side, got, truth)
				}
			}
		}
	}
}

// Any number of the others may be of either kind, and every loss of the proof is counted.
func TestMixture_CountsWhatItsProofLoses(t *testing.T) {
	for _, c := range []struct {
		alpha0, d float64
		others    int64
		tau       float64 // 0 for two deviations
	}{
		{1, .5, 1 << 17, 0}, {1, 1, 1<<17 + 5, 0}, {3, .1, 1 << 20, 0}, {.1, 0, 15 << 12, 0}, {.5, .9, 17, 0},
		{.11133, .0253, 15, .03622},                            // all of the first kind are the worst
		{.11695, .06933, 28, .06621}, {.29824, .23, 3, .34937}, // half of them
	} {
		x := newMixture(c.alpha0, c.d, c.others)
		_, _, first, second := kinds(c.alpha0, c.d)
		tau := cmp.Or(c.tau, 2/math.Sqrt(float64(c.others)*x.clones()))
		up, down := 1-tau, -(1 + tau)
		hi := math.Exp(c.alpha0)
		lo := (1 + math.Tanh(c.alpha0*c.d/2)) / hi
		gains := []float64{up / lo, up / hi, down / lo, down / hi}
		h := spacing(gains, second, c.others, 1e-5)
		sum := x.sum(tau)
		// The lattice widens the variance by up to 1e-5 here, by up to 1e-4 in sum.
		for n := range int64(17) {
			n = c.others * n / 16
			top := -int64(gains[0] / h)
			s := testkit.Must(lattice.New(context.Background(), []lattice.Part{
				onLattice(gains, first, 0, n, h), onLattice(gains, second, 0, c.others-n, h)}, top))
			if least := s.Excess(top).Lo + math.Log(h); !(sum > least-1e-4) {
				t.Errorf("%+v: %g, with %d of the first kind %g", c, sum, n, least)
			}
		}
		if c.others < 1000 {
			continue
		}
		// For each share s of clones that may be missing.
		got, most := math.Exp(x.at(tau)), math.Exp(sum)/float64(c.others)
		mean, least := float64(c.others)*x.least, math.Inf(1)
		for s := 1e-5; s < 0.4; s += 1e-5 {
			least = min(least, most/(1-s)+math.Exp(-s*s*mean/2))
		}
		if !(got >= least*(1-1e-9) && got < 1.01*least) {
			t.Errorf("%+v: Psi %g, by the best tail %g", c, got, least)
		}
	}
}

// What mixtures better is no more than it was by clones alone: known answers of those.
func TestMixture_IsNoMoreThanClones(t *testing.T) {
	for _, c := range []struct {
		records, items       int64
		alpha0, delta, alpha float64
	}{
		{1e5, 10, 1, 1e-6, 0.18514126},
		{1e6, 100, 2, 1e-8, 2.6656522},
	} {
		s := Shuffle{Records: c.records, Items: c.items, Alpha0: c.alpha0, Diameter: 1}
		shuffleNear(t, "alpha by clones", testkit.Must(testkit.Must(s.check("")).quick().levelOf(c.alpha0, c.delta)), c.alpha)
		if c.items > int64(testkit.Sweep(10, 100)) {
			continue
		}
		got := testkit.Must(s.Level(bg, c.delta)).Value
		low, _, err := leastLevel(bg, s.pairs(), math.Log(c.delta))
		if !(got < c.alpha && low < got) || err != nil {
			t.Errorf("%+v: %g, by clones %g, at least %g, %v", s, got, c.alpha, low, err)
		}
	}
	for clones, want := range map[Clones]float64{Dominated: 3.21932599e-9, MetricRandomizer: 2.84435410e-9} {
		s := Shuffle{Records: 1e6, Items: 1, Alpha0: 3, Diameter: 1, Clones: clones}
		v := Moved{Items: 1, Distance: .01}
		b, w, err := s.moved("", v)
		b.plain = true
		b.set(3)
		testkit.Check(t, err)
		shuffleNear(t, "by clones alone", math.Exp(testkit.Must(b.thresholds(0, w, w).least(bg, 5e-4))), want)
		if got := testkit.Must(s.MovedDelta(bg, v, 5e-4)).Value; !(got < want) {
			t.Errorf("%v: %g, by clones %g", clones, got, want)
		}
	}
}

// LevelInterval would hide a lower end above the upper one: look at both.
func TestShuffle_NoWitnessIsAboveALevel(t *testing.T) {
	r := random.Seeded(85)
	for k := range testkit.Sweep(4, 50) {
		s := Shuffle{Records: int64(3e4 * math.Exp(float64(testkit.Sweep(1, 14))*r.Float64())), Items: 1, Alpha0: math.Exp(4.2*r.Float64() - 2.8), Diameter: 1}
		if k&1 == 1 {
			s.Items = int64(math.Exp(float64(testkit.Sweep(3, 6)) * r.Float64()))
		}
		if k&2 == 2 {
			s.Clones, s.MinDistance = MetricRandomizer, r.Float64()
		}
		delta := math.Exp(-2 - 30*r.Float64())
		hi := testkit.Must(s.Level(bg, delta)).Value
		lo, _, err := leastLevel(bg, s.pairs(), math.Log(delta))
		if err != nil || lo > hi {
			t.Errorf("%+v, delta %g: a witness of %g, level %g, %v", s, delta, lo, hi, err)
		}
	}
}

// A mixture is that of the least change and of the level that is asked about.
func TestJoint_MixtureIsOfTheLeastChange(t *testing.T) {
	for _, items := range []float64{1, 5} {
		b := joint{items: items, others: 1e6, near: .33, clones: Dominated}
		b.set(1)
		b.coverAt(.7)
		b.set(2)
		for _, w := range []float64{.34, .7, .999, 1} {
			d := w
			if items > 1 {
				d = b.near
			}
			x := b.coverAt(w).parts[0].mixture
			most := newMixture(2, d, 1e6)
			if !(x.lo <= most.lo && x.hi == most.hi && x.others == 1e6 && x.lo > .9*most.lo) {
				t.Errorf("%g items by %g: %+v, want %+v", items, w, x, most)
			}
		}
	}
}

// The others' probabilities may be wrong, by slack in all, the same way in both data sets.
func TestWitness_CountsTheSlack(t *testing.T) {
	r := random.Seeded(75)
	from := func(p []float64, at int) (tail float64) {
		for _, m := range p[min(max(at, 0), len(p)):] {
			tail += m
		}
		return tail
	}
	for range 300 {
		rest, x, other := testkit.Distribution(r, 8, nil), testkit.Distribution(r, 4, nil), testkit.Distribution(r, 4, nil)
		if !above([]int64{0, 1, 2, 3}, x, other) {
			if !slices.ContainsFunc([]int{1, 2, 3}, func(at int) bool { return from(x, at) < from(other, at)*(1-1e-9) }) {
				t.Errorf("%v is above", x)
			}
			continue
		}
		s := test{slack: 0.3 * r.Float64()}
		at, eps := 2+r.IntN(8), 0.4*r.Float64()
		var p, q float64
		for w, m := range rest {
			p, q = p+m*from(x, at-w), q+m*from(other, at-w)
		}
		least := func(eps float64) (sum float64) {
			for w, m := range rest {
				h := from(x, at-w) - math.Exp(eps)*from(other, at-w)
				sum += m * h * math.Exp(-math.Copysign(s.slack, h))
			}
			return sum
		}
		if got := s.slacken(math.Log(p), math.Log(q)).delta(eps); got > least(eps)+1e-12 {
			t.Errorf("delta %g, may be %g", got, least(eps))
		}
		delta := 0.1 * p * r.Float64()
		if l := s.slacken(math.Log(p), math.Log(q)).level(math.Log(delta)); l > 0 && least(l) < delta-1e-12 {
			t.Errorf("level %g for delta %g, may be %g", l, delta, least(l))
		}
	}
	// Many items' sums are not looked at one by one.
	s := pair{Witness{X: []float64{.6, .4}, XPrime: []float64{.4, .6}, Z: []float64{.4, .6}, Moved: 1e4, Distance: 1}, 1e9}
	if got := s.test(0); got.slack < (1e9-1e4)*rowErr || got.rest.Err != 0 || got.tails != nil {
		t.Errorf("slack %g, error %g", got.slack, got.rest.Err)
	}
	crossing := pair{Witness{X: []float64{.3, .5, .2}, XPrime: []float64{.3, .6, .1}, Z: []float64{.449, .55, .001}, Moved: 1e4, Distance: 1}, 1e9}
	if got := crossing.test(1.1e4); got.slack != 0 || got.rest.Err < rowErr {
		t.Errorf("crossing: slack %g, error %g, scores %v", got.slack, got.rest.Err, crossing.score(1.1))
	}
	if above([]int64{0, 1, 2}, []float64{.4, .2, .4}, []float64{.2, .5, .3}) {
		t.Error("crossing tails are above")
	}
}

// The sums of few items' scores one by one say what the two tails do, and more closely.
func TestWitness_FewItemsOneByOne(t *testing.T) {
	p := pair{Witness{X: []float64{.5, .3, .2}, XPrime: []float64{.3, .5, .2}, Z: []float64{.2, .2, .6}, Moved: 3, Distance: 1}, 1e6}
	few := p.test(.01)
	many := few
	many.tails, many.others = nil, nil
	for _, z := range []float64{-1, 0, 2, 6} {
		at := int64(few.mean + z*few.deviation)
		a, b := testkit.Must(few.of(bg, at)), testkit.Must(many.of(bg, at))
		scale := math.Exp(a.unit - b.unit)
		if gap, far := a.gap*scale, a.far+a.unit-b.unit; !(gap > b.gap && gap < b.gap+1e-5 && far < b.far+1e-9 && far > b.far-1e-5) {
			t.Errorf("%g deviations: %+v, by tails %+v", z, a, b)
		}
	}
	for _, v := range [][2]float64{{1, few.tails[0]}, {few.others[0], 1}} {
		if !(v[0] >= v[1]) || v[0] > v[1]+1e-10 {
			t.Errorf("all sums have a probability of %g, not %g", v[0], v[1])
		}
	}
	for j, v := range few.tails {
		if exact := sums(lattice.Part{Count: 3, At: few.x.At, Mass: few.x.Mass}, slices.Min(few.x.At), slices.Max(few.x.At), 1)[j]; v > exact*(1-3*rowErr) && v > 0 {
			t.Errorf("sums of %d or more: %g, rows may be wrong by %g of %g", j, v, rowErr, exact)
		}
	}
}

// Items that move one after another, at one tau, show no more than the cover of their mean.
func TestCover_BoundsTheSumOfSteps(t *testing.T) {
	r := random.Seeded(77)
	closest := 0.0
	for range testkit.Sweep(15, 400) {
		items := 1 + r.IntN(5)
		b := joint{items: float64(items), others: 1e6, near: []float64{0, 0, .1, 1}[r.IntN(4)]}
		b.items = max(2, b.items) // as of many
		b.set(.2 + 2*r.Float64())
		moves, w := make([]float64, int(b.items)), 0.0
		for i := range moves {
			switch r.IntN(3) {
			case 0:
				moves[i] = distances[1+r.IntN(len(distances)-1)] * (1 - 1e-9) // the last of a part
			case 1:
				moves[i] = r.Float64()
			}
			if moves[i] > 0 {
				moves[i] = max(moves[i], b.near)
			}
			w += moves[i] / b.items
		}
		if w == 0 {
			continue
		}
		slices.Sort(moves)
		tau := (1 + 5*r.Float64()) / math.Sqrt(1e6*math.Exp(-b.alpha0))
		total, level := 0.0, 0.0
		for _, d := range moves {
			e := 2 * math.Atanh(tau*math.Tanh(b.alpha0*d/2))
			from := b.near
			for _, x := range distances {
				if x <= d {
					from = max(x, b.near)
				}
			}
			if d > 0 {
				total += math.Exp(level) * math.Expm1(e) * math.Exp(b.mixture(from).logPsi(tau))
			}
			level += e
		}
		bound := math.Exp(b.coverAt(w).mixed(tau) + b.gain(tau, w))
		if total > bound*(1+1e-9) {
			t.Errorf("%+v by %v, tau %g: %g, bound %g", b, moves, tau, total, bound)
		}
		closest = max(closest, total/bound)
	}
	if closest < .9 {
		t.Errorf("the nearest is %g of its bound", closest)
	}
}

// Between nodes is a chord, above what a sum of its own gives; and nothing is left out of the mean.
func TestMixture_IsRoundedUp(t *testing.T) {
	x := newMixture(1, .5, 1<<18)
	for _, share := range []float64{0, .01, .1, .5, .9, .99} {
		for _, i := range []float64{-128, -120, -113} {
			tau := math.Exp2(i/mixtureNodes) * (1 + share*math.Expm1(math.Ln2/mixtureNodes))
			if got, own := x.logPsi(tau), x.at(tau); !(got >= own-1e-5 && got < own+.2) {
				t.Errorf("ln Psi(%g) is %g, of its own sum %g", tau, got, own)
			}
		}
	}
	r := random.Seeded(76)
	for range 100 {
		alpha0, w := 4*r.Float64(), r.Float64()
		x := newMixture(alpha0, w, 10)
		e, _ := exact.ExpBounds(wide(-alpha0), 290)
		far, _ := exact.ExpBounds(wide(0).Mul(wide(-alpha0), wide(w)), 290)
		if lo := wide(0).Mul(wide(x.lo), far.Add(far, wide(1))); lo.Cmp(wide(0).Add(e, e)) > 0 || wide(0).Mul(wide(x.hi), e).Cmp(wide(1-0x1p-200)) < 0 {
			t.Errorf("alpha0 %v, w %v: %+v", alpha0, w, x)
		}
	}
	for range 1000 {
		gain, h := 20*r.Float64()-10, .01+r.Float64()
		p := onLattice([]float64{gain}, []float64{1}, 0, 1, h)
		mean := wide(0)
		for i, a := range p.At {
			mean.Add(mean, wide(0).Mul(wide(float64(a)), wide(p.Mass[i])))
		}
		if mean.Add(mean.Mul(mean, wide(h)), wide(h*0x1p-48)).Cmp(wide(gain)) < 0 { // the masses are off by massErr
			t.Errorf("%g over %g has a mean of %g", gain, h, mean)
		}
	}
}

// Two tails may be further apart than float64s are: of 800 items of 801 records e^1400 times.
func TestWitness_TailsFarApart(t *testing.T) {
	for _, c := range [][3]float64{{-1, -706, -20}, {-1, -720, -20}, {-1, -1200, -690}, {-700, -1500, -705}, {-.1, -.1001, -12}, {-1, -1 - 1e-9, -30}} {
		p, q, logDelta := c[0], c[1], c[2]
		e := test{}.slacken(p, q)
		want := p - q + math.Log1p(-math.Exp(logDelta-p)) // P - e^eps P' is e^logDelta
		if got := e.level(logDelta); !(got <= want && got > max(0, want-1e-9*(1+want))) {
			t.Errorf("%v: level %g, want %g", c, got, want)
		}
		for _, off := range []float64{-1, -1e-3, 1, 100, 1000} {
			eps := max(0, p-q+off)
			want := math.Exp(p) * -math.Expm1(eps+q-p)
			if got := e.delta(eps); !(got <= max(0, want) && got >= want-1e-9*math.Exp(p)) && off < 1 || off >= 1 && got > 0 {
				t.Errorf("%v: delta at %g is %g, want %g", c, eps, got, want)
			}
		}
	}
	i := testkit.Must(Shuffle{Records: 801, Items: 800, Alpha0: 2, Diameter: 1}.LevelInterval(bg, 1e-9))
	if !(i.Lo > 1400 && i.Lo < 1500 && i.Hi == 1600) {
		t.Errorf("%g to %g", i.Lo, i.Hi)
	}
}

// The bound of a mean of w is not below what any two distances of this mean take.
func TestCover_IsAboveAnyTwoDistances(t *testing.T) {
	for _, alpha0 := range []float64{.5, 3.5} {
		b := joint{items: 100, others: 1e8}
		b.set(alpha0)
		level := func(d float64) float64 { return math.Tanh(alpha0 * d / 2) }
		for _, w := range []float64{1.01 / 64, .24, 5.01 / 64, .17, .7}[:testkit.Sweep(2, 5)] {
			c := b.coverAt(w)
			for _, sd := range []float64{1, 4, 8, 25} {
				tau := sd / math.Sqrt(1e8*c.parts[0].clones())
				most := 0.0
				term := func(p part, d float64) float64 { // K Psi
					return min(level(d), d*level(w)/w) * math.Exp(p.logPsi(tau))
				}
				for _, p := range c.parts {
					for _, q := range c.parts {
						for _, d := range []float64{p.from, p.to * (1 - 1e-9)} {
							if z := q.to; d <= w && z > w {
								high := z * level(w) / w * math.Exp(q.logPsi(tau))
								most = max(most, ((z-w)*term(p, d)+(w-d)*high)/(z-d)/level(w))
							}
						}
					}
				}
				if got := math.Exp(c.mixed(tau)); got < most*(1-1e-9) {
					t.Errorf("alpha0 %g, w %g, tau %g: %g, two distances take %g", alpha0, w, tau, got, most)
				}
			}
		}
	}
}
