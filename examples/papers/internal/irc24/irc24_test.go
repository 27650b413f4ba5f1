package irc24

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"IRC24/thm4.4", "IRC24/table2b"})
}

// Known answers of the formulas that the exhibits compare with.
func TestFormulas_KnownAnswers(t *testing.T) {
	central, local, x := theorem44{1e8, 1000}, theorem44{1000, 1000}, math.Log(1e-20)
	all, _ := response{2, 3, 0.2, 1}.eight()
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		{"alpha0 of a thousand records", local.budget(25, 1e-12), 0.0249678264, 1e-8},
		{"alpha0 of 1e8 records", central.budget(25, 1e-12), 2.4838697213, 1e-8},
		{"sup h/w", 1000 * central.factor(2, x), 16.031836746898, 1e-11},
		{"h", central.h(2, 0.5, x), 7.381278040488, 1e-11},
		{"h", local.h(0.02, 0.3, x), 5.659574121582, 1e-11},
		{"(6)", asymptotic(25, 1, 1000, 1e-12), 0.003164, 1e-3},
		{"(7)", asymptotic(25, 1e5, 1000, 1e-12), 1.388, 1e-3},
		{"c of Lemma 5.2", lemma(100, 0.01, 1e-6), 0.438607, 1e-5},
		{"c of Lemma 5.2", lemma(10_000, 0.1, 1e-12), 0.249711, 1e-5},
		{"more than half of three draws of 1/4", tail(3, 0.25, 0.5), 10. / 64, 1e-12},
		{"(8)", all, 0.2*math.Sqrt(6*(14.3320841*14.3320841+2*6.3062749*6.3062749+3*0.23984475*0.23984475-1)) + math.Sqrt(2*(1.7195342*1.7195342+0.71953425*0.71953425-1)), 1e-6},
	} {
		if math.Abs(c.got-c.want) > c.tol*c.want {
			t.Errorf("%s = %.13g, want %.13g", c.what, c.got, c.want)
		}
	}
	for _, c := range []theorem44{{1e4, 1}, {1e8, 1000}} { // the condition, at delta_int
		edge := math.Log(c.n / (16 * (math.Log(2*c.m) - x)))
		if !c.holds(edge*(1-1e-9), x) || c.holds(edge*(1+1e-9), x) {
			t.Errorf("%+v: not at %g", c, edge)
		}
	}
}
