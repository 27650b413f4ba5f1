// Package anywhere makes mechanisms with a list of outputs that take inputs from anywhere: a fix
// of a phone, to which one of a list of shops answers.
//
//	m, err := anywhere.Earth(ctx, alpha, shops, nil)
//	i, err := m.Release(rng, fix)
//
// # Noise, then the best answers
//
// [Line], [Plane], [Earth] and [Manhattan] add exact noise of level alpha and answer to what comes
// out, sorted into cells, by a distribution of outputs. Whatever the answers are, that is
// post-processing: the guarantee is the noise's, for all inputs and all bits, with nothing held
// back. The best answers are those of a linear program without privacy constraints, a matrix game
// between cells and inputs (remapping, as Chatzikokolakis, ElSalamouny, Palamidessi 2017 call it
// under a prior). They protect the worst place of the region, or the mean over Places.
//
// # Proofs
//
// [Remap.Loss] holds everywhere in the region, not at sampled places only, and [Remap.Bound] says
// how much less any mechanism can lose. On a line they are within some .3 %, on a square of side
// 4/alpha with 16 outputs within 9 %, and noise moved to the nearest output loses 3 % more there.
//
// # Others
//
// [Extend] takes a channel between points of a line or of a grid to all points;
// [TriangulatedLevel] audits one that is interpolated in triangles.
//
// # Errors and cost
//
// An empty list is [metric.ErrEmpty], a wrong number a [*metric.ValueError]. Where ctx ends there is
// no result. Seconds for regions up to some 10/alpha and 50 outputs, most of it the game of some
// hundred rounds of 1,600 places, 4,000 cells and all outputs.
//
// # Who should not use it
//
// In regions wider than some 20/alpha cells are coarser than noise, and answers worse: there
// additive.Snap may lose less. For listed inputs lp.Optimal loses least.
package anywhere
