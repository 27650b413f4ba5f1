package project

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
)

// The treap against plain sorted lists, and its shape.
func TestSlopes_AreLists(t *testing.T) {
	r := random.Seeded(7)
	for range 100 {
		var s slopes
		type part struct{ slope, length float64 }
		build := func() (int32, []part) {
			var list int32
			var want []part
			for range 1 + r.IntN(20) {
				p := part{float64(r.IntN(30)), float64(1 + r.IntN(5))}
				list = s.union(list, s.one(exact.DD{Hi: p.slope}, p.length))
				want = append(want, p)
			}
			return list, want
		}
		same := func(list int32, want []part) {
			t.Helper()
			var got []part
			var walk func(i int32)
			walk = func(i int32) {
				if i != 0 {
					p := s.open(i)
					l, d, r := p.left, part{p.slope.Hi, p.length}, p.right
					walk(l)
					got = append(got, d)
					walk(r)
				}
			}
			walk(list)
			slices.SortStableFunc(want, func(a, b part) int { return int(a.slope - b.slope) })
			sumBy := func(l []part) map[float64]float64 {
				m := map[float64]float64{}
				for _, p := range l {
					m[p.slope] += p.length
				}
				return m
			}
			g, w := sumBy(got), sumBy(want)
			for k, v := range w {
				if g[k] != v || len(g) != len(w) {
					t.Fatalf("%v, want %v", got, want)
				}
			}
			if !slices.IsSortedFunc(got, func(a, b part) int { return int(a.slope - b.slope) }) {
				t.Fatalf("%v does not ascend", got)
			}
		}
		a, wa := build()
		b, wb := build()
		d := float64(r.IntN(9) - 4)
		s.raise(a, exact.DD{Hi: d})
		for k := range wa {
			wa[k].slope += d
		}
		all, want := s.union(a, b), append(wa, wb...)
		same(all, want)
		sum := s.at[all].sum
		m := float64(1 + r.IntN(int(sum)))
		l, rest := s.cut(all, m)
		if s.at[l].sum != m || s.at[rest].sum != sum-m {
			t.Fatalf("cut at %v: %v, %v", m, s.at[l].sum, s.at[rest].sum)
		}
		if less(s.first(rest), s.last(l)) || s.last(0) != (exact.DD{Hi: math.Inf(-1)}) || s.first(0) != (exact.DD{Hi: math.Inf(1)}) {
			t.Fatalf("cut out of order: from %v to %v, of no list %v, %v", s.last(l), s.first(rest), s.last(0), s.first(0))
		}
		same(s.join(l, rest), want)
	}
}
