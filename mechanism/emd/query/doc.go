// Package query releases the mean over users of the mean of a Lipschitz function over each
// user's items, with noise, under the earth mover's distance (package emd):
//
//	place := query.Average(additive.Norm{P: 2, Dim: 2})
//	model := emd.Model{Trust: emd.Central, Users: 1000, Diameter: 10, Unit: "km"}
//	mean, err := query.NewLinear(ctx, place, model, emd.Promise{Alpha: 2}, nil)
//	y, err := mean.Release(nil, slices.Values(places))
//
// A [Query] is the function with its constant: [Average], [Landmarks], [Similarity],
// [Region], [Ball], [Indicator], [Shares], a [LinearMap] of one of these, or one of your own,
// which [LipschitzAtLeast] tries to refute. Users weigh the same, however many items they
// hold. Noise is that of package additive, of deviation Lipschitz/alpha over the number of
// users, or so.
//
// Source: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via
// the earth mover's distance", 2024 (IRC24).
package query
