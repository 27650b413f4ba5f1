package measure

import "github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"

// run holds cells in ascending order and how many records are in each, at least one. It is never
// changed.
type run struct {
	cells []int
	n     []int64
}

// newRun counts a record in each of cells, which it sorts.
func newRun(cells []int) run {
	at, n := adaptive.Tally(cells)
	return run{at, n}
}

// plus returns the sum of two runs.
func (r run) plus(s run) run {
	if len(r.cells) == 0 {
		return s
	}
	if len(s.cells) == 0 {
		return r
	}
	most := len(r.cells) + len(s.cells)
	sum := run{make([]int, 0, most), make([]int64, 0, most)}
	i, j := 0, 0
	for i < len(r.cells) && j < len(s.cells) {
		a, b := r.cells[i], s.cells[j]
		n := int64(0)
		if a <= b {
			n = r.n[i]
			i++
		}
		if b <= a {
			n += s.n[j]
			j++
		}
		sum.cells, sum.n = append(sum.cells, min(a, b)), append(sum.n, n)
	}
	sum.cells = append(append(sum.cells, r.cells[i:]...), s.cells[j:]...)
	sum.n = append(append(sum.n, r.n[i:]...), s.n[j:]...)
	return sum
}

// runs add up to counts. Each is at least twice as long as the next, so that m runs of one length
// cost as many comparisons as sorting all their cells.
type runs []run

// add adds a run. Those that it meets are added up from the shortest on.
func (s runs) add(r run) runs {
	if len(r.cells) == 0 {
		return s
	}
	var short run
	for last := len(s) - 1; last >= 0 && len(s[last].cells) < 2*(len(short.cells)+len(r.cells)); last-- {
		short = s[last].plus(short)
		s[last] = run{}
		s = s[:last]
	}
	return append(s, short.plus(r))
}

// all returns the sum of all runs.
func (s runs) all() (sum run) {
	for i := len(s) - 1; i >= 0; i-- {
		sum = s[i].plus(sum)
	}
	return sum
}
