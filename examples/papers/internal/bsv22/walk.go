package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/walk"
)

// walks compares walks of n steps whose joint density is e^-V, V being 1-Lipschitz
// in the l1 norm: added to counts, all hide a record added or removed at level 1.
func walks(ctx context.Context, r *exhibit.Run) error {
	rng := r.Rand()
	const first = 4
	last := exhibit.Size(r, 13, 20)
	draws := exhibit.Size(r, 200, 400)
	var n, logs, far, limit, rms, iid []float64
	crossing := 0
	for l := first; l <= last; l++ {
		w := exhibit.Must(walk.Superregular(1 << l))
		// The paper's noise has the scale L+2.
		wider := float64(l+2) / float64(l+1)
		sd := exhibit.Must(w.RMS(nil))
		super, independent, err := reach(ctx, rng, w, draws)
		if err != nil {
			return err
		}
		super *= wider
		if crossing == 0 && super < independent {
			crossing = 1 << l
		}
		n, logs = append(n, float64(w.Tree().Len())), append(logs, float64(l))
		far, limit = append(far, super), append(limit, proved(l))
		rms, iid = append(rms, wider*sd), append(iid, independent)
	}
	w := exhibit.Must(walk.Superregular(1 << last))
	loss := exhibit.Must(w.Tree().Loss(walk.AddRemoveOne, w.Scales()))
	r.Say("", "scale of the Haar noise at which V is 1-Lipschitz", "log2 n + 2", "log2 n + 1",
		exhibit.If(exhibit.Near(loss, 1, 1e-9) == exhibit.Holds, exhibit.Better),
		fmt.Sprintf("a step has log2 n + 1 coefficients; at log2 n + 1 the loss per record is %s", demo.Number(loss)))
	end := len(n) - 1
	r.Say("", fmt.Sprintf("E max |S_k| of iid Laplace steps, n = %.0f", n[end]), "of order sqrt(n)", iid[end],
		exhibit.Near(iid[end], math.Sqrt(math.Pi*n[end]), 0.15),
		fmt.Sprintf("sqrt(pi n), that of Brownian motion, is %s", demo.Number(math.Sqrt(math.Pi*n[end]))))
	b := slope(n, iid)
	r.Say("", "its exponent of n", 0.5, b, exhibit.Near(b, 0.5, 0.1), "")
	b = slope(logs, far)
	r.Say("", "exponent of log n in E max |S_k| of the superregular walk", "at most 2", b, exhibit.If(b < 2.05, exhibit.Holds), "")
	r.Say("", fmt.Sprintf("E max |S_k| of the superregular walk, n = %.0f", n[end]), "of order log^2 n", far[end],
		exhibit.If(below(far, limit) && far[end] < iid[end], exhibit.Holds),
		fmt.Sprintf("at every n at most what Chernoff's bound proves, here %s; less than iid from n = %d on", demo.Number(limit[end]), crossing))
	r.Say("", "root mean square of S_k over (log2 n + 2)^(3/2)", "bounded",
		fmt.Sprintf("%.3f to %.3f", rms[0]/math.Pow(logs[0]+2, 1.5), rms[end]/math.Pow(logs[end]+2, 1.5)),
		exhibit.Near(rms[end], (logs[end]+2)*math.Sqrt(logs[end]/6+7./9), 1e-3),
		"in closed form it is (log2 n + 2) sqrt(log2 n/6 + 7/9) but for terms of 1/n")
	if err := sayWider(r); err != nil {
		return err
	}
	return r.WriteCharts("bsv22-walk.png", &demo.Chart{
		Title: "How far walks of n private steps get", X: "n", Y: "mean of max |S_k|", LogX: true, LogY: true,
		Series: []demo.Series{{Name: "iid Laplace", X: n, Y: iid}, {Name: "superregular", X: n, Y: far}, {Name: "superregular, proved", X: n, Y: limit}},
		Note:   fmt.Sprintf("Both hide a record at level 1. Means of %d walks each.", draws),
	})
}

// reach is the mean of max |S_k| over so many draws of the walk, and over walks of
// as many independent Laplace steps of scale 1.
func reach(ctx context.Context, rng *rand.Rand, w *walk.Walk, draws int) (super, iid float64, err error) {
	steps := make([]float64, w.Tree().Len())
	for range draws {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		if err := w.Increments(rng, steps); err != nil {
			return 0, 0, err
		}
		super += farthest(steps) / float64(draws)
		for i := range steps {
			steps[i] = random.Laplace(rng)
		}
		iid += farthest(steps) / float64(draws)
	}
	return super, iid, nil
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

// proved bounds E max |S_k| for the paper's walk of 2^l steps. S_k is a sum of the
// total's noise and of one coefficient a level, times 1/2 at most, all of scale l+2:
//
//	E max |S_k| <= ln(2n E e^(t S_k))/t <= (l+2) (ln 2n - ln(1-u^2) - l ln(1-u^2/4))/u, u = t(l+2).
func proved(l int) float64 {
	best := math.Inf(1)
	for u := 0.01; u < 1; u += 0.01 {
		best = min(best, (float64(l+1)*math.Ln2-math.Log(1-u*u)-float64(l)*math.Log(1-u*u/4))/u)
	}
	return float64(l+2) * best
}

// below tells whether x[i] <= y[i] for all i.
func below(x, y []float64) bool {
	for i := range x {
		if !(x[i] <= y[i]) {
			return false
		}
	}
	return true
}

// sayWider compares, for measures, whose total is known, the paper's noise with
// that of a wider tree.
func sayWider(r *exhibit.Run) error {
	const l = 16
	paper := exhibit.Must(walk.Superregular(1 << l))
	old := exhibit.Must(paper.RMS(nil))
	old *= 2 * float64(l+2) / float64(l+1) // TV is half the l1 norm
	tree := exhibit.Must(walk.Levels(16, 16, 16, 16))
	scales := exhibit.Must(tree.EqualScales(walk.ReplaceOne))
	wide := exhibit.Must(walk.New(tree, walk.KNorm, scales))
	now := exhibit.Must(wide.RMS(nil))
	r.Say("", "root mean square of S_k per unit of total variation, n = 65536", old, now, exhibit.If(now < old, exhibit.Better),
		"the paper's noise has scale 2(log2 n + 2); here 16 children a node, the K-norm mechanism in each, and none for the total, which is 1")
	return nil
}
