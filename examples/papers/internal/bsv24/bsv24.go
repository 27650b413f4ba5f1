// Package bsv24 has the exhibits of BSV24: the numbered statements of all sections. The paper
// has no figure, no table and no measured number, and constants are never named: a number in
// its column is an exponent or stands in a formula.
package bsv24

import (
	"fmt"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "BSV24/thm1.5", About: "one metric, connected: A between the entropic scales at 2 alpha and alpha/3", Run: connected},
	{Name: "BSV24/sec1.4", About: "questions (i) and (iii): a limit to what two metrics can have", Run: question},
	{Name: "BSV24/sec2", About: "the entropic scale, packing numbers, and the doubling and the outer scale", Run: section2},
	{Name: "BSV24/thm1.7", About: "A between scales at 2 alpha and below alpha: sections 3 to 5, and question (ii) of 1.4, answered", Run: bounds},
	{Name: "BSV24/thm6.1", About: "A and s of the unit ball of a d-dimensional norm: min(1, d/alpha)", Run: balls.run},
	{Name: "BSV24/thm6.2", About: "A and s of the measures on [0,1]^d under W1: min(1, alpha^(-1/(d+1)))", Run: measures.run},
	{Name: "BSV24/thm6.3", About: "A and s of the Lipschitz functions on [0,1]^d: min(1, alpha^(-1/(d+1)))", Run: lipschitz.run},
	{Name: "BSV24/thm6.4", About: "the scales of the Baire cube in closed form, and A between them", Run: baire},
}

// tally counts the cases in which a claim holds.
type tally struct{ ok, all int }

func (t *tally) add(ok bool) {
	t.all++
	if ok {
		t.ok++
	}
}

// say is one line of an exhibit, which fails unless the claim held in all cases.
func (t tally) say(r *exhibit.Run, place, claim, paper string, v exhibit.Verdict, why string) {
	r.Say(place, claim, paper, fmt.Sprintf("%d of %d", t.ok, t.all), exhibit.If(t.all > 0 && t.ok == t.all, v), why)
}

// levels are from, from*by, ... up to last.
func levels(from, last, by float64) (alphas []float64) {
	for a := from; a <= last*(1+1e-9); a *= by {
		alphas = append(alphas, a)
	}
	return alphas
}
