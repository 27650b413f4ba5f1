// Package wasserstein computes optimal transport: the W1 distance of two
// measures, the plan that attains it and the potentials that prove it, and the
// probability measure nearest to a signed one.
//
// # The problem
//
// Two measures mu and nu of one total mass lie on a metric space. Moving mass m
// over a distance d costs m*d. W1(mu, nu), the earth mover's distance, is the
// least cost of turning mu into nu, a metric on measures.
//
// [DistanceEM] says how far apart two users are who contribute many records
// each (user-level metric privacy, IRC24). And the expected distance of a
// private measure from the truth bounds the error of every Lipschitz query at
// once (BSV22). Such a measure comes out of the noise signed and is projected
// onto the probability measures.
//
// # Notation
//
// Measures are slices of weights: mu[i] is the mass at point i. By duality
//
//	W1(mu, nu) = min over plans of the sum of plan[i,j]*d(i,j)
//	           = max over potentials of the sum of f[i]*(mu[i]-nu[i]),
//
// plans having the marginals mu and nu, potentials |f[i]-f[j]| <= d(i,j). For
// signed measures of equal mass it is the distance of mu+s and nu+s, for any s
// that makes both >= 0; it does not depend on s.
//
// Totals that differ by more than 2^-30 of the sizes of the measures are a
// [*MassError]. No weight is ever rescaled.
//
// # Which function
//
// Special metrics have closed forms. They take signed measures and cost O(n),
// or O(n log n) for sorting:
//
//   - the real line: [W1Line], [W1LineBetween] for two supports, [W1Samples] for
//     two samples;
//   - trees: [W1Tree], [W1TreeNodes], [W1Ultrametric] for dendrograms,
//     [W1Clustered].
//
// Any finite metric: [W1], by the network simplex, and [Between] for two sets of
// points or any costs; [Assignment] and [DistanceEM] for multisets. For a million
// points of R^d, [Options].Cells brackets the distance in seconds.
//
// The nearest probability measure to a signed one: [ProjectLine],
// [ProjectTree], and [Project] on any finite metric. [IsotonicL1] and
// [ProjectSimplex] are their kernels; the latter from the root of a tree down
// is usually the better estimate of noisy counts.
//
// # What is exact, and what is bounded
//
// The closed forms are exact up to rounding, a few units in the last place at
// any number of points, because their sums run in double-double arithmetic.
//
// [W1], [Between] and [Assignment] find an exact optimum and prove it: their
// results hold the plan and the potentials, and the interval between the two
// costs, computed from these alone and rounded outward ([Certify] does it for
// plans from elsewhere). Whatever the solver did, the distance lies in there.
// Where the points have coordinates, the proof rests on what [metric.Embedding]
// promises of them besides.
//
// The projections return a minimizer up to rounding.
//
// # Cost
//
// [W1], [Between] and [Project] on n points make some ten passes over the n^2
// costs, on every core, and about ten pivots a point, of O(n) each at worst.
// Memory is 8 bytes a pair of points where costs are stored, besides about 500
// bytes a point and 700 a row of Assignment. ctx ends the work early with its
// error.
//
// Points of R^d, d <= 6 ([metric.Embedded], by [W1] or [Distances]), take O(n)
// memory, and a pass is a search in a kd-tree for every point: of some microseconds
// where mass moves little, of O(sqrt(n)) where all of it moves far in the plane, since
// costs are next to equal along its way. Problems of half, a quarter and so on of
// the points come first, for potentials to start from. Two samples of the plane of n
// points each, two cores, seconds (BenchmarkW1_Lazy and BenchmarkW1_Cells):
//
//	                                         n = 10,000  30,000  100,000  1,000,000
//	uniform, both of one square                     0.6     3.6       47
//	normal, 0.2 standard deviations apart           1.2     8.3       92
//	normal, of two shapes, 2 apart                  2.8      21      254
//	Cells: 4096, within 0.5 % of the diameter                      1     5 to 8
//
// # Who should not use it
//
// W1 is not W2: a plan of W1 is no good plan for squared distances ([Between]
// and [Assignment] take any costs). Measures of different mass need unbalanced
// transport. The W1 distance of two samples of one distribution in R^d falls
// like n^(-1/d): in high dimension it tells the sample size. None of this is
// private by itself: a distance between two data sets reveals them, and is to
// be released through a mechanism.
//
// # References
//
//   - S. S. Vallender, Calculation of the Wasserstein distance between
//     probability distributions on the line, Theory Probab. Appl. 18, 1974.
//   - M. Boedihardjo, T. Strohmer, R. Vershynin, Private measures, random walks,
//     and synthetic data, 2022 (BSV22).
//   - J. Imola, A. Roy Chowdhury, K. Chaudhuri, Metric differential privacy at
//     the user-level via the earth mover's distance, 2024 (IRC24).
//   - R. Jonker, A. Volgenant, A shortest augmenting path algorithm for dense
//     and sparse linear assignment problems, Computing 38, 1987.
package wasserstein
