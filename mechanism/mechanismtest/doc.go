// Package mechanismtest checks implementations of [mechanism.Mechanism] in tests.
//
//		if err := mechanismtest.TestMechanism(ctx, m, []int64{0, 5, 41}, o); err != nil {
//		e, err := mechanismtest.TestLevel(ctx, m, 5, 6, 1, nil)
//
//	  - [TestMechanism] checks how a mechanism behaves.
//	  - [TestLevel] looks for two inputs that it tells apart better than it promises.
//	  - [TestDistribution] compares the frequencies of outputs with known probabilities.
//	  - [TestChannel] checks a mechanism whose distributions are a matrix.
//	  - [LevelAtLeast] bounds from below the level of a mechanism without a matrix.
//
// Tests return nil, or every law that fails, each a [*Failure].
//
// # The laws
//
//   - guarantee: it is set, finite, and does not change.
//   - release: inputs of the domain are released, with a generator and without.
//   - refusal: inputs outside it get an error, not a panic and not a release.
//   - repeatable, randomness: a release depends on the generator and the input alone, and
//     differs without one.
//   - concurrent use: from many goroutines, each with its own generator or none.
//   - input, output: a release modifies neither its input nor earlier releases.
//   - level: no event is found likelier than the guarantee allows.
//   - frequencies: outputs come as often as their distribution says.
//   - of a channel: rows are probabilities that sum to 1, the exact level does not refute the
//     guarantee.
//
// # Guarantees
//
// Laws on frequencies reject a right mechanism with probability at most Options.FalseReject,
// from seeded generators.
//
// # Cost
//
// O(Options.Samples) releases from each input; LevelAtLeast compares all pairs of inputs.
//
// # Who should not use it
//
// A pass of TestLevel proves nothing; a proof, or the Audit of a [mechanism.Channel], bounds
// the level from above. Weak randomness and time that depends on the input are not seen.
package mechanismtest
