// Package tsp finds short tours through the points of a finite metric, proves how short a
// tour can be, and folds the metric onto the line along one.
//
//	path, err := tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: tsp.Open})
//	l, err := tsp.Fold(f, path)
//
// A tour visits every point once; a closed one returns to where it began ([Kind]). Finding the
// shortest, the traveling salesman's problem, is NP-hard: tours here are nearly the shortest,
// and come with a bound. In private measures (BSV22) a path carries a mechanism on the line
// over to a space.
//
// # Which function
//
//   - [Solve]: a short tour with a lower bound ([Bound]).
//   - [SpaceFilling]: the fastest tour, of points with coordinates.
//   - [CoveringIntegral]: some tour is no longer, from covering numbers alone.
//   - [Fold] lays a space out along a tour.
//
// # Guarantees
//
// Lengths are rounded upward and bounds downward: LowerBound <= the shortest tour <= Length
// holds for the exact sums of the float64 numbers that Distance returns, without the triangle
// inequality; Fold needs the inequality. Results depend on the metric and the options, Seed
// included, alone, unless TimeLimit or ctx ends the work early.
//
// # Cost
//
// About O(n log n) where the metric is [metric.Embedded] in few dimensions; elsewhere O(n^2)
// distances and O(n) memory. Uniform points of the plane, two cores: 1,000 in 0.9 s, proved
// 0.8 % longer than the shortest at most; 100,000 in 22 s, 1.3 %.
//
// # Who should not use it
//
// The shortest tour itself, with proof, takes a branch-and-cut code. Asymmetric costs, time
// windows and several vehicles are other problems. Nothing here is private: a tour for private
// data must not depend on the data.
//
// # References
//
// BSV22: Boedihardjo et al., Private measures, random walks, and synthetic data.
package tsp
