// Package families bounds the optimal accuracy on spaces that need no list of points, and
// on measures and data sets over a list.
//
//	bound, err := families.PrivateTransportBound(ctx, grid, 10_000)
//	fmt.Printf("on the points at least %.5f\n", bound.Value)
//
// The optimal accuracy of a space at a level alpha is the least worst expected loss of any
// alpha-private mechanism on it, as in package entropy.
//
//   - [BallAccuracy], [MeasuresAccuracy] and [LipschitzAccuracy] enclose it on balls of
//     normed spaces, measures on a cube under the earth mover's distance W1, and Lipschitz
//     functions.
//   - [Baire] spaces have the entropic and the diametric scale in closed form.
//   - [PrivateDataBound], [PrivateMeasureBound], [PrivateTransportBound] and, for the whole
//     cube, [PrivateCubeBound] say what W1 error no synthetic data, private measure or release
//     of users' distributions can avoid; a [MeasureBound] holds the proof.
//   - [MeasureNet] makes a finite space of measures, for package entropy or scale.
//
// Values are true in the direction that they are stated for, rounding included. Bounds are
// for the worst input and for delta = 0.
//
// # References
//
//   - BSV24: Boedihardjo et al., Metric geometry of the privacy-utility tradeoff.
//   - BSV22: the same, Private measures, random walks, and synthetic data.
package families
