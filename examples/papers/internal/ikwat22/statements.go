package ikwat22

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// hole is the black hole of Section 3.1: point 0 at distance 1 from n-1 that are so far from
// one another.
func hole(n int, apart float64) *metric.Dense {
	upper := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for range n - 1 - i {
			upper = append(upper, apart)
		}
		if i == 0 {
			for j := range upper {
				upper[j] = 1
			}
		}
	}
	return exhibit.Must(metric.NewDense(n, upper))
}

// holeLosses are those of the exponential mechanism and of Lemma 1's weights.
func holeLosses(ctx context.Context, f *metric.Dense, eps float64) (plain, weighted float64, c *mechanism.Channel) {
	y := make([]float64, f.Len())
	for i := range y {
		y[i] = 1 / float64(f.Len()-1)
	}
	y[0] = 1
	c = exhibit.Must(exponential.Standard(ctx, f, eps, nil)).Channel
	plain, _ = exhibit.Must(c.Loss(ctx, f)).Worst()
	weighted, _ = exhibit.Must(exhibit.Must(exponential.Weighted(ctx, f, eps, y, nil)).Loss(ctx, f)).Worst()
	return plain, weighted, c
}

// lemma1 runs Section 3.1.
func lemma1(ctx context.Context, r *exhibit.Run) error {
	t := demo.NewTable("n", "eps", "others apart", "L(Exp)", "L(Exp_Y)", "ratio", "the lemma's")
	for _, k := range []struct{ n, eps float64 }{{10, 5}, {100, 10}} {
		q := math.Exp(-k.eps / 2)
		limit := (1/(k.n-1) + q) / (1 + q)
		var ratio, plain float64
		var c *mechanism.Channel
		for _, apart := range []float64{.1, .01, 1e-9} {
			var weighted float64
			plain, weighted, c = holeLosses(ctx, hole(int(k.n), apart), k.eps)
			ratio = weighted / plain
			t.Row(k.n, k.eps, apart, plain, weighted, ratio, limit)
		}
		at := fmt.Sprintf("n = %v, eps = %v", k.n, k.eps)
		r.Say("Lemma 1", "L(Exp_Y)/L(Exp), "+at, "(1/(n-1) + q)/(1 + q), q = e^(-eps/2)", ratio, exhibit.Near(ratio, limit, 1e-6),
			"the limit where the others meet, and equal there; where they do not it may be more")
		if k.eps >= 2*math.Log(k.n) {
			r.Say("Lemma 1", "the same where eps >= 2 ln n, "+at, "at most 2/(n-1)", fmt.Sprintf("%.3g of it", ratio*(k.n-1)/2), exhibit.If(ratio <= 2/(k.n-1), exhibit.Holds), "")
		}
		p, want := c.Prob(0, 1), q/(1+(k.n-1)*q)
		r.Say("Section 3.1", "P[w_1 -> w_j], "+at, "e^-eps/(1 + n e^-eps)", fmt.Sprintf("%.4g, not %.4g", p, q*q/(1+k.n*q*q)), exhibit.If(math.Abs(p-want) < 1e-9, exhibit.Corrected),
			"two slips: e^(-eps/2)/(1 + (n-1) e^(-eps/2)) by the mechanism's own factor 1/2, as (16) of the proof has it")
	}
	r.Print(t)
	few, _, _ := holeLosses(ctx, hole(10, 1e-9), 5)
	many, _, _ := holeLosses(ctx, hole(500, 1e-9), 5)
	r.Say("Section 3.1", "L(Exp) at eps = 5 as n grows", "to 1", fmt.Sprintf("%.3f at n = 10, %.3f at 500", few, many), exhibit.If(few < many && many > .95, exhibit.Holds), "")
	s := geoLife.space(ctx, 60, 0)
	y, rng, worst := make([]float64, s.Len()), r.Rand(), 0.
	for _, eps := range []float64{.1, 1, 10} {
		for i := range y {
			y[i] = math.Exp(3 * rng.NormFloat64())
		}
		m := exhibit.Must(exponential.Weighted(ctx, s, eps, y, nil))
		worst = max(worst, exhibit.Must(m.Audit(ctx, s, nil)).Hi/eps)
	}
	r.Say("Proposition 1", "level of random positive weights", "eps", fmt.Sprintf("at most %.3g eps", worst), exhibit.If(worst <= 1+1e-9, exhibit.Holds), "audited, on 60 cells, as Definition 1 and (2) have it")
	return nil
}

// programs counts the programs of Theorem 1 and Table 1.
func programs(ctx context.Context, r *exhibit.Run) error {
	const neighbors = 10
	t := demo.NewTable("words", "count", "OPTMech", "Spanner", "ConstOPT (10)", "by Theorem 1", "at most, Corollary 1")
	var first, last [3]lp.Size
	ns := []int{50, 100, 200, 400}
	var printed, most, ours [3]int64 // variables, rows, nonzeros
	bounded := true
	for i, n := range ns {
		s := fastText.space(ctx, n, r.Seed)
		b := metric.Same(s)
		sizes := [3]lp.Size{exhibit.Must((*lp.Options)(nil).Size(ctx, b)), exhibit.Must((*lp.SpannerOptions)(nil).Size(ctx, b)), exhibit.Must((&lp.ConstOptions{Neighbors: neighbors}).Size(ctx, b))}
		if last = sizes; i == 0 {
			first = sizes
		}
		m, s1, s2 := sums(ctx, s, neighbors)
		printed = [3]int64{m + 1 + s1, 2*m + 2*s2 + 3*s1, 2*m*m + 2*s2 + 5*s1}
		most = [3]int64{m*neighbors + m + 1, m*m*neighbors + 3*m*neighbors + 2*m, 2*m*m + 5*m*neighbors + 2*m*m*neighbors}
		ours = counts(sizes[2])
		for k, name := range []string{"variables", "rows", "nonzeros"} {
			t.Row(n, name, counts(sizes[0])[k], counts(sizes[1])[k], ours[k], printed[k], most[k])
			bounded = bounded && ours[k] <= printed[k] && ours[k] <= most[k]
		}
		bounded = bounded && m+s1+1 <= most[0]
	}
	r.Print(t)
	r.Say("Theorem 1", "variables", "n + 1 + sum|I|", ours[0], exhibit.If(ours[0] == printed[0], exhibit.Holds), "on 400 words, r = 10, as below")
	r.Say("Theorem 1", "rows", "2n + sum(2|I|^2 + 3|I|)", ours[1], exhibit.If(ours[1] < printed[1], exhibit.Corrected),
		fmt.Sprintf("%d as printed: the proof counts (22) once, |I|^2 rows, and here M >= 0 and u = v are none", printed[1]))
	r.Say("Theorem 1", "nonzeros", "at most 2n^2 + sum(2|I|^2 + 5|I|)", ours[2], exhibit.If(ours[2] <= printed[2], exhibit.Holds), fmt.Sprintf("at most %d", printed[2]))
	r.Say("Corollary 1", "all three for I_NN,r", "at most nr + n + 1, n^2 r + 3nr + 2n, 2n^2 + 5nr + 2n^2 r", "below", exhibit.If(bounded, exhibit.Holds), "at every number of words above")
	for k, name := range []string{"variables", "rows", "nonzeros"} {
		var power [3]float64
		for i := range power {
			power[i] = math.Log(float64(counts(last[i])[k])/float64(counts(first[i])[k])) / math.Log(float64(ns[len(ns)-1])/float64(ns[0]))
		}
		paper := [3][3]float64{{2, 2, 1}, {3, 2.5, 2}, {3, 2.5, 2}}[k]
		within := true
		for i := range power {
			within = within && power[i] <= paper[i]+.02
		}
		r.Say("Table 1", name+" of OPTMech, Spanner, ConstOPT at fixed r", fmt.Sprintf("n^%v, n^%v, n^%v at most", paper[0], paper[1], paper[2]),
			fmt.Sprintf("n^%.2f, n^%.2f, n^%.2f", power[0], power[1], power[2]), exhibit.If(within, exhibit.Holds), "from 50 to 400 words")
	}
	m, s1, s2 := sums(ctx, fastText.space(ctx, 200, r.Seed), 1)
	rows := 2*m + 2*s2 + 3*s1 + 2*m*(m-1)
	r.Say("Section 3.2", "(5): a point is its own nearest neighbor", "no: r = n-1 fixes nothing", fmt.Sprintf("yes: Table 3 has %d rows at r = 1", rows), exhibit.If(rows == 81000, exhibit.Corrected),
		"as metric.Index.ReverseNeighbors counts; without it r = n-1 has all unknowns, and Table 3 does not come out")
	m, s1, s2 = sums(ctx, geoLife.space(ctx, 400, 0), neighbors)
	r.Say("Section 3.2", "sum(|I|^2 + |I|) where no |I| reaches 10r", "at most 110 n r^2", fmt.Sprintf("%.2g of it on 400 cells", float64(s1+s2)/float64(110*m*neighbors*neighbors)), exhibit.If(s1+s2 <= 110*m*neighbors*neighbors, exhibit.Holds), "")
	return nil
}

func counts(s lp.Size) [3]int64 { return [3]int64{s.Variables, s.Rows, s.Nonzeros} }

// theorem2 audits Algorithm 1.
func theorem2(ctx context.Context, r *exhibit.Run, n int) error {
	s := fastText.space(ctx, n, r.Seed)
	least, most, solved := math.Inf(1), 0., 0
	for _, k := range []int{1, 5, n - 1} {
		for _, lambda := range []float64{.001, 1, 50} {
			for _, eps := range []float64{.5, 2, 8} {
				o := &lp.ConstOptions{Neighbors: k, KeepBudget: true, Lambdas: []float64{lambda}, Tolerance: tolerance}
				c := exhibit.Must(lp.ConstOPT(ctx, metric.Same(s), eps, o))
				if c.Status == lp.StatusOptimal {
					solved++
				}
				least, most = min(least, c.Audited.Hi/eps), max(most, c.Audited.Hi/eps)
			}
		}
	}
	r.Say("Theorem 1", "P_ConstOPTMech is feasible", "always", fmt.Sprintf("%d of 27 solved", solved), exhibit.If(solved == 27, exhibit.Holds), "")
	r.Say("Theorem 2", "level of Algorithm 1 for 27 of eps, r and lambda", "eps", fmt.Sprintf("%.3g to %.3g eps", least, most), exhibit.If(most <= 1, exhibit.Holds),
		"Algorithm 1 audited at delta = 0; by default lp.ConstOPT raises the budget until the level is eps. Row (26) prints e^(eps d(u,v)) outside the maximum over u, in which it belongs")
	return nil
}

// theorem3 sets the packings of farthest-first orders against the optimum.
func theorem3(ctx context.Context, r *exhibit.Run, n int) error {
	s := geoLife.space(ctx, n, 0)
	order, radii, err := metric.FarthestFirst(ctx, s, n, 0)
	exhibit.Must(order, err)
	far, _, _, err := metric.Diameter(ctx, s)
	exhibit.Must(far, err)
	t := demo.NewTable("eps", "(8)", "(7)", "lp.LowerBound", "lp.Optimal")
	ordered, outside, special, best := true, 1., 0., 0.
	for _, eps := range []float64{.02, .1, .3, 1} {
		var simple, seven, proved float64
		for c := 2; c <= n; c++ {
			packing, radius, wide := order[:c], radii[c-1]/2*(1-1e-12), 0.
			for x := range n {
				sum, in := 0., false
				for _, y := range packing {
					sum += math.Exp(-eps * s.Distance(x, y))
					if in = in || x == y; x == y {
						for _, z := range packing {
							wide = max(wide, s.Distance(y, z))
						}
					}
				}
				seven = max(seven, radius*(1-1/sum))
				if !in {
					outside = min(outside, sum)
				}
			}
			simple = max(simple, radius*(1-1/(1+float64(c-1)*math.Exp(-wide*eps))))
			proved = max(proved, exhibit.Must(lp.LowerBound(ctx, metric.Same(s), eps, packing)).Value)
		}
		optimum := exhibit.Must(lp.Optimal(ctx, metric.Same(s), eps, &lp.Options{Tolerance: tolerance})).Objective
		t.Row(eps, simple, seven, proved, optimum)
		ordered = ordered && simple <= seven && seven <= optimum && proved <= optimum && simple <= proved*(1+1e-9)
		best = max(best, seven/optimum)
		special = max(special, far/2*math.Exp(-far*eps)/(1+math.Exp(-far*eps))/optimum)
	}
	r.Print(t)
	r.Say("Theorem 3", "(8) and (7) below every loss", "r(1 - 1/N(w, S))", fmt.Sprintf("at most %.2g of the optimum", best), exhibit.If(ordered, exhibit.Holds),
		fmt.Sprintf("on %d cells, packings of Definition 2 from a farthest-first order; lp.LowerBound sums distances in place of radii", n))
	r.Say("Section 4", "N(w, S) >= 1", "for all w", fmt.Sprintf("as little as %.2g", outside), exhibit.If(outside < 1, exhibit.Corrected), "for w in S only; elsewhere (7) may be negative, and holds")
	r.Say("Section 4", "the two farthest points", "(r*/2) e^(-r* eps)/(1 + e^(-r* eps))", fmt.Sprintf("at most %.2g of the optimum", special), exhibit.If(special <= 1, exhibit.Holds), "")
	return nil
}

// theorem4 makes 3-spanners and audits SpannerMech.
func theorem4(ctx context.Context, r *exhibit.Run, n int) error {
	t := demo.NewTable("points", "edges", "of n^1.5", "least d_G/d", "largest d_G/d", "eps", "level")
	least, most, level, edges := math.Inf(1), 0., 0., 0.
	for _, d := range []setting{gloVe, geoLife} {
		s := d.space(ctx, n, r.Seed)
		o := exhibit.Must(lp.Spanner(ctx, metric.Same(s), d.level, &lp.SpannerOptions{Options: lp.Options{Tolerance: tolerance}, KeepBudget: true}))
		lo, hi := math.Inf(1), 0.
		for x := range n {
			for y := range x {
				q := o.Graph.Distance(x, y) / s.Distance(x, y)
				lo, hi = min(lo, q), max(hi, q)
			}
		}
		share := float64(len(o.Graph.Edges())) / math.Pow(float64(n), 1.5)
		t.Row(fmt.Sprintf("%d, for %s", n, d.name), len(o.Graph.Edges()), share, lo, hi, d.level, o.Audited.Hi)
		least, most, level, edges = min(least, lo), max(most, hi), max(level, o.Audited.Hi/d.level), max(edges, share)
	}
	r.Print(t)
	r.Say("Definition 3", "a 3-spanner G", "d_G <= d <= 3 d_G", fmt.Sprintf("d_G is %.3g to %.3g d", least, most), exhibit.If(least >= 1-1e-9 && most <= 3+1e-9, exhibit.Corrected), "reversed: d <= d_G <= 3 d")
	r.Say("Appendix A", "edges of a greedy 3-spanner", "O(n^1.5)", fmt.Sprintf("at most %.2g n^1.5", edges), exhibit.If(edges < 1, exhibit.Holds), "")
	r.Say("Theorem 4", "level of the program at eps/3", "eps", fmt.Sprintf("at most %.3g eps", level), exhibit.If(level <= 1, exhibit.Holds), "audited at delta = 0")
	return nil
}
