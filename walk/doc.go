// Package walk makes noise for measures: numbers for the cells of a line, or the leaves of
// any tree, that hide single records and nearly cancel in partial sums.
//
//	t, err := walk.Levels(2, 3)
//	scales, err := t.EqualScales(walk.ReplaceOne)
//	w, err := walk.New(t, walk.DiscreteLaplace, scales)
//
// Independent noise on n cells puts partial sums, and the distance from the truth in W1, off
// by sqrt(n); noise on a tree, by (log n)^(3/2): a record changes the total and one difference
// of halves a level, and a partial sum meets the noise once a level.
//
//   - [Balanced], [Levels] and [NewTree] make a tree, best with 10 to 20 children a node.
//   - [Tree.CountsInt] and [Tree.HaarInt] go from cells to counts or differences of halves;
//     [Tree.Center] and [Tree.HaarInverse] make noisy ones consistent.
//   - [Tree.EqualScales] gives the scales; [Tree.Normalize] makes any scales private at
//     level 1, [Scales.At] at a level.
//   - [New] makes the [Walk] of a [Distribution]; [Superregular] is that of BSV22.
//   - [Walk.AddShares] releases a measure with real noise, [Walk.AddCounts] and [Walk.AddHaar]
//     counts with integers.
//   - [NewNoise] is the noise of one node, for trees too large for memory.
//   - [Walk.RMS] and [Walk.Variances] are errors in closed form, [Tree.Loss] the privacy loss.
//
// # Guarantees
//
// Losses are exact or rounded up, and hold for the bits of every release. Integer noise has
// exactly the stated probabilities; AddShares rounds the ideal release once, to a public grid.
// A nil rng is secure.
//
// # Cost
//
// O(n): 35 ns a leaf for counts, 65 for shares, and 20 bytes a node.
//
// # Who should not use it
//
// Whoever wants single cells, or synthetic data (package mechanism/measure). Tree, gaps and
// scales must be public.
//
// # References
//
//   - BSV22: Boedihardjo et al., Private measures, random walks, and synthetic data.
//   - HT10: Hardt, Talwar, On the geometry of differential privacy.
package walk
