package mechanismtest_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// coin releases a bit, turned with probability q.
func coin(q, alpha, delta float64) mechanism.Mechanism[int, int] {
	return &made[int, int]{func(r *rand.Rand, x int) (int, error) {
		if r, done := random.Get(r); r.Float64() < q {
			done()
			return 1 - x, nil
		}
		return x, nil
	}, always(promise(alpha, delta))}
}

// A level that is exceeded is found, one that is just kept is not.
func TestLevel_FindsViolations(t *testing.T) {
	type options = mechanismtest.Options[int, int]
	ln3 := math.Log(3)
	for _, c := range []struct {
		name     string
		m        mechanism.Mechanism[int, int]
		distance float64
		low      float64 // the level found is at least
		law      string
	}{
		{"kept, just", coin(0.25, ln3, 0), 1, 1.04, ""},
		{"kept, per unit", coin(0.25, ln3/2, 0), 2, 0.52, ""},
		{"kept with delta", coin(0.25, math.Log(2), 0.25), 1, 0.63, ""},
		{"by a tenth", coin(0.25, 0.9*ln3, 0), 1, 0.95 * ln3, "level"},
		{"per unit", coin(0.25, ln3/2, 0), 1, 1.04, "level"},
		{"with delta", coin(0.25, math.Log(2), 0.2), 1, 0.7, "level"},
		{"at distance 0", coin(0.25, ln3, 0), 0, math.Inf(1), "level"},
		{"0-private", coin(0.47, 0, 0), 1, 0.05, "level"},
		{"a secret told", coin(0, 2, 0.1), 1, 5, "level"},
		{"a secret told with delta", coin(0.9, 20, 0.3), 1, 0, ""},
		{"rarely told", &made[int, int]{func(r *rand.Rand, x int) (int, error) {
			if r.IntN(200) == 0 {
				return x, nil
			}
			return -1, nil
		}, always(promise(2.5, 0))}, 1, 2.5, "level"},
		{"nothing promised", coin(0.3, math.Inf(1), 0), 1, 0, "level"},
	} {
		for _, pair := range [][2]int{{0, 1}, {1, 0}} {
			e, err := mechanismtest.TestLevel(t.Context(), c.m, pair[0], pair[1], c.distance, &options{})
			only(t, c.name, err, c.law)
			if e.Level < c.low || e.Confidence != 1-1e-6 {
				t.Errorf("%s: %v, want at least %v", c.name, e, c.low)
			}
		}
	}
}

// A mechanism at exactly its level is rejected as often as stated, at most:
// among 1,000 seeds at FalseReject 0.05 more than 100 rejects have probability
// below 1e-6, and so have they for the law of frequencies.
func TestStatistics_RejectAsStated(t *testing.T) {
	level, law := 0, 0
	m := coin(0.25, math.Log(3), 0)
	four := &made[int, int]{func(r *rand.Rand, x int) (int, error) { return min(r.IntN(8), 4), nil }, always(promise(0, 0))}
	uniform := map[int]float64{0: 0.125, 1: 0.125, 2: 0.125, 3: 0.125}
	for seed := range uint64(1000) {
		o := &mechanismtest.Options[int, int]{Seed: seed, Samples: 500, FalseReject: 0.05}
		if _, err := mechanismtest.TestLevel(t.Context(), m, 0, 1, 1, o); err != nil {
			level++
		}
		if err := mechanismtest.TestDistribution(t.Context(), four, 0, uniform, o); err != nil {
			law++
		}
	}
	t.Logf("rejects in 1000 at 0.05: level %d, law %d", level, law)
	if level > 100 || law > 100 {
		t.Errorf("rejects in 1000 at 0.05: level %d, law %d", level, law)
	}
}

func TestDistribution_FindsOthers(t *testing.T) {
	six := &made[int, int]{func(r *rand.Rand, x int) (int, error) { return r.IntN(6), nil }, always(promise(0, 0))}
	fair := func(change func(p map[int]float64)) map[int]float64 {
		p := map[int]float64{}
		for k := range 6 {
			p[k] = 1. / 6
		}
		change(p)
		return p
	}
	for _, c := range []struct {
		name string
		p    map[int]float64
		law  string
	}{
		{"right", fair(func(map[int]float64) {}), ""},
		{"the rest together", map[int]float64{2: 1. / 6}, ""},
		{"nothing known", nil, ""},
		{"one in fifty more", fair(func(p map[int]float64) { p[0] += 1. / 50; p[1] -= 1. / 50 }), "frequencies"},
		{"the rest too rare", map[int]float64{2: 1. / 6, 3: 0.2}, "frequencies"},
		{"outside the law", fair(func(p map[int]float64) { p[0] += p[5]; delete(p, 5) }), "frequencies"},
		{"impossible", fair(func(p map[int]float64) { p[0] += p[5]; p[5] = 0 }), "frequencies"},
		{"never seen", map[int]float64{0: 0.1, 1: 0.1, 2: 0.1, 3: 0.1, 4: 0.1, 5: 0.1, 6: 0.4}, "frequencies"},
		{"one outcome", map[int]float64{0: 1}, "frequencies"},
	} {
		only(t, c.name, mechanismtest.TestDistribution(t.Context(), six, 0, c.p, nil), c.law)
	}
}

func TestChannel_CatchesEachLiar(t *testing.T) {
	rho := space.Path(4, 1)
	var calls atomic.Int64
	right := func(x int, dst []float64) {
		for y := range dst {
			dst[y] = math.Exp(-0.5 * math.Abs(float64(x-y)))
		}
	}
	for _, c := range []struct {
		name  string
		fill  func(x int, dst []float64)
		claim float64
		rho   metric.Finite
		law   string
	}{
		{"right", right, 1, rho, ""},
		{"a claim too low", right, 0.3, rho, "audit"},
		{"a row that changes", func(x int, dst []float64) {
			right(x, dst)
			dst[0] *= float64(1 + calls.Add(1)%2)
		}, 3, rho, "rows"},
		{"a row without weight", func(x int, dst []float64) {
			right(x, dst)
			if x == 2 {
				clear(dst)
			}
		}, 1, rho, "rows"},
		{"a row written elsewhere", func(x int, dst []float64) { right(x, append(dst, 0)) }, 1, rho, "rows"},
		{"another space's promise", right, 1, space.Path(4, 0.1), "audit"},
	} {
		lazy := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: 4, Outputs: 4, Fill: c.fill}, &mechanism.ChannelOptions{Lazy: true}))
		o := &mechanismtest.Options[int, int]{Samples: 1 << 12}
		only(t, c.name, mechanismtest.TestChannel(t.Context(), lazy.WithGuarantee(promise(c.claim, 0)), c.rho, o), c.law)
	}
}

// Every test ends with its context, and not in a failure.
func TestAll_EndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := coin(0.25, 2, 0)
	c := testkit.Must(mechanism.FromWeights(t.Context(), 2, 2, []float64{2, 1, 1, 2}, nil))
	_, level := mechanismtest.TestLevel(ctx, m, 0, 1, 1, nil)
	for name, err := range map[string]error{
		"TestMechanism":    mechanismtest.TestMechanism(ctx, m, []int{0, 1}, nil),
		"TestDistribution": mechanismtest.TestDistribution(ctx, m, 0, map[int]float64{0: 1}, nil),
		"TestChannel":      mechanismtest.TestChannel(ctx, c, space.Path(2, 1), nil),
		"TestLevel":        level,
	} {
		if !errors.Is(err, context.Canceled) || len(laws(err)) != 1 || laws(err)[0] != "no law" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
