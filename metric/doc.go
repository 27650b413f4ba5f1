// Package metric holds the spaces that private mechanisms work on: metrics on
// any kind of point, finite metrics by index, and what can be asked of them.
//
// # Notation
//
// A metric rho on a set Z is symmetric, 0 from a point to itself, and obeys
// rho(x,z) <= rho(x,y) + rho(y,z). In metric privacy rho1 says how hard two
// inputs must be to tell apart, and rho2 what an error costs; a [Bimetric]
// space holds both (BSV24), often as one ([Same]).
//
// # From points to a finite metric
//
// A [Space] measures two points of some type: [Numbers], [Euclidean] vectors of
// float64 or [Float32], [LatLon] on a [GreatCircle], strings by [Levenshtein]
// distance, and what [Scale], [Sum], [Max], [Product], [Power] and [Cap] make of
// them. [NewPoints] turns a list of points into a [Finite] metric, which knows
// them by index and is what every algorithm of the module takes. Matrices
// ([NewDense], [NewMatrix], [Densify]), graphs ([NewGraph]), trees ([NewTree],
// [ParseNewick]) and dendrograms ([NewUltrametric], [FromLinkage],
// [Subdominant]) are finite metrics of their own. A metric of one's own needs one
// method, Distance ([Func]); package metric/metrictest checks it in a test.
//
// # What can be asked
//
// [Validate] and [ValidateUltrametric] check the axioms and return a witness
// against them. [Net], [FarthestFirst] and [Assign] choose and use centers; an
// [Index] answers ball and neighbor queries about members, a [Locator] about
// other points; [Diameter], [Radius] and [MinDistance] are extents. For
// coordinates in at most 20 dimensions a kd-tree prunes, in 12*Dim + 8 bytes a
// point; the answers are those of the plain scan.
//
// What can take a tenth of a second takes a context first, and ends early with
// its error. It runs on every core; results do not depend on their number.
//
// # Rounding
//
// Distances are float64 numbers, and guarantees stated against a Finite are
// about the numbers its Distance returns. Computed distances break the triangle
// inequality by some ulps; [DefaultTolerance] says how many are granted.
//
// # Who should not use it
//
// Dissimilarities that break the triangle inequality (cosine distance, dynamic
// time warping, travel times with one-way streets) are no metrics, and privacy
// guarantees that rest on one do not hold for them; [Angular] replaces the
// first, and the shortest paths of a graph ([NewGraph]) repair many others.
package metric
