package robust

import (
	"encoding/json"
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/testkit"
)

// unregistered are the functions that the registry leaves out, with the reason.
var unregistered = map[string]string{
	"mechanism.Channel.UnmarshalJSON":  "it is always an error",
	"exponential.Choice.UnmarshalJSON": "it is always an error",
	"mechanism.OpenFileStore":          "it makes folders; its package tests what it refuses",
	"measure.Counts.UnmarshalJSON":     "it is always an error",
}

// TestRegistry_IsComplete reads every public package: each exported function and
// method that takes arguments and returns an error is in the registry.
func TestRegistry_IsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, calls := range registry {
		for _, c := range calls {
			have[c.name] = true
		}
	}
	seen := map[string]bool{}
	names, _ := fallible()
	for _, name := range names {
		seen[name] = true
		_, exempt := unregistered[name]
		switch registered := have[name]; {
		case registered && exempt:
			t.Errorf("%s is in the registry and exempt from it", name)
		case !registered && !exempt:
			t.Errorf("%s is not in the registry", name)
		}
	}
	for name := range unregistered {
		if !seen[name] {
			t.Errorf("%s is exempt and does not exist", name)
		}
	}
	for name := range trusting {
		if !have[name] {
			t.Errorf("%s is trusted with metrics and is not in the registry", name)
		}
	}
	if len(seen) < 200 {
		t.Errorf("%d functions", len(seen))
	}
}

// binaries are of all types that have MarshalBinary, in the order of their names.
var binaries = []any{aReport, counts}

// TestBinaries_AreWholeInJSON reads every public package for types that have
// MarshalBinary: they read back from JSON, or what they hold cannot be seen by
// encoding/json, which is told so.
func TestBinaries_AreWholeInJSON(t *testing.T) {
	s := surface()
	var names []string
	for _, v := range binaries {
		typ := reflect.TypeOf(v)
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		names = append(names, typeName(typ))
		if typ.Field(0).IsExported() {
			again := reflect.New(typ).Interface()
			if err := json.Unmarshal(testkit.Must(json.Marshal(v)), again); err != nil || !reflect.DeepEqual(again, v) {
				t.Errorf("%v in JSON became %v, %v", v, again, err)
			}
			continue
		}
		if b, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), typeName(typ)) || !strings.Contains(err.Error(), "use MarshalBinary") {
			t.Errorf("%T in JSON: %s, %v", v, b, err)
		}
	}
	if !slices.Equal(names, s.binaries) {
		t.Errorf("%v have MarshalBinary, tested are %v", s.binaries, names)
	}
}

// TestLongCalls_AreComplete reads every public package: each exported function and method that
// takes a context is among the long calls, or it is short, with the reason.
func TestLongCalls_AreComplete(t *testing.T) {
	_, names := fallible()
	for _, name := range names {
		long := slices.ContainsFunc(longCalls, func(c longCall) bool { return c.name == name || strings.HasPrefix(c.name, name+",") })
		if _, ok := shortCalls[name]; ok == long {
			t.Errorf("%s: among the long calls: %v, among the short ones: %v", name, long, ok)
		}
	}
	for name := range shortCalls {
		if !slices.Contains(names, name) {
			t.Errorf("%s is among the short calls and takes no context", name)
		}
	}
}

// declaration is one of a public package.
type declaration struct {
	pkg string
	ast.Decl
}

// declarations are those of all public packages.
var declarations = sync.OnceValues(func() (all []declaration, err error) {
	err = api.EachDecl(root, func(pkg string, d ast.Decl) { all = append(all, declaration{pkg, d}) })
	return all, err
})

// fallible returns the names of the exported functions and methods of exported
// types, in all public packages, that take arguments and return an error, and those
// among them that take a context.
func fallible() (names, contexts []string) {
	for _, d := range testkit.Must(declarations()) {
		fn, ok := d.Decl.(*ast.FuncDecl)
		if !ok || api.FuncName(fn) == "" || fn.Type.Params.NumFields() == 0 || fn.Type.Results == nil {
			continue
		}
		last := fn.Type.Results.List[len(fn.Type.Results.List)-1]
		if id, ok := last.Type.(*ast.Ident); !ok || id.Name != "error" {
			continue
		}
		name := d.pkg + "." + api.FuncName(fn)
		names = append(names, name)
		if p, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr); ok && p.Sel.Name == "Context" {
			contexts = append(contexts, name)
		}
	}
	slices.Sort(names)
	slices.Sort(contexts)
	return names, contexts
}
