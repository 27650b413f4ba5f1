package arch

import (
	"fmt"
	"go/ast"
	"go/doc"
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

// TestDocs_NameEveryExportedThing reads every public package: each exported
// name has a comment, and each constructor an Example.
func TestDocs_NameEveryExportedThing(t *testing.T) {
	eachRoom(t, func(name string, set *token.FileSet, code, tests []*ast.File) {
		if len(code) == 0 {
			t.Errorf("%s has no Go files", name)
		}
		for _, miss := range undocumented(set, code, tests) {
			t.Error(miss)
		}
	})
}

// eachRoom calls visit with the files of every public package.
func eachRoom(t *testing.T, visit func(name string, set *token.FileSet, code, tests []*ast.File)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		set := token.NewFileSet()
		code, tests, err := api.Parse(set, filepath.Join(root, filepath.FromSlash(name)))
		testkit.Check(t, err)
		visit(name, set, code, tests)
	}
}

// TestDocs_BeginShort reads the overview of every public package, which is for one sitting:
// more is said at the name that it is about. It opens with a call that works, lines of an
// Example; there is an Example of the whole package.
func TestDocs_BeginShort(t *testing.T) {
	eachRoom(t, func(name string, _ *token.FileSet, code, tests []*ast.File) {
		if n := words(code); n == 0 || n > mostWords {
			t.Errorf("the overview of %s has %d words, want 1 to %d", name, n, mostWords)
		}
		var run []byte // the files with Examples
		for _, file := range testkit.Must(filepath.Glob(filepath.Join(root, name, "example*_test.go"))) {
			run = append(run, testkit.Must(os.ReadFile(file))...)
		}
		first := firstCode(code)
		if len(first) == 0 {
			t.Errorf("the overview of %s has no code before its headings", name)
		}
		for _, line := range first {
			if !strings.Contains(string(run), line) {
				t.Errorf("the overview of %s opens with a line that no Example has: %s", name, line)
			}
		}
		whole := func(e *doc.Example) bool { return e.Name == "" && e.Output != "" }
		if !slices.ContainsFunc(doc.Examples(tests...), whole) {
			t.Errorf("%s has no Example of the whole package with an output", name)
		}
	})
}

// TestDocs_FitInMind: a public package has at most 45 exported types, functions and variables,
// metric, which all stand on, 75; a declaration is documented in 60 words on average, a struct's
// fields included.
func TestDocs_FitInMind(t *testing.T) {
	names, decls, words := map[string]int{}, map[string]int{}, map[string]int{}
	testkit.Check(t, api.EachDecl(root, func(pkg string, decl ast.Decl) {
		read := func(texts ...*ast.CommentGroup) {
			for _, c := range texts {
				words[pkg] += len(strings.Fields(c.Text()))
			}
		}
		if fn, ok := decl.(*ast.FuncDecl); ok {
			if fn.Name.IsExported() {
				if decls[pkg]++; fn.Recv == nil {
					names[pkg]++
				}
				read(fn.Doc)
			}
			return
		}
		d := decl.(*ast.GenDecl)
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && v.Names[0].IsExported() {
				names[pkg] += len(v.Names)
			}
			s, ok := spec.(*ast.TypeSpec)
			if !ok || !s.Name.IsExported() {
				continue
			}
			names[pkg]++
			decls[pkg]++
			read(d.Doc, s.Doc)
			if fields, ok := s.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					if len(f.Names) == 0 || f.Names[0].IsExported() {
						read(f.Doc, f.Comment)
					}
				}
			}
		}
	}))
	for pkg, n := range decls {
		most := 45
		if pkg == "metric" {
			most = 75
		}
		if names[pkg] > most || words[pkg]/n > 60 {
			t.Errorf("%s has %d exported names and %d words for each, want %d and 60 at most", pkg, names[pkg], words[pkg]/n, most)
		}
	}
}

const mostWords = 300

// words counts those of the package's comment, its code included.
func words(code []*ast.File) (n int) {
	for _, f := range code {
		n += len(strings.Fields(f.Doc.Text()))
	}
	return n
}

// firstCode returns the lines of the first code in the package's comment that stands before
// any heading.
func firstCode(code []*ast.File) (lines []string) {
	for _, f := range code {
		for line := range strings.Lines(f.Doc.Text()) {
			if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "\t") {
				lines = append(lines, strings.TrimSpace(line))
			} else if len(lines) > 0 || strings.HasPrefix(line, "# ") {
				return lines
			}
		}
	}
	return lines
}

// undocumented returns a line for each exported name in code that has no comment
// and each constructor that has no Example in tests.
//
// Names that follow one another without an empty line share the comment of the first, and those
// of a declaration in parentheses the comment above it. A comment on a type serves the fields
// and methods that it calls by their names, capital or not, and the only one that there is; so
// does that on another field. A field named after its type has the type's comment. The methods
// Error, String and Unwrap need none: the interfaces that they are for say what they do. An
// Example must have an Output comment, or it is not run.
func undocumented(fset *token.FileSet, code, tests []*ast.File) (bad []string) {
	examples := map[string]bool{}
	for _, e := range doc.Examples(tests...) {
		if e.Output != "" || e.EmptyOutput {
			name, _, _ := strings.Cut(e.Name, "_")
			examples[name] = true
		}
	}
	say := saying(fset, &bad)
	// group checks names that stand one below another; shared comments come
	// from above. Each entry has the comment above it and the one beside it.
	line := func(p token.Pos) int { return fset.Position(p).Line }
	type entry struct {
		node          ast.Node
		above, beside *ast.CommentGroup
		names         []string // the exported ones
	}
	group := func(what string, entries []entry) {
		last, covered := -1, false
		for _, e := range entries {
			from := e.node.Pos()
			if e.above != nil {
				from = e.above.Pos()
			}
			covered = e.above != nil || covered && line(from) == last+1
			for _, name := range e.names {
				if !covered && e.beside == nil {
					say(e.node.Pos(), "%s%s has no comment", what, name)
				}
			}
			last = line(e.node.End())
		}
	}
	exported := func(ids []*ast.Ident) (names []string) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
		return names
	}
	fields := func(about string, what string, list *ast.FieldList) {
		for _, f := range list.List {
			about += " " + f.Doc.Text() + " " + f.Comment.Text()
		}
		said := regexp.MustCompile(`\w+`).FindAllString(strings.ToLower(about), -1)
		var all []entry
		for _, f := range list.List {
			names := exported(f.Names) // none of an embedded field, whose type has a comment
			if list.NumFields() == 1 {
				names = nil
			}
			names = slices.DeleteFunc(names, func(name string) bool {
				return name == api.TypeName(f.Type) || slices.Contains(said, strings.ToLower(name))
			})
			all = append(all, entry{f, f.Doc, f.Comment, names})
		}
		group(what, all)
	}
	packaged := false
	for _, f := range code {
		packaged = packaged || f.Doc != nil
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := api.FuncName(d)
				if name == "" {
					continue
				}
				standard := d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name)
				if d.Doc == nil && !standard {
					say(d.Pos(), "%s has no comment", name)
				}
				if d.Recv == nil && constructs(d) && !examples[name] {
					say(d.Pos(), "%s has no Example with an output", d.Name.Name)
				}
			case *ast.GenDecl:
				var values []entry
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if !s.Name.IsExported() {
							continue
						}
						if s.Doc == nil && s.Comment == nil && d.Doc == nil {
							say(s.Pos(), "%s has no comment", s.Name)
						}
						about := s.Doc.Text() + " " + d.Doc.Text()
						switch u := s.Type.(type) {
						case *ast.StructType:
							fields(about, s.Name.Name+".", u.Fields)
						case *ast.InterfaceType:
							fields(about, s.Name.Name+".", u.Methods)
						}
					case *ast.ValueSpec:
						values = append(values, entry{s, s.Doc, s.Comment, exported(s.Names)})
					}
				}
				if d.Doc == nil {
					group("", values)
				}
			}
		}
	}
	if len(code) > 0 && !packaged {
		say(code[0].Pos(), "package %s has no comment", code[0].Name)
	}
	slices.Sort(bad)
	return bad
}

// saying returns a function that adds a line about a place to a list.
func saying(fset *token.FileSet, bad *[]string) func(at token.Pos, format string, args ...any) {
	return func(at token.Pos, format string, args ...any) {
		p := fset.Position(at)
		*bad = append(*bad, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
}

// constructs tells a constructor or headline function: one whose name begins with New, or that
// returns a pointer to an exported type of its own package and an error.
func constructs(d *ast.FuncDecl) bool {
	if strings.HasPrefix(d.Name.Name, "New") {
		return true
	}
	if d.Type.Results == nil {
		return false
	}
	r := d.Type.Results.List
	if len(r) < 2 {
		return false
	}
	p, pointer := r[0].Type.(*ast.StarExpr)
	last, ident := r[len(r)-1].Type.(*ast.Ident)
	return pointer && ast.IsExported(api.TypeName(p.X)) && ident && last.Name == "error"
}

// TestUndocumented_IsSeen tests the test.
func TestUndocumented_IsSeen(t *testing.T) {
	const code = `package p

// T is documented.
type T struct {
	// A and B are.
	A int
	B int

	C int
	D int // beside
	e int
	F, g int
	T2
}

// Two is two; J is the first.
type Two struct{ J, K int }

func (t *T) M() {}
func (t T) String() string { return "" }
func (t u) M() {}

type U interface {
	// M is.
	M()

	N()
}

const (
	X = 1
	Y = 2 // beside
)

// New is.
func New() {}

// NewT is.
func NewT() {}

// Make is.
func Make() (*T, error) { return nil, nil }

// Unrun is.
func Unrun[A any](A) (t *S[A], n int, err error) { return nil, 0, nil }

func count() (*T, error) { return nil, nil }
`
	const tests = `package p_test

 func ExampleNewT_suffix() {
	// Output: a
}
 func ExampleMake() {
	// Output:
}
 func ExampleUnrun() {}
`
	fset := token.NewFileSet()
	parse := func(name, src string) []*ast.File {
		f := testkit.Must(parser.ParseFile(fset, name, src, parser.ParseComments))
		return []*ast.File{f}
	}
	got := undocumented(fset, parse("p.go", code), parse("p_test.go", tests))
	for i, s := range got {
		got[i] = s[strings.Index(s, ": ")+2:]
	}
	slices.Sort(got)
	want := []string{
		"New has no Example with an output",
		"T.C has no comment",
		"T.F has no comment",
		"T.M has no comment",
		"Two.K has no comment",
		"U has no comment",
		"U.N has no comment",
		"Unrun has no Example with an output",
		"X has no comment",
		"package p has no comment",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDoors_AreAlike reads the signatures of every public package: they keep the
// rules of [crooked].
func TestDoors_AreAlike(t *testing.T) {
	eachRoom(t, func(_ string, set *token.FileSet, code, _ []*ast.File) {
		for _, line := range crooked(set, code) {
			t.Error(line)
		}
	})
}

// crooked returns a line for each exported signature that has a context anywhere but first, a
// *rand.Rand of another name than rng, or an options struct that is not the last parameter and
// a pointer; and for each exported field that is a context, and name that ends in Context.
func crooked(fset *token.FileSet, code []*ast.File) (bad []string) {
	say := saying(fset, &bad)
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
				name := api.FuncName(d)
				if name == "" {
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
	read := 0
	for _, path := range files(t) {
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" || strings.Contains(path, "testdata/") {
			continue
		}
		read++
		for n, line := range strings.Split(strings.ToLower(page(path)), "\n") {
			if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(line, h) }) {
				continue
			}
			if w := british.FindString(line); w != "" {
				t.Errorf("%s:%d: %q is not US spelling", path, n+1, w)
			}
		}
	}
	if read < 400 {
		t.Errorf("%d files", read)
	}
}
