package exponential

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// checkBest checks what every choice promises.
func checkBest(t *testing.T, b metric.Bimetric, alpha float64, o *BestOptions, c *Choice) {
	t.Helper()
	if c.Guarantee().Alpha() > alpha || c.LowerBound != 0 || c.Gap != 1 {
		t.Errorf("%v, bound %v, gap %v", c.Guarantee(), c.LowerBound, c.Gap)
	}
	for _, k := range c.Candidates {
		if k.Loss < c.Objective {
			t.Errorf("alpha %v took %s (%v) over %s (%v)", alpha, c.Method, c.Objective, k.Method, k.Loss)
		}
	}
	want, _ := testkit.Must(c.Loss(t.Context(), b.Utility)).Worst()
	if o.Prior != nil {
		want = testkit.Must(testkit.Must(c.Loss(t.Context(), b.Utility)).Mean(o.Prior))
	}
	if want != c.Objective {
		t.Errorf("stated loss %v, computed %v", c.Objective, want)
	}
	switch {
	case o.Prior == nil:
		if !math.IsNaN(c.Adversary) {
			t.Errorf("an adversary's error of %v without a prior", c.Adversary)
		}
	case c.Adversary != testkit.Must(c.AdversaryError(t.Context(), o.Prior, b.Utility)) || c.Adversary > c.Objective*(1+1e-12),
		o.Remap && c.Adversary < c.Objective*(1-1e-12): // a remap leaves no better guess
		t.Errorf("an adversary's error of %v at loss %v, %+v", c.Adversary, c.Objective, o)
	}
	for y := range c.Outputs() {
		if o.Outputs != nil && !slices.Contains(o.Outputs, c.Output(y)) {
			t.Errorf("%s releases %d", c.Method, c.Output(y))
		}
	}
}

func TestBest_TakesTheLeastLoss(t *testing.T) {
	b := metric.Same(space.Halton(30))
	uniform := slices.Repeat([]float64{1. / 30}, 30)
	for _, alpha := range []float64{0.01, 2, 20} {
		for _, o := range []*BestOptions{{}, {Prior: uniform}, {Prior: uniform, Remap: true}} {
			told := map[Method]bool{}
			o.Progress = func(m Method, done, total int) { told[m] = told[m] || done == total }
			c := testkit.Must(Best(t.Context(), b, alpha, o))
			checkBest(t, b, alpha, o, c)
			if len(c.Candidates) != 4 {
				t.Errorf("%+v", c.Candidates)
			}
			for _, k := range c.Candidates {
				if told[k.Method] != (k.Err == nil && k.Method != MethodConstant) {
					t.Errorf("%v: told of the audit: %v", k, told[k.Method])
				}
			}
		}
	}
	star := space.Func(9, func(i, j int) float64 { return float64(min(i, 1) + 1) })
	if c, err := Best(t.Context(), metric.Same(star), 1e-3, nil); err != nil || c.Method != MethodConstant || c.Objective != 1 {
		t.Errorf("at a tiny level: %v, %v", c, err)
	}
	if c, err := Best(t.Context(), metric.Same(space.Path(1, 1)), 1, nil); err != nil || c.Objective != 0 || c.Gap != 0 {
		t.Errorf("one point: %v, %v", c, err)
	}
}

// Where Standard works, Tuned does, at its rate or a higher one, and Best does and loses no
// more, whatever else fails. Best works elsewhere too, if only by the constant.
func TestBest_WorksWhereStandardDoes(t *testing.T) {
	r, failed := random.Seeded(31), map[Method]int{}
	for i := range testkit.Sweep(100, 4000) {
		f, alpha := space.Hard(r)
		b := metric.Same(f)
		if i%4 == 3 {
			b.Utility = randomPoints(t, r, f.Len())
		}
		c, err := Best(t.Context(), b, alpha, nil)
		if err != nil || !(c.Guarantee().Alpha() <= alpha) {
			t.Fatalf("%d: %v, alpha %v: %v, %v", i, f, alpha, c, err)
		}
		for _, k := range c.Candidates {
			if k.Err != nil {
				failed[k.Method]++
			}
		}
		standard, err := Standard(t.Context(), f, alpha, nil)
		if err != nil {
			continue
		}
		if loss := worst(t, standard, b.Utility); c.Objective > loss {
			t.Errorf("%d: %v, alpha %v: a loss of %v, the standard mechanism's %v", i, f, alpha, c, loss)
		}
		if tuned, err := Tuned(t.Context(), f, alpha, nil); err != nil || tuned.Beta < standard.Beta {
			t.Errorf("%d: %v, alpha %v: %v, %v; the standard mechanism %v", i, f, alpha, tuned, err, standard)
		}
	}
	if len(failed) < 3 || failed[MethodConstant] > 0 {
		t.Errorf("not hard enough, constructions failed: %v", failed)
	}
}

// A choice in JSON is the choice, and its channel reads back, audited; nothing reads
// a mechanism without an audit.
func TestChoice_JSON(t *testing.T) {
	f := space.Path(4, 1)
	c := testkit.Must(Best(t.Context(), metric.Same(f), .1, &BestOptions{Unit: "km", Prior: []float64{.25, .25, .25, .25}}))
	c.LowerBound, c.BoundBy, c.Gap = .5, "star", .25
	text := testkit.Must(json.Marshal(c))
	var have struct {
		Objective, Adversary, LowerBound, Gap float64
		BoundBy                               string
		Method                                Method
		Candidates                            []struct {
			Method      Method
			Loss, Level float64
			Adversary   float64
			Seconds     float64
			Error       string
		}
		Channel json.RawMessage
	}
	if err := json.Unmarshal(text, &have); err != nil || have.Objective != c.Objective || have.Adversary != c.Adversary || have.Method != c.Method || have.LowerBound != .5 || have.BoundBy != "star" || have.Gap != .25 || len(have.Candidates) != len(c.Candidates) {
		t.Fatalf("%s (%v)", text, err)
	}
	for i, k := range c.Candidates {
		h := have.Candidates[i]
		if h.Method != k.Method || h.Seconds != k.Took.Seconds() || (h.Error == "") != (k.Err == nil) ||
			k.Err == nil && (h.Loss != k.Loss || h.Level != k.Level || h.Adversary != k.Adversary) || k.Err != nil && h.Error != k.Err.Error() {
			t.Errorf("%v is %+v", k, h)
		}
	}
	again := testkit.Must(mechanism.ReadChannel(t.Context(), bytes.NewReader(have.Channel), f, nil))
	if again.Guarantee() != c.Guarantee() || again.Prob(1, 0) != c.Prob(1, 0) {
		t.Errorf("%v is read as %v", c, again)
	}
	alone := testkit.Must(json.Marshal(&c.Mechanism)) // a Mechanism is its channel
	if m, err := mechanism.ReadChannel(t.Context(), bytes.NewReader(alone), f, nil); err != nil || m.Guarantee() != c.Guarantee() {
		t.Errorf("%s (%v)", alone, err)
	}
	for _, v := range []any{new(Choice), new(Mechanism), new(RelaxedMechanism)} {
		if err := json.Unmarshal(text, v); err == nil || !strings.Contains(err.Error(), "ReadChannel") {
			t.Errorf("%T: %v", v, err)
		}
		if _, err := json.Marshal(v); err == nil {
			t.Errorf("%T without a mechanism was written", v)
		}
	}
}
