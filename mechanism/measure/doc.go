// Package measure publishes data sets, and probability measures on any metric
// space, as private measures and synthetic records whose accuracy holds for all
// Lipschitz statistics at once.
//
// # The problem
//
// Somebody has N records, points of a metric space, and wants to publish others
// that are like them in every respect that varies slowly over the space: means,
// proportions of regions, averages of smooth functions nobody has thought of
// yet. All these are off by at most the W1 distance of the two empirical
// measures: that is the error. And no single record must show: changing one
// changes the probability of any output by at most a factor e^eps.
//
// # How
//
// The space is cut into cells, the leaves of a tree of regions (a [Domain],
// from public knowledge alone). Every node's count of records gets noise of its
// own: the superregular random walk of BSV22 (package walk). The noisy counts
// are made into a probability measure on the cells ([Release]), and that into
// records.
//
// # Which domain
//
//	records                                  constructor               arrangement
//	points of R^d, rows of numbers           NewBox                    cells of equal levels
//	rows with categories, leaves of a tree,  NewBox, see Column        the same
//	places and missing values
//	places on the Earth                      NewSphere                 cells of equal area
//	points of any finite metric, by index    NewFinite                 net tree of bounded height
//	objects of any space, to public ones     On of NewFinite           the same, nearest point
//	leaves of a taxonomy                     NewTaxonomy               the taxonomy
//	words, keys                              Labels of one of these    the same
//	as in the paper                          NewFolded                 a line
//
// Columns of a box in different units need a [Column].Weight. A [Synthesizer]
// turns records, or [Counts] of them, into a Release; a [Measure] is the same
// for measures, with privacy per unit of total variation.
//
// # Guarantees
//
// A Synthesizer is eps-differentially private, exactly: counts are integers,
// noise is integers drawn with exactly the stated probabilities, its scales are
// checked with outward rounding, and everything after is post-processing.
// SynthesizerOptions.Relation names the neighbors: one record replaced, or one
// added or removed. Where records are left out for what they say, because they
// are invalid or out of bounds, their number is private and only AddRemoveOne
// is true (CountOptions.SkipErrors); moving them into the bounds keeps their
// number public. A record is one row. A person with many is protected where at
// most so many are counted ([CountPersons]) and eps is divided among them
// (SynthesizerOptions.PerPerson). A Measure adds ideal real noise.
//
// [Synthesizer.Bound] tells the expected error before any data are read, and what
// no mechanism can beat; [Release.Confidence] holds after a release.
//
// A method that draws takes an rng. nil is a secure generator and the choice for
// private data; another one makes runs repeatable, for tests.
//
// # Large data
//
// Records come from iterators ([Count]) or slices, are counted on every core,
// and leave 16 bytes for each cell with any behind. Counts are merged
// ([Counts.Merge]) and sent between machines (MarshalBinary). A box has as many
// cells as an int can count, of which a release looks at those that noisy counts
// lead to, at some 100 ns and 60 bytes each; a [Measure] takes some 50 ns for each
// cell. What takes a context returns soon after it ends.
//
// # Who should not use it
//
// Whoever wants a few known statistics gets them with less noise from package
// mechanism/additive. Rare combinations, tails and correlations of rows in many
// columns are lost: the error falls like (N eps)^(-1/d) in d dimensions.
// Bounds, nets and categories must not come from the private records.
//
// # References
//
//   - BSV22: Boedihardjo, Strohmer, Vershynin, "Private measures, random walks,
//     and synthetic data".
//   - HT10: Hardt, Talwar, "On the geometry of differential privacy".
//   - Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially
//     private histograms through consistency", 2010: averaging up the tree.
//   - He, Vershynin, Zhu, "Algorithmically effective differentially private
//     synthetic data", 2023: PMM, the baseline.
//   - Górski et al., "HEALPix", 2005: cells of equal area on the sphere.
package measure
