// Package irc24 has the exhibits of IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric
// differential privacy at the user-level via the earth mover's distance", arXiv
// 2405.02665, version of October 10, 2024.
package irc24

import (
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/emd"
)

// Exhibits are those of the paper, in its order. It has no experiment and no figure: what
// its tables compare by order is computed here.
var Exhibits = []exhibit.Exhibit{
	{Name: "IRC24/table1", About: "the definitions, and what follows from what", Run: definitions},
	{Name: "IRC24/table2a", About: "linear embedding queries: K-norm noise and Duchi's at user level beside PrivEMDLinear", Run: embeddings},
	{Name: "IRC24/thm4.1", About: "linear queries: sensitivity, noise, the example, and the Gaussian scale that is not private", Run: linear},
	{Name: "IRC24/thm4.4", About: "how far shuffling lets the level of an item rise, and what a day shows", Run: shuffling},
	{Name: "IRC24/thm5.3", About: "users of any number of items, by sampling s of each", Run: reduction},
	{Name: "IRC24/thm6.6", About: "frequencies by randomized response on clusters: the bounds and the baselines' levels", Run: bounds},
	{Name: "IRC24/table2b", About: "frequencies: user level beside d_EM at alpha = eps/r, without and with a curator", Run: frequencies},
	{Name: "IRC24/appendix", About: "the lemmas that the proofs use", Run: lemmas},
}

// moves are those of Section 3, which the level of the exhibits is to hide.
var moves = []emd.Move{
	{Fraction: 1. / 30, Distance: 0.08, Eps: 0.2},
	{Fraction: 1, Distance: 0.008, Eps: 0.2},
}

// The example that runs through the paper, at a diameter of 1, 12,930 miles: users of items
// each, the level and the slack.
const (
	alpha, slack = 25, 1e-12
	users, items = 100_000, 1000
	miles        = 12_930
)
