package ikwat22

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// floor is a bound below the loss that a share of the inputs does not exceed, whichever
// mechanism has that level at delta. Let S be points that are pairwise at least t apart,
// x any point, and L a loss that all but k inputs keep. The open balls B_y of radius t/2
// around the y in S are disjoint. A y that keeps L is released into B_y with probability
// at least 1 - 2L/t, by Markov, and hence x with at least (1 - 2L/t - delta)
// e^(-level*rho(x,y)). At worst the k terms that count most are those of the inputs that
// do not keep L. Over the others
//
//	1 >= (1 - 2L/t - delta) sum_y e^(-level*rho(x,y)),  so  L >= t/2 (1 - delta - 1/sum).
//
// With share = 1 and delta = 0 this is Theorem 3. S runs through the beginnings of a
// farthest-first order, x through all points.
func floor(ctx context.Context, f metric.Finite, level, delta, share float64) float64 {
	n := f.Len()
	order, radii, err := metric.FarthestFirst(ctx, f, n, 0)
	exhibit.Must(order, err)
	spared := int(math.Floor((1-share)*float64(n) + 1e-9))
	best := 0.
	for x := range n {
		sum, most := 0., make([]float64, 0, spared+1) // most: the largest terms, which do not count
		for m, y := range order {
			most = append(most, math.Exp(-level*f.Distance(x, y)))
			if slices.Sort(most); len(most) > spared {
				sum += most[0]
				most = slices.Delete(most, 0, 1)
			}
			if m > 0 && sum > 0 {
				best = max(best, radii[m]/2*(1-delta-1/sum))
			}
		}
	}
	return best
}

// uniform is the loss that the share of the inputs does not exceed where all outputs are
// as likely, at the level 0.
func uniform(f metric.Finite) float64 {
	losses := make(mechanism.Losses, f.Len())
	for x := range losses {
		for y := range losses {
			losses[x] += f.Distance(x, y) / float64(len(losses))
		}
	}
	return exhibit.Must(losses.Quantile(share))
}
