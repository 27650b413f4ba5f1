package tsp
import ("testing";"context";"math";"github.com/metricdp/metricdp/internal/random")
func cons(t *testing.T, s *search) (length float64) {
	for p, a := range s.order {
		if s.pos[a] != int32(p) {
			t.Fatalf("node %d is at %d, not %d", a, p, s.pos[a])
		}
		if d := s.distance(a, s.order[(p+1)%len(s.order)]); s.edge[p] != d {
			t.Fatalf("edge %d is %v, want %v", p, s.edge[p], d)
		}
		length += s.edge[p]
	}
	return length
}
func TestRR(t *testing.T) {
	for _, kind := range []Kind{Closed, Path} {
	f := plane(3000, 1)
	near, _ := newCandidates(context.Background(), f, 8)
	s := newSearch(f, random.Seeded(9).Perm(3000), kind, near)
	s.descend(func() bool { return false })
	r := newRegions(s)
	l := cons(t, s)
	rng := random.Seeded(1)
	o := ImproveOptions{Kicks: 1000, Progress: func(a, b int) {}}
	for range 40 {
		ball := r.take(300)
		u := r.search(ball)
		u.kicks(rng, 0, 300, o, func() bool { return false })
		r.merge(ball, u)
		l2 := cons(t, s)
		if l2 > l+1e-9 { t.Fatal(l, l2) }
		l = l2
	}
	t.Log(l/math.Sqrt(3000))
	}
}
