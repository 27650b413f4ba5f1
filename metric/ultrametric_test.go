package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// randomMerges is a dendrogram with monotone heights, some of them equal, some 0.
func randomMerges(rng *rand.Rand, n int) []Merge {
	type cluster struct {
		id     int
		height float64
	}
	var open []cluster
	for i := range n {
		open = append(open, cluster{i, 0})
	}
	take := func() cluster {
		k := rng.IntN(len(open))
		c := open[k]
		open = slices.Delete(open, k, k+1)
		return c
	}
	var merges []Merge
	for k := range n - 1 {
		a, b := take(), take()
		h := max(a.height, b.height) + float64(rng.IntN(3))*rng.Float64()
		merges = append(merges, Merge{a.id, b.id, h})
		open = append(open, cluster{n + k, h})
	}
	return merges
}

// Two points lie at the height of the merge that joins them.
func TestFromLinkage_HeightOfTheMerge(t *testing.T) {
	r := random.Seeded(1)
	for n := 1; n <= 40; n++ {
		merges := randomMerges(r, n)
		u := testkit.Must(FromLinkage(n, merges))
		want := symmetric(n, func() float64 { return math.NaN() })
		members := make([][]int, 2*n-1)
		for i := range n {
			members[i] = []int{i}
		}
		for k, m := range merges {
			for _, i := range members[m.A] {
				for _, j := range members[m.B] {
					want[i][j], want[j][i] = m.Height, m.Height
				}
			}
			members[n+k] = append(members[m.A], members[m.B]...)
		}
		SameDistances(t, u, want)
		if err := ValidateUltrametric(t.Context(), u, 0); err != nil {
			t.Error(err)
		}
		again, err := NewUltrametric(u.Order(), u.Heights())
		if err != nil || !slices.Equal(again.Order(), u.Order()) || !slices.Equal(again.Heights(), u.Heights()) {
			t.Errorf("rebuilt: %v", err)
		}
	}
}

func TestNewUltrametric_LargestHeightBetween(t *testing.T) {
	order := []int{2, 0, 3, 1}
	heights := []float64{1, 4, 2}
	u := testkit.Must(NewUltrametric(order, heights))
	order[0], heights[0] = 9, 9 // copied
	u.Order()[1], u.Heights()[1] = 9, 9
	SameDistances(t, u, table{{0, 4, 1, 4}, {4, 0, 4, 2}, {1, 4, 0, 4}, {4, 2, 4, 0}})

	r := random.Seeded(2)
	for n := 1; n <= 70; n++ { // every length of a stretch, around powers of two
		order, heights := r.Perm(n), make([]float64, n-1)
		for p := range heights {
			heights[p] = r.Float64()
		}
		want := symmetric(n, func() float64 { return 0 })
		for p, i := range order {
			m := 0.0
			for q, j := range order[p+1:] {
				m = max(m, heights[p+q])
				want[i][j], want[j][i] = m, m
			}
		}
		SameDistances(t, testkit.Must(NewUltrametric(order, heights)), want)
	}
}

func TestUltrametric_ClustersAreClosedBalls(t *testing.T) {
	r := random.Seeded(3)
	for n := 1; n <= 25; n++ {
		u := testkit.Must(FromLinkage(n, randomMerges(r, n)))
		radii := append(u.Heights(), 0, 0.5, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1))
		for _, s := range radii {
			label := u.Clusters(s)
			next := 0
			for i := range n {
				if label[i] > next || label[i] < 0 {
					t.Fatalf("radius %v: labels %v", s, label)
				}
				if label[i] == next {
					next++
				}
				for j := range i {
					if same := u.Distance(i, j) <= s; same != (label[i] == label[j]) {
						t.Fatalf("radius %v: d(%d,%d) = %v, labels %v", s, i, j, u.Distance(i, j), label)
					}
				}
			}
		}
	}
}
