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

// turns cuts columns in turn, down to the depth of [BoxOptions], or for 0 as deep
// as ints and float64 allow; names says which columns there are, for errors. A
// level is a category or a taxonomy that is the longest column left, alone, or one
// cut each of all numbers within a factor sqrt 2 of the longest: so cells are near
// to cubes, and those of a cube have 2^d parts, as the rule of package adaptive
// takes a level's bits for the dimension. What has to be told apart has room kept.
func turns(op string, columns []column.Column, depth float64) (splits [][]int, err error) {
	cuts, parts := make([]int, len(columns)), slices.Repeat([]int{1}, len(columns))
	kept := 1.0 // the cells that what has still to be told apart multiplies by
	for a, c := range columns {
		for l := range c.Must() {
			kept *= float64(c.Arity(l))
		}
		if kept > maxCells {
			return nil, &fault.ValueError{Op: op, Arg: "columns", Index: a, Value: kept,
				Want: fmt.Sprintf("at most %d combinations of what it and the columns before have to tell apart", maxCells)}
		}
	}
	least := 0.0 // cells have sides between this and twice it
	if depth > 0 {
		sum, n := 0.0, 0.0
		for _, c := range columns {
			if c.Arity(c.Must()) != 1 {
				sum += math.Log2(c.Length(c.Must(), max(1, 2*c.Must())))
				n++
			}
		}
		least = math.Exp2(sum/max(1, n)-depth) * (math.Sqrt2 * (1 + 1e-9))
	}
	for cells, deeper := 1.0, true; ; {
		// arity of the next cut of a column, 1 where there is none.
		arity := func(a int) int {
			c := columns[a]
			k := c.Arity(cuts[a])
			if k == 0 {
				k = 2
				if parts[a] > c.Finest()/2 {
					return 1
				}
			}
			if cuts[a] >= c.Must() && (!deeper || !(c.Length(cuts[a], parts[a]) > least)) {
				return 1
			}
			return k
		}
		longest, most := -1, 0.0
		var group []int
		for a, c := range columns {
			if length := c.Length(cuts[a], parts[a]); arity(a) > 1 && (longest < 0 || length > most) {
				longest, most = a, length
			}
		}
		if longest < 0 {
			break
		}
		alone := func(a int) bool { return !gradual(columns[a], cuts[a]) }
		if group = []int{longest}; !alone(longest) {
			group = group[:0]
			total := 0
			for a, c := range columns {
				if arity(a) > 1 && !alone(a) && c.Length(cuts[a], parts[a])*(math.Sqrt2*(1+1e-9)) >= most {
					group = append(group, a)
					total += arity(a) / 2 // 1 or 2 bits
				}
			}
			// More than maxCuts take turns in groups of about equal size.
			share := (total-1)/((total-1)/maxCuts+1) + 1
			bits := 0
			group = slices.DeleteFunc(group, func(a int) bool {
				bits += arity(a) / 2
				return bits > max(share, 2)
			})
		}
		row, k, must := slices.Repeat([]int{1}, len(columns)), 1.0, 1.0
		for _, a := range group {
			row[a] = arity(a)
			k *= float64(row[a])
			if cuts[a] < columns[a].Must() {
				must *= float64(row[a])
			}
		}
		if cells*k*(kept/must) > maxCells {
			deeper = false
			if depth > 0 {
				return nil, &fault.MemoryError{Op: op, Bytes: 8 * cells * k * kept / must, Limit: 8 * maxCells}
			}
			continue
		}
		for _, a := range group {
			cuts[a]++
			parts[a] *= row[a]
		}
		cells, kept = cells*k, kept/must
		splits = append(splits, row)
	}
	for a, c := range columns {
		if depth > 0 && c.Arity(c.Must()) != 1 && c.Side(cuts[a], parts[a]) > 0 && c.Length(cuts[a], parts[a]) > least {
			return nil, fault.Value(op, "Depth", depth, fmt.Sprintf("no more than float64 can resolve in column %d", a))
		}
	}
	return splits, nil
}

// gradual tells whether cut l of a column is one of many alike.
func gradual(c column.Column, l int) bool {
	switch c := c.(type) {
	case *column.Number, *column.Whole:
		return true
	case *column.Globe:
		return l > 0
	case *column.Missing:
		return l == 0 && gradual(c.Column, 1) || l > 0 && gradual(c.Column, l-1)
	}
	return false
}
