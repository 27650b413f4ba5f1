// Package metric holds the spaces that private mechanisms work on: metrics on any kind of
// point, finite metrics by index, and what can be asked of them.
//
//	towns, err := metric.NewPoints([]metric.LatLon{
//		{Lat: 48.86, Lon: 2.35}, {Lat: 45.76, Lon: 4.84}, {Lat: 51.51, Lon: -0.13}, {Lat: 51.45, Lon: -2.59}, {Lat: 41.9, Lon: 12.5},
//	}, metric.GreatCircle{})
//	d, i, j, err := metric.Diameter(ctx, towns)
//
// A metric is symmetric, 0 from a point to itself, and obeys the triangle inequality. In
// metric privacy rho1 says how hard two inputs must be to tell apart, and rho2 what an error
// costs; a [Bimetric] holds both, often as one ([Same]).
//
// # Spaces
//
//   - A [Space] measures two points of some type: [Numbers], vectors ([Euclidean] and others,
//     [Float32]), [LatLon] on a [GreatCircle], strings ([Levenshtein] and others), and what
//     [Scale], [Sum], [Product] make of them. One of your own needs one method ([Func]).
//   - [NewPoints] makes a [Finite] metric of a list of points, known by index. Every algorithm
//     takes one.
//   - Matrices: [NewDense], [NewMatrix], [Densify]; graphs: [NewGraphEdges], [Spanner], of the
//     plane with levels by place [NewGrid]; trees: [TreeFromPaths], [NewTree]; dendrograms:
//     [NewUltrametric], [FromLinkage], [Subdominant].
//
// # Questions
//
// Axioms with a witness: [Validate], [ValidateUltrametric]; centers: [Net], [FarthestFirst],
// [Assign]; neighbors among the points: [Index], of other points: [Locator]; extents:
// [Diameter], [Radius], [Index.MinDistance].
//
// # Guarantees
//
// Guarantees against a Finite are about the float64 numbers that its Distance returns. These
// break the triangle inequality by some ulps ([DefaultTolerance]). Results do not depend on the
// number of cores.
//
// # Cost
//
// For coordinates in at most 20 dimensions a kd-tree answers in O(log n), in 12*Dim + 8 bytes
// a point; elsewhere a scan does in O(n).
//
// # Who should not use it
//
// Guarantees do not hold for dissimilarities that break the triangle inequality. [Angular]
// replaces cosine distance; [Spanner] at t = 1 repairs others.
package metric
