// Package table publishes tables of numbers, dates, categories and places as synthetic rows,
// and reads and writes them by a public schema.
//
//	schema, err := table.ParseSchema("city:category:Paris|London|*elsewhere,joined:date:2000-01-01..2009-12-31,visits?:whole:0..100")
//	s, err := table.New(schema.Columns(), 1, nil)
//
// # The problem
//
// With five columns the cells of one box (package measure) are so large that it says little of
// any two. This package counts every column and those pairs that depend on one another most,
// and makes rows that fit all counts.
//
// # How to begin
//
// [Plan] says what to expect of so many rows. From a CSV file: [ReadSchema] or [NewSchema],
// which must be public; [Schema.Read] gives rows, and [Schema.Write] writes synthetic ones.
// From rows in memory: [New], [Synthesizer.Release], [Release.Records]. [Release.Report] says
// how good they are, at no cost of privacy.
//
// For persons with many rows: Options.PerPerson, [Schema.ReadPersons] and
// [Synthesizer.ReleasePersons].
//
// # Guarantees
//
// eps-differential privacy, to the last bit, for one row replaced or one added or removed, or
// for a person with all rows: [Synthesizer] says why. Errors are simulated, not proved.
//
// # Cost
//
// At eps = 1 a release of 50,000 rows of five columns takes some two seconds.
//
// # Who should not use it
//
//   - Two columns are better off in one box (package measure). Of three, a box says more of pairs
//     from 10,000 rows on, and less of each column.
//   - With a few thousand rows of ten columns at eps = 1 no pair is seen: Plan tells such cases.
//
// # References
//
//   - McKenna, Miklau, Sheldon, "Winning the NIST contest", 2021, and McKenna, Mullins,
//     Sheldon, Miklau, "AIM", 2022: noisy counts of few columns, picked one by one.
//   - Koufogiannis, Han, Pappas, "Gradual release of sensitive data under differential
//     privacy", 2016.
package table
