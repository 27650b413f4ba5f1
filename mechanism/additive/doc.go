// Package additive hides a number, a vector or a place by adding noise to it, and can move the
// result into a public set, grid or region.
//
//	place, err := additive.NewPlanarLaplace(alpha, &additive.Options{Unit: "km"})
//	station, err := additive.Snap(place, stations).Release(rng, [2]float64{1.8, 0.9})
//
// # Which mechanism
//
// Count: [DiscreteLaplace], [TruncatedGeometric] for a known range, and [DiscreteGaussian],
// whose tails are light but which needs a delta.
//
// Measure: [Laplace] for a number; [KNorm] for a vector, in any l_p norm; [Gaussian] for a vector,
// with light tails and a delta.
//
// Say where somebody is: [Sphere] for latitude and longitude, [PlanarLaplace] for a flat map.
// [Cells] and [Region] move the place to a grid or onto land. Where somebody goes: [Trail], live,
// and [Knots].
//
// Replace a word that has a vector: [Madlib]. Move any output to the nearest of public points:
// [Snap]. [SphereAlpha], [PlanarAlpha] and [Norm.AlphaFor] find the level for a wanted accuracy. A
// query that changes by at most l per unit of its input needs noise of level alpha/l.
//
// # Guarantees
//
// At level alpha no output is more than exp(alpha*d) times as likely from one input as from
// another at distance d; Gaussian ones allow a delta beyond that, up to a diameter.
//
// Rounding, clipping or snapping an output afterwards is free; drawing again until it lies in a
// region is not. All are private to the last bit of the output ([Options]).
//
// # Cost
//
// O(d) for d coordinates: tens of nanoseconds for a number, a microsecond for a place.
// NewRegion, NewMadlib and Snap index their points.
//
// # Who should not use it
//
// Noise of level alpha hides what is within about 1/alpha: too little where one person gives
// many related points, since levels add. For a finite list package lp has the least loss.
package additive
