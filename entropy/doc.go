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
// accuracy is the worst expected loss, the largest E rho2(x, M(x)) over x, in
// units of rho2, and the optimal accuracy A(Z, alpha) is the least accuracy of
// all alpha-private mechanisms. On a finite space it is the value of a linear
// program with n^2 unknowns and n^3 constraints. This package encloses it at
// sizes far beyond that, from the geometry of the space (BSV24).
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
// [Accuracy] brackets A(Z, alpha) and ranks every bound with its source; give
// it the exact losses of mechanisms at hand to see how far they are from the
// best possible. [LowerBounds] and [UpperBounds] are its halves, [Accuracies]
// is for tables over alpha, and [LevelFor] turns the question round: the level
// that a wanted loss needs.
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
// An [Interval] is a proof, not an estimate. Packing numbers are NP-hard, so a
// lower end comes from a separated set and an upper end from partitions into
// sets of small diameter, from the dendrogram of an ultrametric, or from a
// branch and bound; what is returned carries witnesses, and arithmetic rounds
// outward. With less work ([Options].Nodes) the interval is wider. It never
// depends on chance, on the clock or on the number of workers. Distances are
// the float64 numbers of the given metric. Where a method uses the triangle
// inequality its doc says so, and grants it [metric.DefaultTolerance]. A
// negative or non-finite distance is a [*metric.Violation] with its pair: any
// in a space of up to 1024 points, and in larger ones any from the first point.
// A space without points is [metric.ErrEmpty], metrics on different numbers of
// points are a [*metric.SizeError], and ctx ends the work early with its error.
//
// Ultrametrics, and metrics of up to 8192 points that prove to be ones, are
// exact up to rounding, and fast: about n log n. In other spaces nothing stores
// all pairs; memory is linear in n for a few thousand points and more, and time
// is what each function says.
//
// # Who should not use it
//
// Up to a few hundred points package lp gives A itself, with the mechanism.
// The bounds are about the worst input; the expected loss under a prior can be
// much smaller. They are about pure privacy (delta = 0) and about mechanisms
// that see one point of Z. And they say nothing about a metric that is not one:
// run [metric.Validate] on data of unknown origin.
//
// # References
//
// BSV24: Boedihardjo, Strohmer, Vershynin, Metric geometry of the
// privacy-utility tradeoff. BSV22: the same, Private measures, random walks,
// and synthetic data. KL10: Kleinberg, Ligett, Privacy-compatibility for
// general utility metrics. IKWAT22: Imola, Kasiviswanathan, White, Aggarwal,
// Teissier, Balancing utility and scalability in metric differential privacy.
package entropy
