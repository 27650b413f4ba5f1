package lp

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// kernelOf is the state of extend on points of the plane with the balanced kernel's channel.
func kernelOf(t testing.TB, f metric.Finite, alpha float64, outputs int) *extension {
	at, _, err := metric.FarthestFirst(t.Context(), f, outputs, 0)
	testkit.Check(t, err)
	p := testkit.Must(read(t.Context(), "test", metric.Same(f), alpha, &Options{Outputs: at, Tolerance: 1e-2}))
	e := &extension{problem: p, s: p.solution(), anchors: mostAnchors, stage: func() {}}
	k, _, err := e.kernel(nil, 0)
	testkit.Check(t, err)
	c := testkit.Must(k.Channel(t.Context(), at, false))
	e.s.keep(testkit.Must(p.certify(c, slices.Max(testkit.Must(p.losses(c))), MethodKernel)))
	return e
}

// Places mend the kernel where it loses most, at its level, and their bounds are ones.
func TestPlaces_MendTheKernel(t *testing.T) {
	const alpha = 1
	f := scattered(150)
	e := kernelOf(t, f, alpha, 6)
	before := e.s.Objective
	testkit.Check(t, e.places())
	certified(t, e.b, alpha, nil, e.s)
	best := testkit.Must(Optimal(t.Context(), e.b, alpha, &Options{Outputs: e.o.Outputs, Tolerance: 1e-3}))
	if s := e.s; !(s.DualBound <= best.Objective) || s.Objective < best.DualBound || s.Objective > 1.01*best.Objective || before < 1.02*best.Objective {
		t.Errorf("loss %v and bound %v, before %v: the optimum %v", s.Objective, s.DualBound, before, best)
	}
}

// The rows of inputs that are in a program are those of its channel, and all rows lie between
// their envelopes, but for what is broken.
func TestExtended_RowsLieBetweenEnvelopes(t *testing.T) {
	e := kernelOf(t, scattered(100), 1, 5)
	var inputs, ball []int
	for u := range e.n {
		ball = append(ball, u)
		if u%2 == 0 {
			inputs = append(inputs, u)
		}
	}
	outputs := []int{0, 1, 2, 3, 4}
	s := testkit.Must(e.local(inputs, outputs, 1e-2, 0))
	rows, broken := make([]float64, e.n*5), make([]float64, e.n)
	testkit.Check(t, e.extended(s, inputs, outputs, ball, rows, broken))
	whole := 0
	for u := range e.n {
		if broken[u] > 1e-6 {
			continue
		}
		whole++
		for i, v := range inputs {
			for j, q := range s.Channel.Row(i, nil) {
				if d := math.Abs(math.Log(rows[u*5+j] / q)); d > e.budget[u*e.n+v]+2e-6 {
					t.Fatalf("inputs %d and %d, output %d: %v apart, budget %v", u, v, j, d, e.budget[u*e.n+v])
				}
			}
		}
	}
	if whole < len(inputs) {
		t.Errorf("%d whole rows", whole)
	}
}
