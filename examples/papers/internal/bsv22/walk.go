package bsv22

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// walks compares walks of n steps whose joint density is e^-V, V being 1-Lipschitz
// in the l1 norm: added to counts, all hide a record added or removed at level 1.
func walks(ctx context.Context, r *exhibit.Run) {
	rng := r.Rand()
	last, draws := exhibit.Size(r, 13, 20), exhibit.Size(r, 200, 400)
	var n, logs, far, single, iid, square []float64
	for l := 4; l <= last; l++ {
		w := exhibit.Must(walk.Superregular(1 << l))
		wider := float64(l+2) / float64(l+1) // the paper's scale is L+2
		v := make([]float64, 1<<l)
		exhibit.Check(w.Variances(v))
		super, independent, ofSquare := 0.0, 0.0, 0.0
		steps := make([]float64, 1<<l)
		for range draws {
			exhibit.Check(cmp.Or(ctx.Err(), w.Increments(rng, steps)))
			super += wider * farthest(steps) / float64(draws)
			for i := range steps {
				steps[i] = random.Laplace(rng)
			}
			independent += farthest(steps) / float64(draws)
			squared(rng, w.Tree(), steps)
			ofSquare += farthest(steps) / float64(draws)
		}
		n, logs = append(n, float64(int(1)<<l)), append(logs, float64(l))
		far, iid, square = append(far, super), append(iid, independent), append(square, ofSquare)
		single = append(single, wider*math.Sqrt(slices.Max(v))/math.Pow(float64(l), 1.5))
	}
	end := len(n) - 1
	at := fmt.Sprintf(", n = %.0f", n[end])
	w := exhibit.Must(walk.Superregular(1 << last))
	loss := exhibit.Must(w.Tree().Loss(walk.AddRemoveOne, w.Scales()))
	r.Say("Lemma 3.2", "l1 norm of the Haar coefficients of a step of 1", "L + 2", "L + 1", exhibit.If(exhibit.Near(loss, 1, 1e-9) == exhibit.Holds, exhibit.Better),
		fmt.Sprintf("levels 0 to L-1 and the total; with noise of scale L + 1, not L + 2, V is %s-Lipschitz", demo.Number(loss)))
	r.Say("Theorem 3.1", "(3.2): E max_k |S_k| is at most C log^2 n"+at, "C log^2 n", far[end], exhibit.If(exhibit.Slope(logs, far) < 2.05, exhibit.Holds),
		fmt.Sprintf("grows like (log n)^%.2f here", exhibit.Slope(logs, far)))
	r.Say("Theorem 3.1", "(3.3): max_k E|S_k| is at most C log^(3/2) n", "C log^(3/2) n", fmt.Sprintf("C from %.3f to %.3f, in log2", slices.Max(single), single[end]),
		exhibit.If(slices.IsSortedFunc(single, func(a, b float64) int { return -int(math.Copysign(1, a-b)) }) && single[end] < 1, exhibit.Holds), "by the largest deviation, exact: it falls with n")
	r.Say("Section 1.4", "independent Laplace steps: E max_k |S_k| grows like n^(1/2)"+at, "n^(1/2)", iid[end], exhibit.Near(exhibit.Slope(n, iid), .5, .1),
		fmt.Sprintf("exponent %.3f; Brownian motion has sqrt(pi n) = %s", exhibit.Slope(n, iid), demo.Number(math.Sqrt(math.Pi*n[end]))))
	least := math.Inf(1)
	for i := range n {
		least = min(least, far[i]/math.Log(n[i]), iid[i]/math.Log(n[i]))
	}
	r.Say("Proposition 3.3", "E max_k |S_k| is at least (ln n)/8 for every 1-Lipschitz V", "1/8", least, exhibit.If(least >= 1./8, exhibit.Holds), "the least quotient by ln n of both walks at all n")
	sayNorms(r, n[end], square[end])
	sayLeast(ctx, r)
	r.WriteCharts("bsv22-walk.png", &demo.Chart{
		Title: "How far walks of n private steps get", X: "n (steps)", Y: "mean of max |S_k| (units of a step's scale)", LogX: true, LogY: true,
		Series: []demo.Series{{Name: "iid Laplace", X: n, Y: iid}, {Name: "superregular", X: n, Y: far}, {Name: "e^(-V^2), section 3.6", X: n, Y: square}},
		Note:   fmt.Sprintf("The first two hide a record at level 1. Means of %d walks each.", draws),
	})
}

// farthest is the largest absolute value of a partial sum.
func farthest(steps []float64) float64 {
	at, most := 0.0, 0.0
	for _, s := range steps {
		at += s
		most = max(most, math.Abs(at))
	}
	return most
}

// sayNorms is about l_p for p > 1. If V is 1-Lipschitz there, the density of S = S_n changes by
// a factor e^(h/c) at most over h, c = n^(1-1/p). The tail T(t) of |S| has T >= -c T', so that T(t)
// >= e^(-t/c), E|S| >= c: four times the paper's bound, and e^-|S|/c attains it.
func sayNorms(r *exhibit.Run, n, square float64) {
	// For the density e^-|z|, p = 2, |z| is Gamma(n), and its direction any.
	a, _ := math.Lgamma(n / 2)
	b, _ := math.Lgamma((n + 1) / 2)
	mean := n * math.Exp(a-b) * math.Sqrt(n/math.Pi)
	r.Say("Proposition 3.4", "V 1-Lipschitz in l_p, p > 1: E|S_n| over n^(1-1/p) is at least 1/4", .25, 1., exhibit.If(mean >= math.Sqrt(n), exhibit.Better),
		fmt.Sprintf("1 is best possible: the density of S_n loses a factor e over n^(1-1/p) at most. The density e^-|z|, p = 2, has %s", demo.Number(mean/math.Sqrt(n))))
	r.Say("Section 3.6", "does the obstacle remain for densities e^(-V^p), V 1-Lipschitz in l_p, p > 1?", "open", "no", exhibit.If(square <= 8*math.Log2(n), exhibit.Better),
		fmt.Sprintf("with V the sum of the norms of the Haar levels over sqrt(L+1), p = 2, max_k E|S_k| is at most (L+1)/2 + sqrt(L+1); E max_k |S_k| is %s where n^(1/2) is %s", demo.Number(square), demo.Number(math.Sqrt(n))))
}

// squared draws from the density e^(-V^2), V(z) = sum |Q_l z|/sqrt(L+1), Q_l the projections on
// the total and the L levels of the Haar basis, of dimensions d_l = 1, 1, 2, 4, ... V is 1-Lipschitz
// in l2 by Cauchy and Schwarz. The norms r_l have the density prop. to e^(-R^2/(L+1)) prod r_l^(d_l-1),
// R their sum: R^2/(L+1) is Gamma(n/2), the parts of R are Dirichlet(d), and directions uniform.
// So the coefficient of a node has the variance (L+1)(d_l+1)/(2(n+1)), and adds sqrt(n/d_l)/2 times
// itself to a partial sum at most: S_k has a variance of (L+1)^2/4 + (L+1) at most. In l_p the sum over
// 2(L+1) is 1-Lipschitz, as |Q_l x| <= 2|x|, and the same count gives E|S_k| <= C_p log^(3/2) n.
func squared(rng *rand.Rand, t *walk.Tree, steps []float64) {
	levels, n := t.Height()+1, float64(len(steps))
	gamma := func(k int) (sum float64) {
		for range k {
			sum += random.Exponential(rng)
		}
		return sum
	}
	parts, sum := make([]float64, levels), 0.0
	for l := range parts {
		parts[l] = gamma(max(1, 1<<l>>1))
		sum += parts[l]
	}
	all := math.Sqrt(gamma(len(steps)/2) * float64(levels))
	for l := range levels {
		at, size := []int{0}, n
		if l > 0 {
			lo, hi := t.Level(l - 1)
			at, size = at[:0], size/float64(hi-lo)
			for v := lo; v < hi; v++ {
				at = append(at, t.Split(v))
			}
		}
		norm := 0.0
		for _, i := range at {
			steps[i] = rng.NormFloat64()
			norm += float64(steps[i] * steps[i])
		}
		for _, i := range at { // left less right, of a function of norm 1
			steps[i] *= all * parts[l] / sum * math.Sqrt(size/norm)
		}
	}
	exhibit.Check(t.HaarInverse(steps))
}

// sayLeast encloses the least E max |S_k| of two steps. Any noise of the walk, rounded in its
// partial sums to a grid of step h and cut off at a box, is a mechanism on the box, whose
// losses rounding lowers by h/2 at most: the optimum of that linear program is a lower bound.
func sayLeast(ctx context.Context, r *exhibit.Run) {
	side, h := exhibit.Size(r, 16, 24), exhibit.Size(r, .65, .5)
	at := cube(2, side)
	grid := exhibit.Must(metric.NewPoints(at, metric.Chebyshev{}))
	steps := metric.Func[[]float64](func(x, y []float64) float64 { // the l1 norm of the steps
		a, b := (x[0]-y[0])*float64(side), (x[1]-y[1])*float64(side)
		return h * (math.Abs(a) + math.Abs(b-a))
	})
	moved := exhibit.Must(metric.NewPoints(at, steps))
	loss := func(x, y int) float64 { return h * max(0, grid.Distance(x, y)*float64(side)-.5) }
	s := exhibit.Must(lp.Optimal(ctx, metric.Bimetric{Privacy: moved, Utility: grid}, 1, &lp.Options{Loss: loss, Tolerance: 5e-3}))
	w, rng := exhibit.Must(walk.Superregular(2)), r.Rand()
	two, haar, iid := make([]float64, 2), 0.0, 0.0
	const draws = 100_000
	for range draws {
		exhibit.Check(w.Increments(rng, two))
		haar += farthest(two) / draws
		iid += farthest([]float64{random.Laplace(rng), random.Laplace(rng)}) / draws
	}
	r.Say("Section 3.5", "is a logarithm needed in (3.3)?", "open", "open", exhibit.Holds, "all that is proved is max_k E|S_k| >= 1, Proposition 3.4 with p = 1 and the constant 1")
	r.Say("Section 3.5", "the least E max_k |S_k|, n = 2", "-", fmt.Sprintf("%.2f to %.2f", max(1, s.DualBound), min(haar, iid, 2)), exhibit.If(s.DualBound <= min(haar, iid), exhibit.Holds),
		fmt.Sprintf("below by a linear program of %d inputs, %.3f, and Proposition 3.4 with p = 1; above independent noise, %.2f, the Haar walk, %.2f, and e^-max|S_k|, 2; Proposition 3.3 says .087", grid.Len(), s.DualBound, iid, haar))
}
