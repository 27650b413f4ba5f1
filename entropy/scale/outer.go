package scale

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// OuterScale encloses the outer scale of a space at one level.
type OuterScale struct {
	Interval
	Alpha float64

	// G is the separation that proves Hi = G + ln(N.Hi)/Alpha, and N its
	// packing number, with the witnesses of it.
	G float64
	N Count

	// Steps prove Lo: they follow one another from G = 0 on, and separations
	// that they do not reach are > Lo by themselves.
	Steps []OuterStep
}

// OuterStep bounds the packing numbers of separations g with From <= g < To:
// the points of Separated are at least To apart, so that g + ln N(g)/Alpha is
// at least From + ln(len(Separated))/Alpha.
type OuterStep struct {
	From, To  float64
	Separated []int
}

// Outer encloses the outer scale of f at level alpha, in 1/distance
// (BSV24),
//
//	inf over g >= 0 of g + ln N(f, g)/alpha,
//
// N the packing number of [Packing] (> g, strictly). f is the metric of the
// loss, rho2; the privacy metric does not enter. For one metric the entropic scale is at
// most twice as large: let t be at least g and 2 ln N(Z, g)/alpha. A ball of radius r <=
// t/2 has one t-separated point only, and any other ball at most N(Z, g) <= e^(alpha t/2)
// of them.
//
// Where packing numbers are exact, as in small spaces, the ends differ by
// little more than rounding; otherwise they leave the gap of the packing
// numbers near the best g, divided by alpha.
//
// There is one for each level of alphas, which are finite, > 0 and ascend
// ([*metric.ValueError]); an empty f is [metric.ErrEmpty]. A level costs some dozens to 400
// packing numbers of f, the fewer the larger f is, on one core; the levels share them.
func Outer(ctx context.Context, f metric.Finite, alphas []float64, o *Options) ([]OuterScale, error) {
	if err := spaces.CheckLevels("scale: Outer", metric.Same(f), alphas); err != nil {
		return nil, err
	}
	return outerScales(ctx, f, alphas, o)
}

const (
	// outerFine is the relative gap at which the search for an outer scale
	// ends; the logarithms round by far less.
	outerFine = 0x1p-40
	// outerSteps bounds the packing numbers found for one level, and outerWork
	// their number times the number of points.
	outerSteps = 400
	outerWork  = 1 << 17
	outerLeast = 24 // packing numbers at least
)

func outerScales(ctx context.Context, f metric.Finite, alphas []float64, o *Options) ([]OuterScale, error) {
	search := outerSearch{f: f, u: spaces.HierarchyOf(ctx, f), pts: spaces.AllPoints(f.Len()), nodes: budget(spaces.OrDefault(o).Nodes), counts: map[float64]separation{}}
	out := make([]OuterScale, len(alphas))
	for k, alpha := range alphas {
		var err error
		if out[k], err = search.scale(ctx, alpha); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// separation is a packing number with the least separation that its partition
// still proves.
type separation struct {
	Count
	from float64
}

// outerSearch shares the packing numbers of one space.
type outerSearch struct {
	f      metric.Finite
	u      *metric.Ultrametric // f, where it is one
	pts    []int
	nodes  int
	packer packer
	counts map[float64]separation
}

// at returns the packing number at g.
func (s *outerSearch) at(ctx context.Context, g float64) (separation, error) {
	if c, ok := s.counts[g]; ok {
		return c, nil
	}
	if err := ctx.Err(); err != nil {
		return separation{}, err
	}
	c := separation{from: g}
	if s.u != nil {
		c.Count = packClusters(s.u, s.pts, g)
	} else {
		var err error
		if c.Count, err = s.packer.pack(ctx, s.f, s.pts, g, s.nodes); err != nil {
			return c, err
		}
	}
	if c.Proof == ByPartition {
		c.from = min(g, s.widest(ctx, c.Sets, g))
	}
	s.counts[g] = c
	return c, nil
}

// widest returns the largest diameter of the sets, or g where they have too
// many pairs to look at.
func (s *outerSearch) widest(ctx context.Context, sets [][]int, g float64) float64 {
	pairs, d := 0, 0.0
	for _, set := range sets {
		pairs += len(set) * (len(set) - 1) / 2
	}
	if pairs > matrixPoints*matrixPoints/2 {
		return g
	}
	for _, set := range sets {
		for a, i := range set {
			if ctx.Err() != nil {
				return g
			}
			for _, j := range set[:a] {
				d = max(d, s.f.Distance(i, j))
			}
		}
	}
	return d
}

// scale splits the separations below Hi into steps, the one of least bound
// again and again: where the packing number just below its end is N, a step
// [from, to) is worth from + ln(N)/alpha at least.
func (s *outerSearch) scale(ctx context.Context, alpha float64) (OuterScale, error) {
	out := OuterScale{Interval: Interval{Hi: math.Inf(1)}, Alpha: alpha}
	try := func(g float64) (separation, error) {
		c, err := s.at(ctx, g)
		if err == nil {
			hi := directed.AddUp(c.from, directed.DivUp(directed.LogUp(float64(c.Hi)), alpha))
			if hi < out.Hi {
				out.Hi, out.G, out.N = hi, c.from, c.Count
			}
		}
		return c, err
	}
	// All points lie within 2r of one another, r the distance of the farthest
	// from point 0: that is enough to begin with.
	r := slices.Max(finite.Row(s.f, 0, nil))
	for _, g := range []float64{0, min(2*r/spaces.SlackDown, math.MaxFloat64)} {
		if _, err := try(g); err != nil {
			return out, err
		}
	}
	var steps []outerStep
	add := func(from, to float64) error {
		c, err := try(directed.Prev(to))
		worth := directed.AddDown(from, directed.DivDown(directed.LogDown(float64(c.Lo)), alpha))
		steps = append(steps, outerStep{OuterStep{from, to, c.Separated}, worth, false})
		return err
	}
	if out.Hi > 0 {
		if err := add(0, out.Hi); err != nil {
			return out, err
		}
	}
	budget := min(outerSteps, max(outerLeast, outerWork/len(s.pts)))
	for range budget {
		worst := -1
		for k, st := range steps {
			if !st.done && st.worth < out.Hi && (worst < 0 || st.worth < steps[worst].worth) {
				worst = k
			}
		}
		if worst < 0 || out.Hi-steps[worst].worth <= outerFine*out.Hi {
			break
		}
		st := steps[worst]
		mid, ok := st.split(out.G)
		if !ok || settled(steps, worst, out.Hi, alpha) {
			steps[worst].done = true
			continue
		}
		steps = slices.Delete(steps, worst, worst+1)
		if err := add(st.From, mid); err != nil {
			return out, err
		}
		if err := add(mid, st.To); err != nil {
			return out, err
		}
	}
	out.Lo = out.Hi
	slices.SortFunc(steps, func(a, b outerStep) int { return cmp.Compare(a.From, b.From) })
	for _, st := range steps {
		if st.From >= out.Hi {
			break
		}
		out.Lo = min(out.Lo, st.worth)
		out.Steps = append(out.Steps, st.OuterStep)
	}
	return out, nil
}

// outerStep is a step with a lower bound on it; done says not to split it.
type outerStep struct {
	OuterStep
	worth float64
	done  bool
}

// split returns where to split a step: in the middle, or at the best separation
// g so far where that lies near the middle; the packing number is larger below.
func (st outerStep) split(g float64) (mid float64, ok bool) {
	width := st.To - st.From
	mid = st.From + width/2
	if math.Abs(g-mid) <= width/4 {
		mid = g
	}
	return mid, mid > st.From && mid < st.To
}

// settled reports whether no split of step k is worth while, because the gap
// between its worth and hi is that of the packing numbers: the step is narrow
// beside it, and so is what its packing number lies below that of the step
// before.
func settled(steps []outerStep, k int, hi, alpha float64) bool {
	const part = 16
	st := steps[k]
	small := (hi - st.worth) / part
	if st.To-st.From > small {
		return false
	}
	for _, before := range steps {
		if before.To == st.From {
			return math.Log(float64(len(before.Separated))/float64(len(st.Separated)))/alpha <= small
		}
	}
	return false
}
