// Package irc24 has the exhibits of IRC24.
package irc24

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{}
