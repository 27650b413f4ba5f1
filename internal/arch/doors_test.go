package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestDoors_AreAlike reads the signatures of every public package: they keep the
// rules of [crooked].
func TestDoors_AreAlike(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		fset := token.NewFileSet()
		code, _, err := api.Parse(fset, filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range crooked(fset, code) {
			t.Error(line)
		}
	}
}

// crooked returns a line for each exported signature that has a context anywhere but first, a
// *rand.Rand of another name than rng, or an options struct that is not the last parameter and
// a pointer; and for each exported field that is a context, and name that ends in Context.
func crooked(fset *token.FileSet, code []*ast.File) []string {
	var bad []string
	say := func(at token.Pos, format string, args ...any) {
		p := fset.Position(at)
		bad = append(bad, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
	signature := func(name string, f *ast.FuncType) {
		at := 0
		for k, p := range f.Params.List {
			what := typeText(p.Type)
			if what == "context.Context" && (at > 0 || len(p.Names) > 1) {
				say(p.Pos(), "%s has a context that is not its first parameter", name)
			}
			for _, id := range p.Names {
				if what == "*rand.Rand" && id.Name != "rng" {
					say(p.Pos(), "%s calls a generator %s", name, id.Name)
				}
			}
			if base := api.TypeName(p.Type); strings.HasSuffix(base, "Options") {
				last := k == len(f.Params.List)-1
				if _, dots := f.Params.List[len(f.Params.List)-1].Type.(*ast.Ellipsis); dots {
					last = last || k == len(f.Params.List)-2
				}
				if !strings.HasPrefix(what, "*") || !last {
					say(p.Pos(), "%s: its options are no pointer at the end", name)
				}
			}
			at += max(1, len(p.Names))
		}
	}
	fields := func(name string, l *ast.FieldList) {
		for _, f := range l.List {
			for _, id := range f.Names {
				if !id.IsExported() {
					continue
				}
				if typeText(f.Type) == "context.Context" {
					say(f.Pos(), "%s.%s is a context", name, id.Name)
				}
				if sig, ok := f.Type.(*ast.FuncType); ok {
					signature(name+"."+id.Name, sig)
				}
			}
		}
	}
	for _, file := range code {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					of := api.TypeName(d.Recv.List[0].Type)
					if !ast.IsExported(of) {
						continue
					}
					name = of + "." + name
				}
				if !d.Name.IsExported() {
					continue
				}
				if strings.HasSuffix(name, "Context") {
					say(d.Pos(), "%s is the twin of another name", name)
				}
				signature(name, d.Type)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					ts, ok := s.(*ast.TypeSpec)
					if !ok || !ts.Name.IsExported() {
						continue
					}
					switch u := ts.Type.(type) {
					case *ast.StructType:
						fields(ts.Name.Name, u.Fields)
					case *ast.InterfaceType:
						fields(ts.Name.Name, u.Methods)
					case *ast.FuncType:
						signature(ts.Name.Name, u)
					}
				}
			}
		}
	}
	return bad
}

// typeText is a type as it is written, for the plain ones that crooked asks about.
func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return typeText(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestCrooked_IsSeen tests the test: each rule, kept and broken.
func TestCrooked_IsSeen(t *testing.T) {
	for code, want := range map[string]string{
		"func F(ctx context.Context, n int, o *NetOptions, rest ...int)": "",
		"func f(n int, ctx context.Context)":                             "",
		"func (m m) F(n int, ctx context.Context)":                       "",
		"func F(rng *rand.Rand, n int)":                                  "",
		"func F(n int, ctx context.Context)":                             "not its first",
		"func (m *M[T]) F(n int, ctx context.Context)":                   "M.F has a context",
		"func F(ctx, other context.Context)":                             "not its first",
		"func FContext()":                                                "twin",
		"func F(r *rand.Rand)":                                           "generator r",
		"func F(o Options)":                                              "no pointer",
		"func F(o *LinearOptions[P], n int)":                             "no pointer at the end",
		"type Options struct{ Context context.Context }":                 "is a context",
		"type Options struct{ Build func(int, context.Context) }":        "Options.Build has",
		"type I interface{ F(n int, ctx context.Context) }":              "I.F has",
		"type G func(n int, ctx context.Context)":                        "G has",
	} {
		fset := token.NewFileSet()
		file := testkit.Must(parser.ParseFile(fset, "x.go", "package x\n"+code, 0))
		got := crooked(fset, []*ast.File{file})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// british finds what the standard library spells otherwise. It is in two halves
// so that it does not find itself.
var british = regexp.MustCompile(`neighb` + `our|\bcent` + `re|colo` + `ur|behavi` + `our|favo` + `ur|` +
	`(normal|random|optim|minim|maxim|general|recogn|summar|factor|discret|quant)` + `is(e|ed|es|er|ing|ation)\b|` +
	`(cancel|label|model|travel)` + `l(ed|ing)|licen` + `ce|\b(kilo|nano)?met` + `res?\b`)

// hints are parts of all that british finds: an expression takes long.
var hints = []string{"our", "tre", "ise", "isi", "isa", "lle", "lli", "cence"}

// TestSpelling_IsUS reads all Go and Markdown files.
func TestSpelling_IsUS(t *testing.T) {
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "out" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); d.IsDir() || ext != ".go" && ext != ".md" {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for n, line := range strings.Split(strings.ToLower(string(text)), "\n") {
			if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(line, h) }) {
				continue
			}
			if w := british.FindString(line); w != "" {
				t.Errorf("%s:%d: %q is not US spelling", path, n+1, w)
			}
		}
		return err
	})
	if err != nil || files < 400 {
		t.Errorf("%d files, %v", files, err)
	}
}
