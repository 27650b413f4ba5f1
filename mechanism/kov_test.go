package mechanism_test

import (
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
)

// Of randomized response the composition's level is known: that of all pure mechanisms
// together (KOV15).
func TestComposition_AttainsKOV15(t *testing.T) {
	f := space.Path(2, 1)
	for _, eps := range []float64{1e-3, .1, 1, 5} {
		c := testkit.Must(mechanism.FromLogWeights(t.Context(), 2, 2, []float64{eps, 0, 0, eps}, nil))
		for _, times := range []int64{2, 10, 100, 10_000, 1_000_000} {
			m := testkit.Must(mechanism.NewComposition(mechanism.Repeated{Channel: c, Times: times}))
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
