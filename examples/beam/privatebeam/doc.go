// Package privatebeam runs the mechanisms of metricdp on Apache Beam, for data that outgrow one
// machine.
//
//	SyntheticData     PCollection<R> of records        -> PCollection<R> of synthetic ones
//	SyntheticPersons  PCollection<KV<string,R>>        -> the same, private per person
//	Users             PCollection<KV<string,int>>      -> PCollection<User>
//	Reduce            users of any number of items     -> users of equally many
//	ItemWise          PCollection<User>                -> PCollection<Multiset>, one element
//	Frequencies       that                             -> PCollection<Estimate>, one element
//
// The guarantee is that of the same release on one machine: [measure.Synthesizer],
// [frequency.ItemWise], [emd.Reduced]. Only what comes out of SyntheticData, SyntheticPersons,
// ItemWise and Frequencies may be published, and each release once; all else is as private as the
// data.
//
// # Where the noise is added
//
// Records are counted exactly, on all workers; one worker draws the noise of the merged counts.
// SyntheticPersons also draws, for each person, which records count. ItemWise draws for every user
// on all workers, and only the sum of all outputs goes on: it knows neither users nor an order, so
// that none has to be hidden by a shuffle.
//
// # What a retry can do
//
// A runner may run a bundle again. Fresh noise each time would be two releases where both attempts
// leave a trace, so that no worker draws any: a transform has a secret key of 256 bits, from
// crypto/rand where the pipeline is built, and a nonce, as long, that every run draws once and
// keeps by a Reshuffle. The generator of a release is ChaCha8 under the key
//
//	HMAC-SHA256(key; nonce, mechanism, parameters, data)
//
// with the length of each before it. The data are the merged counts, or a user's ID and cells or
// items in ascending order; parameters are the promise and all options that bear on the output.
// None of this knows bundles, workers, attempts or the order of arrival. Hence:
//
//   - Every attempt that reads the same puts out the same bits: all that can be seen of one run
//     is one release, without exactly-once semantics; counts need the runner's.
//   - No two transforms or users, and no two runs of one pipeline, share noise. Two runs are two
//     releases, and cost twice.
//   - Attempts that read different inputs, because a source does not read the same again, are two
//     releases. In SyntheticData and SyntheticPersons they spend the budget twice. In Reduce and
//     ItemWise the difference of the two sums shows those who changed with no noise of the
//     others, which no budget covers: write what such a source reads to files first, and read
//     these.
//
// It rests on a secret key; on HMAC-SHA256 as a pseudo-random function, which makes the guarantee
// computational; on one binary and architecture for all workers; and on a runner that keeps what
// has passed a Reshuffle, as Prism and Dataflow do, and Spark does not where a shuffle is lost. A
// run that failed may have written a part: count its budget as spent.
//
// # Where the key is
//
// By default inside the pipeline, base64 in JSON. Whoever reads that can take the noise off: the
// job service, its staging area, and any log that prints the pipeline, as the Dataflow launcher's
// does. Otherwise write the key to a file that the workers alone can read, [NewKeyFile], pass its
// path as KeyFile, and delete it after the run. A pipeline that is stored and run again keeps its
// key. A seed is for tests: transforms under [SeededKey] have no nonce, and two runs are one
// release.
//
// # Limits
//
// Inputs are bounded and in the global window. The cells with records, the synthetic records, the
// records or items of one user and the channel each fit a worker. Beam's metrics and logs are not
// private: errors here do not say whose data are wrong.
package privatebeam
