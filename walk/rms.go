package walk

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// A partial sum S_k adds up the noise of the leaves 0 to k. The noise of a node
// v reaches it through the children of v: c of them lie in 0..k altogether, and
// of the next one the share phi, which is the product of what equal division
// gives further down. With covariance s*(I - J/m) over the m children, v adds
//
//	s * (c + phi^2 - (c+phi)^2/m)
//
// to the variance of S_k, and (c+phi)/m is the share of v itself. Nodes not above k add nothing.

// climb calls f for each node above leaf k, from the bottom, with that factor
// of s, and returns the share of the root.
func (t *Tree) climb(k int, f func(v int32, square float64)) float64 {
	v, phi := t.leaf[k], 1.0
	for p := t.parent[v]; p >= 0; p = t.parent[v] {
		c := float64(v - t.first[p])
		m := float64(t.first[p+1] - t.first[p])
		x := c + phi
		f(p, c+float64(phi*phi)-x*x/m)
		v, phi = p, x/m
	}
	return phi
}

// Variances writes to dst, of length Len(), the variance of each partial sum of
// [Walk.Increments]: dst[k] = E S_k^2, S_k the sum of increments 0 to k. Closed
// form, no simulation. O(n * height), on all cores.
func (w *Walk) Variances(dst []float64) error {
	const op = "walk: Walk.Variances"
	if err := w.check(op); err != nil {
		return err
	}
	if err := fault.Size(op, "dst", len(dst), w.tree.Len()); err != nil {
		return err
	}
	t := w.tree
	s := make([]float64, t.Nodes()) // [Noise.Variance] of each node
	for l, noise := range w.level {
		unit := noise.singleVariance()
		lo, hi := t.Level(l)
		for v := lo; v < hi; v++ {
			s[v] = unit * shape(w.dist, int(t.first[v+1]-t.first[v]))
		}
	}
	total := w.totalVariance()
	// The error is that of the context, which does not end.
	_ = parallel.Chunks(context.Background(), len(dst), 1<<12, 0, nil, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			sum := 0.0
			phi := t.climb(k, func(v int32, square float64) { sum += float64(s[v] * square) })
			dst[k] = sum + float64(total*phi*phi)
		}
	})
	return nil
}

// RMS returns the root of the mean over the leaves k of E S_k^2, weighted by gaps, numbers >= 0 and
// not all 0, or unweighted where gaps is nil: the walk's error as a measure on the line, its leaves
// at these distances. Cost as [Walk.Variances].
func (w *Walk) RMS(gaps []float64) (float64, error) {
	const op = "walk: Walk.RMS"
	if err := w.check(op); err != nil {
		return 0, err
	}
	if gaps != nil {
		if err := cmp.Or(fault.Size(op, "gaps", len(gaps), w.tree.Len()), fault.AllNonNegative(op, "gaps", gaps)); err != nil {
			return 0, err
		}
	}
	v := make([]float64, w.tree.Len())
	if err := w.Variances(v); err != nil {
		return 0, err
	}
	if gaps != nil && floats.Max(gaps) == 0 {
		return 0, fault.Value(op, "sum of gaps", 0, "a number > 0")
	}
	return math.Sqrt(stat.Mean(v, gaps)), nil
}
