// Package emd protects whole users who hold many items each: mechanisms private
// under the earth mover's distance between users, with tight accountants.
//
// # The problem
//
// n users hold items, points of a metric space: places they were at, words they
// typed, measurements of a device. User-level differential privacy hides all of
// a user's items at once, with as much noise as if every user could change
// everything. Mostly what is to be hidden is less: where somebody went on a few
// evenings, or each place within a kilometer.
//
// The distribution mu of a user's items says what share of them is where, and
// the earth mover's distance d_EM(mu, mu') is the share moved times how far, at
// the least. A mechanism is (alpha, delta)-private under it (IRC24) when for
// all data sets that differ in one user, and all sets S of results,
//
//	P{M(x) in S} <= exp(alpha*d_EM(mu,mu')) P{M(x') in S} + delta.
//
// With alpha = eps/diameter that is user-level privacy at eps; a larger alpha
// protects small changes as well and does less about large ones. [ChooseAlpha]
// makes an alpha of moves such as "a thirtieth of the items moved by 0.08", and
// [Promises] says in words what an alpha means for each.
//
// # The model
//
// A [Model] is what a promise ranges over. Local: each user runs the mechanism,
// and nobody is trusted. Shuffled: each user makes its items private, and a
// shuffler takes off names and order. Central: a curator sees the items of all
// n users. Bounded: all hold the same public number m of items. Unbounded: any
// number, which is protected too. Every mechanism takes its data as [Users],
// one slice of items after another, and says what it promises as a [Guarantee],
// which knows its model: what may not be composed is an error.
//
// # The mechanisms
//
//	to release                             constructor         models
//	how the items are distributed          NewDistribution     local, central
//	the same, items mixed by a shuffler    NewFrequencies,     bounded
//	                                       NewGKRRFrequencies
//	the items, each made private           NewItemWise         bounded
//	the mean of a Lipschitz function       NewLinear           local, central
//	shares of public points, unbiased      NewLinear, Shares   local, central
//	the mean of integers, exactly          NewGridLinear       local, central; bounded
//	any of these, users of any size        NewReduced          unbounded, discrete
//
// [Distribution] is the answer to how users' items are distributed, on any domain
// and for users of any size. Where a curator sees the items it was best in 69 of 72
// cases measured (BenchmarkCrossover: 64 points, n users from 100 to 10^6 of m items
// from 1 to 100, alpha times diameter from 1 to 100), the others being of one item
// a user at 100. Without a curator, item-wise release under a shuffler mostly errs
// less where m is 1, or n is 10^4 or more and alpha times diameter 10 or less;
// elsewhere, and without a shuffler, take Distribution in the Local trust. Where
// points have no near neighbors it errs as [Shares] does.
//
// It maps the items by an isometry to l1, or nearly, adds noise to the mean, and
// fits a distribution: on a line the parts of cells below an item, on a tree the
// edges above it, in a box the weights of the corners around it, so that noise is
// added to what distances are made of. Errors over the diameter, of even and of
// concentrated items, at A = alpha n diameter, beside Shares with its constant for
// equidistant points: 64 points of a line, A = 1e4, .0059 and .0015 (.038, .016);
// 20 clusters of 10 at a tenth of the distance, A = 1e5, .0017 and .0001 (.0070,
// .0016). On an interval it errs at most 2.4 times as much as any mechanism must,
// for A from 1e2 to 1e5, 1.5 times in the mean, and like 1/sqrt(A). These maps,
// the estimates and constants are new; IRC24 has the noise on a Lipschitz map's
// mean.
//
// A [Query] is a function with its Lipschitz constant: [Average], [Landmarks],
// [Region], [Similarity], [LinearMap], [Shares]; [LipschitzAtLeast] finds
// constants that are too small. Frequencies of cells with sharp borders have
// none, and [Indicator] says so.
//
// [ItemWise] sends each item through a pure channel of level alpha0 and
// publishes how often each output came up. Without names and order a user's
// items hide among those of all others, so that alpha0 may be far above
// alpha/m: package accountant says how far. [Frequencies] undoes the channel on
// average: an unbiased estimate with error bars, and the distribution nearest
// to it under d_EM. [NewHadamard] and [NewLaplaceFrequencies] are the baselines
// of ordinary user-level privacy.
//
// [Reduced] draws s items of every user, with replacement, so that a mechanism
// for bounded users serves all; its promise is discrete, one pair (eps, delta)
// for users up to a radius apart. [PlanReduction] chooses s and splits delta.
//
// # Trust
//
// Channels are drawn exactly and accountants round upward, so the promise of
// item-wise release is that of the bits, as are Distribution's, GridLinear's and the
// baselines'. [Linear] adds noise in floating point, and its promise is one
// about real numbers. Central promises hold if the curator publishes the
// release only. Shuffling removes names and order from what it is given;
// whoever sees items on their way there, or when they came, is not in the
// model. Errors about an item that does not fit depend on the data.
//
// A ctx that is done ends a call early with its error. Where a call draws
// random numbers, a nil rng is ChaCha8 keyed from crypto/rand.
//
// # Who should not use it
//
// Items without a meaningful distance gain nothing over user-level privacy. The
// distance must come from public knowledge, and what it calls near is protected
// less than what it calls far. Adding or removing a user is not covered: n is
// public.
//
// # References
//
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the
//     user-level via the earth mover's distance", 2024, with its errors corrected
//     where it is used.
//   - Acharya, Sun, Zhang, "Hadamard response", 2019.
package emd
