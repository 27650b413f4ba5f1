package measure

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// The bound falls with the number of records, of which a part counts as one more.
func TestSynthesizer_LowerBoundRoundsRecordsUp(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{8}}}))
	s := testkit.Must(NewSynthesizer(d, 1, nil))
	two := testkit.Must(s.LowerBound(t.Context(), 2))
	if got := testkit.Must(s.LowerBound(t.Context(), 1.5)); got != two || !(two > 0) {
		t.Errorf("%v for 1.5 records, %v for 2", got, two)
	}
	if got := testkit.Must(s.LowerBound(t.Context(), math.MaxInt)); got != 0 {
		t.Errorf("%v for more records than an int has", got)
	}
}
