// Package distribution releases how the items of users are distributed, under the earth
// mover's distance (package emd):
//
//	model := emd.Model{Trust: emd.Central, Users: 1000, Unit: "km"}
//	private, err := distribution.New(ctx, distribution.Line(0, 100), model, 0.1, nil)
//	report, err := private.Release(nil, slices.Values(trips))
//	lengths, err := private.Estimate(ctx, report)
//	synthetic, err := lengths.Records(nil, 1000)
//
// Items lie on a [Line], in a [Box], on the [Sphere], at the leaves of a [Tree] or in any
// [Finite] metric. A curator sees all of them, or every user makes a report of its own, which
// anyone may add up ([emd.Report.Merge]). Users may hold any number of items.
//
// The error in d_EM is of order (alpha n)^(-1/(d+1)) for n users in d dimensions, as any
// mechanism's must be, and without a curator (alpha sqrt(n))^(-1/(d+1)).
// [Distribution.ErrorBound] bounds it, [Histogram.Error] simulates it.
//
// Source: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via
// the earth mover's distance", 2024 (IRC24), Theorem 4.1; maps and estimates are new.
package distribution
