package main

import (
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each operator finds its places, and replaces what stands there.
func TestRead_FindsEachKind(t *testing.T) {
	const src = `package p

import "context"

func f(ctx context.Context, a, b float64) float64 {
	if a < b && ctx.Err() != nil {
		g(ctx)
	}
	n := 3
	n++
	return directed.MulUp(a, b) + max(a, b)
}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Package{Dir: dir, mutants: map[string][]*Mutant{}}
	p.read(token.NewFileSet(), "p.go")
	var got []string
	for _, list := range p.mutants {
		for _, m := range list {
			if src[m.from:m.to] != m.old {
				t.Errorf("%v does not stand at its place", m)
			}
			got = append(got, fmt.Sprintf("%d %s: %s -> %s", m.line, m.kind, m.old, m.new))
		}
	}
	for _, want := range []string{
		"6 context: ctx.Err() -> error(nil)", "7 context: ctx -> context.Background()",
		"11 rounding: directed.MulUp -> directed.MulDown", "11 rounding: max -> min",
		"9 constant: 3 -> (2*3+1)", "7 statement: g(ctx) -> ", "10 statement: n++ -> ",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// planted is a library of functions of every form, in which two tests see what they
// should, one sees nothing that the others do not, and some mutants survive.
var planted = map[string]string{
	"go.mod": "module planted\n\ngo 1.25\n",
	"lib/p.go": `package lib

const limit = 3

type list[T any] []T

func (l list[_]) seen(_ int) bool { return len(l) > 1 }

func (l *list[T]) add(items ...T) {
	*l = append(*l, items...)
}

type unit struct{}

func (unit) half(int, n int) (h int, ok bool) {
	h = n / 2
	ok = true
	return
}

func least[T int | float64](a, b T) T {
	return min(a, b)
}

func count(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum++
	}
	return sum
}

func unseen(n int) int { return n + 1 }
`,

	"lib/p_test.go": `package lib

import "testing"

func TestList(t *testing.T) {
	var l list[int]
	l.add(1, 2)
	if !l.seen(0) || len(l) > limit {
		t.Fatal(l)
	}
}

func TestNumbers(t *testing.T) {
	if h, ok := (unit{}).half(0, 4); h != 2 || !ok {
		t.Fatal(h)
	}
	if least(1, 2) != 1 || least(1.5, 2) != 1.5 {
		t.Fatal()
	}
	if count(3) != 3 {
		panic("count")
	}
}

func TestAgain(t *testing.T) {
	if count(3) != 3 {
		t.Fatal()
	}
}
`,
}

// plant writes the planted library.
func plant(t *testing.T) (dir string) {
	if testing.Short() {
		t.Skip("compiles")
	}
	dir = t.TempDir()
	for name, text := range planted {
		path := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// What no test sees is named; what panics or does not end is killed, and the other tests
// still run after a panic.
func TestTry_FindsPlantedSurvivors(t *testing.T) {
	dir := plant(t)
	any := regexp.MustCompile(".")
	o := options{seed: 1, count: 100, in: any, kind: any, matrix: true, coverage: true}
	tree := load(dir)
	ms := tree.draw(o)
	r := newRunner(tree, t.TempDir(), o, ms)
	var survive []string
	for _, m := range ms {
		by := r.try(m)
		if len(by) == 0 {
			survive = append(survive, m.place())
		}
		sees := []string{"lib.TestNumbers", "lib.TestAgain"} // after the panic of the first too
		if m.old == "i++" {
			sees = sees[:1] // which does not end
		}
		if m.name == "count" && !slices.Equal(by, sees) {
			t.Errorf("%v: killed by %q", m, by)
		}
	}
	slices.Sort(survive)
	want := []string{"limit constant#1", "list.seen comparison#1", "unseen arithmetic#1", "unseen constant#1"}
	if !slices.Equal(survive, want) {
		t.Errorf("%q survive, not %q", survive, want)
	}
	var report strings.Builder
	r.report(&report, o)
	for _, line := range []string{"may go together, of those that are no example or fuzz target: 1 functions, 5 lines\n\tlib.TestAgain: 5\n", "alone covers planted/lib/p.go:9.35,11.2"} {
		if !strings.Contains(report.String(), line) {
			t.Errorf("no %q in\n%s", line, report.String())
		}
	}
}

// A test that is dropped is missed where its mutants are drawn from the revision that had
// it, and only there; code that moves, and lines before it, are no difference.
func TestCompare_FailsWhereAKillIsLost(t *testing.T) {
	dir := plant(t)
	t.Chdir(dir)
	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a commit -q -m a"} {
		if out, err := exec.Command("git", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	o := options{seed: 1, count: 100, in: regexp.MustCompile("."), kind: regexp.MustCompile("^(statement|constant)$"), within: time.Hour}
	moved := strings.Replace(planted["lib/p.go"], "const limit", "// Limit.\nconst limit", 1)
	check(os.WriteFile("lib/p.go", []byte(moved), 0o600))
	if got := compare(t.TempDir(), "HEAD", o); got != 0 {
		t.Errorf("status %d with the same tests", got)
	}
	dropped := strings.Replace(planted["lib/p_test.go"], "h != 2 || ", "", 1)
	check(os.WriteFile("lib/p_test.go", []byte(dropped), 0o600))
	if got := compare(t.TempDir(), "HEAD", o); got != 1 {
		t.Errorf("status %d where a claim is gone", got)
	}
}
