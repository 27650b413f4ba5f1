// Package query releases the mean over users of the mean of a Lipschitz function over each
// user's items, with noise, under the earth mover's distance (package emd):
//
//	near, err := query.Ball(metric.Euclidean{}, clinic, 1, query.Smoothing{Width: 2})
//	m, err := query.NewLinear(context.Background(), near, emd.Model{Trust: emd.Local, Diameter: 10, Unit: "km"}, emd.Promise{Alpha: 10, Delta: 1e-6}, nil)
//	y, err := m.Release(rand.New(rand.NewPCG(1, 2)), emd.One(trips[1]))
//
// A [Query] is the function with its constant: [Average], [Landmarks], [Similarity],
// [Region], [Ball], [Shares], a [LinearMap] of one of these, or one of your own,
// which [LipschitzAtLeast] tries to refute. Users weigh the same, however many items they
// hold. Noise is that of package additive, of deviation Lipschitz/alpha over the number of
// users, or so.
//
// Source: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via
// the earth mover's distance", 2024 (IRC24).
package query
