package entropy

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// The closed star of a point x, for a set Y of other points y with radii t_y, is k_x = 1, t_x = 0,
// k_y = rho2(x,y)/t_y. With w_y = e^(-alpha*rho1(x,y)) and g_y = w_y rho2(x,y) it proves
//
//	A(Z, alpha) >= sum_y g_y / (1 + sum_y g_y/t_y)
//
// in two cases, and at least that where its sums are positive.
//
//   - t_y is the distance of y to the nearest other point of Z under rho2. For,
//     with the losses at most A, P_y{y} >= 1 - A/t_y, P_x{y} >= w_y P_y{y}, and
//     A >= sum_y rho2(x,y) P_x{y}. Solve for A. On k points at distance 1 it is
//     (k-1)/(k-1+e^alpha), which randomized response attains.
//   - Y is one point, and t = rho2(x,y), by the triangle inequality.
//
// A y pays in the first if t_y is above the bound that the others give. Of points at rho2-distance
// 0 from each other, which are one output, only that which rho1 puts nearest to x is among the y.
//
// No mechanism is much better than the first where balls are sparse. If S_x = sum_(y != x)
// e^(-alpha*rho1(x,y)) <= 1 at all x, then c_x = 1 - sum_(y != x) c_y e^(-alpha*rho1(x,y)) has a
// solution with c in [0,1] (Brouwer), and P_x{y} = c_y e^(-alpha*rho1(x,y)) is an alpha-private
// mechanism with losses of at most G = max_x sum_y g_y, c a base measure of KL10 (Definition 2.6).

// closedStars is what the closed stars of a space share at all levels.
type closedStars struct {
	b       metric.Bimetric
	unit    float64   // distances under rho2 are taken times this
	nearest []float64 // distance to the nearest point that is not at 0, +Inf if none
	twin    []int     // the next point at rho2-distance 0, -1 for none
	heads   []int     // the points that are no twin of one before, largest nearest first
}

// newClosedStars reads n^2 distances.
func newClosedStars(ctx context.Context, b metric.Bimetric, workers int) (*closedStars, error) {
	n := b.Len()
	c := &closedStars{b: b, unit: unitOf(slices.Max(finite.Row(b.Utility, 0, nil)), 800), nearest: make([]float64, n), twin: make([]int, n)}
	later := make([]bool, n) // a twin of one before
	err := parallel.Chunks(ctx, n, 64, workers, nil, func(_, lo, hi int) {
		var row []float64
		for y := lo; y < hi; y++ {
			row = finite.Row(b.Utility, y, row)
			c.nearest[y], c.twin[y] = math.Inf(1), -1
			for z, d := range row {
				switch {
				case d > 0:
					c.nearest[y] = min(c.nearest[y], d)
				case z < y:
					later[y] = true
				case z > y && c.twin[y] < 0:
					c.twin[y] = z
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, y := range slices.Backward(spaces.Ascending(c.nearest)) {
		if !later[y] {
			c.heads = append(c.heads, y)
		}
	}
	return c, nil
}

// closedStar is what one point makes of closed stars at one level.
type closedStar struct {
	x   int
	v   float64 // the best value, in units
	by  int     // by which one point, -1: the first heads
	k   int     // so many of them
	sum float64 // S_x
	g   float64 // sum_y g_y
}

// at returns the closed stars of all points, which depend on the level alone. O(n^2).
func (c *closedStars) at(ctx context.Context, alpha float64, o *Options) ([]closedStar, error) {
	n := c.b.Len()
	out := make([]closedStar, n)
	err := parallel.Chunks(ctx, n, 64, o.Workers, o.Progress, func(_, lo, hi int) {
		rows := spaces.NewRows(c.b)
		g := make([]float64, n) // of heads
		for x := lo; x < hi; x++ {
			r1, r2 := rows.At(x)
			s := &out[x]
			s.x = x
			for _, y := range c.heads {
				root := math.Exp(-float64(alpha*r1[c.nearestTwin(y, r1)]) / 2)
				w := float64(root * root)
				if g[y] = float64(r2[y] * c.unit * root * root); r2[y] == 0 {
					continue
				}
				s.sum, s.g = s.sum+w, s.g+g[y]
				if v := g[y] / (1 + w) * spaces.SlackDown; v > s.v {
					s.v, s.by = v, y
				}
			}
			sum, total := 0.0, 1.0
			for i, y := range c.heads {
				t := c.nearest[y] * c.unit
				sum, total = sum+g[y], total+g[y]/t
				if v := sum / total; v > s.v {
					s.v, s.by, s.k = v, -1, i+1
				}
			}
		}
	})
	return out, err
}

// settled tells whether no bound can beat the best closed star by more than a
// thousandth: a mechanism is as good.
func (c *closedStars) settled(all []closedStar, best closedStar) bool {
	for _, s := range all {
		if s.sum > 1 || s.g > best.v*(1+settledAt) {
			return false
		}
	}
	return len(c.heads) == len(all)
}

// settledAt is the relative gap where the program is spared.
const settledAt = 1e-3

// nearestTwin returns y or its twin that is nearest by the distances r1.
func (c *closedStars) nearestTwin(y int, r1 []float64) int {
	best := y
	for z := c.twin[y]; z >= 0; z = c.twin[z] {
		if r1[z] < r1[best] {
			best = z
		}
	}
	return best
}

// star returns the witness.
func (c *closedStars) star(s closedStar) Star {
	r1, r2 := spaces.NewRows(c.b).At(s.x)
	out := Star{X: s.x, Points: []int{s.x}, Weights: []float64{1}, Radii: []float64{0}}
	add := func(y int, t, share float64) {
		if r2[y] > 0 && r2[y] >= t {
			out.Points = append(out.Points, c.nearestTwin(y, r1))
			out.Weights = append(out.Weights, directed.DivDown(r2[y], t)*share)
			out.Radii = append(out.Radii, t)
		}
	}
	// spaces.SlackDown: what is proved by the triangle inequality must survive the
	// rounding of distances.
	switch {
	case s.v == 0:
	case s.by >= 0:
		add(s.by, r2[s.by], spaces.SlackDown)
	default:
		for _, y := range c.heads[:s.k] {
			add(y, c.nearest[y], 1)
		}
	}
	return out
}
