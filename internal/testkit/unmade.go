package testkit

import (
	"context"
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Unmade calls the exported methods of a zero T and, where they have pointer receivers, of a
// nil *T, with zero arguments. Each must return an error, or panic with one, that begins with
// T's package and contains the constructors. But Guarantee promises nothing, Exact is false and
// String is not empty; and those that are named last are not called.
func Unmade[T any](t *testing.T, constructors string, but ...string) {
	t.Helper()
	typ := reflect.TypeFor[T]()
	for kind, v := range map[string]reflect.Value{"zero": reflect.ValueOf(new(T)), "nil": reflect.Zero(reflect.TypeFor[*T]())} {
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			if _, ofValue := typ.MethodByName(m.Name); slices.Contains(but, m.Name) || kind == "nil" && ofValue {
				continue
			}
			out, said := callZero(v.Method(i))
			ok := said == ""
			switch m.Name {
			case "Guarantee":
				ok = ok && math.IsInf(out[0].MethodByName("Alpha").Call(nil)[0].Float(), 1)
			case "Exact":
				ok = ok && !out[0].Bool()
			case "String":
				ok = ok && out[0].String() != ""
			default:
				ok = strings.HasPrefix(said, path.Base(typ.PkgPath())+": ") && strings.Contains(said, constructors)
			}
			if !ok {
				t.Errorf("%s %s.%s: %v %s", kind, typ.Name(), m.Name, out, said)
			}
		}
	}
}

// callZero calls f with zero arguments and returns its results, and what its error or panic says.
func callZero(f reflect.Value) (out []reflect.Value, said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprint(p)
		}
	}()
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		if in := f.Type().In(i); in == reflect.TypeFor[context.Context]() {
			args = append(args, reflect.ValueOf(context.Background()))
		} else {
			args = append(args, reflect.Zero(in))
		}
	}
	out = f.Call(args)
	if n := len(out); n > 0 {
		if err, _ := out[n-1].Interface().(error); err != nil {
			said = err.Error()
		}
	}
	return out, said
}
