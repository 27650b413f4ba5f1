package dense

var fast = hasAVX()

// addTiles adds A B to four rows of n > 0 columns of C, which begin at c0 to c3, by tiles of
// 8 columns that stay in registers. The rows of A' follow each other, those of B are ldb apart.
//
//go:noescape
func addTiles(n, depth int, a *[4]float64, b *float64, ldb int, c0, c1, c2, c3 *float64)

func hasAVX() bool
