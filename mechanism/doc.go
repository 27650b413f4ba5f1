// Package mechanism holds what every private mechanism has in common: what it does
// ([Mechanism]), what it promises ([Guarantee]), and, on finite spaces, the matrix of its
// probabilities ([Channel]).
//
//	channel, _, err = channel.Certify(ctx, scale, "step", nil)
//	ask := mechanism.On(again, scale)
//	fmt.Println(ask.Release(seeded(), 4)) // in earnest with nil in place of a seed
//
// A mechanism M releases a random output for a private input x. It is (alpha, delta)-private
// for a metric rho when, for all inputs x, x' and all sets S of outputs,
//
//	P{M(x) in S} <= exp(alpha*rho(x,x')) P{M(x') in S} + delta.
//
// If rho counts the records in which two data sets differ, that is differential privacy.
//
// # Which function
//
//   - Release: channels come from packages exponential and lp, or by hand from [FromWeights].
//     [Channel.Release] takes indices, [On] points, [Labels] words; [Then] post-processes.
//   - Judge: [Channel.Loss], [Channel.AdversaryError], [Channel.Audit]; [Channel.Certify] makes
//     a guarantee of an audit, [FromProbabilities] reads somebody else's matrix.
//   - Release again: levels add ([Guarantee.Plus], [Compose]); [NewComposition] finds what many
//     releases have together at a delta. [Sticky] and [Track] repeat the draw of a value that comes back;
//     [Budget] refuses what exceeds a limit; a [Store] keeps both.
//
// # Guarantees
//
// Weights of a channel are exact numbers or logarithms: draws have exactly their ratios, and
// audits round up. Noise is added as an exact real and rounded once to a public grid. A nil rng
// is ChaCha8 keyed from crypto/rand, right for private data ([Reseed]).
//
// # Cost
//
// A release from a channel takes O(outputs); an audit of n inputs O(n^2 outputs), on every
// core.
//
// # Who should not use it
//
// A guarantee protects one input; none protects when a secret changed ([Sticky]). The time of a
// release may depend on the input, and an error about an input outside the domain says so.
package mechanism
