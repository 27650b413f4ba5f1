package emd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
)

// A seed gives the same counts whatever the number of workers; merged counts are
// the sums; the zero Counts is neutral.
func TestFrequencies_SeedsAndMerging(t *testing.T) {
	c := Clusters{Count: 3, Size: 4, Within: .3, Diameter: 1}
	p := testkit.Distribution(rng.Seeded(7), 12, nil)
	local := Model{Trust: Local, Items: 50, Diameter: 1}
	g := mustGKRR(t, c, 1)
	var first []int64
	for _, workers := range []int{1, 2, 5} {
		f, err := NewGKRRFrequencies(g, local, &FrequencyOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		n, err := f.Collect(context.Background(), rng.Seeded(8), usersOf(9, p, 5000, 50))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = n.n
		}
		if !slices.Equal(first, n.n) || n.Users() != 5000 || n.Items() != 250000 || n.Outputs() != 12 {
			t.Errorf("%d workers: %v of %d users, not %v", workers, n.n, n.Users(), first)
		}
	}
	for name, f := range estimators(t, c, local, 1) {
		var all Counts
		for u := range 4 {
			one, err := f.Release(nil, usersOf(uint64(u), p, 1, 50))
			if err != nil {
				t.Fatal(err)
			}
			if err := all.Merge(one); err != nil {
				t.Fatal(err)
			}
			if err := all.Merge(&Counts{}); err != nil {
				t.Fatal(err)
			}
		}
		total := int64(0)
		for y := range all.Outputs() {
			total += all.At(y)
		}
		if all.Users() != 4 || all.Items() != 200 || total != 200 {
			t.Errorf("%s: merged %+v", name, all)
		}
		if _, err := f.Estimate(&all); err != nil {
			t.Error(err)
		}
	}
	a, b := &Counts{n: []int64{1, 2}, users: 1, items: 3}, &Counts{n: []int64{1, 2, 0}, users: 1, items: 3}
	var size *fault.SizeError
	if err := a.Merge(b); !errors.As(err, &size) {
		t.Errorf("outputs: %v", err)
	}
	if err := b.Merge(a); !errors.As(err, &size) {
		t.Errorf("fewer outputs: %v", err)
	}
	var sum Counts
	if err := errors.Join(sum.Merge(a), sum.Merge(a)); err != nil || !slices.Equal(sum.n, []int64{2, 4}) || !slices.Equal(a.n, []int64{1, 2}) {
		t.Errorf("twice %v is %v, %v", a, sum, err)
	}
	given := []int64{1, 2}
	if c, err := NewCounts(given, 1); err != nil || &c.n[0] == &given[0] {
		t.Errorf("not a copy, %v", err)
	}
	b = &Counts{n: []int64{3, 3}, users: 1, items: 6}
	if err := a.Merge(b); !errors.As(err, &size) {
		t.Errorf("items: %v", err)
	}
	b = &Counts{n: []int64{math.MaxInt64, 0}, users: math.MaxInt64 / 3, items: math.MaxInt64 / 3 * 3}
	if err := a.Merge(b); !errors.As(err, &size) || a.n[0] != 1 {
		t.Errorf("overflow: %v", err)
	}
}

// Counts of an item-wise release, of a channel with labels, are those of
// Frequencies: z of each mean of 200 estimates passes 6 with probability 2e-9.
func TestNewCounts_TakesItemWiseReleases(t *testing.T) {
	c := Clusters{Count: 2, Size: 2, Within: .3, Diameter: 1}
	ch, err := mustGKRR(t, c, 2).Channel()
	if err != nil {
		t.Fatal(err)
	}
	if ch, err = ch.Relabel([]int{3, 0, 2, 1}); err != nil {
		t.Fatal(err)
	}
	model := Model{Trust: Central, Users: 4, Items: 5, Diameter: 1}
	w, err := NewItemWise(ch, model, nil)
	f, err2 := NewFrequencies(ch, c, model, nil)
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	data := usersOf(1, []float64{.1, .2, .3, .4}, 4, 5)
	truth := histogram(4, data)
	r := rng.Seeded(1)
	var sum, squares [4]float64
	for range 200 {
		n, err := w.Release(r, data)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := NewCounts(n, 4)
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Estimate(counts)
		if err != nil {
			t.Fatal(err)
		}
		for x, v := range e.Mean {
			sum[x] += v - truth[x]
			squares[x] += (v - truth[x]) * (v - truth[x])
		}
	}
	for x := range sum {
		if z := sum[x] / math.Sqrt(squares[x]); math.Abs(z) > 6 {
			t.Errorf("item %d: z = %v", x, z)
		}
	}
	for _, c := range []struct {
		n     []int64
		users int64
		arg   string
	}{{[]int64{1, 2}, 0, "users"}, {[]int64{3, -1}, 1, "n"}, {[]int64{math.MaxInt64, 1}, 1, "n"}, {nil, 1, "sum of n"}, {[]int64{0}, 1, "sum of n"}, {[]int64{2, 1}, 2, "sum of n"}} {
		_, err := NewCounts(c.n, c.users)
		wantValueError(t, fmt.Sprint(c.n), err, c.arg)
	}
}

// BenchmarkFrequencies is release and estimate from a stream of users, in the local
// trust; METRICDP_LONG=1 does 10^8 items.
func BenchmarkFrequencies(b *testing.B) {
	users := 1000
	if os.Getenv("METRICDP_LONG") != "" {
		users = 100000
	}
	const m = 1000
	for _, k := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("users=%d/items=%d/k=%d", users, m, k), func(b *testing.B) {
			f, err := NewGKRRFrequencies(mustGKRR(b, Clusters{Count: k / 10, Size: 10, Within: .2, Diameter: 1}, 1), Model{Trust: Local, Items: m, Diameter: 1}, nil)
			if err != nil {
				b.Fatal(err)
			}
			items := make([]int, m)
			data := func(yield func([]int) bool) {
				for u := range users {
					for i := range items {
						items[i] = (u*7 + i*i) % k
					}
					if !yield(items) {
						return
					}
				}
			}
			b.ReportAllocs()
			start := time.Now()
			for b.Loop() {
				c, err := f.Collect(context.Background(), nil, data)
				if err != nil {
					b.Fatal(err)
				}
				e, err := f.Estimate(c)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := f.Distribution(e); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N)/float64(users*m), "ns/item")
		})
	}
}
