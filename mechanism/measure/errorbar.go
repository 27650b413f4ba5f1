package measure

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// ErrorOptions are for [Release.Error] and [Release.ErrorOf]. Nil and the zero
// value mean the defaults.
type ErrorOptions struct {
	Draws    int                   // how often the truth is simulated; 0 means 200
	Progress func(done, total int) // where not nil, is told after every draw
}

// ErrorBar is a quantile of an error, from simulations.
type ErrorBar struct {
	Quantile float64 // the simulations'
	Lo, Hi   float64 // enclose what more draws would tend to, with probability 0.99 or more
}

// stretch multiplies simulated distances, and stretchOf the errors of queries, chosen on data other
// than those of BenchmarkW1Confidence.
const (
	stretch   = 1.25
	stretchOf = 1.35
)

// Error estimates how far, in W1, the records are from the masses that were released: at most
// Quantile, with a probability of about prob in (0, 1) over the noise. This is the error of
// Mean(f), at once for every f with |f(x) - f(y)| <= Distance(x, y). It reads the release alone, so
// it costs no privacy. Hi is +Inf where Draws are too few.
//
// Truths are simulated around the release: every count gets the noise of its budget once more, up
// to twice as wide where there is more noise than mass, and the mass of a region goes to one place
// in it. Their distances from the release, times 1.25, stand for the error. This is no proof: on
// five kinds of data in one to three dimensions (BenchmarkW1Confidence) most quantiles held as
// stated, at 1.7 to 3.9 times the mean error; traces and heavy tails in three dimensions fall short
// by up to .05.
//
// In a finite metric with a Separation add [domain.Domain.Resolution]. Mass moves the shortest way
// between 512 regions at most, and along the tree within them, which takes more. O(Draws *
// regions), and 3 to 15 ms a draw for the shortest ways.
func (r *Release[P]) Error(ctx context.Context, rng *rand.Rand, prob float64, o *ErrorOptions) (ErrorBar, error) {
	const op = "measure: Release.Error"
	if err := r.check(op); err != nil {
		return ErrorBar{}, err
	}
	c, err := r.cut(ctx, op)
	if err != nil {
		return ErrorBar{}, err
	}
	most := r.s.space.Diameter
	if x := r.s.space.Resolution; x > 0 { // and not NaN
		most += 2 * x
	}
	// The mass of a region goes to one place in it because releases are smoother than data.
	return simulate(ctx, op, rng, prob, o, 0, func(rng *rand.Rand) (float64, error) {
		w, err := c.distance(ctx, rng, r.again(rng))
		if err != nil {
			return 0, fault.Within(op, err)
		}
		return min(stretch*w, most), nil
	})
}

// ErrorOf is [Release.Error] for one query, such as the mass of a range, a mean or a quantile: how
// far f of the records is from f of the release. f gets the release and then Draws simulated
// truths, of which it may read Weights, Point, Mean and Records. Differences are times 1.35,
// because a single one varies more. O(Draws * regions).
func (r *Release[P]) ErrorOf(ctx context.Context, rng *rand.Rand, f func(*Release[P]) float64, prob float64, o *ErrorOptions) (ErrorBar, error) {
	const op = "measure: Release.ErrorOf"
	if err := r.check(op); err != nil {
		return ErrorBar{}, err
	}
	if f == nil {
		return ErrorBar{}, fault.Empty(op, "f", 0)
	}
	y := f(r)
	return simulate(ctx, op, rng, prob, o, 1, func(rng *rand.Rand) (float64, error) {
		truth := newRelease(r.s, r.again(rng))
		truth.places = make([]P, len(truth.nodes))
		for i, v := range truth.nodes {
			truth.places[i] = r.s.space.Draw(rng, v)
		}
		return stretchOf * math.Abs(f(truth)-y), nil
	})
}

// simulate draws errors and returns their quantile.
func simulate(ctx context.Context, op string, rng *rand.Rand, prob float64, o *ErrorOptions, workers int, draw func(*rand.Rand) (float64, error)) (ErrorBar, error) {
	if !(prob > 0 && prob < 1) {
		return ErrorBar{}, fault.Value(op, "prob", prob, "a number in (0, 1)")
	}
	opt := region.OrZero(o)
	draws := cmp.Or(opt.Draws, 200)
	if draws < 1 || draws > 1<<20 {
		return ErrorBar{}, fault.Value(op, "Draws", float64(draws), "a number in [1, 2^20]")
	}
	rng, done := random.Get(rng)
	defer done()
	seeds, errs, bad := make([]uint64, draws), make([]float64, draws), make([]error, draws)
	for i := range seeds {
		seeds[i] = rng.Uint64()
	}
	err := parallel.Chunks(ctx, draws, 1, workers, opt.Progress, func(_, i, _ int) {
		if errs[i], bad[i] = draw(random.Seeded(seeds[i])); !(errs[i] < math.Inf(1)) && bad[i] == nil {
			bad[i] = fault.Value(op, "error", errs[i], "a finite number")
		}
	})
	if err != nil {
		return ErrorBar{}, fault.Within(op, err)
	}
	if err := cmp.Or(bad...); err != nil {
		return ErrorBar{}, err
	}
	slices.Sort(errs)
	bar := ErrorBar{Quantile: errs[min(draws, int(math.Ceil(prob*float64(draws+1))))-1], Hi: math.Inf(1)}
	lo, hi := sample.Ranks(draws, prob, 0.005)
	if lo >= 0 {
		bar.Lo = errs[lo]
	}
	if hi < draws {
		bar.Hi = errs[hi]
	}
	return bar, nil
}

// cut makes distances on the tree of a release cheap: mass moves along it to the centers of some
// 512 nodes, none above another; between those distances are exact.
type cut[P any] struct {
	r      *Release[P]
	at     []P       // the center of every node
	up     []float64 // its distance to that of the node above
	whole  []bool    // nodes below the cut
	top    []int     // the cut
	points *metric.Dense
}

const cutNodes = 512

// cut takes together first where, by the size of the noise, it costs least.
func (r *Release[P]) cut(ctx context.Context, op string) (*cut[P], error) {
	nodes := r.tree.Nodes
	c := &cut[P]{r: r, at: make([]P, len(nodes)), up: make([]float64, len(nodes)), whole: make([]bool, len(nodes))}
	for i, n := range nodes {
		c.at[i] = r.s.space.At(nil, n.At)
	}
	var inner []int
	leaves := 0
	cost := make([]float64, len(nodes)) // of moving noise to it, or to any node below
	for i := len(nodes) - 1; i >= 0; i-- {
		sum, most := 0.0, 0.0
		for j := nodes[i].First; j < nodes[i].First+nodes[i].Parts; j++ {
			c.up[j] = r.s.space.Distance(c.at[i], c.at[j])
			sum += float64(c.up[j] * r.noise(j))
			most = max(most, cost[j])
		}
		if cost[i] = max(sum, most); nodes[i].Parts > 0 {
			inner = append(inner, i)
		} else {
			leaves++
		}
	}
	// A node comes after those below it: so it does in inner, and the sort is stable.
	slices.SortStableFunc(inner, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	last := make([]bool, len(nodes)) // nothing below is in the cut
	for _, i := range inner {
		if leaves <= cutNodes {
			break
		}
		last[i] = true
		leaves -= nodes[i].Parts - 1
	}
	var pts []P
	for i, n := range nodes {
		last[i] = last[i] || c.whole[i]
		for j := n.First; last[i] && j < n.First+n.Parts; j++ {
			c.whole[j] = true
		}
		if !c.whole[i] && (last[i] || n.Parts == 0) {
			c.top, pts = append(c.top, i), append(pts, c.at[i])
		}
	}
	p, err := metric.NewPoints(pts, metric.Func[P](r.s.space.Distance))
	if err != nil {
		return nil, fault.Within(op, err)
	}
	if c.points, err = metric.Densify(ctx, p); err != nil {
		return nil, fault.Within(op, err)
	}
	return c, nil
}

// distance is W1 from the release to masses on the same tree, each at one place of its region, or
// more: the triangle inequality moves those to the centers first.
func (c *cut[P]) distance(ctx context.Context, rng *rand.Rand, truth *adaptive.Release) (float64, error) {
	share := func(r *adaptive.Release, i int) float64 { return r.Nodes[i].Mass / r.Nodes[0].Mass }
	cost := 0.0
	for i, n := range truth.Nodes {
		m := share(truth, i)
		if n.Parts == 0 && m > 0 {
			cost += float64(m * c.r.s.space.Distance(c.r.s.space.Draw(rng, n.At), c.at[i]))
		}
		if c.whole[i] {
			cost += float64(math.Abs(m-share(c.r.tree, i)) * c.up[i])
		}
	}
	from, to := make([]float64, len(c.top)), make([]float64, len(c.top))
	for k, i := range c.top {
		from[k], to[k] = share(truth, i), share(c.r.tree, i)
	}
	w, err := wasserstein.W1(ctx, c.points, from, to, &wasserstein.Options{Workers: 1})
	if err != nil {
		return 0, err
	}
	return cost + w.Cost, nil
}
