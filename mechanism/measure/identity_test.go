package measure

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// fourCells are domains of four cells each, of which no two have the same cells,
// by what makes them. Every call makes them anew.
func fourCells() (finite map[string]*Domain[int], box map[string]*Domain[[]float64], words map[string]*Domain[string]) {
	line := func(at ...float64) metric.Finite { return linePoints(at) }
	tree := func(l ...float64) *metric.Tree {
		return testkit.Must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2, 2}, append([]float64{0}, l...)))
	}
	finite = map[string]*Domain[int]{
		"net tree":              testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 4), nil)),
		"net tree, longer":      testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 5), nil)),
		"net tree, permuted":    testkit.Must(NewFinite(context.Background(), line(2, 1, 3, 4), nil)),
		"net tree, binary":      testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 4), &FiniteOptions{Arity: 2})),
		"net of five":           testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 4, 4.1), &FiniteOptions{Separation: 0.5})),
		"net of five elsewhere": testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 4, 3.1), &FiniteOptions{Separation: 0.5})),
		"net of six":            testkit.Must(NewFinite(context.Background(), line(1, 2, 3, 4, 4.1, 4.1), &FiniteOptions{Separation: 0.5})),
		"folded":                testkit.Must(NewFolded(context.Background(), line(1, 2, 3, 4), nil)),
		"folded, longer":        testkit.Must(NewFolded(context.Background(), line(1, 2, 3, 5), nil)),
		"folded, arity 4":       testkit.Must(NewFolded(context.Background(), line(1, 2, 3, 4), &FoldedOptions{Arity: 4})),
		"taxonomy":              testkit.Must(NewTaxonomy(context.Background(), tree(2, 2, 1, 1, 1, 1), &HierarchyOptions{Ratio: 1})),
		"taxonomy, longer":      testkit.Must(NewTaxonomy(context.Background(), tree(2, 2, 1, 1, 1, 1.5), &HierarchyOptions{Ratio: 1})),
		"ultrametric":           testkit.Must(NewFinite(context.Background(), testkit.Must(metric.NewUltrametric([]int{0, 1, 2, 3}, []float64{1, 2, 1})), nil)),
		"ultrametric, higher":   testkit.Must(NewFinite(context.Background(), testkit.Must(metric.NewUltrametric([]int{0, 1, 2, 3}, []float64{1, 3, 1})), nil)),
	}
	// Points are no farther apart than what they are laid over.
	far := testkit.Must(NewFinite(context.Background(), line(0, 10, 20, 30), nil))
	fold := testkit.Must(NewFolded(context.Background(), line(0, 10, 20, 30), nil))
	columns := func(o BoxOptions, c ...Column) *Domain[[]float64] { return testkit.Must(NewBox(c, &o)) }
	on := func(d *Domain[int], s metric.Space[[]float64], at ...[]float64) *Domain[[]float64] {
		return testkit.Must(On(context.Background(), d, testkit.Must(metric.NewPoints(at, s))))
	}
	box = map[string]*Domain[[]float64]{
		"box":              columns(BoxOptions{Depth: 2}, Column{Hi: 1}),
		"box, wider":       columns(BoxOptions{Depth: 2}, Column{Hi: 2}),
		"box, shifted":     columns(BoxOptions{Depth: 2}, Column{Lo: 1, Hi: 2}),
		"box, weighted":    columns(BoxOptions{Depth: 2}, Column{Hi: 1, Weight: 2}),
		"box, one level":   columns(BoxOptions{Splits: [][]int{{4}}}, Column{Hi: 1}),
		"square":           columns(BoxOptions{Splits: [][]int{{2, 2}}}, Column{Hi: 1}, Column{Hi: 1}),
		"square, in turn":  columns(BoxOptions{Splits: [][]int{{2, 1}, {1, 2}}}, Column{Hi: 1}, Column{Hi: 1}),
		"square, and back": columns(BoxOptions{Splits: [][]int{{1, 2}, {2, 1}}}, Column{Hi: 1}, Column{Hi: 1}),
		"strips":           columns(BoxOptions{Splits: [][]int{{4, 1}}}, Column{Hi: 1}, Column{Hi: 1}),
		"categories":       columns(BoxOptions{}, Column{Categories: 4}),
		"two by two":       columns(BoxOptions{}, Column{Categories: 2}, Column{Categories: 2}),
		"points":           on(far, metric.Euclidean{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
		"points, moved":    on(far, metric.Euclidean{}, []float64{1, 1}, []float64{2, 1}, []float64{2, 2}, []float64{4, 1}),
		"points, l1":       on(far, metric.Manhattan{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
		"points, permuted": on(far, metric.Euclidean{}, []float64{2, 0}, []float64{1, 0}, []float64{2, 1}, []float64{4, 0}),
		"points of a fold": on(fold, metric.Euclidean{}, []float64{1, 0}, []float64{2, 0}, []float64{2, 1}, []float64{4, 0}),
	}
	labels := func(d string, l ...string) *Domain[string] { return testkit.Must(Labels(finite[d], l)) }
	words = map[string]*Domain[string]{
		"words":           labels("net tree", "a", "b", "c", "d"),
		"other words":     labels("net tree", "a", "b", "c", "e"),
		"permuted words":  labels("net tree", "b", "a", "c", "d"),
		"run into one":    labels("net tree", "a\x00b", "b", "c", "d"),
		"words of a fold": labels("folded", "a", "b", "c", "d"),
	}
	return finite, box, words
}

// mixed tries to pass every domain's counts off as every other's, and off as
// those of the same domain of another machine. It adds their ids.
func mixed[P any](t *testing.T, here, there map[string]*Domain[P], add func(name string, id [idSize]byte)) {
	for from, d := range here {
		add(from, d.id)
		c := testkit.Must(CountAll(t.Context(), d, []P{d.Point(0), d.Point(3)}, nil))
		for to, e := range there {
			if e.Len() != 4 {
				t.Fatalf("%s: %v", to, e)
			}
			into := e.NewCounts()
			for name, err := range map[string]error{
				"Merge":           into.Merge(c),
				"UnmarshalBinary": e.NewCounts().UnmarshalBinary(testkit.Must(c.MarshalBinary())),
				"Release":         second(testkit.Must(NewSynthesizer(e, 1, nil)).Release(nil, c)),
			} {
				if own := from == to; own && err != nil || !own && !errors.Is(err, ErrMismatch) {
					t.Errorf("%s of counts in a %s, for a %s: %v", name, from, to, err)
				}
			}
			if from != to && into.Len() != 0 {
				t.Errorf("%s was merged into %s", from, to)
			}
		}
	}
}

// Counts are of one domain: those of another with as many cells are refused, and
// those of the same domain made again are not.
func TestMerge_RefusesOtherDomains(t *testing.T) {
	f, b, w := fourCells()
	g, c, x := fourCells()
	seen := map[[idSize]byte]string{}
	add := func(name string, id [idSize]byte) {
		if old, ok := seen[id]; ok {
			t.Errorf("%s is taken for %s", name, old)
		}
		seen[id] = name
	}
	mixed(t, f, g, add)
	mixed(t, b, c, add)
	mixed(t, w, x, add)
	for i, d := range []*Domain[any]{testkit.Must(Labels(f["folded"], []any{"1", "2", "3", "4"})), testkit.Must(Labels(f["folded"], []any{1, 2, 3, 4}))} {
		add(fmt.Sprint("labels of type ", i), d.id)
	}
	for name, d := range map[string]*Domain[metric.LatLon]{
		"sphere":        testkit.Must(NewSphere(1, &SphereOptions{Depth: 1})),
		"larger sphere": testkit.Must(NewSphere(2, &SphereOptions{Depth: 1})),
		"finer sphere":  testkit.Must(NewSphere(1, &SphereOptions{Depth: 5})),
	} {
		add(name, d.id)
	}
	err := testkit.Must(NewBox([]Column{{Hi: 1}}, &BoxOptions{Depth: 2})).NewCounts().Merge(testkit.Must(NewBox([]Column{{Hi: 2}}, &BoxOptions{Depth: 2})).NewCounts())
	if want := "counted in a box of 1 column: 4 cells, 2 levels of arity 2, not in this box of 1 column: 4 cells, 2 levels of arity 2, of other bounds, points or distances"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
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
	id := func(factor func(i, j int) float64) [idSize]byte {
		f := space{n, func(i, j int) float64 { return distance(i, j) * factor(min(i, j), max(i, j)) }}
		return testkit.Must(NewFinite(t.Context(), f, nil)).id
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

// space is n points at given distances.
type space struct {
	n int
	d func(i, j int) float64
}

func (s space) Len() int                  { return s.n }
func (s space) Distance(i, j int) float64 { return s.d(i, j) }

// Ids are those of the counts that were written with them: a change needs a new
// version of the encoding. The distances are whole numbers, the same everywhere.
func TestIdentity_IsFixed(t *testing.T) {
	f, b, w := fourCells()
	for name, c := range map[string]struct {
		got  [idSize]byte
		want string
	}{
		"box":        {b["box"].id, "d7713d98f6afe58c09d04c54dd6ed80a"},
		"categories": {b["two by two"].id, "fef3658e1a836e72c090af0ba4dcddc4"},
		"sphere":     {testkit.Must(NewSphere(1, &SphereOptions{Depth: 1})).id, "4223fea18bd064d6e10c311b669fd866"},
		"net tree":   {f["net tree"].id, "07ada7aa6dd40996109c3d981fc11913"},
		"net":        {f["net of five"].id, "085734b11908d676273e0eec3d0e9714"},
		"folded":     {f["folded"].id, "7445a78293a82e128a40c292fe487461"},
		"taxonomy":   {f["taxonomy"].id, "3574abec2f591ecfa1c89398f3ac1b66"},
		"hierarchy":  {f["ultrametric"].id, "b99594c503761f3998a51be8911e97bb"},
		"points":     {b["points"].id, "89238428dad8e5b3df10948b1a710665"},
		"words":      {w["words"].id, "1ce1621de627140fc1c3e9dba1eac44b"},
	} {
		if got := hex.EncodeToString(c.got[:]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
