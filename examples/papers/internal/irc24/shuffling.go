package irc24

import (
	"context"
	"fmt"
	"github.com/metricdp/metricdp/metric"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
)

// shuffling runs Theorem 4.4 and its example: n = 1e5 users of m = 1e3 items.
func shuffling(ctx context.Context, r *exhibit.Run) error {
	const n, m, delta = 100_000, 1000, 1e-12
	central := accountant.Shuffle{Records: n * m, Items: m, Diameter: 1}
	local := accountant.Shuffle{Records: m, Items: m, Diameter: 1}
	want := accountant.Promise{Alpha: alpha, Delta: delta}
	for _, s := range []struct {
		name    string
		paper   any
		setting accountant.Shuffle
	}{{"central", "about 3.0", central}, {"local", "", local}} {
		theorem := theorem44{float64(s.setting.Records), m}.budget(alpha, delta)
		verdict, why := exhibit.If(theorem < alpha/float64(m), exhibit.Differs), "less than the alpha/m of plain composition, .025: the theorem gains nothing without other users"
		if s.name == "central" {
			verdict, why = exhibit.If(theorem < 2.95, exhibit.Corrected), "what the theorem's formulas give when solved, with the condition that they need"
		}
		r.Say("", "largest alpha0 by Theorem 4.4, "+s.name, s.paper, theorem, verdict, why)
		bracket := exhibit.Must(s.setting.BudgetInterval(ctx, want))
		r.Say("", "the same, proved and refuted, "+s.name, theorem, fmt.Sprintf("%.4g to %.4g", bracket.Lo, bracket.Hi),
			exhibit.If(theorem < bracket.Lo && bracket.Lo <= bracket.Hi, exhibit.Better),
			fmt.Sprintf("up to the first number every randomizer keeps the promise, by the %v; above the second some randomizer breaks it", bracket.Theorem))
	}
	if err := sayCondition(ctx, r); err != nil {
		return err
	}
	var at, theorem, proved []float64
	for _, a := range exhibit.Size(r, []float64{2, 5, 10, 25, 50, 100, 200, 400}, []float64{1, 2, 3, 5, 7, 10, 15, 25, 35, 50, 70, 100, 150, 200, 300, 400, 600}) {
		b := exhibit.Must(central.Budget(ctx, accountant.Promise{Alpha: a, Delta: delta}))
		at, theorem, proved = append(at, a), append(theorem, theorem44{n * m, m}.budget(a, delta)), append(proved, b.Value)
	}
	return r.WriteCharts("irc24-thm4.4.png", &demo.Chart{
		Title: "What shuffling allows an item", X: "alpha per unit of d_EM", Y: "alpha0 of an item", LogX: true,
		Series: []demo.Series{{Name: "accountant", X: at, Y: proved}, {Name: "Theorem 4.4", X: at, Y: theorem}},
		Note:   "100,000 users of 1,000 items, delta = 1e-12.",
	})
}

// sayCondition breaks the formula of Theorem 4.4 outside its condition: one item a
// user, N = 1000, any two items at distance 1, k-ary response.
func sayCondition(ctx context.Context, r *exhibit.Run) error {
	const n, alpha0, delta = 1000, 12, 1e-12
	k := 8 * (math.Sqrt(math.Exp(alpha0)*math.Log(4/delta)/n) + math.Exp(alpha0)/n)
	level := math.Log1p(math.Tanh(alpha0/2.) * k)
	four := exhibit.Must(metric.NewClustered(4, 1, 1))
	response := exhibit.Must(frequency.NewGKRR(four, alpha0))
	channel := exhibit.Must(response.Channel(ctx))
	shuffled := exhibit.Must(accountant.NewShuffled(ctx, channel, four, accountant.Users{Records: n, Items: 1}))
	d := exhibit.Must(shuffled.DeltaInterval(ctx, level))
	r.Say("", fmt.Sprintf("delta of one of %d items at alpha0 = %d and the formula's alpha = %.2f", n, alpha0, level), delta,
		fmt.Sprintf("%.3f to %.3f", d.Lo, d.Hi), exhibit.If(d.Lo > delta, exhibit.Corrected),
		fmt.Sprintf("the theorem needs alpha0 <= ln(N/(16 ln(2m/delta))), which is %.2f here; delta is that of k-ary response, between two proofs",
			math.Log(n/(16*math.Log(2/delta)))))
	return nil
}
