package scale

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Diametric returns the diametric scale of BSV24 (Definition 1.6),
//
//	s_o(Z, alpha) = inf{s : diam2(B1(x,r)) <= s exp(alpha r) for all x, r},
//
// within some ulps. Set holds the pair that attains it, X the center of its ball. alphas and
// errors are those of [Entropic].
//
// Two ultrametrics cost O(n log n), others O(n^2) distances for all levels and O(n) memory. The
// triangle inequality of rho1 is taken to hold up to [metric.DefaultTolerance].
func Diametric(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	// The scale is the largest rho2(y,z) exp(-alpha r) over pairs y, z and r the radius of the
	// smallest ball of rho1 that holds both. It does not rise with alpha or rho1, nor fall with
	// rho2. Distances are stored up to 2048 points.
	if err := spaces.CheckLevels("scale: Diametric", b, alphas); err != nil {
		return nil, err
	}
	o = spaces.OrDefault(o)
	if u1 := spaces.HierarchyOf(ctx, b.Privacy); u1 != nil {
		u2 := u1
		if !b.OneMetric() {
			u2 = spaces.HierarchyOf(ctx, b.Utility)
		}
		if u2 != nil {
			return diametricTree(newTree(u1), u2, alphas), ctx.Err()
		}
	}
	b, err := spaces.Stored(ctx, b)
	if err != nil {
		return nil, err
	}
	d := diametricSearch{b: b, alphas: alphas, best: make([]bestPair, len(alphas))}
	for k, a := range alphas {
		d.best[k] = bestPair{noWitness(a, ByPairs), math.Inf(-1)}
	}
	if err = staged(ctx, b.Len(), o, d.rows, d.take); err != nil {
		return nil, err
	}
	s := make([]Scale, len(alphas))
	for k, best := range d.best {
		if s[k] = best.Scale; best.Lo == 0 {
			s[k].X, s[k].R, s[k].Set = -1, 0, nil
		}
	}
	nest(s)
	return s, nil
}

// staged looks for a maximum over the rows in [0, n), in a sample first, which nearly finds it.
// run takes the rows of a chunk, and take what it found, in order. What they are given depends on n
// alone.
func staged[T any](ctx context.Context, n int, o *Options, run func(rows iter.Seq[int], sample bool) T, take func(T)) error {
	part := func(lo, hi, step int) error {
		count := (hi - lo + step - 1) / step
		found := make([]T, (count+stagedRows-1)/stagedRows)
		err := parallel.Chunks(ctx, count, stagedRows, o.Workers, nil, func(c, from, to int) {
			found[c] = run(func(yield func(int) bool) {
				for i := from; i < to && ctx.Err() == nil && yield(lo+i*step); i++ {
				}
			}, step > 1)
		})
		if err != nil {
			return err
		}
		for _, v := range found {
			take(v)
		}
		return ctx.Err()
	}
	step := max(1, n/stagedSample)
	if err := part(0, n, step); err != nil || step == 1 {
		return err
	}
	for lo := 0; lo < n; lo += stagedBatch {
		hi := min(n, lo+stagedBatch)
		if err := part(lo, hi, 1); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(hi, n)
		}
	}
	return nil
}

const (
	// stagedSample rows come first, stagedBatch at a time after them, and a
	// chunk of stagedRows starts from what earlier batches found.
	stagedSample = 64
	stagedBatch  = 1024
	stagedRows   = 16
)

// diametricSearch goes through pairs by rows.
type diametricSearch struct {
	b      metric.Bimetric
	alphas []float64
	best   []bestPair // by level
}

// bestPair is the pair worth most so far, which is at most Hi; log is a lower
// bound of the logarithm of its worth, which may be below the least float64.
type bestPair struct {
	Scale
	log float64
}

// rows is the best of some rows, of a sample with all points.
func (d *diametricSearch) rows(rows iter.Seq[int], sample bool) []bestPair {
	r := diametricRow{diametricSearch: d, read: spaces.NewRows(d.b), best: slices.Clone(d.best)}
	for y := range rows {
		if sample {
			r.row(y, 0)
		} else {
			r.row(y, y)
		}
	}
	return r.best
}

// take raises best.
func (d *diametricSearch) take(found []bestPair) {
	for k, s := range found {
		hi := max(d.best[k].Hi, s.Hi)
		if s.log > d.best[k].log {
			d.best[k] = s
		}
		d.best[k].Hi = hi
	}
}

// diametricRow is the state of one chunk.
type diametricRow struct {
	*diametricSearch
	read       *spaces.Rows
	best       []bestPair
	row1, row2 []float64
	pairs      []rowPair
	near       []int32
}

// rowPair is the other point of a pair and a bound of what the pair is worth.
type rowPair struct {
	z     int
	bound float64
}

// row looks at all pairs of y and a point >= from.
func (d *diametricRow) row(y, from int) {
	d.row1, d.row2 = d.read.At(y)
	for k := range d.alphas {
		d.level(y, from, k)
	}
}

// level looks at the pairs of y and a point >= from, at one level. A ball that
// holds y and z has a radius of at least rho1(y,z)/2.
func (d *diametricRow) level(y, from, k int) {
	alpha, best := d.alphas[k], &d.best[k]
	half := alpha / 2 / spaces.SlackUp
	beyond := logGap(slices.Max(d.row2[from:]), best.log) / half * spaces.SlackUp // no pair there
	d.pairs = d.pairs[:0]
	for z := from; z < len(d.row2); z++ {
		d2 := d.row2[z]
		if d2 <= best.Lo || d.row1[z] > beyond || d2 == 0 {
			continue
		}
		if v := roundUp(directed.Log(d2), half*d.row1[z]); v > best.log {
			d.pairs = append(d.pairs, rowPair{z, v})
		}
	}
	if len(d.pairs) == 0 {
		return
	}
	slices.SortFunc(d.pairs, func(p, q rowPair) int {
		return cmp.Or(cmp.Compare(q.bound, p.bound), cmp.Compare(p.z, q.z))
	})
	lo, hi := math.Inf(1), 0.0
	for _, p := range d.pairs {
		l, h := d.band(p.z, alpha, best.log)
		lo, hi = min(lo, l), max(hi, h)
	}
	d.candidates(lo, hi)
	for _, p := range d.pairs {
		if p.bound > best.log {
			d.pair(y, p.z, alpha, best)
		}
	}
}

// roundUp and roundDown bound a-b, for a and b with a relative error of some
// roundings each, which 16 units cover, and for a also that of a logarithm.
func roundUp(a, b float64) float64   { return a - b + 0x1p-49*(math.Abs(a)+b) }
func roundDown(a, b float64) float64 { return a - b - 0x1p-49*(math.Abs(a)+b) }

// logGap is at least ln d - best, and not negative.
func logGap(d, best float64) float64 {
	l := directed.Log(d)
	return max(0, l-best+0x1p-49*(math.Abs(l)+math.Abs(best)))
}

// band encloses the distances from y of the centers that would make the pair
// y, z worth more than exp(best): such a center lies within t of both.
func (d *diametricRow) band(z int, alpha, best float64) (lo, hi float64) {
	t := float64(logGap(d.row2[z], best) / alpha * spaces.SlackUp)
	return d.row1[z]/spaces.SlackUp - t, t
}

// candidates collects the points at distance lo to hi from y.
func (d *diametricRow) candidates(lo, hi float64) {
	d.near = d.near[:0]
	for x, v := range d.row1 {
		if lo <= v && v <= hi {
			d.near = append(d.near, int32(x))
		}
	}
}

// pair finds the best center for y, z among the candidates.
func (d *diametricRow) pair(y, z int, alpha float64, best *bestPair) {
	lo, r := d.band(z, alpha, best.log)
	center := -1
	for _, x := range d.near {
		v := d.row1[x]
		if v < lo || v > r || (v == r && center >= 0) {
			continue
		}
		if m := max(v, d.b.Privacy.Distance(int(x), z)); m < r || (m == r && center < 0) {
			center, r = int(x), m
		}
	}
	if center < 0 {
		return // worth at most the best
	}
	best.Hi = max(best.Hi, spaces.WorthUp(d.row2[z], alpha, r))
	v, w := roundDown(directed.Log(d.row2[z]), alpha*r), spaces.WorthDown(d.row2[z], alpha, r)
	if v > best.log && w >= best.Lo {
		best.log, best.Lo = v, w
		best.X, best.R, best.Set = center, r, []int{y, z}
	}
}
