package entropy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// question is one of THEOREMS.md: how large A/(s(c alpha) + s_o(d alpha)) can be, or with
// 1/alpha in place of s_o. alpha is 1: another level is another unit of rho1.
type question struct {
	one, dominated bool    // rho1 = rho2, rho2 <= rho1
	c, d           float64 // d = 0: 1/alpha
}

var questions = []question{
	{c: 1. / 3, d: 1. / 7}, {c: 1. / 3, d: 1. / 3}, {c: .5, d: .5}, {c: 1, d: 1},
	{one: true, c: 1. / 3, d: 1. / 7}, {one: true, c: 1. / 3, d: 1. / 3}, {one: true, c: .5, d: .5}, {one: true, c: 1, d: 1},
	{dominated: true, c: 1. / 3}, {dominated: true, c: 1},
}

// distances are n*n under either metric.
type distances struct {
	n          int
	rho1, rho2 []float64
}

func (p distances) space() metric.Bimetric {
	f := func(d []float64) metric.Finite {
		return space.Func(p.n, func(i, j int) float64 { return d[i*p.n+j] })
	}
	if slices.Equal(p.rho1, p.rho2) {
		return metric.Same(f(p.rho1))
	}
	return metric.Bimetric{Privacy: f(p.rho1), Utility: f(p.rho2)}
}

// matrix are d(i, j), asked for i > j, in both triangles.
func matrix(n int, d func(i, j int) float64) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range i {
			out[i*n+j] = d(i, j)
			out[j*n+i] = out[i*n+j]
		}
	}
	return out
}

// quotient is a proved lower bound of the quotient at p, 0 where its denominator is.
func (q question) quotient(t testing.TB, p distances) float64 {
	t.Helper()
	b, serial := p.space(), &scale.Options{Workers: 1}
	best := testkit.Must(lp.Optimal(t.Context(), b, 1, &lp.Options{Tolerance: 1e-4, Workers: 1}))
	sum := testkit.Must(scale.Entropic(t.Context(), b, []float64{q.c}, serial))[0].Hi
	if q.d > 0 {
		sum += testkit.Must(scale.Diametric(t.Context(), b, []float64{q.d}, serial))[0].Hi
	} else {
		sum++
	}
	if sum == 0 {
		return 0
	}
	return best.DualBound / sum
}

// dense is the space of question (iii), with the largest rho2 that s_o(d) = 1 allows.
func (q question) dense(n int) distances {
	rho1 := matrix(n, func(i, j int) float64 { return math.Log(float64(max(i, j)+1)) / q.c * (1 + 1e-9) }) // clear of rounding
	p := distances{n, rho1, slices.Clone(rho1)}
	if !q.one && q.d > 0 {
		p.rho2 = matrix(n, func(i, j int) float64 { return math.Exp(q.d * rho1[i*n+j]) })
	}
	return p
}

// known are the bad spaces of n points of THEOREMS.md: dense, and alike at any distance.
func (q question) known(n int) []distances {
	out := []distances{q.dense(n)}
	for _, r := range []float64{1e-3, math.Log(float64(n)) / q.c * (1 + 1e-9), 12} {
		all := func(d float64) []float64 { return matrix(n, func(int, int) float64 { return d }) }
		p := distances{n, all(r), all(1)}
		if q.one || q.dominated {
			p.rho2 = all(r)
		}
		out = append(out, p)
	}
	return out
}

// start is a random space for the question: points of a line, at random distances or all
// alike, of any size between where all are alike and where all are apart.
func (q question) start(rng *rand.Rand, n int) distances {
	draw := func() []float64 {
		kind, size := rng.IntN(3), math.Exp(4*rng.Float64()-1)
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.Float64()
		}
		return matrix(n, func(i, j int) float64 {
			switch kind {
			case 0:
				return size * math.Abs(x[i]-x[j])
			case 1:
				return size * math.Exp(3*rng.Float64())
			}
			return size
		})
	}
	p := distances{n, draw(), draw()}
	if rng.IntN(2) == 0 {
		copy(p.rho2, p.rho1)
	}
	q.mend(p)
	return p
}

// mend makes metrics of p's distances, and lets them be as the question asks.
func (q question) mend(p distances) {
	shorten := func(d []float64) {
		for k := range p.n {
			for i := range p.n {
				for j := range p.n {
					d[i*p.n+j] = min(d[i*p.n+j], d[i*p.n+k]+d[k*p.n+j])
				}
			}
		}
	}
	shorten(p.rho1)
	for i, d := range p.rho1 {
		if q.one {
			p.rho2[i] = d
		} else if q.dominated {
			p.rho2[i] = min(p.rho2[i], d)
		}
	}
	shorten(p.rho2)
}

// plane are n uniform points of the plane, one a unit of area.
func plane(n int) metric.Finite {
	r := random.Seeded(1)
	pts := make([][2]float64, n)
	for i := range pts {
		pts[i] = [2]float64{r.Float64() * math.Sqrt(float64(n)), r.Float64() * math.Sqrt(float64(n))}
	}
	return testkit.Must(metric.NewPoints(pts, metric.Plane{}))
}

// BenchmarkAccuracy is of points of the plane. It reports Hi/Lo.
func BenchmarkAccuracy(b *testing.B) {
	const n = 1000
	f := plane(n)
	for _, alpha := range []float64{.1, .5, 2} {
		b.Run(fmt.Sprintf("n=%d/alpha=%v", n, alpha), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(testkit.Must(entropy.Accuracy(b.Context(), metric.Same(f), []float64{alpha}, nil))[0].Ratio(), "Hi/Lo")
			}
		})
	}
}

// TestQuestions_Dense has the quotients of dense ultrametrics: growing like ln(n) where c + d
// = 1 and there are two metrics, and little elsewhere; and of points all alike at c = d = 1.
func TestQuestions_Dense(t *testing.T) {
	for _, c := range []struct {
		q       question
		n8, n32 float64
	}{
		{question{c: 1. / 3, d: 1. / 7}, 0.248575, 0.264733},
		{question{c: 1. / 3, d: 1. / 3}, 0.456673, 0.537273},
		{question{c: 0.5, d: 0.5}, 1.241775, 2.312479},
		{question{c: 0.25, d: 0.75}, 1.658386, 2.996913},
		{question{one: true, c: 1. / 3, d: 1. / 3}, 0.423937, 0.463077},
		{question{one: true, c: 0.5, d: 0.5}, 1.103211, 1.529863},
	} {
		for n, want := range map[int]float64{8: c.n8, 32: c.n32} {
			p := c.q.dense(n)
			testkit.Check(t, metric.ValidateUltrametric(t.Context(), p.space().Utility, 0))
			got := c.q.quotient(t, p)
			if math.Abs(got/want-1) > 2e-4 {
				t.Errorf("%+v, n=%d: %v, want %v", c.q, n, got, want)
			}
			if sum, zeta := 0.0, 1.0; !c.q.one { // what is proved
				for k := 2.0; k <= float64(n); k++ {
					sum += math.Pow(k, (c.q.d-1)/c.q.c)
					zeta += math.Pow(k, -1/c.q.c)
				}
				if got < sum/zeta*(1-2e-4) {
					t.Errorf("%+v, n=%d: %v, proved %v", c.q, n, got, sum/zeta)
				}
			}
		}
	}
	q := question{c: 1, d: 1}
	for _, n := range []int{2, 5, 10, 20} {
		for _, p := range q.known(n)[2:] {
			m, e := float64(n-1), math.Exp(p.rho1[1])
			if v, want := q.quotient(t, p), m*e/(m+e); math.Abs(v/want-1) > 2e-4 {
				t.Errorf("n=%d, r=%v: %v, want %v", n, p.rho1[1], v, want)
			}
		}
	}
}

// TestQuestions_Bounds: no optimum of random and of known bad spaces of 3 to 8 points is
// above what THEOREMS.md, RelaxedBound and UpperBounds say.
func TestQuestions_Bounds(t *testing.T) {
	for i := range testkit.Sweep(400, 3000) {
		r := random.Seeded(uint64(i))
		q := questions[i%len(questions)]
		n := 3 + r.IntN(6)
		p := q.start(r, n)
		if k := r.IntN(8); k < 4 {
			p = q.known(n)[k]
		}
		b := p.space()
		best := testkit.Must(lp.Optimal(t.Context(), b, 1, &lp.Options{Tolerance: 1e-4, Workers: 1}))
		below := func(name string, bound float64) {
			if !(best.DualBound <= bound) {
				t.Errorf("space %d: optimum %v above %v of %s\n%v", i, best.DualBound, bound, name, p)
			}
		}
		scales := func(b metric.Bimetric, c, d float64) (s, so float64) {
			return testkit.Must(scale.Entropic(t.Context(), b, []float64{c}, nil))[0].Hi,
				testkit.Must(scale.Diametric(t.Context(), b, []float64{d}, nil))[0].Hi
		}
		c := 0.45 * r.Float64()
		d := (0.49 - c) * r.Float64()
		if r.IntN(2) == 0 || d == 0 || c == 0 {
			c, d = 1./3, 1./7
		}
		constant := (0.5 - d) / (0.5 - c - d)
		s, _ := scales(metric.Same(b.Privacy), c, d)
		_, so := scales(b, c, d)
		below("the net of rho1", constant*math.Exp((c+d)*s)*so)

		s, so = scales(b, c, d)
		net := testkit.Must(metric.Net(t.Context(), b.Utility, s, nil))
		k := 1
		for w := range n {
			near := 0
			for _, y := range net {
				if b.Utility.Distance(w, y) <= 2*s*(1+1e-12) {
					near++
				}
			}
			k = max(k, near)
		}
		if metric.ValidateUltrametric(t.Context(), b.Utility, 0) == nil {
			k = 1
		}
		below("the relaxed mechanism", s+(constant*float64(k)-1)*so)
		if s, so := scales(b, 1./3, 1./7); b.OneMetric() {
			below("25 max(s, s_o)", 25*max(s, so))
		}
		for _, u := range testkit.Must(entropy.UpperBounds(t.Context(), b, 1, nil)) {
			below(u.Name, u.Value)
		}
	}
}
