package measure

import (
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// What Println shows of counts says nothing of what was counted.
func TestString_GivesNoCountAway(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 2})
	some := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.1}}, nil))
	if got, want := fmt.Sprint(some), fmt.Sprint(NewCounts(d)); got != want {
		t.Errorf("two records print as %q, none as %q", got, want)
	}
}
