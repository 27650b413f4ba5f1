package chain

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// question is one of the open problems of BSV24, section 1.4: whether the
// optimal accuracy A(Z, alpha) is, up to constants, the sum s + s_o of the
// entropic and the diametric scale, beyond the spaces for which
// that is proved. The quotient of A and the sum tells.
//
// The constants beside alpha matter more than those before the scales: for
// which c and d is A(Z, alpha) at most a constant times s(Z, c*alpha) + s_o(Z,
// d*alpha)? The lower bounds of BSV24 have c = d = 2, and Theorem 5.1 proves it
// for ultrametrics rho2 and c + d < 1/2. Two families show what cannot be. At n
// points all at distance r under rho1 and 1 under rho2,
//
//	A = (n-1)/(n-1+e^(alpha*r)),  s_o(Z, d*alpha) = e^(-d*alpha*r),  s(Z, c*alpha) = 0 for n <= e^(c*alpha*r).
//
// At c = d and alpha*r = ln(n)/c the quotient is about n^(2-1/c), at c = d = 1
// it approaches n-1 as r grows, and for r near 0 it is (n-1)/(2n) for all c and
// d. In the dense ultrametrics (see dense) s(Z, c*alpha) = 0 and s_o(Z,
// d*alpha) = 1, while A seems to be bounded for c + d < 1, to grow like ln(n)
// at c + d = 1 and like a power of n above. So c + d < 1 is needed, for two
// ultrametrics already.
type question struct {
	one       bool    // rho1 = rho2
	entropic  float64 // the level of s, as a multiple of alpha
	diametric float64 // that of s_o
}

// pairOfMetrics is a bimetric space, n*n distances each. alpha is 1: another
// level is another unit of rho1.
type pairOfMetrics struct {
	n          int
	rho1, rho2 []float64
}

func (p pairOfMetrics) space() metric.Bimetric {
	f := func(d []float64) *metric.Dense {
		return space.Func(p.n, func(i, j int) float64 { return d[i*p.n+j] })
	}
	if slices.Equal(p.rho1, p.rho2) {
		return metric.Same(f(p.rho1))
	}
	return metric.Bimetric{Privacy: f(p.rho1), Utility: f(p.rho2)}
}

// quotient is a proved lower bound of the quotient at p.
func (q question) quotient(t testing.TB, p pairOfMetrics) float64 {
	t.Helper()
	b := p.space()
	opt := testkit.Must(lp.Optimal(t.Context(), b, 1, &lp.Options{Tolerance: 1e-4, Workers: 1}))
	s := testkit.Must(entropy.EntropicScale(t.Context(), b, q.entropic, &entropy.Options{Workers: 1}))
	so := testkit.Must(entropy.DiametricScale(t.Context(), b, q.diametric, &entropy.PassOptions{Workers: 1}))
	return opt.DualBound / (s.Hi + so.Hi)
}

// dense is the space in which rho1(i, j) = ln(k)/c, k = max(i, j)+1. A ball of
// rho1 of any radius r has at most e^(c*r) points, so that s(Z, c) = 0, and at
// all radii as many as that allows. Two metrics have the largest rho2 that
// s_o(Z, d) = 1 allows, e^(d*rho1) = k^(d/c).
func (q question) dense(n int) pairOfMetrics {
	rho1 := distances(n, func(i, j int) float64 {
		return math.Log(float64(max(i, j)+1)) / q.entropic * (1 + 1e-9) // clear of rounding
	})
	p := pairOfMetrics{n: n, rho1: rho1, rho2: slices.Clone(rho1)}
	if !q.one {
		p.rho2 = distances(n, func(i, j int) float64 { return math.Exp(q.diametric * rho1[i*n+j]) })
	}
	return p
}

// distances are d(i, j), asked for i > j, in both triangles of a matrix.
func distances(n int, d func(i, j int) float64) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range i {
			out[i*n+j] = d(i, j)
			out[j*n+i] = out[i*n+j]
		}
	}
	return out
}

func check(t *testing.T, q question, p pairOfMetrics) {
	t.Helper()
	b := p.space()
	ok(t, cmp.Or(metric.Validate(t.Context(), b.Privacy, nil), metric.Validate(t.Context(), b.Utility, nil)))
	if q.one && !b.OneMetric() {
		t.Errorf("%+v: two metrics", q)
	}
}

// TestOpenProblems_Simplex is the formula in the comment on question, at c = 1.
func TestOpenProblems_Simplex(t *testing.T) {
	q := question{entropic: 1, diametric: 1}
	for _, n := range []int{2, 5, 10, 20} {
		for _, r := range []float64{math.Log(float64(n)) * (1 + 1e-9), 12} {
			all := func(d float64) []float64 { return distances(n, func(i, j int) float64 { return d }) }
			p := pairOfMetrics{n, all(r), all(1)}
			m, e := float64(n-1), math.Exp(r)
			if v, want := q.quotient(t, p), m*e/(m+e); math.Abs(v/want-1) > 2e-4 {
				t.Errorf("n=%d, r=%v: %v, want %v", n, r, v, want)
			}
		}
	}
}

// TestOpenProblems_Dense has the quotients of dense ultrametrics: growing like
// ln(n) where c + d = 1 and there are two metrics, and little elsewhere.
func TestOpenProblems_Dense(t *testing.T) {
	for _, c := range []struct {
		q       question
		n8, n32 float64
	}{
		{question{entropic: 1. / 3, diametric: 1. / 7}, 0.248575, 0.264733},
		{question{entropic: 1. / 3, diametric: 1. / 3}, 0.456673, 0.537273},
		{question{entropic: 0.5, diametric: 0.5}, 1.241775, 2.312479},
		{question{entropic: 0.25, diametric: 0.75}, 1.658386, 2.996913},
		{question{one: true, entropic: 1. / 3, diametric: 1. / 3}, 0.423937, 0.463077},
		{question{one: true, entropic: 0.5, diametric: 0.5}, 1.103211, 1.529863},
	} {
		for n, want := range map[int]float64{8: c.n8, 32: c.n32} {
			p := c.q.dense(n)
			check(t, c.q, p)
			ok(t, metric.ValidateUltrametric(t.Context(), p.space().Utility, 0))
			if got := c.q.quotient(t, p); math.Abs(got/want-1) > 2e-4 {
				t.Errorf("%+v, n=%d: %v, want %v", c.q, n, got, want)
			}
		}
	}
}
