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
// A(Z, alpha), and a [Star] proves more of it. Up to constants an exponential
// mechanism on a net attains the entropic scale at a smaller level, with a term
// 1/alpha ([StandardBound]) or the diametric scale.
//
// # Theorems
//
// BSV24 Theorem 1.7 has A between constants times s + s_o, at levels that differ
// by constants, for ultrametrics rho2; section 1.4 asks for more. New here, with s
// at alpha/3 and s_o at alpha/7:
//
// One metric, the space connected or not (question (ii)): A is s + s_o up to
// constants, by the lower bounds above and
//
//	A(Z, alpha) <= 25 max(s, s_o).
//
// Any two metrics, with s of (Z, rho1, rho1) and s_o of both:
//
//	A(Z, alpha) <= 15 e^(10 alpha s/21) s_o,
//
// which falls exponentially with alpha once s = 0. Any two metrics, with s and s_o
// of both, and k = max over w of N2(B2(w,2s), s), or 1 for ultrametrics rho2
// (proof at [RelaxedBound]):
//
//	A(Z, alpha) <= s + (15k-1) s_o.
//
// For levels c*alpha of s and d*alpha of s_o, c + d < 1/2, 15 is
// (1/2-d)/(1/2-c-d), and 10/21 is c + d. Proof: let N be a maximal s-separated net of rho1, and draw y
// of N with probability proportional to e^(-alpha rho1(x,y)/2). Let r_y =
// rho1(x,y), of which the least, r_0, is at most s, and b = (1/2-d) alpha. The loss
// rho2(x,y) is at most diam2(B1(x,r_y)) <= e^(d alpha r_y) s_o, and at most e^(c
// alpha r) points of N are within r >= r_0 of x, none within less. Hence
//
//	sum of e^(-b r_y) <= int from r_0 of b e^(-br) e^(c alpha r) dr = b/(b - c alpha) e^(-(b - c alpha) r_0),
//
// while the weights add up to e^(-alpha r_0/2) at least, and alpha/2 - b + c alpha =
// (c+d) alpha. For one metric and alpha s <= 1 this is below 24.2 s_o at 1/3 and
// 1/7. Otherwise outputs within R = 6s lose at most R, and the others, as r
// e^(-alpha r/2) falls from 2/alpha on, at most
//
//	e^(alpha s/2) (3R + 12/alpha) e^(-alpha R/6) <= 30 s e^(-1/2) < 18.2 s.
//
// The witnesses of [UpperBounds] lose no more than these bounds of nets of rho1,
// whatever c and d.
//
// What remains: for two metrics c + d < 1 is needed, because there are ultrametrics
// with A >= (ln n + O(1))/zeta(1/c) times s + s_o at c + d = 1, and simplices that
// need c + d <= 1 for one metric. Between 1/2 and 1, and at any c + d < 1 without k
// for rho2 that is no ultrametric, it is open whether A is at most a constant times
// s + s_o.
//
// From below, new as well, for every point x, with delta_y the distance of y to the
// nearest other point under rho2 and g_y = rho2(x,y) e^(-alpha rho1(x,y)):
//
//	A(Z, alpha) >= sum_y g_y/(1 + sum_y g_y/delta_y).
//
// It is exact on equidistant points at every alpha, and its share of A tends to 1
// as alpha grows. Packings (IKWAT22 Theorem 3) prove half of A on two points, and
// the scales, at 2 alpha (BSV24 Theorems 3.1 and 3.2), the share e^(-alpha rho1)
// at most once alpha is large. Proof: an output of y is y itself with probability
// 1 - A/delta_y at least, of x with e^(-alpha rho1(x,y)) times that, and A is at
// least the sum of rho2(x,y) times the latter.
//
// # Rules
//
// What one space says of another, and one level of another (after BSV24, section 2):
//
//   - A, s and s_o do not rise with alpha or rho1, and do not fall with rho2. ln
//     s_o is convex in alpha, as s_o is a largest rho2 e^(-alpha r).
//   - A subset S of Z has s(S) <= s(Z) and s_o(S) <= s_o(Z). For one metric rho2,
//     A(S) <= 2 A(Z): move every output to the nearest point of S. Pairs and
//     packings in S bound A(Z) itself, from below.
//   - A product, of which both metrics are the sums of those of Z and Y, has
//     max(A(Z), A(Y)) <= A(ZxY) <= A(Z) + A(Y): fix one coordinate and drop it, or
//     release each by itself.
//   - Chain rule: N(S, u) <= N(S, r) max over x of N(B(x,r), u), as a maximal
//     r-separated set of S has all of S in its balls. At u = s(Z, alpha) of one metric
//     that is N(Z, u) <= N(Z, r) e^(alpha r) for every r.
//   - For one metric the entropic scale is at most twice the outer one. Let t be at
//     least g and 2 ln N(Z, g)/alpha. A ball of radius r <= t/2 has one t-separated
//     point only, and any other ball at most N(Z, g) <= e^(alpha t/2) of them.
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
// measures and synthetic data can achieve under W1 (BSV22),
// [PrivateTransportBound] what users can who are protected under the earth mover's
// distance, and [MeasureNet] makes a finite space of measures. [BallAccuracy],
// [MeasuresAccuracy] and [LipschitzAccuracy] enclose A itself for three families of
// spaces. [PositiveMeasure] and [BallMass] serve the base-measure mechanism of
// KL10.
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
// exact up to rounding, and their scales take about n log n. In other spaces
// memory is linear in n from a few thousand points on.
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
