package domain

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
)

// maxCuts is how many columns one level may cut in two, or bits it may have.
const maxCuts = 6

// schedule cuts the columns of a box level by level.
type schedule struct {
	columns     []column.Column
	plans       []column.Plan
	cuts, parts []int   // of each column, so far
	least       float64 // sides of cells are between this and twice it
	deeper      bool    // whether what need not be told apart is cut too
}

// splitLongest returns the splits of a box, down to the depth of [BoxOptions], or for 0 as
// deep as ints and float64 allow. Each level splits the longest column. A category or a
// depth of a taxonomy is split alone; numeric columns within a factor sqrt 2 of the longest
// are split together, so that cells stay nearly cubic and those of a cube have 2^d parts: the
// rule of package adaptive takes a level's bits for the dimension.
func splitLongest(op string, columns []column.Column, depth float64) (splits [][]int, err error) {
	s := &schedule{columns: columns, cuts: make([]int, len(columns)), parts: slices.Repeat([]int{1}, len(columns)), deeper: true}
	for _, c := range columns {
		s.plans = append(s.plans, c.Plan())
	}
	kept, err := requiredCells(op, s.plans)
	if err != nil {
		return nil, err
	}
	if depth > 0 {
		s.least = s.leastSide(depth)
	}
	for cells := 1.0; ; {
		group := s.nextGroup()
		if group == nil {
			break
		}
		row, k, must := slices.Repeat([]int{1}, len(columns)), 1.0, 1.0
		for _, a := range group {
			row[a] = s.nextArity(a)
			k *= float64(row[a])
			if s.cuts[a] < s.plans[a].Must {
				must *= float64(row[a])
			}
		}
		if cells*k*(kept/must) > maxCells {
			s.deeper = false
			if depth > 0 {
				return nil, &fault.MemoryError{Op: op, Bytes: 8 * cells * k * kept / must, Limit: 8 * maxCells}
			}
			continue
		}
		for _, a := range group {
			s.cuts[a]++
			s.parts[a] *= row[a]
		}
		cells, kept = cells*k, kept/must
		splits = append(splits, row)
	}
	for a, p := range s.plans {
		if depth > 0 && p.Divisible() && s.size(a).Diameter > 0 && s.size(a).Length > s.least {
			return nil, fault.Value(op, "Depth", depth, fmt.Sprintf("no more than float64 can resolve in column %d", a))
		}
	}
	return splits, nil
}

// requiredCells is the product of the arities of the cuts that must be made.
func requiredCells(op string, plans []column.Plan) (float64, error) {
	cells := 1.0
	for a, p := range plans {
		for l := range p.Must {
			cells *= float64(p.Arity(l))
		}
		if cells > maxCells {
			return 0, &fault.ValueError{Op: op, Arg: "columns", Index: a, Value: cells,
				Want: fmt.Sprintf("at most %d combinations of what it and the columns before have to tell apart", maxCells)}
		}
	}
	return cells, nil
}

// leastSide is the side of cells at a depth: see [BoxOptions].
func (s *schedule) leastSide(depth float64) float64 {
	sum, n := 0.0, 0.0
	for a, p := range s.plans {
		if p.Divisible() {
			sum += math.Log2(s.columns[a].Size(p.Must, max(1, 2*p.Must)).Length)
			n++
		}
	}
	return math.Exp2(sum/max(1, n)-depth) * (math.Sqrt2 * (1 + 1e-9))
}

// size is that of a part of a column as it is cut so far.
func (s *schedule) size(a int) column.Size { return s.columns[a].Size(s.cuts[a], s.parts[a]) }

// nextArity returns into how many parts the next cut divides a column, 1 where there is none.
func (s *schedule) nextArity(a int) int {
	p := &s.plans[a]
	k := p.Arity(s.cuts[a])
	if k == 0 {
		if k = 2; s.parts[a] > p.Most/2 {
			return 1
		}
	}
	if s.cuts[a] >= p.Must && !(s.deeper && s.size(a).Length > s.least) {
		return 1
	}
	return k
}

// nextGroup returns the columns that the next level splits, nil where there are none.
func (s *schedule) nextGroup() (group []int) {
	longest, most := -1, 0.0
	for a := range s.columns {
		if length := s.size(a).Length; s.nextArity(a) > 1 && (longest < 0 || length > most) {
			longest, most = a, length
		}
	}
	shared := func(a int) bool { return s.plans[a].Shared(s.cuts[a]) }
	switch {
	case longest < 0:
		return nil
	case !shared(longest):
		return []int{longest}
	}
	total := 0 // bits: 1 or 2 a column
	for a := range s.columns {
		if k := s.nextArity(a); k > 1 && shared(a) && s.size(a).Length*(math.Sqrt2*(1+1e-9)) >= most {
			group = append(group, a)
			total += k / 2
		}
	}
	// More than maxCuts take turns in groups of about equal size.
	share := (total-1)/((total-1)/maxCuts+1) + 1
	bits := 0
	return slices.DeleteFunc(group, func(a int) bool {
		bits += s.nextArity(a) / 2
		return bits > max(share, 2)
	})
}
