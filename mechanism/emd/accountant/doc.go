// Package accountant computes the privacy level of users whose items are each randomized and
// then shuffled: published together, without names and without order.
//
//	s := accountant.Shuffle{Records: 1_000_000, Items: 10, Diameter: 5} // km
//	budget, err := s.Budget(ctx, accountant.Promise{Alpha: 0.5, Delta: 1e-9})
//
// N records, each an item of a metric space, go through a randomizer of level alpha0 per unit
// of distance. A trusted shuffler publishes the outputs; a user owns m records, better
// protected than by the m*alpha0 of composition. The answer is a level alpha and a delta per unit
// of the earth mover's distance, the mean distance by which one user's items move. At the
// largest, Diameter, that is user-level privacy at eps = alpha*Diameter.
//
// # Which function
//
// With the level alpha0 alone [Shuffle.Level] finds alpha, [Shuffle.Delta] delta, [Shuffle.Budget]
// the alpha0 that a randomizer may have; [Shuffle.MovedLevel] and [Shuffle.MovedDelta] answer for a
// change of given size. With a [NewRandomizer] in the Shuffle its matrix counts: levels are two
// thirds or less (bits: nine tenths). An [Interval] says how good an answer is, proved by a
// [Witness]. For many pure mechanisms on the same data: [Composition] and [ComposeBudget].
//
// # Guarantees
//
// Answers are rounded safely and name the [Theorem] that proves them. The randomizer must be
// pure and draw each record independently. The number of records is public.
//
// # Cost
//
// Two seconds a question at most, N up to 2^40; with a Randomizer as much for each kind
// of change. A Composition takes O(sqrt(Count)).
//
// # Who should not use it
//
// Not covered is an observer who sees when records arrive or who sent them.
//
// # References
//
// IRC24: Imola et al., "Metric differential privacy at the user-level via
// the earth mover's distance", 2024. KOV15: Kairouz et al., "The composition theorem
// for differential privacy", 2015.
package accountant
