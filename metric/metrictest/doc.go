// Package metrictest checks implementations of the interfaces of package
// metric: run a metric of your own through it in a test.
//
//	fmt.Println(metrictest.TestSpace(context.Background(), metric.Func[uint](jaccard), sets, nil))
//
// [TestSpace] is for a [metric.Space] with some points of it, [TestFinite] for a
// [metric.Finite]. They return nil or every law that fails, joined, each a [*Failure] with a
// witness. Run the test under the race detector, too.
//
// # The laws
//
//   - length: Len is >= 0 and does not change.
//   - metric: what [metric.Validate] checks; the witness is a [*metric.Violation].
//   - ultrametric: what [metric.ValidateUltrametric] checks, where Options ask.
//   - symmetry: of a Space, up to the tolerance; that of a Finite is exact and
//     part of metric.
//   - repeatable: the same question has the same answer, bit for bit.
//   - concurrent use: the answers are those also from many goroutines.
//   - range: indices outside [0, Len()) panic.
//   - rows: a [metric.RowReader] returns the bits of Distance, in dst where its
//     capacity allows, and in memory that is the caller's from then on.
//   - points: a Space does not modify its points, as far as %#v prints them.
//   - check: a [metric.Checker] accepts the points.
//   - coordinates: a [metric.Embedder] appends, and as many numbers for each
//     point.
//   - embedding: a [metric.Embedded] keeps the contract of [metric.Embedding].
//
// Optional capabilities are tested where a value has them.
//
// # Cost
//
// Up to [Options].MaxPoints points, 200 by default, some 30 n^2 distances and n^3
// arithmetic; above that some millions of distances.
//
// # Who should not rely on it
//
// Whoever needs a proof: no test speaks for points it has not seen, or in spaces above
// MaxPoints has not sampled.
package metrictest
