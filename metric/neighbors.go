package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// neighborChunk is how many points a worker takes at a time.
const neighborChunk = 256

// NearestNeighbors returns the k nearest neighbors of every point: those of
// point i are entries [i*k, (i+1)*k) of the result, as [Index.Neighbors] lists
// them. k must lie in [1, Len()-1] ([*ValueError]); distances that are not
// numbers, where they leave a point too few neighbors, are a [*Violation]. n
// queries of an [Index].
func NearestNeighbors(ctx context.Context, f Finite, k int) ([]int, error) {
	const op = "metric: NearestNeighbors"
	n := fault.Len(f)
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if k < 1 || k >= n {
		return nil, fault.Value(op, "k", float64(k), fmt.Sprintf("an integer in [1, %d]", n-1))
	}
	return nearestNeighbors(ctx, op, f, k)
}

func nearestNeighbors(ctx context.Context, op string, f Finite, k int) ([]int, error) {
	n := f.Len()
	if err := fault.Memory(op, float64(n)*float64(k), 8); err != nil {
		return nil, err
	}
	ix, out := NewIndex(f), make([]int, n*k)
	err := search(ctx, op, n, neighborChunk, 0, nil, func(_, lo, hi int) *Violation {
		for h := lo; h < hi && ctx.Err() == nil; h++ {
			i := ix.ordered(h)
			if slices.Contains(ix.Neighbors(i, k, out[i*k:i*k:(i+1)*k]), -1) { // nobody
				return unordered(f, i)
			}
		}
		return nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	return out, nil
}

// unordered finds the distance from i that is not a number, for which too few
// of the others were nearest.
func unordered(f Finite, i int) *Violation {
	for j := range f.Len() {
		if d := f.Distance(i, j); math.IsNaN(d) || math.IsInf(d, 0) {
			return &Violation{Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
		}
	}
	return &Violation{Axiom: FiniteValue, I: i, J: i, K: -1, Excess: math.NaN()}
}

// ReverseNeighbors returns for every point v, in ascending order, the points
// that count v among their r nearest: I_NN,r(v) of IKWAT22. A point is the
// first of its own r nearest, so r = 1 gives the sets {v}, and the others are
// those of [NearestNeighbors] for r-1; v is thus in its own set always, r
// points are on average, and r = Len() gives all of them. r must lie in
// [1, Len()] ([*ValueError]). n queries of an [Index]; the result holds n*r
// indices.
func ReverseNeighbors(ctx context.Context, f Finite, r int) ([][]int, error) {
	const op = "metric: ReverseNeighbors"
	n := fault.Len(f)
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if r < 1 || r > n {
		return nil, fault.Value(op, "r", float64(r), fmt.Sprintf("an integer in [1, %d]", n))
	}
	if err := fault.Memory(op, float64(n)*float64(r), 8); err != nil {
		return nil, err
	}
	k := r - 1
	var near []int
	if k > 0 {
		var err error
		if near, err = nearestNeighbors(ctx, op, f, k); err != nil {
			return nil, err
		}
	}
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
