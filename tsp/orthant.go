package tsp

import (
	"context"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

const (
	// mostOrthants is the largest dimension in which orthants are few.
	mostOrthants = 3
	// perOrthant is how many points are sought in each.
	perOrthant = 2
)

// orthants returns for each point those nearest by the norm in each orthant around it, or nil if f
// does not sit in a space of few dimensions. O(n log n) for points that are spread out.
func orthants(ctx context.Context, f metric.Finite) ([][]int32, error) {
	if finite.Dim(f) > mostOrthants {
		return nil, nil
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.Dim > mostOrthants || len(e.Coords) != e.Dim*f.Len() {
		return nil, nil
	}
	t := kdtree.New(e.Coords, e.Dim, e.P, e.FromNorm, nil)
	if t == nil {
		return nil, nil
	}
	out := make([][]int32, t.N)
	err := parallel.Chunks(ctx, t.N, 256, 0, nil, func(_, lo, hi int) {
		o := orthant{t: t, gaps: make([]float64, t.Dim)}
		for a := lo; a < hi; a++ {
			o.x = t.At(a)
			i := t.ID[a]
			for o.below = range 1 << t.Dim {
				o.n = 0
				o.search(1, 0, t.N)
				out[i] = append(out[i], o.id[:o.n]...)
			}
		}
	})
	return out, err
}

// orthant is a search for the points nearest to x among those whose coordinates are less than those
// of x along the axes in below, a set of bits, and not less along the others.
type orthant struct {
	t     *kdtree.Tree
	x     []float64
	below int
	gaps  []float64

	n    int // found so far, the nearest first
	id   [perOrthant]int32
	norm [perOrthant]float64
}

// search looks at the points of node, the places from lo to hi.
func (o *orthant) search(node, lo, hi int) {
	least, most := o.t.Box(node)
	for a, v := range o.x {
		if o.below>>a&1 == 0 && most[a] < v || o.below>>a&1 != 0 && least[a] >= v {
			return
		}
	}
	if o.n == perOrthant && o.t.BoxMin(node, o.x, o.gaps) >= o.norm[o.n-1] {
		return
	}
	if l, r, mid := 2*node, 2*node+1, (lo+hi)/2; node < o.t.Leaves {
		if o.t.BoxMin(l, o.x, o.gaps) <= o.t.BoxMin(r, o.x, o.gaps) {
			o.search(l, lo, mid)
			o.search(r, mid, hi)
		} else {
			o.search(r, mid, hi)
			o.search(l, lo, mid)
		}
		return
	}
	for b := lo; b < hi; b++ {
		if o.has(o.t.At(b)) {
			o.offer(o.t.ID[b], o.t.Norm(b, o.x, o.gaps))
		}
	}
}

// has reports whether y lies in the orthant and is not x.
func (o *orthant) has(y []float64) bool {
	same := true
	for a, v := range o.x {
		if (y[a] < v) != (o.below>>a&1 != 0) {
			return false
		}
		same = same && y[a] == v
	}
	return !same
}

func (o *orthant) offer(id int32, norm float64) {
	k := o.n
	if k < perOrthant {
		o.n++
	} else if k--; norm >= o.norm[k] {
		return
	}
	for ; k > 0 && o.norm[k-1] > norm; k-- {
		o.id[k], o.norm[k] = o.id[k-1], o.norm[k-1]
	}
	o.id[k], o.norm[k] = id, norm
}
