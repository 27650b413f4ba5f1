package metric

import (
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestParseNewick_Accepts(t *testing.T) {
	for in, want := range map[string]string{
		"(a:1,b:2,(c:3,d:4)e:5)f;":      "(a:1,b:2,(c:3,d:4)e:5)f;",
		"a;":                            "a;",
		";":                             ";",
		"(,);":                          "(:1,:1);",
		"();":                           "(:1);",
		"((a));":                        "((a:1):1);",
		"(a,b)root:2.5;":                "(a:1,b:1)root:2.5;",
		":3;":                           ":3;",
		" ( a : 1 ,\n\tb : 1 ) ; \r\n":  "(a:1,b:1);",
		"(a_b,'c d','it''s','')'(;)';":  "(a_b:1,'c d':1,'it''s':1,:1)'(;)';",
		"[one](a[two [nested]],b[]);[]": "(a:1,b:1);",
		"(a:[c]1e3,b:+.5E-1);":          "(a:1000,b:0.05);",
		"(a:0,b:1e-400);":               "(a:0,b:0);",
		"('a'[x]:1,é\u200d:2);":         "(a:1,é\u200d:2);",
		"('two words',1);":              "('two words':1,1:1);",
		"(a[\x00\u202e\xff],b);":        "(a:1,b:1);",
		"(a:1e300,b:1);":                "(a:1e+300,b:1);",
		"\ufeff(a,b);":                  "(a:1,b:1);",
	} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
			tree, err := ParseNewick(r)
			if err != nil {
				t.Errorf("%q: %v", in, err)
			} else if got := tree.String(); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		}
	}
}

func TestParseNewick_SyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		in           string
		line, column int
		msg          string
	}{
		{"", 1, 1, "ends"},
		{"  \n ", 2, 2, "ends"},
		{"(a,b)", 1, 6, "ends"},
		{"((a,b);", 1, 7, "before all parentheses"},
		{"(a,b));", 1, 6, "')' outside"},
		{"a,b;", 1, 2, "',' outside"},
		{"(a,\n b)(c);", 2, 4, "after a closing parenthesis"},
		{"a(b);", 1, 2, "after a name"},
		{"(a b);", 1, 4, "after a name"},
		{"(a'b');", 1, 3, "after a name"},
		{"('a'b);", 1, 5, "after a name"},
		{"(a:1 b);", 1, 6, "after a length"},
		{"(a:1:2);", 1, 5, "after a length"},
		{"(a:1(b));", 1, 5, "after a length"},
		{"(a]);", 1, 3, "unexpected"},
		{"(a:);", 1, 4, "no number"},
		{"(a:", 1, 4, "no number"},
		{"(a:'1');", 1, 4, "no number"},
		{"(a:x);", 1, 4, "length \"x\""},
		{"(a: 1.2.3);", 1, 5, "length"},
		{"(a:-1);", 1, 4, "length"},
		{"(a:NaN);", 1, 4, "length"},
		{"(a:0x1p4);", 1, 4, "length"},
		{"(ab\x00c,d);", 1, 4, "control character U+0000"},
		{"(a,\n'b\x00');", 2, 3, "control character U+0000"},
		{"('two\nlines',1);", 1, 6, "control character U+000A"},
		{"(a,\u202eb);", 1, 4, "U+202E, a mark of the direction"},
		{"(a,'it''s\u2066');", 1, 10, "U+2066, a mark of the direction"},
		{"((a)é\xff);", 1, 7, "the byte 0xff"},
		{"(a:1e301);", 1, 4, "length"},
		{"(a:1,b);", 1, 7, "without a length"},
		{"(a,b:1);", 1, 7, "with a length"},
		{"(a,\n'b);", 2, 1, "quote"},
		{"(a'", 1, 3, "after a name"},
		{"('a''", 1, 2, "quote"},
		{"(a,[b);", 1, 4, "comment"},
		{"(a[[]);", 1, 3, "comment"},
		{"(a);b", 1, 5, "after ';'"},
		{"(a);\n;", 2, 1, "after ';'"},
		{"(a);[", 1, 5, "comment"},
	} {
		tree, err := ParseNewick(strings.NewReader(c.in))
		var s *SyntaxError
		if !errors.As(err, &s) || tree != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if s.Line != c.line || s.Column != c.column || !strings.Contains(s.Msg, c.msg) {
			t.Errorf("%q: %v, want %d:%d %q", c.in, err, c.line, c.column, c.msg)
		}
	}
}

func TestParseNewick_Limits(t *testing.T) {
	parse := func(s string, bytes, nodes int) error {
		_, err := parseNewick(strings.NewReader(s), bytes, nodes)
		return err
	}
	const s = "(a,b);" // 6 bytes, 3 nodes
	var size *SizeError
	if err := parse(s, 6, 3); err != nil {
		t.Error(err)
	}
	if err := parse(s, 5, 3); !errors.As(err, &size) || size.Arg != "text" {
		t.Error(err)
	}
	if err := parse(s, 6, 2); !errors.As(err, &size) || size.Arg != "tree" {
		t.Error(err)
	}
}

func TestParseNewick_ReaderFails(t *testing.T) {
	broken := errors.New("broken")
	for _, s := range []string{"", "(", "(a", "('a", "('a'", "(a[", "(a:", "(a:1", "(a);"} {
		r := io.MultiReader(strings.NewReader(s), iotest.ErrReader(broken))
		if _, err := ParseNewick(r); !errors.Is(err, broken) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// Nesting 200,000 deep takes less than 4 MiB of stack, in any method.
func TestParseNewick_Deep(t *testing.T) {
	testkit.Slow(t)
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	const depth = 200_000
	s := strings.Repeat("(", depth) + "a" + strings.Repeat(")", depth-1) + ",b);"
	tree := testkit.Must(ParseNewick(strings.NewReader(s)))
	if n := tree.Len(); n != depth+2 || len(tree.Leaves()) != 2 {
		t.Errorf("%d nodes, %d leaves", n, len(tree.Leaves()))
	}
	if d, u := tree.PathMetric().Distance(0, 1), tree.Ultrametric().Distance(0, 1); d != depth+1 || u != depth {
		t.Errorf("distances %v, %v", d, u)
	}
	again, err := ParseNewick(strings.NewReader(tree.String()))
	if err != nil || !sameTree(tree, again) {
		t.Errorf("round trip: %v", err)
	}
}

// sameTree compares two trees whose nodes correspond in preorder.
func sameTree(a, b *Tree) bool {
	if a.Len() != b.Len() {
		return false
	}
	x, y := a.Preorder(), b.Preorder()
	rank := inverse(x)
	for k := range x {
		v, w := x[k], y[k]
		if w != k || a.Name(v) != b.Name(w) || a.Length(v) != b.Length(w) ||
			k > 0 && rank[a.Parent(v)] != b.Parent(w) {
			return false
		}
	}
	return true
}

func TestWriteNewick_RoundTrip(t *testing.T) {
	r := random.Seeded(1)
	for n := 1; n <= 80; n++ {
		tree := randomTree(r, n)
		again, err := ParseNewick(strings.NewReader(tree.String()))
		if err != nil {
			t.Fatalf("%s: %v", tree, err)
		}
		if !sameTree(tree, again) {
			t.Fatalf("wrote %s, read %s", tree, again)
		}
	}
	broken := errors.New("broken")
	if err := randomTree(r, 9).WriteNewick(failing{broken}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Any text gives a tree or one of the documented errors, and what is read can
// be written and read again.
func FuzzParseNewick(f *testing.F) {
	for _, s := range []string{"(a:1,b:2,(c:3,d:4)e:5)f;", "('it''s'[x[y]],b)\n;", "(,,(,));", "(a:1e300)b:-0;", "((((", "'", "a:1 b", ";x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := ParseNewick(strings.NewReader(s))
		if err != nil {
			if e := (*SyntaxError)(nil); !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := ParseNewick(strings.NewReader(tree.String()))
		if err != nil || !sameTree(tree, again) {
			t.Fatalf("%q: wrote %s, read %v, %v", s, tree, again, err)
		}
		if n := tree.PathMetric().Len(); n < 50 {
			if err := Validate(t.Context(), tree.PathMetric(), nil); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if err := ValidateUltrametric(t.Context(), tree.Ultrametric(), 0); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
	})
}
