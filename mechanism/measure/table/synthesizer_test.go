package table

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

var relations = []measure.Relation{measure.ReplaceOne, measure.AddRemoveOne}

func numbers(k int) []domain.Column { return slices.Repeat([]domain.Column{{Hi: 1}}, k) }

// uniform returns rows of independent numbers.
func uniform(rng *rand.Rand, rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		for range columns {
			out[i] = append(out[i], rng.Float64())
		}
	}
	return out
}

// TestGuarantee_IsSumOfParts: for every number of edges, the parts' levels and those
// of the choices, added in another order, are at most the level stated, which is at
// most eps.
func TestGuarantee_IsSumOfParts(t *testing.T) {
	for _, rel := range relations {
		for _, k := range []int{1, 2, 5, 60} {
			for _, eps := range []float64{1e-6, .1, 1, 7.3, 1e6} {
				s := testkit.Must(New(numbers(k), eps, &Options{Relation: rel}))
				stated := s.Guarantee().Alpha()
				if !(stated <= eps && stated > eps*(1-1e-6)) {
					t.Errorf("%d columns: level %v at eps %v", k, stated, eps)
				}
				for e := range k {
					sum := 0.0
					for _, m := range s.margins {
						sum += m.Guarantee().Alpha()
					}
					switch {
					case k == 1:
					case e == 0:
						for _, m := range s.again {
							sum += m.Guarantee().Alpha()
						}
					default:
						sum += float64(e) * s.pairs[e].Guarantee().Alpha()
					}
					sum += float64(min(e+1, k-1)) * 2 * float64(sensitivity(rel)) * s.rate
					if !(sum <= stated*(1+1e-13)) {
						t.Errorf("%v, %d columns, %d edges: %v, stated is %v", rel, k, e, sum, stated)
					}
				}
			}
		}
	}
}

// TestRelease_SpendsItsParts: a release takes the pairs of as many edges as there are,
// and without edges margins of what is left, not those for others.
func TestRelease_SpendsItsParts(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	const k = 4
	for edges := range k {
		s := testkit.Must(New(numbers(k), 50, nil))
		own := s.pairs[edges]
		clear(s.pairs)
		s.pairs[edges] = own
		two := testkit.Must(domain.NewBox(numbers(1), &domain.BoxOptions{Depth: 1}))
		for a := range s.again {
			s.again[a] = testkit.Must(measure.NewSynthesizer(two, s.again[a].Guarantee().Alpha(), nil))
		}
		table := uniform(rng, 2000, k) // whose first columns are alike
		for i := range table {
			for a := range edges {
				table[i][a+1] = table[i][0]
			}
		}
		r := testkit.Must(s.Release(ctx, rng, table))
		if len(r.Edges()) != edges {
			t.Fatalf("%d edges, want %d", len(r.Edges()), edges)
		}
		if regions := len(r.Margins()[0].Weights); (regions <= 2) != (edges == 0) {
			t.Errorf("%d edges: a margin has %d regions", edges, regions)
		}
	}
}

// TestRelease_TotalIsPublicOrNoisy: it is the number of rows under ReplaceOne, and not
// a function of it under AddRemoveOne.
func TestRelease_TotalIsPublicOrNoisy(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	for _, rel := range relations {
		s := testkit.Must(New(numbers(6), 0.5, &Options{Relation: rel}))
		for _, n := range []int{1, 7, 49, 103} {
			rows := uniform(rng, n, 6)
			x, y := testkit.Must(s.Release(ctx, rng, rows)).Total, testkit.Must(s.Release(ctx, rng, rows)).Total
			if public := x == float64(n) && y == x; public != (rel == measure.ReplaceOne) {
				t.Errorf("%v: totals %v and %v of %d rows", rel, x, y, n)
			}
		}
	}
}

// TestRelease_PicksByNoisyTotal: where the noisy total is far from the number of rows,
// the score of no pair follows it, and not the number.
func TestRelease_PicksByNoisyTotal(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	table := uniform(rng, 1000, 3)
	for _, x := range table {
		x[1] = x[0]
	}
	s := testkit.Must(New(numbers(3), 100, &Options{Relation: measure.AddRemoveOne}))
	s.margins[2] = testkit.Must(measure.NewSynthesizer(s.margins[2].Domain(), 1e-9, &measure.SynthesizerOptions{Relation: measure.AddRemoveOne}))
	none, some := 0, 0
	for range 20 {
		switch edges := len(testkit.Must(s.Release(ctx, rng, table)).Edges()); edges {
		case 0:
			none++
		default:
			some++
		}
	}
	if min(none, some) == 0 { // the total is as often far below 0 as far above
		t.Errorf("%d releases have edges, %d have none", some, none)
	}
}

// TestRelease_OfTinyLevels: noise beyond all scores ends, and picks nothing.
func TestRelease_OfTinyLevels(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	table := uniform(rng, 100, 3)
	for _, eps := range []float64{1e-47, 1e-20, 1e-9} {
		r := testkit.Must(testkit.Must(New(numbers(3), eps, nil)).Release(ctx, rng, table))
		if edges := len(r.Edges()); edges > 0 && eps < 1e-11 {
			t.Errorf("eps = %v: %d edges", eps, edges)
		}
	}
}

// TestSynthesizer_RefusesBadInput: with the row and the column.
func TestSynthesizer_RefusesBadInput(t *testing.T) {
	ctx := context.Background()
	s := testkit.Must(New([]domain.Column{{Hi: 1}, {Categories: 3}}, 1, nil))
	good := []float64{.5, 1}
	for _, c := range []struct {
		rows [][]float64
		want string
	}{
		{nil, "rows: empty input"},
		{[][]float64{good, {.5}}, "rows[1] has size 1, want 2"},
		{[][]float64{good, {.5, 1, 1}}, "rows[1] has size 3, want 2"},
		{[][]float64{good, {math.NaN(), 1}}, "column 0"},
		{[][]float64{good, {.5, 3}}, "column 1"},
		{[][]float64{good, {.5, .5}}, "column 1"},
	} {
		if _, err := s.Release(ctx, nil, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.rows, err, c.want)
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Release(over, nil, uniform(random.Seeded(1), 10_000, 2)); err == nil {
		t.Error("a context that is over")
	}
	if _, err := New(numbers(maxColumns+1), 1, nil); err == nil {
		t.Error("too many columns")
	}
	if _, err := New(nil, 1, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("no columns: %v", err)
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := New(numbers(2), eps, nil); err == nil {
			t.Errorf("eps = %v", eps)
		}
	}
	if _, err := New([]domain.Column{{Hi: 1}, {Lo: 1}}, 1, nil); err == nil || !strings.Contains(err.Error(), "column 1") {
		t.Errorf("a column without a range: %v", err)
	}
	var zero Synthesizer
	if g := zero.Guarantee(); !math.IsInf(g.Alpha(), 1) {
		t.Errorf("the zero value promises %v", g)
	}
}

// TestRelease_OfFewRows: no rows, one, and one column, come back as rows of the
// columns.
func TestRelease_OfFewRows(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	for _, k := range []int{1, 2, 7} {
		s := testkit.Must(New(numbers(k), 1, &Options{Relation: measure.AddRemoveOne}))
		for _, n := range []int{0, 1, 3} {
			r := testkit.Must(s.Release(ctx, rng, uniform(rng, n, k)))
			for _, m := range []int{0, 100} {
				rows := testkit.Must(r.Records(ctx, rng, m))
				if m > 0 && len(rows) != m || len(rows) == 0 {
					t.Fatalf("%d rows of %d", len(rows), m)
				}
				for _, x := range rows {
					if len(x) != k || slices.ContainsFunc(x, func(v float64) bool { return !(v >= 0 && v <= 1) }) {
						t.Fatalf("row %v", x)
					}
				}
			}
		}
	}
}

// TestRelease_ReadsCellsAlone: rows of the same cells of all margins give the same
// release, whatever else they say.
func TestRelease_ReadsCellsAlone(t *testing.T) {
	ctx := context.Background()
	s := testkit.Must(New(numbers(3), 1, nil))
	rows := uniform(random.Seeded(1), 500, 3)
	moved := make([][]float64, len(rows))
	for i, x := range rows {
		for a, v := range x {
			d := s.margins[a].Domain()
			cell := testkit.Must(d.Cell([]float64{v}))
			moved[i] = append(moved[i], d.Jitter(random.Seeded(uint64(i)), cell)[0])
		}
	}
	first := testkit.Must(s.Release(ctx, random.Seeded(2), rows))
	second := testkit.Must(s.Release(ctx, random.Seeded(2), moved))
	x, y := testkit.Must(first.Records(ctx, random.Seeded(3), 100)), testkit.Must(second.Records(ctx, random.Seeded(3), 100))
	if !slices.EqualFunc(x, y, slices.Equal) {
		t.Error("rows of the same cells have another release")
	}
}

// TestRecords_ArePossible: also where nearly half of what is drawn is not.
func TestRecords_ArePossible(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	rows := uniform(rng, 1000, 2)
	for _, x := range rows {
		x[0], x[1] = min(x[0], x[1]), max(x[0], x[1])
	}
	ordered := func(lo, hi []float64) bool { return lo[0] <= hi[1] }
	s := testkit.Must(New(numbers(2), 1, &Options{Possible: ordered}))
	r := testkit.Must(s.Release(ctx, rng, rows))
	got := testkit.Must(r.Records(ctx, rng, 40_000))
	for _, x := range got {
		if len(got) != 40_000 || x[0] > x[1] {
			t.Fatalf("%d rows, among them %v", len(got), x)
		}
	}
	s = testkit.Must(New(numbers(2), 1, &Options{Possible: func(lo, hi []float64) bool { return lo[0] != hi[0] }}))
	r = testkit.Must(s.Release(ctx, rng, rows))
	if _, err := r.Records(ctx, rng, 10); err == nil || !strings.Contains(err.Error(), "Possible leaves 0") {
		t.Errorf("no row is possible: %v", err)
	}
}

// TestColumns_OfAllKinds: whole numbers, places, leaves and missing values come back
// as such, and what they say of one another is not lost.
func TestColumns_OfAllKinds(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	columns := []domain.Column{
		{Lo: 0, Hi: 120, Whole: true, Missing: true},
		{Radius: 6371},
		{Taxonomy: testkit.Must(metric.TreeFromPaths([][]string{{"all", "a", "b"}, {"all", "a", "c"}, {"all", "d"}})), Missing: true},
	}
	var rows [][]float64
	for range 5000 {
		x := []float64{40, 10 + 20*rng.Float64(), -100 + 10*rng.Float64(), float64(rng.IntN(3))}
		if rng.IntN(2) > 0 {
			x[0], x[1], x[3] = math.NaN(), -50+rng.Float64(), math.NaN()
		}
		rows = append(rows, x)
	}
	s := testkit.Must(New(columns, 5, nil))
	r := testkit.Must(s.Release(ctx, rng, rows))
	if len(r.Edges()) != 2 {
		t.Errorf("edges %v, want 2", r.Edges())
	}
	north, alike := 0, 0
	const m = 20_000
	for _, x := range testkit.Must(r.Records(ctx, rng, m)) {
		if len(x) != 4 || !math.IsNaN(x[0]) && (x[0] != math.Trunc(x[0]) || !(x[0] >= 0 && x[0] <= 120)) ||
			!(math.Abs(x[1]) <= 90 && math.Abs(x[2]) <= 180) || !math.IsNaN(x[3]) && !slices.Contains([]float64{0, 1, 2}, x[3]) {
			t.Fatalf("row %v", x)
		}
		if x[1] > 0 {
			north++
		}
		if math.IsNaN(x[0]) == (x[1] < 0) && math.IsNaN(x[3]) == (x[1] < 0) {
			alike++
		}
	}
	if math.Abs(float64(north)/m-.5) > .02 || float64(alike)/m < .9 {
		t.Errorf("%d of %d rows in the north, %d with what belongs there", north, m, alike)
	}
}
