package simplex

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/wasserstein/internal/prices"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

type arc struct {
	i, j int32 // nodes: j counts from n
	c    float64
}

// costs finds arcs by their reduced costs.
type costs interface {
	// least returns, source by source and in ascending order, the arcs of least c - v, v being
	// potentials of the sinks: those below the limit of the source, and at most k.
	least(v []float64, k int, limit func(i int) float64) ([]arc, error)
	// rest is a set of sinks, given as nodes. best returns that of least c - v for source i, v
	// being the start potentials.
	rest(sinks []int32) (best func(i int32) (j int32, c float64, err error), remove func(j int32))
	// reduce sets the costs of a problem between some of the sources and sinks.
	reduce(half *solver, src, dst []int) error
	// extend sets all start potentials to those that go with v, of the sinks dst.
	extend(dst []int, v []float64) error
}

// scan reads rows of costs.
type scan struct {
	*solver
	checked bool // the costs were found to be in their domain
}

func (s *scan) each(f func(i int, row []float64)) error {
	return rows.Each(s.ctx, s.Costs, s.n, s.m, s.Workers, f)
}

// least scans from sinks spread evenly, so that ties do not all go to the same
// few. The first call checks all costs on the way.
func (s *scan) least(v []float64, k int, limit func(i int) float64) ([]arc, error) {
	k = min(k, s.m)
	lists, bad := make([][]arc, s.n), make([]*rows.BadCost, s.n)
	err := s.each(func(i int, row []float64) {
		if !s.checked {
			if _, j := rows.Largest(row); j >= 0 {
				bad[i] = &rows.BadCost{I: i, J: j, Value: row[j]}
				return
			}
		}
		list, most := make([]arc, 0, k), limit(i)
		scan := func(lo, hi int) {
			for j, c := range row[lo:hi] {
				if c -= v[lo+j]; c < most {
					list, most = insert(list, arc{int32(i), int32(s.n + lo + j), c}, most)
				}
			}
		}
		from := i * s.m / s.n
		scan(from, s.m)
		scan(0, from)
		for p := range list {
			list[p].c = row[int(list[p].j)-s.n]
		}
		lists[i] = list
	})
	if err != nil {
		return nil, err
	}
	for _, b := range bad {
		if b != nil {
			return nil, b
		}
	}
	s.checked = true
	return slices.Concat(lists...), nil
}

// insert puts a into a full or growing list that ascends by c, and returns its limit.
func insert(list []arc, a arc, limit float64) ([]arc, float64) {
	p := min(len(list), cap(list)-1)
	list = list[:p+1]
	for ; p > 0 && list[p-1].c > a.c; p-- {
		list[p] = list[p-1]
	}
	list[p] = a
	if len(list) == cap(list) {
		limit = list[len(list)-1].c
	}
	return list, limit
}

func (s *scan) rest(sinks []int32) (best func(i int32) (j int32, c float64, err error), remove func(j int32)) {
	buf, of := make([]float64, s.m), int32(-1) // of: the source of row
	var row []float64
	best = func(i int32) (j int32, c float64, err error) {
		if of != i {
			row, of = s.Costs(int(i), buf), i
		}
		least := math.Inf(1)
		for _, k := range sinks {
			if d := row[int(k)-s.n] - s.Start[k]; d < least {
				least, j = d, k
			}
		}
		return j, row[int(j)-s.n], nil
	}
	return best, func(j int32) {
		last := len(sinks) - 1
		sinks[slices.Index(sinks, j)] = sinks[last]
		sinks = sinks[:last]
	}
}

// reduce costs a pass over the costs beside the small problem.
func (s *scan) reduce(half *solver, src, dst []int) (err error) {
	half.Costs = rows.Select(s.Costs, s.m, src, dst)
	if !s.Lazy {
		var flat []float64
		flat, err = rows.Store(s.ctx, half.Costs, half.n, half.m, s.Workers)
		half.Costs = rows.Stored(flat, half.m)
	}
	half.costs = &scan{solver: half, checked: s.checked}
	return err
}

func (s *scan) extend(dst []int, v []float64) error {
	u := s.Start[:s.n]
	return rows.Potentials(s.ctx, s.Costs, s.n, s.m, s.Workers, s.Start[s.n:], func(i int, row []float64) float64 {
		u[i] = math.Inf(1)
		for k, j := range dst {
			u[i] = min(u[i], row[j]-v[k])
		}
		return u[i]
	})
}

// near searches a Space.
type near struct{ *solver }

func (s *near) least(v []float64, k int, limit func(i int) float64) ([]arc, error) {
	k = min(k, s.m)
	lists := make([][]arc, s.n)
	w := prices.None(s.n + s.m)
	copy(w[s.n:], v)
	p := s.Space.NewPrices(w)
	err := parallel.Chunks(s.ctx, s.n, prices.Chunk, s.Workers, nil, func(_, lo, hi int) {
		search, hits := p.NewSearch(), make([]prices.Hit, 0, k)
		for i := lo; i < hi; i++ {
			hits = search.Least(int32(i), limit(i), hits)
			for _, h := range hits {
				lists[i] = append(lists[i], arc{int32(i), h.ID, h.C})
			}
		}
	})
	return slices.Concat(lists...), err
}

func (s *near) rest(sinks []int32) (best func(i int32) (j int32, c float64, err error), remove func(j int32)) {
	w := prices.None(s.n + s.m)
	for _, j := range sinks {
		w[j] = s.Start[j]
	}
	p := s.Space.NewPrices(w)
	search, one := p.NewSearch(), make([]prices.Hit, 0, 1)
	return func(i int32) (j int32, c float64, err error) {
		one = search.Least(i, math.Inf(1), one)
		if len(one) == 0 { // only where a distance is no number
			return 0, 0, &rows.BadCost{I: int(i), J: int(sinks[0]) - s.n, Value: math.NaN()}
		}
		return one[0].ID, one[0].C, nil
	}, p.Remove
}

func (s *near) reduce(half *solver, src, dst []int) error {
	ids := make([]int32, 0, len(src)+len(dst))
	for _, i := range src {
		ids = append(ids, int32(i))
	}
	for _, j := range dst {
		ids = append(ids, int32(s.n+j))
	}
	half.Space, half.costs = s.Space.Subset(ids), &near{half}
	return s.ctx.Err()
}

func (s *near) extend(dst []int, v []float64) error {
	w := prices.None(s.n + s.m)
	for k, j := range dst {
		w[s.n+j] = v[k]
	}
	p := s.Space.NewPrices(w)
	if err := p.Slacks(s.ctx, s.Space, 0, s.Start[:s.n], s.Workers); err != nil {
		return err
	}
	w = prices.None(s.n + s.m)
	copy(w, s.Start[:s.n])
	p.Reset(w)
	return p.Slacks(s.ctx, s.Space, s.n, s.Start[s.n:], s.Workers)
}
