package irc24

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

// sphere is n points of the sphere of a radius in R^dim.
func sphere(rng *rand.Rand, n, dim int, radius float64) [][]float64 {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = make([]float64, dim)
		for k := range pts[i] {
			pts[i][k] = rng.NormFloat64()
		}
		floats.Scale(radius/floats.Norm(pts[i], 2), pts[i])
	}
	return pts
}

// linear goes through Section 4.1.
func linear(ctx context.Context, r *exhibit.Run) {
	rng, plane := r.Rand(), metric.Euclidean{}
	pts := exhibit.Must(metric.NewPoints(append(sphere(rng, 100, 2, 0.5), sphere(rng, 100, 2, 0.25)...), plane))
	city := exhibit.Must(query.Landmarks(plane, 2, []float64{0.2, 0.1}))
	region := exhibit.Must(query.Ball(plane, []float64{0.1, -0.2}, 0.1, query.Smoothing{Width: 0.2}))
	similarity := exhibit.Must(query.Similarity([]float64{3, 4}))
	for i, q := range []query.Query[[]float64]{query.Average(additive.Norm{P: 2, Dim: 2}), region, similarity, city} {
		seen := exhibit.Must(query.LipschitzAtLeast(ctx, q, pts)).Ratio
		r.Say("Theorem 4.1", "sensitivity over the Lipschitz constant: "+[]string{"average", "smoothed region", "similarity", "distance to a city"}[i], "at most 1", seen/q.Lipschitz,
			exhibit.If(seen <= q.Lipschitz*(1+1e-9) && seen > 0.8*q.Lipschitz, exhibit.Holds), "of users of one item, the steepest two of 200 points; informally Theorem 1.1")
	}
	local := exhibit.Must(query.NewLinear(ctx, city, emd.Model{Trust: emd.Local, Diameter: 1}, emd.Promise{Alpha: alpha}, nil))
	central := exhibit.Must(query.NewLinear(ctx, city, emd.Model{Trust: emd.Central, Users: users, Diameter: 1}, emd.Promise{Alpha: alpha}, nil))
	scale := func(l *query.Linear[[]float64]) float64 { return l.StdDev() / math.Sqrt2 } // in one dimension
	r.Say("Lemma 4.2", "Algorithm 1: scale of the curator's noise times alpha n/l", 1., scale(central)*alpha*users, exhibit.Near(scale(central)*alpha*users, 1, 1e-3),
		"omega = 1/(alpha n); the text above the lemma divides by alpha twice. Users may hold any number of items, which is more than the lemma says")
	r.Say("Section 4.1", "mean noise of one user in the example, l/alpha", 0.04, scale(local), exhibit.Near(scale(local), 0.04, 1e-3), "omega = 1/alpha; its deviation is sqrt 2 times that")
	mean, n, draws, same := 0.0, 1000, exhibit.Size(r, 300, 20_000), emd.One([][]float64{{0.2, 0.1}})
	for range draws {
		sum := 0.0
		for range n {
			sum += exhibit.Must(local.Release(rng, same))[0] / float64(n)
		}
		mean += math.Abs(sum) / float64(draws)
	}
	exact := local.StdDev() * math.Sqrt(2/math.Pi/users)
	r.Say("Section 4.1", "mean error over 100,000 users", 1.26e-4, exact, exhibit.If(math.Abs(mean*math.Sqrt(float64(n)/users)/exact-1) < 0.25, exhibit.Corrected),
		"a mean of many errs by sqrt(2/pi) of its deviation .04 sqrt(2/n), as draws of 1,000 users do; the paper has .04/sqrt n")
	r.Say("Section 4.1", "the same in miles", 1.6, exact*miles, exhibit.If(exhibit.Near(exact*miles, 1.85, 0.01) == exhibit.Holds, exhibit.Corrected), "")

	// Gaussian noise, for a constant of 1 and a diameter of 1.
	const delta = 1e-6
	printed := func(alpha float64) float64 { return math.Sqrt(1.25*math.Log(1/delta)) / alpha }
	least := exhibit.Must(additive.GaussianSigma(additive.GaussianTarget{Alpha: alpha, Delta: delta, Diameter: 1}))
	far, reached := additive.GaussianDelta(printed(alpha), alpha, 1), additive.GaussianDelta(least, alpha, 1)
	r.Say("Lemma 6.2", "delta of Gaussian noise of scale sqrt(1.25 ln(1/delta))/alpha, alpha = 25", delta, far, exhibit.If(far > delta, exhibit.Corrected), "in closed form; the formula is one for small levels. Section 4.1 prints alpha twice in it")
	r.Say("Lemma 6.2", "the least private scale, alpha = 25", printed(alpha), least, exhibit.If(reached <= delta && reached > 0.99*delta, exhibit.Corrected), "what NewLinear takes")
}

// embeddings is Table 2a: d = 3 rows F of length 1, on embeddings phi of 40 items.
func embeddings(ctx context.Context, r *exhibit.Run) {
	const d, dim, k, n, eps, delta = 3, 8, 40, 1000, 0.2, 1e-6
	rng := r.Rand()
	phi := sphere(rng, k, dim, 0.5)
	embedded := exhibit.Must(query.LinearMap(sphere(rng, d, dim, 1), query.Average(additive.Norm{P: 2, Dim: dim})))
	columns, longest, v := make([][]float64, d), 0.0, make([]float64, d)
	for _, p := range phi {
		embedded.Func(p, v)
		longest = max(longest, floats.Norm(v, 2))
		for i := range v {
			columns[i] = append(columns[i], v[i])
		}
	}
	steepest := exhibit.Must(query.LipschitzAtLeast(ctx, embedded, exhibit.Must(metric.NewPoints(phi, metric.Euclidean{})))).Ratio
	r.Say("Section 6.1", "Lipschitz constant of F phi, |F|_2, and |F Phi|_(1->2)", "<= |F|_2 <= sqrt d; <= |F|_2 |Phi|_(1->2)", fmt.Sprintf("%.4g, %.4g, %.4g", steepest, embedded.Lipschitz, longest),
		exhibit.If(steepest <= embedded.Lipschitz && embedded.Lipschitz <= math.Sqrt(d) && longest <= embedded.Lipschitz/2, exhibit.Holds), "40 items, |phi| = 1/2, d = 3 rows of length 1")
	rms := func(m interface{ StdDev() float64 }) float64 { return math.Sqrt(d) * m.StdDev() }
	curator := emd.Model{Trust: emd.Central, Users: n, Diameter: 1}
	under := func(m emd.Model, alpha float64) (pure, gaussian float64) {
		return rms(exhibit.Must(query.NewLinear(ctx, embedded, m, emd.Promise{Alpha: alpha}, nil))), rms(exhibit.Must(query.NewLinear(ctx, embedded, m, emd.Promise{Alpha: alpha, Delta: delta}, nil)))
	}
	// Hardt, Talwar: at user level shares of items move by 2 in l1, and the query by 2 in the
	// norm whose ball holds F Phi's columns, here that of l2. Duchi, Jordan, Wainwright: a user draws a vector
	// of one length, without bias.
	share := query.Query[int]{Norm: additive.Norm{P: 1, Dim: k}, Lipschitz: 2, Func: func(x int, dst []float64) { clear(dst); dst[x] = 1 }}
	ball := rms(exhibit.Must(query.NewLinear(ctx, exhibit.Must(query.LinearMap(columns, share)), curator, emd.Promise{Alpha: eps}, nil)))
	duchi := longest / math.Tanh(eps/2.) * math.Sqrt(math.Pi) / 2 * d * math.Gamma((d-1)/2.+1) / math.Gamma(d/2.+1) / math.Sqrt(n)
	for _, c := range []struct {
		where, base, order string
		whole, root        float64
		m                  emd.Model
	}{
		{"central", "K-norm mechanism in l2, Lemma 6.3", "O(d/(eps n))", ball, 1, curator},
		{"local", "Duchi et al., Lemma 6.1", "O(d/(eps sqrt n))", duchi, math.Sqrt(n), emd.Model{Trust: emd.Local, Diameter: 1}},
	} {
		r.Say("Table 2a", fmt.Sprintf("%s, 1,000 users, user level eps = .2: error of %s", c.where, c.base), c.order, c.whole, exhibit.If(c.whole > 0, exhibit.Holds), "root mean square of the exact noise, here and below")
		for _, a := range []float64{eps, alpha} {
			pure, gaussian := under(c.m, a)
			less := min(pure, gaussian) / c.root / c.whole
			r.Say("Table 2a", fmt.Sprintf("%s: error of PrivEMDLinear, alpha = %g, over it", c.where, a), fmt.Sprintf("eps/alpha = %.4g, but for sqrt(ln(1/delta))", eps/a), less,
				exhibit.If(less > eps/a/10 && less < eps/a*10, exhibit.Holds), fmt.Sprintf("without delta; Gaussian, Lemma 6.2 and Section 6.1.2, at delta = 1e-6 %.4g", gaussian/c.root/c.whole))
		}
	}
}
