package private

import (
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// What is refused, and how: each error begins with what is given. Values that no constructor
// made release nothing and promise nothing.
func TestErrors(t *testing.T) {
	const made = "a Domain that is not from NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	testkit.Unmade[Measure](t, "New")
	d := samples.Unit(1, domain.BoxOptions{Splits: [][]int{{4}, {2}}})
	m := testkit.Must(New(d, 1, nil))
	for _, x := range []struct {
		want string
		err  error
	}{
		{"New: " + made, testkit.Err(New[int](nil, 1, nil))},
		{"New: " + made, testkit.Err(New(new(domain.Domain[int]), 1, nil))},
		{"New: alpha = 0", testkit.Err(New(d, 0, nil))},
		{"New: alpha = 1e-300", testkit.Err(New(d, 1e-300, nil))},
		{"New: needs", testkit.Err(New(samples.Unit(1, domain.BoxOptions{}), 1, nil))},
		{"New: Scales has size 7", testkit.Err(New(d, 1, &Options{Scales: make([]float64, 7)}))},
		{"New: Scales[1] = 0", testkit.Err(New(d, 1, &Options{Scales: []float64{1, 0}}))},
		{"New: Estimator = 3", testkit.Err(New(d, 1, &Options{Estimator: 3}))},
		{"Measure.Release: weights, want size 8", testkit.Err(m.Release(nil, []float64{1}))},
		{"Measure.Release: walk: Walk.AddShares: sum of weights, want a finite number > 0", testkit.Err(m.Release(nil, make([]float64, d.Len())))},
		{"Measure.Bound: needs", testkit.Err(m.Bound(t.Context(), &BoundOptions{Draws: math.MaxInt}))},
	} {
		if x.err == nil || !strings.HasPrefix(x.err.Error(), "private: "+x.want) {
			t.Errorf("%v, want private: %s", x.err, x.want)
		}
	}
}
