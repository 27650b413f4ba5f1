// Package frequency estimates how users' items are distributed from items that were made
// private one by one, under the earth mover's distance (package emd):
//
//	articles, err := metric.NewClustered(2, 3, 0.2) // two departments
//	response, err := frequency.NewGKRR(articles, 3)
//	shop := emd.Model{Trust: emd.Local, Items: 10}
//	estimator, err := frequency.NewClustered(ctx, response, shop, nil)
//	report, err := estimator.Collect(ctx, nil, purchases)
//	estimate, err := estimator.Estimate(report)
//
// [New] takes any channel on a finite metric, [NewItemWise] releases the private items
// themselves, and [ItemWiseBudget] finds their level for a promise about whole users, which
// gains from a shuffler who mixes the items of all. [NewHadamardBaseline] and
// [NewLaplaceBaseline] are user-level privacy, to compare with.
//
// All users hold the same number of items; [emd.NewReduced] makes it so. Package distribution
// errs less, but where a shuffler is trusted and users hold one item, or are very many.
//
// Source: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via
// the earth mover's distance", 2024 (IRC24).
package frequency
