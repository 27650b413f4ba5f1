// Package bsv22 has the exhibits of BSV22: Boedihardjo, Strohmer, Vershynin,
// "Private measures, random walks, and synthetic data", arXiv 2204.09167.
package bsv22

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "BSV22/figures", About: "the paper's five drawings", Run: figures},
	{Name: "BSV22/thm3.1", About: "a random walk as private as independent Laplace steps that stays within log^2 n, and what no such walk can do", Run: walks},
	{Name: "BSV22/thm5.4", About: "private measures on [0,1]: Haar noise, the total's too, and the nearest measure on the line", Run: lines},
	{Name: "BSV22/thm6.3", About: "the shortest tour is at most 16 times the covering integral, and folds the line", Run: tours},
	{Name: "BSV22/thm7.2", About: "private measures on a space err by the covering integral times (log n)^(3/2)/alpha", Run: measures},
	{Name: "BSV22/thm8.5", About: "what no private measure and no synthetic data can avoid", Run: lowers},
	{Name: "BSV22/thm9.6", About: "in d dimensions the least error is n^(-1/d): two ends, both proved", Run: exponents},
}
