// Package distribution releases how the items of users are distributed, under the earth
// mover's distance (package emd):
//
//	d, err := distribution.New(ctx, distribution.Finite(shop), emd.Model{Trust: emd.Local}, 2, &distribution.Options{Reports: 50_000})
//	r, err := d.Release(rng, emd.One([]int{0, 0, 1, 3 + user%3}))
//	h, err := d.Estimate(ctx, &all)
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
