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
	"github.com/metricdp/metricdp/metric"
)

// judged is a release of a sample at add-or-remove, and what it errs by.
type judged struct {
	*sample
	eps   float64
	r     *Release
	errs  []float64 // of columns
	pairs map[Pair]float64
	alone float64 // of a pair, in the mean, where independent noisy columns are released
}

// judge releases small samples; those of BenchmarkTable of up to 20,000 rows where long.
func judge(t *testing.T, long bool) (all []judged) {
	tables, levels := []*sample{chain(2_500), mixed(4_000)}, []float64{1}
	if long {
		tables = slices.DeleteFunc(samples(t), func(s *sample) bool { return len(s.rows) > 20_000 })
		levels = []float64{.1, 1, 10}
	}
	for _, s := range tables {
		for _, eps := range levels {
			rng := random.Seeded(1)
			r := testkit.Must(testkit.Must(New(s.columns, eps, &Options{Relation: measure.AddRemoveOne})).Release(t.Context(), rng, s.rows))
			grid := newGrid(s.columns, s.rows)
			x, y := grid.bin(s.rows), grid.bin(testkit.Must(r.Records(t.Context(), rng, 0)))
			j := judged{s, eps, r, nil, map[Pair]float64{}, ways123(x, independent(rng, s, x, eps))[1]}
			for a := range s.columns {
				j.errs = append(j.errs, variation(x, y, a))
				for b := range a {
					j.pairs[Pair{b, a}] = variation(x, y, b, a)
				}
			}
			all = append(all, j)
		}
	}
	return all
}

func (j *judged) String() string { return fmt.Sprintf("%s, eps = %v", j.name, j.eps) }

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// What a release says that it errs by, in the mean of columns, of released pairs and of others, and
// what was planned, is near the truth. It errs less than independent columns where pairs depend,
// and never much more.
func TestErrors_AreNearTheTruth(t *testing.T) {
	for _, j := range judge(t, testkit.Sweep(0, 1) == 1) {
		e := testkit.Must(j.r.Error(t.Context(), random.Seeded(2), 1))
		var truth, told [2]float64
		released := map[Pair]bool{}
		for _, p := range j.r.Pairs() {
			released[p] = true
		}
		for p, v := range j.pairs {
			at := 1
			if released[p] {
				at = 0
			}
			truth[at] += v
			told[at] += e.Pairs[p.A][p.B]
			if e.Pairs[p.B][p.A] != e.Pairs[p.A][p.B] || e.Strength[p.A][p.B] != e.Strength[p.B][p.A] {
				t.Errorf("%v: %v is told in two ways", &j, p)
			}
		}
		if pairs := (truth[0] + truth[1]) / float64(len(j.pairs)); pairs > 1.2*j.alone || j.name == "mixed4000" && pairs > .8*j.alone {
			t.Errorf("%v: pairs err by %.4f, and %.4f of independent columns", &j, pairs, j.alone)
		}
		plan := testkit.Must(Plan(j.columns, len(j.rows), j.eps, &Options{Relation: measure.AddRemoveOne}))
		planned := mean(plan.Columns)
		if len(released) == 0 {
			planned = mean(plan.Alone)
		}
		if len(released) > plan.Pairs+1 { // the number of rows is noisy
			t.Errorf("%v: %d pairs, planned were %d", &j, len(released), plan.Pairs)
		}
		for _, c := range []struct {
			what        string
			told, truth float64
			least, most float64
		}{
			{"columns", mean(e.Columns), mean(j.errs), .6, 1.6},
			{"columns, as planned", planned, mean(j.errs), .3, 2},
			{"pairs released together", told[0], truth[0], .6, 1.6},
			{"other pairs", told[1], truth[1], .5, 1.5},
		} {
			t.Logf("%v: %s: told %.4f of %.4f", &j, c.what, c.told, c.truth)
			if c.truth > 0 && !(c.told >= c.least*c.truth && c.told <= c.most*c.truth) {
				t.Errorf("%v: %s: told %.4f of %.4f", &j, c.what, c.told, c.truth)
			}
		}
	}
}

func TestPlan_SaysWhatIsToCome(t *testing.T) {
	columns := []domain.Column{{Hi: 1, Share: 1}, {Categories: 4, Share: 1}, {Hi: 9, Whole: true, Share: 1}, {Radius: 1, Share: 1}, {Categories: 2, Share: 1}}
	least := math.Inf(1)
	for _, rows := range []int{1, 300, 3_000, 30_000, 3_000_000, math.MaxInt32} {
		e := testkit.Must(Plan(columns, rows, 1, nil))
		if worst := e.Columns[0]; !(worst <= least) || !(e.Alone[0] <= worst) || !(e.Strength > 0 && e.Strength <= 1) {
			t.Errorf("%d rows: %+v", rows, e)
		} else {
			least = worst
		}
	}
	person := testkit.Must(Plan(columns, 3_000, 1, &Options{Relation: measure.AddRemoveOne, PerPerson: 10}))
	row := testkit.Must(Plan(columns, 3_000, .1, &Options{Relation: measure.AddRemoveOne}))
	if math.Abs(person.Columns[0]-row.Columns[0]) > 1e-9 || person.Pairs != row.Pairs {
		t.Errorf("10 rows of a person at 1: %+v, a row at .1: %+v", person, row)
	}
	if one := testkit.Must(Plan(columns[:1], 3_000, 1, nil)); one.Pairs != 0 || one.Columns[0] != one.Alone[0] {
		t.Errorf("one column: %+v", one)
	}
	var v *metric.ValueError
	if _, err := Plan(columns, 0, 1, nil); !errors.As(err, &v) {
		t.Error(err)
	}
	if _, err := Plan(nil, 1, 1, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Error(err)
	}
}

// TestRelease_Report: a report has the columns' names and all pairs, and wants the errors of
// its release.
func TestRelease_Report(t *testing.T) {
	schema := testkit.Must(ParseSchema("x:whole:0..7,y:whole:0..7,home?:place:lat|lon"))
	rng := random.Seeded(3)
	var rows [][]float64
	for range 3_000 {
		x := math.Floor(8 * rng.Float64())
		rows = append(rows, []float64{x, x, 50 + x, math.Floor(8 * rng.Float64())})
	}
	r := testkit.Must(testkit.Must(New(schema.Columns(), 2, nil)).Release(t.Context(), rng, rows))
	e := testkit.Must(r.Error(t.Context(), rng, 2))
	report := testkit.Must(r.Report(t.Context(), rng, schema, 1))
	for _, want := range []string{"2-private per record replaced, on tables of 3 columns, about 3000 rows\n", "\nx, y ", "\nhome "} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	if strength := e.Strength[0][1]; math.Abs(strength-7./8) > .1 {
		t.Errorf("two columns of 8 values that are the same depend by %v", strength)
	}
	if plain := testkit.Must(r.Report(t.Context(), rng, nil, 1)); !strings.Contains(plain, "\ncolumn 0, column 1 ") {
		t.Error(plain)
	}
	if _, err := r.Report(t.Context(), rng, testkit.Must(ParseSchema("x:whole:0..7")), 1); err == nil {
		t.Error("no error for another schema")
	}
	if _, err := r.Error(t.Context(), rng, 0); err == nil {
		t.Error("no error for no draws")
	}
}

// TestGrid_BinsAllKinds: values fall into the bins that errors are told of, what is missing
// into one of its own, and so many categories into runs.
func TestGrid_BinsAllKinds(t *testing.T) {
	columns := []domain.Column{{Lo: -1, Hi: 1, Missing: true}, {Lo: 2, Hi: 5, Whole: true}, {Categories: 100_000}, {Radius: 1, Missing: true}, {Hi: 640, Whole: true}}
	nan := math.NaN()
	rows := [][]float64{{-1, 2, 0, 10, 20, 0}, {1, 5, 99_999, 18, 28, 640}, {nan, 3, 50_000, nan, nan, 320}, {7, 2, 97, 14, 24, 9}}
	b := newGrid(columns, rows).bin(rows)
	want := [][]uint16{{0, 63, 64, 63}, {0, 3, 1, 0}, {0, 1023, 512, 0}, {0, 63, 64, 36}, {0, 63, 32, 0}}
	if !reflect.DeepEqual(b.code, want) || !reflect.DeepEqual(b.size, []int{65, 4, 1024, 65, 64}) {
		t.Errorf("%v of %v, want %v", b.code, b.size, want)
	}
}
