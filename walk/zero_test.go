package walk

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// Values that no constructor made count, transform and draw nothing.
func TestZeroValues_Refuse(t *testing.T) {
	testkit.Unmade[Tree](t, "NewTree, Balanced or Levels", "Children", "Parent", "LeafRange", "LeafNode", "Level")
	testkit.Unmade[Walk](t, "New or Superregular")
	testkit.Unmade[Noise](t, "NewNoise", "Distribution", "Scale")
	if _, err := New(nil, KNorm, Scales{}); err == nil || !strings.HasSuffix(err.Error(), "NewTree, Balanced or Levels") {
		t.Error(err)
	}
	// Scales are numbers; none at all are those of a tree without levels alone.
	if _, err := New(testkit.Must(Levels(2)), KNorm, Scales{}); err == nil || !strings.HasSuffix(err.Error(), "Level has size 0, want 1") {
		t.Error(err)
	}
}
