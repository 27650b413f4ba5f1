package robust

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/testkit"
)

// unregistered are the functions that the registry leaves out, with the reason.
var unregistered = map[string]string{
	"mechanism.Channel.UnmarshalJSON":  "it is always an error",
	"exponential.Choice.UnmarshalJSON": "it is always an error",
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
	for _, name := range fallible(t) {
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

// fallible returns the names of the exported functions and methods of exported
// types, in all public packages, that take arguments and return an error.
func fallible(t *testing.T) (names []string) {
	dirs := testkit.Must(api.Dirs(filepath.Join("..", "..")))
	for _, dir := range dirs {
		code, _, err := api.Parse(token.NewFileSet(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range code {
			for _, decl := range f.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() || fn.Type.Params.NumFields() == 0 || fn.Type.Results == nil {
					continue
				}
				last := fn.Type.Results.List[len(fn.Type.Results.List)-1]
				if id, ok := last.Type.(*ast.Ident); !ok || id.Name != "error" {
					continue
				}
				name := fn.Name.Name
				if fn.Recv != nil {
					recv := api.TypeName(fn.Recv.List[0].Type)
					if !ast.IsExported(recv) {
						continue
					}
					name = recv + "." + name
				}
				names = append(names, f.Name.Name+"."+name)
			}
		}
	}
	slices.Sort(names)
	return names
}
