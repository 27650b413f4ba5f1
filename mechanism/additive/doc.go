// Package additive holds the mechanisms that add noise to a point of a space
// with translations: numbers, integers, R^d, the plane and the sphere; and what
// then moves the noisy point into a public set, grid or region.
//
// # Which one
//
//	input                       mechanism                             guarantee
//	integer                     DiscreteLaplace, TruncatedGeometric   alpha
//	integer, light tails        DiscreteGaussian                      (alpha, delta) up to a diameter
//	number                      Laplace                               alpha
//	point of R^d                KNorm, for any l_p norm               alpha
//	linear query, 2 to 8 values KNorm, for a Polytope                 alpha
//	point of R^d, light tails   Gaussian                              (alpha, delta) up to a diameter
//	place on a flat map         PlanarLaplace                         alpha
//	place on the Earth          Sphere                                alpha
//	place, to a public grid     Cells.Center after Sphere             as before
//	place, to a public region   Region.Move after Sphere              as before
//	anything, to a public set   Snap                                  as before
//	word with a vector          Madlib                                alpha
//
// A query with Lipschitz constant l, such as the mean of an l-Lipschitz
// function, is released at level alpha by adding noise of level alpha/l to its
// value.
//
// # Guarantees
//
// With density prop. to e^(-alpha*d(x,y)) the triangle inequality gives density
// ratios up to e^(alpha*d(x,x')), and where the normalizer does not depend on
// x, as under translations and rotations, that is alpha-privacy with the full
// alpha. What is done to the output afterwards, such as clipping it to a region
// or snapping it to a set, is post-processing and free. Drawing again until the
// output falls in a region is not: it changes the normalizer.
//
// The Gaussian mechanisms promise (alpha, delta) between inputs at a distance
// up to a diameter that the caller states, because their delta grows with the
// distance.
//
// # Real numbers and float64
//
// The integer mechanisms are exact: the draws have the stated probabilities to
// the last digit, for the float64 parameters as exact reals.
//
// Laplace, PlanarLaplace, Gaussian, Madlib, and KNorm for p = 1 and 2, for polytopes and
// in up to 8 dimensions for p = +Inf, are exact too ([KNorm.Exact] tells). A release
// is the real sum x + Z of the input, a float64 taken as an exact real, and
// noise of a known density, rounded once to the nearest point of a lattice
// hZ^d. The real sum is private at the stated level, and rounding it is
// post-processing. So the guarantee is a theorem about all 64 bits of a
// release, for any two inputs, on the lattice or not, per unit of their own
// distance. The lattice is public: h is [Options.Grid], by default less than
// 1/1000 of the noise's scale; an output moves by at most h/2 in every
// coordinate. Of the uniform numbers behind the noise as many bits are drawn as
// decide the lattice point, mostly 63 (interval refining: Haney, Desfontaines,
// Hartman, Shrestha, Hay 2022). Sums beyond 2^53 steps become the nearest end.
//
// The density is the one stated, but for p = 2 in more than 8 dimensions. There the noise
// is normal, of a deviation drawn from a list such that the logarithm of the density
// changes by at most alpha times the norm, at any norm; that is a theorem about the list as
// it is, with all its roundings, and stands beside the code. The noise is 0.1 percent wider
// than one of density e^(-alpha*||z||), and told from it by nothing else.
//
// The rest is in real arithmetic: Sphere, KNorm for other p and, for p = +Inf, more
// dimensions, and what [Options.RealArithmetic] asks for. That is a statement about real numbers; in float64 the set of outputs
// that can occur at all differs from input to input, and who sees all 64 bits
// of an output can sometimes tell two inputs apart for certain (Mironov 2012,
// "On significance of the least significant bits for differential privacy").
// Options.Grid rounds these outputs too, which repairs the gross leak and is no
// theorem about the bits: the probability of a multiple of the grid still errs,
// and outputs beyond the largest variate (about 44/alpha in one dimension) do
// not occur.
//
// All of them refuse an input that is so large that float64 is too coarse for
// the noise there: beyond 2^52 steps of the lattice or, in real arithmetic,
// where the spacing of float64 passes 2^-10 of the scale. A Unix time in
// microseconds is such an input at alpha = 1: subtract a public origin, take a
// coarser Grid, or release the integer by [DiscreteLaplace].
//
// # Randomness
//
// A method that draws takes an rng. nil is a secure generator and the choice for
// private data; another one makes runs repeatable, for tests.
//
// # Cost
//
// A number takes some tens of nanoseconds, a place on the sphere a microsecond,
// an integer of DiscreteLaplace microseconds where alpha is below about 2^-48.
// [DiscreteGaussianSigma] takes up to 0.1 seconds, for large sigma.
//
// # Who should not use it
//
// Noise of level alpha hides what is within about 1/alpha. If that is far less
// than what must stay secret, or one person gives many correlated points (a
// trace of a day, all words of a letter), the guarantees compose to little:
// [mechanism.Guarantee.Plus] does the sum, and [mechanism.Sticky] makes it one over the
// distinct points. For inputs and outputs in one finite
// set package lp has the mechanism of least loss, and package exponential loses
// less than noise and Snap where its tight weights exist, and has Snap's matrix
// (Snapped) to compare with. Errors and Release times must not be shown to an adversary where
// inputs may be outside the domain.
//
// # References
//
//   - HT10: Hardt, Talwar, "On the geometry of differential privacy", 2010: the
//     K-norm mechanism.
//   - Andrés, Bordenabe, Chatzikokolakis, Palamidessi, "Geo-indistinguishability",
//     2013: planar Laplace.
//   - Balle, Wang, "Improving the Gaussian mechanism for differential privacy",
//     2018: the exact delta.
//   - Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy",
//     2020.
//   - Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy
//     mechanisms", 2009: the geometric mechanism.
//   - Feyisetan, Balle, Drake, Diethe, "Privacy- and utility-preserving textual
//     analysis via calibrated multivariate perturbations", 2020: Madlib.
//   - Haney, Desfontaines, Hartman, Shrestha, Hay, "Precision-based attacks and
//     interval refining: how to break, then fix, differential privacy on finite
//     computers", 2022.
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the
//     user-level via the earth mover's distance", 2024: Lipschitz queries.
package additive
