package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/internal/star"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// The proof of a Star. The outputs z of y have probabilities P_y(z) that lie between w_y P_x(z)
// and P_x(z)/w_y, and add up to 1. Hence
//
//	A sum_y k_y w_y >= sum_y k_y w_y sum_z rho2(y,z) P_y(z)
//	  = sum_y k_y w_y t_y + sum_z sum_y k_y w_y (rho2(y,z) - t_y) P_y(z)
//	  >= sum_y k_y w_y t_y + sum_z P_x(z) sum_y k_y phi_y(rho2(y,z) - t_y).
//
// Two points are one with k_x = k_y = 1, t_x = 0, t_y = rho2(x,y): A >= rho2(x,y)/(1 +
// e^(alpha*rho1(x,y))), above BSV24 Theorem 3.2, rho2(y,z) e^(-2 alpha r)/5 for two points of a
// ball of radius r. A packing, points y at distances >= t under rho2, is one with k_y = 1, t_y =
// t/2: A >= t/2 (1 - 1/sum_y w_y) (IKWAT22 Theorem 3, where x is among the points). That is
// above BSV24 Theorem 3.1, t/8 for k > e^(2 alpha r) such points in a ball of radius r, as sum_y w_y
// >= k e^(-alpha*r) > sqrt k >= sqrt 2.

// Star is a point x with weights k_y >= 0 and radii t_y on points y, which prove
//
//	A(Z, alpha) sum_y k_y w_y >= sum_y k_y w_y t_y + min_z sum_y k_y phi_y(rho2(y,z) - t_y),
//	w_y = e^(-alpha*rho1(x,y)),  phi_y(h) = w_y^2 h for h >= 0, h for h < 0,
//
// the dual of the linear program for A with only the privacy constraints between x and the
// other points. The triangle inequality is not used.
type Star struct {
	X       int
	Points  []int
	Weights []float64 // k
	Radii   []float64 // t, in the unit of rho2
}

// Prove implements [Witness]. phi increases with h, so that a lower bound of h
// will do. O(n*|Points|).
func (s Star) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	const op = "entropy: Star.Prove"
	if err := checkWitness(op, b, alpha, s.X, "Points", s.Points...); err != nil {
		return 0, err
	}
	if err := cmp.Or(fault.Size(op, "Weights", len(s.Weights), len(s.Points)), fault.Size(op, "Radii", len(s.Radii), len(s.Points)),
		fault.AllNonNegative(op, "Weights", s.Weights), fault.AllFinite(op, "Radii", s.Radii)); err != nil {
		return 0, err
	}
	row := finite.Row(b.Utility, s.X, nil)
	unit := unitOf(slices.Max(row), 800)
	sums := make([]float64, b.Len())
	total, offset := 0.0, 0.0
	for i, y := range s.Points {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		k, t := s.Weights[i], s.Radii[i]
		r := b.Privacy.Distance(s.X, y)
		// e^(-u/2) twice: the distance times e^-u may be a number where e^-u is none.
		root := directed.ExpDown(-directed.MulUp(directed.MulUp(alpha, r), 0.5))
		w := directed.MulDown(root, root)
		below, above := directed.MulDown(t, unit), directed.MulUp(t, unit)
		row = finite.Row(b.Utility, y, row)
		for z, d := range row {
			h := directed.MulDown(k, directed.SubDown(directed.MulDown(d, unit), above))
			if h >= 0 {
				h = directed.MulDown(directed.MulDown(h, w), w)
			}
			sums[z] = directed.AddDown(sums[z], h)
		}
		up := directed.MulUp(k, directed.ExpUp(-directed.MulDown(alpha, r)))
		total = directed.AddUp(total, up)
		if below < 0 {
			offset = directed.AddDown(offset, directed.MulDown(up, below))
		} else {
			offset = directed.AddDown(offset, directed.MulDown(directed.MulDown(directed.MulDown(k, below), root), root))
		}
	}
	v := directed.AddDown(offset, slices.Min(sums))
	if !(v > 0) { // NaN where a sum overflowed
		return 0, nil
	}
	return max(0, directed.DivDown(directed.DivDown(v, total), unit)), nil
}

// unitOf is a power of 2 that takes distances of size d to 2^to or so, if it is
// a number. At 2^800 neither sums of distances nor their products with small
// probabilities leave the range of float64.
func unitOf(d float64, to int) float64 {
	_, e := math.Frexp(d)
	return math.Ldexp(1, min(to-e, 1000))
}

// The search for stars.

const (
	// Every point of a space of up to allStars points is tried as x with all
	// the others. Otherwise the centers of the starCenters best closed stars
	// are, and spareStars spread over the indices, with starPoints others.
	allStars    = 32
	starCenters = 8
	spareStars  = 4
	starPoints  = 48
	// All outputs enter the program of up to allOutputs points. Otherwise it
	// starts with starOutputs, and gains that many of those it is violated at
	// for starCuts rounds.
	allOutputs  = 256
	starOutputs = 128
	starCuts    = 6
	// A point y at alpha*rho1(x,y) up to starTied has w_y = 1 to the program,
	// for which it is too near; one beyond starReach says nothing (e^-20).
	starTied  = 1e-9
	starReach = 20
	// The other points are spread over the ball of alpha*rho1 <= starBall.
	starBall = 5
)

// searchedStar returns the best star that the program finds for one level. The
// best closed stars say where to look.
func (c *closedStars) searchedStar(ctx context.Context, alpha float64, closed []closedStar, workers int) (best Star, v float64, err error) {
	n := c.b.Len()
	centers := slices.Clone(closed)
	if n > allStars {
		slices.SortStableFunc(centers, func(p, q closedStar) int { return cmp.Compare(q.v, p.v) })
		// A center stands for all points nearer to it than what it proves.
		var kept []closedStar
		covered := make([]bool, n)
		for _, s := range centers {
			if covered[s.x] || len(kept) == starCenters {
				continue
			}
			kept = append(kept, s)
			for z, d := range finite.Row(c.b.Utility, s.x, nil) {
				covered[z] = covered[z] || d*c.unit < s.v
			}
		}
		centers = kept
		for k := range spareStars {
			centers = append(centers, closed[k*n/spareStars])
		}
	}
	var seeds []int
	for _, s := range centers {
		seeds = append(seeds, c.star(s).Points...)
	}
	type found struct {
		Star
		v float64
	}
	stars := make([]found, len(centers))
	err = parallel.Chunks(ctx, len(centers), 1, workers, nil, func(i, _, _ int) {
		s := newStarSearch(ctx, c.b, alpha, centers[i].x, seeds)
		stars[i].Star, stars[i].v = s.solve(ctx)
	})
	top := slices.MaxFunc(stars, func(p, q found) int { return cmp.Compare(p.v, q.v) })
	return top.Star, top.v, err
}

type starSearch struct {
	b      metric.Bimetric
	alpha  float64
	x      int
	points []int // with w < 1, then those with w = 1
	w      []float64
	free   int
	rows   [][]float64 // of rho2 from the points, times unit
	unit   float64
}

func newStarSearch(ctx context.Context, b metric.Bimetric, alpha float64, x int, seeds []int) *starSearch {
	s := &starSearch{b: b, alpha: alpha, x: x}
	r1 := finite.Row(b.Privacy, x, nil)
	var free, tied []int
	for _, y := range s.choose(ctx, r1, seeds) {
		switch u := alpha * r1[y]; {
		case u <= starTied:
			tied = append(tied, y)
		case u <= starReach:
			free = append(free, y)
		}
	}
	s.free = len(free)
	s.points = append(free, tied...)
	s.unit = unitOf(slices.Max(finite.Row(b.Utility, x, nil)), 0)
	for _, y := range s.points {
		s.w = append(s.w, math.Exp(-alpha*r1[y]))
		row := make([]float64, b.Len())
		for z, d := range finite.Row(b.Utility, y, nil) {
			row[z] = d * s.unit
		}
		s.rows = append(s.rows, row)
	}
	for k := range tied {
		s.w[s.free+k] = 1
	}
	return s
}

// choose returns the points of the star, x among them.
func (s *starSearch) choose(ctx context.Context, r1 []float64, seeds []int) []int {
	n := s.b.Len()
	if n <= allStars {
		return spaces.AllPoints(n)
	}
	// The seeds, the nearest first, fill half of it at most.
	set := []int{s.x}
	seeds = slices.Clone(seeds)
	slices.SortFunc(seeds, func(i, j int) int { return cmp.Or(cmp.Compare(r1[i], r1[j]), cmp.Compare(i, j)) })
	for _, y := range slices.Compact(seeds) {
		if y != s.x && s.alpha*r1[y] <= starReach && len(set) < starPoints/2 {
			set = append(set, y)
		}
	}
	// The rest are spread over the points near x.
	ball := []int{s.x}
	for y, r := range r1 {
		if y != s.x && s.alpha*r <= starBall {
			ball = append(ball, y)
		}
	}
	near, err := metric.Subset(s.b.Utility, ball)
	if err != nil {
		return set
	}
	order, radii, _ := metric.FarthestFirst(ctx, near, min(len(ball), starPoints+1), 0)
	for k, i := range order {
		if len(set) > starPoints || radii[k] == 0 {
			break
		}
		if !slices.Contains(set, ball[i]) {
			set = append(set, ball[i])
		}
	}
	return set
}

// solve returns the best star of the rounds, and its value.
func (s *starSearch) solve(ctx context.Context) (Star, float64) {
	n := s.b.Len()
	outputs := spaces.AllPoints(n)
	in := make([]bool, n)
	take := func(z int) {
		if !in[z] {
			in[z] = true
			outputs = append(outputs, z)
		}
	}
	if n > allOutputs {
		outputs = outputs[:0]
		for _, y := range s.points {
			take(y)
		}
		for k := range starOutputs {
			take(k * n / starOutputs)
		}
	}
	var best Star
	bestV := 0.0
	for range starCuts {
		d := make([][]float64, len(s.rows))
		for y, row := range s.rows {
			for _, z := range outputs {
				d[y] = append(d[y], row[z])
			}
		}
		c, g, ok := star.Solve(ctx, s.w, s.free, d)
		if !ok {
			break
		}
		w := Star{s.x, s.points, c, append(g, make([]float64, len(c)-len(g))...)}
		for k := range c {
			w.Radii[k] /= c[k] * s.unit
			w.Weights[k] /= s.w[k]
		}
		// The program's accuracy is relative to distances, not to the bound: a
		// smaller share of the free points takes the sums back above 0.
		for _, share := range []float64{1, 0.99, 0.9, 0.7} {
			w := Star{s.x, s.points, slices.Clone(w.Weights), w.Radii}
			for k := range s.free {
				w.Weights[k] *= share
			}
			if v, _ := w.Prove(ctx, s.b, s.alpha); v > bestV {
				best, bestV = w, v
			}
		}
		if len(outputs) == n {
			break
		}
		// The outputs at which the sum of the star is smallest.
		sums := s.sums(w)
		least := math.Inf(1)
		for _, z := range outputs {
			least = min(least, sums[z])
		}
		before := len(outputs)
		for _, z := range spaces.Ascending(sums) {
			if sums[z] < least && len(outputs) < before+starOutputs {
				take(z)
			}
		}
		if len(outputs) == before {
			break
		}
	}
	if best.Points == nil {
		best.X = s.x
	}
	return best, bestV
}

func (s *starSearch) sums(star Star) []float64 {
	out := make([]float64, s.b.Len())
	for i, row := range s.rows {
		k, t, w := star.Weights[i], float64(star.Radii[i]*s.unit), s.w[i]
		for z, d := range row {
			h := float64(k * (d - t))
			if h >= 0 {
				h = float64(h * w * w)
			}
			out[z] += h
		}
	}
	return out
}
