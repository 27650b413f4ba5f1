// Package bsv24 has the exhibits of BSV24: rates of families of spaces (section 6),
// bounds on random spaces (sections 3 to 5) and the question of section 1.4.
package bsv24

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "BSV24/sec1.4", About: "question (ii), answered: one metric has A <= 25 max(s, s_o), connected or not; and a limit to what two metrics can have", Run: question},
	{Name: "BSV24/thm3.1", About: "the entropic scale at 2 alpha bounds the optimal accuracy A from below", Run: below{"s(Z, 2 alpha)/8", 8, func(f figures) float64 { return f.entropic2.Hi },
		"in the printed proof a ceiling must be a floor; the statement stands"}.run},
	{Name: "BSV24/thm3.2", About: "so does the diametric scale", Run: below{"s_o(Z, 2 alpha)/5", 5, func(f figures) float64 { return f.diametric2.Hi }, ""}.run},
	{Name: "BSV24/lemma4.1", About: "one metric: the exponential mechanism on a net of the entropic scale at alpha/3", Run: oneMetric},
	{Name: "BSV24/thm5.1", About: "utility an ultrametric: the relaxed mechanism, and A between two sums of scales", Run: ultrametric},
	{Name: "BSV24/thm6.1", About: "A and s of the unit ball of a d-dimensional norm: min(1, d/alpha)", Run: balls.run},
	{Name: "BSV24/thm6.2", About: "A and s of the measures on [0,1]^d under W1: min(1, alpha^(-1/(d+1)))", Run: measures.run},
	{Name: "BSV24/thm6.3", About: "A and s of the Lipschitz functions on [0,1]^d: min(1, alpha^(-1/(d+1)))", Run: lipschitz.run},
	{Name: "BSV24/thm6.4", About: "the scales of the Baire cube in closed form, and A between them", Run: baire},
}
