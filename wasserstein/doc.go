// Package wasserstein computes optimal transport: the W1 distance of two measures, the plan
// that attains it with a proof, and the probability measure nearest to a signed one.
//
// Measures are slices of weights, one for every point of a metric space. Moving mass m over
// a distance d costs m*d. W1(mu, nu), the earth mover's distance, is the least cost of
// turning mu into nu: how far apart two users with many records each are (IRC24), or a
// private measure from the truth (BSV22).
//
// # Distances
//
//   - Any finite metric: [W1], by a closed form on lines and trees; [Distance] is the
//     value alone.
//   - Any costs: [Between]; two lists of points: [Distances].
//   - Numbers: [W1Samples] for samples, [W1LineBetween] with weights.
//   - Multisets: [DistanceEM]; [Assignment] matches rows to columns.
//
// # Nearest probability measures
//
//   - [Project], [ProjectLine], [ProjectTree], for measures that noise has made signed.
//   - [IsotonicL1] and [ProjectSimplex], their kernels.
//
// # What is guaranteed
//
// Closed forms, on the line and trees, err by a few units in the last place. [W1],
// [Between], [Project] and [Assignment] enclose the optimum between the cost of their plan
// and a lower bound by duality, rounded outward; [Certify] does so for plans from
// elsewhere. Totals that differ are a [*MassError].
//
// # Cost
//
// Closed forms take O(n log n) at most. Any other finite metric takes some ten passes over the n^2
// costs and ten pivots a point, of O(n) at worst, in 8 bytes a pair; points of R^d, d <= 6,
// take searches in a kd-tree and O(n) memory. Two samples of the plane of n points each,
// two cores, seconds (BenchmarkW1_Lazy and BenchmarkW1_Cells; [Options].Cells):
//
//	                                         n = 10,000  30,000  100,000  1,000,000
//	uniform, both of one square                     0.6     3.6       47
//	normal, 0.2 standard deviations apart           1.2     8.3       92
//	normal, of two shapes, 2 apart                  2.8      21      254
//	Cells: 4096, within 0.5 % of the diameter                      1     5 to 8
//
// # Who should not use it
//
// W1 is not W2, and measures of different mass need unbalanced transport. In many
// dimensions the distance of two samples mostly tells their size. Nothing here is private:
// a distance reveals both data sets, and is to be released through a mechanism.
//
// # References
//
//   - IRC24: Imola et al., Metric differential privacy at the user-level via the earth
//     mover's distance.
//   - BSV22: Boedihardjo et al., Private measures, random walks, and synthetic data.
package wasserstein
