package parallel

import (
	"context"
	"slices"
)

const (
	sortBlock = 1 << 14 // elements that are sorted in one go
	mergePart = 1 << 16 // and merged between two looks at the context
)

// Sort is slices.SortFunc for a strict order without ties, on every core. The error
// is the context's, and x is then in no order, its elements some of them lost.
func Sort[T any](ctx context.Context, x []T, compare func(a, b T) int) error {
	err := Chunks(ctx, len(x), sortBlock, 0, nil, func(_, lo, hi int) { slices.SortFunc(x[lo:hi], compare) })
	from, to := x, []T(nil)
	for size := sortBlock; size < len(x) && err == nil; size *= 2 {
		if to == nil {
			to = make([]T, len(x))
		}
		err = Chunks(ctx, len(x), 2*size, 0, nil, func(_, lo, hi int) {
			mid := min(lo+size, hi)
			merge(ctx, to[lo:hi], from[lo:mid], from[mid:hi], compare)
		})
		from, to = to, from
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(x) > 0 && &from[0] != &x[0] {
		copy(x, from)
	}
	return err
}

// merge merges the sorted a and b to dst, or part of them where the context ends.
func merge[T any](ctx context.Context, dst, a, b []T, compare func(a, b T) int) {
	for k := range dst {
		if k%mergePart == 0 && ctx.Err() != nil {
			return
		}
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			dst[k], a = a[0], a[1:]
		} else {
			dst[k], b = b[0], b[1:]
		}
	}
}
