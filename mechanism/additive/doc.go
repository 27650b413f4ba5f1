// Package additive hides a number, a vector or a place by adding noise to it, and can move the
// result into a public set, grid or region.
//
// # How to begin
//
// Count: [DiscreteLaplace], [TruncatedGeometric] for a known range, and [DiscreteGaussian],
// whose tails are light but which needs a delta.
//
// Measure: [Laplace] for a number; [KNorm] for a vector, in any l_p norm, or that of a
// [Polytope] for linear queries; [Gaussian] for a vector, with light tails and a delta.
//
// Say where somebody is: [Sphere] for latitude and longitude, [PlanarLaplace] for a flat map.
// [Cells] and [Region] move the place to a grid or onto land.
//
// Replace a word that has a vector: [Madlib]. Move any output to the nearest of public points:
// [Snap].
//
// [SphereAlpha], [PlanarAlpha] and [Norm.AlphaFor] find the level for a wanted accuracy. A
// query that changes by at most l per unit of its input needs noise of level alpha/l.
//
// # Guarantees
//
// At level alpha no output is more than exp(alpha*d) times as likely from one input as from
// another at distance d. The Gaussian mechanisms allow a probability delta beyond that, and
// hold up to a diameter that you state.
//
// Rounding, clipping or snapping an output afterwards is free. Drawing again until the output
// lies in a region is not.
//
// All are private to the last bit of the output, whatever float64 rounds: see [Options].
//
// # Cost
//
// O(d) for d coordinates: some tens of nanoseconds for a number, a microsecond for a place.
// [NewRegion], [NewPolytope], [NewMadlib] and Snap index their points first.
//
// # Who should not use it
//
// Noise of level alpha hides what is within about 1/alpha. That is too little where more must
// stay secret, or where one person gives many related points, such as the trace of a day:
// levels add up. Where inputs and outputs are one finite list, package lp has the least loss.
// Errors and the time of a release may tell an adversary something about inputs outside the
// domain.
//
// The mechanisms name the papers that they come from.
package additive
