package simplex

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

type arc struct {
	i, j int32 // nodes: j counts from n
	c    float64
}

const (
	// listWidth is the length of the short lists: shorter ones miss arcs,
	// longer ones cost more to scan.
	listWidth = 20
	// goodCover is the share of the mass that the start must move along short
	// lists for them to count as a good choice.
	goodCover = 0.5
	// smallSide is the size below which a sample is not worth solving.
	smallSide = 64
)

// shortlist sets arcs to those of least c - v at every source, v being the
// start potentials of the sinks, and checks all costs on the way. The scans
// begin at sinks spread evenly, so that ties do not all go to the same few.
func (s *solver) shortlist() error {
	k := min(listWidth, s.m)
	s.arcs = slices.Grow(s.arcs[:0], 2*k*s.n)[:k*s.n]
	bad := make([]*rows.BadCost, s.n)
	v := s.Start[s.n:]
	err := s.eachRow(func(i int, row []float64) {
		if _, j := rows.Largest(row); j >= 0 {
			bad[i] = &rows.BadCost{I: i, J: j, Value: row[j]}
			return
		}
		list, limit := s.arcs[i*k:i*k:(i+1)*k], math.Inf(1)
		scan := func(lo, hi int) {
			for j, c := range row[lo:hi] {
				if c -= v[lo+j]; c < limit {
					list, limit = insert(list, arc{int32(i), int32(s.n + lo + j), c}, limit)
				}
			}
		}
		from := i * s.m / s.n
		scan(from, s.m)
		scan(0, from)
		for p := range list {
			list[p].c = row[int(list[p].j)-s.n]
		}
	})
	if err != nil {
		return err
	}
	for _, b := range bad {
		if b != nil {
			return b
		}
	}
	return nil
}

// insert puts a into a full or growing list that ascends by c, and returns its
// limit.
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

// greedy returns the basis that takes arcs by reduced cost as they come: first
// those of the short lists, then for each source that has mass left the best
// sinks that are left. Every arc but the last empties just one of its nodes
// (general position), so the arcs are a spanning tree. covered is the share of
// the mass that the short lists moved.
func (s *solver) greedy() (edges []edge, covered float64, err error) {
	type keyed struct {
		key float64
		arc int32
	}
	order := make([]keyed, len(s.arcs))
	for k, a := range s.arcs {
		order[k] = keyed{a.c - s.Start[a.i] - s.Start[a.j], int32(k)}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.arc, b.arc)) })
	left := slices.Clone(s.units)
	edges = make([]edge, 0, s.n+s.m-1)
	moved, all := 0.0, 0.0
	use := func(i, j int32, c float64) {
		f := min(left[i], left[j])
		left[i] -= f
		left[j] -= f
		moved += float64(f)
		edges = append(edges, edge{i, j, f, c})
	}
	for _, o := range order {
		if a := &s.arcs[o.arc]; left[a.i] > 0 && left[a.j] > 0 {
			use(a.i, a.j, a.c)
		}
	}
	covered = moved
	var rest []int32
	for j := s.n; j < s.n+s.m; j++ {
		if left[j] > 0 {
			rest = append(rest, int32(j))
		}
	}
	buf := make([]float64, s.m)
	for i := range s.n {
		all += float64(s.units[i])
		if left[i] == 0 {
			continue
		}
		if err := s.ctx.Err(); err != nil {
			return nil, 0, err
		}
		row := s.Costs(i, buf)
		for left[i] > 0 {
			best, at := math.Inf(1), 0
			for q, j := range rest {
				if r := row[int(j)-s.n] - s.Start[j]; r < best {
					best, at = r, q
				}
			}
			j := rest[at]
			use(int32(i), j, row[int(j)-s.n])
			if left[j] == 0 {
				rest[at] = rest[len(rest)-1]
				rest = rest[:len(rest)-1]
			}
		}
	}
	return edges, covered / all, nil
}

// sample sets the start potentials to those of a problem of half the size: of
// every two neighboring sources the heavier stands for both, and so for sinks.
// They are extended to all sources, as u_i = min over the sampled j of c_ij-v_j,
// and then to all sinks. It costs a pass over the costs beside the small
// problem, and is worth it where short lists by cost alone go wrong: where the
// measures are far apart, so that everybody's nearest sinks are the same.
func (s *solver) sample() error {
	n, m := (s.n+1)/2, (s.m+1)/2
	half := &solver{Problem: Problem{Workers: s.Workers, Lazy: s.Lazy}, ctx: s.ctx, n: n, m: m}
	rep := func(lo, count, of int) (at []int) {
		for k := range count {
			v := lo + 2*k
			sum := s.units[v]
			if 2*k+1 < of {
				sum += s.units[v+1]
				if s.units[v+1] > s.units[v] {
					v++
				}
			}
			at = append(at, v-lo)
			half.units = append(half.units, sum)
		}
		return at
	}
	src, dst := rep(0, n, s.n), rep(s.n, m, s.m)
	// The sums are in general position as they are: the perturbations of the
	// sources are still > 0 with total s.n < K.
	half.Costs = rows.Select(s.Costs, s.m, src, dst)
	if !s.Lazy {
		var err error
		if half.Costs, err = rows.Store(s.ctx, half.Costs, n, m, s.Workers); err != nil {
			return err
		}
	}
	if err := half.solve(); err != nil {
		return err
	}
	u, v := s.Start[:s.n], s.Start[s.n:]
	return rows.Potentials(s.ctx, s.Costs, s.n, s.m, s.Workers, v, func(i int, row []float64) float64 {
		u[i] = math.Inf(1)
		for k, j := range dst {
			u[i] = min(u[i], row[j]+half.tree.pi[n+k])
		}
		return u[i]
	})
}
