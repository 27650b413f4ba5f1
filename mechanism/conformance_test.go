package mechanism_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// frequencySamples is the number of releases from each input in the laws on
// frequencies: enough to see an error of a hundredth in a probability.
const frequencySamples = 1 << 14

// decaying is the channel with weights exp(-beta*rho), certified.
func decaying(t *testing.T, rho metric.Finite, beta float64, o *mechanism.ChannelOptions, log bool) *mechanism.Channel {
	t.Helper()
	n := rho.Len()
	c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: n, Outputs: n, Log: log, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = -beta * rho.Distance(x, y)
			if !log {
				dst[y] = math.Exp(dst[y])
			}
		}
	}}, o))
	c, _, err := c.Certify(t.Context(), rho, "km", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Channels of every kind keep the laws of mechanisms and of channels.
func TestConformance_Channel(t *testing.T) {
	rho := space.Uniform(20, rand.New(rand.NewPCG(1, 1)))
	labels := make([]int, 20) // the even points, twice each
	for y := range labels {
		labels[y] = y &^ 1
	}
	table := testkit.Must(mechanism.FromWeights(t.Context(), 2, 3, []float64{0.7, 0.3, 0, 0.2, 0.7, 0.1}, nil))
	pair := space.Path(2, 1)
	table, _, err := testkit.Must(table.Relabel([]int{0, 1, 0})).Certify(t.Context(), pair, "", &mechanism.AuditOptions{Delta: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		c    *mechanism.Channel
		rho  metric.Finite
	}{
		{"weights", decaying(t, rho, 3, nil, false), rho},
		{"log-weights", decaying(t, rho, 3, nil, true), rho},
		{"lazy", decaying(t, rho, 3, &mechanism.ChannelOptions{Lazy: true}, true), rho},
		{"labels", decaying(t, rho, 3, &mechanism.ChannelOptions{Labels: labels}, true), rho},
		{"log-weights that underflow", decaying(t, rho, 1e4, nil, true), rho},
		{"delta", table, pair},
	} {
		o := &mechanismtest.Options[int, int]{Samples: frequencySamples, Constant: c.name == "log-weights that underflow"}
		if err := mechanismtest.TestChannel(t.Context(), c.c, c.rho, o); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What is made of mechanisms are mechanisms.
func TestConformance_Combinations(t *testing.T) {
	names := testkit.Must(metric.NewPoints([]string{"a", "ab", "abc", "b"}, metric.Levenshtein{}))
	word := mechanism.On(mechanism.Mechanism[int, int](decaying(t, names, 1, nil, true)), names)
	words := []string{"a", "ab", "abc", "b"}
	refused := &mechanismtest.Options[string, string]{Refused: []string{"", "c", "\xff"}}
	if err := mechanismtest.TestMechanism(t.Context(), word, words, refused); err != nil {
		t.Errorf("On words: %v", err)
	}
	if _, err := mechanismtest.TestLevel(t.Context(), word, "a", "ab", 1, refused); err != nil {
		t.Error(err)
	}

	two := testkit.Must(mechanism.Compose(word, word))
	if err := mechanismtest.TestMechanism(t.Context(), two, words, &mechanismtest.Options[string, []string]{Refused: []string{"", "c"}}); err != nil {
		t.Errorf("Compose: %v", err)
	}
	if _, err := mechanismtest.TestLevel(t.Context(), two, "abc", "a", 2, nil); err != nil {
		t.Error(err)
	}

	long := mechanism.Then(two, func(y []string) (int, error) {
		if len(y) != 2 {
			return 0, errors.New("not a pair")
		}
		return len(y[0]) + len(y[1]), nil
	})
	if err := mechanismtest.TestMechanism(t.Context(), long, words, nil); err != nil {
		t.Errorf("Then: %v", err)
	}

	// One draw for each input and all later releases, so that outputs do not vary.
	for name, o := range map[string]*mechanism.StickyOptions[string]{"memory": nil, "secret": {Secret: make([]byte, 32), Name: "a"}} {
		sticky := testkit.Must(mechanism.NewSticky(word, o))
		if err := mechanismtest.TestMechanism(t.Context(), sticky, words, &mechanismtest.Options[string, string]{Refused: refused.Refused, Constant: true}); err != nil {
			t.Errorf("Sticky, %s: %v", name, err)
		}
		track := testkit.Must(mechanism.NewTrack(sticky, nil))
		if err := mechanismtest.TestMechanism(t.Context(), track, [][]string{words, {"a", "a"}, nil}, &mechanismtest.Options[[]string, []string]{Refused: [][]string{{"a", "c"}}, Constant: true}); err != nil {
			t.Errorf("Track, %s: %v", name, err)
		}
	}
}
