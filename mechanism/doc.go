// Package mechanism holds what every private mechanism has in common: what it does
// ([Mechanism]), what it promises ([Guarantee]), and, on finite spaces, the matrix of its
// probabilities ([Channel]).
//
// # The problem
//
// A mechanism M releases a random output for a private input x. It is (alpha, delta)-private
// for a metric rho when, for all inputs x, x' and all sets S of outputs,
//
//	P{M(x) in S} <= exp(alpha*rho(x,x')) P{M(x') in S} + delta.
//
// If rho counts the records in which two data sets differ, that is differential privacy. If it
// is a distance between places or words, each is hidden among its neighbors.
//
// # How to begin
//
// Release something: make a channel by package exponential or lp, or by hand with
// [FromWeights], and call [Channel.Release] for indices, or that of [On] for points and
// [Labels] for words. For inputs that are on no list take package additive. [Then]
// post-processes.
//
// Judge a channel: [Channel.Loss], [Channel.AdversaryError], [Channel.Audit]. [Channel.Certify]
// makes a guarantee of an audit. [FromProbabilities] reads somebody else's matrix to judge.
//
// Release more than once: levels add up ([Guarantee.Plus], [Compose]); [NewComposition] finds
// what channels have together. [Sticky] and [Track] repeat the draw of a value that comes back,
// so that their releases are not independent ([Memoizer]); [Budget] refuses what would exceed
// a limit, and a [Store] keeps both.
//
// Write your own: implement [Mechanism] with [Rand], and test it by package mechanismtest.
//
// # Exactness
//
// Most implementations break their promise in the last bits. The float64 weights of a channel
// are exact real numbers here, or exact logarithms; draws have exactly their ratios, and audits
// round up. The noise of package additive is real noise, added to the input as an exact real and
// rounded once to a public grid.
//
// # Randomness
//
// A nil rng is right for private data: ChaCha8 keyed from crypto/rand. A generator of your own
// makes runs repeatable, for tests. Call [Reseed] after a restore from a snapshot.
//
// # Cost
//
// A release from a channel takes O(outputs); an audit of n inputs O(n^2
// outputs), on every core.
//
// # Who should not use it
//
// A guarantee protects one input; when a secret changed is protected by none ([Sticky]). The
// time of a release may depend on the input, and an error about an input outside the domain
// says that it is outside.
package mechanism
