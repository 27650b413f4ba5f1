package irc24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/metric"
)

// theorem44 is Theorems 4.3 and 4.4 for n records, of which m move, no two farther apart than
// 1. With x = ln delta_int, a move by w on average costs, but for delta_int e^h,
//
//	h(w) = m ln(1+tanh(alpha0 w/2) K), K = 8 sqrt(e^alpha0 ln(4m/delta_int)/n) + 8 e^alpha0/n.
//
// Theorem 4.4 has the supremum of h(w)/w, its limit m alpha0 K/2 at 0, and delta =
// delta_int e^h(1). It needs the condition of Theorem 4.3, without which it is false; the
// proof of that needs alpha0 <= ln(n/(16 ln(2m/delta_int))).
type theorem44 struct{ n, m float64 }

func (t theorem44) h(alpha0, w, x float64) float64 {
	return t.m * math.Log1p(math.Tanh(alpha0*w/2)*t.factor(alpha0, x))
}

// factor is K.
func (t theorem44) factor(alpha0, x float64) float64 {
	e := math.Exp(alpha0) / t.n
	return 8 * (math.Sqrt(e*(math.Log(4*t.m)-x)) + e)
}

// holds reports whether the condition does.
func (t theorem44) holds(alpha0, x float64) bool {
	return alpha0 <= math.Log(t.n/(16*(math.Log(2*t.m)-x)))
}

// least is the alpha0 up to hi at which level, which grows with it, is alpha.
func least(alpha, hi float64, level func(alpha0 float64) float64) float64 {
	alpha0, _ := search.Change(0, hi, 1e-10, func(alpha0 float64) bool { return level(alpha0) > alpha })
	return alpha0
}

// budget returns the largest alpha0 for which the theorem proves (alpha, delta).
func (t theorem44) budget(alpha, delta float64) float64 {
	return least(alpha, math.Log(t.n), func(alpha0 float64) float64 { // no more, by the condition
		level, holds := t.level(alpha0, math.Log(delta))
		if !holds {
			return math.Inf(1)
		}
		return level
	})
}

// level returns the alpha of Theorem 4.4 at the best delta_int, and whether the condition
// holds there.
func (t theorem44) level(alpha0, logDelta float64) (alpha float64, holds bool) {
	// ln delta is concave in x and at least x, so it crosses logDelta once below logDelta.
	above := func(x float64) bool { return x+t.h(alpha0, 1, x) > logDelta }
	step := 1.0
	for above(logDelta - step) {
		step *= 2
	}
	_, x := search.Change(-logDelta, step-logDelta, 1e-9, func(x float64) bool { return !above(-x) })
	return t.m * alpha0 / 2 * t.factor(alpha0, -x), t.holds(alpha0, -x)
}

// asymptotic is the alpha0 of (6), for one user, and of (7) for more.
func asymptotic(alpha, users, m, delta float64) float64 {
	a := alpha * math.Sqrt(users) / math.Sqrt(m*(math.Log(4*m/delta)+alpha))
	if a > 32 {
		return 2 * math.Log(a/16)
	}
	return a / 32
}

// shuffling goes through Section 4.2 and its example.
func shuffling(ctx context.Context, r *exhibit.Run) {
	// One change: 50 of 1e8 items move, by 10 in all.
	const inner = 1e-12
	v, few, x := accountant.Moved{Items: 50, Distance: 10}, theorem44{users * items, 50}, math.Log(inner)
	s := accountant.Shuffle{Records: users * items, Items: items, Alpha0: 2, Diameter: 1}
	eps := few.h(s.Alpha0, 0.2, x)
	level := exhibit.Must(s.MovedLevel(ctx, v, inner*math.Exp(eps))).Value
	delta := exhibit.Must(s.MovedDelta(ctx, v, eps)).Value
	r.Say("Theorem 4.3", "eps where |v|_0 = 50 of 1e8 items move by |v|_1 = 10 in all, alpha0 = 2", eps, level, exhibit.If(level < eps && few.holds(s.Alpha0, x), exhibit.Better), "MovedLevel at its delta, 1e-12 e^eps; informally Theorem 1.2")
	r.Say("Theorem 4.3", "delta at that eps", inner*math.Exp(eps), delta, exhibit.If(delta < inner, exhibit.Better), "MovedDelta")
	rough := s.Alpha0 * v.Distance / math.Sqrt(users*items)
	r.Say("Section 4.2", "remark: eps is about alpha0 |v|_1/sqrt m", rough, eps, exhibit.If(eps > 10*rough, exhibit.Differs), "an order: 4 sqrt(e^alpha0 ln(4|v|_0/delta)) is left out")

	// Where the 3.0 comes from.
	t, x := theorem44{users * items, items}, math.Log(slack)-alpha // delta_int = delta e^-alpha
	atOne := least(alpha, 10, func(a float64) float64 { return t.h(a, 1, x) })
	sup := least(alpha, 10, func(a float64) float64 { return items * a / 2 * t.factor(a, x) })
	alone := theorem44{items, items}.budget(alpha, slack)
	r.Say("Section 4.2", "alpha0 of the example by composition", 0.025, float64(alpha)/items, exhibit.Near(alpha/float64(items), 0.025, 1e-9), "")
	r.Say("Section 4.2", "alpha0 of the example where h/w = 25 at w = 1 alone", "about 3.0", atOne, exhibit.Near(atOne, 2.9989, 1e-4), "with delta_int = delta e^-25: the paper's number")
	r.Say("Theorem 4.4", "alpha0 of the example with the supremum over w", "about 3.0", sup, exhibit.If(exhibit.Near(sup, 2.4053, 1e-4) == exhibit.Holds, exhibit.Corrected),
		fmt.Sprintf("h is concave, so it is at w = 0; with the best delta_int %.4f", t.budget(alpha, slack)))
	r.Say("Theorem 4.4", "alpha0 of a user alone", "above 0.025", alone, exhibit.If(alone < 0.025, exhibit.Differs), "the theorem gains nothing without other users here")
	oneDay := accountant.Moved{Items: 34, Distance: 34 * 0.08}
	for _, where := range []string{"central", "local"} {
		if where == "local" {
			s.Records = items
		}
		b := exhibit.Must(s.BudgetInterval(ctx, accountant.Promise{Alpha: alpha, Delta: slack}))
		r.Say("Section 4.2", "open question, all items at once: largest alpha0 of the example, "+where, "-", fmt.Sprintf("%.4g to %.4g", b.Lo, b.Hi), exhibit.If(alone < b.Lo && b.Lo <= b.Hi, exhibit.Better),
			fmt.Sprintf("up to the first number every randomizer keeps the promise, by the %v; above the second one breaks it", b.Theorem))
		s.Alpha0 = b.Lo
		day := exhibit.Must(s.MovedLevel(ctx, oneDay, slack)).Value
		r.Say("Section 3", "eps of a day within 1,000 miles at that alpha0, "+where, 0.2, day, exhibit.If(day < alpha*oneDay.Distance/items, exhibit.Better), "34 of 1,000 items move by .08 each; alpha times their d_EM is .068")
	}
	sayCondition(ctx, r)
	sayAsymptotic(r)
	space := exhibit.Must(metric.NewClustered(4, 4, 0.08))
	g := exhibit.Must(exhibit.Must(frequency.NewGKRR(space, 2.48)).Channel(ctx))
	w := exhibit.Must(frequency.NewItemWise(ctx, g, emd.Model{Trust: emd.Shuffled, Users: users, Items: items, Diameter: 1}, &frequency.ItemWiseOptions{Delta: slack})).Guarantee().Alpha()
	day := exhibit.Must(accountant.Shuffle{Records: users * items, Items: items, Randomizer: exhibit.Must(accountant.NewRandomizer(ctx, g, space))}.MovedLevel(ctx, oneDay, slack)).Value
	r.Say("Algorithm 2", "alpha of PrivEMDItemWise at the theorem's alpha0 = 2.48; eps of a day", "25; 0.2", fmt.Sprintf("%.3f; %.4f", w, day), exhibit.If(w < alpha && day < w*oneDay.Distance/items, exhibit.Better),
		"NewItemWise's promise; and what the probabilities of GKRR on 4 clusters of 4 items, .08 wide, show of 34 items")
	proved, theorem := demo.Series{Name: "accountant"}, demo.Series{Name: "Theorem 4.4"}
	s.Records = users * items
	for a := 2.; a <= 400; a *= exhibit.Size(r, 2.1, 1.3) {
		b := exhibit.Must(s.Budget(ctx, accountant.Promise{Alpha: a, Delta: slack}))
		proved.X, proved.Y = append(proved.X, a), append(proved.Y, b.Value)
		theorem.X, theorem.Y = append(theorem.X, a), append(theorem.Y, t.budget(a, slack))
	}
	r.WriteCharts("irc24-thm4.4.png", &demo.Chart{
		Title: "What shuffling allows an item", X: "alpha per unit of d_EM", Y: "alpha0 of an item", LogX: true,
		Series: []demo.Series{proved, theorem}, Note: "100,000 users of 1,000 items, delta = 1e-12.",
	})
}

// sayAsymptotic asks what (6) and (7) prove.
func sayAsymptotic(r *exhibit.Run) {
	six, seven := asymptotic(alpha, 1, items, slack), asymptotic(alpha, users, items, slack)
	r.Say("(6)", "alpha0 of the example, local", "above 0.025", six, exhibit.If(six < 0.025/4, exhibit.Differs), "an eighth of plain composition's .025")
	r.Say("(7)", "alpha0 of the example, central", "about 3.0", seven, exhibit.If(seven < 1.4, exhibit.Differs), "less than half of that")
	const settings = 5000
	rng, most, worst, broken, over := r.Rand(), 0.0, 0.0, 0, 0
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	for range settings {
		m, n, delta := math.Floor(between(10, 1e5)), math.Floor(between(2, 1e6)), between(1e-15, 1e-3)
		a := between(0.1, m)
		level, holds := theorem44{m, m}.level(asymptotic(a, 1, m, delta), math.Log(delta))
		if most = max(most, level/a); !holds {
			broken++
		}
		level, _ = theorem44{m * n, m}.level(asymptotic(a, n, m, delta), math.Log(delta))
		if worst = max(worst, level/a); level > a {
			over++
		}
	}
	r.Say("(6)", "Theorem 4.4's alpha at it, over the alpha asked for", "at most 1", most, exhibit.If(most < 0.2 && broken > 0, exhibit.Differs),
		fmt.Sprintf("the most of %d random settings, with room; but the condition of Theorem 4.3 fails in %d of them", settings, broken))
	r.Say("(7)", "Theorem 4.4's alpha at it, over the alpha asked for", "at most 1", worst, exhibit.If(worst > 1, exhibit.Corrected), fmt.Sprintf("above 1 in %d of the settings: ask for the budget instead", over))
}

// sayCondition takes the formula inside the condition of Theorem 4.3 and outside, with one
// item a user and k-ary response.
func sayCondition(ctx context.Context, r *exhibit.Run) {
	t, four := theorem44{1000, 1}, exhibit.Must(metric.NewClustered(4, 1, 1))
	for _, c := range []struct {
		place         string
		alpha0, delta float64
	}{{"Lemma B.1", 0.5, 1e-6}, {"Theorem 4.4", 12, 1e-12}} {
		x := math.Log(c.delta)
		response := exhibit.Must(exhibit.Must(frequency.NewGKRR(four, c.alpha0)).Channel(ctx))
		d := exhibit.Must(accountant.Shuffle{Records: 1000, Items: 1, Randomizer: exhibit.Must(accountant.NewRandomizer(ctx, response, four))}.DeltaInterval(ctx, t.h(c.alpha0, 1, x)))
		verdict, why := exhibit.If(d.Hi <= c.delta, exhibit.Holds), "of k-ary response, by its probabilities"
		if !t.holds(c.alpha0, x) {
			verdict, why = exhibit.If(d.Lo > c.delta, exhibit.Corrected), "printed without the condition, of which the proof needs alpha0 <= ln(N/(16 ln(2m/delta)))"
		}
		r.Say(c.place, fmt.Sprintf("delta of one of 1000 items at alpha0 = %g and the formula's alpha = %.3g", c.alpha0, t.h(c.alpha0, 1, x)), c.delta, fmt.Sprintf("%.3g to %.3g", d.Lo, d.Hi), verdict, why)
	}
}

// lemmas checks those of the appendices on random distributions P, Q, S, T.
func lemmas(_ context.Context, r *exhibit.Run) {
	rng := r.Rand()
	draw := func() (p [4]float64) {
		for i := range p {
			p[i] = rng.ExpFloat64()
		}
		exhibit.Normalize(p[:])
		return p
	}
	mix := func(w float64, p, q [4]float64) [4]float64 {
		for i := range p {
			p[i] = float64(w*p[i]) + float64((1-w)*q[i])
		}
		return p
	}
	stick := func(e float64, p, q [4]float64) (sum float64) { // D_e(P|Q) of Definition A.1
		for i := range p {
			sum += max(0, p[i]-float64(e*q[i]))
		}
		return sum
	}
	var convex, triangle, joint, parts float64 // the most by which each is missed
	for range 20_000 {
		p, q, s, t, w, e, f := draw(), draw(), draw(), draw(), rng.Float64(), math.Exp(rng.Float64()), math.Exp(rng.Float64())
		convex = max(convex, stick(e, mix(w, p, q), mix(w, s, t))-float64(w*stick(e, p, s))-float64((1-w)*stick(e, q, t)))
		triangle = max(triangle, stick(e*f, p, s)-stick(e, p, q)-float64(e*stick(f, q, s)))
		less := 1 + float64(w*(e-1))
		joint = max(joint, stick(less, mix(w, p, s), mix(w, q, s))-float64(w*stick(e, p, mix(1-less/e, s, q))))
		high := 1.0
		for i := range p {
			high = max(high, p[i]/q[i], q[i]/p[i])
		}
		for i := range p {
			m, n := (high*p[i]-q[i])/(high-1), (high*q[i]-p[i])/(high-1)
			parts = max(parts, -m, -n, math.Abs(p[i]-(high*m+n)/(high+1)), math.Abs(q[i]-(m+high*n)/(high+1)))
		}
	}
	say := func(place, text string, missed float64, v exhibit.Verdict, why string) {
		r.Say(place, text, "-", fmt.Sprintf("missed by %.1g at most", missed), exhibit.If(missed < 1e-12, v), why)
	}
	say("Lemma A.1", "the hockey-stick divergence is convex over couplings", convex, exhibit.Holds, "mixtures of two pairs")
	say("Lemma A.2", "D_{e^(a+b)}(P|R) <= D_{e^a}(P|Q) + e^a D_{e^b}(Q|R)", triangle, exhibit.Holds, "")
	say("Lemma B.4", "advanced joint convexity", joint, exhibit.Holds, "of Balle, Barthe, Gaboardi 2018")
	say("Lemma B.5", "a pure pair is P = (a M + N)/(a+1), Q = (M + a N)/(a+1)", parts, exhibit.Corrected, "of Kairouz, Oh, Viswanath 2015; printed with 1/(a+1) on both parts of Q")
}
