package ipm

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// A step ends where the first pair would break, imposed or not, and those that it
// leads to are imposed on the column that needs them, with positive slacks.
func TestWatch_FindsTheFirstToBreak(t *testing.T) {
	const n = 40
	s := started(t, planFor(program(n, 1, simplex), Lazy), 0)
	e := s.engine.(*lazyEngine)
	i := s.all.start[30] // the pair 30, 31
	if begin := s.parts[2].len(); begin > nearest*n || slices.Contains(s.parts[2].index, i) {
		t.Fatalf("%v pairs at the start", begin)
	}
	x, dx := s.column(s.x, 2), s.column(s.dir.x, 2)
	if step, err := e.reach(&s.dir, .75); step != .75 || err != nil {
		t.Fatal(step, err)
	}
	dx[31], s.mu = -x[31], 1
	step, err := e.reach(&s.dir, 1)
	if want := 1 - math.Exp(-1); math.Abs(step-want) > 1e-12 || err != nil {
		t.Errorf("step %v, want %v: %v", step, want, err)
	}
	before := s.parts[2].len()
	testkit.Check(t, e.grow())
	c := s.parts[2]
	if c.len() <= before || s.parts[3].len() != before || !slices.Contains(c.index, i) {
		t.Errorf("%d pairs, then %d", before, c.len())
	}
	for w := range s.parts {
		v, x := s.rows(w), s.column(s.x, w)
		v.each(func(i int32, p, q int) {
			if f, k := v.b[i]*x[q]-v.a[i]*x[p], v.b[i]*x[p]-v.a[i]*x[q]; v.sf[i] != f || v.sk[i] != k || v.rf[i] != 1/f || !(v.lf[i] > 0 && v.lk[i] > 0) {
				t.Fatalf("column %d, pair %d, %d: slacks %v, %v, want %v, %v", w, p, q, v.sf[i], v.sk[i], f, k)
			}
		})
	}
}
