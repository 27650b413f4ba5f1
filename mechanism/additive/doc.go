// Package additive hides a number, a vector or a place by adding noise to it.
//
//		noise, err := additive.NewSphereWithin(0.5, 0.95, nil) // off by less than 500 m in 95 of 100 releases
//		released, err := noise.Release(nil, metric.LatLon{Lat: 48.2085, Lon: 16.3721})
//
//	  - Counts: [DiscreteLaplace]; [TruncatedGeometric] for a known range; [DiscreteGaussian],
//	    whose tails are light but which needs a delta.
//	  - Measurements: [Laplace] for a number; [KNorm] for a vector, in an l_p norm or that of
//	    a [Polytope]; [Gaussian], with light tails and a delta.
//	  - Places: [Sphere] for latitude and longitude, [PlanarLaplace] for a flat map; [Cells]
//	    and [Region] move a place to a grid or onto land.
//	  - Words with vectors: [Madlib]. [Snap] moves any output to the nearest of public points.
//
// [SphereAlpha], [PlanarAlpha] and [Norm.AlphaFor] find the level for a wanted accuracy. A
// query that changes by at most l per unit of its input needs noise of level alpha/l.
//
// # Guarantees
//
// At level alpha no output is more than exp(alpha*d) times as likely from one input as from
// another at distance d. The Gaussian mechanisms allow a probability delta beyond that, and
// hold up to a diameter that you state. All are private to the last bit of the output: see
// [Options]. Rounding, clipping or snapping an output is free. Drawing again until it lies in a
// region is not.
//
// # Cost
//
// O(d) for d coordinates: some tens of nanoseconds for a number, a microsecond for a place.
// [NewRegion], [NewPolytope], [NewMadlib] and Snap index their points first.
//
// # Who should not use it
//
// Noise of level alpha hides what is within about 1/alpha: too little where more must stay
// secret, or where one person gives many related points, since levels add up. Where inputs and
// outputs are one finite list, package lp has the least loss.
package additive
