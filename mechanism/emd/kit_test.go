package emd

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// line is n points at distance 1/(n-1) from one to the next.
func line(t testing.TB, n int) *metric.Dense {
	t.Helper()
	var upper []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			upper = append(upper, float64(j-i)/float64(n-1))
		}
	}
	return testkit.Must(metric.NewDense(n, upper))
}

// geometricChannel has weights e^(-beta*d/2): at most beta-private.
func geometricChannel(t testing.TB, space metric.Finite, beta float64) *mechanism.Channel {
	t.Helper()
	n := space.Len()
	c, err := mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: n, Outputs: n, Log: true, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = -beta / 2 * space.Distance(x, y)
		}
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err = c.Certify(t.Context(), space, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// identityChannel returns every input as it is, and claims to be private.
func identityChannel(t testing.TB, n int, o *mechanism.ChannelOptions) *mechanism.Channel {
	t.Helper()
	c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: n, Outputs: n, Fill: func(x int, dst []float64) {
		clear(dst)
		dst[x] = 1
	}}, o))
	return c.WithGuarantee(pureLevel(t, 1))
}

func pureLevel(t testing.TB, alpha float64) mechanism.Guarantee {
	return testkit.Must(mechanism.NewGuarantee(alpha, 0, ""))
}

func newItemWise(t testing.TB, c *mechanism.Channel, m Model, o *ItemWiseOptions) *ItemWise {
	return testkit.Must(NewItemWise(t.Context(), c, m, o))
}

// multisetLaw is the exact law of the counts of the items' outputs, keyed by
// the counts.
func multisetLaw(c *mechanism.Channel, items []int) map[string]float64 {
	law, counts := map[string]float64{}, make([]int, c.Outputs())
	var add func(k int, p float64)
	add = func(k int, p float64) {
		if k == len(items) {
			law[fmt.Sprint(counts)] += p
			return
		}
		for y := range counts {
			counts[y]++
			add(k+1, p*c.Prob(items[k], y))
			counts[y]--
		}
	}
	add(0, 1)
	return law
}

// usersOf yields n users of m items each, drawn from p with a seed.
func usersOf(seed uint64, p []float64, n, m int) Users[int] {
	return func(yield func([]int) bool) {
		r := random.Seeded(seed)
		items := make([]int, m)
		for range n {
			for i := range items {
				u := r.Float64()
				for items[i] = 0; u >= p[items[i]] && items[i] < len(p)-1; items[i]++ {
					u -= p[items[i]]
				}
			}
			if !yield(items) {
				return
			}
		}
	}
}

// histogram is the mean of the users' histograms.
func histogram(k int, data Users[int]) []float64 {
	p := make([]float64, k)
	n := 0.0
	for items := range data {
		n++
		for _, x := range items {
			p[x] += 1 / float64(len(items))
		}
	}
	for x := range p {
		p[x] /= n
	}
	return p
}

// estimators are all three kinds on one space, in one model.
func estimators(t testing.TB, c *metric.Clustered, model Model, alpha0 float64) map[string]*Frequencies {
	t.Helper()
	g := mustGKRR(t, c, alpha0)
	closed := testkit.Must(NewGKRRFrequencies(t.Context(), g, model, nil))
	ch := testkit.Must(g.Channel(t.Context()))
	matrix := testkit.Must(NewFrequencies(t.Context(), ch, c, model, nil))
	h := testkit.Must(NewHadamardFrequencies(t.Context(), c, model, DP{Eps: alpha0 * float64(model.Items)}, nil))
	return map[string]*Frequencies{"clusters": closed, "matrix": matrix, "Hadamard": h}
}

// estimateOf releases the users' items and estimates from the counts.
func estimateOf(t testing.TB, f *Frequencies, r *rand.Rand, data Users[int]) *Estimate {
	t.Helper()
	counts := testkit.Must(f.Release(r, data))
	return testkit.Must(f.Estimate(counts))
}

// unitRows checks that the estimate of each row of c is a unit vector.
func unitRows(t testing.TB, what any, c *mechanism.Channel, estimate func(f, mean, variance []float64), tol float64) {
	t.Helper()
	for x := range c.Len() {
		mean := make([]float64, c.Len())
		estimate(c.Row(x, nil), mean, make([]float64, c.Len()))
		mean[x]--
		if floats.Norm(mean, math.Inf(1)) > tol {
			t.Fatalf("%+v: item %d: off by %v", what, x, mean)
		}
	}
}

// promiseOf is a stand-in for a mechanism: it promises, and records what it
// reads.
type promiseOf[P any] struct {
	g    Guarantee
	seen [][]P
	stop int // users to read; 0: all
}

func (m *promiseOf[P]) Guarantee() Guarantee { return m.g }

var errInner = errors.New("inner")

func (m *promiseOf[P]) Release(_ *rand.Rand, data Users[P]) (int, error) {
	m.seen = nil
	for items := range data {
		m.seen = append(m.seen, slices.Clone(items))
		if len(m.seen) == m.stop {
			return 0, errInner
		}
	}
	return len(m.seen), nil
}

func promise(t testing.TB, m Model, alpha, delta float64) Guarantee {
	t.Helper()
	level := testkit.Must(mechanism.NewGuarantee(alpha, delta, m.Unit))
	return testkit.Must(NewGuarantee(m, level))
}

// hockeyStick is the least delta at level eps.
func hockeyStick(p, q map[string]float64, eps float64) float64 {
	delta := 0.0
	for key, v := range p {
		delta += max(0, v-math.Exp(eps)*q[key])
	}
	return delta
}

// beyond is hockeyStick for laws on 0, 1, ...
func beyond(p, q []float64, eps float64) float64 {
	delta := 0.0
	for y, v := range p {
		delta += max(0, v-math.Exp(eps)*q[y])
	}
	return delta
}

// binomial is the law of s items of two points, one of them of probability p.
func binomialLaw(s int, p float64) []float64 {
	law := []float64{1}
	for range s {
		next := make([]float64, len(law)+1)
		for k, v := range law {
			next[k] += v * (1 - p)
			next[k+1] += v * p
		}
		law = next
	}
	return law
}

// ratio is x as a rational number.
func ratio(t testing.TB, x float64) *big.Rat {
	t.Helper()
	q := new(big.Rat).SetFloat64(x)
	if q == nil {
		t.Fatalf("%v is not finite", x)
	}
	return q
}
