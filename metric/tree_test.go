package metric

import (
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

// randomTree attaches each node to a random one of the last few, so that depth
// varies, and shuffles the numbers.
func randomTree(rng *rand.Rand, n int) *Tree {
	perm := rng.Perm(n)
	back := 1 + rng.IntN(n)
	parent, length := make([]int, n), make([]float64, n)
	names := make([]string, n)
	parent[perm[0]] = -1
	for k := 1; k < n; k++ {
		parent[perm[k]] = perm[max(0, k-1-rng.IntN(back))]
	}
	odd := []string{"", "a", "b_c", "it's", "x y", "(;,)", "[no]", "é", "\u00a0", "''", "1e3", ":"}
	for v := range length {
		switch rng.IntN(5) {
		case 0: // length 0
		case 1:
			length[v] = math.Ldexp(rng.Float64(), rng.IntN(60)-30)
		default:
			length[v] = rng.Float64()
		}
		names[v] = odd[rng.IntN(len(odd))]
	}
	t, err := NewTree(parent, length)
	if err != nil {
		panic(err)
	}
	if t, err = t.WithNames(names); err != nil {
		panic(err)
	}
	return t
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
		}{{tree.PathMetric(), tree.Leaves()}, {tree.NodeMetric(), ascending[int](n)}} {
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
	names := []string{"x", "y", "z"}
	named := testkit.Must(tree.WithNames(names))
	names[0] = "q"
	if got := []string{named.Name(0), tree.Name(0), named.LeafNames()[1], tree.LeafNames()[1]}; !slices.Equal(got, []string{"x", "", "y", ""}) {
		t.Errorf("names %q", got)
	}
	if _, err := tree.WithNames(names[:2]); !errors.As(err, new(*SizeError)) {
		t.Error(err)
	}
	for _, bad := range []string{"\x00", "a\nb", "\u2069", "\xff"} {
		names[2] = bad
		if _, err := tree.WithNames(names); err == nil || !strings.HasPrefix(err.Error(), "metric: Tree.WithNames: names[2] = ") {
			t.Errorf("%q: %v", bad, err)
		}
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
	tree, err := TreeFromPaths(split("r/a/x", "r/b", "r/a/y/x", "r/c/x"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tree.String(), "((x:1,(x:1)y:1)a:1,b:1,(x:1)c:1)r;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	SameDistances(t, tree.PathMetric(), table{{0, 3, 3, 4}, {3, 0, 4, 3}, {3, 4, 0, 5}, {4, 3, 5, 0}})
	quoted := testkit.Must(TreeFromPaths(split("r's/two words/a(b")))
	if got, want := quoted.String(), "(('a(b':1)'two words':1)'r''s';"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if tree, err = TreeFromPaths(split("r")); err != nil || tree.String() != "r;" || len(tree.Leaves()) != 1 {
		t.Errorf("%v, %v", tree, err)
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
		names := tree.LeafNames()
		for k, v := range tree.Leaves() {
			var up []string
			for ; v >= 0; v = tree.Parent(v) {
				up = append(up, tree.Name(v))
			}
			if slices.Reverse(up); !slices.Equal(up, paths[k]) || names[k] != up[len(up)-1] {
				t.Fatalf("%q: leaf %d is %q, by name %q", paths, k, up, names[k])
			}
		}
		if len(tree.Leaves()) != len(paths) {
			t.Fatalf("%q: %d leaves", paths, len(tree.Leaves()))
		}
	}
}
