package emd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

// The joint law of the counts of two items of different inputs, by enumeration.
// Chi-square at level 1e-7.
func TestItemWise_LawOfTheMultiset(t *testing.T) {
	space := line(t, 3)
	c := geometricChannel(t, space, 2)
	w := newItemWise(t, c, Model{Trust: Local, Items: 2, Diameter: 1}, nil)
	p := make([]float64, 9)
	for a := range 3 {
		for b := range 3 {
			p[3*min(a, b)+max(a, b)] += c.Prob(0, a) * c.Prob(2, b)
		}
	}
	r := rng.Seeded(1)
	count := make([]int, 9)
	for range 100_000 {
		got, err := w.Release(r, One([]int{2, 0}))
		if err != nil {
			t.Fatal(err)
		}
		var list []int
		for y, n := range got {
			for range n {
				list = append(list, y)
			}
		}
		count[3*list[0]+list[1]]++
	}
	testkit.ChiSquare(t, count, p, 1e-7)
}

// Many draws, in many chunks, with and without a table: the counts of each
// output. Chi-square at level 1e-7.
func TestItemWise_LawOfManyDraws(t *testing.T) {
	space := line(t, 7)
	c := geometricChannel(t, space, 3)
	const n = 300_000
	items := make([]int, n)
	for i := range items {
		items[i] = 5
	}
	w := newItemWise(t, c, Model{Trust: Local, Items: n, Diameter: 1}, nil)
	for _, seed := range []uint64{0, 7} {
		r := rng.Seeded(seed)
		if seed == 0 {
			r = nil
		}
		got, err := w.Release(r, One(items))
		if err != nil {
			t.Fatal(err)
		}
		obs := make([]int, len(got))
		for y, k := range got {
			obs[y] = int(k)
		}
		testkit.ChiSquare(t, obs, c.Row(5, nil), 1e-7)
	}
}

func TestItemWise_WorkersDoNotMatter(t *testing.T) {
	c := geometricChannel(t, line(t, 50), 4)
	r := rng.Seeded(3)
	users := make([][]int, 30)
	for i := range users {
		users[i] = make([]int, 10_000)
		for j := range users[i] {
			users[i][j] = r.IntN(50)
		}
	}
	m := Model{Trust: Central, Users: 30, Items: 10_000, Diameter: 1}
	var first []int64
	for _, workers := range []int{1, 2, 5, 0} {
		w := newItemWise(t, c, m, &ItemWiseOptions{Workers: workers})
		got, err := w.Release(rng.Seeded(4), linearUsers(users...))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !slices.Equal(first, got) {
			t.Fatalf("%d workers: other counts", workers)
		}
	}
}

// A noiseless channel gives the data's own counts, whichever way they are
// tallied and drawn.
func TestItemWise_CountsEveryItemOnce(t *testing.T) {
	r := rng.Seeded(5)
	for _, n := range []int{1, 3, 40, 3000} {
		c := identityChannel(t, n, &mechanism.ChannelOptions{Lazy: true})
		for _, m := range []int{1, 2, 25} {
			w := newItemWise(t, c, Model{Trust: Central, Users: 4, Items: m, Diameter: 1}, nil)
			want := make([]int64, n)
			users := make([][]int, 4)
			for i := range users {
				for range m {
					x := r.IntN(min(n, 1+r.IntN(n)))
					users[i] = append(users[i], x)
					want[x]++
				}
			}
			got, err := w.Release(nil, linearUsers(users...))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("n=%d m=%d: %v, %v, want %v", n, m, got, err, want)
			}
		}
	}
}

// Every order of three outputs is as likely as any other, and labels are
// respected. Chi-square at level 1e-7.
func TestItemWise_ShuffledUniformly(t *testing.T) {
	c, err := identityChannel(t, 3, nil).Relabel([]int{10, 20, 30})
	if err != nil {
		t.Fatal(err)
	}
	w := newItemWise(t, c, Model{Trust: Local, Items: 3, Diameter: 1}, nil)
	r := rng.Seeded(6)
	count := map[string]int{}
	for range 60_000 {
		got, err := w.ReleaseShuffled(r, One([]int{2, 1, 0}))
		if err != nil {
			t.Fatal(err)
		}
		count[fmt.Sprint(got)]++
	}
	orders := []string{"[10 20 30]", "[10 30 20]", "[20 10 30]", "[20 30 10]", "[30 10 20]", "[30 20 10]"}
	obs := make([]int, 6)
	for i, o := range orders {
		obs[i] = count[o]
	}
	testkit.ChiSquare(t, obs, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}, 1e-7)
	if got := w.Channel().Output(2); got != 2 {
		t.Errorf("output 2 of the channel is labelled %d", got)
	}
	if counts, err := w.Release(r, One([]int{2, 2, 0})); err != nil || !slices.Equal(counts, []int64{1, 0, 2}) {
		t.Errorf("labels moved the counts: %v, %v", counts, err)
	}
}

// 10^7 items of 10^4 users, 100 outputs; the issue asks for less than 2 s.
func BenchmarkItemWise(b *testing.B) {
	const users, items = 10_000, 1000
	c := geometricChannel(b, line(b, 100), 5)
	w := newItemWise(b, c, Model{Trust: Central, Users: users, Items: items, Diameter: 1}, nil)
	r := rng.Seeded(1)
	pool := make([]int, 1<<20)
	for i := range pool {
		pool[i] = r.IntN(100)
	}
	data := func(yield func([]int) bool) {
		for u := range users {
			lo := u * 97 % (len(pool) - items)
			if !yield(pool[lo : lo+items]) {
				return
			}
		}
	}
	b.Run("n=10000000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Release(nil, data); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(users*items), "ns/item")
	})
}
