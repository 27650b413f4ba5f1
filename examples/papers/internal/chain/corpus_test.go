package chain

import (
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// long asks for larger spaces and more of them. (A variable would be set before
// the go command watches what decides over a cached result.)
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
	cities, words := cities(t, n), words(t, n)
	edges, prefix := mammals(t, n)
	out := []named{
		{"cities", metric.Same(cities)},
		{"words", metric.Same(words)},
		{"mammals", metric.Bimetric{Privacy: edges, Utility: prefix}},
		{"mammals' taxonomy", metric.Same(prefix)},
		{"words as cities", metric.Bimetric{Privacy: cities, Utility: words}},
		{"grid", metric.Same(grid(n))},
		{"path", metric.Same(space.Path(n, 1))},
		{"cycle", metric.Same(space.Func(n, func(i, j int) float64 { return float64(min(j-i, n-j+i)) }))},
		{"simplex", metric.Same(space.Simplex(n, 1))},
		{"clusters", metric.Same(space.Func(n, func(i, j int) float64 {
			if i%3 == j%3 {
				return 0.05
			}
			return 1
		}))},
		{"far point", metric.Same(space.Func(n, func(i, j int) float64 { // where Standard's 1/2 is nearly tight
			if i == 0 {
				return 1
			}
			return 0.001
		}))},
		{"one point", metric.Same(space.Simplex(1, 1))},
		{"two points", metric.Same(space.Simplex(2, 3))},
		{"coincident", metric.Same(space.Simplex(4, 0))},
		{"pairs that coincide", metric.Same(space.Func(n, func(i, j int) float64 { return float64(j/2 - i/2) }))},
		{"alike in privacy only", metric.Bimetric{ // rho1 = 0 where rho2 > 0
			Privacy: space.Func(n, func(i, j int) float64 { return float64(j/2 - i/2) }), Utility: space.Path(n, 1)}},
		{"alike in utility only", metric.Bimetric{
			Privacy: space.Path(n, 1), Utility: space.Func(n, func(i, j int) float64 { return float64(j/2 - i/2) })}},
		{"measures", measures(t)},
		{"Baire", baire(t, n)},
	}
	count := 1
	if long() {
		count = 8
	}
	for i := range count {
		r := random.Seeded(uint64(i))
		plane, graph, tree := space.Uniform(n, r), metrised(n, r), ultra(t, n, r)
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

// cities are n of the places of examples/tradeoff, spread over its list.
func cities(t testing.TB, n int) metric.Finite {
	rows := table(t, "tradeoff/cities.csv")
	pts := make([]metric.LatLon, n)
	for k := range pts {
		row := rows[1+k*(len(rows)-1)/n]
		pts[k] = metric.LatLon{Lat: testkit.Must(strconv.ParseFloat(row[2], 64)), Lon: testkit.Must(strconv.ParseFloat(row[3], 64))}
	}
	return points(t, pts, metric.GreatCircle{})
}

// words are the GloVe vectors of n of the words of examples/words.
func words(t testing.TB, n int) metric.Finite {
	text := testkit.Must(os.ReadFile("../../../words/words.txt"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	pts := make([][]float64, n)
	for k := range pts {
		for _, f := range strings.Fields(lines[k*len(lines)/n])[1:] {
			pts[k] = append(pts[k], testkit.Must(strconv.ParseFloat(f, 64)))
		}
	}
	return points(t, pts, metric.Euclidean{})
}

// mammals are n leaves of WordNet's taxonomy: the edges between two, and the
// ultrametric of the common prefix of their paths.
func mammals(t testing.TB, n int) (metric.Finite, *metric.Ultrametric) {
	rows := table(t, "tradeoff/mammals.csv")
	paths := make([][]string, n)
	for k := range paths {
		paths[k] = strings.Split(rows[1+k*(len(rows)-1)/n][2], ">")
	}
	edges := points(t, paths, metric.Func[[]string](func(x, y []string) float64 {
		k := 0
		for k < min(len(x), len(y)) && x[k] == y[k] {
			k++
		}
		return float64(len(x) + len(y) - 2*k)
	}))
	prefix := testkit.Must(metric.Subdominant(t.Context(), points(t, paths, metric.CommonPrefix[string]{})))
	return edges, prefix
}

// grid is a grid of about n points under the l1 metric.
func grid(n int) metric.Finite {
	side := int(math.Sqrt(float64(n)))
	return space.Func(side*side, func(i, j int) float64 {
		return math.Abs(float64(i%side-j%side)) + math.Abs(float64(i/side-j/side))
	})
}

// measures are the probability measures on three points of a line in steps of
// 1/4: private measures at their smallest.
func measures(t testing.TB) metric.Bimetric {
	net := testkit.Must(families.MeasureNet(t.Context(), space.Path(3, 1), 4))
	tv := testkit.Must(net.TotalVariation(t.Context()))
	w1 := testkit.Must(net.Wasserstein(t.Context(), nil))
	return metric.Bimetric{Privacy: tv, Utility: w1}
}

func baire(t testing.TB, n int) metric.Bimetric {
	b, err := families.Baire{
		Depth:   int(math.Log2(float64(n))),
		Privacy: func(k int) float64 { return 1 / float64(k) },
		Utility: func(k int) float64 { return math.Exp2(-float64(k)) },
	}.Space()
	testkit.Check(t, err)
	return b
}

// metrised is a random graph's shortest-path metric, of few different
// distances and many ties.
func metrised(n int, r *rand.Rand) *metric.Dense {
	d := make([]float64, n*n)
	for i := range n {
		for j := range i {
			d[i*n+j] = float64(1 + r.IntN(6))
			d[j*n+i] = d[i*n+j]
		}
	}
	shorten(d, n)
	return space.Func(n, func(i, j int) float64 { return d[i*n+j] })
}

// shorten replaces the n*n symmetric lengths in d by those of shortest paths.
func shorten(d []float64, n int) {
	for k := range n {
		for i := range n {
			for j := range n {
				d[i*n+j] = min(d[i*n+j], d[i*n+k]+d[k*n+j])
			}
		}
	}
}

func ultra(t testing.TB, n int, r *rand.Rand) *metric.Ultrametric {
	heights := make([]float64, n-1)
	for i := range heights {
		heights[i] = math.Exp(4*r.Float64() - 4)
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), heights))
}

func points[P any](t testing.TB, pts []P, s metric.Space[P]) metric.Finite {
	t.Helper()
	return testkit.Must(metric.NewPoints(pts, s))
}

func table(t testing.TB, name string) [][]string {
	t.Helper()
	f := testkit.Must(os.Open("../../../" + name))
	defer f.Close()
	return testkit.Must(csv.NewReader(f).ReadAll())
}
