// Package measure publishes a data set as synthetic records that are like the true ones in every
// average that varies slowly over the space.
//
//	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil)
//	s, err := measure.NewSynthesizer(d, 1, nil)
//	records, err := s.Synthetic(context.Background(), seeded(), waits(), 0)
//
// # The problem
//
// N points of a metric space become others with nearly the same means, shares of regions and
// averages of smooth functions. The error of all of these is at most W1, the distance by which the
// mass of one data set must be moved to become the other.
//
// # How to begin
//
// Describe the space by a [domain.Domain]. Read the records: [Count], [CountAll], or [CountPersons]
// where a person has many; [Counts.Merge] joins parts. Release them: [NewSynthesizer], then
// [Release.Records], [Release.Mean] and [Release.Weights]. [Release.Error] and [Release.ErrorOf]
// estimate the error. Before any data are read [Synthesizer.UpperBound] bounds it, with fixed
// Levels, and [Synthesizer.LowerBound] that of any mechanism.
//
// [NewStream] is for records that keep arriving, package private for a probability measure, package
// table for three or more columns.
//
// # Guarantees
//
// A [Synthesizer] is eps-differentially private, to the last bit, for one record replaced, or one
// added or removed ([Relation]). Persons with many rows need PerPerson. Where records are left out
// for what they say, only [AddRemoveOne] is true: see [CountOptions].
//
// # Cost
//
// Counting is O(N) and keeps 16 bytes for each cell with records. A release is linear in the
// regions that noisy counts lead to, whatever the size of the domain.
//
// # Who should not use it
//
// A few known statistics have less noise from package additive. Rare combinations, tails, and
// correlations in many columns are lost: the error falls like (N eps)^(-1/d) in d dimensions.
//
// # References
//
//   - BSV22: Boedihardjo, Strohmer, Vershynin, "Private measures, random walks, and synthetic
//     data".
package measure
