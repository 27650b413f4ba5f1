// Package frequency estimates how users' items are distributed from items that were made
// private one by one, under the earth mover's distance (package emd):
//
//	randomizer, err := frequency.NewGKRR(articles, budget.Value)
//	f, err := frequency.NewClustered(ctx, randomizer, shop, &frequency.Options{Delta: 1e-9})
//	counts, err := f.Release(rand.New(rand.NewPCG(1, 2)), users) // nil for private data
//	estimate, err := f.Estimate(counts)
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
