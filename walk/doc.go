// Package walk makes noise for measures: numbers for the points of a line, or
// the leaves of any tree, that hide single records and yet nearly cancel in
// every partial sum.
//
// # The problem
//
// A histogram with n cells is private once independent Laplace noise of scale 1
// is on each cell. But the distribution function of the noisy histogram is off
// by sqrt(n), and so is its distance from the truth in W1. The superregular
// random walk of BSV22, [Superregular], is as private and has partial sums of
// only (log n)^(3/2); its relatives here are up to twice as accurate.
//
// # Trees and Haar coefficients
//
// Halve the cells, and each half again, until single cells remain: a binary
// tree of height L = log2 n ([Balanced]). Its Haar coefficients ([Tree.Haar])
// are the total and, for each node, the difference D of the sums below its two
// children: (P+D)/2 and (P-D)/2 where its own is P ([Tree.HaarInverse]).
//
// A record changes the total, and each D above its cell, by 1: with Laplace
// noise of scale L+1 on each the joint density changes by at most a factor e. A
// partial sum meets noise only where its end cuts a node in two, once a level:
// L+1 terms, whence (L+1)^(3/2).
//
// # What is compared
//
// [Relation] names the neighbors. With [AddRemoveOne] the sensitivity is the L+1
// above. With [ReplaceOne] one record moves; below the node where the two cells
// part, both branches change, and D at that node by two: at most 2L.
// [Tree.Sensitivity] reads it off any tree, exactly; [Tree.Loss] where scales
// differ.
//
// This package knows no privacy budget. Scales have a loss of 1 per unit of the
// relation; [Scales.At] divides them by a level alpha.
//
// # Wider trees
//
// With k children a node there are h = log n / log k levels. Noise of scale b
// on each child's count, then one number added to all children so that they sum
// to their parent ([Tree.Center]), has sensitivity 2h under ReplaceOne. Scale
// and number of terms fall by log2 k, while a term grows by sqrt(k): the error
// is prop. to sqrt(k/(log k)^3), least at k = 20 and flat from 8 to 40
// ([Levels], [Laplace]).
//
// Best of all, draw the k children's noise at once: [KNorm], at k logarithms
// and a shuffle.
//
// Noise RMS of partial sums at level 1 per unit of total variation, in closed
// form ([Walk.RMS]):
//
//	                          n = 1,024     n = 65,536
//	BSV22, scale 2(L+2)           37.53          66.81
//	binary, ReplaceOne            26.67          53.33
//	Laplace, k = 32 | 16          18.33          36.06
//	KNorm, k = 10 | 16            17.78          35.45
//
// (KNorm with k = 10 has 1,000 leaves.)
//
// # Scales
//
// Levels need not share the loss equally. [Tree.EqualScales] suits cells of an
// interval. For cells of R^d scales prop. to side^((d-1)/2) have the least
// a-priori bound; side^(1/4) did best in simulation for d = 2 and 3.
// [Tree.Normalize] makes any scales private at level 1.
//
// # Counts
//
// Counts are integers. [DiscreteHaar] and [DiscreteLaplace] add integers whose
// probabilities are exact for the scale as a real number: release by
// [Tree.HaarInt] and [Walk.AddHaar], or [Tree.CountsInt] and [Walk.AddCounts].
// For a histogram, in order: [Balanced], [Tree.EqualScales] of the relation,
// [Scales.At] the level, [New] with DiscreteLaplace, CountsInt, AddCounts. What
// is then private is the counts of all nodes; cell i is at [Tree.LeafNode](i).
// The rest is post-processing, in float64: [Tree.HaarInverse] or [Tree.Center],
// without which partial sums have far more noise.
//
// The real distributions are statements about real numbers. The low bits of
// their float64 draws can give inputs away (see package mechanism/additive);
// where a proof must reach the bits, take the integers.
//
// # Randomness
//
// nil is a secure generator and the choice for private data; another rng makes
// runs repeatable, for tests.
//
// # Cost
//
// A draw takes some 15 ns a leaf for real numbers and 35 ns for integers;
// microseconds at scales above 2^48. A [Tree] has 20 bytes a node.
//
// # Who should not use it
//
// Whoever wants single cells rather than sums: independent noise per cell is
// smaller by the number of levels. Or a private measure, or synthetic data,
// rather than its noise: package mechanism/measure does all the rest.
//
// A tree, its gaps and its scales must be public, and what is computed before
// noise is as secret as the data.
//
// # References
//
//   - BSV22: Boedihardjo, Strohmer, Vershynin, "Private measures, random walks,
//     and synthetic data" (2022): the superregular walk.
//   - HT10: Hardt, Talwar, "On the geometry of differential privacy" (2010):
//     the K-norm mechanism.
//   - Xiao, Wang, Gehrke, "Differential privacy via wavelet transforms" (2010):
//     noise on Haar coefficients.
//   - Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially
//     private histograms through consistency" (2010): counts on trees.
package walk
