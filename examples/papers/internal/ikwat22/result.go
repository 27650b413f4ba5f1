package ikwat22

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// unseen is why no claim here has a number of the paper.
const unseen = "the paper's numbers were not at hand"

// result is losses L_.95 at one place after the other, levels or sizes, NaN where there
// was no mechanism, and the lines that the paper draws beside them.
type result struct {
	loss           map[string][]float64 // by schemes' names
	floor, uniform []float64
}

// measureAt adds a place: the losses at a level of the schemes, and NaN for what is in
// schemes() but not among them.
func (t *result) measureAt(ctx context.Context, s space, level float64, list []scheme) error {
	if t.loss == nil {
		t.loss = map[string][]float64{}
	}
	for _, m := range schemes() {
		t.loss[m.name] = append(t.loss[m.name], math.NaN())
	}
	last := len(t.floor)
	for _, m := range list {
		p, err := m.at(ctx, s, level)
		if err != nil {
			return err
		}
		t.loss[m.name][last] = p.loss
	}
	least, err := floor(ctx, s, level, delta, share)
	if err != nil {
		return err
	}
	all, err := uniform(s)
	t.floor, t.uniform = append(t.floor, least), append(t.uniform, all)
	return err
}

// draw is the picture of the losses at these places.
func (t *result) draw(r *exhibit.Run, file string, places []float64, chart *demo.Chart) error {
	for _, m := range schemes() {
		chart.Series = append(chart.Series, demo.Series{Name: m.name, X: places, Y: t.loss[m.name]})
	}
	chart.Series = append(chart.Series, demo.Series{Name: "lower bound", X: places, Y: t.floor}, demo.Series{Name: "constant, uniform", X: places, Y: t.uniform})
	return r.WriteCharts(file, chart)
}

// The mechanism of the paper, and those that it is to be below.
var (
	ours    = constOPTMech(neighbors).name
	theirs  = []string{exponentialMech().name, spannerMech(stretch).name}
	optimum = optMech().name
)

// sayAll has the claims that all comparisons share, about the places from lo to hi-1;
// where says which these are. They are not all only where they are levels.
func (t *result) sayAll(r *exhibit.Run, lo, hi int, where string) {
	for _, other := range theirs {
		least, most := ratios(t.loss[ours], t.loss[other], lo, hi)
		verdict, why := exhibit.If(most < 1, exhibit.Holds), unseen
		if lo > 0 { // levels: what is at their ends, too
			all := len(t.floor)
			first, _ := ratios(t.loss[ours], t.loss[other], 0, 1)
			last, _ := ratios(t.loss[ours], t.loss[other], all-1, all)
			why = fmt.Sprintf("%.3g times at the lowest level, %.3g at the highest; %s", first, last, unseen)
			if _, later := ratios(t.loss[ours], t.loss[other], lo+1, hi); most >= 1 && later < 1 && lo+1 < hi {
				verdict = exhibit.Differs
				why = "more at the first of these only: with many points and a low level, r near ones are too few to have unknowns of their own; " + why
			}
		}
		r.Say("", fmt.Sprintf("%s against %s, %s", ours, other, where), "less", span(least, most)+" times", verdict, why)
	}
	worst := math.Inf(1)
	for i := lo; i < hi; i++ {
		if most, least := t.loss[theirs[0]][i], t.loss[optimum][i]; !math.IsNaN(least) {
			worst = min(worst, (most-t.loss[ours][i])/(most-least))
		}
	}
	r.Say("", fmt.Sprintf("%s against OPTMech, %s", ours, where), "close", fmt.Sprintf("at least %.2g of the way", worst),
		exhibit.If(worst > .5, exhibit.Holds), "close is to be more than half the way from the exponential mechanism to OPTMech")
	worst = math.Inf(1)
	for _, losses := range t.loss {
		least, _ := ratios(losses, t.floor, 0, len(losses))
		worst = min(worst, least)
	}
	r.Say("", "all against the lower bound", "above", fmt.Sprintf("at least %.3g times", worst), exhibit.If(worst >= 1, exhibit.Holds),
		fmt.Sprintf("Theorem 3 is about the largest loss and delta = 0; here it is carried to L_%v and delta = %v", share, delta))
}

// ratios are the least and the largest a[i]/b[i], lo <= i < hi, of those that are numbers.
func ratios(a, b []float64, lo, hi int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for i := lo; i < hi; i++ {
		if q := a[i] / b[i]; !math.IsNaN(q) {
			least, most = min(least, q), max(most, q)
		}
	}
	return least, most
}

// span is what lies from least to most, at the precision of claims.
func span(least, most float64) string {
	lo, hi := fmt.Sprintf("%.3g", least), fmt.Sprintf("%.3g", most)
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}
