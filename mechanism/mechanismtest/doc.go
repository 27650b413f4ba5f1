// Package mechanismtest checks implementations of [mechanism.Mechanism]: run your own through
// it in a test.
//
// # How to begin
//
//   - [TestMechanism] checks how a mechanism behaves.
//   - [TestLevel] looks for two inputs that it tells apart better than it promises.
//   - [TestDistribution] compares the frequencies of outputs with known probabilities.
//   - [TestChannel] checks a mechanism whose distributions are a matrix.
//   - [LevelAtLeast] is no test: it bounds from below the level of a mechanism without a
//     matrix.
//
// Tests return nil, or every law that fails, each a [*Failure]. Use the race detector too.
//
// # The laws
//
//   - guarantee: it is set, finite, and does not change.
//   - release: inputs of the domain are released, with a generator and without.
//   - refusal: inputs outside it get an error, not a panic and not a release.
//   - repeatable: a release depends on the generator and the input alone.
//   - randomness: releases differ from generator to generator, and without one from one
//     another.
//   - concurrent use: from many goroutines, each with its own generator or none.
//   - input: a release does not modify its input, as far as %#v prints it.
//   - output: a release does not modify what was released before.
//   - level: no event is found likelier than the guarantee allows.
//   - frequencies: outputs come as often as their distribution says.
//   - rows: of a channel: probabilities that sum to 1.
//   - audit: of a channel: its exact level does not refute its guarantee.
//   - loss: of a channel: the mean distance under its rows.
//   - JSON: of a channel: it is written and read back the same.
//
// # Guarantees
//
// Laws on frequencies reject a right mechanism with probability at most Options.FalseReject.
// Generators are seeded, so that a test that passes once passes always.
//
// # Cost
//
// O(Options.Samples) releases from each input; LevelAtLeast compares all pairs of inputs.
//
// # Who should not use it
//
// Whoever wants a proof: a pass of TestLevel proves nothing. Only a proof, or the Audit of a
// [mechanism.Channel], bounds the level from above. Weak randomness that varies, and time that
// depends on the input, are not seen.
package mechanismtest
