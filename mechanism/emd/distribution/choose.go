package distribution

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/emd/internal/edges"
	"github.com/metricdp/metricdp/mechanism/emd/internal/feature"
	"github.com/metricdp/metricdp/mechanism/emd/internal/transport"
	"github.com/metricdp/metricdp/metric"
)

// choosePlan returns the map of a finite metric that errs the least in simulations, of the noise, on
// public references: the star, the pruned subdominant ultrametric, and partitions of unity on more and
// more centers. Nothing of it depends on data.
func choosePlan(ctx context.Context, op string, space metric.Finite, diameter float64, s setting) (plan[int], error) {
	n := space.Len()
	ground := &finiteGround{space: space, diameter: diameter}
	order, radii, err := metric.FarthestFirst(ctx, space, min(n, 512), 0)
	if err != nil {
		return plan[int]{}, err
	}
	// Estimates at many points are compared at a tenth of the radius or less.
	if ground.near, _, err = metric.Assign(ctx, space, order); err != nil {
		return plan[int]{}, err
	}
	for i, c := range ground.near {
		ground.near[i] = order[c]
	}
	if s.spacing > 0 {
		for k := 1; k < len(order) && radii[k] > 0; k++ {
			if 2*radii[k] <= s.spacing {
				return ground.centers(ctx, order[:k], 2*radii[k], s, k)
			}
		}
		return ground.star(ctx, s)
	}
	var best plan[int]
	least := math.Inf(1)
	try := func(p plan[int], err error) error {
		if err != nil || p.shape == nil {
			return err
		}
		e, err := ground.simulate(ctx, p, s, 1.1*least)
		// Of near-ties the finest: the references are smoother than data may be. Of
		// ties up to rounding the first: all machines choose the same.
		if e < least*(1-0x1p-20) && !(e > least/1.1 && p.Dim() < best.Dim()) || e < 1.1*least && p.Dim() > best.Dim() {
			best, least = p, min(e, least)
		}
		return err
	}
	if err := try(ground.star(ctx, s)); err != nil {
		return best, err
	}
	if err := try(ground.subdominant(ctx, s)); err != nil {
		return best, err
	}
	for k := 4; k < len(order) && 2*k <= n && radii[k] > 0; k += (k + 1) / 2 {
		for _, r := range []float64{2, 3} {
			if err := try(ground.centers(ctx, order[:k], r*radii[k], s, 16)); err != nil {
				return best, err
			}
		}
	}
	return best, nil
}

// finiteGround is a space and its points of the farthest-first order near others.
type finiteGround struct {
	space    metric.Finite
	diameter float64
	near     []int
}

func (g *finiteGround) w1(ctx context.Context, p, q []float64) (float64, error) {
	return transport.W1(ctx, g.space.Distance, p, q, g.near)
}

// partition is a partition of unity, under the distances of the space.
type partition struct {
	*feature.Centers
	ground *finiteGround
}

func (m partition) W1(ctx context.Context, p, q []float64) (float64, error) {
	return m.ground.w1(ctx, p, q)
}

// nested is the map of a tree whose path metric exceeds no distance of the space,
// under these.
type nested struct {
	*edges.Map
	ground *finiteGround
	hub    float64 // of a star, see [finiteGround.star]; +Inf for another tree
}

func (t nested) W1(ctx context.Context, p, q []float64) (float64, error) {
	return t.ground.w1(ctx, p, q)
}

func (t nested) Bound(_, deviation float64) float64 {
	return min(t.Map.Bound(0, deviation), t.hub*deviation)
}

// measured is the plan of a tree with the widths of its nodes in the space. O(n) distances for each level.
func (g *finiteGround) measured(ctx context.Context, p plan[int]) (plan[int], error) {
	t := p.shape.(*edges.Map)
	first := make([]int, len(t.Parent))
	clear(t.Wide)
	for v := range first {
		first[v] = -1
	}
	for x, v := range t.Items {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		for ; v >= 0; v = t.Parent[v] {
			if first[v] < 0 {
				first[v] = x
			}
			t.Wide[v] = min(max(t.Wide[v], 2*g.space.Distance(first[v], x)), g.diameter)
		}
	}
	p.shape = nested{t, g, math.Inf(1)}
	return p, nil
}

// star sends x to NN(x)/2 in a place of its own, NN being the distance to the nearest point not at
// distance 0: the path metric of a star, of which (NN(x) + NN(y))/2 <= d(x,y).
//
// Its fit projects, in squares over variances, shares that err by deviation/w_x, w = NN/2: it is no
// farther from the truth than these are, and the k terms (w_x |fit - truth|)^2 add up to k
// deviation^2 at most on average. What moves over a point c, the best one in the bound, costs
//
//	sum of d(c,x) |fit - truth| <= sqrt(k) deviation sqrt(sum of (d(c,x)/w_x)^2).
func (g *finiteGround) star(ctx context.Context, s setting) (plan[int], error) {
	n := g.space.Len()
	t := edges.Tree{Parent: []int{-1}, Length: []int64{0}, Items: make([]int, n)}
	var row []float64
	for x := range n {
		if err := ctx.Err(); err != nil {
			return plan[int]{}, err
		}
		row = finite.Row(g.space, x, row)
		if twin := slices.Index(row[:x], 0); twin >= 0 {
			t.Items[x] = t.Items[twin]
			continue
		}
		nearest := math.Inf(1)
		for _, d := range row {
			if d > 0 {
				nearest = min(nearest, d)
			}
		}
		t.Items[x] = len(t.Parent)
		t.Parent, t.Length = append(t.Parent, 0), append(t.Length, int64(nearest/2/s.quantum)) // rounded down
	}
	s.spacing = s.quantum // nothing is pruned
	p, err := g.measured(ctx, treePlan(t, s))
	if err != nil {
		return p, err
	}
	last := make([]int, n) // the last place before that of x: twins count once
	for x := 1; x < n; x++ {
		last[x] = max(last[x-1], t.Items[x-1])
	}
	star, least := p.shape.(nested), math.Inf(1)
	for c := range n {
		row = finite.Row(g.space, c, row)
		sum := 0.0
		for x, d := range row {
			if place := t.Items[x]; d > 0 && place > last[x] {
				q := d / float64(t.Length[place])
				sum += float64(q * q)
			}
		}
		least = min(least, sum)
		if err := ctx.Err(); err != nil {
			return p, err
		}
	}
	star.hub = math.Sqrt(float64(least * float64(len(t.Parent)-1)))
	p.shape = star
	return p, nil
}

// subdominant is the single linkage ultrametric, the largest that exceeds no
// distance, pruned to what the noise leaves.
func (g *finiteGround) subdominant(ctx context.Context, s setting) (plan[int], error) {
	u, err := metric.Subdominant(ctx, g.space)
	if err != nil {
		return plan[int]{}, err
	}
	p, err := ultrametricPlan(u.Order(), u.Heights())(ctx, "", s)
	if err != nil {
		return p, err
	}
	return g.measured(ctx, p)
}

// centers is a partition of unity, no plan if it has more than so many entries a point.
func (g *finiteGround) centers(ctx context.Context, centers []int, radius float64, s setting, entries int) (plan[int], error) {
	c, err := feature.NewCenters(ctx, g.space, centers, radius, s.noise, s.quantum, entries)
	if c == nil || err != nil {
		return plan[int]{}, err
	}
	return finitePlan(partition{c, g}, c.Slope, func(acc []int64, x int, count int64) { c.Add(acc, x, count) }), nil
}

// simulate returns the mean error of a plan for spread and for concentrated
// references: weights of all points like those of a sample, and five points.
// Errors above enough need not be exact.
func (g *finiteGround) simulate(ctx context.Context, p plan[int], s setting, enough float64) (float64, error) {
	n, sum := p.Len(), 0.0
	const draws = 4
	rng := random.Seeded(1)
	for t := range draws {
		truth, total := make([]float64, n), 0.0
		for i := range n {
			if t%2 == 1 {
				truth[i] = random.Exponential(rng)
			} else if i < 5 {
				truth[rng.IntN(n)] += random.Exponential(rng)
			}
		}
		for _, v := range truth {
			total += v
		}
		for i := range truth {
			truth[i] /= total
		}
		y := p.mean(truth)
		for i := range y {
			y[i] += float64(random.Laplace(rng) * float64(p.lipschitz*s.noise))
		}
		q, err := p.Fit(ctx, y)
		if err != nil {
			return 0, err
		}
		e, err := p.W1(ctx, truth, q)
		if err != nil {
			return 0, err
		}
		if sum += float64(e / draws); sum > enough {
			break
		}
	}
	return sum, nil
}
