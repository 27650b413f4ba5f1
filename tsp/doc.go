// Package tsp finds short tours through the points of a finite metric, proves
// how short a tour can be, and folds the metric onto the line along one.
//
// # The problem
//
// A tour visits every point once: a closed one returns to where it began, an
// open path does not. To find the shortest is the traveling salesman's problem,
// NP-hard; to find one within a few percent of it is not hard at all. Every
// [Tour] of [Solve] carries its own certificate: a LowerBound below which no tour
// can be, so that Gap bounds what is left to gain.
//
// # What there is
//
//   - Tours from scratch: [DoubleTree], at most twice the shortest; [SpaceFilling],
//     the fastest; [Greedy], the best start.
//   - [Improve]: 2-opt, or-opt and 3-opt moves along neighbor lists, then
//     iterated local search.
//   - [Solve]: the best of these with a lower bound.
//   - Lower bounds: [HeldKarpBound], by Lagrange multipliers that [OneTreeBound]
//     checks; without multipliers that is the bound of a minimum spanning tree.
//     An upper one: [CoveringIntegral], from covering numbers alone.
//   - [MST]: a minimum spanning tree.
//   - [Fold]: positions on the line that the private measure of BSV22 works with.
//
// All take a [metric.Finite]. Where it is [metric.Embedded] they use a kd-tree
// or a curve, and about n log n time; elsewhere they read all n^2 distances, and
// keep O(n) of them.
//
// # Guarantees
//
// Lengths are rounded upward and bounds downward, so that
//
//	LowerBound <= the shortest tour <= Length
//
// holds for the exact sums of the float64 numbers that Distance returns. It does
// not take the triangle inequality; the factor 2 of DoubleTree and the law of
// Fold do. Results are a function of the metric and the [Options], Seed
// included, on any number of cores, unless Options.TimeLimit or a context cuts the
// work short.
//
// Everything here looks at public points only and says nothing about privacy:
// whoever folds a space for a private measure must not choose the tour by the
// private data.
//
// # Who should not use it
//
// Whoever needs the shortest tour itself, with proof, wants a branch-and-cut
// code; whoever has asymmetric costs, time windows or several vehicles, another
// problem's.
//
// # References
//
//   - BSV22: March Boedihardjo, Thomas Strohmer, Roman Vershynin, "Private
//     measures, random walks, and synthetic data" (2022).
//   - J. L. Bentley, "Fast algorithms for geometric traveling salesman problems",
//     ORSA Journal on Computing 4 (1992).
//   - M. Held, R. M. Karp, "The traveling-salesman problem and minimum spanning
//     trees", Operations Research 18 (1970) and Mathematical Programming 1 (1971).
//   - D. S. Johnson, L. A. McGeoch, "The traveling salesman problem: a case study
//     in local optimization" (1997).
//   - S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the
//     traveling-salesman problem", Operations Research 21 (1973).
//   - J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004).
package tsp
