// Package entropy tells how accurate a private mechanism on a given space can be at best,
// also where the space is too large for the linear programs of package lp.
//
// A bimetric space Z has a metric rho1 for privacy and a metric rho2 for loss, often the
// same ([metric.Bimetric]). A mechanism M is alpha-private if P{M(x) in S} <=
// exp(alpha*rho1(x,x')) P{M(x') in S} for all points x, x' and sets S of outputs. Its loss
// is E rho2(x, M(x)) at the worst x. The optimal accuracy A(Z, alpha) is the least loss of
// any alpha-private mechanism (BSV24).
//
// # How accurate it can be
//
//   - [Accuracy] brackets A and says what each bound rests on; [Bracket.With] adds
//     mechanisms of yours. Begin here.
//   - [LowerBounds] and [UpperBounds] are its halves.
//   - [LevelFor] is the level that a wanted loss needs at least.
//   - [BallAccuracy], [MeasuresAccuracy] and [LipschitzAccuracy] enclose A on three
//     families of infinite spaces.
//
// # Synthetic data and measures
//
//   - [PrivateDataBound], [PrivateMeasureBound] and [PrivateTransportBound] say what
//     error in the earth mover's distance no mechanism can avoid.
//   - [MeasureNet] makes a finite space of measures.
//
// # The geometry behind it
//
//   - [Packing] counts points that are apart; [Dimension] is how that grows.
//   - [EntropicScale], [DiametricScale], [DoublingScale] and [OuterScale] are the
//     distances below which privacy blurs a space. [Baire] spaces have them in closed form.
//   - [StandardBound] and [RelaxedBound] bound A by scales.
//   - [PositiveMeasure] and [BallMass] serve mechanisms with a base measure.
//
// # What is guaranteed
//
// An [Interval] is a proof: its ends have witnesses, in arithmetic rounded outward. Less
// work ([Options].Nodes) makes it wider, never wrong. Results do not depend on chance, the
// clock or the number of workers. What uses the triangle inequality says so and grants it
// [metric.DefaultTolerance].
//
// # Cost
//
// O(n^2) distances, and O(n) memory beyond some thousand points. Packing numbers, which
// are NP-hard, are exact for dozens of points, and for ultrametrics in some O(n log n).
//
// # Who should not use it
//
// Up to a few hundred points package lp gives A itself, with the mechanism. Bounds here are
// for the worst input and for delta = 0.
//
// # References
//
//   - BSV24: Boedihardjo et al., Metric geometry of the privacy-utility tradeoff.
//   - BSV22: the same, Private measures, random walks, and synthetic data.
//   - KL10: Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
//   - IKWAT22: Imola et al., Balancing utility and scalability in metric differential
//     privacy.
package entropy
