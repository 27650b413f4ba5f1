// Package kl10 has the exhibits of KL10: the least privacy level eps*(gamma, delta) at
// which some mechanism is farther than gamma from the truth with probability at most
// delta, as an interval, where it is finite and where it grows without bound.
package kl10

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "KL10/def2.3", About: "eps*(gamma, delta), an infimum over all mechanisms, enclosed", Run: least},
	{Name: "KL10/formula", About: "the base-measure exponential mechanism reaches every target, at a level that the paper's formula overstates", Run: formula},
	{Name: "KL10/compact", About: "a compact completion is necessary and sufficient: finer compact spaces stay bounded, truncations of others do not", Run: compact},
}
