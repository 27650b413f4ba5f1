package scale

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// DoublingScale encloses the doubling scale of a space at one level.
type DoublingScale struct {
	Interval
	Alpha float64

	// X, R and Set prove Lo: Set are points of the closed ball of radius R around X. For
	// every s in [R/2, Lo) they are more than s apart and more than exp(2 Alpha s) many,
	// or they are 2 Lo apart and more than exp(4 Alpha R). Where Lo = 0, X is -1, Set nil.
	X   int
	R   float64
	Set []int
}

// Why s(f, 4 alpha)/2 <= S <= s(f, alpha). The right side takes r = 2s in the definition of the
// entropic scale. For the left, nets of B(x, 2^k s), B(., 2^(k-1) s), ... cover the first by
// balls of radius s >= S, exp(2 alpha (2 + 4 + ... + 2^k) s/2) of them at most, and a
// 2s-separated set has one point in each.

// Doubling encloses the doubling scale of f, one metric for privacy and loss, at every level of
// alphas: the infimum of all S >= 0 such that
//
//	N(B(x,2s), s) <= exp(2 alpha s)  for all x and every s >= S,
//
// N as in [Packing], balls closed. (BSV24 Definition 2.8 takes single s, which in a finite space
// gives 0.) In any space s(f, 4 alpha)/2 <= S <= s(f, alpha), the scales of [Entropic].
//
// The ends differ by rounding for an ultrametric, in O(n log n), and mostly up to 32 points.
// Otherwise Hi is that of Entropic, and Lo the best that its separated sets prove, at twice its
// cost. alphas and errors are those of Entropic.
func Doubling(ctx context.Context, f metric.Finite, alphas []float64, o *Options) ([]DoublingScale, error) {
	if err := spaces.CheckLevels("scale: Doubling", metric.Same(f), alphas); err != nil {
		return nil, err
	}
	out := make([]DoublingScale, len(alphas))
	if u := spaces.HierarchyOf(ctx, f); u != nil {
		steps := doublingSteps(u)
		for k, alpha := range alphas {
			out[k] = doublingOf(u, steps, alpha)
		}
		return out, ctx.Err()
	}
	four := func(alpha float64) float64 { return min(4*alpha, math.MaxFloat64) }
	levels := slices.Clone(alphas)
	for _, alpha := range alphas {
		levels = append(levels, four(alpha))
	}
	at, err := spaces.ByLevel(levels, func(levels []float64) ([]Scale, error) {
		return Entropic(ctx, metric.Same(f), levels, o)
	})
	if err != nil {
		return nil, err
	}
	for k, alpha := range alphas {
		out[k] = doublingBracket(ctx, f, at[alpha], at[four(alpha)])
		if f.Len() <= doublingPoints {
			if err := out[k].search(ctx, f, budget(spaces.OrDefault(o).Nodes)); err != nil {
				return nil, err
			}
		}
	}
	return out, ctx.Err()
}

// doublingPoints is the largest space searched at all separations.
const doublingPoints = 32

// doublingBracket encloses the doubling scale at the level of s by the entropic
// scales there and at four times that level.
func doublingBracket(ctx context.Context, f metric.Finite, s, four Scale) DoublingScale {
	d := DoublingScale{Interval: Interval{Hi: s.Hi}, Alpha: s.Alpha, X: -1}
	// Two points of a ball of radius S are at most 2S apart up to rounding.
	if lo := four.Lo / 2 * spaces.SlackDown; lo > 0 && four.Alpha >= 4*s.Alpha {
		d.Lo, d.X, d.R, d.Set = lo, four.X, four.R, four.Set
	}
	d.take(ctx, f, s.X, s.Set)
	d.take(ctx, f, four.X, four.Set)
	d.Hi = max(d.Hi, d.Lo) // by rounding only
	return d
}

// take makes the points set around x the witness if they fail at larger s than the one before.
func (d *DoublingScale) take(ctx context.Context, f metric.Finite, x int, set []int) {
	if len(set) < 2 {
		return
	}
	radius := farthest(f, x, set)
	apart, _ := leastDistance(ctx, f, set)
	end, _ := ends(len(set), d.Alpha)
	if end = min(end, apart); end > radius/2 && end > d.Lo {
		d.Lo, d.X, d.R, d.Set = end, x, radius, slices.Clone(set)
	}
}

// leastDistance is the least distance of two of the points, +Inf where there
// are none. O(|points|^2).
func leastDistance(ctx context.Context, f metric.Finite, points []int) (float64, error) {
	t := math.Inf(1)
	for i, y := range points {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, z := range points[:i] {
			t = min(t, f.Distance(y, z))
		}
	}
	return t, nil
}

// search narrows a bracket by all separations, from the largest down. Between two numbers that are
// distances or halves of them the packing numbers of balls do not change: the first of these
// intervals at which the inequality fails holds the doubling scale.
func (d *DoublingScale) search(ctx context.Context, f metric.Finite, nodes int) error {
	cuts := []float64{0}
	for i := range f.Len() {
		for j := range i {
			cuts = append(cuts, f.Distance(i, j), f.Distance(i, j)/2)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var p packer
	hi := 0.0 // no s above fails
	for k := len(cuts) - 2; k >= 0 && cuts[k+1] > d.Lo; k-- {
		from, to := cuts[k], min(cuts[k+1], d.Hi)
		if from >= to {
			continue
		}
		for x := range f.Len() {
			var ball []int
			for y := range f.Len() {
				if f.Distance(x, y) < 2*to {
					ball = append(ball, y)
				}
			}
			if float64(len(ball)) <= allowed(d.Alpha, from) {
				continue
			}
			if err := p.far.Far(ctx, f.Distance, ball, from); err != nil {
				return err
			}
			set, count, _, _ := p.cliques(ctx, nodes)
			if _, end := ends(count, d.Alpha); end > from {
				hi = max(hi, min(end, to))
			}
			pts := make([]int, len(set))
			for k, i := range set {
				pts[k] = ball[i]
			}
			d.take(ctx, f, x, pts)
		}
	}
	d.Hi = min(d.Hi, max(hi, d.Lo))
	return nil
}

// ends returns bounds of ln(count)/(2 alpha).
func ends(count int, alpha float64) (lo, hi float64) {
	n := float64(count)
	return directed.DivDown(directed.LogDown(n)/2, alpha), directed.DivUp(directed.LogUp(n)/2, alpha)
}

// allowed returns a lower bound of exp(2 alpha s), the points that a ball of radius 2s may hold.
func allowed(alpha, s float64) float64 { return directed.ExpDown(directed.MulDown(alpha, 2*s)) }

// doublingStep says that balls B(x,2s) hold up to count points separated by > s
// for s in [from, to).
type doublingStep struct {
	from, to float64
	count    int
}

// doublingSteps returns the largest packing number of balls of radius 2s as a
// function of s, below the diameter.
//
// A ball is a run of neighbors between heights > 2s, and its packing number is 1 plus the number of
// heights > s inside. With s rising, a height h joins two runs at s = h/2, counts from then on, and
// no longer from s = h on. All of that is O(1) an event for the sizes of the runs in a union-find,
// and for the largest number, which only falls to the next below.
func doublingSteps(u *metric.Ultrametric) []doublingStep {
	h := u.Heights()
	n := len(h) + 1
	byHeight := spaces.Ascending(h)
	runs, number := spanning.NewForest(n), make([]int, n) // of positions; by root
	with := make([]int, n+1)                              // with[k] runs have number k
	for p := range number {
		number[p] = 1
	}
	with[1] = n
	top := 1
	var steps []doublingStep
	joins, leaves := 0, 0
	for leaves < len(h) {
		s := h[byHeight[leaves]]
		if joins < len(h) {
			s = min(s, h[byHeight[joins]]/2)
		}
		for ; joins < len(h) && h[byHeight[joins]]/2 <= s; joins++ {
			p := byHeight[joins]
			a, b := runs.Root(p), runs.Root(p+1)
			with[number[a]]--
			with[number[b]]--
			sum := number[a] + number[b]
			runs.Join(a, b)
			number[runs.Root(a)] = sum
			with[sum]++
			top = max(top, sum)
		}
		for ; leaves < len(h) && h[byHeight[leaves]] <= s; leaves++ {
			a := runs.Root(byHeight[leaves])
			with[number[a]]--
			number[a]--
			with[number[a]]++
		}
		for with[top] == 0 {
			top--
		}
		if k := len(steps) - 1; k >= 0 {
			steps[k].to = s
		}
		steps = append(steps, doublingStep{s, math.Inf(1), top})
	}
	return steps
}

// doublingOf is Doubling for an ultrametric.
func doublingOf(u *metric.Ultrametric, steps []doublingStep, alpha float64) DoublingScale {
	d := DoublingScale{Alpha: alpha, X: -1}
	at := 0.0
	for _, st := range steps {
		lo, hi := ends(st.count, alpha)
		if hi = min(hi, st.to); hi > st.from {
			d.Hi = max(d.Hi, hi)
		}
		if lo = min(lo, st.to); lo > st.from && lo > d.Lo {
			d.Lo, at = lo, st.from
		}
	}
	if d.Lo == 0 {
		return d
	}
	// The ball of radius 2*at that meets the most balls of radius at.
	large, small := u.Clusters(2*at), u.Clusters(at)
	seen := make([]bool, u.Len())
	reps := make([][]int, u.Len())
	best := 0
	for i, c := range small {
		if !seen[c] {
			seen[c] = true
			l := large[i]
			if reps[l] = append(reps[l], i); len(reps[l]) > len(reps[best]) {
				best = l
			}
		}
	}
	d.Set, d.X = reps[best], reps[best][0]
	d.R = farthest(u, d.X, d.Set)
	return d
}
