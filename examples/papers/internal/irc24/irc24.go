// Package irc24 has the exhibits of IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric
// differential privacy at the user-level via the earth mover's distance", arXiv
// 2405.02665.
package irc24

import (
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/emd"
)

// Exhibits are those of the paper, in its order; what its tables compare is
// measured here.
var Exhibits = []exhibit.Exhibit{
	{Name: "IRC24/linear", About: "linear queries: user-level privacy beside privacy under d_EM, errors measured", Run: linear},
	{Name: "IRC24/gaussian", About: "the Gaussian scale of Theorem 4.1 is not private", Run: gaussian},
	{Name: "IRC24/thm4.4", About: "how far shuffling lets the level of an item rise", Run: shuffling},
	{Name: "IRC24/itemwise", About: "item-wise queries: how far an item moves, measured", Run: itemwise},
	{Name: "IRC24/reduction", About: "users of any number of items, by sampling s of each", Run: reduction},
	{Name: "IRC24/frequency", About: "frequencies of clustered items: user-level privacy beside privacy under d_EM, errors measured", Run: estimateAll},
}

// moves are those of Section 3, which the level of the exhibits is to hide.
var moves = []emd.Move{
	{Fraction: 1. / 30, Distance: 0.08, Eps: 0.2},
	{Fraction: 1, Distance: 0.008, Eps: 0.2},
}

// The levels compared, at a diameter of 1: alpha hides the moves at eps, and
// user-level privacy hides everything at eps.
const (
	alpha = 25
	eps   = 0.2
)
