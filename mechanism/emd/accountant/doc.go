// Package accountant says what shuffling is worth: how private the users are
// whose items are each made private and then published as a multiset, without
// names and without order. It also composes pure mechanisms, exactly.
//
// # The problem
//
// N records, each an item of a metric space, go through a randomizer that is
// alpha0-private per unit of the distance between items: for all items x, x'
// and all outputs y,
//
//	P{R(x) = y} <= exp(alpha0*d(x,x')) P{R(x') = y}.
//
// Only the multiset of the N outputs is published, by a trusted shuffler. A
// user owns m of the records. One item hides among all others, so the user is
// far better protected than the m*alpha0 of composition; an accountant computes
// how much.
//
// # What is promised
//
// A release is (alpha, delta)-private under the earth mover's distance if for
// all data sets that differ in one user's items, whose distributions are mu and
// mu', and all sets S of multisets,
//
//	P{M(x) in S} <= exp(alpha*d_EM(mu,mu')) P{M(x') in S} + delta.
//
// d_EM is the mean distance by which the user's items move. At d_EM = Diameter,
// the largest, this is ordinary user-level privacy at eps = alpha*Diameter; for
// m = 1 it is metric privacy of one record. A metric with a single distance,
// Diameter = 1, gives the shuffle model of ordinary local differential privacy.
//
// # Questions
//
// A [Shuffle] is the setting; [Shuffle.Level], [Shuffle.Delta] and
// [Shuffle.Budget] find alpha, delta and the alpha0 that a randomizer may have
// from the other two. Each answer names the [Theorem] that proves it and is
// rounded to the safe side, as are the sums inside. [Shuffle.ItemDelta] is
// about one item that moves by one distance, [Shuffle.Theorem44] is there to
// compare with. A [Composition] is many pure mechanisms on the same data,
// exactly.
//
// Whoever has the randomizer's matrix asks a [Shuffled] instead: it looks at the
// probabilities, and its levels are two thirds to a third of the other's. Each
// question has an [Interval] too, whose other end is proved by two explicit data
// sets, the [Witness]: no accountant can do better than that. For k-ary response
// and GKRR the ends of a Shuffled are 1.000 to 1.11 apart; those of a Shuffle, which
// must hold for every randomizer of its level, mostly 1.01 to 1.3.
//
// # Who should not use it
//
// A randomizer with a delta of its own, or one whose choices depend on the
// outputs of other records, is not covered, nor an observer who sees when
// records arrive, or who sent them. The number of records is public, and in the
// local setting, where users shuffle their own items, N = m. Mechanisms that are
// not pure are composed by package mechanism, finite channels by their privacy losses
// (mechanism.Composition).
//
// # Time
//
// A sum of records takes a tenth of a millisecond to a millisecond, however many
// they are, up to 2^40; a question takes some 50 to 2,000. That is a second at most
// for a Shuffle, twice as much for one item and [MetricRandomizer]; for a Shuffled,
// for each kind of change (k-ary response has one, GKRR two, a channel without
// symmetry of n inputs n(n-1)) milliseconds for one item and up to two seconds for
// more. A composition takes O(sqrt(Count)).
//
// # References
//
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at
//     the user-level via the earth mover's distance", 2024: the setting, the
//     hybrid argument over the items of a user, and Theorem 4.4.
//   - FMT21: Feldman, McMillan, Talwar, "Hiding among the clones: a simple and
//     nearly optimal analysis of privacy amplification by shuffling", 2021.
//   - Wang, "Tight shuffle privacy of metric randomizers", VLDB 2024: see
//     [MetricRandomizer].
//   - Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model",
//     2019, and Su, Cheng, Wang, "Decomposition-based optimal bounds for privacy
//     amplification via shuffling", arXiv 2504.07414: the bound of one item, and
//     that no decomposition of the others betters it.
//   - Takagi, Liew, "Analysis of shuffling beyond pure local differential privacy",
//     arXiv 2601.19154: what is left between it and the truth as N grows.
//   - KOV15: Kairouz, Oh, Viswanath, "The composition theorem for differential
//     privacy", 2015.
//   - Loader, "Fast and accurate computation of binomial probabilities", 2000.
package accountant
