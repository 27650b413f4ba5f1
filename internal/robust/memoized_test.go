package robust

import (
	"context"
	"errors"
	"go/ast"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

var (
	stuck       mechanism.Mechanism[int, int] = sticky
	stuckWords                                = testkit.Must(mechanism.Labels(stuck, []string{"a", "b", "c", "d", "e"}, []string{"a", "b", "c", "d", "e"}))
	stuckPlaces                               = testkit.Must(mechanism.NewSticky[metric.LatLon, metric.LatLon](sphere, nil))
)

// stuckMean is an emd.Releaser that repeats what it said.
type stuckMean struct{}

func (stuckMean) Guarantee() emd.Guarantee { return reduced.Guarantee() }
func (stuckMean) Memoized() bool           { return true }
func (stuckMean) Release(*rand.Rand, emd.Users[[]float64]) ([]float64, error) {
	return nil, nil
}

// holders call all exported functions that take a mechanism with one that repeats draws.
var holders = map[string]func() (any, error){
	"mechanism.Then": func() (any, error) {
		return mechanism.Then(stuck, func(y int) (int, error) { return y, nil }), nil
	},
	"mechanism.Compose": func() (any, error) { return mechanism.Compose(mechanism.Mechanism[int, int](channel), stuck) },
	"mechanism.On": func() (any, error) {
		return mechanism.On(stuck, testkit.Must(metric.NewPoints([]string{"a", "b", "c", "d", "e"}, metric.Levenshtein{}))), nil
	},
	"mechanism.Labels": func() (any, error) { return stuckWords, nil },
	"mechanism.NewComposition": func() (any, error) {
		return mechanism.NewComposition(mechanism.Repeated{Mechanism: channel, Times: 2}, mechanism.Repeated{Mechanism: stuckWords, Times: 1})
	},
	"mechanism.NewSticky": func() (any, error) { return mechanism.NewSticky(stuckWords, nil) },
	"mechanism.NewTrack":  func() (any, error) { return mechanism.NewTrack(sticky, nil) },
	"additive.Snap": func() (any, error) {
		return additive.Snap(mechanism.Mechanism[metric.LatLon, metric.LatLon](stuckPlaces), testkit.Must(metric.NewPoints([]metric.LatLon{place}, metric.GreatCircle{}))), nil
	},
	"words.NewText":  func() (any, error) { return words.NewText(stuckWords, nil) },
	"emd.NewReduced": func() (any, error) { return emd.NewReduced[[]float64, []float64](stuckMean{}, reduceTo) },
	"mechanismtest.TestLevel": func() (any, error) {
		return mechanismtest.TestLevel(context.Background(), stuck, 2, 3, 1, nil)
	},
	"mechanismtest.LevelAtLeast": func() (any, error) {
		_, _, _, err := mechanismtest.LevelAtLeast(context.Background(), stuck, path, 0, nil)
		return nil, err
	},
	"mechanismtest.TestDistribution": func() (any, error) {
		return nil, mechanismtest.TestDistribution(context.Background(), stuck, 2, nil, nil)
	},
}

// anyDraws take mechanisms whose draws need not be independent, with the reason.
var anyDraws = map[string]string{
	"mechanismtest.TestMechanism": "its laws are those of one release",
}

// TestMemoized_IsHandedOn: whatever is made of a mechanism that repeats draws says so too, or
// refuses it, in all public packages.
func TestMemoized_IsHandedOn(t *testing.T) {
	for name, make := range holders {
		made, err := make()
		if m, ok := made.(interface{ Memoized() bool }); err == nil && !(ok && m.Memoized()) || err != nil && !errors.Is(err, mechanism.ErrMemoized) {
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
	if _, err := mechanism.Compose(mechanism.Then(mechanism.Mechanism[int, int](channel), func(y int) (int, error) { return y, nil })); err != nil {
		t.Error(err)
	}
	found := 0
	for _, d := range testkit.Must(declarations()) {
		fn, ok := d.Decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !fn.Name.IsExported() || !slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool {
			typ := p.Type
			if list, ok := typ.(*ast.Ellipsis); ok {
				typ = list.Elt
			}
			return slices.Contains(takers, qualified(d.pkg, typ))
		}) {
			continue
		}
		name := d.pkg + "." + fn.Name.Name
		found++
		if _, ok := anyDraws[name]; (holders[name] != nil) == ok {
			t.Errorf("%s takes a mechanism: tried %v, exempt %v", name, holders[name] != nil, ok)
		}
	}
	if found != len(holders)+len(anyDraws) {
		t.Errorf("%d functions take a mechanism, and %d are tried or exempt", found, len(holders)+len(anyDraws))
	}
}

// takers are the types of parameters that are mechanisms.
var takers = []string{"mechanism.Mechanism", "mechanism.Repeated", "mechanism.Sticky", "emd.Releaser"}
