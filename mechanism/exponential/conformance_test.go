package exponential_test

import (
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
)

// A mechanism keeps the laws of channels, with rows that are stored and that are not.
func TestConformance_Finite(t *testing.T) {
	f, net := space.Uniform(15, random.Seeded(1)), &exponential.Options{Outputs: []int{1, 8, 3}, Unit: "km"}
	for name, m := range map[string]*exponential.Mechanism{
		"tuned, on a net": testkit.Must(exponential.Tuned(t.Context(), f, 4, net)),
		"lazy":            testkit.Must(exponential.Lazy(t.Context(), f, 4, nil)),
		"lazy, on a net":  testkit.Must(exponential.Lazy(t.Context(), f, 4, net)),
		"truncated":       testkit.Must(exponential.Truncated(t.Context(), f, 4, .3, nil)),
	} {
		if err := mechanismtest.TestChannel(t.Context(), m.Channel, f, &mechanismtest.Options[int, int]{Samples: testkit.Sweep(1<<13, 1<<14)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
