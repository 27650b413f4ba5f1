package cells

import (
	"cmp"
	"math"
	"slices"
)

// line is the law on the line: the masses of intervals under Laplace noise.
type line struct {
	inputs, sites []float64
	order         []int // of the sites, ascending
}

// Line is the law of Laplace noise for inputs on the line. O(k log k) for k sites.
func Line(inputs, sites []float64) Law {
	l := &line{inputs, sites, make([]int, len(sites))}
	for k := range l.order {
		l.order[k] = k
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return cmp.Compare(sites[a], sites[b]) })
	return l
}

// LogMasses implements [Law]. O(k).
func (l *line) LogMasses(x int, rate float64, dst []float64) {
	at := l.inputs[x]
	// end is where the cell of the i-th site ends, less the input.
	end := func(i int) float64 {
		if i < 0 || i == len(l.order)-1 {
			return math.Inf(i)
		}
		return (l.sites[l.order[i]]-at)/2 + (l.sites[l.order[i+1]]-at)/2
	}
	for i, y := range l.order {
		from, to := rate*end(i-1), rate*end(i)
		switch {
		case from >= 0:
			dst[y] = math.Log(-math.Expm1(from-to)/2) - from
		case to <= 0:
			dst[y] = math.Log(-math.Expm1(from-to)/2) + to
		default:
			dst[y] = math.Log(-(math.Expm1(from) + math.Expm1(-to)) / 2)
		}
	}
}
