package anywhere

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Between rows
//
// Let x lie between points x0 and x1 at distance w along an axis, P be the law of the noise at x,
// and s0 = sinh(alpha(w-t))/sinh(alpha w), s1 = sinh(alpha t)/sinh(alpha w), t = |x-x0|. Along the
// segment a density phi = e^(-alpha N), N the distance from a place z, has a second derivative of
// at most alpha^2 phi, as N is convex and of slope at most 1. So phi - s0 phi0 - s1 phi1, which is 0
// at both ends, is not negative: P = s0 P0 + s1 P1 + R, R >= 0 of mass 1 - s0 - s1 <= 1 - 1/cosh(alpha
// w/2). Axis after axis, P is a mix of the laws at the corners i of a box, of weights sigma_i, and of
// a rest of mass 1 - sum of sigma_i <= 1 - cosh(alpha w/2)^-dim. As sinh is convex s0 <= 1-t/w, so that
// sigma_i is at most t_i, the weight of multilinear interpolation. Distances are convex, so that with
// A[i,j] the mean distance from corner j to an output of corner i
//
//	loss(x) <= sum of sigma_i t_j A[i,j] + what the rest adds
//	        <= sum of t_i t_j A[i,j] + (1 - sum of sigma_i) (K - min A),
//
// K being the mean distance under the rest; the first sum is at most its largest coefficient in
// Bernstein's form: of degree 2 in every axis.
//
// The share of R farther than r/alpha from the segment is at most (1+r) e^-r, which bounds K by what
// cells lose and how far they are. With sinh it is a mix of (phi - phi''/alpha^2) over the segment. In
// the plane that is sin^2 (1 + 1/(alpha N)) phi, sin of the angle with the axis, whose share beyond r
// is (1 + r/2) e^-r. Under the l1 norm it has the axis' coordinate in the segment, and those of the
// others, at most two, are the noise's; on the line there are none: all of R is in the segment.

// known is what is known of a row.
type known struct {
	law  []float64 // of the outputs
	dist []float64 // from them
	loss float64
}

// look computes a row.
func (m *Remap[P]) look(at []int) known {
	mass, _ := m.law.masses(m.cells, at, nil, nil)
	r := known{make([]float64, len(m.outputs)), m.distances(at, nil), 0}
	for c, p := range mass {
		for _, s := range m.shares[c] {
			r.law[s.output] += float64(p * s.prob)
		}
	}
	r.loss = mean(r.law, r.dist)
	return r
}

func mean(p, dist []float64) float64 {
	sum := 0.0
	for y, v := range p {
		sum += float64(v * dist[y])
	}
	return sum
}

// within is a bound on the loss in the box of a given side whose first corner is low, from its
// corners, in the order of lattice; t, where not nil, is where in the box.
func (m *Remap[P]) within(low []int, side int, corners []known, t []float64) float64 {
	dim, n := m.on.dim, len(corners)
	coef, far, least := make([]float64, pow(3, dim)), 0.0, math.Inf(1)
	at := 0.0
	for i, a := range corners {
		far = max(far, slices.Max(a.dist))
		for j, b := range corners {
			v := mean(a.law, b.dist)
			least = min(least, v)
			// Of a coefficient's index every digit says how many of the two corners are
			// at the far end of the axis; of those with one of them there are two.
			c, share, weight := 0, 1.0, 1.0
			for k := dim - 1; k >= 0; k-- {
				ik, jk := i>>(dim-1-k)&1, j>>(dim-1-k)&1
				c += (ik + jk) * pow(3, k)
				if ik != jk {
					share /= 2
				}
				if t != nil {
					weight *= pick(ik, t[k]) * pick(jk, t[k])
				}
			}
			coef[c] += float64(share * v)
			at += float64(weight * v)
		}
	}
	if t == nil {
		at = slices.Max(coef)
	}
	width := float64(float64(side) * m.law.step)
	length := float64(side) * m.cells.step()
	rest := float64((1 - math.Pow(math.Cosh(width/2), -float64(dim))) * max(0, m.rest(low, side, corners)-least))
	bend := float64(m.on.bend * length * length / 8)
	sum := min(at+rest, far) + float64(float64(dim)*bend)
	return float64(sum*slack) + m.on.blur + float64(float64(4*lawErr*float64(m.cells.len()+n))*far)
}

func pick(end int, t float64) float64 {
	if end == 1 {
		return t
	}
	return 1 - t
}

func pow(b, e int) int {
	n := 1
	for range e {
		n *= b
	}
	return n
}

// rest bounds the mean distance, seen from a corner, under what the mix of laws leaves: cells whose
// distance from the box is half a width more have a share of it that is bounded together.
func (m *Remap[P]) rest(low []int, side int, corners []known) float64 {
	c := m.cells
	var most [2 * reachWidths]float64
	for cell, shares := range m.shares {
		gap, left := 0, cell
		for k := m.on.dim - 1; k >= 0; k-- {
			i := left % c.count[k]
			left /= c.count[k]
			gap = max(gap, c.cut(k, i)-low[k]-side, low[k]-c.cut(k, i+1))
		}
		if m.on.dim == 1 && gap > 0 {
			continue
		}
		ring := &most[int(min(float64(2*float64(gap)*m.law.step), float64(len(most)-1)))]
		for _, b := range corners {
			v := 0.0
			for _, s := range shares {
				v += float64(s.prob * b.dist[s.output])
			}
			*ring = max(*ring, v)
		}
	}
	sum, so := 0.0, 0.0
	for i, v := range most {
		if r := float64(float64(i) / 2); v > so {
			sum += float64((v - so) * float64((1+r)*math.Exp(-r)))
			so = v
		}
	}
	return sum
}

// certify bounds the loss everywhere in the region, or its mean. Boxes are halved where they might
// lose more than the worst corner in the region.
func (m *Remap[P]) certify(ctx context.Context, size []int, o *Options[P], prior []float64) error {
	if prior != nil {
		return m.certifyMean(ctx, o, prior)
	}
	const tolerance = 1e-3
	rows := make(map[[3]int]*known)
	worst, at := math.Inf(-1), make([]int, m.on.dim)
	var list [][]int
	for low := range lattice(across(size), 0) {
		for k := range low {
			low[k] <<= halvings
		}
		list = append(list, low)
	}
	for side := 1 << halvings; len(list) > 0; side /= 2 {
		// The corners that are not known yet.
		var missing [][]int
		for _, low := range list {
			for _, c := range cornersOf(low, side) {
				if rows[key(c)] == nil {
					rows[key(c)] = new(known)
					missing = append(missing, c)
				}
			}
		}
		err := parallel.Chunks(ctx, len(missing), 4, o.Workers, nil, func(_, lo, hi int) {
			for _, c := range missing[lo:hi] {
				if ctx.Err() == nil {
					*rows[key(c)] = m.look(c)
				}
			}
		})
		if err != nil {
			return err
		}
		for _, c := range missing {
			if v := rows[key(c)].loss; v > worst && reaches(size, c, 0) {
				worst, at = v, c
			}
		}
		bounds := make([]float64, len(list))
		err = parallel.Chunks(ctx, len(list), 4, o.Workers, nil, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				corners := make([]known, 0, 8)
				for _, c := range cornersOf(list[i], side) {
					corners = append(corners, *rows[key(c)])
				}
				bounds[i] = m.within(list[i], side, corners, nil)
			}
		})
		if err != nil {
			return err
		}
		var next [][]int
		for i, low := range list {
			if side > 1 && bounds[i] > worst*(1+tolerance) {
				for _, c := range cornersOf(low, side/2) {
					if reaches(size, c, 1) {
						next = append(next, c)
					}
				}
			} else {
				m.Loss = max(m.Loss, bounds[i])
			}
		}
		list = next
	}
	m.Worst = m.point(at)
	return nil
}

// reaches tells whether the point is at least inside steps from the far end of the region.
func reaches(size, at []int, inside int) bool {
	for k, v := range at {
		if v+inside > size[k] {
			return false
		}
	}
	return true
}

func key(at []int) (k [3]int) {
	copy(k[:], at)
	return k
}

// cornersOf are those of the box of a given side whose first corner is low.
func cornersOf(low []int, side int) [][]int {
	var all [][]int
	for c := range lattice(slices.Repeat([]int{2}, len(low)), 0) {
		for k := range c {
			c[k] = low[k] + c[k]*side
		}
		all = append(all, c)
	}
	return all
}

func (m *Remap[P]) certifyMean(ctx context.Context, o *Options[P], prior []float64) error {
	losses := make([]float64, len(prior))
	err := parallel.Chunks(ctx, len(prior), 4, o.Workers, nil, func(_, lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			losses[i] = m.lossAt(o.Places[i])
		}
	})
	if err != nil {
		return err
	}
	worst, mass := 0, 0.0
	for i, v := range losses {
		m.Loss += float64(prior[i] * v)
		mass += prior[i]
		if v > losses[worst] {
			worst = i
		}
	}
	m.Loss *= slack / min(1, mass)
	m.Worst = o.Places[worst]
	return nil
}

// LossAt returns a bound on the expected distance of the output from an input anywhere, in the
// region or not, as [Remap.Loss]: near it to some .5 %. On the Earth it is the distance of the
// farthest output where the input is more than 44 degrees from the middle of the region. O(cells).
func (m *Remap[P]) LossAt(x P) (float64, error) {
	const op = "anywhere: Remap.LossAt"
	if err := m.check(op); err != nil {
		return 0, err
	}
	if check, ok := m.on.space.(interface{ Check(x, y P) error }); ok {
		if err := check.Check(m.outputs[0], x); err != nil {
			return 0, fault.Within(op, err)
		}
	}
	return m.lossAt(x), nil
}

func (m *Remap[P]) lossAt(x P) float64 {
	far := float64(slices.Max(m.from(x, nil))*slack) + m.on.blur
	if m.on.near != nil && !m.on.near(x) {
		return far
	}
	low, t := make([]int, m.on.dim), make([]float64, m.on.dim)
	for k, v := range m.on.on(x, nil) {
		if low[k], t[k] = m.cells.floor(k, v); low[k] <= -everywhere/4 || low[k] >= everywhere/4 {
			return far
		}
	}
	var corners []known
	for _, c := range cornersOf(low, 1) {
		corners = append(corners, m.look(c))
	}
	return min(m.within(low, 1, corners, t), far)
}
