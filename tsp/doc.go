// Package tsp finds short tours through the points of a finite metric, proves
// how short a tour can be, and folds the metric onto the line along one.
//
// # The problem
//
// A tour visits every point once: a closed one returns to where it began, an
// open path does not ([Kind]). To find the shortest is the traveling salesman's
// problem, NP-hard. Every [Tour] of [Solve] carries a proved LowerBound of all
// tours, so that Gap bounds what is left to gain.
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
// keep O(n) of them. ctx ends the work early with its error; [Improve] and [Solve]
// then return the best tour so far, too.
//
// # How short the tours are
//
// For uniform points of the plane, relative to the shortest tour:
//
//	DoubleTree                     40 % longer
//	SpaceFilling, Hilbert          40 % longer
//	SpaceFilling, Boustrophedon    30 % longer
//	Greedy                         14 to 18 % longer
//	Solve                          1 % longer, for 1,000 to 100,000 points
//	HeldKarpBound                  0.8 % shorter
//	OneTreeBound, nil multipliers  12 % shorter
//
// On 67 instances of TSPLIB the tour of Solve is on average 0.7 % longer than
// the shortest, which it finds in 30 of them. The worst, up to 11 %, are points
// in dense clusters, whose 8 nearest neighbors all lie in their own cluster:
// more [ImproveOptions].Neighbors help.
//
// # Guarantees
//
// Lengths are rounded upward and bounds downward, so that
//
//	LowerBound <= the shortest tour <= Length
//
// holds for the exact sums of the float64 numbers that Distance returns. It does
// not take the triangle inequality; the factor 2 of DoubleTree and the inequality
// of Fold do. Results are a function of the metric and the options, Seed included,
// on any number of cores, unless TimeLimit or ctx cuts the work short.
//
// Nothing here is private: whoever folds a space for a private measure must not
// choose the tour by the private data.
//
// # Who should not use it
//
// The shortest tour itself, with proof, takes a branch-and-cut code. Asymmetric
// costs, time windows and several vehicles are other problems.
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
package tsp
