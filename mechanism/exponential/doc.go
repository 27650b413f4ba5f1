// Package exponential builds alpha-private mechanisms of the exponential
// family on finite metric spaces, and by rejection on infinite ones.
//
// # The problem
//
// Someone at a point x of a metric space wants to say roughly where, so that
// no observer can tell x from a nearby x' by more than a factor
// exp(alpha*rho(x,x')). The exponential mechanism answers y with probability
// proportional to exp(-beta*rho(x,y)). Two things can betray x: the exponent,
// which changes by at most beta*rho(x,x'), and the normalizer, the sum over y,
// which may change by as much again. Hence beta = alpha/2 is safe always
// ([Standard], BSV24 Lemma 4.1), and every other constructor is a way not to
// pay for the normalizer:
//
//   - [Tuned] measures how much it changes and takes the largest safe beta;
//   - [ConstantNormalizer] uses that it does not change on symmetric spaces;
//   - [Tight] weights the outputs so that it is 1 everywhere;
//   - [Snapped] adds noise to the point, whose normalizer is the same everywhere, and
//     answers the nearest output, on the line, in the plane and on the sphere;
//   - [Remapped] answers what loses least in place of the nearest output;
//   - [Truncated] stops telling apart what is farther than some reach, so that far outputs
//     in large number cost no more than one level for all;
//   - [Relaxed] answers with clusters of the utility metric, for spaces where
//     what an error costs and what is private are measured differently;
//   - [Best] builds them and keeps the one with the least loss.
//
// [Weighted] takes weights from the caller, for instance a public prior.
// [NewBaseMeasure] is the mechanism of KL10 for infinite output spaces, with
// [Nets] for the base measure on compact ones ([BoxNets], [SphereNets], [NewNets]),
// and [MostPrivate] the same on a finite space at the least rate that reaches a
// wanted utility; MostPrivate of package lp is the best of all mechanisms there.
//
// # Which one
//
// At levels at which tight weights exist they lose least, or nearly. At smaller ones,
// down to those at which a constant is as good, it is remapped noise on points of the
// line, the plane and the sphere. The largest expected error in km on the 60 of
// France's larger towns that are nearest to Boulogne-Billancourt, and on its 60
// largest, against the least possible (lp.Optimal):
//
//	             alpha per km   constant   tuned   tight   snapped   remapped   optimum
//	near Paris   0.05               20.6    23.9       -      16.7       15.7      14.7
//	             0.2                20.6    14.4       -      9.02       7.58      6.71
//	             1                  20.6    1.15    1.04      1.81       1.70      0.95
//	in France    0.003               578     533       -       379        337       310
//	             0.02                578     152       -      92.1       85.7      53.9
//
// For the mean under a uniform prior remapped noise loses 3 and 11 per cent more than the
// optimum in the first two rows, and 8 and 75 in the last two.
//
// # Guarantees
//
// Every finite mechanism is a [mechanism.Channel] that was audited: the level in its
// Guarantee is an upper bound of that of the exact distributions that Release draws
// from. Only [Lazy] and [Truncated] do without an audit, for spaces too large for a matrix; the
// doc of Lazy says what the guarantee then rests on.
//
// A context ends the work early with its error. Work is done on every core, or on
// the Workers of the options. alpha is a finite number > 0, per unit of the privacy
// metric; what lies outside its domain is a *[metric.ValueError].
//
// # Who should not use it
//
// A level per kilometer or per edit protects near points from each other and
// far points hardly at all: if which city someone is in is the secret, a small
// alpha for street distances is no protection. For points of R^d or the sphere
// that need not be released on a grid, package additive needs no matrix and
// pays no normalizer; snapped to the same points its noise also loses less at
// levels too small for tight weights ([Choice].Candidates say whether they
// exist): at most 20.5 km against 45 on 300 towns of France at alpha = 0.1 per
// km.
//
// # References
//
// BSV24: Boedihardjo, Strohmer, Vershynin, Metric geometry of the
// privacy-utility tradeoff. IKWAT22: Imola, Kasiviswanathan, White, Aggarwal,
// Teissier, Balancing utility and scalability in metric differential privacy.
// KL10: Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
// McSherry, Talwar, Mechanism design via differential privacy, 2007.
package exponential
