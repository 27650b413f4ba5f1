package metric

import "sync"

// Locator finds the members of a [Points] that lie nearest to any points. It searches a kd-tree
// where the space is an [Embedder] in at most 20 dimensions, as [Index] does, and scans otherwise,
// long vectors of [Float32] under [Euclidean] in float32 first. The answers are those of a plain
// scan.
//
// Queries must be points that the space's [Checker], if any, accepts. A Locator is immutable and
// safe for concurrent use, and its queries do not allocate.
type Locator[P any] struct {
	pool sync.Pool // of *visitor[P]
	scan func(x P) (i int, d float64, ok bool)
}

// NewLocator returns a locator for the points of p. O(n log n).
func NewLocator[P any](p *Points[P]) *Locator[P] {
	space, _ := p.space.(Embedder[P])
	tree, _ := treeOver(p, nil)
	l := new(Locator[P])
	l.pool.New = func() any {
		v := &visitor[P]{p: p, space: space}
		v.query = newQuery(tree, v)
		return v
	}
	if q, ok := any(p).(*Points[[]float32]); ok && q.space == Space[[]float32](Float32[Euclidean]{}) {
		if s := newScan(q.pts); s != nil {
			l.scan = any(s.nearest).(func(P) (int, float64, bool))
		}
	}
	return l
}

// Nearest returns the point nearest to x, the lowest i of several, and its distance.
func (l *Locator[P]) Nearest(x P) (i int, d float64) {
	if l.scan != nil {
		if i, d, ok := l.scan(x); ok {
			return i, d
		}
	}
	v := l.visit(x)
	defer l.leave(v)
	v.nearest(1, nobody, -1)
	return v.best[0].i, v.best[0].d
}

// Within appends to dst, in ascending order, all points at a distance <= r
// from x, and returns it.
func (l *Locator[P]) Within(x P, r float64, dst []int) []int {
	v := l.visit(x)
	defer l.leave(v)
	return v.ball(r, dst)
}

func (l *Locator[P]) visit(x P) *visitor[P] {
	v, ok := l.pool.Get().(*visitor[P])
	if !ok {
		panic("metric: a Locator without points: NewLocator makes one")
	}
	v.at = x
	if v.tree != nil {
		v.coords = v.space.Append(v.coords[:0], x)
		v.tree.Normalize(v.coords)
		v.aim(v.coords)
	}
	return v
}

func (l *Locator[P]) leave(v *visitor[P]) {
	var none P
	v.at = none // do not keep it alive
	l.pool.Put(v)
}

// visitor is a query from a point outside, which it measures from.
type visitor[P any] struct {
	*query
	p      *Points[P]
	space  Embedder[P]
	at     P
	coords []float64
}

func (v *visitor[P]) Len() int                  { return v.p.Len() }
func (v *visitor[P]) Distance(_, j int) float64 { return v.p.space.Distance(v.at, v.p.pts[j]) }
