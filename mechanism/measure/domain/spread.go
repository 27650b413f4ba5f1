package domain

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
)

// extents are the lengths of columns that are numbers or categories at depth l; ok
// is false where there are others.
func (b *box) extents(l int) (side []extent, ok bool) {
	for a, f := range b.factors {
		e := extent{length: f.Size(b.cuts[l][a], b.parts[l][a]).Diameter}
		switch f := f.(type) {
		case *column.Number:
		case *column.Category:
			e.categories = f.Count()
			if b.cuts[l][a] > 0 {
				e.categories = 1
			}
		default:
			return nil, false
		}
		side = append(side, e)
	}
	return side, true
}

// extent is a length that is cut anywhere, or the distance of any two categories.
type extent struct {
	length     float64
	categories int
}

// spread bounds what noise in a node of depth l costs; see region.Class.
//
// Its children are alike, so mass spread evenly over one becomes mass spread evenly over another by
// a translation, which costs the distance of their centers. If the node is cut along one numeric
// column, W1 is the sum over the k-1 gaps of the gap times |S_j|, S_j the sum of the first j
// shares, of variance s j(1-j/k). Otherwise the cuts are made one prime factor of every column at a
// time: of K children that are left together, groups of m each part from one another. Group g sends
// its surplus T_g over its fair share through the common center; Var T_g = s m(1-m/K), and the cost
// is |T_g| times the distance to the center, half the distance between categories for theirs. Both
// use E|T| <= sqrt(Var T), about 1.25 E|T| for a normal T. With columns of other kinds, and with
// more than manyChildren, all noise goes through any point, at no more than the diameter.
func (b *box) spread(l int) float64 {
	cuts, k := slices.Clone(b.splits[l]), float64(b.arities[l])
	if k == 1 {
		return 0
	}
	if g, ok := b.factors[0].(*column.Globe); ok && len(b.factors) == 1 {
		return g.Spread(b.cuts[l][0], b.parts[l][0])
	}
	side, ok := b.extents(l)
	if !ok || k > manyChildren {
		return k * math.Sqrt(1-1/k) * b.size(b.p, l).Diameter
	}
	if only := slices.Index(cuts, b.arities[l]); only >= 0 && side[only].categories == 0 {
		sum := 0.0
		for j := 1.0; j < k; j++ {
			sum += math.Sqrt(j * (1 - j/k))
		}
		return sum * side[only].length / k
	}
	total, nodes := 0.0, 1.0
	for k > 1 {
		groups := 1.0
		step := make([]int, len(cuts))
		for a := range cuts {
			step[a] = smallestFactor(cuts[a])
			if side[a].categories > 0 {
				step[a] = cuts[a]
			}
			groups *= float64(step[a])
		}
		m := k / groups
		total += float64(nodes * meanOffset(side, step, b.p) * math.Sqrt(m*(1-m/k)) * groups)
		for a := range cuts {
			cuts[a] /= step[a]
			side[a].length /= float64(step[a])
			if step[a] > 1 && side[a].categories > 0 {
				side[a] = extent{0, 1}
			}
		}
		nodes *= groups
		k = m
	}
	return total
}

const manyChildren = 1 << 18

// meanOffset returns the mean distance of the centers of the parts to that of
// the whole, when step[a] equal parts are made of column a.
func meanOffset(side []extent, step []int, p float64) float64 {
	parts, sum := 1, 0.0
	for _, n := range step {
		parts *= n
	}
	for i := range parts {
		d := norm{p: p}
		for a, n := range step {
			switch {
			case n == 1:
			case side[a].categories > 0:
				d.add(side[a].length / 2)
			default:
				d.add(side[a].length * math.Abs((float64(i%n)+0.5)/float64(n)-0.5))
			}
			i /= n
		}
		sum += d.value()
	}
	return sum / float64(parts)
}

func smallestFactor(n int) int {
	for f := 2; f*f <= n; f++ {
		if n%f == 0 {
			return f
		}
	}
	return n
}
