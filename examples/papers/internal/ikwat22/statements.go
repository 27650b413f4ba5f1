package ikwat22

import (
	"context"
	"fmt"
	"math"
	"slices"

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
	upper := slices.Repeat([]float64{apart}, n*(n-1)/2)
	for j := range n - 1 {
		upper[j] = 1
	}
	return exhibit.Must(metric.NewDense(n, upper))
}

// holeLosses are those of the exponential mechanism and of Lemma 1's weights.
func holeLosses(ctx context.Context, f *metric.Dense, eps float64) (plain, weighted float64, c *mechanism.Channel) {
	y := slices.Repeat([]float64{1 / float64(f.Len()-1)}, f.Len())
	y[0] = 1
	c = exhibit.Must(exponential.Standard(ctx, f, eps, nil)).Channel
	plain, _ = exhibit.Must(c.Loss(ctx, f)).Worst()
	weighted, _ = exhibit.Must(exhibit.Must(exponential.Weighted(ctx, f, eps, y, nil)).Loss(ctx, f)).Worst()
	return plain, weighted, c
}

// lemma1 runs Section 3.1.
func lemma1(ctx context.Context, r *exhibit.Run) {
	for _, k := range []struct{ n, eps float64 }{{10, 5}, {100, 10}} {
		q := math.Exp(-k.eps / 2)
		plain, weighted, c := holeLosses(ctx, hole(int(k.n), 1e-9), k.eps)
		far, farWeighted, _ := holeLosses(ctx, hole(int(k.n), .1), k.eps)
		ratio, at := weighted/plain, fmt.Sprintf(", n = %v, eps = %v", k.n, k.eps)
		r.Say("Lemma 1", "L(Exp_Y)/L(Exp)"+at, "(1/(n-1) + q)/(1 + q), q = e^(-eps/2)", fmt.Sprintf("%.6g", ratio), exhibit.Near(ratio, (1/(k.n-1)+q)/(1+q), 1e-6),
			fmt.Sprintf("equal in the limit where the others meet, which is what the proof has; %.3g where they are .1 apart", farWeighted/far))
		r.Say("Lemma 1", "the same, as eps >= 2 ln n"+at, "at most 2/(n-1)", fmt.Sprintf("%.3g of it", ratio*(k.n-1)/2), exhibit.If(k.eps >= 2*math.Log(k.n) && ratio <= 2/(k.n-1), exhibit.Holds), "")
		p := c.Prob(0, 1)
		r.Say("Section 3.1", "P[w_1 -> w_j]"+at, "e^-eps/(1 + n e^-eps)", fmt.Sprintf("%.4g, not %.4g", p, q*q/(1+k.n*q*q)), exhibit.If(math.Abs(p-q/(1+(k.n-1)*q)) < 1e-9, exhibit.Corrected),
			"two slips: e^(-eps/2)/(1 + (n-1) e^(-eps/2)) by the mechanism's own factor 1/2, as (16) of the proof has it")
	}
	few, _, _ := holeLosses(ctx, hole(10, 1e-9), 5)
	many, _, _ := holeLosses(ctx, hole(500, 1e-9), 5)
	r.Say("Section 3.1", "L(Exp) at eps = 5 as n grows", "to 1", fmt.Sprintf("%.3f at n = 10, %.3f at 500", few, many), exhibit.If(few < many && many > .95, exhibit.Holds), "")
	s := geoLife.space(ctx, 60, 0)
	y, rng, worst := make([]float64, s.Len()), r.Rand(), 0.
	for _, eps := range []float64{.1, 1, 10} {
		for i := range y {
			y[i] = math.Exp(3 * rng.NormFloat64())
		}
		worst = max(worst, exhibit.Must(exhibit.Must(exponential.Weighted(ctx, s, eps, y, nil)).Audit(ctx, s, nil)).Hi/eps)
	}
	r.Say("Proposition 1", "level of random positive weights", "eps", fmt.Sprintf("at most %.3g eps", worst), exhibit.If(worst <= 1, exhibit.Holds), "audited, on 60 cells, as Definition 1 and (2) have it")
}

// programs counts the programs of Theorem 1 and Table 1.
func programs(ctx context.Context, r *exhibit.Run) {
	const k = 10 // neighbors
	counted, ns := []string{"variables", "rows", "nonzeros"}, []int{50, 100, 200, 400}
	t := demo.NewTable("words", "count", "OPTMech", "Spanner", "ConstOPT (10)", "by Theorem 1", "at most, Corollary 1")
	var first, last, bounds [3][5]int64 // by what is counted, the table's columns
	for i, n := range ns {
		s := fastText.space(ctx, n, r.Seed)
		b := metric.Same(s)
		m, s1, s2 := sums(ctx, s, k)
		for j, size := range []lp.Size{exhibit.Must((*lp.Options)(nil).Size(ctx, b)), exhibit.Must((*lp.SpannerOptions)(nil).Size(ctx, b)),
			exhibit.Must((&lp.ConstOptions{Neighbors: k}).Size(ctx, b)), {Variables: m + 1 + s1, Rows: 2*m + 2*s2 + 3*s1, Nonzeros: 2*m*m + 2*s2 + 5*s1},
			{Variables: m*k + m + 1, Rows: m*m*k + 3*m*k + 2*m, Nonzeros: 2*m*m + 5*m*k + 2*m*m*k}} {
			last[0][j], last[1][j], last[2][j] = size.Variables, size.Rows, size.Nonzeros
		}
		for c, l := range last {
			t.Row(n, counted[c], l[0], l[1], l[2], l[3], l[4])
			bounds[c][4] += max(0, l[2]-l[4], l[2]-l[3])
		}
		if i == 0 {
			first = last
		}
	}
	r.Print(t)
	r.Say("Theorem 1", "variables, 400 words, r = 10", "n + 1 + sum|I|", last[0][2], exhibit.If(last[0][2] == last[0][3], exhibit.Holds), "")
	r.Say("Theorem 1", "rows, 400 words, r = 10", "2n + sum(2|I|^2 + 3|I|)", last[1][2], exhibit.If(last[1][2] < last[1][3], exhibit.Corrected),
		"as printed, and in Table 3, pairs count twice; the proof has (22) once, |I|^2 rows, and here M >= 0 and u = v are no rows")
	r.Say("Theorem 1", "nonzeros, 400 words, r = 10", "at most 2n^2 + sum(2|I|^2 + 5|I|)", last[2][2], exhibit.If(last[2][2] <= last[2][3], exhibit.Holds), "")
	for c, paper := range [3][3]float64{{2, 2, 1}, {3, 2.5, 2}, {3, 2.5, 2}} {
		r.Say("Corollary 1", counted[c]+", I_NN,r", []string{"nr + n + 1", "n^2 r + 3nr + 2n", "2n^2 + 5nr + 2n^2 r"}[c], fmt.Sprintf("at most %.2g of it", float64(last[c][2])/float64(last[c][4])), exhibit.If(bounds[c][4] == 0, exhibit.Holds), "")
		var power [3]float64
		for i := range power {
			power[i] = math.Log(float64(last[c][i])/float64(first[c][i])) / math.Log(8)
		}
		within := power[0] <= paper[0]+.02 && power[1] <= paper[1] && power[2] <= paper[2]
		r.Say("Table 1", counted[c]+" of OPTMech, Spanner, ConstOPT at fixed r", fmt.Sprintf("n^%v, n^%v, n^%v at most", paper[0], paper[1], paper[2]),
			fmt.Sprintf("n^%.2f, n^%.2f, n^%.2f", power[0], power[1], power[2]), exhibit.If(within, exhibit.Holds), "")
	}
	m, s1, s2 := sums(ctx, fastText.space(ctx, 200, r.Seed), 1)
	r.Say("Section 3.2", "(5): a point is its own nearest neighbor", "no: r = n-1 fixes nothing", fmt.Sprintf("yes: then r = 1 has %d rows", rows(m, s1, s2)), exhibit.If(rows(m, s1, s2) == 81000, exhibit.Corrected),
		"Table 3 has as many; metric.Index.ReverseNeighbors counts so too")
	m, s1, s2 = sums(ctx, geoLife.space(ctx, 400, 0), k)
	r.Say("Section 3.2", "sum(|I|^2 + |I|) where no |I| reaches 10r", "at most 110 n r^2", fmt.Sprintf("%.2g of it on 400 cells", float64(s1+s2)/float64(110*m*k*k)), exhibit.If(s1+s2 <= 110*m*k*k, exhibit.Holds), "")
}

// theorem2 audits Algorithm 1.
func theorem2(ctx context.Context, r *exhibit.Run, n int) {
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
}

// theorem3 sets the packings of farthest-first orders against the optimum.
func theorem3(ctx context.Context, r *exhibit.Run, n int) {
	s := geoLife.space(ctx, n, 0)
	order, radii := exhibit.Must2(metric.FarthestFirst(ctx, s, n, 0))
	far := exhibit.Largest(metric.Diameter(ctx, s))
	t := demo.NewTable("eps", "(8)", "(7)", "lp.LowerBound", "lp.Optimal")
	ordered, outside, special, best := true, 1., 0., 0.
	for _, eps := range []float64{.02, .1, .3, 1} {
		var simple, seven, proved, wide float64
		for c := 1; c <= n; c++ {
			packing, radius := order[:c], radii[max(c-1, 1)]/2*(1-1e-12)
			for _, y := range packing {
				wide = max(wide, s.Distance(order[c-1], y))
			}
			for x := range n {
				sum := 0.
				for _, y := range packing {
					sum += math.Exp(-eps * s.Distance(x, y))
				}
				if seven = max(seven, radius*(1-1/sum)); !slices.Contains(packing, x) {
					outside = min(outside, sum)
				}
			}
			simple = max(simple, radius*(1-1/(1+float64(c-1)*math.Exp(-wide*eps))))
			proved = max(proved, exhibit.Must(lp.LowerBound(ctx, metric.Same(s), eps, packing)).Value)
		}
		optimum := exhibit.Must(lp.Optimal(ctx, metric.Same(s), eps, &lp.Options{Tolerance: tolerance})).Objective
		t.Row(eps, simple, seven, proved, optimum)
		ordered = ordered && simple <= seven && seven <= proved*(1+1e-9) && proved <= optimum
		best, special = max(best, seven/optimum), max(special, far/2*math.Exp(-far*eps)/(1+math.Exp(-far*eps))/optimum)
	}
	r.Print(t)
	r.Say("Theorem 3", "(8) and (7) below every loss", "r(1 - 1/N(w, S))", fmt.Sprintf("at most %.2g of the optimum", best), exhibit.If(ordered, exhibit.Holds),
		fmt.Sprintf("on %d cells, packings of Definition 2 from a farthest-first order; lp.LowerBound says at least as much", n))
	r.Say("Section 4", "N(w, S) >= 1", "for all w", fmt.Sprintf("as little as %.2g", outside), exhibit.If(outside < 1, exhibit.Corrected), "for w in S only; elsewhere (7) may be negative, and holds")
	r.Say("Section 4", "the two farthest points", "(r*/2) e^(-r* eps)/(1 + e^(-r* eps))", fmt.Sprintf("at most %.2g of the optimum", special), exhibit.If(special <= 1, exhibit.Holds), "")
}

// theorem4 makes 3-spanners and audits SpannerMech.
func theorem4(ctx context.Context, r *exhibit.Run, n int) {
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
		where, edges := fmt.Sprintf(", %d points for %s", n, d.name), float64(len(o.Graph.Edges()))/math.Pow(float64(n), 1.5)
		r.Say("Definition 3", "a 3-spanner G"+where, "d_G <= d <= 3 d_G", fmt.Sprintf("d_G is %.3g to %.3g d", lo, hi), exhibit.If(lo >= 1-1e-9 && hi <= 3+1e-9, exhibit.Corrected), "reversed: d <= d_G <= 3 d")
		r.Say("Appendix A", "edges of a greedy 3-spanner"+where, "O(n^1.5)", fmt.Sprintf("%.2g n^1.5", edges), exhibit.If(edges < 1, exhibit.Holds), "")
		r.Say("Theorem 4", "level of the program at eps/3"+where, "eps", fmt.Sprintf("%.3g eps", o.Audited.Hi/d.level), exhibit.If(o.Audited.Hi <= d.level, exhibit.Holds), "audited at delta = 0")
	}
}
