// Package accountant says what shuffling is worth: how private users are whose items are each
// made private and then published together, without names and without order.
//
// # The problem
//
// N records, each an item of a metric space, go through a randomizer of level alpha0 per unit
// of the distance between items. A trusted shuffler publishes the outputs, and a user owns m of
// the records. One item hides among all others, so the user is far better protected than the
// m*alpha0 of composition. An accountant computes how much.
//
// The answer is a level alpha and a delta per unit of the earth mover's distance, the mean
// distance by which one user's items move. At the largest, Diameter, that is user-level privacy
// at eps = alpha*Diameter.
//
// # How to begin
//
// Know only the randomizer's level: state a [Shuffle]. [Shuffle.Level] finds alpha,
// [Shuffle.Delta] delta, [Shuffle.Budget] the alpha0 that a randomizer may have, and
// [Shuffle.ItemDelta] is about one item that moves.
//
// Have the randomizer's matrix: ask [NewShuffled] for a [Shuffled], whose levels are mostly a
// third to two thirds of the other's.
//
// Ask how good an answer is: each question has an [Interval] too, whose other end is proved by
// two data sets, the [Witness].
//
// Run many pure mechanisms on the same data: [Composition] and [ComposeBudget].
//
// # Guarantees
//
// Answers are rounded safely and name the [Theorem] that proves it. The
// randomizer must be pure (no delta), draw each record independently, and not look at outputs
// of others. The number of records is public.
//
// # Cost
//
// Two seconds a question at most for a Shuffle, whatever N up to 2^40, and for a Shuffled
// as much for each kind of change. A Composition takes O(sqrt(Count)).
//
// # Who should not use it
//
// An observer who sees when records arrive, or who sent them, is not covered. Where users
// shuffle their own items, N = m. Finite channels are composed by [mechanism.Composition].
//
// # References
//
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level
//     via the earth mover's distance", 2024.
//   - KOV15: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", 2015.
package accountant
