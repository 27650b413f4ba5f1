package assignment

import (
	"context"

	"slices"

	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

const (
	// The three auctions of Transport end at increments of lastStep times what separates the
	// ends of a list, each of a 10th of the one before. Larger ones would make the lists useless.
	lastStep  = 5e-4
	stepShare = 10
	// The work of mostPasses passes over the costs and mostWork numbers a row is the limit.
	mostPasses, mostWork = 6, 4096
)

// trials are the largest shares of the mass of columns that no row has after so many bids a row at first, and
// of what it was before: above there will be price wars, as in the plane, where the simplex does
// better.
var trials = [...]struct {
	bids         int
	share, ratio float64
}{{4, 0.5, 1}, {8, 1, 0.6}, {16, 0.1, 0.45}, {24, 1, 0.56}}

// Flow moves Mass from row I to column J at Cost a unit.
type Flow struct {
	I, J int32
	Mass int64
	Cost float64
}

// parcel is mass of a column that belongs to a row, or to none (-1), until another takes it
// at a potential below level. Those of a column are sorted, of the largest level first, which is
// the potential of the column.
type parcel struct {
	level, cost float64
	mass        int64
	row         int32
}

// Transport plans to move the masses src of the rows to those of the columns, dst, of the same
// total, all > 0, at nearly the least cost, and sets v, potentials of the columns to begin with,
// to those that go with it. It is an auction in which a row takes what others have of a column,
// at the highest levels first, for as long as no other column is better (Bertsekas and Castañon
// 1989). near are the pairs of least c - v of every row, ascending. Where it would take too long,
// or no pair is better than another, there is no plan.
func Transport(ctx context.Context, src, dst []int64, costs rows.Func, near []Flow, v []float64) ([]Flow, error) {
	n, m := len(src), len(dst)
	s := newSolver(n, m, costs)
	s.v = v
	for _, a := range near {
		l := &s.lists[a.I]
		l.pairs = append(l.pairs, pair{a.Cost - v[a.J], a.Cost, a.J})
	}
	for i := range s.lists {
		l := &s.lists[i]
		l.width = len(l.pairs)
		l.bound = l.pairs[l.width-1].r
	}
	columns := make([][]parcel, m)
	for j, mass := range dst {
		columns[j] = []parcel{{level: v[j], mass: mass, row: -1}}
	}
	left := slices.Clone(src)
	var free []int32 // those that have mass left
	alike := slices.Max(src) < 2*slices.Min(src)
	last := lastStep * s.spread()
	bids, tried, work, before := 0, 0, 0, 1.0
	most := float64(float64(n) * (float64(mostPasses*float64(m)) + mostWork))
	for eps := last * stepShare * stepShare; eps > last/2; eps /= stepShare {
		free = s.release(columns, eps, left, free[:0])
		for ; len(free) > 0; bids++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i := free[len(free)-1]
			free = free[:len(free)-1]
			j, c, r1, _, _, r2 := s.twoLeast(i)
			columns[j], free = take(columns[j], i, c, v[j]-(r2-r1)-eps, left, free)
			v[j] = columns[j][0].level
			if left[i] > 0 {
				free = append(free, i)
			}
			work += listWidth + len(columns[j])/4
			if tried < len(trials) && bids == trials[tried].bids*n {
				share := unasked(columns)
				if alike { // fewer bids should have done
					share *= 10
				}
				if share > trials[tried].share || share > max(0.001, trials[tried].ratio*before) {
					return nil, nil
				}
				before = share
				tried++
			}
			if float64(work)+float64(float64(s.remade)*float64(m)) > most || tried == 0 && s.remade > n {
				return nil, nil
			}
		}
		tried = len(trials)
	}
	var flows []Flow
	for j, parcels := range columns {
		for _, q := range parcels {
			if q.row < 0 { // last is 0
				return nil, nil
			}
			flows = append(flows, Flow{q.row, int32(j), q.mass, q.cost})
		}
	}
	return flows, nil
}

// unasked returns the share of mass that no row has.
func unasked(columns [][]parcel) float64 {
	none, all := 0.0, 0.0
	for _, parcels := range columns {
		for _, p := range parcels {
			all += float64(p.mass)
			if p.row < 0 {
				none += float64(p.mass)
			}
		}
	}
	return none / all
}

// take gives row i, at cost c, parcels above level, and of the first one in any case, up to what
// it has left. Rows that lose mass are free.
func take(parcels []parcel, i int32, c, level float64, left []int64, free []int32) ([]parcel, []int32) {
	mine, k := parcel{level: level, cost: c, row: i}, 0
	for ; k < len(parcels) && left[i] > 0 && (k == 0 || parcels[k].level > level); k++ {
		p := &parcels[k]
		if p.row == i {
			mine.mass += p.mass
			continue
		}
		part := min(left[i], p.mass)
		left[i] -= part
		mine.mass += part
		if p.row >= 0 {
			if left[p.row] == 0 {
				free = append(free, p.row)
			}
			left[p.row] += part
		}
		if p.mass -= part; p.mass > 0 {
			break
		}
	}
	at := k
	for at < len(parcels) && parcels[at].level > level {
		at++
	}
	if k > 0 { // there is room
		copy(parcels[k-1:], parcels[k:at])
		parcels[at-1] = mine
		return slices.Delete(parcels, 0, k-1), free
	}
	return slices.Insert(parcels, at, mine), free
}

// release sets all parcels of a column to its potential and takes from the rows those that cost
// them more than eps above the least. It returns the rows that have mass left.
func (s *solver) release(columns [][]parcel, eps float64, left []int64, free []int32) []int32 {
	limit := s.offset
	for i := range limit {
		_, _, r, _, _, _ := s.twoLeast(int32(i))
		limit[i] = r + eps
	}
	for j, parcels := range columns {
		none := parcel{level: s.v[j], row: -1}
		kept := parcels[:0]
		for _, p := range parcels {
			if p.level = s.v[j]; p.row >= 0 && p.cost-s.v[j] <= limit[p.row] {
				kept = append(kept, p)
				continue
			}
			none.mass += p.mass
			if p.row >= 0 {
				left[p.row] += p.mass
			}
		}
		if none.mass > 0 {
			kept = append(kept, none)
		}
		columns[j] = kept
	}
	for i, mass := range left {
		if mass > 0 {
			free = append(free, int32(i))
		}
	}
	return free
}
