package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/metric"
)

// The secrets that stand in the place of private values, and how they look in a
// message, with as few as four digits.
const (
	secretInt    = 765432100
	secretFloat  = 7.654321e12
	secretHuge   = 7.654321e299
	secretString = "7654321 geheim"
)

var secret = regexp.MustCompile(`7\.?654|geheim`)

// doors are the calls whose arguments are private, beside all Release and Collect: which
// of their arguments are.
var doors = map[string][]int{
	"mechanism.Channel.Sampler": {0}, "mechanism.Track.Level": {0}, "words.Text.Total": {0},
	"additive.Cells.Center": {0}, "additive.Region.Move": {0}, "additive.Trail.Start": {1}, "additive.LiveTrail.Next": {1},
	"domain.Domain.Cell": {0}, "domain.Domain.Weights": {0, 1}, "measure.Count": {0}, "measure.CountPersons": {0}, "measure.CountAll": {1},
	"measure.Counts.Add": {0}, "measure.Counts.AddN": {0, 1}, "measure.Counts.AddPerson": {0}, "measure.Counts.Merge": {0}, "measure.Stream.Add": {1},
	"measure.Synthesizer.Synthetic": {1}, "table.Schema.Write": {1},
	"walk.Tree.CountsInt": {1}, "walk.Tree.HaarInt": {0}, "walk.Walk.AddShares": {2},
}

var releases = regexp.MustCompile(`\.(Release\w*|Collect)$`)

// privateCalls are more of them, that fail in other ways than those of the registry.
var privateCalls = func() []call {
	ctx := context.Background()
	never := func(lo, hi []float64) bool { return lo[0] > 50 }
	columns := []domain.Column{{Lo: 0, Hi: 100}, {Categories: 3, Missing: true}, {Taxonomy: taxonomy}, {Lo: 0, Hi: 9, Whole: true}}
	for i := range columns {
		columns[i].Weight = 1
	}
	box := func(o domain.BoxOptions) func([]float64) (int, error) {
		return testkit.Must(domain.NewBox(columns, &o)).Cell
	}
	places := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 1}, {Lon: 1}, {Lat: 1, Lon: 1}, {Lat: 2}}, metric.GreatCircle{}))
	pairs := testkit.Must(metric.NewPoints([]metric.Pair[metric.LatLon, float64]{{}, {First: place}, {Second: 1}, {Second: 2}, {Second: 3}},
		testkit.Must(metric.Product(metric.GreatCircle{}, metric.Numbers[float64]{}, 2))))
	lazy := testkit.Must(mechanism.NewChannel(ctx, mechanism.Rows{Inputs: 1 << 30, Outputs: 2, Fill: func(x int, dst []float64) {
		dst[0], dst[1] = 1, 1-float64(x/secretInt)*secretFloat
	}}, &mechanism.ChannelOptions{Lazy: true}))
	base := testkit.Must(kl10.NewBaseMeasure(kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Sigma: metric.Func[float64](func(x, y float64) float64 { return -math.Abs(x) }),
		Draw: func(*rand.Rand) (float64, error) { return 0, nil }, Beta: 1, Lipschitz: 1,
	}))
	partial := testkit.Must(kl10.NewBaseMeasure(kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return 0, fmt.Errorf("%v has no ideal output", x) }, Sigma: metric.Numbers[float64]{},
		Draw: func(*rand.Rand) (float64, error) { return 0, nil }, Beta: 1, Lipschitz: 1,
	}))
	steps := testkit.Must(query.NewLinear(ctx, query.Average(additive.Norm{P: 1, Dim: 2}), modelTwo, emd.Promise{Alpha: 1}, &query.LinearOptions[[]float64]{Step: 0.5}))
	schema := testkit.Must(table.ParseSchema("n:number:0..1,w:whole:0..9,d:date:2000-01-01..2000-12-31,c:category:b|c,p?:place:lat|lon"))
	read := func(n, w, d, c, lat, lon string) (err error) {
		in := "n,w,d,c,lat,lon,who\n" + strings.Join([]string{n, w, d, c, lat, lon, ""}, ",") + "\n"
		for _, e := range schema.Read(strings.NewReader(in)) {
			err = e
		}
		for _, e := range schema.ReadPersons(strings.NewReader(in), "who") {
			err = e
		}
		return err
	}
	return []call{
		{"box", box(domain.BoxOptions{Depth: 1, Outside: domain.Refuse}), []any{[]float64{1, 1, 1, 1}}},
		{"box", box(domain.BoxOptions{Depth: 1, Possible: never}), []any{[]float64{60, 1, 1, 1}}},
		{"impossible box", box(domain.BoxOptions{Depth: 1, Outside: domain.Clip, Possible: func(lo, hi []float64) bool { return hi[3] < 5 }}), []any{[]float64{60, 1, 1, 1}}},
		{"sphere", testkit.Must(domain.NewSphere(1, nil)).Cell, []any{place}},
		{"finite", stations.Cell, []any{1}},
		{"labels", testkit.Must(domain.Labels(stations, []string{"a", "b", "c", "d", "e"})).Cell, []any{"a"}},
		{"on", testkit.Must(domain.On(ctx, testkit.Must(domain.NewFinite(ctx, places, nil)), places)).Cell, []any{place}},
		{"on pairs", testkit.Must(domain.On(ctx, testkit.Must(domain.NewFinite(ctx, pairs, nil)), pairs)).Cell, []any{metric.Pair[metric.LatLon, float64]{}}},
		{"mechanism.On", mechanism.On(mechanism.Mechanism[int, int](channel), places).Release, []any{seeded(), metric.LatLon{Lat: 1}}},
		{"mechanism.Labels", lettered.Release, []any{seeded(), "a"}},
		{"lazy channel", lazy.Release, []any{seeded(), 1}},
		{"lazy sampler", lazy.Sampler, []any{1}},
		{"base measure", base.Release, []any{seeded(), -1.0}},
		{"base measure's map", partial.Release, []any{seeded(), -1.0}},
		{"grid", steps.Release, []any{seeded(), pairsOf}},
		{"table.Schema.Read", read, []any{"1", "1", "2000-01-01", "b", "1", "1"}},
	}
}()

// TestErrors_ShowNoPrivateValue puts secrets in the place of private values, at every door
// through which they come in: no message has one.
func TestErrors_ShowNoPrivateValue(t *testing.T) {
	refused := 0
	try := func(c call, at []int) {
		fn := reflect.ValueOf(c.fn)
		good := c.arguments()
		for i := range good {
			in := fn.Type().In(i)
			place := i // without the context
			if slices.Contains(parameters(fn.Type())[:i], contextType) {
				place--
			}
			if in == contextType || in == reflect.TypeFor[*rand.Rand]() || at != nil && !slices.Contains(at, place) {
				continue
			}
			for _, v := range secrets(good[i]) {
				args := slices.Clone(good)
				args[i] = v
				_, wrong, err := c.do(fn, args, patience)
				if wrong != "" {
					t.Errorf("%s: %s", c.name, wrong)
				}
				if err == nil {
					continue
				}
				if refused++; secret.MatchString(err.Error()) {
					t.Errorf("%s: a secret in the message: %v", c.name, err)
				}
			}
		}
	}
	tried := map[string]bool{}
	for _, calls := range registry {
		for _, c := range calls {
			if at := doors[c.name]; at != nil || releases.MatchString(c.name) {
				tried[c.name] = true
				try(c, at)
			}
		}
	}
	for name := range doors {
		if !tried[name] {
			t.Errorf("%s is a door and not in the registry", name)
		}
	}
	for _, c := range privateCalls {
		before := refused
		if try(c, nil); refused == before {
			t.Errorf("%s takes every secret", c.name)
		}
	}
	if refused < 100 {
		t.Errorf("%d refusals", refused)
	}
}

// secrets are copies of v in which one number or text, or all of them, are secrets.
func secrets(v reflect.Value) (out []reflect.Value) {
	for _, x := range []float64{secretFloat, -secretFloat, secretHuge} {
		n := 0
		conceal(v, x, func() bool { n++; return false })
		for k := -1; k < n; k++ {
			at := -1
			out = append(out, conceal(v, x, func() bool { at++; return k < 0 || at == k }))
		}
	}
	return out
}

// conceal returns a copy of v with secrets of about the size of x where put is true.
func conceal(v reflect.Value, x float64, put func() bool) reflect.Value {
	out := clone(v)
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if put() {
			out.SetFloat(x)
		}
	case reflect.Int, reflect.Int64:
		if size := 1.0; put() {
			if x == secretHuge && v.Kind() == reflect.Int64 { // sums pass 2^63
				size = 1e10
			}
			out.SetInt(int64(max(-size, min(size, x)) * secretInt))
		}
	case reflect.String:
		if put() {
			out.SetString(secretString)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(conceal(v.Index(i), x, put))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(conceal(v.Field(i), x, put))
			}
		}
	case reflect.Func:
		if _, ok := element(v.Type()); !ok {
			break
		}
		var all []reflect.Value
		v.Call([]reflect.Value{reflect.MakeFunc(v.Type().In(0), func(in []reflect.Value) []reflect.Value {
			all = append(all, conceal(clone(in[0]), x, put))
			return []reflect.Value{reflect.ValueOf(true)}
		})})
		out.Set(reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
			for _, e := range all {
				if !in[0].Call([]reflect.Value{e})[0].Bool() {
					break
				}
			}
			return nil
		}))
	}
	return out
}

// The value stands in a field, and what a caller's own check says is for who asks.
func TestErrors_KeepPrivateValues(t *testing.T) {
	_, err := ages.Cell([]float64{1, secretInt})
	var v *metric.ValueError
	if !errors.As(err, &v) || v.Value != secretInt || !v.Private {
		t.Errorf("%v, %+v", err, v)
	}
	if secret.MatchString(fmt.Sprintf("%v %+v %q", err, err, err)) {
		t.Error(err)
	}
}
