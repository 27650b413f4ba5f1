// Package mechanismtest checks implementations of [mechanism.Mechanism]: run a
// mechanism of your own through it in a test, as testing/fstest and
// testing/iotest do for file systems and readers.
//
//	func TestReport(t *testing.T) {
//		m := newReport()
//		if err := mechanismtest.TestMechanism(t.Context(), m, []int{0, 5, 41}, nil); err != nil {
//			t.Fatal(err)
//		}
//		if _, err := mechanismtest.TestLevel(t.Context(), m, 5, 6, 1, nil); err != nil {
//			t.Error(err)
//		}
//	}
//
// [TestMechanism] checks how a mechanism behaves, [TestLevel] looks for two inputs
// that it tells apart better than it promises, [TestDistribution] compares the
// frequencies of its outputs with their distribution where that is known, and
// [TestChannel] checks a mechanism whose distributions are a matrix. They return nil or
// every law that fails, joined, each a [*Failure]; ctx ends them early with its error.
// Run the tests under the race detector too. [LevelAtLeast] is no test: it bounds the level
// of a mechanism without a matrix from below.
//
// # The laws
//
//   - guarantee: it is set, finite, and does not change.
//   - release: inputs of the domain are released, whatever the draw, with a
//     generator and without.
//   - refusal: inputs outside it get an error, not a panic and not a release.
//   - repeatable: a release depends on the generator and the input alone, not
//     on releases before it, and leaves the generator in the same state.
//   - randomness: releases differ from generator to generator, and without a
//     generator from one another.
//   - concurrent use: from many goroutines, each with its own generator or none.
//   - input: a release does not modify its input, as far as %#v prints it.
//   - output: a release does not modify what was released before it.
//   - level: no event is found likelier than the guarantee allows.
//   - frequencies: outputs come as often as their distribution says.
//   - rows: of a channel: probabilities, as Prob gives them, that sum to 1.
//   - audit: of a channel: its exact level does not refute its guarantee.
//   - loss: of a channel: the mean distance under its rows.
//   - JSON: of a channel: it is written and read back the same.
//
// # What a pass means
//
// A broken law of behavior is shown by its witness. Laws on frequencies reject
// a mechanism that is right with probability at most Options.FalseReject,
// proved for any number of samples; as the generators are seeded, a test that
// passes once passes always. A pass of [TestLevel] proves nothing: only a
// proof, or the Audit of a [mechanism.Channel], bounds the level from above.
// Weak randomness that varies, and time that depends on the input, are not
// seen.
//
// # References
//
//   - Ding, Wang, Wang, Zhang, Kifer, "Detecting violations of differential
//     privacy", 2018; Bichsel, Steffen, Bogunovic, Vechev, "DP-Sniper", 2021:
//     an event found on some samples is tested on others.
//   - Clopper, Pearson, "The use of confidence or fiducial limits illustrated in
//     the case of the binomial", 1934.
//   - Agrawal, "Finite-sample concentration of the multinomial in relative
//     entropy", 2020: the bound on the false rejects of TestDistribution.
package mechanismtest
