package metric

import (
	"context"
	"errors"
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

// minimax is the least longest step over all ways, by Floyd and Warshall.
func minimax(f Finite) table {
	n := f.Len()
	u := newTable(n, f.Distance)
	for k := range n {
		for i := range n {
			for j := range n {
				u[i][j] = min(u[i][j], max(u[i][k], u[k][j]))
			}
		}
	}
	return u
}

// randomFinites are metrics and other symmetric tables, with ties and zeros.
func randomFinites(rng *rand.Rand, n int) []Finite {
	return []Finite{
		symmetric(n, func() float64 { return 1 + rng.Float64() }),
		symmetric(n, func() float64 { return rng.ExpFloat64() }),
		symmetric(n, func() float64 { return float64(rng.IntN(4)) }),
		planePoints(n),
		newTable(n, func(i, j int) float64 { return math.Abs(float64(i - j)) }),
	}
}

func TestSubdominant_IsMinimaxPath(t *testing.T) {
	r := random.Seeded(1)
	for n := 1; n <= 35; n++ {
		for _, f := range randomFinites(r, n) {
			u := testkit.Must(Subdominant(t.Context(), f))
			SameDistances(t, u, minimax(f))
			SameDistances(t, testkit.Must(Subdominant(t.Context(), u)), u) // an ultrametric is its own
		}
	}
}

// genuine checks a witness against the strong triangle inequality.
func genuine(t *testing.T, f Finite, err error) {
	t.Helper()
	v, ok := err.(*Violation)
	if !ok {
		t.Fatalf("got %v, want a violation", err)
	}
	e := f.Distance(v.I, v.J) - max(f.Distance(v.I, v.K), f.Distance(v.K, v.J))
	if v.Axiom != UltrametricLaw || !(e > 0) || v.Excess != e {
		t.Fatalf("%v is no violation: the excess is %v", v, e)
	}
}

func TestValidateUltrametric_WitnessIsGenuine(t *testing.T) {
	r := random.Seeded(2)
	for n := 1; n <= 35; n++ {
		for _, f := range randomFinites(r, n) {
			want := true
			for i := range n {
				for j := range n {
					for k := range n {
						want = want && f.Distance(i, j) <= max(f.Distance(i, k), f.Distance(k, j))
					}
				}
			}
			err := ValidateUltrametric(t.Context(), f, 0)
			if (err == nil) != want {
				t.Fatalf("n=%d: %v, but ultrametric is %v", n, err, want)
			}
			if err != nil {
				genuine(t, f, err)
			}
		}
	}
	// One distance of an ultrametric changed by an ulp, up or down.
	for range 200 {
		n := 3 + r.IntN(40)
		u := testkit.Must(FromLinkage(n, randomMerges(r, n)))
		f := newTable(n, u.Distance)
		i := r.IntN(n)
		j := (i + 1 + r.IntN(n-1)) % n
		d := math.Nextafter(f[i][j], []float64{0, math.Inf(1)}[r.IntN(2)])
		f[i][j], f[j][i] = d, d
		changed := false
		for k := range n {
			if k != i && k != j {
				a, b := f[i][k], f[k][j]
				changed = changed || d > max(a, b) || a > max(d, b) || b > max(a, d)
			}
		}
		if err := ValidateUltrametric(t.Context(), f, 0); (err != nil) != changed {
			t.Fatalf("n=%d, d(%d,%d) = %v: %v", n, i, j, d, err)
		} else if err != nil {
			genuine(t, f, err)
		}
		if err := ValidateUltrametric(t.Context(), f, 1e-12); err != nil && d > 1e-300 {
			t.Fatalf("an ulp beyond the tolerance: %v", err)
		}
	}
}

// An ultrametric is found with all its distances; another metric is refused, and a
// nil pointer with an error.
func TestAsUltrametric_HasTheSameDistances(t *testing.T) {
	ctx := context.Background()
	c := testkit.Must(NewClustered(3, 4, .3))
	sub := testkit.Must(Subdominant(t.Context(), planePoints(20)))
	dense := testkit.Must(Densify(t.Context(), sub))
	for _, f := range []Finite{c, sub, dense, table{{0}}} {
		SameDistances(t, testkit.Must(AsUltrametric(ctx, f)), f)
	}
	var v *Violation
	if u, err := AsUltrametric(ctx, planePoints(5)); u != nil || !errors.As(err, &v) || v.Axiom != UltrametricLaw {
		t.Errorf("the plane: %v, %v", u, err)
	}
	for _, f := range []Finite{nil, (*Ultrametric)(nil), (*Clustered)(nil), new(Clustered)} {
		if _, err := AsUltrametric(ctx, f); !errors.Is(err, ErrEmpty) {
			t.Errorf("%T: %v", f, err)
		}
	}
}

// f rises above its subdominant ultrametric, which is 1 throughout, in steps
// of 10 percent: every triple keeps within the tolerance, f does not.
func TestValidateUltrametric_ToleranceIsOfTheWhole(t *testing.T) {
	f := newTable(10, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return math.Pow(1.1, math.Abs(float64(i-j))-1)
	})
	for _, c := range []struct {
		tol float64
		ok  bool
	}{{0, false}, {0.1, false}, {1.1, false}, {1.2, true}} { // 1.1^8 = 2.14
		err := ValidateUltrametric(t.Context(), f, c.tol)
		if (err == nil) != c.ok {
			t.Errorf("tolerance %v: %v", c.tol, err)
		}
		if err != nil {
			genuine(t, f, err)
		}
	}
}
