// Package api reads the source of the public packages, for the tests that hold
// all of them to a rule.
package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dirs returns the folders below root that public packages may lie in, and root.
func Dirs(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if path != root && strings.HasPrefix(d.Name(), ".") || d.Name() == "internal" || rel == "examples" || rel == "out" || d.Name() == "testdata" {
			return fs.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	return dirs, err
}

// Parse reads the Go files in dir, with their comments: those of the package and
// those of its tests.
func Parse(fset *token.FileSet, dir string) (code, tests []*ast.File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		if strings.HasSuffix(e.Name(), "_test.go") {
			tests = append(tests, f)
		} else {
			code = append(code, f)
		}
	}
	return code, tests, nil
}

// Library parses the Go files below root, without comments, but for tests, tools and examples, and
// calls visit with each and its path from there.
func Library(root string, visit func(path string, set *token.FileSet, f *ast.File)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test") || slices.Contains([]string{"examples", "testdata", "testkit", "tools", "out"}, name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(filepath.ToSlash(strings.TrimPrefix(path, root+"/")), set, f)
		}
		return err
	})
}

// EachDecl calls visit for the declarations of all public packages below root.
func EachDecl(root string, visit func(pkg string, d ast.Decl)) error {
	dirs, err := Dirs(root)
	for _, dir := range dirs {
		code, _, err := Parse(token.NewFileSet(), dir)
		if err != nil {
			return err
		}
		for _, f := range code {
			for _, d := range f.Decls {
				visit(f.Name.Name, d)
			}
		}
	}
	return err
}

// FuncName is the name of an exported function, F, or method of an exported type, T.M, and "" of any
// other.
func FuncName(d *ast.FuncDecl) string {
	switch {
	case !d.Name.IsExported():
		return ""
	case d.Recv == nil:
		return d.Name.Name
	}
	of := TypeName(d.Recv.List[0].Type)
	if !ast.IsExported(of) {
		return ""
	}
	return of + "." + d.Name.Name
}

// TypeName is the name of a type, or of that which it points to.
func TypeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return TypeName(e.X)
	case *ast.IndexExpr:
		return TypeName(e.X)
	case *ast.IndexListExpr:
		return TypeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
