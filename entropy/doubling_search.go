package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

const (
	// doublingRound is the number of points looked at before what they prove
	// helps the others; fixed, so that results do not depend on Workers.
	doublingRound = 64
	// doublingBall is the number of points in a ball, on average, above which a
	// net stands for them: a packing problem of so many takes about 1 ms. Fewer
	// do where the space is large: doublingWork bounds the square of their number
	// times the number of points, for some seconds in all.
	doublingBall = 400
	doublingWork = 1 << 26
	// doublingCoarse is the relative width of intervals of s that are not halved
	// where the packing numbers are known up to an interval only, which widens
	// the result more than they do.
	doublingCoarse = 0x1p-10
	// doublingTries is the number of s at which failures of a point are looked
	// for below a bound that did not close.
	doublingTries = 3
)

// doublingSearch looks for the doubling scale of one space at rising levels.
type doublingSearch struct {
	f       metric.Finite
	o       *Options
	crowd   int              // doublingBall, or less in tests
	packers []doublingWorker // one a place of a round

	top   float64 // no s >= top fails, at the last level and so at higher ones
	last  Doubling
	alpha float64
	cells
}

// cells are the points of a net with the radii of their cells, which are 0 where
// the net is the whole space. What holds for the cells, inflated by the radii,
// holds for all points.
type cells struct {
	g       metric.Finite
	id      []int // of the points of g in f
	radius  []float64
	largest float64 // radius
	index   *metric.Index
}

func newDoublingSearch(f metric.Finite, o *Options) (*doublingSearch, error) {
	diam, _, _, err := metric.DiameterContext(o.context(), f)
	if err != nil {
		return nil, err
	}
	return &doublingSearch{
		f: f, o: o, top: diam, crowd: doublingBall, packers: make([]doublingWorker, doublingRound),
		last: Doubling{X: -1},
	}, nil
}

// scale returns the doubling scale at alpha, which is at least that of the call
// before. What fails at a level fails at those below it.
func (d *doublingSearch) scale(alpha float64) (Doubling, error) {
	ctx := d.o.context()
	d.alpha = alpha
	_, all := ends(d.f.Len(), alpha)
	d.top = min(d.top, all)
	best := Doubling{Alpha: alpha, X: -1}
	if s := d.last; s.X >= 0 { // the witness of the level before
		best.take(s.X, s.Set, d.f)
	}
	for {
		if err := d.coarsen(ctx); err != nil {
			return best, err
		}
		hi, err := d.pass(ctx, &best)
		if err != nil {
			return best, err
		}
		const again = .8 // a lower top is worth another pass, with a finer net
		worth := d.largest > 0 && hi < again*d.top
		if d.top = hi; !worth {
			break
		}
	}
	best.Hi, d.last = d.top, best
	return best, nil
}

// pass goes through all cells once: it improves the witness of best and returns
// a bound that no s reaches at which the inequality fails.
func (d *doublingSearch) pass(ctx context.Context, best *Doubling) (hi float64, err error) {
	err = d.rounds(ctx, best, func(w *doublingWorker, x int) { w.point(d, x, *best, hi) },
		func(w *doublingWorker) { hi = max(hi, w.hi) })
	hi = max(hi, best.Lo)
	if err == nil && hi-best.Lo > doublingCoarse*hi {
		err = d.rounds(ctx, best, func(w *doublingWorker, x int) { w.lower(d, x, *best, hi) },
			func(*doublingWorker) {})
	}
	return max(hi, best.Lo), err
}

// rounds calls f for all cells x, with workers of their own, and g for those
// workers afterwards, in rounds whose sizes are fixed.
func (d *doublingSearch) rounds(ctx context.Context, best *Doubling, f func(w *doublingWorker, x int), g func(*doublingWorker)) error {
	n := len(d.id)
	for from := 0; from < n; {
		// The first points have the least help: small rounds at first.
		size := min(doublingRound, max(1, from), n-from)
		err := parallel.Chunks(ctx, size, 1, d.o.Workers, nil, func(k, _, _ int) {
			d.packers[k].c.ctx = ctx
			f(&d.packers[k], from+k)
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		for k := range size {
			w := &d.packers[k]
			if w.best.Lo > best.Lo {
				*best = w.best
			}
			g(w)
		}
		from += size
	}
	return nil
}

// take makes best the witness of the points set around x if they fail at
// larger s than before.
func (best *Doubling) take(x int, set []int, f metric.Finite) bool {
	if len(set) < 2 {
		return false
	}
	radius, apart := 0.0, math.Inf(1)
	for a, i := range set {
		radius = max(radius, f.Distance(x, i))
		for _, j := range set[:a] {
			apart = min(apart, f.Distance(i, j))
		}
	}
	end, _ := ends(len(set), best.Alpha)
	end = min(end, apart)
	if !(end > radius/2 && end > best.Lo) {
		return false
	}
	best.Lo, best.X, best.R, best.Set = end, x, radius, set
	return true
}

// coarsen sets the cells: all points where the balls of radius 2*top are small,
// and otherwise the finest of some nets for which they are.
func (d *doublingSearch) coarsen(ctx context.Context) error {
	d.cells = cells{g: d.f, id: allPoints(d.f.Len()), index: metric.NewIndex(d.f)}
	for eps := d.top / 64; d.crowded(); eps *= math.Sqrt2 {
		net, err := metric.Net(d.f, eps, &metric.NetOptions{Context: ctx})
		if err != nil {
			return err
		}
		g, err := metric.Subset(d.f, net)
		if err != nil {
			return err
		}
		d.cells = cells{g: g, id: net, index: metric.NewIndex(g)}
	}
	d.radius = make([]float64, len(d.id))
	if len(d.id) == d.f.Len() {
		return nil
	}
	cell, dist, err := metric.AssignContext(ctx, d.f, d.id)
	for i, c := range cell {
		d.radius[c] = max(d.radius[c], dist[i])
		d.largest = max(d.largest, dist[i])
	}
	return err
}

// crowded reports whether balls of radius 2*top hold too many cells on average,
// as 64 of them tell.
func (d *doublingSearch) crowded() bool {
	const samples = 64
	n := len(d.id)
	crowd := min(float64(d.crowd), math.Sqrt(doublingWork/float64(n)))
	if float64(n) <= crowd {
		return false
	}
	total := 0
	var ball []int
	for k := range samples {
		ball = d.index.Ball(k*n/samples, 2*d.top, ball[:0])
		total += len(ball)
	}
	return float64(total) > samples*crowd
}

// doublingWorker finds the scale of single points.
type doublingWorker struct {
	packer
	best Doubling // what it was given, or a better witness
	hi   float64  // no s >= hi fails for the point, nor any in its cell

	ball  []int     // places in the cells, by rising eff
	eff   []float64 // a lower bound of the distance from cell to cell
	set   []int
	exact bool // the last packing number was settled

	starts []float64
}

// point bounds the s at which the inequality fails for the points of cell x, as
// far as they exceed floor, which other points have reached, and takes the
// failures that it meets.
//
// It works downward from top by intervals [s, hi). Balls grow and separations
// fall along one, so that the inequality holds on all of it where it holds
// between the ball of radius 2 hi, open, and separation and exponent at s.
// Otherwise the upper half comes first. Where packing numbers are known the
// halving goes on to the last bit, because no more than the breakpoints of the
// packing number, which are floats, separate what holds from what fails.
func (w *doublingWorker) point(d *doublingSearch, x int, best Doubling, floor float64) {
	w.best, w.hi = best, d.top
	w.gather(d, x)
	starts := append(w.starts[:0], max(floor, best.Lo)) // intervals that failed, nested
	for len(starts) > 0 {
		last := len(starts) - 1
		s := starts[last]
		if w.hi <= s {
			starts = starts[:last]
			continue
		}
		count, ok := w.holds(d, s, w.hi)
		if ok {
			w.hi, starts = s, starts[:last]
			continue
		}
		if _, t := ends(count, d.alpha); t < w.hi {
			if w.hi = max(t, s); w.hi == s {
				continue
			}
		}
		if w.fails(d, x, s) && w.best.Lo > s {
			starts = append(starts[:0], w.best.Lo)
			continue
		}
		mid := s + (w.hi-s)/2
		if !(mid > s && mid < w.hi) || (!w.exact && w.hi-s <= doublingCoarse*w.hi) {
			break
		}
		starts = append(starts, mid)
	}
	w.starts = starts
	w.hi = max(w.hi, w.best.Lo)
}

// lower looks for failures of the points of cell x between best.Lo and hi.
func (w *doublingWorker) lower(d *doublingSearch, x int, best Doubling, hi float64) {
	w.best, w.hi = best, hi
	w.gather(d, x)
	for range doublingTries {
		if mid := w.best.Lo + (hi-w.best.Lo)/2; !w.fails(d, x, mid) {
			hi = mid
		}
	}
}

// gather lists the cells that can meet the ball of radius 2*top of a point in
// cell x.
func (w *doublingWorker) gather(d *doublingSearch, x int) {
	reach := 2 * d.top
	if d.largest > 0 {
		reach = (reach + d.radius[x] + d.largest) / (nearly * nearly)
	}
	w.ball = d.index.Ball(x, reach, w.ball[:0])
	w.eff = resized(w.eff, len(d.id))
	for _, y := range w.ball {
		w.eff[y] = d.g.Distance(x, y)
		if d.largest > 0 {
			// d <= (1+t)^2 (r_x + e + r_y) up to rounding, which nearly covers.
			w.eff[y] = max(0, float64(w.eff[y]*nearly)-d.radius[x]-d.radius[y])
		}
	}
	slices.SortFunc(w.ball, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.eff[a], w.eff[b]), cmp.Compare(a, b))
	})
}

// holds reports whether the inequality is proved for the cell on [s, hi), and
// else an upper bound of the packing number. s = hi is not asked.
func (w *doublingWorker) holds(d *doublingSearch, s, hi float64) (count int, ok bool) {
	m, _ := slices.BinarySearchFunc(w.ball, 2*hi, func(y int, r float64) int { return cmp.Compare(w.eff[y], r) })
	limit := allowed(d.alpha, s)
	w.exact = true
	if float64(m) <= limit {
		return m, true
	}
	pts := w.ball[:m]
	if d.largest == 0 {
		w.rows = farGraph(w.rows, d.g.Distance, pts, s)
	} else {
		w.rows = farGraph(w.rows, func(i, j int) float64 {
			return d.g.Distance(i, j) + d.radius[i] + d.radius[j]
		}, pts, s*nearly)
	}
	set, count := w.decide(m, int(min(limit, float64(m))), d.o.nodes())
	w.exact = len(set) == count || float64(len(set)) > limit
	if float64(count) <= limit {
		return count, true
	}
	return count, false
}

// fails looks for a failure at s, or above it by the same points.
func (w *doublingWorker) fails(d *doublingSearch, x int, s float64) bool {
	w.set = w.set[:0]
	for _, y := range w.ball {
		if w.eff[y] > 2*s {
			break
		}
		if d.largest == 0 || d.g.Distance(x, y) <= 2*s {
			w.set = append(w.set, y)
		}
	}
	limit := allowed(d.alpha, s)
	if float64(len(w.set)) <= limit {
		return false
	}
	w.rows = farGraph(w.rows, d.g.Distance, w.set, s)
	set, _ := w.decide(len(w.set), int(limit), d.o.nodes())
	pts := make([]int, len(set))
	for k, i := range set {
		pts[k] = d.id[w.set[i]]
	}
	return w.best.take(d.id[x], pts, d.f)
}

// decide bounds the clique number of the graph in rows, trying only to tell
// whether it exceeds limit.
func (p *packer) decide(m, limit, nodes int) (set []int, hi int) {
	p.c.load(m, p.rows)
	if hi = p.c.colours(); hi <= limit {
		return nil, hi
	}
	none := 0
	set, _ = p.c.solve(m, &none)
	if len(set) > limit || hi <= limit {
		return set, hi
	}
	if _, k := p.c.partition(); k < hi {
		if hi = k; hi <= limit {
			return set, hi
		}
	}
	nodes = searchNodes(m, nodes)
	set, k := p.c.reaches(limit+1, &nodes)
	return set, min(hi, k)
}
