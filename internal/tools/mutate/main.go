// Program mutate changes single tokens of the library and tells which tests see it. It
// reads the module in the current folder and changes no file of it: the go command gets
// changed files by -overlay. .ci/mutate runs it.
//
// A mutant is a changed copy of a function, to which the function goes where the
// environment variable METRICDP_MUTANT has the mutant's number: all are in one test binary.
// A change outside of functions has a binary of its own. What does not compile is not drawn.
//
// Mutants are drawn by a seed, package after package, in each a kind after the other. They
// are known by package, function, kind and their number among those of the kind there, and
// drawn by a hash of that: a change of the library leaves the others of a sample as they are.
// They go to the tests of their package or, without any, of the nearest package above it;
// where package directed is called to the watch on rounding, internal/outward, and of the
// kind context to that of internal/robust; then to those of the packages that import theirs; all
// with -short. The first test that fails kills, and so does the one that runs when the process
// ends or its time is over. With -matrix or -coverage every test of the chosen packages tries
// each mutant whose function it calls, up to one that hangs.
//
// github.com/go-gremlins/gremlins takes all mutants of a package or none, and has neither a
// seed nor the directions of rounding and the contexts, in which it matters most.
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Mutant is a change of a file.
type Mutant struct {
	pkg            *Package
	in             *File
	decl           *ast.FuncDecl // or nil, outside of functions
	file           string        // relative to the module
	line, from, to int           // from, to: offsets in the file
	old, new, kind string
	name           string // of the function, or of what else is declared
	nth            int    // among those of its kind there
	id             int    // in a runner
}

// place is where m is in every revision that has the function.
func (m *Mutant) place() string { return fmt.Sprintf("%s %s#%d", m.name, m.kind, m.nth) }

func (m *Mutant) key() string { return m.pkg.rel() + "." + m.place() }

func (m *Mutant) at() string { return fmt.Sprintf("%s:%d", m.file, m.line) }

func (m *Mutant) String() string {
	short := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return fmt.Sprintf("%s %s: %s -> %s", m.at(), m.place(), short(m.old), short(m.new))
}

// Package is a package of the library.
type Package struct {
	ImportPath, Dir, Name, Export               string
	GoFiles, TestGoFiles, XTestGoFiles, Imports []string
	Module                                      struct {
		Path string
		Main bool
	}

	files   []*File
	mutants map[string][]*Mutant // by kind
}

func (p *Package) rel() string { return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/") }

// aside is an example or for tests: no mutant is there, and its tests try none by default.
func (p *Package) aside() bool { return aside.MatchString(p.rel()) }

var aside = regexp.MustCompile(`^examples|^internal/(testkit|robust|arch|outward|tools)|test$`)

func (p *Package) tested() bool { return !p.aside() && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// Tree is a revision of the library.
type Tree struct {
	dir    string
	all    []*Package
	set    *token.FileSet
	export map[string]string // what the compiler keeps of a package for those that import it
	types  types.Config
}

// run returns what the go command prints.
func (t *Tree) run(args ...string) (string, error) {
	c := exec.Command("go", args...)
	var errs strings.Builder
	c.Dir, c.Stderr = t.dir, &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	return string(out), err
}

// options choose mutants, and what to find of them.
type options struct {
	seed                   uint64
	count                  int
	in, kind, at           *regexp.Regexp
	matrix, coverage, near bool
	within                 time.Duration
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of the sample")
	flag.IntVar(&o.count, "count", 30, "mutants to try")
	packages := flag.String("packages", ".", "expression for the packages to draw from, such as ^lp")
	kinds := flag.String("kinds", ".", "expression for the kinds: rounding, context, arithmetic, comparison, constant, logic, statement")
	at := flag.String("at", "", "expression for places such as lp/star.go:231: tries every mutant there and no sample")
	floor := flag.Float64("floor", 0, "fails where a smaller share is killed")
	matrix := flag.String("matrix", "", "file for each mutant with all tests that kill it; prints what each test does that no other does")
	flag.BoolVar(&o.coverage, "coverage", false, "prints the statements that one test alone covers")
	flag.BoolVar(&o.near, "near", false, "leaves the mutants to the tests of their packages and of those chosen: much faster, and more survive")
	flag.DurationVar(&o.within, "within", 24*time.Hour, "begins no mutant after that")
	rev := flag.String("rev", "", "revision to draw from: fails where its tests kill what the tests of this tree do not")
	flag.Parse()
	o.in, o.kind, o.matrix = regexp.MustCompile(*packages), regexp.MustCompile(*kinds), *matrix != ""
	if *at != "" {
		o.at = regexp.MustCompile(*at)
	}
	dir := must(os.MkdirTemp("", "mutate")) // in a folder that .ci/mutate removes
	if *rev != "" {
		os.Exit(compare(dir, *rev, o))
	}
	os.Exit(study(dir, o, *matrix, *floor))
}

// check ends the program with an error: nothing here goes on after one.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// study tries a sample of the current tree.
func study(dir string, o options, matrix string, floor float64) (status int) {
	t := load(".")
	r := newRunner(t, dir, o, t.draw(o))
	killed := 0
	var table strings.Builder
	for start := time.Now(); r.tried < len(r.ms) && time.Since(start) < o.within; {
		m := r.ms[r.tried]
		by := strings.Join(r.try(m), " ")
		fmt.Fprintf(&table, "%s\t%s\t%s\n", m.key(), m.at(), by)
		if by == "" {
			fmt.Printf("SURVIVED %s\n", m)
			continue
		}
		killed++
		fmt.Printf("killed   %s (%s)\n", m, by)
	}
	if matrix != "" {
		check(os.WriteFile(matrix, []byte(table.String()), 0o600))
	}
	if len(r.whole) > 0 {
		r.report(os.Stdout, o)
	}
	share := float64(killed) / float64(max(1, r.tried))
	fmt.Printf("%d mutants, %.0f %% killed\n", r.tried, 100*share)
	if r.tried > 0 && share < floor {
		return 1
	}
	return 0
}

// compare tries a sample of a revision there and, what is killed, in the current tree.
func compare(dir, rev string, o options) (status int) {
	past := filepath.Join(dir, "tree")
	check(os.Mkdir(past, 0o700))
	check(exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", rev, past).Run())
	before, now := load(past), load(".")
	ms := before.draw(o)
	was := map[*Mutant]*Mutant{}
	var same []*Mutant
	for _, m := range ms {
		switch n := now.find(m); {
		case n == nil:
			fmt.Printf("gone     %s\n", m)
		case n.old != m.old || n.new != m.new || !now.compiles(n):
			fmt.Printf("changed  %s; now %s\n", m, n)
		default:
			same, was[n] = append(same, n), m
		}
	}
	old, current := newRunner(before, filepath.Join(dir, "before"), o, ms), newRunner(now, filepath.Join(dir, "now"), o, same)
	count := map[string]int{}
	start := time.Now()
	for _, n := range same {
		word, first := "untried", []string(nil)
		if time.Since(start) < o.within {
			first = old.try(was[n])
			switch {
			case len(first) == 0:
				word = "survived"
			case len(current.try(n)) > 0:
				word = "killed"
			case len(old.try(was[n])) == 0:
				word = "unsteady"
			default:
				word = "LOST"
			}
		}
		count[word]++
		fmt.Printf("%-8s %s (%s)\n", word, n, strings.Join(first, " "))
	}
	fmt.Printf("%d mutants at %s, %d of them here: %v\n", len(ms), rev, len(same), count)
	return min(count["LOST"], 1)
}

// load reads the packages of the library, and what it imports for the types.
func load(dir string) *Tree {
	t := &Tree{dir: dir, set: token.NewFileSet(), export: map[string]string{}}
	t.types = types.Config{Sizes: types.SizesFor("gc", runtime.GOARCH), Importer: importer.ForCompiler(t.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(t.export[path])
	})}
	out := must(t.run("list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,TestGoFiles,XTestGoFiles,Imports,Module", "./..."))
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		p := &Package{mutants: map[string][]*Mutant{}}
		check(d.Decode(p))
		t.export[p.ImportPath] = p.Export
		if !p.Module.Main {
			continue
		}
		t.all = append(t.all, p)
		for _, f := range p.GoFiles {
			if !p.aside() {
				p.read(t.set, f)
			}
		}
	}
	return t
}

// compiles tells whether the package of m does with the change. An import that it leaves
// unused is not unused beside the unchanged body.
func (t *Tree) compiles(m *Mutant) bool {
	var trees []*ast.File
	for _, f := range m.pkg.files {
		if f != m.in {
			trees = append(trees, f.tree)
			continue
		}
		tree, err := parser.ParseFile(t.set, "", f.apply(m.change()), parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		trees = append(trees, tree)
	}
	good := true
	t.types.Error = func(err error) {
		good = good && m.decl != nil && strings.HasSuffix(err.Error(), "imported and not used")
	}
	_, _ = t.types.Check(m.pkg.ImportPath, t.set, trees, nil)
	return good
}

// draw returns the mutants of the sample, or of the places, that compile.
func (t *Tree) draw(o options) (ms []*Mutant) {
	hash := func(m *Mutant) uint64 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", o.seed, m.key()))
		return binary.BigEndian.Uint64(sum[:])
	}
	// turns returns the mutants of lists, of each in turn, that with the least hash first.
	turns := func(lists [][]*Mutant) (order []*Mutant) {
		slices.SortFunc(lists, func(a, b []*Mutant) int { return cmp.Compare(hash(a[0]), hash(b[0])) })
		for i := 0; len(lists) > 0; i++ {
			lists = slices.DeleteFunc(lists, func(list []*Mutant) bool { return i >= len(list) })
			for _, list := range lists {
				order = append(order, list[i])
			}
		}
		return order
	}
	var packages [][]*Mutant
	for _, p := range t.all {
		var kinds [][]*Mutant
		for k, list := range p.mutants {
			if o.kind.MatchString(k) && (o.at != nil || o.in.MatchString(p.rel())) {
				kinds = append(kinds, slices.SortedFunc(slices.Values(list), func(a, b *Mutant) int { return cmp.Compare(hash(a), hash(b)) }))
			}
		}
		if len(kinds) > 0 {
			packages = append(packages, turns(kinds))
		}
	}
	for _, m := range turns(packages) {
		if o.at == nil && len(ms) == o.count {
			break
		}
		if (o.at == nil || o.at.MatchString(m.at())) && t.compiles(m) {
			ms = append(ms, m)
		}
	}
	return ms
}

// find returns the mutant of t that is where m is in another tree: in a function of the
// name in the package or, if it is gone from there, the only one elsewhere.
func (t *Tree) find(m *Mutant) *Mutant {
	var elsewhere []*Mutant
	for _, p := range t.all {
		for _, n := range p.mutants[m.kind] {
			if n.key() == m.key() {
				return n
			}
			if n.place() == m.place() {
				elsewhere = append(elsewhere, n)
			}
		}
	}
	if len(elsewhere) != 1 {
		return nil
	}
	return elsewhere[0]
}
