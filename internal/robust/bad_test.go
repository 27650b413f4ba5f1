package robust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/metricdp/metricdp/metric"
)

// bad is a value to be put in the place of a good one.
type bad struct {
	what  string
	v     reflect.Value
	wrong string // why no call may succeed with it, "" where one may
}

// The reasons. The first one is not for those in trusting.
const (
	noDistance = "no error, and a distance is NaN, infinite or negative"
	noSize     = "no error, and there are fewer than no points"
)

var (
	finiteType  = reflect.TypeFor[metric.Finite]()
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// asIs are the types of arguments that have no bad values: sources of
// randomness, and readers and writers, whose errors are their own.
var asIs = []reflect.Type{
	reflect.TypeFor[*rand.Rand](),
	reflect.TypeFor[io.Reader](),
	reflect.TypeFor[io.Writer](),
}

// finite is a metric.Finite that need be no metric.
type formula struct {
	n int
	d func(i, j int) float64
}

func (f formula) Len() int                  { return f.n }
func (f formula) Distance(i, j int) float64 { return f.d(i, j) }

// notMetrics are n points whose distances are wrong, one way each, all else as in f.
func notMetrics(f metric.Finite) []bad {
	n := f.Len()
	var out []bad
	add := func(what, wrong string, d func(i, j int) float64) {
		out = append(out, bad{what, reflect.ValueOf(formula{n, d}), wrong})
	}
	undefined := "" // one point has no other
	if n > 1 {
		undefined = noDistance
	}
	last := func(v float64) func(i, j int) float64 { // between the last two points
		return func(i, j int) float64 {
			if i != j && min(i, j) == n-2 {
				return v
			}
			return f.Distance(i, j)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		add(fmt.Sprintf("a distance %v", v), undefined, last(v))
		add(fmt.Sprintf("all distances %v", v), undefined, func(i, j int) float64 {
			if i == j {
				return 0
			}
			return v
		})
	}
	for _, v := range []float64{0, 5e-324, 1e308} {
		add(fmt.Sprintf("a distance %v", v), "", last(v))
	}
	for _, scale := range []float64{0, 1e-320, 1e-160, 1e155, 1e307} {
		add(fmt.Sprintf("distances times %v", scale), "", func(i, j int) float64 { return scale * f.Distance(i, j) })
	}
	add("asymmetric", "", func(i, j int) float64 {
		if i < j {
			return 2 * f.Distance(i, j)
		}
		return f.Distance(i, j)
	})
	add("a point not at itself", "", func(i, j int) float64 { return f.Distance(i, j) + 1 })
	add("NaN from a point to itself", "", func(i, j int) float64 {
		if i == j {
			return math.NaN()
		}
		return f.Distance(i, j)
	})
	// One NaN among good distances, which are read again and again.
	for _, call := range []int64{1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500} {
		var calls atomic.Int64
		add(fmt.Sprintf("NaN at call %d", call), "", func(i, j int) float64 {
			if i != j && calls.Add(1) == call {
				return math.NaN()
			}
			return f.Distance(i, j)
		})
	}
	for _, m := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		wrong := ""
		if m < 0 {
			wrong = noSize
		}
		d := func(i, j int) float64 { return f.Distance(i%n, j%n) }
		out = append(out, bad{fmt.Sprintf("Len %d", m), reflect.ValueOf(formula{m, d}), wrong})
	}
	return append(out, bad{"nil", reflect.Zero(finiteType), ""}, bad{"a nil pointer", reflect.ValueOf((*metric.Dense)(nil)), ""})
}

// bads returns values to be put in the place of good, which is of type t where it stands.
func bads(t reflect.Type, good reflect.Value) []bad {
	var out []bad
	add := func(what string, v reflect.Value) { out = append(out, bad{what: what, v: v}) }
	number := func(xs ...any) {
		for _, x := range xs {
			add(fmt.Sprint(x), reflect.ValueOf(x).Convert(t))
		}
	}
	if more, ok := others[t]; ok {
		for _, m := range more {
			add(m.what, reflect.ValueOf(m.v))
		}
	}
	for _, a := range asIs {
		if t == a {
			return out
		}
	}
	switch {
	case t == contextType:
		over, cancel := context.WithCancel(context.Background())
		cancel()
		add("over", reflect.ValueOf(over))
		return out
	case t == finiteType:
		f, ok := good.Interface().(metric.Finite)
		if !ok {
			f = path
		}
		return append(out, notMetrics(f)...)
	}
	entry := func(i int) { // bad entries of a slice or an array
		for _, b := range bads(t.Elem(), good.Index(i)) {
			v := clone(good)
			v.Index(i).Set(b.v)
			out = append(out, bad{fmt.Sprintf("[%d] %s", i, b.what), v, b.wrong})
		}
	}
	switch t.Kind() {
	case reflect.Float32:
		number(math.NaN(), math.Inf(1), math.Inf(-1), -1.0, 0.0, 1e-45, math.MaxFloat32)
	case reflect.Float64:
		number(math.NaN(), math.Inf(1), math.Inf(-1), -1.0, math.Copysign(0, -1), 0.0, 5e-324, 1e-300, 0.5, 1.0, 1e16, 1e300, 1e308, math.MaxFloat64)
	case reflect.Int, reflect.Int64:
		number(-1, 0, 1, 2, math.MinInt, math.MaxInt>>22, math.MaxInt-1, math.MaxInt)
	case reflect.Uint64:
		number(uint64(0), uint64(math.MaxUint64))
	case reflect.String:
		number("", "\xff")
	case reflect.Interface:
		add("nil", reflect.Zero(t))
	case reflect.Slice:
		add("nil", reflect.Zero(t))
		add("empty", reflect.MakeSlice(t, 0, 0))
		n := good.Len()
		if n == 0 {
			good = reflect.Append(good, reflect.Zero(t.Elem()))
			n = 1
			add("one more", good)
		} else {
			add("one less", clone(good).Slice(0, n-1))
			add("one more", reflect.Append(clone(good), clone(good.Index(n-1))))
		}
		if entry(0); n > 1 {
			entry(n - 1)
		}
	case reflect.Array:
		for i := range t.Len() {
			entry(i)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if !t.Field(i).IsExported() {
				continue
			}
			for _, b := range bads(t.Field(i).Type, good.Field(i)) {
				v := clone(good)
				v.Field(i).Set(b.v)
				out = append(out, bad{strings.TrimSpace(t.Field(i).Name + " " + b.what), v, b.wrong})
			}
		}
	case reflect.Pointer:
		if t.Elem().Kind() != reflect.Struct || opaque(t.Elem()) {
			return out
		}
		if strings.Contains(t.Elem().Name(), "Options") {
			add("nil", reflect.Zero(t))
		}
		if good.IsNil() {
			good = reflect.New(t.Elem())
		}
		for _, b := range bads(t.Elem(), good.Elem()) {
			p := reflect.New(t.Elem())
			p.Elem().Set(b.v)
			out = append(out, bad{b.what, p, b.wrong})
		}
	case reflect.Func:
		add("nil", reflect.Zero(t))
		if e, ok := element(t); ok { // a sequence
			for _, b := range append(bads(e, first(good)), bad{what: "none"}) {
				add("of "+b.what, reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
					if b.v.IsValid() {
						in[0].Call([]reflect.Value{b.v})
					}
					return nil
				}))
			}
			return out
		}
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e308} {
			if nonsense, ok := returning(t, x); ok {
				add(fmt.Sprint("returning ", x), nonsense)
			}
		}
	}
	return out
}

// returning is a function of type t that returns x, or writes it in its last
// argument, with errors where it returns errors.
func returning(t reflect.Type, x float64) (f reflect.Value, ok bool) {
	floats := reflect.TypeFor[[]float64]()
	ok = t.NumIn() > 1 && t.In(t.NumIn()-1) == floats
	for i := range t.NumOut() {
		k := t.Out(i).Kind()
		ok = ok || k == reflect.Float64 || k == reflect.Int || t.Out(i) == floats || t.Out(i) == errorType
	}
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		if k := len(in) - 1; k > 0 && in[k].Type() == floats { // dst
			for i := range in[k].Len() {
				in[k].Index(i).SetFloat(x)
			}
		}
		out := make([]reflect.Value, t.NumOut())
		for i := range out {
			out[i] = reflect.Zero(t.Out(i))
			switch {
			case t.Out(i) == errorType && x < 0:
				out[i] = reflect.ValueOf(errNo)
			case t.Out(i) == floats:
				out[i] = reflect.ValueOf([]float64{x})
			case t.Out(i).Kind() == reflect.Float64:
				out[i] = reflect.ValueOf(x)
			case t.Out(i).Kind() == reflect.Int:
				if x != 0 && !math.IsNaN(x) {
					out[i] = reflect.ValueOf(int(math.Copysign(math.MaxInt>>22, x)))
				}
			}
		}
		return out
	}), ok
}

var errNo = errors.New("no")

// opaque tells a struct without exported fields, which only its package makes.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// element is the type of the elements of an iter.Seq.
func element(t reflect.Type) (reflect.Type, bool) {
	if t.NumIn() != 1 || t.NumOut() != 0 || t.In(0).Kind() != reflect.Func {
		return nil, false
	}
	y := t.In(0)
	if y.NumIn() != 1 || y.NumOut() != 1 || y.Out(0).Kind() != reflect.Bool {
		return nil, false
	}
	return y.In(0), true
}

// first is the first element of an iter.Seq.
func first(seq reflect.Value) reflect.Value {
	e, _ := element(seq.Type())
	v := reflect.New(e).Elem()
	seq.Call([]reflect.Value{reflect.MakeFunc(seq.Type().In(0), func(in []reflect.Value) []reflect.Value {
		v.Set(in[0])
		return []reflect.Value{reflect.ValueOf(false)}
	})})
	return v
}

// clone returns a copy of v that shares no slice, array or option with it.
func clone(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			return out
		}
		out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct && !opaque(v.Type().Elem()) {
			out = reflect.New(v.Type().Elem())
			out.Elem().Set(clone(v.Elem()))
		}
	}
	return out
}
