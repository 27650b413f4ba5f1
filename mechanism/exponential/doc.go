// Package exponential builds mechanisms that answer near points more often than far ones, on
// finite metric spaces.
//
//	best, err := exponential.Best(context.Background(), metric.Same(points), 0.02, &exponential.BestOptions{Unit: "km"})
//	city, err := mechanism.On(best, points).Release(seeded(), "Paris")
//
// An observer of the answer y to x can tell x from x' by no more than a factor
// exp(alpha*rho(x,x')). The exponential mechanism answers y with probability proportional to
// exp(-beta*rho(x,y)).
//
// [Best] builds what fits a space and keeps what loses least.
//
//   - [Tight] weights the outputs so that the sum is 1 everywhere; best where such weights
//     exist, mostly at larger levels;
//   - [Remapped] and [Snapped] add noise and answer a point near the result, on the line, in
//     the plane and on the sphere: mostly best at smaller levels;
//   - [Tuned] takes the largest rate that an audit allows, on any space; [Standard] has rate
//     alpha/2; [Weighted] takes public weights;
//   - [Relaxed] is for two metrics, one of privacy and one of loss;
//   - [Truncated] and [Lazy] keep no matrix, for large spaces.
//
// # Guarantees
//
// A finite mechanism is a [mechanism.Channel] that was audited: its level bounds that of the
// exact distributions that are drawn from. Lazy, and Truncated with it, says what its guarantee
// rests on without an audit. alpha is a finite number > 0, per unit of the privacy metric.
//
// # Cost
//
// O(n^2) memory and O(n^3) time for the audit of n points.
//
// # Who should not use it
//
// A level per kilometer protects near points from each other and far points hardly at all.
// Points that need not come from a list are for package additive, infinite spaces for kl10
// below. Package lp finds the least loss.
//
// # References
//
//   - BSV24: Boedihardjo et al., "Metric geometry of the privacy-utility
//     tradeoff".
//   - IKWAT22: Imola et al., "Balancing utility and scalability in metric differential
//     privacy".
package exponential
