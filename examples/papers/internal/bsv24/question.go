package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// question is section 1.4, (i) and (iii): what no constant serves.
func question(ctx context.Context, r *exhibit.Run) {
	chart := &demo.Chart{Title: "A over s(Z, c alpha) + s_o(Z, d alpha) on dense ultrametrics", X: "points", Y: "quotient", LogX: true,
		Note: "Two metrics: rho1(i,j) = ln(max(i,j))/c for i, j = 1..n, and rho2 = e^(d rho1)."}
	sizes := exhibit.Size(r, []int{4, 8, 16, 32, 64}, []int{4, 8, 16, 32, 64, 128})
	for _, q := range []struct {
		c, d       float64
		grows      bool
		paper, why string
	}{
		{0.5, 0.5, true, "an open question", "by entropy/THEOREMS.md it grows like ln(n)/zeta(1/c), so that no constant serves c + d = 1; with rho2 in another unit it is (i)"},
		{0.25, 0.75, true, "an open question", ""},
		{1. / 3, 1. / 3, false, "an open question", "nothing is proved for 1/2 <= c + d < 1; these spaces stay bounded"},
		{1. / 3, 1. / 7, false, "a constant (Theorem 5.1)", ""},
	} {
		s := demo.Series{Name: fmt.Sprintf("c = %.2f, d = %.2f", q.c, q.d)}
		for _, n := range sizes {
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, quotient(ctx, n, q.c, q.d))
		}
		chart.Series = append(chart.Series, s)
		// A logarithm adds as much for each doubling; what converges adds less and less.
		last := len(s.Y) - 1
		first, end := s.Y[1]-s.Y[0], s.Y[last]-s.Y[last-1]
		verdict := exhibit.If(end < 0.5*first, exhibit.Holds)
		if q.grows {
			verdict = exhibit.If(end > 0.75*first, exhibit.Better)
		}
		r.Say("Section 1.4 (i), (iii)", fmt.Sprintf("two metrics, %s: A over s + s_o, %d to %d points", s.Name, sizes[0], sizes[last]), q.paper,
			fmt.Sprintf("%.2f to %.2f", s.Y[0], s.Y[last]), verdict, q.why)
	}
	r.WriteCharts("bsv24-question.png", chart)
}

// quotient is a proved lower bound of A/(s + s_o) at alpha = 1 on the dense ultrametric of n
// points: a ball of rho1 has as many as e^(c r) allows, so that s(Z, c) = 0, and rho2 is as
// large as s_o(Z, d) = 1 allows.
func quotient(ctx context.Context, n int, c, d float64) float64 {
	var rho1, rho2 []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			v := math.Log(float64(j+1)) / c * (1 + 1e-9) // clear of rounding
			rho1, rho2 = append(rho1, v), append(rho2, math.Exp(d*v))
		}
	}
	b := metric.Bimetric{Privacy: exhibit.Must(metric.NewDense(n, rho1)), Utility: exhibit.Must(metric.NewDense(n, rho2))}
	s := exhibit.Must(scale.Entropic(ctx, b, []float64{c}, nil))
	so := exhibit.Must(scale.Diametric(ctx, b, []float64{d}, nil))
	return exhibit.Must(lp.Optimal(ctx, b, 1, &lp.Options{Tolerance: 1e-4})).DualBound / (s[0].Hi + so[0].Hi)
}
