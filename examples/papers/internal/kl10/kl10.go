// Package kl10 has the exhibits of KL10.
package kl10

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{}
