package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// NearestNeighbors returns the k nearest neighbors of every point: those of point i are entries
// [i*k, (i+1)*k), as [Index.Neighbors] lists them. k must lie in [1, Len()-1] ([*ValueError]); NaN
// distances that leave a point too few neighbors are a [*Violation]. n queries.
func (ix *Index) NearestNeighbors(ctx context.Context, k int) ([]int, error) {
	return ix.nearestNeighbors(ctx, "metric: Index.NearestNeighbors", "k", k, 0)
}

// nearestNeighbors finds the count nearest, of which itself are the point.
func (ix *Index) nearestNeighbors(ctx context.Context, op, arg string, count, itself int) ([]int, error) {
	n := ix.Len()
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if most := n - 1 + itself; count < 1 || count > most {
		return nil, fault.Value(op, arg, float64(count), fmt.Sprintf("an integer in [1, %d]", most))
	}
	if err := fault.Memory(op, float64(n)*float64(count), 8); err != nil {
		return nil, err
	}
	k := count - itself
	out := make([]int, n*k)
	err := search(ctx, op, n, 256, 0, nil, func(_, lo, hi int) *Violation {
		for h := lo; h < hi && ctx.Err() == nil; h++ {
			i := ix.ordered(h)
			if slices.Contains(ix.Neighbors(i, k, out[i*k:i*k:(i+1)*k]), -1) { // nobody
				return unordered(ix.f, i)
			}
		}
		return nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	return out, nil
}

// unordered finds the distance from i for which too few of the others were nearest.
func unordered(f Finite, i int) *Violation {
	for j := range f.Len() {
		if d := f.Distance(i, j); math.IsNaN(d) || math.IsInf(d, 0) {
			return &Violation{Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
		}
	}
	return &Violation{Axiom: FiniteValue, I: i, J: i, K: -1, Excess: math.NaN()}
}

// ReverseNeighbors returns for every point v, in ascending order, the points that count v among
// their r nearest, themselves included: I_NN,r(v) of IKWAT22, (5). r must lie in [1, Len()]
// ([*ValueError]). n queries; the result holds n*r indices.
func (ix *Index) ReverseNeighbors(ctx context.Context, r int) ([][]int, error) {
	near, err := ix.nearestNeighbors(ctx, "metric: Index.ReverseNeighbors", "r", r, 1)
	if err != nil {
		return nil, err
	}
	n, k := ix.Len(), r-1
	size := slices.Repeat([]int{1}, n)
	for _, v := range near {
		size[v]++
	}
	all, sets := make([]int, n*r), make([][]int, n)
	for v, s := range size {
		sets[v], all = all[:0:s], all[s:]
	}
	for u := range n {
		sets[u] = append(sets[u], u)
		for _, v := range near[u*k : (u+1)*k] {
			sets[v] = append(sets[v], u)
		}
	}
	return sets, nil
}
