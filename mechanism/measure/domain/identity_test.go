package domain_test

import (
	"context"
	"encoding/hex"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// fourCells are domains of four cells each, of which no two have the same cells,
// by what makes them. Every call makes them anew.
func fourCells() (finite map[string]*domain.Domain[int], box map[string]*domain.Domain[[]float64], words map[string]*domain.Domain[string]) {
	line := func(at ...float64) metric.Finite { return samples.Line(at...) }
	tree := func(l ...float64) *metric.Tree {
		return testkit.Must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2, 2}, append([]float64{0}, l...)))
	}
	finite = map[string]*domain.Domain[int]{
		"net tree":              testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 4), nil)),
		"net tree, longer":      testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 5), nil)),
		"net tree, permuted":    testkit.Must(domain.NewFinite(context.Background(), line(2, 1, 3, 4), nil)),
		"net tree, binary":      testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 4), &domain.FiniteOptions{Arity: 2})),
		"net of five":           testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 4, 4.1), &domain.FiniteOptions{Separation: 0.5})),
		"net of five elsewhere": testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 4, 3.1), &domain.FiniteOptions{Separation: 0.5})),
		"net of six":            testkit.Must(domain.NewFinite(context.Background(), line(1, 2, 3, 4, 4.1, 4.1), &domain.FiniteOptions{Separation: 0.5})),
		"folded":                testkit.Must(domain.NewFolded(context.Background(), line(1, 2, 3, 4), nil)),
		"folded, longer":        testkit.Must(domain.NewFolded(context.Background(), line(1, 2, 3, 5), nil)),
		"folded, arity 4":       testkit.Must(domain.NewFolded(context.Background(), line(1, 2, 3, 4), &domain.FoldedOptions{Arity: 4})),
		"taxonomy":              testkit.Must(domain.NewTaxonomy(context.Background(), tree(2, 2, 1, 1, 1, 1), &domain.HierarchyOptions{Ratio: 1})),
		"taxonomy, longer":      testkit.Must(domain.NewTaxonomy(context.Background(), tree(2, 2, 1, 1, 1, 1.5), &domain.HierarchyOptions{Ratio: 1})),
		"ultrametric":           testkit.Must(domain.NewFinite(context.Background(), testkit.Must(metric.NewUltrametric([]int{0, 1, 2, 3}, []float64{1, 2, 1})), nil)),
		"ultrametric, higher":   testkit.Must(domain.NewFinite(context.Background(), testkit.Must(metric.NewUltrametric([]int{0, 1, 2, 3}, []float64{1, 3, 1})), nil)),
	}
	// Points are no farther apart than what they are laid over.
	far := testkit.Must(domain.NewFinite(context.Background(), line(0, 10, 20, 30), nil))
	fold := testkit.Must(domain.NewFolded(context.Background(), line(0, 10, 20, 30), nil))
	columns := func(o domain.BoxOptions, c ...domain.Column) *domain.Domain[[]float64] {
		return testkit.Must(domain.NewBox(c, &o))
	}
	on := func(d *domain.Domain[int], s metric.Space[[]float64], at ...[]float64) *domain.Domain[[]float64] {
		return testkit.Must(domain.On(context.Background(), d, testkit.Must(metric.NewPoints(at, s))))
	}
	box = map[string]*domain.Domain[[]float64]{
		"box":              columns(domain.BoxOptions{Depth: 2}, domain.Column{Hi: 1}),
		"box, wider":       columns(domain.BoxOptions{Depth: 2}, domain.Column{Hi: 2}),
		"box, shifted":     columns(domain.BoxOptions{Depth: 2}, domain.Column{Lo: 1, Hi: 2}),
		"box, weighted":    columns(domain.BoxOptions{Depth: 2}, domain.Column{Hi: 1, Weight: 2}),
		"box, one level":   columns(domain.BoxOptions{Splits: [][]int{{4}}}, domain.Column{Hi: 1}),
		"square":           columns(domain.BoxOptions{Splits: [][]int{{2, 2}}}, domain.Column{Hi: 1}, domain.Column{Hi: 1}),
		"square, in turn":  columns(domain.BoxOptions{Splits: [][]int{{2, 1}, {1, 2}}}, domain.Column{Hi: 1}, domain.Column{Hi: 1}),
		"square, and back": columns(domain.BoxOptions{Splits: [][]int{{1, 2}, {2, 1}}}, domain.Column{Hi: 1}, domain.Column{Hi: 1}),
		"strips":           columns(domain.BoxOptions{Splits: [][]int{{4, 1}}}, domain.Column{Hi: 1}, domain.Column{Hi: 1}),
		"categories":       columns(domain.BoxOptions{}, domain.Column{Categories: 4}),
		"two by two":       columns(domain.BoxOptions{}, domain.Column{Categories: 2}, domain.Column{Categories: 2}),
		"points":           on(far, metric.Euclidean{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
		"points, moved":    on(far, metric.Euclidean{}, []float64{1, 1}, []float64{2, 1}, []float64{2, 2}, []float64{4, 1}),
		"points, l1":       on(far, metric.Manhattan{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
		"points, permuted": on(far, metric.Euclidean{}, []float64{2, 0}, []float64{1, 0}, []float64{2, 1}, []float64{4, 0}),
		"points of a fold": on(fold, metric.Euclidean{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
	}
	labels := func(d string, l ...string) *domain.Domain[string] { return testkit.Must(domain.Labels(finite[d], l)) }
	words = map[string]*domain.Domain[string]{
		"words":           labels("net tree", "a", "b", "c", "d"),
		"other words":     labels("net tree", "a", "b", "c", "e"),
		"permuted words":  labels("net tree", "b", "a", "c", "d"),
		"run into one":    labels("net tree", "a\x00b", "b", "c", "d"),
		"words of a fold": labels("folded", "a", "b", "c", "d"),
	}
	return finite, box, words
}

// No two domains have one ID, and domains that are made alike, on two machines, have.
func TestIdentity_TellsDomainsApart(t *testing.T) {
	f, b, w := fourCells()
	g, c, x := fourCells()
	seen := map[[region.IDSize]byte]string{}
	distinct(t, seen, f, g)
	distinct(t, seen, b, c)
	distinct(t, seen, w, x)
	label := func(l ...any) *domain.Domain[any] { return testkit.Must(domain.Labels(f["folded"], l)) }
	distinct(t, seen, map[string]*domain.Domain[any]{"texts": label("1", "2", "3", "4"), "numbers": label(1, 2, 3, 4)}, nil)
	sphere := func(radius, depth float64) *domain.Domain[metric.LatLon] {
		return testkit.Must(domain.NewSphere(radius, &domain.SphereOptions{Depth: depth}))
	}
	distinct(t, seen, map[string]*domain.Domain[metric.LatLon]{"sphere": sphere(1, 1), "larger": sphere(2, 1), "finer": sphere(1, 5)}, nil)
	half := func(most float64) *domain.Domain[[]float64] { // differs in the first regions
		return testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Possible: func(lo, hi []float64) bool { return lo[0] <= most }}))
	}
	distinct(t, seen, map[string]*domain.Domain[[]float64]{"half": half(0.5), "more": half(0.6)}, map[string]*domain.Domain[[]float64]{"half": half(0.5)})
}

func distinct[P any](t *testing.T, seen map[[region.IDSize]byte]string, here, there map[string]*domain.Domain[P]) {
	t.Helper()
	for name, d := range here {
		id := samples.Inside(d).ID
		if old, ok := seen[id]; ok {
			t.Errorf("%s is taken for %s", name, old)
		}
		seen[id] = name
		if e, ok := there[name]; ok && samples.Inside(e).ID != id {
			t.Errorf("%s is not what it is elsewhere", name)
		}
	}
}

// One distance of a few points that changes makes another domain; the last bits
// of distances, which machines need not agree on, make none.
func TestIdentity_ReadsDistances(t *testing.T) {
	const n = 6
	distance := func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 1 + math.Sin(float64(i+j))/3
	}
	id := func(factor func(i, j int) float64) [region.IDSize]byte {
		f := space.Formula(n, func(i, j int) float64 { return distance(i, j) * factor(min(i, j), max(i, j)) })
		return samples.Inside(testkit.Must(domain.NewFinite(t.Context(), f, nil))).ID
	}
	want := id(func(i, j int) float64 { return 1 })
	if got := id(func(i, j int) float64 { return 1 + 0x1p-50 }); got != want {
		t.Error("domains differ by the last bits of distances")
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if got := id(func(a, b int) float64 {
				if a == i && b == j {
					return 1.0001
				}
				return 1
			}); got == want {
				t.Errorf("the distance of %d and %d changed, and the domain did not", i, j)
			}
		}
	}
}

// Ids are those of the counts that were written with them: a change needs a new
// version of the encoding. The distances are whole numbers, the same everywhere.
func TestIdentity_IsFixed(t *testing.T) {
	f, b, w := fourCells()
	for name, c := range map[string]struct {
		got  [region.IDSize]byte
		want string
	}{
		"box":        {samples.Inside(b["box"]).ID, "d7713d98f6afe58c09d04c54dd6ed80a"},
		"categories": {samples.Inside(b["two by two"]).ID, "fef3658e1a836e72c090af0ba4dcddc4"},
		"sphere":     {samples.Inside(testkit.Must(domain.NewSphere(1, &domain.SphereOptions{Depth: 1}))).ID, "4223fea18bd064d6e10c311b669fd866"},
		"net tree":   {samples.Inside(f["net tree"]).ID, "07ada7aa6dd40996109c3d981fc11913"},
		"net":        {samples.Inside(f["net of five"]).ID, "085734b11908d676273e0eec3d0e9714"},
		"folded":     {samples.Inside(f["folded"]).ID, "7445a78293a82e128a40c292fe487461"},
		"taxonomy":   {samples.Inside(f["taxonomy"]).ID, "3574abec2f591ecfa1c89398f3ac1b66"},
		"hierarchy":  {samples.Inside(f["ultrametric"]).ID, "b99594c503761f3998a51be8911e97bb"},
		"points":     {samples.Inside(b["points"]).ID, "89238428dad8e5b3df10948b1a710665"},
		"words":      {samples.Inside(w["words"]).ID, "1ce1621de627140fc1c3e9dba1eac44b"},
	} {
		if got := hex.EncodeToString(c.got[:]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
