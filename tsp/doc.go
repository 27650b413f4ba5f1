// Package tsp finds short tours through the points of a finite metric, proves how short a
// tour can be, and folds the metric onto the line along one.
//
// A tour visits every point once. A closed one returns to where it began, an open path does
// not ([Kind]). Finding the shortest, the traveling salesman's problem, is NP-hard: tours
// here are nearly the shortest, and come with a bound on what is left to gain. In private
// measures (BSV22) a path through a space carries a mechanism on the line over to the
// space.
//
// # Tours and bounds
//
//   - [Solve]: a short tour with a lower bound ([Bound]). Begin here.
//   - [SpaceFilling]: the fastest tour, of points with coordinates.
//   - [CoveringIntegral]: some tour is no longer, from covering numbers alone.
//
// # The line
//
//   - [Fold] lays a space out along a tour; [Folding.Locality] tells how far apart near
//     points come to lie.
//
// # What is guaranteed
//
// Lengths are rounded upward and bounds downward: LowerBound <= the shortest tour <= Length
// holds for the exact sums of the float64 numbers that Distance returns. That does not take
// the triangle inequality; the inequality of Fold does. Results
// depend on the metric and the options, Seed included, and on nothing else, unless TimeLimit
// or ctx cuts the work short.
//
// # Cost
//
// About O(n log n) where the metric is [metric.Embedded] in few dimensions; elsewhere O(n^2)
// distances and O(n) memory. On uniform points of the plane, two cores:
//
//	                       time     longer than the shortest    proved: at most
//	Solve, n = 1,000       0.9 s    0.1 %                       0.8 %
//	Solve, n = 100,000     22 s     0.6 %                       1.3 %
//
// # Who should not use it
//
// The shortest tour itself, with proof, takes a branch-and-cut code. Asymmetric costs, time
// windows and several vehicles are other problems. Nothing here is private: whoever folds a
// space for private data must not choose the tour by the data.
//
// # References
//
//   - BSV22: Boedihardjo et al., Private measures, random walks, and synthetic data.
package tsp
