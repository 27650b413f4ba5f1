// Package privatebeam runs the mechanisms of metricdp on Apache Beam, for data that
// outgrow one machine: synthetic data of records, and what is known of users
// whose items are protected under the earth mover's distance.
//
// # Transforms
//
//	SyntheticData     PCollection<R> of records        -> PCollection<R> of synthetic ones
//	SyntheticPersons  PCollection<KV<string,R>>        -> the same, private per person
//	Users             PCollection<KV<string,int>>      -> PCollection<User>
//	Reduce            users of any number of items     -> users of equally many
//	ItemWise          PCollection<User>                -> PCollection<Multiset>, one element
//	Outputs           that                             -> PCollection<int> of the outputs
//	Frequencies       that                             -> PCollection<Estimate>, one element
//
// What is private, and how much, the library says: [measure.Synthesizer],
// [frequency.ItemWise] and [emd.Reduced] state the guarantee of the same release made
// on one machine. The collections that enter a transform, and all that it does on
// the way, are as private as the data. Only what comes out of SyntheticData,
// SyntheticPersons, ItemWise, Outputs and Frequencies may be published, and each
// release once.
//
// # Where the noise is added
//
// Nothing random happens while records are counted: they fall into cells, on all
// workers, and exact counts are added up. One worker draws the noise, for one
// element, the merged counts. SyntheticPersons also draws, with a generator of
// each person's own, which of the person's records count: a person moves no more
// counts than that, and none of another's. ItemWise draws for every user on all
// workers, with a generator of the user's own, and only the sum of all users' outputs
// goes on: it knows neither users nor an order, so none has to be hidden by a shuffle.
// (Beam's Reshuffle spreads elements over workers and promises no random order.)
//
// # What a retry can do
//
// A runner may run a bundle again: because a worker was lost, because it was slow
// and another got the same bundle, or because an intermediate result was lost.
// Fresh noise each time would be two releases where both attempts leave a trace, be
// it in a file that both write: the budget would be spent twice, and unbeknownst.
//
// So there is no fresh noise on a worker. A transform has a secret key of 256 bits, drawn
// from crypto/rand where the pipeline is built, which travels with it; and a nonce of its
// own, as long, that every run draws once, in a step before all others, and keeps by a
// Reshuffle. The generator of a release is ChaCha8 under the key
//
//	HMAC-SHA256(key; nonce, mechanism, parameters, data)
//
// with the length of each before it. The data are the merged counts for
// SyntheticData and SyntheticPersons; for what SyntheticPersons lets count, for Reduce
// and for ItemWise, user by user, the user's ID and cells or items in ascending order.
// Parameters are the promise and all options that bear on what comes out, the channel
// and the model of ItemWise among them. None of this knows bundles, workers, attempts
// or the order of arrival. Hence:
//
//   - Every attempt at a bundle that reads the same puts out the same bits. However
//     often a runner repeats whatever part of one run, and whichever attempts leave a
//     trace, all that can be seen is one release. This needs no exactly-once semantics;
//     the runner's are needed for the counts, as for any sum: an input element is
//     counted once.
//   - No two transforms share noise, of one pipeline or of two, and no two runs of one
//     that is built once, were they the same in all else and had they one key: the nonce
//     differs. Nor do two users of a transform. Streams are independent for everyone
//     without the key. Two runs are two releases, and cost twice.
//   - Attempts at one bundle that read different inputs, because a source does not read
//     the same again, are two releases of which only one may ever be seen. In
//     SyntheticData and SyntheticPersons their noise is independent, and they spend the
//     budget twice. In Reduce and ItemWise they are worse: the users who did not change
//     draw the same in both, so that the difference of the two sums is what became of
//     those who did, with no noise of the others around it. No budget covers both.
//     Where a source may read differently, write what it read to files first, and read
//     these.
//
// What it rests on: the key stays secret; HMAC-SHA256 is a pseudo-random function
// (the guarantee is then computational, as with every generator that has a seed);
// all workers run one binary on one architecture, for the estimates that follow the
// integer noise are made in float64; and the runner keeps what has passed a Reshuffle, as
// Prism and Dataflow do and Beam's own writers need. Where it may compute it anew, as Spark
// does for a shuffle that is lost, a part that is run again after that is another release.
// A run that failed may have written a part: count its budget as spent.
//
// # Where the key is
//
// By default it is inside the pipeline, in the configuration of a DoFn, base64 in
// JSON. Whoever reads the pipeline can take the noise off: the runner's job
// service, its staging area, and any log that prints the pipeline, which the
// Dataflow launcher does at level info, others at debug. On the embedded Prism and
// on a cluster of one's own, those are the ones who can read the data anyway.
// Otherwise write the key to a file that the workers alone can read, [NewKeyFile],
// pass its path as KeyFile, and delete it when the run is over. It is the same key
// and the same guarantee, and the pipeline holds the path.
//
// A pipeline that is stored and run more than once, as Dataflow templates are, has one key
// in all runs: keep it, or its file, as long and as secret. A seed is for tests: transforms
// under [SeededKey] have no nonce, and two runs are one release.
//
// # Limits
//
// Inputs are bounded and in the global window; everything else is refused or, for
// unbounded sources, never released. The cells with records, the synthetic records,
// the records or items of one user and the channel each fit a worker. Beam's metrics and logs
// are not private: errors here say what is wrong, but not with whom.
package privatebeam
