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
//   - [Improve]: moves of variable depth to candidates in all directions, then
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
//	Solve                          0.1 % longer for 1,000 points, 0.6 % for 100,000
//	HeldKarpBound                  0.8 % shorter
//	OneTreeBound, nil multipliers  12 % shorter
//
// Shapes that are harder, 50 to 3,000 points of each: clusters of spreads from
// 0.001 to 0.1 of the whole, a few clusters far apart, groups of small lattices as
// drilled into a plate, full lattices. The tour of Solve is on average 0.2 % longer
// than the best of some thirty runs of up to four times the effort; the worst,
// 2.5 %, are clusters far apart, between which a better way needs many changes at
// once. On full lattices of an even number of points it is the shortest.
//
// The bound itself falls short of the shortest tour, by under 1 % for most points.
// No multipliers prove more than the linear program with degree and subtour
// constraints, whose fractional tours may be shorter by far where points stand in
// an odd number of rows wider apart than their steps: three rows of 15 points, 5
// apart, have a fractional tour of length 62, and the shortest tour known has 67.4.
// Equal steps of such rows and lattices make this add up over a drilled plate
// (TSPLIB's ts225, 225 points: .913 of the optimum). Where thousands of points lie in
// clusters on many scales the ascent may end 1 or 2 % below what multipliers could
// prove; more [HeldKarpOptions].Iterations help.
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
