// Package private makes probability measures private.
//
//	m, err := private.New(d, 50, nil)
//	nu, err := m.Release(seeded(), mu)
//
// # How to begin
//
// Describe the space by a [domain.Domain], which has cells; [domain.Domain.Weights] turns
// points into weights of cells. [New] returns the mechanism, [Measure.Release] a private measure.
// Before any data are read [Measure.Bound] bounds its error in W1, the distance by which mass must
// be moved: that of every mean of a function f with |f(x) - f(y)| <= Distance(x, y).
//
// # Guarantees
//
// A [Measure] is alpha-private per unit of total variation, to the last bit. A release of N
// records, N public, is eps-private for one record replaced where alpha is N eps.
//
// # Cost
//
// A release is linear in the nodes of the domain's tree, which is held in memory: at most
// 2^26 cells. The [Nearest] estimate takes more.
//
// # Who should not use it
//
// Records, of which noise can be discrete and the tree as deep as the data say, have a smaller
// error in package measure.
//
// # References
//
//   - BSV22: Boedihardjo, Strohmer, Vershynin, "Private measures, random walks, and synthetic
//     data".
package private
