package exponential

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

const (
	// defaultCandidates is enough for numbers of outputs that differ by a
	// factor of 1.16 from one to the next on 10^4 points.
	defaultCandidates = 64
	// tunedCandidates bounds the work of tuning, each about that of the audit.
	tunedCandidates = 8
)

// best returns the member with the least loss over the separations; of equals
// the first in the order given.
func (r *relaxation) best(tries []float64) (fam *family, s, beta float64, err error) {
	type try struct{ s, half, full float64 } // a separation, its loss at alpha/2 and alpha
	all := make([]try, len(tries))
	first := 0 // with the least loss at alpha/2
	for i, s := range tries {
		all[i].s = s
		if len(tries) == 1 && !r.o.Tuned {
			break
		}
		c, err := r.clusters(s)
		if err != nil {
			return nil, 0, 0, err
		}
		if all[i].half, err = r.loss(c, r.alpha/2); err != nil {
			return nil, 0, 0, err
		}
		if r.o.Tuned {
			if all[i].full, err = r.loss(c, r.alpha); err != nil {
				return nil, 0, 0, err
			}
		}
		if all[i].half < all[first].half {
			first = i
		}
	}
	s, beta = all[first].s, r.alpha/2
	c, err := r.clusters(s)
	if err != nil {
		return nil, 0, 0, err
	}
	fam = r.family(c)
	if !r.o.Tuned {
		return fam, s, beta, nil
	}
	least := all[first].half
	slices.SortStableFunc(all, func(a, b try) int { return cmp.Compare(a.full, b.full) })
	for _, t := range all[:min(len(all), tunedCandidates)] {
		if t.full >= least && len(all) > 1 {
			break
		}
		c, err := r.clusters(t.s)
		if err != nil {
			return nil, 0, 0, err
		}
		f := r.family(c)
		rate, err := f.largestRate()
		if err != nil {
			return nil, 0, 0, err
		}
		if loss, err := r.loss(c, rate); err != nil {
			return nil, 0, 0, err
		} else if loss < least {
			fam, s, beta, least = f, t.s, rate, loss
			fam.method = MethodRelaxedTuned
		}
	}
	return fam, s, beta, nil
}

// family is the family of channels on the clusters.
func (r *relaxation) family(c *clusters) *family {
	rows := sync.Pool{New: func() any { return new([]float64) }}
	return &family{method: MethodRelaxed, f: r.b.Privacy, net: c.net, alpha: r.alpha,
		o: &Options{Unit: r.o.Unit, Context: r.o.Context, Progress: r.o.Progress, Workers: r.o.Workers},
		rho: func(x int, dst []float64) {
			row := rows.Get().(*[]float64)
			*row = metric.Row(r.b.Privacy, x, *row)
			c.sigma(*row, dst)
			rows.Put(row)
		}}
}

// loss is the criterion's loss at rate beta, in plain float64: the channel
// would have the same to about 14 digits.
func (r *relaxation) loss(c *clusters, beta float64) (float64, error) {
	n := r.b.Len()
	losses := make(mechanism.Losses, n)
	err := parallel.Chunks(r.o.Context, n, 32, r.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		sigma := make([]float64, len(c.net))
		for x := lo; x < hi && r.o.context().Err() == nil; x++ {
			row = metric.Row(r.b.Privacy, x, row)
			c.sigma(row, sigma)
			row = metric.Row(r.b.Utility, x, row)
			near := slices.Min(sigma)
			z, sum := 0.0, 0.0
			for j, d := range sigma {
				w := exact.Exp(-beta * (d - near))
				z += w
				sum += float64(w * row[c.net[j]])
			}
			losses[x] = sum / z
		}
	})
	if err = cmp.Or(err, r.o.context().Err()); err != nil {
		return 0, err
	}
	return criterionLoss(losses, r.o.Criterion, r.o.Prior)
}

// candidates returns the separations to try, the largest first: of equal losses
// it has the fewest outputs. theorem is one of them, unless it is NaN, and so
// is 0.
func (r *relaxation) candidates(theorem float64) ([]float64, error) {
	tries, err := r.thinned()
	if err != nil {
		return nil, err
	}
	if !math.IsNaN(theorem) {
		tries = append(tries, theorem)
	}
	tries = append(tries, 0)
	slices.Sort(tries)
	tries = slices.Compact(tries)
	slices.Reverse(tries)
	return tries, nil
}

// thinned returns at most Candidates separations. scales[k-1] is one that
// leaves about k outputs, so that ranks in a geometric progression thin them out
// evenly.
func (r *relaxation) thinned() ([]float64, error) {
	limit := r.o.Candidates
	if limit == 0 {
		limit = defaultCandidates
	}
	var scales []float64
	if r.tree != nil {
		scales = r.tree.Heights()
		slices.Sort(scales)
		slices.Reverse(scales)
	} else {
		n := r.b.Len()
		_, radii, err := metric.FarthestFirstContext(r.o.context(), r.b.Utility, n, 0)
		if err != nil {
			return nil, err
		}
		scales = radii[1:]
	}
	if different := slices.Compact(slices.Clone(scales)); len(different) <= limit {
		return different, nil
	}
	thin := make([]float64, limit)
	for i := range thin {
		rank := math.Pow(float64(len(scales)), float64(i)/float64(max(1, limit-1)))
		thin[i] = scales[min(len(scales), int(rank+0.5))-1]
	}
	return thin, nil
}
