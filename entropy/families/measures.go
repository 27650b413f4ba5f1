package families

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Measures is the net of BSV24 Lemma A.1: all probability measures on a finite space whose
// weights are multiples of 1/m, in lexicographic order of their weights, made when asked
// for. Under W1 every probability measure has one within [Measures.CoveringRadius]. Pair
// [Measures.TotalVariation] (or W1) for privacy with [Measures.Wasserstein] for loss. A
// Measures is immutable and safe for concurrent use.
type Measures struct {
	f    *metric.Dense
	m    int
	tree float64 // the length of a minimum spanning tree, rounded up
	diam float64 // the diameter of f
	// count[k][s] is the number of ways to write s as a sum of k terms >= 0,
	// which is C(s+k-1, k-1).
	count [][]int
}

// MeasureNet returns the net of the measures on f with weights in multiples of
// 1/m, m >= 1: C(n+m-1, m) of them on n points. A net that would take more than
// the module's memory limit to list is a [*metric.MemoryError]. O(n^2 + n*m).
func MeasureNet(ctx context.Context, f metric.Finite, m int) (*Measures, error) {
	const op = "families: MeasureNet"
	n := fault.Len(f)
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if m < 1 {
		return nil, fault.Value(op, "m", float64(m), "at least 1")
	}
	total := 1.0
	for k := 1; k < n && total < 1e300; k++ { // times (m+k)/k
		total *= 1 + float64(m)/float64(k)
	}
	if err := fault.Memory(op, float64(total*float64(n))+float64(float64(n)*float64(m)), 8); err != nil {
		return nil, err
	}
	d, err := metric.Densify(ctx, f)
	if err != nil {
		return nil, err
	}
	s := &Measures{f: d, m: m, count: make([][]int, n+1)}
	for k := range s.count {
		s.count[k] = make([]int, m+1)
		s.count[k][0] = 1
		for v := 1; v <= m && k > 0; v++ {
			s.count[k][v] = s.count[k][v-1] + s.count[k-1][v]
		}
	}
	u, err := metric.Subdominant(ctx, d)
	if err != nil {
		return nil, err
	}
	if s.diam, _, _, err = metric.Diameter(ctx, d); err != nil {
		return nil, err
	}
	for _, h := range u.Heights() { // the edges of the tree, by single linkage
		s.tree = directed.AddUp(s.tree, h)
	}
	return s, nil
}

// Len returns the number of measures.
func (s *Measures) Len() int { return s.count[s.f.Len()][s.m] }

// Measure returns the weights of measure i, in dst where its capacity allows. O(n log m).
func (s *Measures) Measure(i int, dst []float64) []float64 {
	n := s.f.Len()
	dst = slices.Grow(dst[:0], n)[:n]
	s.each(i, func(p, c int) { dst[p] = float64(c) / float64(s.m) })
	return dst
}

// each calls yield with every point and its weight in measure i, in units of 1/m.
func (s *Measures) each(i int, yield func(p, c int)) {
	if i < 0 || i >= s.Len() {
		panic(fmt.Sprintf("families: Measures: index %d out of range [0, %d)", i, s.Len()))
	}
	rest := s.m
	for p := range s.f.Len() {
		// The measures with less than c at p are ways[rest]-ways[rest-c] of
		// those that agree so far.
		ways := s.count[s.f.Len()-p]
		c := sort.Search(rest, func(c int) bool { return ways[rest]-ways[rest-c-1] > i })
		i -= ways[rest] - ways[rest-c]
		rest -= c
		yield(p, c)
	}
}

// The two radii of CoveringRadius. The first: let T be the tree, in preorder, F the
// cumulative weights times m in that order and G_U = floor(F + U), U uniform on [0, 1). A
// subtree is a run of the order, so it has mass b = F(j) - F(i) and gets G_U(j) - G_U(i),
// which is floor(b) or ceil(b) with mean b; the error has mean 2r(1-r) <= 1/2, r the
// fraction of b. Moving mass along the tree costs the sum over its edges of length times
// error below the edge: at most MST/(2m) on average over U, so for some U.
//
// The second: round the R largest fractions of m*p up and the others down, R their sum. Their mean
// is R/n, so those rounded up miss at most R(1-R/n) <= floor(n^2/4)/n in all: that over m is the
// mass that moves, by at most the diameter.

// CoveringRadius returns a number r such that every probability measure on the
// n points has W1 at most r from a measure of the net: the smaller of
//
//	MST/(2m)  and  diameter*floor(n^2/4)/(n*m),
//
// MST the length of a minimum spanning tree of f. Rounded up.
func (s *Measures) CoveringRadius() float64 {
	n, m := float64(s.f.Len()), float64(s.m)
	return min(directed.DivUp(s.tree, 2*m), directed.DivUp(directed.MulUp(s.diam, math.Floor(n*n/4)), n*m))
}

// TotalVariation returns the net under the total variation distance, computed
// when asked for in O(n). It lists the measures: O(n*Len()) memory.
func (s *Measures) TotalVariation(ctx context.Context) (metric.Finite, error) {
	all := make([][]float64, s.Len())
	const pause = 1024 // measures between two looks at ctx
	for i := range all {
		if i%pause == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all[i] = s.Measure(i, nil)
	}
	return metric.NewPoints(all, metric.TotalVariation{})
}

// Wasserstein returns the net under W1, the distances of package wasserstein, right to about 15
// digits. O(Len()^2) time and memory; too much is a [*metric.MemoryError].
func (s *Measures) Wasserstein(ctx context.Context, o *scale.Options) (*metric.Dense, error) {
	const op = "families: Measures.Wasserstein"
	o = spaces.OrDefault(o)
	n, size := s.f.Len(), s.Len()
	pairs := float64(size) * float64(size-1) / 2
	if err := fault.Memory(op, pairs, 8); err != nil {
		return nil, err
	}
	weights := make([]int32, size*n)
	for i := range size {
		s.each(i, func(p, c int) { weights[i*n+p] = int32(c) })
	}
	// Differences up to sign are numbered as they occur. Until the costs are
	// known upper holds their numbers.
	upper := make([]float64, 0, int(pairs))
	number := make(map[string]int)
	var first [][2]int // a pair that has the difference
	key := make([]byte, 0, 4*n)
	for i := range size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := i + 1; j < size; j++ {
			// In lexicographic order j's first other weight is the larger.
			key = key[:0]
			for p := range n {
				v := weights[j*n+p] - weights[i*n+p]
				key = append(key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
			}
			k, ok := number[string(key)]
			if !ok {
				k = len(first)
				number[string(key)] = k
				first = append(first, [2]int{i, j})
			}
			upper = append(upper, float64(k))
		}
	}
	cost := make([]float64, len(first))
	errs := make([]error, len(first))
	err := parallel.Chunks(ctx, len(first), 64, o.Workers, o.Progress, func(_, lo, hi int) {
		var mu, nu []float64
		for k := lo; k < hi; k++ {
			mu, nu = s.Measure(first[k][0], mu), s.Measure(first[k][1], nu)
			r, err := wasserstein.W1(ctx, s.f, mu, nu, &wasserstein.Options{Workers: 1})
			if errs[k] = err; err == nil {
				cost[k] = r.Upper
			}
		}
	})
	if err = cmp.Or(err, cmp.Or(errs...)); err != nil {
		return nil, err
	}
	for i, k := range upper {
		upper[i] = cost[int(k)]
	}
	return metric.NewDense(size, upper)
}
