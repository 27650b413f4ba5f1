package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/star"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// weightedStar is a point x with weights c_y >= 0 and offsets g_y on other
// points y: the witness of
//
//	A(Z, alpha) >= (sum_y g_y + min_z sum_y phi_y(c_y rho2(y,z) - g_y)) / sum_y c_y,
//	phi_y(h) = h e^(-alpha*rho1(x,y)) for h >= 0, h e^(alpha*rho1(x,y)) for h < 0.
//
// The outputs z of y have probabilities P_y(z) that lie between
// e^(-alpha*rho1(x,y)) and e^(alpha*rho1(x,y)) times P_x(z), and add up to 1.
// Hence
//
//	A sum_y c_y >= sum_y c_y sum_z rho2(y,z) P_y(z)
//	  = sum_y g_y + sum_z sum_y (c_y rho2(y,z) - g_y) P_y(z)
//	  >= sum_y g_y + sum_z P_x(z) sum_y phi_y(c_y rho2(y,z) - g_y).
//
// These are the dual solutions of the linear program for A that uses only the
// privacy constraints between x and the other points; [TwoPoints] and [Packed]
// are among them, up to the triangle inequality, which this bound does not use.
type weightedStar struct {
	X       int
	Points  []int
	Weights []float64 // c
	Offsets []float64 // g
}

// Prove implements [Witness]. phi increases with h, so that a lower bound of h
// will do. O(n*|Points|).
func (w weightedStar) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, "Points", w.Points...); err != nil {
		return 0, err
	}
	sums := make([]float64, b.Len())
	total, offset := 0.0, 0.0
	var row []float64
	for k, y := range w.Points {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c, g := w.Weights[k], w.Offsets[k]
		u := directed.MulUp(alpha, b.Privacy.Distance(w.X, y))
		up, down := directed.ExpUp(u), directed.ExpDown(-u)
		row = finite.Row(b.Utility, y, row)
		for z, d := range row {
			h := directed.SubDown(directed.MulDown(c, d), g)
			f := up
			if h >= 0 {
				f = down
			}
			sums[z] = directed.AddDown(sums[z], directed.MulDown(h, f))
		}
		total, offset = directed.AddUp(total, c), directed.AddDown(offset, g)
	}
	v := directed.AddDown(offset, slices.Min(sums))
	if !(v > 0) { // NaN where a sum overflowed
		return 0, nil
	}
	return max(0, directed.DivDown(v, total)), nil
}

// The search for stars.

const (
	// Every point of a space of up to allStars points is tried as x with all
	// the others. Otherwise the points of the best pair and packings are, and
	// spareStars spread over the indices, with starPoints others.
	allStars   = 32
	spareStars = 4
	starPoints = 48
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

// bestStar returns the best star found for one level. The pair and the packings
// say where to look.
func bestStar(ctx context.Context, b metric.Bimetric, alpha float64, pair TwoPoints, packings []packing, workers int) (weightedStar, error) {
	n := b.Len()
	var centers []int
	if n <= allStars {
		centers = allPoints(n)
	} else {
		centers = []int{pair.X, pair.Y}
		for _, p := range packings {
			centers = append(centers, p.X)
		}
		for k := range spareStars {
			centers = append(centers, k*n/spareStars)
		}
		slices.Sort(centers)
		centers = slices.Compact(centers)
	}
	seeds := []int{pair.X, pair.Y}
	for _, p := range packings {
		seeds = append(seeds, p.Points...)
	}
	type found struct {
		weightedStar
		v float64
	}
	stars := make([]found, len(centers))
	err := parallel.Chunks(ctx, len(centers), 1, workers, nil, func(c, _, _ int) {
		s := newStarSearch(ctx, b, alpha, centers[c], seeds)
		stars[c].weightedStar, stars[c].v = s.solve(ctx)
	})
	best := slices.MaxFunc(stars, func(p, q found) int { return cmp.Compare(p.v, q.v) })
	return best.weightedStar, err
}

type starSearch struct {
	b      metric.Bimetric
	alpha  float64
	x      int
	points []int // with w < 1, then those with w = 1
	w      []float64
	free   int
	rows   [][]float64 // of rho2 from the points
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
	for _, y := range s.points {
		s.w = append(s.w, math.Exp(-alpha*r1[y]))
		s.rows = append(s.rows, finite.Row(b.Utility, y, nil))
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
		return allPoints(n)
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
func (s *starSearch) solve(ctx context.Context) (weightedStar, float64) {
	n := s.b.Len()
	outputs := allPoints(n)
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
	var best weightedStar
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
		w := weightedStar{s.x, s.points, c, append(g, make([]float64, len(c)-len(g))...)}
		if v, _ := w.Prove(ctx, s.b, s.alpha); v > bestV {
			best, bestV = w, v
		}
		if len(outputs) == n {
			break
		}
		// The outputs at which the sum of weightedStar is smallest.
		sums := s.sums(w)
		least := math.Inf(1)
		for _, z := range outputs {
			least = min(least, sums[z])
		}
		before := len(outputs)
		for _, z := range ascending(sums) {
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

func (s *starSearch) sums(star weightedStar) []float64 {
	out := make([]float64, s.b.Len())
	for k, row := range s.rows {
		c, g, w := star.Weights[k], star.Offsets[k], s.w[k]
		for z, d := range row {
			if h := float64(c*d) - g; h >= 0 {
				out[z] += float64(h * w)
			} else {
				out[z] += h / w
			}
		}
	}
	return out
}
