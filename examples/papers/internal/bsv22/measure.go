package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// asInPaper is the paper's private measure on a net: its points along the shortest tour that is
// found, cut open, noise of scale 2(L+2)/alpha on all Haar coefficients, the total's too, and
// the probability measure nearest on the line in W1.
type asInPaper struct {
	line  *tsp.Folding
	walk  *walk.Walk
	scale float64
	bound float64 // of the mean error of the signed measure: the sum of gaps times deviations
}

func newAsInPaper(ctx context.Context, s metric.Finite, alpha float64) (*asInPaper, error) {
	tour, err := tsp.Solve(ctx, s, &tsp.SolveOptions{Bound: tsp.BoundNone})
	if err != nil {
		return nil, err
	}
	p := &asInPaper{}
	if p.line, err = tsp.Fold(s, tour); err != nil {
		return nil, err
	}
	if p.walk, err = walk.Superregular(s.Len()); err != nil {
		return nil, err
	}
	l := float64(p.walk.Tree().Height())
	p.scale = 2 / alpha * (l + 2) / (l + 1) // Superregular has the scale L+1
	v := make([]float64, s.Len())
	if err := p.walk.Variances(v); err != nil {
		return nil, err
	}
	for k := range len(v) - 1 {
		p.bound += p.scale * (p.line.Position[k+1] - p.line.Position[k]) * math.Sqrt(v[k])
	}
	return p, nil
}

// release returns the measure, and what the signed one before it errs on the line.
func (p *asInPaper) release(rng *rand.Rand, mu []float64) (nu []float64, signed float64, err error) {
	g := make([]float64, len(mu))
	if err := p.walk.Increments(rng, g); err != nil {
		return nil, 0, err
	}
	sum := 0.0
	for k := range g {
		g[k] *= p.scale
		if sum += g[k]; k+1 < len(g) {
			signed += (p.line.Position[k+1] - p.line.Position[k]) * math.Abs(sum)
		}
		g[k] += mu[p.line.Order[k]]
	}
	on, _, err := wasserstein.ProjectLine(p.line.Position, g)
	nu = make([]float64, len(mu))
	for k, w := range on {
		nu[p.line.Order[k]] = w
	}
	return nu, signed, err
}

// on is a release of measures on the points of a space.
type on func(*rand.Rand, []float64) ([]float64, error)

// worst is the larger of the mean errors at two measures: all points alike, and three of them.
func worst(ctx context.Context, rng *rand.Rand, s metric.Finite, release on, draws int) (float64, error) {
	most, n := 0.0, s.Len()
	for _, k := range []int{n, 3} {
		mu, mean := make([]float64, n), 0.0
		for i := range k {
			mu[i*(n-1)/(k-1)] = 1 / float64(k)
		}
		for range draws {
			nu, err := release(rng, mu)
			if err != nil {
				return 0, err
			}
			w, err := wasserstein.Distance(ctx, s, mu, nu)
			if err != nil {
				return 0, err
			}
			mean += w / float64(draws)
		}
		most = max(most, mean)
	}
	return most, nil
}

// lines is about measures on [0,1].
func lines(ctx context.Context, r *exhibit.Run) error {
	rng, draws := r.Rand(), exhibit.Size(r, 40, 200)
	tv, w1 := 0.0, 0.0
	fine := make([]float64, 64)
	for range 200 {
		coarse, all := make([]float64, 8), 0.0
		for i := range fine {
			fine[i] = rng.NormFloat64()
			coarse[rng.IntN(8)] += fine[i] // any partition
			all += math.Abs(fine[i])
		}
		part := 0.0
		for _, x := range coarse {
			part += math.Abs(x)
		}
		tv = max(tv, part/all)
		x, y := []float64{rng.Float64(), rng.Float64(), rng.Float64()}, []float64{rng.Float64(), rng.Float64()}
		mu, nu := []float64{.5, .25, .25}, []float64{.75, .25}
		plan := exhibit.Must(wasserstein.Between(ctx, exhibit.Must(wasserstein.Matrix(3, 2, costs(x, y))), mu, nu, nil))
		w1 = max(w1, math.Abs(plan.Cost-exhibit.Must(wasserstein.W1LineBetween(x, mu, y, nu))))
	}
	r.Say("(2.7)", "W1 on the line is the L1 distance of the distribution functions: largest difference", 0., w1, exhibit.If(w1 < 1e-12, exhibit.Holds), "from plans of transport, 200 pairs of measures")
	a := exhibit.Must(metric.NewPoints([][]float64{{.25, .75}, {.5, .5}}, metric.TotalVariation{}))
	r.Say("Lemma 4.1", "replacing one of n = 4 records moves the measure by 1/n in TV", .25, a.Distance(0, 1), exhibit.Near(a.Distance(0, 1), .25, 1e-15), "so that alpha = eps n gives eps-differential privacy (Lemma 2.3)")
	r.Say("Lemma 5.3", "quantizing a signed measure does not raise its TV norm: largest quotient", 1., tv, exhibit.If(tv <= 1, exhibit.Holds), "200 signed measures on random partitions")
	var alphas, logs, errs, most, lower []float64
	for _, alpha := range exhibit.Size(r, []float64{8, 32, 128, 512}, []float64{8, 32, 128, 512, 2048, 8192}) {
		net := exhibit.Must(metric.NewPoints(cube(1, int(alpha)), metric.Chebyshev{})) // n = floor(alpha)
		p := exhibit.Must(newAsInPaper(ctx, net, alpha))
		signed := 0.0
		e := exhibit.Must(worst(ctx, rng, net, func(rng *rand.Rand, mu []float64) ([]float64, error) {
			nu, before, err := p.release(rng, mu)
			signed += before / float64(2*draws)
			if w, _ := wasserstein.Distance(ctx, net, mu, nu); w > 2*before*(1+1e-9) {
				return nil, fmt.Errorf("nearest errs %v, signed %v", w, before)
			}
			return nu, err
		}, draws))
		if r.Say("Proposition 5.1", fmt.Sprintf("the signed measure errs by log^(3/2) n/alpha: n = alpha = %.0f", alpha), "C log^(3/2) n/alpha", signed, exhibit.If(signed <= p.bound*1.1, exhibit.Holds),
			fmt.Sprintf("at most %s, the gaps times deviations (a tenth for the draws)", demo.Number(p.bound))); alpha == 8 {
			r.Say("Proposition 5.2", "the nearest probability measure errs at most twice as much", 2., "at every draw", exhibit.Holds, "")
		}
		alphas, logs = append(alphas, alpha), append(logs, math.Log(alpha))
		errs, most = append(errs, e+1/(2*alpha)), append(most, 2*p.bound+1/(2*alpha)) // half a cell is the net's
		lower = append(lower, exhibit.Must(families.PrivateCubeBound(1, 0, alpha)))
	}
	end, c := len(alphas)-1, 0.0
	for i, m := range most {
		c = max(c, m*alphas[i]/math.Pow(logs[i], 1.5))
	}
	r.Say("Theorem 5.4", fmt.Sprintf("E W1 with n = floor(alpha) points is at most C log^(3/2) alpha/alpha: alpha = %.0f", alphas[end]), "C log^(3/2) alpha/alpha", errs[end], exhibit.If(below(errs, most) && below(lower, errs), exhibit.Holds),
		fmt.Sprintf("proved %s, so that C = %.1f will do at these alpha; nothing errs less than %s", demo.Number(most[end]), c, demo.Number(lower[end])))
	return nil
}

// costs are the distances of x and y.
func costs(x, y []float64) (c []float64) {
	for _, a := range x {
		for _, b := range y {
			c = append(c, math.Abs(a-b))
		}
	}
	return c
}

// measures compares private measures of some levels on some spaces with the
// paper's bounds of their error, above and below.
func measures(ctx context.Context, r *exhibit.Run) error {
	rng, draws := r.Rand(), exhibit.Size(r, 4, 40)
	var charts []*demo.Chart
	for _, s := range spaces(exhibit.Size(r, 144, 1024)) {
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		wide, _, _, err := metric.Diameter(ctx, s)
		if err != nil {
			return err
		}
		tree := exhibit.Must(domain.NewFinite(ctx, s, nil))
		points := exhibit.Must(tree.Points())
		var alphas, paper, ours, above, below, cs []float64
		ok := true
		for _, alpha := range []float64{1e2, 1e3, 1e4} {
			old := exhibit.Must(newAsInPaper(ctx, s, alpha))
			e := exhibit.Must(worst(ctx, rng, s, func(rng *rand.Rand, mu []float64) ([]float64, error) {
				nu, _, err := old.release(rng, mu)
				return nu, err
			}, draws))
			f := exhibit.Must(worst(ctx, rng, points, exhibit.Must(private.New(tree, alpha, nil)).Release, draws))
			lower := exhibit.Must(families.PrivateMeasureBound(ctx, s, alpha)).Value
			ok = ok && lower <= e && e <= 2*old.bound
			alphas, paper, ours = append(alphas, alpha), append(paper, e/wide), append(ours, f/wide)
			above, below = append(above, 2*old.bound/wide), append(below, lower/wide)
			cs = append(cs, 2*old.bound*alpha/(c.Integral*math.Pow(math.Log(float64(s.Len())), 1.5)))
		}
		r.Say("Theorem 7.2", "E W1 over the diameter, alpha = 10000: "+s.name, "C log^(3/2) N times the covering integral/alpha", paper[2], exhibit.If(ok, exhibit.Holds),
			fmt.Sprintf("at every alpha between what Theorem 8.5 with constants proves, here %s, and twice the sum of gaps times deviations along the tour (Proposition 7.1), %s, where C is %.1f",
				demo.Number(below[2]), demo.Number(above[2]), slices.Max(cs)))
		r.Say("Theorem 7.2", "the same by private.New on a net tree: "+s.name, "-", ours[2], exhibit.If(ours[2] < paper[2], exhibit.Better), "no detour over a line, more children a node, the total known, masses from the top down")
		charts = append(charts, &demo.Chart{Title: s.name, X: "alpha", Y: "mean W1 / diameter", LogX: true, LogY: true, Series: []demo.Series{
			{Name: "theorem", X: alphas, Y: above}, {Name: "paper", X: alphas, Y: paper}, {Name: "net tree", X: alphas, Y: ours}, {Name: "lower bound", X: alphas, Y: below}}})
	}
	const m = 1000 // weights, in order, to m records as Corollary 7.3 has it
	w := []float64{.3217, .1003, .4444, .1336}
	first, far := 1.0, 0.0
	for _, x := range w[1:] {
		first -= math.Floor(m*x) / m
	}
	far = exhibit.Must(wasserstein.W1LineBetween([]float64{0, .2, .7, 1}, w, []float64{0, .2, .7, 1}, []float64{first, .1, .444, .133}))
	r.Say("Corollary 7.3", "rounding r = 4 weights down to multiples of 1/m costs r/m at most, m = 1000", 4./m, far, exhibit.If(far <= 4./m, exhibit.Holds), "diameter 1, what is left to the first")
	return r.WriteCharts("bsv22-measure.png", charts...)
}
