// Package mechanism holds what every private mechanism has in common: what it
// does ([Mechanism]), what it promises ([Guarantee]), and, on finite spaces,
// the matrix of its distributions ([Channel]) that can be sampled without rounding,
// audited and measured.
//
// # The problem
//
// A mechanism M releases a random output for a private input x. It is (alpha,
// delta)-private for a metric rho when, for all inputs x, x' and all measurable
// sets S,
//
//	P{M(x) in S} <= exp(alpha*rho(x,x')) P{M(x') in S} + delta.
//
// With rho counting the records in which two data sets differ this is
// differential privacy; with a distance between places, words or measurements
// it protects each from its neighbors, the nearer the better. alpha carries
// the unit 1/distance, and a [Guarantee] remembers which.
//
// # Exactness
//
// The promise is one about real numbers, and most implementations break it in
// the last bits: a probability that underflows to 0, a logarithm whose rounding
// favors an output. Here the float64 weights of a [Channel] row are exact real
// numbers, or exact logarithms of them; [Channel.Release] draws from their ratios
// exactly, and [Channel.Audit] bounds their level with rounding that always goes up.
// [Channel.Certify] turns the bound into the guarantee that the channel carries.
//
// # From points to a release
//
// Build a metric.Finite from points, a channel by package mechanism/exponential
// (or by hand with [FromWeights]), look at its [Channel.Loss] and at how well an
// adversary with a prior could guess ([Channel.AdversaryError]), and release
// indices with [Channel.Release], points through [On], or words, places and
// keys through [Labels]. Both take only what is on the list: for other inputs
// add noise and snap it to the list (package mechanism/additive). [Then]
// post-processes; [Compose] releases several outputs of one input and adds
// their levels. Levels are per the unit of the metric, which a space such as
// metric.GreatCircle knows.
//
// A context ends a call early with its error. Work is done on every core, or on
// the Workers of the options; results do not depend on their number.
//
// # Asked again and again
//
// Releases of one secret add their levels, and their mean gives it away. [Sticky] draws
// once for each value of the secret and repeats the draw whenever the value comes back, so
// that values add up and not questions; [Track] does so for a sequence, without its ends.
// [Budget] refuses what would pass a limit. Both outlive the process in a [Store].
//
// # Randomness
//
// Randomness is ChaCha8 keyed from crypto/rand unless the caller passes a
// generator of math/rand/v2, as in rand.New(rand.NewPCG(1, 2)), which is for tests.
//
// The generators live in the memory of the process and are used again. A virtual
// machine restored twice from one snapshot, or cloned while it runs, holds their
// state twice: both copies draw the same noise, which gives away the difference of
// their inputs. Call [Reseed] after a restore, before the first release. It keys anew
// from the operating system, which must itself have noticed the restore (Linux does,
// from 5.18, where the hypervisor has a generation ID).
//
// # Limits
//
// The time that a release takes may depend on the input, and nothing here hides
// it. A guarantee protects one input; releasing twice adds levels ([Guarantee.Plus]), and
// when a secret changed is no part of any guarantee here ([Sticky]).
// Errors about an input outside the domain reveal that it is outside.
package mechanism
