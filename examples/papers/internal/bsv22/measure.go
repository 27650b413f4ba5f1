package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

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

// measures compares private measures of some levels on some spaces with the
// paper's bounds of their error, above and below.
func measures(ctx context.Context, r *exhibit.Run) error {
	all := spaces(exhibit.Size(r, 256, 1024))
	rng, draws := r.Rand(), exhibit.Size(r, 6, 40)
	var charts []*demo.Chart
	least, most := math.Inf(1), 0.0 // of the error over that of the theorem without its constant
	for _, s := range all {
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		wide, _, _, err := metric.Diameter(ctx, s)
		if err != nil {
			return err
		}
		rate := c.Integral / wide * math.Pow(math.Log2(float64(s.Len())), 1.5)
		var alphas, paper, ours, above, below []float64
		for _, alpha := range []float64{1e2, 1e3, 1e4} {
			line, old, bound, err := asInPaper(ctx, s, alpha)
			if err != nil {
				return err
			}
			tree := exhibit.Must(domain.NewFinite(ctx, s, nil))
			new := exhibit.Must(private.New(tree, alpha, nil))
			lower := exhibit.Must(families.PrivateMeasureBound(ctx, s, alpha))
			e := exhibit.Must(worst(ctx, rng, line, old, draws))
			f := exhibit.Must(worst(ctx, rng, tree, new, draws))
			alphas, paper, ours = append(alphas, alpha), append(paper, e/wide), append(ours, f/wide)
			above, below = append(above, bound/wide), append(below, lower.Value/wide)
			least, most = min(least, e/wide*alpha/rate), max(most, e/wide*alpha/rate)
		}
		sayBetween(r, s.name, alphas, paper, above, below)
		sayBetter(r, s.name, ours, paper)
		charts = append(charts, &demo.Chart{
			Title: s.name, X: "alpha", Y: "mean W1 / diameter", LogX: true, LogY: true,
			Series: []demo.Series{
				{Name: "theorem", X: alphas, Y: above},
				{Name: "paper", X: alphas, Y: paper},
				{Name: "net tree", X: alphas, Y: ours},
				{Name: "lower bound", X: alphas, Y: below},
			},
		})
	}
	c := exhibit.Must(constant(all[0].Len()))
	r.Say("", "error over (log2 n)^(3/2)/alpha times the covering integral", fmt.Sprintf("at most a constant: %.1f", c),
		fmt.Sprintf("%.3f to %.3f", least, most), exhibit.If(most <= c, exhibit.Holds),
		"over all spaces and levels; the constant is what the proof gives at n = "+strconv.Itoa(all[0].Len()))
	return r.WriteCharts("bsv22-measure.png", charts...)
}

// asInPaper is the private measure of the paper on s: folded along a tour, noise of
// scale 2(L+2)/alpha on the Haar coefficients, and the nearest measure on the line.
// bound is what its expected error is at most.
func asInPaper(ctx context.Context, s metric.Finite, alpha float64) (line *domain.Domain[int], m *private.Measure, bound float64, err error) {
	if line, err = domain.NewFolded(ctx, s, nil); err != nil {
		return nil, nil, 0, err
	}
	t := line.Tree()
	// What the library takes for alpha has the scale Sensitivity/alpha.
	own := alpha * float64(t.Sensitivity(walk.ReplaceOne)) / float64(2*(t.Height()+2))
	if m, err = private.New(line, own, &private.Options{Estimator: private.Nearest}); err != nil {
		return nil, nil, 0, err
	}
	b, err := m.Bound(ctx, &private.BoundOptions{Draws: -1})
	return line, m, b.Nearest, err
}

// worst is the larger of the mean errors of m, a measure on d, at two measures: all
// points alike, and three of them alone.
func worst(ctx context.Context, rng *rand.Rand, d *domain.Domain[int], m *private.Measure, draws int) (float64, error) {
	points, err := d.Points() // in the order of the cells
	if err != nil {
		return 0, err
	}
	most, n := 0.0, points.Len()
	for _, k := range []int{n, 3} {
		mu := make([]float64, n)
		for i := range k {
			mu[i*(n-1)/(k-1)] = 1 / float64(k)
		}
		mean := 0.0
		for range draws {
			nu, err := m.Release(rng, mu)
			if err != nil {
				return 0, err
			}
			w, err := wasserstein.W1(ctx, points, mu, nu, nil)
			if err != nil {
				return 0, err
			}
			mean += w.Cost / float64(draws)
		}
		most = max(most, mean)
	}
	return most, nil
}

// constant is that of the theorem for n points, which its proof gives: a
// projection doubles the error, the line is at most 16 covering integrals long, and
// the walk's deviation is sqrt(Var S_k) at most, times 2/alpha as the total variation
// is half the l1 norm.
func constant(n int) (float64, error) {
	w, err := walk.Superregular(n)
	if err != nil {
		return 0, err
	}
	v := make([]float64, n)
	if err := w.Variances(v); err != nil {
		return 0, err
	}
	l := float64(w.Tree().Height())
	return 2 * 16 * 2 * math.Sqrt(slices.Max(v)) * (l + 2) / (l + 1) / math.Pow(math.Log2(float64(n)), 1.5), nil
}

// sayBetween claims that the errors of the paper's measure lie between its bounds.
func sayBetween(r *exhibit.Run, name string, alphas, errors, above, below []float64) {
	ok := true
	for i, e := range errors {
		ok = ok && below[i] <= e && e <= above[i]
	}
	end := len(alphas) - 1
	r.Say("", fmt.Sprintf("mean W1/diameter of the paper's measure, alpha = %.0f: %s", alphas[end], name),
		fmt.Sprintf("%s to %s", demo.Number(below[end]), demo.Number(above[end])), errors[end], exhibit.If(ok, exhibit.Holds),
		"at every alpha between the paper's bounds, computed here: Theorem 8.5 with constants and twice the sum of gaps times deviations on the line")
}

// sayBetter claims that the library's tree errs less.
func sayBetter(r *exhibit.Run, name string, ours, paper []float64) {
	ratio := 0.0
	for i := range ours {
		ratio += math.Log(paper[i]/ours[i]) / float64(len(ours))
	}
	ratio = math.Exp(ratio)
	r.Say("", "factor by which a net tree errs less: "+name, 1.0, ratio, exhibit.If(ratio > 1, exhibit.Better),
		"no detour over a line, more children a node, and masses made from the top down; a geometric mean over the levels")
}
