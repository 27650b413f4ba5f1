package mechanismtest_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
)

// Of channels the audit knows the level: the bound is below it, false with probability
// 1e-6 a call, and not far below.
func TestLevelAtLeast_BelowTheAudit(t *testing.T) {
	for _, delta := range []float64{0, .05, .001}[:testkit.Sweep(2, 3)] {
		for _, alpha := range []float64{1, 3} {
			f := space.Halton(12)
			c := testkit.Must(exponential.Standard(t.Context(), f, alpha, nil)).Channel
			audit := testkit.Must(c.Audit(t.Context(), f, &mechanism.AuditOptions{Delta: delta}))
			o := &mechanismtest.Options[int, int]{Samples: 1 << 14}
			e, x, xPrime, err := mechanismtest.LevelAtLeast(t.Context(), mechanism.Mechanism[int, int](c), f, delta, o)
			if err != nil || e.Level > audit.Hi || e.Confidence != 1-1e-6 || (x >= 0) != (e.Level > 0) || x >= 0 && (x == xPrime || e.P == 0) {
				t.Errorf("delta %v, alpha %v: %v at %d, %d (%v), audit %v", delta, alpha, e, x, xPrime, err, audit)
			}
			if alpha == 3 && e.Level < .5*audit.Lo {
				t.Errorf("delta %v: %v, audit %v", delta, e, audit)
			}
			if alpha > 1 {
				continue
			}
			if again, _, _, _ := mechanismtest.LevelAtLeast(t.Context(), mechanism.Mechanism[int, int](c), f, delta, o); again != e {
				t.Errorf("%v, again %v", e, again)
			}
		}
	}
	// A coin that lies once in four times: ln((3/4 - 1/4)/(1/4)) at delta 1/4.
	if e, _, _, err := mechanismtest.LevelAtLeast(t.Context(), coin(.25, 9, 0), space.Path(2, 1), .25, &mechanismtest.Options[int, int]{Samples: 1 << 14}); err != nil || e.Level > math.Ln2 || e.Level < .45 {
		t.Errorf("a coin: %v, %v", e, err)
	}
	// The event is not judged by the samples that chose it: of a thousand outputs that
	// say nothing, many come up at one input only.
	idle := &made[int, int]{func(r *rand.Rand, x int) (int, error) {
		r, done := random.Get(r)
		defer done()
		return r.IntN(1000), nil
	}, always(promise(0, 0))}
	if e, _, _, err := mechanismtest.LevelAtLeast(t.Context(), idle, space.Path(4, 1), 0, &mechanismtest.Options[int, int]{Samples: 2000}); err != nil || e.Level != 0 || e.P+e.Q == 0 {
		t.Errorf("a mechanism that does not look at its input: %v, %v", e, err)
	}
	// The same row at distance 0 proves nothing, another proves that there is no level.
	apart := space.Formula(2, func(i, j int) float64 { return 0 })
	for q, want := range map[float64]float64{.5: 0, .25: math.Inf(1)} {
		if e, _, _, err := mechanismtest.LevelAtLeast(t.Context(), coin(q, 1, 0), apart, .01, &mechanismtest.Options[int, int]{Samples: 4000}); err != nil || e.Level != want {
			t.Errorf("a coin of %v: %v, %v", q, e, err)
		}
	}
}

func TestLevelAtLeast_BadInput(t *testing.T) {
	f, m := space.Path(2, 1), coin(.25, 1, 0)
	call := func(f interface {
		Len() int
		Distance(i, j int) float64
	}, delta float64, o *mechanismtest.Options[int, int]) error {
		_, _, _, err := mechanismtest.LevelAtLeast(t.Context(), m, f, delta, o)
		return err
	}
	for want, err := range map[string]error{
		"delta = 1":   call(f, 1, nil),
		"delta = NaN": call(f, math.NaN(), nil),
		"Samples":     call(f, 0, &mechanismtest.Options[int, int]{Samples: -1}),
		"FalseReject": call(f, 0, &mechanismtest.Options[int, int]{FalseReject: 2}),
		"rho: empty":  call(space.Formula(0, nil), 0, nil),
		"rho[0]":      call(space.Formula(2, func(i, j int) float64 { return -1 }), 0, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "mechanismtest: LevelAtLeast: ") {
			t.Errorf("%v, want an error on %s", err, want)
		}
	}
}
