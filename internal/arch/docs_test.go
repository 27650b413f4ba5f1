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
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		dir := filepath.Join("..", "..", filepath.FromSlash(name))
		fset := token.NewFileSet()
		code, tests, err := api.Parse(fset, dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(code) == 0 {
			t.Errorf("%s has no Go files", name)
		}
		for _, miss := range undocumented(fset, code, tests) {
			t.Error(miss)
		}
	}
}

// TestDocs_BeginShort reads the overview of every public package, which is for one sitting:
// more is said at the name that it is about. It opens with a call that works, lines of an
// Example; there is an Example of the whole package.
func TestDocs_BeginShort(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		dir := filepath.Join("..", "..", filepath.FromSlash(name))
		code, tests, err := api.Parse(token.NewFileSet(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if n := words(code); n == 0 || n > mostWords {
			t.Errorf("the overview of %s has %d words, want 1 to %d", name, n, mostWords)
		}
		var run []byte // the files with Examples
		for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "example*_test.go"))) {
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

// TestWords_CountCode tests the test.
func TestWords_CountCode(t *testing.T) {
	const first = "// Package p is\n// for [T].\n//\n// # Begin\n//\n//\tp.New(1, nil)\npackage p\n\n// T is.\ntype T int\n"
	fset := token.NewFileSet()
	code := []*ast.File{
		testkit.Must(parser.ParseFile(fset, "a.go", first, parser.ParseComments)),
		testkit.Must(parser.ParseFile(fset, "b.go", "// Also this.\npackage p\n", parser.ParseComments)),
		testkit.Must(parser.ParseFile(fset, "c.go", "package p\n", parser.ParseComments)),
	}
	if got := words(code); got != 11 {
		t.Errorf("%d words, want 11", got)
	}
	if got := firstCode(code[1:]); len(got) != 0 {
		t.Errorf("code %q where there is none", got)
	}
}

// undocumented returns a line for each exported name in code that has no comment
// and each constructor that has no Example in tests.
//
// Names that follow one another without an empty line share the comment of the first, and those
// of a declaration in parentheses the comment above it. A comment on a type serves the fields
// and methods that it calls by their names, capital or not, and the only one that there is; so
// does that on another field. A field named after its type has the type's comment. The methods
// Error, String and Unwrap need none: the interfaces that they are for say what they do. An
// Example must have an Output comment, or it is not run; that of F serves FContext.
func undocumented(fset *token.FileSet, code, tests []*ast.File) []string {
	examples := map[string]bool{}
	for _, e := range doc.Examples(tests...) {
		if e.Output != "" || e.EmptyOutput {
			name, _, _ := strings.Cut(e.Name, "_")
			examples[name] = true
		}
	}
	var bad []string
	say := func(at token.Pos, format string, args ...any) {
		p := fset.Position(at)
		bad = append(bad, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
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
				recv := ""
				if d.Recv != nil {
					recv = api.TypeName(d.Recv.List[0].Type)
				}
				if !d.Name.IsExported() || recv != "" && !ast.IsExported(recv) {
					continue
				}
				standard := recv != "" && slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name)
				if d.Doc == nil && !standard {
					say(d.Pos(), "%s has no comment", strings.TrimPrefix(recv+"."+d.Name.Name, "."))
				}
				if recv == "" && constructs(d) && !examples[d.Name.Name] && !examples[strings.TrimSuffix(d.Name.Name, "Context")] {
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

	H int // as high as i
	I int

	One *One
}

// One has it.
type One struct{ Only int }

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

// Both.
const (
	V = 1

	W = 2
)

// New is.
func New() {}

// NewT is.
func NewT() {}

// Make is.
func Make() (*T, error) { return nil, nil }

// Unrun is.
func Unrun[A any](A) (t *S[A], n int, err error) { return nil, 0, nil }

// MakeContext is Make.
func MakeContext() (*T, error) { return nil, nil }

func count() (*T, error) { return nil, nil }

// Count is.
func Count() (int, error) { return 0, nil }
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
