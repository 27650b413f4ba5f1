package accountant

import (
	"context"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// shuffled is a release through the toy.
func (c toy) shuffled(t testing.TB, u users) Shuffle {
	t.Helper()
	var w []float64
	for _, p := range c.prob {
		w = append(w, p...)
	}
	ch := testkit.Must(mechanism.FromWeights(bg, len(c.prob), len(c.prob[0]), w, nil))
	return Shuffle{Records: u.records, Items: u.items, Randomizer: testkit.Must(NewRandomizer(bg, ch, testkit.Must(metric.NewMatrix(c.dist))))}
}

// clustered is randomized response of level alpha0 on s clusters of t items, at
// distance r inside and 1 outside.
func clustered(t testing.TB, s, size int, r, alpha0 float64, u users) Shuffle {
	t.Helper()
	n := s * size
	dist := make([][]float64, n)
	var w []float64
	for i := range n {
		dist[i] = make([]float64, n)
		for j := range n {
			switch {
			case i == j:
			case i/size == j/size:
				dist[i][j] = r
			default:
				dist[i][j] = 1
			}
			w = append(w, -alpha0*dist[i][j])
		}
	}
	ch := testkit.Must(mechanism.FromLogWeights(bg, n, n, w, nil))
	return Shuffle{Records: u.records, Items: u.items, Randomizer: testkit.Must(NewRandomizer(bg, ch, testkit.Must(metric.NewMatrix(dist))))}
}

// The exact divergence of no two neighboring data sets is above what is promised, and
// that of some pair reaches every lower end. Among the toys are randomizers at the
// corners: every ratio of two probabilities is as large as the level allows.
func TestRandomizer_BracketsBruteForce(t *testing.T) {
	all := toys()
	r := random.Seeded(3)
	all = append(all, randomToy(r, 3, 3, 6), respond("steep", 4, [][]float64{{0, 1}, {1, 0}}))
	if testkit.Sweep(0, 1) == 0 {
		all = []toy{all[0], all[2], all[len(all)-1]}
	}
	closest := 0.0
	for _, c := range all {
		for _, size := range [][2]int{{2, 1}, {5, 1}, {4, 2}, {5, 3}}[:testkit.Sweep(3, 4)] {
			n, m := size[0], size[1]
			s := c.shuffled(t, users{int64(n), int64(m)})
			type end struct{ alpha, delta, least float64 }
			var ends []end
			for _, delta := range []float64{1e-4, 0.01, 0.1} {
				i := testkit.Must(s.LevelInterval(bg, delta))
				ends = append(ends, end{i.Hi, delta, 0})
				if i.Lo > 0 {
					ends = append(ends, end{i.Lo * (1 - 1e-9), 1, delta})
				}
			}
			for _, x := range []float64{0.05, 0.3, 0.8} {
				alpha := x * s.byRows().alone.Alpha0 * float64(m)
				i := testkit.Must(s.DeltaInterval(bg, alpha))
				ends = append(ends, end{alpha, i.Hi, i.Lo * (1 - 1e-9)})
			}
			most := make([]float64, len(ends))
			c.every(n, m, func(p, q []float64, d float64) {
				for i, e := range ends {
					most[i] = max(most[i], divergence(p, q, e.alpha*d))
				}
			})
			for i, e := range ends {
				if most[i] > e.delta+1e-14 || most[i] < e.least-1e-14 {
					t.Errorf("%s, N=%d m=%d alpha0=%g: at alpha=%g delta is %g, not in [%g, %g]", c.name, n, m, c.alpha0, e.alpha, most[i], e.least, e.delta)
				}
				if e.delta < 1 {
					closest = max(closest, most[i]/e.delta)
				}
			}
		}
	}
	if closest < 0.7 || closest > 1 {
		t.Errorf("the nearest promise is met to %g", closest)
	}
}

// Two outputs: among a thousand records, whatever the number of ones.
func TestRandomizer_PrivateAmongManyBits(t *testing.T) {
	const n, delta = 1000, 1e-6
	for _, alpha0 := range []float64{0.3, 3}[:testkit.Sweep(1, 2)] {
		for _, m := range []int{7, 1} {
			s := clustered(t, 2, 1, 1, alpha0, users{n, int64(m)})
			a := testkit.Must(s.Level(bg, delta))
			if a.Theorem != TwoOutputs && a.Value < 0.9*alpha0*float64(m) {
				t.Errorf("alpha0=%g m=%d: %v", alpha0, m, a)
			}
			most := 0.0
			for others := 0; others <= n-m; others += testkit.Sweep(481, 37) {
				p := binaryLaw(n, others, alpha0)
				for moved := 1; moved <= m; moved += 3 {
					q := binaryLaw(n, others+moved, alpha0)
					eps := a.Value * float64(moved) / float64(m)
					most = max(most, divergence(p, q, eps), divergence(q, p, eps))
				}
			}
			if most > delta*(1+1e-9) {
				t.Errorf("alpha0=%g m=%d: %v promises %g, delta is %g", alpha0, m, a, delta, most)
			}
		}
	}
}

// The table of examples/README.md, in part: upper ends are at most 1.1 times the lower, and below
// what the level alone gives. For response and one item that is Su, Cheng, Wang (2025): the blanket
// is the best decomposition.
func TestRandomizer_IntervalsAreNarrow(t *testing.T) {
	for _, c := range []struct {
		s, size        int
		r, alpha0      float64
		records, items int64
		delta          float64
		most, share    float64 // upper over lower end, and over that of the level alone
	}{
		{2, 1, 1, 1, 1e3, 1, 1e-6, 1.1, .95}, // next to the worst of its level
		{10, 1, 1, 2, 1e4, 1, 1e-6, 1.01, .75},
		{4, 5, .1, 2, 1e4, 10, 1e-12, 1.1, .75},
		{4, 5, .1, .1, 1e3, 1, 1e-6, 1.1, .75},
		{10, 1, 1, 4, 1e4, 1, 1e-6, 1.01, .83},
		{10, 1, 1, .5, 1e4, 1, 1e-6, 1.01, .83},
		{2, 1, 1, 1, 1e4, 10, 1e-12, 1.1, .95},
		{10, 1, 1, 2, 1e8, 1000, 1e-6, 1.15, .75},
		{4, 5, .1, 2, 1e6, 1000, 1e-12, 1.15, .75},
	}[:testkit.Sweep(3, 9)] {
		s := clustered(t, c.s, c.size, c.r, c.alpha0, users{c.records, c.items})
		i := testkit.Must(s.LevelInterval(bg, c.delta))
		level := testkit.Must(s.byRows().alone.Level(bg, c.delta))
		d := testkit.Must(s.Delta(bg, i.Hi))
		if !(i.Lo > 0 && i.Lo <= i.Hi && i.Hi <= c.most*i.Lo && i.Hi <= c.share*level.Value && d.Value <= c.delta) {
			t.Errorf("%v: %g to %g, where the level alone gives %g; delta %g", c, i.Lo, i.Hi, level.Value, d.Value)
		}
	}
}

// Takagi, Liew (2026): as n grows the blanket's bound and the lower bound of k-ary
// response meet where k >= 3. For k = 2 they do not: a fraction 2p of the records has
// the variance 1/4, and all of them have p(1-p), so the levels are sqrt(2(1-p)) apart;
// that is what the theorem of two outputs closes.
func TestRandomizer_TakagiLiew2026(t *testing.T) {
	const n, delta = 1e6, 1e-9
	for _, eps0 := range []float64{3, 1}[:testkit.Sweep(1, 2)] {
		three := testkit.Must(clustered(t, 3, 1, 1, eps0, users{n, 1}).LevelInterval(bg, delta))
		if three.Hi > 1.01*three.Lo {
			t.Errorf("three outputs: %v", three)
		}
		two := clustered(t, 2, 1, 1, eps0, users{n, 1})
		full := testkit.Must(two.LevelInterval(bg, delta))
		two.byRows().changes[0].veils = two.byRows().changes[0].veils[:1]
		alone := testkit.Must(lowest(2*full.Hi, shuffledTol, func(alpha float64) (bool, error) { return two.byRows().proves(bg, alpha, math.Log(delta)) }))
		want := math.Sqrt(2 * (1 - 1/(1+math.Exp(eps0))))
		if got := alone / full.Lo; math.Abs(got/want-1) > 0.03 {
			t.Errorf("eps0 = %g: the blanket is %g above the lower end, want %g", eps0, got, want)
		}
		if full.Hi > 1.05*full.Lo {
			t.Errorf("two outputs: %v", full)
		}
	}
}

// Below the least slack, where logarithms would be wrong, the level's delta stands.
func TestRandomizer_DeltaBelowTheLeastSlack(t *testing.T) {
	s := clustered(t, 3, 1, 1, .5, users{20000, 30})
	of := func(q interface {
		Delta(context.Context, float64) (Bound, error)
		MovedDelta(context.Context, Moved, float64) (Bound, error)
	}) [2]float64 {
		alpha := .5 * s.byRows().alone.Alpha0
		return [2]float64{testkit.Must(q.Delta(bg, 30*alpha)).Value, testkit.Must(q.MovedDelta(bg, Moved{30, 3}, 3*alpha)).Value}
	}
	for i, v := range of(s) {
		if level := of(s.byRows().alone)[i]; v > level || level > minSlack || level == 0 {
			t.Errorf("%d: %g, by the level %g", i, v, level)
		}
	}
}

// Slacks far below the least difference of 1 and 1+x are right: where N = 2 the
// divergence is a sum of few terms.
func TestRandomizer_TinyDelta(t *testing.T) {
	s := clustered(t, 3, 1, 1, 1, users{1e6, 1})
	last := math.Inf(1)
	for _, delta := range []float64{1e-18, 1e-30, 1e-100} {
		i := testkit.Must(s.LevelInterval(bg, delta))
		if i.Hi > 1.01*i.Lo {
			t.Errorf("delta = %g: %v", delta, i)
		}
		d := testkit.Must(s.DeltaInterval(bg, i.Hi))
		if d.Hi > delta || d.Lo < delta/3 || d.Hi >= last {
			t.Errorf("at the level of %g: %v", delta, d)
		}
		last = d.Hi
	}
}

// A witness is what it says: rows of the randomizer's level, items that many.
func TestShuffle_IntervalWitness(t *testing.T) {
	for _, s := range []Shuffle{
		{Records: 12, Items: 1, Diameter: 1},
		{Records: 12, Items: 3, Diameter: 2, MinDistance: 0.5},
		{Records: 9, Items: 2, Diameter: 1, Clones: MetricRandomizer, MinDistance: 1},
	} {
		for _, s.Alpha0 = range []float64{1.5, 0.2}[:testkit.Sweep(1, 2)] {
			for _, delta := range []float64{1e-3, 1e-2}[:testkit.Sweep(1, 2)] {
				i := testkit.Must(s.LevelInterval(bg, delta))
				w := i.Witness
				if i.Lo == 0 {
					continue // nothing shown
				}
				c := toy{prob: [][]float64{w.X, w.XPrime, w.Z}}
				d := w.Distance * float64(s.Items) / float64(w.Moved) // of one item
				for y := range w.X {
					for _, p := range [][3]float64{{w.X[y], w.XPrime[y], d}, {w.X[y], w.Z[y], s.Diameter}, {w.XPrime[y], w.Z[y], s.Diameter}} {
						if math.Abs(math.Log(p[0]/p[1])) > s.Alpha0*p[2]*(1+1e-12) {
							t.Errorf("%+v: %g and %g are apart by more than %g", w, p[0], p[1], s.Alpha0*p[2])
						}
					}
				}
				k := int(w.Moved)
				others := slices.Repeat([]int{2}, int(s.Records)-k)
				p, q := c.law(append(make([]int, k), others...)), c.law(append(slices.Repeat([]int{1}, k), others...))
				if got := divergence(p, q, i.Lo*(1-1e-9)*w.Distance); got < delta*(1-1e-9) {
					t.Errorf("%+v at %g: the witness has delta %g", s, i.Lo, got)
				}
			}
		}
	}
}

// The three intervals of a Shuffle agree: at a budget's upper end the promise is broken.
func TestShuffle_Intervals(t *testing.T) {
	for _, s := range []Shuffle{
		{Records: 4e4, Items: 2, Diameter: 3},
		{Records: 1e4, Items: 1, Diameter: 1, MinDistance: 1},
		{Records: 1e5, Items: 10, Diameter: 3},
	}[:testkit.Sweep(1, 3)] {
		const delta = 1e-8
		s.Alpha0 = 1 / s.Diameter
		l := testkit.Must(s.LevelInterval(bg, delta))
		d := testkit.Must(s.DeltaInterval(bg, l.Hi))
		b := testkit.Must(s.BudgetInterval(bg, Promise{l.Hi, delta}))
		if !(l.Lo > 0.7*l.Hi && l.Lo <= l.Hi) || !(d.Lo <= d.Hi && d.Hi <= delta) || !(b.Lo <= s.Alpha0*(1+1e-3) && b.Lo > s.Alpha0*(1-3e-4) && b.Hi > b.Lo && b.Hi < 1.35*b.Lo) {
			t.Errorf("%+v: level %v, delta %v, budget %v", s, l, d, b)
		}
		if p := testkit.Must(s.LevelInterval(bg, 0)); !(p.Lo <= p.Hi && p.Lo > p.Hi*(1-1e-15)) {
			t.Errorf("%+v: at delta 0 %v", s, p)
		}
		s.Alpha0 = b.Hi
		if over, _, err := leastLevel(bg, s.pairs(), math.Log(delta)); err != nil || over < l.Hi*(1-0.01) {
			t.Errorf("%+v: at a budget of %g a level of %g is possible, %v", s, b.Hi, over, err)
		}
	}
}

// An output that some record never gives, or all but never, tells whose it is.
func TestBlanket_WhatOthersLack(t *testing.T) {
	for _, least := range []float64{0, 1e-305} {
		v := newBlanket([]float64{.5, .3, .2}, []float64{.5, .4, .1}, []float64{.4, .2, least})
		if d := testkit.Must(v.logDelta(bg, 1000, 3)); d < math.Log(.2) {
			t.Errorf("b = %g: delta is %g, below what the third output shows", least, math.Exp(d))
		}
	}
	v := newBlanket([]float64{.5, .5, 0}, []float64{.4, .6, 0}, []float64{.3, .3, 0})
	if d := testkit.Must(v.logDelta(bg, 1000, 3)); d > -600 {
		t.Errorf("an output that nobody gives: delta is e^%g", d)
	}
}

// A witness is the caller's, and questions may be asked at the same time, of any Records.
func TestRandomizer_Concurrent(t *testing.T) {
	s := clustered(t, 2, 1, 1, 1, users{80, 2})
	want := testkit.Must(s.LevelInterval(bg, 1e-4))
	kept := want.Witness.clone()
	levels := map[int64]Bound{40: testkit.Must(clustered(t, 2, 1, 1, 1, users{40, 2}).Level(bg, 1e-4)), 80: {want.Hi, want.Theorem}}
	var wait sync.WaitGroup
	for i := range int64(2) {
		wait.Go(func() {
			s := s
			s.Records = 40 + 40*i
			if got, err := s.Level(bg, 1e-4); err != nil || got != levels[s.Records] {
				t.Errorf("%d records: %v, want %v, %v", s.Records, got, levels[s.Records], err)
			}
		})
	}
	wait.Wait()
	clear(want.Witness.X)
	want.Witness = kept
	if got := testkit.Must(s.LevelInterval(bg, 1e-4)); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBlanket_RoundsAgainstTheUser: for rows that are off by as much as they may be, the
// ratios of the one input are not below the exact ones and those of the other not above
// them, and neither is what is left of the mass or shows the input.
func TestBlanket_RoundsAgainstTheUser(t *testing.T) {
	r := random.Seeded(41)
	for range 500 {
		from, to, b := r.Float64(), r.Float64(), r.Float64()/4
		v := newBlanket([]float64{from, from / 3}, []float64{to, to}, []float64{b, leastMass / 2})
		most, least := testkit.Ratio(from), testkit.Ratio(to)
		if most.Mul(most, testkit.Ratio(1+rowErr)); testkit.Ratio(v.outputs[0].from).Cmp(most.Quo(most, testkit.Ratio(b))) < 0 {
			t.Fatalf("%v of %v: %v", from, b, v.outputs)
		}
		if least.Mul(least, testkit.Ratio(1-rowErr)); testkit.Ratio(v.outputs[0].to).Cmp(least.Quo(least, testkit.Ratio(b))) > 0 {
			t.Fatalf("%v of %v: %v", to, b, v.outputs)
		}
		if rest := testkit.Ratio(1); testkit.Ratio(v.rest).Cmp(rest.Sub(rest, testkit.Ratio(b))) < 0 || v.shown < from/3*(1+rowErr) {
			t.Fatalf("%v, %v of %v: rest %v, shown %v", from, to, b, v.rest, v.shown)
		}
	}
}

// A channel's probabilities may be wrong by rowErr, and what the others share is no more than
// the least of any, what two outputs differ by no less than they may.
func TestRandomizer_RoundsAgainstTheUser(t *testing.T) {
	r := random.Seeded(42)
	one := testkit.Must(metric.NewMatrix([][]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}))
	for range 50 {
		for _, outputs := range []int{2, 4} {
			w := make([]float64, 3*outputs)
			for i := range w {
				w[i] = .1 + r.Float64()
			}
			s := testkit.Must(NewRandomizer(bg, testkit.Must(mechanism.FromWeights(bg, 3, outputs, w, nil)), one))
			below := func(v, exact float64) bool { return v <= exact*(1-rowErr) }
			above := func(v, exact float64) bool { return v >= exact*(1+rowErr) }
			column := func(y int) []float64 { return []float64{s.rows[0][y], s.rows[1][y], s.rows[2][y]} }
			least := 0.0
			for y := range outputs {
				least += slices.Min(column(y))
			}
			for _, c := range s.changes {
				mass := 0.0
				for _, o := range c.veils[0].(*blanket).outputs {
					mass += o.mass
				}
				if !below(mass, least*(1+0x1p-50)) {
					t.Errorf("%v of %v are shared", mass, least)
				}
				if outputs > 2 {
					continue
				}
				from, to, y := s.rows[c.x], s.rows[c.to], 1
				if from[1] < to[1] {
					y = 0
				}
				if v := c.veils[1].(*coins); !below(v.from[0], from[y]) || !above(v.from[1], from[y]) || !below(v.to[0], to[y]) || !above(v.to[1], to[y]) ||
					!below(v.lo, slices.Min(column(y))) || !above(v.hi, slices.Max(column(y))) {
					t.Errorf("from %v to %v: %+v", from, to, v)
				}
			}
		}
		eps := 30 * r.Float64()
		e, _ := exact.ExpBounds(wide(eps), 290)
		v := response(eps)
		wrong := wide(0).Mul(wide(v.lo), e.Add(e, wide(1))) // at most 1
		if sum := wide(0).Add(wide(v.lo), wide(v.hi)); wrong.Cmp(wide(1)) > 0 || sum.Cmp(wide(1)) < 0 || v.from[0] != v.hi || v.to[1] != v.lo {
			t.Errorf("response of level %v: %+v", eps, v)
		}
	}
}

// At eps = 0 the exponential is exact and hides no other rounding; elsewhere it is the
// largest one.
func TestCoins_LessIsRoundedDown(t *testing.T) {
	r := random.Seeded(131)
	for trial := range 400 {
		from, to := [2]float64{r.Float64() * 1e-3, r.Float64()}, [2]float64{r.Float64() * 1e-5, r.Float64()}
		eps := 0.0
		if trial%2 == 1 {
			eps = r.Float64()
		}
		width := func(p [2]float64) *big.Float { return wide(0).Sub(wide(p[1]), wide(p[0])) }
		exp, _ := exact.ExpBounds(wide(eps), 290)
		want := wide(0).Mul(exp, wide(0).Sub(wide(1), width(to)))
		want.Sub(want, wide(0).Add(wide(1), width(from)))
		got := (&coins{from: from, to: to}).less(eps)
		if v, _ := want.Float64(); wide(got).Cmp(want) > 0 || got < v-0x1p-48 {
			t.Fatalf("from %v to %v at %v: %v, exactly %v", from, to, eps, got, want)
		}
	}
}

// The bound for steps is no less than their sum, wherever each is within the largest distance of its
// share of the way, and hardly more where all have one distance. They come in the order that it speaks
// of, a long one where the sum is behind.
func TestPath_BoundsTheSumOfSteps(t *testing.T) {
	for _, c := range []struct {
		items, long int64
	}{{300, 300}, {100, 99}, {100, 50}, {100, 2}} {
		u, m := users{1e5, c.items}, float64(c.items)
		p := newPath(u, append(clustered(t, 2, 2, .3, 1, u).Randomizer.changes, clustered(t, 2, 2, .3, .9, u).Randomizer.changes...))
		sum := .3*m + .7*float64(c.long)
		for _, bend := range []float64{0, .5, 1} {
			g := leg{rate: 4 / m, least: sum, sum: sum, steps: c.items, exact: c.items == c.long}
			total, s := math.Inf(-1), 0.0
			for i := range c.items {
				d, most, at := .3, math.Inf(-1), sum/m*float64(i)
				if s <= at+1e-9 {
					d = 1
				}
				ends := []float64{max(0, at-1), at + 1}
				if g.exact {
					ends = []float64{s}
				}
				for _, from := range ends {
					from = min(from, sum-d)
					for _, k := range p.kinds {
						if k.distance == d {
							delta := testkit.Must(k.interpolate(bg, u.records, g.rises(from+d, bend)-g.rises(from, bend)))
							most = max(most, delta+g.rises(g.sum, bend)-g.rises(from+d, bend))
						}
					}
				}
				total, s = logAdd(total, most), min(s+d, sum)
			}
			got := testkit.Must(p.delta(bg, g, bend, total))
			if got < total || g.exact && got > total+.05 {
				t.Errorf("%+v, bend %g: ln of the sum is %g, the bound %g", c, bend, total, got)
			}
		}
	}
}
