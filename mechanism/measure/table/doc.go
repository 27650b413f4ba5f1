// Package table publishes tables of numbers, dates, categories and places as synthetic rows,
// and reads and writes them by a public schema.
//
//	schema, err := table.ParseSchema("city:category:Paris|London|*elsewhere,joined:date:2000-01-01..2009-12-31,visits?:whole:0..100")
//	s, err := table.New(schema.Columns(), 1, nil)
//
// # The problem
//
// With five columns the cells of one box (package measure) are so large that it says little of
// any two of them, and most synthetic rows lie where nobody is. This package publishes every
// column, and those pairs of columns that depend on one another most.
//
// # How to begin
//
// From a CSV file: [ReadSchema] or [NewSchema], which must be public; [Schema.Read] gives rows,
// and [Schema.Write] writes synthetic ones. From rows in memory: [New],
// [Synthesizer.Release], [Release.Records]. [Release.Margins] has the columns one by one, with
// their errors, and [Release.Edges] the pairs that were picked.
//
// For persons with many rows: Options.PerPerson, [Schema.ReadPersons] and
// [Synthesizer.ReleasePersons].
//
// # Guarantees
//
// eps-differential privacy, to the last bit, for one row replaced or one added or removed, or
// for a person with all rows: [Synthesizer] says why. [measure.Release.Error] states the error
// of a column; for pairs none is stated.
//
// # Cost
//
// The choice of pairs takes O(k^2) for each row of k columns.
//
// # Who should not use it
//
//   - Columns that are independent, or with fewer than about 500/eps rows for each column, are
//     better off as columns alone: of five columns, 2,500 rows at eps = 1 (BenchmarkPairs).
//   - Two columns, or few columns with many rows, are better off in one box: pairs leave out
//     what only three columns say together, however large eps is.
//   - Categories that are many for their rows get inaccurate shares.
//
// # References
//
//   - Chow, Liu, "Approximating discrete probability distributions with dependence trees",
//     1968.
//   - Zhang et al., "PrivBayes", 2014, and McKenna, Miklau, Sheldon, "Winning the NIST
//     contest", 2021: noisy tables of few columns.
package table
