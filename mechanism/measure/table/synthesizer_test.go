package table

import (
	"context"
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

// What is refused, and how: with the row and the column.
func TestSynthesizer_RefusesBadInput(t *testing.T) {
	s, good := testkit.Must(New([]domain.Column{{Hi: 1}, {Categories: 3}}, 1, nil)), []float64{.5, 1}
	release := func(rows ...[]float64) error { return testkit.Err(s.Release(t.Context(), nil, rows)) }
	made := func(eps float64, o Options, columns ...domain.Column) error {
		return testkit.Err(New(columns, eps, &o))
	}
	testkit.Refused(t, [][3]any{
		{release(), "table: Synthesizer.Release: rows: empty input"},
		{release(good, []float64{.5}), "Synthesizer.Release: rows[1] has size 1, want 2"},
		{release(good, []float64{.5, 1, 1}), "Synthesizer.Release: rows[1] has size 3, want 2"},
		{release(good, []float64{math.NaN(), 1}), "row 1, column 0"},
		{release(good, []float64{.5, 3}), "row 1, column 1"},
		{made(1, Options{}), "table: New: columns: empty input", metric.ErrEmpty},
		{made(1, Options{}, numbers(maxColumns+1)...), "New: columns has size 257"},
		{made(1, Options{Relation: 7}, numbers(2)...), "New: Relation = 7"},
		{made(1e-10, Options{}, numbers(2)...), "New: eps = 1e-10"},
		{made(1e10, Options{}, numbers(2)...), "New: eps = 1e+10"},
		{made(1, Options{}, domain.Column{Hi: 1}, domain.Column{Lo: 1}), "New: column 1: "},
	})
}

// TestRelease_OfFewRows: no rows, one, and one column, come back as rows of the columns.
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
			space := s.parts[a].space
			cell := testkit.Must(space.Locate([]float64{v}))
			moved[i] = append(moved[i], space.At(random.Seeded(uint64(i)), space.Regions.Cell(cell))[0])
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
	if _, err := r.Records(ctx, rng, 10); err == nil || !strings.Contains(err.Error(), "Possible refuses") {
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
	if len(r.Pairs()) < 2 {
		t.Errorf("pairs %v, want 2", r.Pairs())
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

// TestRelease_OfTinyLevels: noise beyond all counts ends.
func TestRelease_OfTinyLevels(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	for _, rel := range relations {
		r := testkit.Must(testkit.Must(New(numbers(3), 1e-9, &Options{Relation: rel})).Release(ctx, rng, uniform(rng, 100, 3)))
		testkit.Must(r.Records(ctx, rng, 100))
	}
}

// TestRelease_FollowsSeed: on any number of cores.
func TestRelease_FollowsSeed(t *testing.T) {
	ctx := context.Background()
	rows := uniform(random.Seeded(1), 5000, 3)
	s := testkit.Must(New(numbers(3), 5, nil))
	run := func() [][]float64 {
		rng := random.Seeded(2)
		return testkit.Must(testkit.Must(s.Release(ctx, rng, rows)).Records(ctx, rng, 1000))
	}
	if !slices.EqualFunc(run(), run(), slices.Equal) {
		t.Error("one seed, two tables")
	}
}

// TestMargin_AtomsAndMissingAlone: a value that half the rows have is a bin, and a missing one,
// and those of a category that are rare are one together.
func TestMargin_AtomsAndMissingAlone(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	var rows [][]float64
	for range 20_000 {
		x := []float64{700 * rng.Float64(), float64(rng.IntN(3)), float64(rng.IntN(100))}
		switch rng.IntN(4) {
		case 0:
			x[0] = math.NaN()
		case 1, 2:
			x[0] = 123
		}
		if rng.IntN(1000) == 0 {
			x[1] = float64(3 + rng.IntN(37))
		}
		rows = append(rows, x)
	}
	columns := []domain.Column{{Hi: 1000, Missing: true}, {Categories: 40}, {Hi: 99, Whole: true, Missing: true}}
	r := testkit.Must(testkit.Must(New(columns, 10, nil)).Release(ctx, rng, rows))
	m := r.margins[0]
	lo, hi := m.bounds()
	share := make([]float64, m.size)
	for i, b := range m.bin {
		share[b] += m.mass[i] / r.Total
	}
	missing, atom := share[m.size-1], 0.0
	for b := range share {
		if lo[b][0] <= 123 && hi[b][0] >= 123 && hi[b][0]-lo[b][0] < 1 {
			atom = share[b]
		}
	}
	if !math.IsNaN(lo[m.size-1][0]) || math.Abs(missing-.25) > .02 || math.Abs(atom-.5) > .03 {
		t.Errorf("bins %v to %v with shares %.3f", lo, hi, share)
	}
	if n := r.margins[1].size; n < 4 || n > 6 {
		t.Errorf("%d bins of three categories and rare ones", n)
	}
	absent, nobody := 0, 0
	for _, x := range testkit.Must(r.Records(ctx, rng, 10_000)) {
		if math.IsNaN(x[0]) {
			absent++
		}
		if math.IsNaN(x[2]) {
			nobody++
		}
	}
	if nobody > 20 { // the noise of its count is less than 20 with probability 1 - 1e-6
		t.Errorf("%d values of 10000 are missing that nobody misses", nobody)
	}
	if math.Abs(float64(absent)/10_000-.25) > .02 {
		t.Errorf("%d of 10000 are missing", absent)
	}
}

// TestRecords_OfManyRows: a population of 2^17 stands for more.
func TestRecords_OfManyRows(t *testing.T) {
	ctx, rng := context.Background(), random.Seeded(1)
	rows := make([][]float64, 150_000)
	for i := range rows {
		x := float64(i % 3)
		rows[i] = []float64{x, x}
	}
	r := testkit.Must(testkit.Must(New([]domain.Column{{Categories: 3}, {Categories: 3}}, 1, nil)).Release(ctx, rng, rows))
	seen := map[[2]float64]int{}
	for _, x := range testkit.Must(r.Records(ctx, rng, 0)) {
		seen[[2]float64(x)]++
	}
	for i := range 3 {
		x := float64(i)
		if n := seen[[2]float64{x, x}]; n < 49_500 || n > 50_500 {
			t.Errorf("%d rows of %v, want 50000", n, x)
		}
	}
	if len(r.bins[0]) != mostRows || r.Total != 150_000 {
		t.Errorf("a population of %d, total %v", len(r.bins[0]), r.Total)
	}
}

// TestRelease_OfLargeLevels: with so much budget that there is no noise rows come back, in the
// frequencies that they have.
func TestRelease_OfLargeLevels(t *testing.T) {
	ctx := context.Background()
	columns := []domain.Column{{Categories: 3}, {Lo: 1, Hi: 8, Whole: true}, {Lo: 5, Hi: 5, Whole: true}, {Hi: 1}}
	var rows [][]float64
	for i := range 240 {
		rows = append(rows, []float64{float64(i % 3), float64(1 + i%8), 5, float64(i%2) / 2})
	}
	for _, rel := range relations {
		for _, eps := range []float64{100, 70_700, 1e9, 3000, 1e4, 1e6}[:testkit.Sweep(3, 6)] {
			r := testkit.Must(testkit.Must(New(columns, eps, &Options{Relation: rel})).Release(ctx, random.Seeded(1), rows))
			if rel == measure.AddRemoveOne {
				none := testkit.Must(testkit.Must(New(columns, eps, &Options{Relation: rel})).Release(ctx, random.Seeded(1), nil))
				testkit.Must(none.Records(ctx, nil, 10))
			}
			seen := map[[3]float64]int{}
			got := testkit.Must(r.Records(ctx, random.Seeded(2), 0))
			for _, x := range got {
				seen[[3]float64(x[:3])]++
			}
			if len(got) < 238 || len(got) > 242 || len(seen) != 24 {
				t.Errorf("%v, eps = %v: %d rows of %d kinds, want 240 of 24", rel, eps, len(got), len(seen))
			}
		}
	}
}
