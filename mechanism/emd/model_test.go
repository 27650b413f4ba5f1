package emd

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
)

// A number left out that a promise rests on is an error.
func TestPromises_NothingIsForgotten(t *testing.T) {
	g := promise(t, Model{Trust: Local, Items: 5, Diameter: 1}, 1, 0)
	for arg, err := range map[string]error{
		"v.Distance":       testkit.Err(accountant.Shuffle{Records: 5, Alpha0: 1, Diameter: 1}.MovedDelta(t.Context(), accountant.Moved{Items: 1}, 1)),
		"Shuffle.Diameter": testkit.Err(accountant.Shuffle{Records: 5, Alpha0: 1}.MovedDelta(t.Context(), accountant.Moved{Items: 1, Distance: 1}, 1)),
		"pair.Eps":         testkit.Err(NewDiscrete(g.model, 1, DP{})),
		"p.Eps":            testkit.Err(g.model.FromUserLevel(DP{}, 1)),
	} {
		wantValueError(t, arg, err, strings.TrimSpace(arg))
	}
	if p := testkit.Must(promise(t, g.model, 0, 0).Discrete(1)); p.At(1) != (DP{}) {
		t.Errorf("a promise at level 0 weakened to %v", p)
	}
}
