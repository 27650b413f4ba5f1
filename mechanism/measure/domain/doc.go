// Package domain divides a space into cells for private counting, by public knowledge alone.
//
//	d, err := domain.NewSphere(0, &domain.SphereOptions{Depth: 10})
//
// # The problem
//
// To release a data set privately one counts it: in large regions with little noise for their size,
// and in small ones where there are many records. A [Domain] says which regions there are: a tree,
// whose leaves are cells. Package measure decides which are worth the noise.
//
// # How to begin
//
// Take the constructor that knows your space:
//   - [NewBox] for rows of numbers, categories, places and missing values: see [Column];
//   - [NewSphere] for places on the Earth;
//   - [NewFinite] for points of a finite metric, with [On] for objects near them;
//   - [NewTaxonomy] and [NewUltrametric] for a given hierarchy, [Labels] for words and keys;
//   - [NewFolded] for the line of BSV22.
//
// [Domain.Cell] is where a record counts, and [Domain.Point] what stands for a cell.
//
// # Guarantees
//
// None by itself: a Domain reads no data, and must be made without any. Two calls with the
// same arguments, on any two machines, make domains whose counts can be merged.
//
// # Cost
//
// A box has up to 2^62 cells and takes no memory for them. Other domains take about 200
// bytes a point. [Domain.Cell] takes some 100 ns.
//
// # Who should not use it
//
// Whoever would read bounds, net points or a hierarchy off private records.
//
// # References
//
//   - BSV22: Boedihardjo, Strohmer, Vershynin, "Private measures, random walks, and synthetic
//     data".
//   - Górski et al., "HEALPix", 2005.
package domain
