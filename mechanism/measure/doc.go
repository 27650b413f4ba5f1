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
// A [Domain] is a tree of regions, made from public knowledge alone. A
// [Synthesizer] divides the space, counts the records of every part with noise,
// and goes on where the noisy counts are large against the noise: every path has
// the same budget, and the noisy counts themselves decide how many levels are
// taken at once and with how much of what is left. Where records crowd the regions
// become small; where they are few a region is a leaf, and gets all that its path
// has left. Counts are then averaged up the tree and made into masses down it, and
// the leaves with theirs are a [Release].
//
// A [Measure] is for probability measures, with privacy per unit of total
// variation. It adds noise to every node of a tree of fixed depth: the
// superregular random walk of BSV22 (package walk).
//
// # Which domain
//
//	records                                  constructor               arrangement
//	points of R^d, rows of numbers           NewBox                    dyadic cells
//	rows with categories, leaves of a tree,  NewBox, see Column        the same
//	places and missing values
//	places on the Earth                      NewSphere                 cells of equal area
//	points of any finite metric, by index    NewFinite                 net tree of bounded height
//	objects of any space, to public ones     On of NewFinite           the same, nearest point
//	leaves of a taxonomy                     NewTaxonomy               the taxonomy
//	words, keys                              Labels of one of these    the same
//	as in the paper                          NewFolded                 a line
//
// Columns of a box in different units need a [Column].Weight. Tables of three and
// more columns are for package table, which needs no cells of all columns at once.
//
// # Guarantees
//
// A Synthesizer is eps-differentially private, exactly: counts are integers, noise
// is integers drawn with exactly the stated probabilities, budgets are whole quanta
// whose sums do not round, and everything after is post-processing.
// SynthesizerOptions.Relation names the neighbors: one record replaced, or one
// added or removed. Where records are left out for what they say, because they
// are invalid or out of bounds, their number is private and only AddRemoveOne
// is true (CountOptions.SkipErrors); moving them into the bounds keeps their
// number public. A record is one row. A person with many is protected where at
// most so many are counted ([CountPersons]) and eps is divided among them
// (SynthesizerOptions.PerPerson). A Measure adds ideal real noise.
//
// [Release.Error] estimates the error of a release, and [Release.ErrorOf] that of an
// answer, by simulation of the noise. [Synthesizer.LowerBound] is what no mechanism
// as private can beat on all data, and [Measure.Bound] what a Measure's error is at
// most.
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
// lead to, at about 1 us and 100 bytes each; a [Measure] takes some 50 ns for each
// cell. What takes a context returns soon after it ends.
//
// # How good
//
// W1 of the default over that of others that know the best depth in hindsight, the
// range over uniform, clustered, discrete, check-in-like and trace-like records
// with N eps from 10^2 to 10^6 (BenchmarkRegret of internal/adaptive; for real cities
// and words, and PMM and BSV22 too, BenchmarkW1):
//
//	                     line         plane        space
//	tree of fixed depth  .15 to 1.21  .13 to 1.15  .16 to 1.28
//	Laplace histogram    .01 to 1.10  .01 to 1.23  .01 to 1.25
//
// It loses where a few hundred records fill the space evenly or are at few places.
// A tree that is pruned at a depth known in hindsight and refined as this one is
// ([SynthesizerOptions].Levels and Prune) is within 1.3 in the plane and in space,
// and 1.7 times better on the line where all records are at one place.
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
//   - Koufogiannis, Han, Pappas, "Gradual release of sensitive data under
//     differential privacy", 2016: counts that are refined.
//   - Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially
//     private histograms through consistency", 2010: averaging up the tree.
//   - He, Vershynin, Zhu, "Algorithmically effective differentially private
//     synthetic data", 2023: PMM, the baseline.
//   - Górski et al., "HEALPix", 2005: cells of equal area on the sphere.
package measure
