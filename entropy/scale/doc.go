// Package scale measures at which distance privacy blurs the points of a space.
//
//	scales, err := scale.Entropic(ctx, metric.Same(city), []float64{1}, nil)
//	fmt.Println("scale in km:", scales[0])
//
// A bimetric space has a metric rho1 for privacy and a metric rho2 for loss, often the same
// ([metric.Bimetric]); alpha is a privacy level per unit of rho1.
//
//   - [Entropic] and [Diametric] are the scales that bound the accuracy of private
//     mechanisms from both sides, with constants: package entropy. [Doubling] and [Outer]
//     are for one metric.
//   - [Packing] counts points that are apart; [Dimension] is how that grows.
//   - [PositiveMeasure] and [BallMass] serve mechanisms with a base measure.
//
// # Guarantees
//
// An [Interval] or [Count] is a proof: its ends have witnesses, in arithmetic rounded
// outward. Less work ([Options].Nodes) makes it wider, never wrong. Results do not depend on
// chance, the clock or the number of workers. What uses the triangle inequality says so and
// grants it [metric.DefaultTolerance].
//
// # Cost
//
// O(n^2) distances, and O(n) memory beyond some thousand points. Packing numbers, which
// are NP-hard, are exact for dozens of points, and for ultrametrics in some O(n log n).
//
// # References
//
//   - BSV24: Boedihardjo et al., Metric geometry of the privacy-utility tradeoff.
//   - BSV22: the same, Private measures, random walks, and synthetic data.
//   - KL10: Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
package scale
