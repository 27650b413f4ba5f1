package mechanism_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
)

// Of randomized response the composition's level is known: that of all pure mechanisms together (KOV15).
func TestComposition_AttainsKOV15(t *testing.T) {
	f := space.Path(2, 1)
	for _, eps := range []float64{1e-3, .1, 1, 5} {
		c := testkit.Must(mechanism.FromLogWeights(t.Context(), 2, 2, []float64{eps, 0, 0, eps}, nil))
		for _, times := range []int64{2, 10, 100, 10_000, 1_000_000} {
			m := testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: c, Times: times}))
			for _, delta := range []float64{.1, 1e-6, 1e-18} {
				a := testkit.Must(m.Audit(t.Context(), f, &mechanism.AuditOptions{Delta: delta}))
				want := testkit.Must(accountant.Composition{Count: times, Item: eps}.Level(t.Context(), delta))
				if !(a.Lo <= want*(1+1e-9) && want <= a.Hi*(1+1e-9)+1e-12) || a.Hi-a.Lo > 1e-5*want {
					t.Errorf("eps %v, %d times, delta %v: %v, KOV15 %v", eps, times, delta, a, want)
				}
			}
		}
	}
}

// What a hundred and a million releases have together at delta = 1e-6 and distance 1: eps, and
// its width. Google's dp-accounting has 30.48 for a hundred of Laplace noise at .5.
func BenchmarkComposition(b *testing.B) {
	for _, m := range []interface{ Guarantee() mechanism.Guarantee }{
		testkit.Must(additive.NewLaplace(.5, nil)),
		testkit.Must(additive.NewDiscreteLaplace(.5, nil)),
		testkit.Must(additive.NewGaussian(1, additive.GaussianTarget{Alpha: .5, Delta: 1e-6, Diameter: 1}, nil)),
		testkit.Must(additive.NewPlanarLaplace(.5, nil)),
		testkit.Must(additive.NewKNorm(additive.Norm{P: 2, Dim: 100}, .5, nil)),
		testkit.Must(additive.NewKNorm(additive.Norm{P: math.Inf(1), Dim: 10}, .5, nil)),
		testkit.Must(additive.NewSphere(.5, nil)),
		testkit.Must(additive.NewSphere(5, &additive.SphereOptions{Radius: 10})),
		testkit.Must(additive.NewKnots(.5, nil)),
	} {
		for _, times := range []int64{1, 100, 1_000_000} {
			b.Run(fmt.Sprintf("%v/%d", m, times), func(b *testing.B) {
				c := testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: times}))
				var a mechanism.Audit
				for b.Loop() {
					a = testkit.Must(c.AuditAt(b.Context(), 1, 1e-6))
				}
				b.ReportMetric(a.Lo, "lo")
				b.ReportMetric(a.Hi, "hi")
				b.ReportMetric(c.Guarantee().Alpha(), "sum")
			})
		}
	}
}
