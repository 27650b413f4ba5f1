package scale

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/entropy/internal/cells"
	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// Entropic encloses the entropic scale of BSV24 (Definition 1.4),
//
//	s(Z, alpha) = inf{s > 0 : N2(B1(x,r), s) <= exp(alpha r) for all x, r > 0},
//
// N2 the packing number with pairwise distances > s in rho2, B1 a closed ball of rho1. alphas are
// positive, per unit of rho1, and ascend ([*metric.ValueError]).
//
// It is exact where rho2 is an ultrametric, in O(n log^2 n) if rho1 is one too, else O(n^2), and
// mostly up to some hundreds of points. Otherwise it takes some n*[Options].Nodes distances. O(n)
// memory. Upper ends take the triangle inequality to hold up to [metric.DefaultTolerance].
func Entropic(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	// The scale is 0, or the largest D for which some ball B1(x,r) has more than exp(alpha r)
	// points pairwise D or more apart. It does not rise with alpha or rho1, nor fall with rho2.
	// Without hierarchies separated sets prove the lower end, and branch and bound on cells (with
	// Nodes < 0 partitions) the upper one; distances are stored up to 2048 points.
	if err := spaces.CheckLevels("scale: Entropic", b, alphas); err != nil {
		return nil, err
	}
	o = spaces.OrDefault(o)
	u2 := spaces.HierarchyOf(ctx, b.Utility)
	if u2 == nil {
		return entropicCells(ctx, b, alphas, o)
	}
	u1 := u2
	if !b.OneMetric() {
		u1 = spaces.HierarchyOf(ctx, b.Privacy)
	}
	if u1 != nil {
		return entropicTree(ctx, b, newTree(u1), u2, alphas), ctx.Err()
	}
	s := make([]Scale, len(alphas))
	for k, a := range alphas {
		var err error
		if s[k], err = entropicRows(ctx, b, u2, a, o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// entropicCells takes the levels from the largest down, so that each begins
// with the set of the one before.
func entropicCells(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	b, err := spaces.Stored(ctx, b)
	if err != nil {
		return nil, err
	}
	search, err := cells.New(ctx, b, cells.Options{Nodes: budget(o.Nodes), Workers: o.Workers, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	proofs := [...]Proof{cells.Diameter: ByDiameter, cells.Partition: ByPartition, cells.Branches: BySearch}
	s := make([]Scale, len(alphas))
	for k := len(alphas) - 1; k >= 0; k-- {
		r, err := search.Scale(alphas[k])
		if err != nil {
			return nil, err
		}
		s[k] = noWitness(alphas[k], proofs[r.By])
		if s[k].Lo, s[k].Hi = r.Lo, r.Hi; r.Lo > 0 {
			s[k].X, s[k].Set = r.X, r.Set
			s[k].R = farthest(b.Privacy, r.X, r.Set)
		}
	}
	nest(s)
	return s, nil
}

// farthest is the largest distance from x to a point of set, 0 for none.
func farthest(f metric.Finite, x int, set []int) float64 {
	r := 0.0
	for _, y := range set {
		r = max(r, f.Distance(x, y))
	}
	return r
}

// clusterRow counts the clusters of an ultrametric rho2 in the balls of any
// rho1, one center at a time. A chunk has one of its own.
type clusterRow struct {
	b      metric.Bimetric
	alpha  float64
	values []float64 // 0 and the heights of rho2
	u      *metric.Ultrametric

	at    int // the scale is values[at] at least, 0 <= at < len(values)
	label []int
	cut   float64 // what label is for
	x     int     // the witness for at > 0
	set   []int

	row  []float64
	near []float64 // by cluster: least distance from x
	who  []int     // and the point that has it
	sort []int
}

// entropicRows is the entropic scale at one level for an ultrametric rho2,
// center by center. O(n^2) time and O(n) memory.
func entropicRows(ctx context.Context, b metric.Bimetric, u *metric.Ultrametric, alpha float64, o *Options) (Scale, error) {
	best := clusterRow{b: b, alpha: alpha, values: heightsOf(u), u: u}
	err := staged(ctx, b.Len(), o, func(rows iter.Seq[int], _ bool) clusterRow {
		r := best
		for x := range rows {
			r.center(x)
		}
		return clusterRow{at: r.at, x: r.x, set: r.set}
	}, func(r clusterRow) {
		if r.at > best.at {
			best.at, best.x, best.set = r.at, r.x, r.set
		}
	})
	if err != nil {
		return Scale{}, err
	}
	s := noWitness(alpha, ByHierarchy)
	s.Lo, s.Hi = best.values[best.at], best.values[best.at]
	if best.at > 0 {
		s.X, s.Set = best.x, best.set
		s.R = farthest(b.Privacy, s.X, s.Set)
	}
	return s, nil
}

// center raises at to what the balls around x need.
func (c *clusterRow) center(x int) {
	c.row = finite.Row(c.b.Privacy, x, c.row)
	last := len(c.values) - 1
	if c.at == last || !c.exceeded(c.values[c.at]) {
		return
	}
	// Somewhere above at no ball around x is exceeded; the greatest height is.
	c.at += 1 + sort.Search(last-c.at-1, func(i int) bool { return !c.exceeded(c.values[c.at+1+i]) })
	c.x = x
	c.exceeded(c.values[c.at-1])
	c.set = slices.Clone(c.set)
}

// exceeded reports whether a ball around the point of the row has too many
// clusters at separation s, and sets set to one point of each.
func (c *clusterRow) exceeded(s float64) bool {
	if c.label == nil || c.cut != s {
		c.label, c.cut = c.u.Clusters(s), s
	}
	k := 1 + slices.Max(c.label)
	c.near, c.sort = slices.Grow(c.near[:0], k)[:k], slices.Grow(c.sort[:0], k)[:k]
	c.who = slices.Grow(c.who[:0], k)[:k]
	for l := range k {
		c.near[l], c.sort[l] = math.Inf(1), l
	}
	for y, l := range c.label {
		if c.row[y] < c.near[l] {
			c.near[l], c.who[l] = c.row[y], y
		}
	}
	slices.SortFunc(c.sort, func(a, b int) int { return cmp.Or(cmp.Compare(c.near[a], c.near[b]), cmp.Compare(a, b)) })
	// The i+1 nearest clusters lie in the ball that reaches the last of them.
	for i := 1; i < k; i++ {
		r := c.near[c.sort[i]]
		if c.alpha*r < math.Log(float64(i+1))+1 && limit.Least(c.alpha, r, i+1) <= i+1 {
			c.set = c.set[:0:0]
			for _, l := range c.sort[:i+1] {
				c.set = append(c.set, c.who[l])
			}
			return true
		}
	}
	return false
}
