// Package table publishes tables of numbers, dates, categories and places as
// synthetic rows, and reads and writes them by a public schema.
//
// # The problem
//
// One box of all columns, cut into cells (package measure), is true to every
// statistic that varies slowly over the box. In five columns cells are so large that
// little is left of what two of them say of one another, and most synthetic rows lie
// where nobody is.
//
// # How
//
// A [Synthesizer] releases, each with a share of eps,
//
//   - the margin of every column, a measure on a tree of its values (half of eps). It
//     makes the column a number in [0, 1], the rank: a region of mass w is an
//     interval of length w, in which a row's rank is drawn at random;
//   - which pairs of columns depend on one another most: a forest, picked edge by edge
//     by noisy scores, how far tables of 8 x 8 ranks are from independent (.025 of eps
//     an edge, .2 at most). It ends where no pair is better than none;
//   - the ranks of each pair of the forest, a measure on a square. Margins being even
//     and known, all of it is spent on what the two say of one another. Without an
//     edge, margins are released again instead, with what is left.
//
// Rows are drawn along the forest: a column's rank given that of its parent, from
// the regions of the pair that contain it; then the ranks of all rows are spread
// evenly, and the value of a rank is drawn from its region.
//
// # Guarantees
//
// eps-differential privacy, exactly, for one row replaced or one added or removed:
// margins and pairs are releases of package measure of counts to which every row adds
// one, picks are private by a proof beside the code, and their levels, rounded up,
// add up to what [Synthesizer.Guarantee] states. A row's random rank depends on the
// row alone. Everything else is post-processing. Where persons have many rows,
// Options.PerPerson and [Synthesizer.ReleasePersons] make eps the level of a person
// ([Schema.ReadPersons] reads whose rows are).
//
// [measure.Release.Error] states the error of each of [Release.Margins]. Of what pairs
// say no error is stated: for that take a box of all columns.
//
// # Figures
//
// 16,621 rows of two numbers of correlation .983, 14 and 5 categories that depend on
// them, and a skewed number that depends on all (BenchmarkTable, means of 4). cat is
// the larger total variation of the two categories' margins, W1 the mean distance of
// the numbers' margins in shares of their range, range the mean error of the share of
// rows in a rectangle of two columns, empty the share of rows in cells of all
// columns, 1/16 of each number, where nobody is. fresh is another table of the same
// kind, without noise.
//
//	eps           corr   cat     W1      range   empty
//	 .1  table    .81    .093    .019    .017    .35
//	     one box  .67    .105    .067    .034    .56
//	     margins  .00    .047    .011    .014    .67
//	1    table    .943   .0068   .0044   .0041   .17
//	     one box  .704   .0175   .0190   .0120   .27
//	     margins  .00    .0042   .0024   .0117   .68
//	10   table    .979   .0007   .0006   .0018   .13
//	     one box  .895   .0029   .0032   .0026   .061
//	     margins  .01    .0004   .0004   .0113   .68
//	     fresh    .983   .0135   .0020   .0021   .11
//
// # Who should not use it
//
// Whoever has columns that are independent, or too few rows for pairs: margins alone
// are better. On the table above with every column shuffled the error of ranges is
// .0026 against .0018 at eps = 1, and .0090 against .0062 at eps = .1; of ten numbers
// in a chain of correlations .8, .026 against .021 at eps = .1 (at eps = 1, .0066
// against .0156, and .071 in one box). The budget of a pair is about .3 eps over the
// number of columns; where rows times that fall below some hundreds, a pair says
// little.
//
// Whoever has two columns: one box of both has an error of ranges of .0016 against
// .0028, on the two numbers above at eps = 1. With many rows a box of few columns wins
// in the long run too, as a tree of pairs leaves out what only three columns say
// together, however large eps is: see empty at eps = 10.
//
// Categories that are many for their rows, such as 240 countries of 24,000 places,
// get margins that are off by .06 in total variation at eps = 1.
//
// # References
//
//   - Chow, Liu, "Approximating discrete probability distributions with dependence
//     trees", 1968.
//   - Zhang, Cormode, Procopiuc, Srivastava, Xiao, "PrivBayes: private data release via
//     Bayesian networks", 2014: noisy tables of few columns, chosen privately.
//   - McKenna, Miklau, Sheldon, "Winning the NIST contest", 2021: MST, margins first,
//     then a tree picked by how far pairs are from independent.
//   - McKenna, Sheldon, "Permute-and-flip", 2020; Ding et al., "The permute-and-flip
//     mechanism is identical to report-noisy-max with exponential noise", 2021.
package table
