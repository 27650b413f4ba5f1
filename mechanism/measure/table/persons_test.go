package table

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
)

// Rows of a person beyond the cap change nothing that is released, the level of a
// person is as many of a row's as the cap says, and nothing is released by halves.
func TestReleasePersons_CapsRows(t *testing.T) {
	columns := []domain.Column{{Hi: 1}, {Categories: 3}}
	const k, eps = 3, 0.7
	s := testkit.Must(New(columns, eps, &Options{Relation: measure.AddRemoveOne, PerPerson: k}))
	row := testkit.Must(New(columns, eps/k, &Options{Relation: measure.AddRemoveOne}))
	for _, most := range []int{1, 3, 1000} {
		for _, eps := range []float64{1e-5, .1, 7.3} { // what is stated is what the rows spend together
			s := testkit.Must(New(columns, eps, &Options{Relation: measure.AddRemoveOne, PerPerson: most}))
			g, loss := s.Guarantee(), gradual.NewLedger(s.eps).Loss()
			if g.Unit() != "person added or removed" || !(g.Alpha() <= eps && g.Alpha() > eps*(1-1e-6) && loss*float64(most) <= g.Alpha()) {
				t.Errorf("%d rows at eps = %v: %v, a row has %v", most, eps, g, loss)
			}
		}
	}
	r := random.Seeded(1)
	var rows []measure.Row[string, []float64]
	for i := range 200 {
		rows = append(rows, measure.Row[string, []float64]{Person: fmt.Sprint(i % 70), Record: []float64{r.Float64(), float64(i % 3)}})
	}
	more := slices.Clone(rows)
	for range 100 { // of one who has three
		more = append(more, measure.Row[string, []float64]{Person: "5", Record: []float64{0.5, 2}})
	}
	records := func(rows []measure.Row[string, []float64]) [][]float64 {
		out := testkit.Must(s.ReleasePersons(t.Context(), random.Seeded(2), rows))
		return testkit.Must(out.Records(t.Context(), random.Seeded(3), 50))
	}
	if !reflect.DeepEqual(records(rows), records(more)) {
		t.Error("rows beyond the cap change the release")
	}
	var all [][]float64
	for _, x := range rows {
		all = append(all, x.Record)
	}
	if _, err := s.Release(t.Context(), nil, all); !errors.Is(err, measure.ErrPersons) {
		t.Error(err)
	}
	if _, err := row.ReleasePersons(t.Context(), nil, rows); !errors.Is(err, measure.ErrPersons) {
		t.Error(err)
	}
	for _, bad := range [][]float64{{.5}, {.5, 7}} {
		wrong := append(slices.Clone(more), measure.Row[string, []float64]{Person: "last", Record: bad})
		_, err := s.ReleasePersons(t.Context(), nil, wrong)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(len(more))) {
			t.Errorf("row %d is bad: %v", len(more), err)
		}
	}
	for _, o := range []Options{{PerPerson: 2}, {PerPerson: -1, Relation: measure.AddRemoveOne}, {PerPerson: math.MaxInt, Relation: measure.AddRemoveOne}} {
		if _, err := New(columns, 1, &o); err == nil {
			t.Errorf("%+v is not refused", o)
		}
	}
}
