package kl10

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// databases are all of n records among m points, as the shares at each point: one record
// moves them by 1/n in total variation. The answers to thresholds are the shares up to each
// point but the last.
func databases(n, m int) (shares, answers [][]float64) {
	var each func(left int, counts []int)
	each = func(left int, counts []int) {
		if len(counts) < m-1 {
			for c := range left + 1 {
				each(left-c, append(counts, c))
			}
			return
		}
		sum, share, answer := 0, make([]float64, 0, m), make([]float64, 0, m)
		for _, c := range append(counts, left) {
			sum += c
			share, answer = append(share, float64(c)/float64(n)), append(answer, float64(sum)/float64(n))
		}
		shares, answers = append(shares, share), append(answers, answer[:m-1])
	}
	each(n, make([]int, 0, m))
	return shares, answers
}

// largest is the worst error of a threshold.
func largest(n, m int) metric.Bimetric {
	shares, answers := databases(n, m)
	return metric.Bimetric{Privacy: exhibit.Must(metric.NewPoints(shares, metric.TotalVariation{})), Utility: exhibit.Must(metric.NewPoints(answers, metric.Chebyshev{}))}
}

// squared is the root of the mean squared error of the thresholds on databases of one record.
// The answers to two records that are k points apart differ in k of the m-1 answers, by 1, and
// what is halfway between them is near to those in between too: no output serves more
// records than such a middle does.
func squared(m int, gamma float64) metric.Bimetric {
	shares, answers := databases(1, m)
	reach := int(4 * gamma * gamma * float64(m-1))
	for x := 0; x+reach < m; x++ {
		middle := make([]float64, m-1)
		for i := range middle {
			middle[i] = (answers[x][i] + answers[x+reach][i]) / 2
		}
		answers = append(answers, middle)
	}
	for _, a := range answers {
		for i := range a {
			a[i] /= math.Sqrt(float64(m - 1))
		}
	}
	return metric.Bimetric{Privacy: exhibit.Must(metric.NewPoints(shares, metric.TotalVariation{})), Utility: exhibit.Must(metric.NewPoints(answers, metric.Euclidean{}))}
}

// ranges encloses eps* of thresholds, under the largest and the mean squared error.
func ranges(ctx context.Context, r *exhibit.Run) {
	t := kl10.Target{Gamma: .2 * (1 + 1e-9), Delta: .05} // clear of rounding
	var series []demo.Series
	add := func(name string, sizes []int, space func(m int) metric.Bimetric) *lp.MostPrivateSolution {
		s, last := demo.Series{Name: name}, (*lp.MostPrivateSolution)(nil)
		for _, m := range sizes {
			last = solve(ctx, space(m), t)
			s.X, s.Y = append(s.X, float64(m)), append(s.Y, last.Level.Hi)
			s.Lo, s.Hi = append(s.Lo, last.Level.Lo), append(s.Hi, last.Level.Hi)
		}
		series = append(series, s)
		return last
	}
	span := func(s demo.Series) string {
		last := len(s.X) - 1
		return fmt.Sprintf("%.2f to %.2f, m = %v to %v", s.Lo[0], s.Hi[last], s.X[0], s.X[last])
	}
	sizes := []int{5, 10, 20, 40, 80, 160, 320}
	one := add("one record, largest error", sizes[:exhibit.Size(r, 5, 7)], func(m int) metric.Bimetric { return largest(1, m) })
	s, exact := series[0], true
	for i, m := range s.X {
		want := respond(int(m), t.Delta)
		exact = exact && s.Lo[i] <= want*(1+1e-9) && want <= s.Hi[i]*(1+1e-9) && s.Hi[i]-s.Lo[i] < 1e-2*want
	}
	r.Say("Section 3", "thresholds over a continuum, here m points, one record", "no mechanism", span(s), exhibit.If(exact, exhibit.Holds),
		"eps*(.2, .05) is ln((m-1)(1-delta)/delta), both ends proved: answers are 1 apart, their balls disjoint in any Y; thresholds are among the ranges")
	bound := exhibit.Must(lp.LevelLowerBound(ctx, largest(1, exhibit.Size(r, 1000, 2000)), t))
	r.Say("Section 3", fmt.Sprintf("the same for m = %d, by packing", len(bound.Packing)), "no mechanism", bound.Level, exhibit.Near(bound.Level, respond(len(bound.Packing), t.Delta), 1e-9), "")

	add("two records, largest error", []int{3, 4, 6, 8, 10, 13, 16}[:exhibit.Size(r, 5, 7)], func(m int) metric.Bimetric { return largest(2, m) })
	s = series[1]
	grows := true
	for i, m := range s.X {
		grows = grows && s.Lo[i] >= respond(int(m), t.Delta)*(1-1e-3)
	}
	r.Say("Section 3", "the same, two records, privacy by the share that is replaced", "no mechanism", span(s), exhibit.If(grows, exhibit.Holds), "never below that of one record: n records may all be equal")
	least, enough := exhibit.Must2(one.RecordsFor(.1, nil))
	r.Say("Remark 2.4", fmt.Sprintf("records for m = %v at eps = .1", series[0].X[len(series[0].X)-1]), "N = eps*/eps", fmt.Sprintf("%d to %d", least, enough), exhibit.If(enough >= least, exhibit.Holds), "more and more as m grows: none is enough for a continuum")

	lipschitz := 0.0
	for _, b := range []metric.Bimetric{largest(1, 12), largest(3, 5)} {
		lipschitz = max(lipschitz, exhibit.Largest(b.Lipschitz(ctx)))
	}
	r.Say("Remark 2.5", "the vector of answers to a class of queries, L_inf: Lipschitz constant", "1", lipschitz, exhibit.Near(lipschitz, 1, 1e-9), "Blum-Ligett-Roth's utility, by metric.Chebyshev; shares of records under metric.TotalVariation")
	add("one record, root mean squared error", sizes[:exhibit.Size(r, 5, 6)], func(m int) metric.Bimetric { return squared(m, t.Gamma) })
	s = series[2]
	last, limit := len(s.X)-1, respond(7, t.Delta)
	r.Say("Remark 2.5", "the same answers under L_2, Hardt-Talwar's, here in the mean", "-", span(s), exhibit.If(s.Hi[last] <= limit*(1+1e-3) && s.Hi[last] < .8*series[0].Lo[last], exhibit.Holds),
		fmt.Sprintf("a compact space: an output serves 4 gamma^2 = .16 of the records, and eps* is at most ln(6(1-delta)/delta) = %.2f for all m", limit))
	r.WriteCharts("kl10-sec3.png", &demo.Chart{Title: "eps*(.2, .05) of thresholds on m points", X: "points m", Y: "eps* (least level per unit)", LogX: true, Series: series,
		Note: "Under the largest error eps* grows like ln(m), without end: on a continuum there is no mechanism. Under the mean squared error there is."})
}
