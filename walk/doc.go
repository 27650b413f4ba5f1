// Package walk makes noise for measures: numbers for the cells of a line, or the leaves of
// any tree, that hide single records and yet nearly cancel in every partial sum.
//
// A histogram with n cells is private once independent noise is on each cell. But its
// partial sums are then off by sqrt(n), and so is its distance from the truth in W1. With
// noise on a tree they are off by (log n)^(3/2). Halve the cells, and each half again: a
// record changes the total and one difference of halves in every level, which all get noise
// of scale log n + 1. A partial sum meets it only where its end cuts a half in two, once a
// level.
//
// # Trees
//
//   - [Balanced], [Levels], [NewTree] make one. Ten to twenty children a node are best.
//   - [Tree.Counts], [Tree.Haar] go from cells to counts or to differences of halves;
//     [Tree.Center], [Tree.HaarInverse] make noisy ones consistent.
//
// # Noise
//
//   - [Tree.EqualScales] gives the scales; [Tree.Normalize] makes any scales private at
//     level 1, [Scales.At] at a level.
//   - [New] makes the [Walk] of a [Distribution]; [Superregular] is that of BSV22.
//   - [Walk.AddShares] releases a measure with real noise, [Walk.AddCounts] and [Walk.AddHaar]
//     counts with integers. [Walk.Increments] is noise alone, for simulation.
//   - [NewNoise] is the noise of one node, for trees too large for memory.
//
// # Before any data
//
//   - [Walk.RMS] and [Walk.Variances] are errors in closed form.
//   - [Tree.Loss] and [Tree.Sensitivity] are the privacy loss of a [Relation] between
//     neighbors.
//
// # What is guaranteed
//
// Losses are exact or rounded up, and hold for the bits of every release. Integer noise has
// exactly the probabilities that its scale states; AddShares rounds the ideal release of real
// noise once, to a public grid. A nil rng is secure; another makes tests repeatable.
//
// # Cost
//
// O(n): some 35 ns a leaf for counts and 65 ns for shares, and 20 bytes a node.
//
// # Who should not use it
//
// Whoever wants single cells: independent noise is smaller by the number of levels. Or a
// private measure or synthetic data: package mechanism/measure does all the rest. Tree,
// gaps and scales must be public.
//
// # References
//
//   - BSV22: Boedihardjo et al., Private measures, random walks, and synthetic data.
//   - HT10: Hardt, Talwar, On the geometry of differential privacy.
package walk
