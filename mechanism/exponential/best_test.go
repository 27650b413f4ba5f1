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

func TestBest_TakesTheLeastLoss(t *testing.T) {
	f := space.Halton(30)
	uniform := slices.Repeat([]float64{1. / 30}, 30)
	for _, alpha := range []float64{0.01, 2, 20} {
		for _, o := range []*BestOptions{nil, {Prior: uniform}, {Prior: uniform, Remap: true}} {
			c := testkit.Must(Best(t.Context(), metric.Same(f), alpha, o))
			if len(c.Candidates) != 5 || c.Guarantee().Alpha() > alpha {
				t.Errorf("%+v, %v", c.Candidates, c.Guarantee())
			}
			for _, k := range c.Candidates {
				if k.Loss < c.Objective {
					t.Errorf("alpha %v took %s (%v) over %s (%v)", alpha, c.Method, c.Objective, k.Method, k.Loss)
				}
			}
			losses := testkit.Must(c.Loss(t.Context(), f))
			want, _ := losses.Worst()
			if o != nil {
				want, _ = losses.Mean(uniform)
			}
			if want != c.Objective {
				t.Errorf("stated loss %v, computed %v", c.Objective, want)
			}
		}
	}
	star := space.Func(9, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 2
	})
	c, err := Best(t.Context(), metric.Same(star), 1e-3, nil)
	if err != nil || c.Method != MethodConstant || c.Objective != 1 {
		t.Errorf("at a tiny level: %v, %v", c, err)
	}
}

// Best lists the relaxed mechanisms where the metrics differ, and takes one
// where it wins.
func TestBest_OffersTheRelaxedMechanism(t *testing.T) {
	r := random.Seeded(26)
	won := 0
	for range 10 {
		b := metric.Bimetric{Privacy: randomPoints(t, r, 30), Utility: randomUltrametric(t, r, 30)}
		for _, o := range []*BestOptions{nil, {Prior: slices.Repeat([]float64{1. / 30}, 30), Remap: true}, {Outputs: []int{3, 1, 4, 15, 9, 2, 6}}} {
			c := testkit.Must(Best(t.Context(), b, 6, o))
			want := 7
			if o != nil && o.Outputs != nil {
				want = 6 // no tight weights
				for y := range c.Outputs() {
					if !slices.Contains(o.Outputs, c.Output(y)) {
						t.Errorf("%s releases %d", c.Method, c.Output(y))
					}
				}
			}
			if len(c.Candidates) != want || c.Guarantee().Alpha() > 6 {
				t.Errorf("%+v, %v", c.Candidates, c.Guarantee())
			}
			for _, k := range c.Candidates {
				if k.Loss < c.Objective {
					t.Errorf("took %s (%v) over %s (%v)", c.Method, c.Objective, k.Method, k.Loss)
				}
			}
			if c.Method == MethodRelaxed || c.Method == MethodRelaxedTuned {
				won++
			}
		}
	}
	if won == 0 {
		t.Error("the relaxed mechanism never won")
	}
}

func TestChoice_StringHasALineForEachCandidate(t *testing.T) {
	m := testkit.Must(Constant(3, 1, "km"))
	c := &Choice{Mechanism: *m, Objective: 2, Candidates: []Candidate{
		{Method: MethodConstant, Loss: 2},
		{Method: MethodTight, Loss: math.Inf(1), Err: &NegativeWeightError{1, -0.5}},
		{Method: MethodTuned, Loss: 3, Level: 0.25},
	}}
	const want = `loss 2 by constant: 3 x 1 channel, 0-private per km
  constant: loss 2 at level 0
  tight weights: none: tight weights do not exist: w[1] = -0.5; at larger alpha they do
  tuned: loss 3 at level 0.25`
	if got := c.String(); got != want {
		t.Errorf("%s", got)
	}
}

// A choice in JSON is the choice, and its channel reads back, audited; nothing reads
// a mechanism without an audit.
func TestChoice_JSON(t *testing.T) {
	f := space.Path(4, 1)
	c := testkit.Must(Best(t.Context(), metric.Same(f), .1, &BestOptions{Unit: "km"}))
	text := testkit.Must(json.Marshal(c))
	var have struct {
		Objective  float64
		Method     Method
		Candidates []struct {
			Method      Method
			Loss, Level float64
			Seconds     float64
			Error       string
		}
		Channel json.RawMessage
	}
	if err := json.Unmarshal(text, &have); err != nil || have.Objective != c.Objective || have.Method != c.Method || len(have.Candidates) != len(c.Candidates) {
		t.Fatalf("%s (%v)", text, err)
	}
	for i, k := range c.Candidates {
		h := have.Candidates[i]
		if h.Method != k.Method || h.Seconds != k.Took.Seconds() || (h.Error == "") != (k.Err == nil) ||
			k.Err == nil && (h.Loss != k.Loss || h.Level != k.Level) || k.Err != nil && h.Error != k.Err.Error() {
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
	for _, v := range []any{new(Choice), new(Mechanism), new(RelaxedMechanism), new(UtilityMechanism)} {
		if err := json.Unmarshal(text, v); err == nil || !strings.Contains(err.Error(), "ReadChannel") {
			t.Errorf("%T: %v", v, err)
		}
		if _, err := json.Marshal(v); err == nil {
			t.Errorf("%T without a mechanism was written", v)
		}
	}
}
