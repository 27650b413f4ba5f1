// Package entropy tells how accurate a private mechanism on a given space can
// be at best: packing numbers, the scales built on them, and a bracket of the
// optimal accuracy.
//
// # The problem
//
// A bimetric space (Z, rho1, rho2), a [metric.Bimetric], has a metric rho1 for
// privacy and a metric rho2 for loss. A mechanism M from Z to Z is
// alpha-private when P{M(x) in S} <= exp(alpha rho1(x,x')) P{M(x') in S} for
// all points x, x' and sets S of outputs; alpha has the unit 1/rho1. Its
// accuracy is the worst expected loss, the largest E rho2(x, M(x)) over x. The
// optimal accuracy A(Z, alpha) is the least of all alpha-private mechanisms.
// This package encloses it from the geometry of the space (BSV24), far beyond
// the size of linear programs.
//
// # Scales
//
// N(S, s) is the packing number of S: the most points of S whose distances are
// all > s, strictly. B(x,r) is the closed ball; a 1 or 2 tells the metric.
//
//	entropic   s    least s with N2(B1(x,r), s) <= exp(alpha r) for all x, r
//	diametric  s_o  least s with diam2(B1(x,r)) <= s exp(alpha r) for all x, r
//	doubling        least S with N(B(x,2s), s) <= exp(2 alpha s) for all x, s >= S
//	outer           least g + ln N2(Z, g)/alpha over g >= 0
//
// A small ball with many separated points in it cannot be told apart at level
// alpha, so that s(Z, 2 alpha)/8 and s_o(Z, 2 alpha)/5 are lower bounds of
// A(Z, alpha). Up to constants an exponential mechanism on a net attains the
// entropic scale at a smaller level, with a term 1/alpha or, where rho2 is an
// ultrametric, the diametric scale.
//
// # What to call
//
// [Accuracy] brackets A(Z, alpha) and ranks every bound with its source;
// [Bracket.With] adds the losses of mechanisms. [LowerBounds] and [UpperBounds]
// are its halves, and [LevelFor] gives the level that a wanted loss needs.
//
// [EntropicScale], [DiametricScale], [DoublingScale] and [OuterScale] enclose
// the scales, and their plural forms do so at a list of levels. [Packing] and
// [Covering] are the numbers behind them. [Baire] has closed forms for trees of
// sequences. [PrivateMeasureBound] and [PrivateDataBound] bound what private
// measures and synthetic data can achieve under W1 (BSV22), and [MeasureNet]
// makes a finite space of measures. [PositiveMeasure] and [BallMass] serve the
// base-measure mechanism of KL10.
//
// # Guarantees
//
// An [Interval] is a proof, not an estimate. Packing numbers are NP-hard: a
// lower end comes from a separated set, an upper end from a partition into sets
// of small diameter, a dendrogram or a branch and bound, in arithmetic that
// rounds outward. Less work ([Options].Nodes) gives wider intervals. Results
// never depend on chance, the clock or the number of workers. Distances are the
// float64 numbers of the given metric. Functions that use the triangle
// inequality say so and grant it [metric.DefaultTolerance]. A negative or
// non-finite distance is a [*metric.Violation]: any in a space of up to 1024
// points, in larger ones any from the first point. A space without points is
// [metric.ErrEmpty], metrics on different numbers of points are a
// [*metric.SizeError].
//
// Ultrametrics, and metrics of up to 8192 points that prove to be ones, are
// exact up to rounding and take about n log n. In other spaces memory is linear
// in n from a few thousand points on.
//
// # Who should not use it
//
// Up to a few hundred points package lp gives A itself, with the mechanism. The
// bounds are about the worst input, not a prior, about pure privacy (delta = 0)
// and mechanisms that see one point of Z. They say nothing about a metric that
// is not one: run [metric.Validate] on data of unknown origin.
//
// # References
//
// BSV24: Boedihardjo, Strohmer, Vershynin, Metric geometry of the
// privacy-utility tradeoff. BSV22: the same, Private measures, random walks,
// and synthetic data. KL10: Kleinberg, Ligett, Privacy-compatibility for
// general utility metrics. IKWAT22: Imola, Kasiviswanathan, White, Aggarwal,
// Teissier, Balancing utility and scalability in metric differential privacy.
package entropy
