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

// Outer encloses the outer scale of f, the metric of the loss, at every level of alphas (BSV24
// Definition 2.10),
//
//	inf over g >= 0 of g + ln N(f, g)/alpha,
//
// N the packing number of [Packing]. For one metric the entropic scale is at most twice as large
// (Proposition 2.11). The ends differ by little more than rounding where packing numbers are exact.
//
// alphas are finite, > 0 and ascend ([*metric.ValueError]); an empty f is [metric.ErrEmpty]. A
// level costs up to 400 packing numbers of f, which levels share, on one core.
func Outer(ctx context.Context, f metric.Finite, alphas []float64, o *Options) ([]OuterScale, error) {
	if err := spaces.CheckLevels("scale: Outer", metric.Same(f), alphas); err != nil {
		return nil, err
	}
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

// separation is a packing number with the least separation that its partition still proves.
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

// widest returns the largest diameter of the sets, or g where they have too many pairs to look at.
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

// outerLevel is the search at one level.
type outerLevel struct {
	*outerSearch
	OuterScale
	steps []outerStep // they cover the separations below the first Hi
}

// outerStep is a step with a lower bound on it; done says not to split it.
type outerStep struct {
	OuterStep
	worth float64
	done  bool
}

// scale splits the separations below Hi into steps, the one of least bound again and
// again, until that is near Hi.
func (s *outerSearch) scale(ctx context.Context, alpha float64) (OuterScale, error) {
	l := outerLevel{outerSearch: s, OuterScale: OuterScale{Interval: Interval{Hi: math.Inf(1)}, Alpha: alpha}}
	// All points lie within 2r of one another, r the distance of the farthest
	// from point 0: that is enough to begin with.
	r := slices.Max(finite.Row(s.f, 0, nil))
	for _, g := range []float64{0, min(2*r/spaces.SlackDown, math.MaxFloat64)} {
		if _, err := l.try(ctx, g); err != nil {
			return l.OuterScale, err
		}
	}
	if l.Hi > 0 {
		if err := l.add(ctx, 0, l.Hi); err != nil {
			return l.OuterScale, err
		}
	}
	for range min(outerSteps, max(outerLeast, outerWork/len(s.pts))) {
		k := l.worst()
		if k < 0 || l.Hi-l.steps[k].worth <= outerFine*l.Hi {
			break
		}
		st := l.steps[k]
		mid, ok := st.split(l.G)
		if !ok || l.settled(k) {
			l.steps[k].done = true
			continue
		}
		l.steps = slices.Delete(l.steps, k, k+1)
		if err := cmp.Or(l.add(ctx, st.From, mid), l.add(ctx, mid, st.To)); err != nil {
			return l.OuterScale, err
		}
	}
	l.Lo = l.Hi
	slices.SortFunc(l.steps, func(a, b outerStep) int { return cmp.Compare(a.From, b.From) })
	for _, st := range l.steps {
		if st.From >= l.Hi {
			break
		}
		l.Lo = min(l.Lo, st.worth)
		l.Steps = append(l.Steps, st.OuterStep)
	}
	return l.OuterScale, nil
}

// try lowers Hi to what the packing number at g proves, and returns that.
func (l *outerLevel) try(ctx context.Context, g float64) (separation, error) {
	c, err := l.at(ctx, g)
	if err == nil {
		hi := directed.AddUp(c.from, directed.DivUp(directed.LogUp(float64(c.Hi)), l.Alpha))
		if hi < l.Hi {
			l.Hi, l.G, l.N = hi, c.from, c.Count
		}
	}
	return c, err
}

// add adds the step [from, to): where the packing number just below its end is N, it is
// worth from + ln(N)/alpha at least.
func (l *outerLevel) add(ctx context.Context, from, to float64) error {
	c, err := l.try(ctx, directed.Prev(to))
	worth := directed.AddDown(from, directed.DivDown(directed.LogDown(float64(c.Lo)), l.Alpha))
	l.steps = append(l.steps, outerStep{OuterStep{from, to, c.Separated}, worth, false})
	return err
}

// worst is the step of least bound below Hi that may be split, -1 without one.
func (l *outerLevel) worst() int {
	worst := -1
	for k, st := range l.steps {
		if !st.done && st.worth < l.Hi && (worst < 0 || st.worth < l.steps[worst].worth) {
			worst = k
		}
	}
	return worst
}

// settled reports whether no split of step k is worth while, because the gap between its
// worth and Hi is that of the packing numbers: the step is narrow beside it, and so is what
// its packing number lies below that of the step before.
func (l *outerLevel) settled(k int) bool {
	const part = 16
	st := l.steps[k]
	small := (l.Hi - st.worth) / part
	if st.To-st.From > small {
		return false
	}
	for _, before := range l.steps {
		if before.To == st.From {
			return math.Log(float64(len(before.Separated))/float64(len(st.Separated)))/l.Alpha <= small
		}
	}
	return false
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
