package mechanism

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// connected is a graph of n nodes: a grid of the given width, or a random tree where
// it is 0, and more edges between any nodes, most of them longer than the way round.
func connected(t *testing.T, r *rand.Rand, n, width, more int, length func() float64) *metric.Graph {
	t.Helper()
	var edges []metric.Edge
	for i := 1; i < n; i++ {
		if width == 0 {
			edges = append(edges, metric.Edge{I: i, J: r.IntN(i), Length: length()})
			continue
		}
		if i%width > 0 {
			edges = append(edges, metric.Edge{I: i, J: i - 1, Length: length()})
		}
		if i >= width {
			edges = append(edges, metric.Edge{I: i, J: i - width, Length: length()})
		}
	}
	for range more {
		edges = append(edges, metric.Edge{I: r.IntN(n), J: r.IntN(n), Length: 2 * length()})
	}
	return testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
}

// What the edges of a graph give is what all pairs give, whatever the lengths (0 among
// them) and the weights (0 in some rows only among them).
func TestAudit_EdgesImplyAllPairs(t *testing.T) {
	r := random.Seeded(13)
	infinite, zero := 0, 0
	for trial := range 200 {
		n, m := 1+r.IntN(40), 1+r.IntN(5)
		length := r.ExpFloat64
		switch trial % 4 {
		case 0:
			length = func() float64 { return float64(r.IntN(3)) }
		case 1:
			length = func() float64 { return math.Exp(40 * r.NormFloat64()) }
		}
		g := connected(t, r, n, r.IntN(7), r.IntN(n), length)
		pairs := testkit.Must(metric.NewMatrix(rows(g)))
		c := arbitrary(t, r, n, m, trial%2 > 0, .2)
		if trial%3 == 1 { // levels of about 1: a function of distances
			at := r.IntN(n)
			c = testkit.Must(FromLogWeights(t.Context(), n, 2, spread(n, func(x int) float64 { return g.Distance(x, at) / (1 + g.Distance(0, n-1)) }), nil))
		}
		if m := c.Outputs(); trial%5 == 4 && m > 1 {
			c.w[r.IntN(n)*m+1] = map[bool]float64{true: math.Inf(-1)}[c.log]
			for x := range n {
				c.sum(x)
			}
		}
		got, want := testkit.Must(c.Audit(t.Context(), g, nil)), testkit.Must(c.Audit(t.Context(), pairs, nil))
		if got.Lo > want.Hi || got.Hi < want.Lo || got.Lo < want.Lo*(1-1e-13) || got.Hi > want.Hi*(1+1e-13) {
			t.Errorf("trial %d, %v: %v, over all pairs %v", trial, g, got, want)
		}
		if math.IsInf(got.Hi, 1) {
			infinite++
		}
		if got.Hi == 0 {
			zero++
		}
		one := testkit.Must(c.Audit(t.Context(), g, &AuditOptions{Workers: 1}))
		if one != got {
			t.Errorf("trial %d: %v, with one worker %v", trial, got, one)
		}
	}
	if infinite < 10 || infinite > 150 || zero > 50 {
		t.Errorf("%d levels are infinite and %d are 0 of 200", infinite, zero)
	}
}

func rows(f metric.Finite) [][]float64 {
	d := make([][]float64, f.Len())
	for i := range d {
		d[i] = make([]float64, f.Len())
		for j := range d[i] {
			d[i][j] = f.Distance(i, j)
		}
	}
	return d
}

// spread gives two log-weights an input, a and -a.
func spread(n int, a func(x int) float64) []float64 {
	w := make([]float64, 0, 2*n)
	for x := range n {
		w = append(w, a(x), -a(x))
	}
	return w
}

// Where sums of lengths are rounded down, each time by nearly half an ulp, the level
// of a far pair is above that of every edge, and still in the interval.
func TestAudit_EdgesCountTheRoundingOfPaths(t *testing.T) {
	const n, tiny = 300, 0x1p-53 * .9
	edges := []metric.Edge{{I: 0, J: 1, Length: 1}}
	for i := 2; i < n; i++ {
		edges = append(edges, metric.Edge{I: i - 1, J: i, Length: tiny})
	}
	g := testkit.Must(metric.NewGraphEdges(t.Context(), n, edges))
	c := testkit.Must(FromLogWeights(t.Context(), n, 2, spread(n, func(x int) float64 {
		return map[bool]float64{true: -1, false: float64(x-1) * tiny}[x == 0]
	}), nil))
	got, want := testkit.Must(c.Audit(t.Context(), g, nil)), testkit.Must(c.Audit(t.Context(), testkit.Must(metric.NewMatrix(rows(g))), nil))
	if got.Lo >= want.Lo {
		t.Fatalf("the edges show the level of the far pair: %v, %v", got, want)
	}
	if got.Hi < want.Hi {
		t.Errorf("%v, over all pairs %v", got, want)
	}
}

// A guarantee within a reach, and one with a delta, are of the pairs themselves.
func TestAudit_ReachAndDeltaTakeAllPairs(t *testing.T) {
	g := testkit.Must(metric.NewGraphEdges(t.Context(), 3, []metric.Edge{{I: 0, J: 1, Length: 1}, {I: 1, J: 2, Length: 1}}))
	c := testkit.Must(FromWeights(t.Context(), 3, 2, []float64{.8, .2, .5, .5, .2, .8}, nil))
	pairs := testkit.Must(metric.NewMatrix(rows(g)))
	for _, o := range []*AuditOptions{{Delta: .1}, {Delta: 1e-9}, {Delta: 1e-300}} {
		got, want := testkit.Must(c.Audit(t.Context(), g, o)), testkit.Must(c.Audit(t.Context(), pairs, o))
		if got.Lo != want.Lo || got.Hi < want.Hi || got.Hi > want.Hi*(1+1e-15) {
			t.Errorf("delta = %v: %v, over all pairs %v", o.Delta, got, want)
		}
	}
	// No edge is within the reach, which passes over all pairs.
	o := (*AuditOptions)(nil).auditing("")
	o.reach = .5
	if a := testkit.Must(c.audit(t.Context(), g, o)); a.Hi != 0 {
		t.Errorf("no pair is within reach: %v", a)
	}
}
