package exponential

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// words are n vectors of float32 in R^d, multiples of 2^-12, with some copies.
func words(n, d int) [][]float32 {
	r := random.Seeded(11)
	v, x := make([][]float32, n), make([]float64, d)
	for i := range v {
		random.FillNormal(r, x)
		v[i] = make([]float32, d)
		for j := range x {
			v[i][j] = float32(math.RoundToEven(x[j]*0x1p11) * 0x1p-12)
		}
		if i%10 == 9 {
			copy(v[i], v[i-1])
		}
	}
	return v
}

// The distribution is that of the paper: a word within reach has the weight
// exp(-alpha*d/2), and one symbol for the others, drawn among them uniformly, their number
// times exp(-alpha*reach/2).
func TestTruncated_IsTEM(t *testing.T) {
	const alpha = 1.5
	f := points[[]float32](t, words(40, 30), metric.Float32[metric.Euclidean]{})
	for _, reach := range []float64{1e-3, 2.5, 3.8, 100} {
		m := testkit.Must(Truncated(t.Context(), f, alpha, reach, nil))
		var row []float64
		for x := range f.Len() {
			inside, rest := 0.0, 0
			for y := range f.Len() {
				if d := f.Distance(x, y); d <= reach {
					inside += math.Exp(-alpha * d / 2)
				} else {
					rest++
				}
			}
			symbol := float64(rest) * math.Exp(-alpha*reach/2)
			row = m.Row(x, row)
			for y, got := range row {
				want := math.Exp(-alpha*f.Distance(x, y)/2) / (inside + symbol)
				if f.Distance(x, y) > reach {
					want = symbol / (inside + symbol) / float64(rest)
				}
				if !near(got, want, 1e-6) {
					t.Fatalf("reach %v: P{%d|%d} = %v, want %v", reach, y, x, got, want)
				}
			}
		}
	}
}

// The level is alpha per unit of the distance and of the cut distance, by the exact matrix:
// of word vectors, and of spaces at which the factor 1/2 is nearly used up, where words
// crowd within reach of one and out of reach of another.
func TestTruncated_Audit(t *testing.T) {
	const copies = 100
	crowd := func(d int) metric.Finite { // copies of a word, one at distance 1, one at 3
		v := make([][]float32, copies+2)
		for i := range v {
			v[i] = make([]float32, d)
		}
		v[copies][d/2], v[copies+1][d-1] = 1, 3
		return points[[]float32](t, v, metric.Float32[metric.Euclidean]{})
	}
	for name, c := range map[string]struct {
		f            metric.Finite
		alpha, reach float64
		tight        bool
	}{
		"words":        {points[[]float32](t, words(60, 25), metric.Float32[metric.Euclidean]{}), 3, 3, false},
		"words, near":  {points[[]float32](t, words(60, 25), metric.Float32[metric.Euclidean]{}), 3, .1, false},
		"crowd":        {crowd(50), .5, 2, true},
		"crowd, plane": {crowd(2), .5, 2, true},
		"crowd, at 1":  {crowd(50), .5, 1, true},
		"line":         {euclidean(t, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 1, 4.5, false},
	} {
		m := testkit.Must(Truncated(t.Context(), c.f, c.alpha, c.reach, nil))
		a := testkit.Must(m.Audit(t.Context(), c.f, nil))
		cut := testkit.Must(metric.NewPoints(all(c.f.Len()), metric.Func[int](func(i, j int) float64 { return min(c.reach, c.f.Distance(i, j)) })))
		b := testkit.Must(m.Audit(t.Context(), cut, nil))
		if a.Hi > c.alpha || b.Hi > c.alpha {
			t.Errorf("%s: audited levels %v and %v, want at most %v", name, a.Hi, b.Hi, c.alpha)
		}
		if c.tight && b.Hi < .95*c.alpha {
			t.Errorf("%s: audited level %v: the test shows nothing", name, b.Hi)
		}
		if m.Method != MethodTruncated || m.Guarantee() != testkit.Must(mechanism.NewGuarantee(c.alpha, 0, "")) {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// Words in many dimensions need no search for the nearest two: the points know how far they
// lie apart at least, and which are the same. Without a common step there is one.
func TestLazy_Latticed(t *testing.T) {
	v := words(300, 40)
	built := func(v [][]float32) *Mechanism {
		return testkit.Must(Lazy(t.Context(), points[[]float32](t, v, metric.Float32[metric.Euclidean]{}), 2, nil))
	}
	quick := built(v)
	copy(v[31], v[32])
	v[31][3] += 0x1p-12
	m := testkit.Must(newFamily("", "", points[[]float32](t, v, metric.Float32[metric.Euclidean]{}), 1, nil))
	e, _ := m.f.(metric.Embedded).Embed()
	if least := m.latticed(e); !(least <= 0x1p-12 && least > .9*0x1p-12) || m.first[19] != 18 || m.first[32] != 32 {
		t.Errorf("two words 2^-12 apart are found to be %v apart", least)
	}
	copy(v[31], v[33])
	v[5][7] = 0x1p-36 // a step that is too small to be of use
	slow := built(v)
	if !near(quick.Beta, 1, 1e-6) || quick.Beta >= slow.Beta || !near(slow.Beta, 1, 1e-6) {
		t.Errorf("rates %v and %v: want the first lower, both hardly below 1", quick.Beta, slow.Beta)
	}
	for x := 9; x < 300; x += 10 {
		a, b := quick.Row(x, nil), quick.Row(x-1, nil)
		for y := range a {
			if a[y] != b[y] {
				t.Fatalf("%d and %d have one vector and two distributions", x-1, x)
			}
		}
	}
}
