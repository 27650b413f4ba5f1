// Package ikwat22 has the exhibits of IKWAT22.
package ikwat22

import "github.com/metricdp/metricdp/examples/papers/internal/exhibit"

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{}
