package population

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Whatever is picked, counts and picks cost eps at most, while pairs are picked and in the end,
// when all of it is spent; and no level falls.
func TestLevels_SpendEps(t *testing.T) {
	rng := random.Seeded(1)
	for range 2000 {
		eps, rows := math.Exp(8*rng.Float64()-5), math.Exp(15*rng.Float64())
		delta := 1 + rng.IntN(2)
		var values []int
		for range 1 + rng.IntN(12) {
			values = append(values, 1+rng.IntN(100))
		}
		l := NewLevels(eps, rows, values, delta)
		var all, picked []Grid
		for range len(values) * (len(values) - 1) / 2 {
			most := 1 + 40*rng.IntN(2)*rng.IntN(2) // few large ones
			all = append(all, Grid{Sizes: []int{1 + rng.IntN(most), 1 + rng.IntN(most)}})
		}
		l.Consider(all)
		cost := func(margins, pairs []float64, picks int) float64 {
			return float64(delta)*(sum(margins)+sum(pairs)) + float64(picks)*l.Pick
		}
		var pairs []float64
		for _, g := range all {
			if len(picked) < l.Picks && l.Fits(picked, g) {
				if want := 1 / l.Scale(picked, g); rng.IntN(8) == 0 && len(picked)+1 == l.Picks {
					_, rest := l.Rest(append(picked, g), l.Picks)
					if got := rest[len(rest)-1]; math.Abs(got-want) > 1e-9*want {
						t.Fatalf("the last pair's level is %v, foretold as %v", got, want)
					}
				}
				picked, pairs = append(picked, g), append(pairs, l.Pair(g))
			} else if len(picked) == 0 && l.Picks > 0 {
				t.Fatalf("no pair fits %+v", l)
			}
		}
		if c := cost(l.Margins, pairs, len(picked)); c > eps*(1+1e-9) {
			t.Fatalf("spent %v of %v while picking", c, eps)
		}
		picks := min(len(picked)+rng.IntN(2), l.Picks) // the last may be of none
		margins, rest := l.Rest(picked, picks)
		if c := cost(margins, rest, picks); math.Abs(c-eps) > 1e-9*eps {
			t.Fatalf("spent %v of %v", c, eps)
		}
		for i, e := range slices.Concat(l.Margins, pairs) {
			if slices.Concat(margins, rest)[i] < e*(1-1e-9) {
				t.Fatalf("level %d falls from %v", i, e)
			}
		}
	}
}

// Columns without order have the cells that they can fill, ordered ones .6 of them each.
func TestLevels_Cells(t *testing.T) {
	l := NewLevels(1, 20_000, []int{9, 9, 9}, 1)
	if a, b, c := l.CellsOf(false, false), l.CellsOf(true, false), l.CellsOf(true, true); a != l.Cells || !(c < b && b < a) {
		t.Errorf("%d, %d and %d cells", a, b, c)
	}
	if l = NewLevels(1e3, 1e9, []int{9, 9}, 1); l.CellsOf(true, true) != mostCells {
		t.Errorf("%d cells of %d", l.CellsOf(true, true), mostCells)
	}
	if l = NewLevels(1e-3, 1, []int{9, 9}, 1); l.Cells != 9 {
		t.Errorf("%d cells at least", l.Cells)
	}
}

// A column of few bins leaves more cells to the other.
func TestGrid_Shares(t *testing.T) {
	bins := []int{2, 60, 40, 1}
	group := func(j, most int) []uint8 { return Bins(make([]float64, bins[j]), true, most) }
	for _, c := range []struct{ a, b, x, y int }{{0, 1, 2, 50}, {1, 2, 10, 10}, {3, 0, 1, 2}} {
		// Bins of values without counts are all one where they do not all fit.
		g := NewGrid(bins, func(j, most int) []uint8 {
			counts := slices.Repeat([]float64{1}, bins[j])
			return Bins(counts, true, most)
		}, 100, c.a, c.b)
		if g.Sizes[0] != c.x || g.Sizes[1] != c.y || g.Cells() != c.x*c.y {
			t.Errorf("columns %d and %d: groups %v, want %d and %d", c.a, c.b, g.Sizes, c.x, c.y)
		}
	}
	if g := NewGrid(bins, group, 0, 1, 2); g.Cells() != 1 {
		t.Errorf("%d cells of 1", g.Cells())
	}
}

func TestBins_Known(t *testing.T) {
	for name, c := range map[string]struct {
		counts  []float64
		ordered bool
		most    int
		want    []uint8
	}{
		"ordered, an atom": {[]float64{1, 1, 1, 9, 1, 1, 1, 1}, true, 3, []uint8{0, 0, 0, 1, 2, 2, 2, 2}},
		"ordered, all fit": {[]float64{0, 5, 0}, true, 3, []uint8{0, 1, 2}},
		"ordered, zeros":   {[]float64{0, 0, 0}, true, 2, []uint8{0, 0, 0}},
		"categories":       {[]float64{2, 9, 1, 4}, false, 3, []uint8{2, 0, 2, 1}},
		"rare ones":        {[]float64{1, 1e5, 2, 1e5}, false, 9, []uint8{2, 0, 2, 1}},
		"one value":        {[]float64{0}, false, 4, []uint8{0}},
		"one bin":          {[]float64{3, 4}, false, 1, []uint8{0, 0}},
	} {
		if got := Bins(c.counts, c.ordered, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Most noise less than a step goes, and the step stays.
func TestSegments_KeepSteps(t *testing.T) {
	rng := random.Seeded(2)
	y := make([]float64, 60)
	want := slices.Concat(make([]float64, 40), slices.Repeat([]float64{50}, 20))
	before, after := 0., 0.
	for i := range y {
		y[i] = want[i] + laplace(rng, 1)
	}
	for i, v := range Segments(y, 2) {
		before, after = before+math.Abs(y[i]-want[i]), after+math.Abs(v-want[i])
	}
	if after > before/2 {
		t.Errorf("errors of %.1f in all, %.1f before", after, before)
	}
	if few := []float64{1, 5, 2}; !slices.Equal(Segments(few, 100), few) {
		t.Error("few values change")
	}
}

// Combine is the solution of the normal equations.
func TestCombine_LeastSquares(t *testing.T) {
	g := NewGrid([]int{3, 2}, func(j, _ int) []uint8 { return [][]uint8{{0, 0, 1}, {0, 1}}[j] }, 1, 0, 1)
	table := Table{g, []float64{30, 34, 20, 28}, math.Sqrt(.5)}
	// Own counts 10, 30, 60 of variance 2; sums 64 and 48 of variance 2 (of two cells of variance
	// 1): a group's sum of own counts has variance 4, so its 40 moves 2/3 of the way to 64.
	// 10+8, 30+8, and 60 moves half of the way to 48; the projection to sum 110 takes 0 each.
	got := Combine([]float64{10, 30, 60}, []float64{2, 2, 2}, one(3), 0, 3, []Table{table}, 110)
	near(t, "combined", got, []float64{18, 38, 54}, 1e-9)
	// The same table twice is one with half of the variance: 4/5 of the way, and 2/3.
	got = Combine([]float64{10, 30, 60}, []float64{2, 2, 2}, one(3), 0, 3, []Table{table, table}, 111.2)
	near(t, "combined twice", got, []float64{19.6, 39.6, 52}, 1e-9)
}

// The last sweeps take noise of drawing out of a table's cells, where its counts are exact; and
// counts are followed to the scale of their noise and no farther.
func TestFit_Tables(t *testing.T) {
	rng := random.Seeded(6)
	bins := []int{8, 8}
	want, margins := make([]float64, 64), [][]float64{make([]float64, 8), make([]float64, 8)}
	for range 10_000 {
		a := rng.IntN(8)
		b := (a + rng.IntN(3) + rng.IntN(2)) % 8
		want[8*a+b]++
		margins[0][a]++
		margins[1][b]++
	}
	noise := 0.
	for _, n := range want {
		noise += .8 * math.Sqrt(n)
	}
	for _, scale := range []float64{1, 1e6} {
		p := testkit.Must(New(rng, bins, margins, 10_000, nil))
		pair := Table{whole(bins, 0, 1), want, scale}
		p.Add(pair)
		testkit.Check(t, p.Finish(context.Background(), margins, []Table{pair}, 10_000, 40))
		off := 0.
		for c, n := range p.Counts(pair.Grid) {
			off += math.Abs(n - want[c])
		}
		if exact := scale == 1; exact && off > noise/4 || !exact && off < 10*noise {
			t.Errorf("scale %g: cells are %.0f off in all, %.0f by drawing", scale, off, noise)
		}
	}
}

// Counts of a spread are within one of what they should be.
func TestSpread_Even(t *testing.T) {
	rng := random.Seeded(3)
	for range 200 {
		weights := make([]float64, 1+rng.IntN(9))
		for i := range weights {
			weights[i] = float64(rng.IntN(3)) * rng.Float64()
		}
		n := rng.IntN(50)
		counts := make([]float64, len(weights))
		for _, a := range spread(rng, weights, n) {
			counts[a]++
		}
		all := slices.Max(weights) == 0 // count as equal
		for a, w := range weights {
			share := w / sum(weights)
			if all {
				share = 1 / float64(len(weights))
			}
			if math.Abs(counts[a]-share*float64(n)) > 1+1e-9 || w == 0 && !all && counts[a] > 0 {
				t.Fatalf("%v of %v", counts, weights)
			}
		}
	}
}

// What is expected of a pair is counts of whole records, and costs the table's noise and that
// of drawing.
func TestPredict_Known(t *testing.T) {
	bins, margins := []int{2, 1}, [][]float64{{30, 10}, {40}}
	p := testkit.Must(New(random.Seeded(7), bins, margins, 8, nil)) // a row stands for five
	roots := .8 * math.Sqrt(6) * (math.Sqrt(30) + math.Sqrt(10))
	for first, share := range map[bool]float64{true: 1, false: .25} {
		q := p.Predict(3, first, whole(bins, 0, 1))
		if want := share*3*2 + roots; !slices.Equal(q.Counts, []int64{30, 10}) || math.Abs(q.Cost-want) > 1e-9 {
			t.Errorf("%+v, want a cost of %v", q, want)
		}
	}
	if a, b := Threshold(20, true), Threshold(20, false); math.Abs(a-4.995732) > 1e-6 || math.Abs(b-1.497866) > 1e-6 {
		t.Errorf("thresholds %v and %v", a, b)
	}
}
