// Package metric holds the spaces that private mechanisms work on: metrics on any kind of
// point, finite metrics by index, and what can be asked of them.
//
// A metric rho on a set is symmetric, 0 from a point to itself, and obeys the triangle
// inequality rho(x,z) <= rho(x,y) + rho(y,z). In metric privacy rho1 says how hard two
// inputs must be to tell apart, and rho2 what an error costs.
//
// # From points to a finite metric
//
//   - A [Space] measures two points of some type: [Numbers], [Euclidean] vectors of float64
//     or [Float32], [LatLon] on a [GreatCircle], strings by [Levenshtein] distance, and
//     what [Scale], [Sum] and [Product] make of them. One of your
//     own needs one method ([Func]); package metric/metrictest checks it in a test.
//   - [NewPoints] turns a list of points into a [Finite] metric, which knows them by index
//     and is what every algorithm of the module takes. Begin here.
//   - [Bimetric] holds rho1 and rho2, often as one ([Same]).
//
// # Other finite metrics
//
//   - Matrices: [NewDense], [NewMatrix]; [Densify] stores any metric's distances.
//   - Graphs: [NewGraph], [NewGraphEdges], [Spanner].
//   - Trees: [TreeFromPaths], [NewTree]; dendrograms: [NewUltrametric],
//     [FromLinkage], [Subdominant].
//
// # Questions
//
//   - [Validate] and [ValidateUltrametric] check the axioms, with a witness against them.
//   - [Net], [FarthestFirst] and [Assign] choose and use centers.
//   - [Index] finds neighbors among the points, [Locator] those of other points.
//   - [Diameter], [Radius], [Index.MinDistance] are extents.
//
// # What is guaranteed
//
// Guarantees stated against a Finite are about the float64 numbers that its Distance returns.
// Computed distances break the triangle inequality by some ulps; [DefaultTolerance] says
// how many are granted. Results do not depend on the number of cores. What can take a
// tenth of a second takes a context, and ends early with its error.
//
// # Cost
//
// For coordinates in at most 20 dimensions a kd-tree answers in O(log n), in 12*Dim + 8 bytes
// a point; elsewhere a scan does in O(n).
//
// # Who should not use it
//
// Dissimilarities that break the triangle inequality are no metrics, and privacy guarantees
// that rest on one do not hold for them. [Angular] replaces cosine distance; shortest paths
// ([NewGraph]) repair many others.
//
// # References
//
//   - BSV24: Boedihardjo et al., Metric geometry of the privacy-utility tradeoff.
//   - IKWAT22 and IRC24: Imola et al., Balancing utility and scalability in metric
//     differential privacy; Metric differential privacy at the user-level.
package metric
