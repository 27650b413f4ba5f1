package metric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/law"
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

// randomTree attaches each node to a random one of the last few, so that depth
// varies, and shuffles the numbers.
func randomTree(rng *rand.Rand, n int) *Tree {
	perm := rng.Perm(n)
	back := 1 + rng.IntN(n)
	parent, length := make([]int, n), make([]float64, n)
	parent[perm[0]] = -1
	for k := 1; k < n; k++ {
		parent[perm[k]] = perm[max(0, k-1-rng.IntN(back))]
	}
	for v := range length {
		switch rng.IntN(5) {
		case 0: // length 0
		case 1:
			length[v] = math.Ldexp(rng.Float64(), rng.IntN(60)-30)
		default:
			length[v] = rng.Float64()
		}
	}
	return testkit.Must(NewTree(parent, length))
}

// walk climbs from both ends: the lengths of the edges of the path, and where the sides meet.
func walk(t *Tree, x, y int) (edges []float64, meet int) {
	above := map[int]bool{}
	for v := x; v >= 0; v = t.Parent(v) {
		above[v] = true
	}
	meet = y
	for ; !above[meet]; meet = t.Parent(meet) {
		edges = append(edges, t.Length(meet))
	}
	for v := x; v != meet; v = t.Parent(v) {
		edges = append(edges, t.Length(v))
	}
	return edges, meet
}

func TestTree_PathMetricIsTheWalk(t *testing.T) {
	r := random.Seeded(1)
	for n := 1; n <= 60; n++ {
		tree := randomTree(r, n)
		for _, c := range []struct {
			f     Finite
			nodes []int
		}{{tree.PathMetric(), tree.Leaves()}, {tree.NodeMetric(), ascending(n)}} {
			if c.f.Len() != len(c.nodes) {
				t.Fatalf("%d points, want %d", c.f.Len(), len(c.nodes))
			}
			for i, x := range c.nodes {
				for j, y := range c.nodes {
					edges, _ := walk(tree, x, y)
					slices.Sort(edges)
					want := 0.0
					for _, e := range edges {
						want += e
					}
					// The walk itself has len(edges) roundings.
					if got := c.f.Distance(i, j); math.Abs(got-want) > want*float64(len(edges)+4)*0x1p-53 {
						t.Fatalf("n=%d: d(%d,%d) = %v, want %v", n, x, y, got, want)
					}
				}
			}
			SameDistances(t, c.f, scanned{c.f}) // its rows
			if err := Validate(t.Context(), c.f, &ValidateOptions{Tolerance: 0x1p-49}); err != nil {
				t.Error(err)
			}
		}
	}
}

// Twigs of 1e-9 at the end of a stem of length 1e8: plain depths would lose
// every digit of the distance.
func TestTree_PathMetricDoesNotCancel(t *testing.T) {
	const stem = 1000
	parent, length := make([]int, stem+3), make([]float64, stem+3)
	for v := range parent {
		parent[v], length[v] = v-1, 1e5+0.1
	}
	parent[stem+2] = stem
	length[stem+1], length[stem+2] = 1e-9, 3e-9
	tree := testkit.Must(NewTree(parent, length))
	// k*2^-103 times the depth is 1e-20; the sum has one rounding.
	got, want := tree.PathMetric().Distance(0, 1), 1e-9+3e-9
	if math.Abs(got-want) > 1e-20 {
		t.Errorf("distance %v, want %v", got, want)
	}
	if d := tree.NodeMetric().Distance(stem, stem+1); math.Abs(d-1e-9) > 1e-20 {
		t.Errorf("distance %v, want 1e-9", d)
	}
}

func TestTree_UltrametricIsTheHeightOfTheAncestor(t *testing.T) {
	r := random.Seeded(2)
	for n := 1; n <= 60; n++ {
		tree := randomTree(r, n)
		var high func(v int) float64
		high = func(v int) float64 {
			h := 0.0
			for _, c := range tree.Children(v) {
				h = max(h, high(c)+tree.Length(c))
			}
			return h
		}
		leaves := tree.Leaves()
		SameDistances(t, tree.Ultrametric(), newTable(len(leaves), func(i, j int) float64 {
			_, meet := walk(tree, leaves[i], leaves[j])
			return high(meet)
		}))
	}
}

func TestNewTree_Defaults(t *testing.T) {
	parent := []int{2, 2, -1}
	tree := testkit.Must(NewTree(parent, nil))
	parent[0] = 7 // copied
	tree.Leaves()[0], tree.Preorder()[0] = 7, 7
	if tree.Length(0) != 1 || tree.Length(2) != 0 || tree.Root() != 2 || tree.Parent(0) != 2 || tree.PathMetric().Distance(0, 1) != 2 {
		t.Errorf("%v", tree)
	}
	// The largest lengths still give finite distances.
	large := testkit.Must(NewTree([]int{-1, 0, 0, 1}, []float64{1e300, 1e300, 1e300, 1e300}))
	if d, u := large.PathMetric().Distance(0, 1), large.Ultrametric().Distance(0, 1); d != 3e300 || u != 2e300 {
		t.Errorf("distances %v, %v", d, u)
	}
	if !law.Panics(func() { tree.Name(-1) }) || !law.Panics(func() { tree.Name(3) }) {
		t.Error("a name of no node")
	}
}

func TestTreeFromPaths_NumbersAsTheyOccur(t *testing.T) {
	split := func(paths ...string) [][]string {
		var s [][]string
		for _, p := range paths {
			s = append(s, strings.Split(p, "/"))
		}
		return s
	}
	tree := testkit.Must(TreeFromPaths(split("r/a/x", "r/b", "r/a/y/x", "r/c/x")))
	if got := tree.Leaves(); !slices.Equal(got, []int{2, 3, 5, 7}) {
		t.Errorf("leaves %v", got)
	}
	SameDistances(t, tree.PathMetric(), table{{0, 3, 3, 4}, {3, 0, 4, 3}, {3, 4, 0, 5}, {4, 3, 5, 0}})
	if tree = testkit.Must(TreeFromPaths(split("r"))); tree.Name(0) != "r" || len(tree.Leaves()) != 1 {
		t.Error(tree)
	}
}

// What is accepted has path k end in leaf k; nothing else is.
func TestTreeFromPaths_RefusesBadInput(t *testing.T) {
	const op = "metric: TreeFromPaths: "
	for _, c := range []struct {
		paths [][]string
		want  string
	}{
		{nil, op + "paths: empty input"},
		{[][]string{{}}, op + "paths[0]: empty input"},
		{[][]string{{"r", ""}}, op + "paths[0][1]: no name: empty input"},
		{[][]string{{"r", "a"}, {"s", "a"}}, op + `paths[1] begins with "s", want the root "r"`},
		{[][]string{{"r", "a"}, {"r", "b"}, {"r", "a"}}, op + `paths[2] = ["r" "a"] is paths[0] again`},
		{[][]string{{"r", "b"}, {"r", "a", "b"}, {"r", "a"}}, op + `paths[2] = ["r" "a"] ends at an inner node, where paths[1] goes on`},
		{[][]string{{"r", "b"}, {"r", "a"}, {"r", "a", "b", "c"}}, op + `paths[2] = ["r" "a" "b" "c"] goes on where paths[1] ends`},
		{[][]string{{"r", "a"}, {"r", "b\x00"}}, op + `paths[1][1] = "b\x00" has at byte 1 the control character U+0000`},
		{[][]string{{"\u202er"}}, op + `paths[0][0] = "\u202er" has at byte 0 U+202E, a mark of the direction of text`},
	} {
		if _, err := TreeFromPaths(c.paths); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v\nwant %s", c.paths, err, c.want)
		}
	}
	r := random.Seeded(1)
	for range 2000 {
		paths := make([][]string, 1+r.IntN(6))
		for k := range paths {
			paths[k] = []string{"r"}
			for range r.IntN(4) {
				paths[k] = append(paths[k], string(rune('a'+r.IntN(2))))
			}
		}
		tree, err := TreeFromPaths(paths)
		if err != nil {
			continue
		}
		for k, v := range tree.Leaves() {
			var up []string
			for ; v >= 0; v = tree.Parent(v) {
				up = append(up, tree.Name(v))
			}
			if slices.Reverse(up); !slices.Equal(up, paths[k]) {
				t.Fatalf("%q: leaf %d is %q", paths, k, up)
			}
		}
		if len(tree.Leaves()) != len(paths) {
			t.Fatalf("%q: %d leaves", paths, len(tree.Leaves()))
		}
	}
}
