package chain

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/examples/internal/cities"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// long asks for larger spaces and more of them.
func long() bool { return os.Getenv("METRICDP_LONG") != "" }

// named is a space of the corpus.
type named struct {
	name string
	metric.Bimetric
}

// diameter is that of the privacy metric, and 1 where that is 0.
func (s named) diameter() float64 {
	if d, _, _, _ := metric.Diameter(context.Background(), s.Privacy); d > 0 {
		return d
	}
	return 1
}

// spans are the values of alpha*diameter, from where next to nothing may be
// released to where almost everything may.
var spans = []float64{0.1, 1, 5, 30, 200}

// corpus returns spaces of about n points: data that ship with the examples,
// regular spaces, random ones, and the degenerate ones.
func corpus(t testing.TB, n int) []named {
	t.Helper()
	cities, words, taxonomy := testkit.Must(cities.Largest(n)), words(t, n), mammals(t, n)
	prefix := taxonomy.Ultrametric()
	pairs := space.Func(n, func(i, j int) float64 { return float64(j/2 - i/2) }) // which coincide
	path := space.Path(n, 1)
	out := []named{
		{"cities", metric.Same(cities)},
		{"words", metric.Same(words)},
		{"mammals", metric.Bimetric{Privacy: taxonomy.PathMetric(), Utility: prefix}},
		{"mammals' taxonomy", metric.Same(prefix)},
		{"words as cities", metric.Bimetric{Privacy: cities, Utility: words}},
		{"grid", metric.Same(space.Grid(int(math.Sqrt(float64(n)))))},
		{"path", metric.Same(path)},
		{"cycle", metric.Same(space.Func(n, func(i, j int) float64 { return float64(min(j-i, n-j+i)) }))},
		{"simplex", metric.Same(space.Simplex(n, 1))},
		{"clusters", metric.Same(testkit.Must(metric.NewClustered((n+3)/4, 4, .05)))},
		{"far point", metric.Same(space.Func(n, func(i, j int) float64 { // where Standard's 1/2 is nearly tight
			if i == 0 {
				return 1
			}
			return 0.001
		}))},
		{"one point", metric.Same(space.Simplex(1, 1))},
		{"two points", metric.Same(space.Simplex(2, 3))},
		{"coincident", metric.Same(space.Simplex(4, 0))},
		{"pairs that coincide", metric.Same(pairs)},
		{"alike in privacy only", metric.Bimetric{Privacy: pairs, Utility: path}},
		{"alike in utility only", metric.Bimetric{Privacy: path, Utility: pairs}},
		{"measures", measures(t, space.Path(3, 1), 4)},
		{"Baire", testkit.Must(baire(int(math.Log2(float64(n))), 2).Space())},
	}
	count := 1
	if long() {
		count = 8
	}
	for i := range count {
		r := random.Seeded(uint64(i))
		var edges []metric.Edge
		for i := range n {
			for j := range i { // few different distances and many ties
				edges = append(edges, metric.Edge{I: i, J: j, Length: float64(1 + r.IntN(6))})
			}
		}
		heights := make([]float64, n-1)
		for i := range heights {
			heights[i] = math.Exp(4*r.Float64() - 4)
		}
		plane, tree := space.Uniform(n, r), testkit.Must(metric.NewUltrametric(r.Perm(n), heights))
		// As a matrix: an audit by the edges of a Graph rounds once more than one by its pairs.
		graph := testkit.Must(metric.Densify(t.Context(), testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))))
		out = append(out,
			named{"random plane, ultrametric", metric.Bimetric{Privacy: plane, Utility: tree}},
			named{"random graph, plane", metric.Bimetric{Privacy: graph, Utility: plane}},
			named{"random ultrametric, graph", metric.Bimetric{Privacy: tree, Utility: graph}},
			named{"random graph", metric.Same(graph)},
			named{"random ultrametric", metric.Same(tree)},
		)
	}
	return out
}

// words are the GloVe vectors of n of the words of examples/words.
func words(t testing.TB, n int) metric.Finite {
	text := testkit.Must(os.ReadFile("../../words/words.txt"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	pts := make([][]float64, n)
	for k := range pts {
		for _, f := range strings.Fields(lines[k*len(lines)/n])[1:] {
			pts[k] = append(pts[k], testkit.Must(strconv.ParseFloat(f, 64)))
		}
	}
	return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
}

// mammals is the taxonomy of n leaves of WordNet's.
func mammals(t testing.TB, n int) *metric.Tree {
	f := testkit.Must(os.Open("../../tradeoff/mammals.csv"))
	defer f.Close()
	rows := testkit.Must(csv.NewReader(f).ReadAll())
	paths := make([][]string, n)
	for k := range paths {
		paths[k] = strings.Split(rows[1+k*(len(rows)-1)/n][2], ">")
	}
	return testkit.Must(metric.TreeFromPaths(paths))
}

// measures are the probability measures on f in steps of 1/m: data sets of m records.
func measures(t testing.TB, f metric.Finite, m int) metric.Bimetric {
	net := testkit.Must(families.MeasureNet(t.Context(), f, m))
	return metric.Bimetric{Privacy: testkit.Must(net.TotalVariation(t.Context())), Utility: testkit.Must(net.Wasserstein(t.Context(), nil))}
}

func baire(depth, arity int) families.Baire {
	return families.Baire{Depth: depth, Arity: arity,
		Privacy: func(k int) float64 { return 1 / float64(k) }, Utility: func(k int) float64 { return math.Exp2(-float64(k)) }}
}
