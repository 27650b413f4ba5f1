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
// The kinds that other tools have are here as well (arithmetic, comparisons,
// constants, logic, statements): github.com/go-gremlins/gremlins, which builds and
// runs here, takes all mutants of a package or none, and has neither a seed nor
// the directions of rounding and the contexts, in which it matters most.
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Mutant is a change of a file.
type Mutant struct {
	id       int
	pkg      *Package
	in       *File
	file     string // relative to the module
	line     int
	from, to int // offsets in the file
	old, new string
	kind     string
	name     string // of the function, or of what else is declared
	nth      int    // among those of its kind there
	decl     *ast.FuncDecl
}

// place is where m is in every revision that has the function.
func (m *Mutant) place() string { return fmt.Sprintf("%s %s#%d", m.name, m.kind, m.nth) }

func (m *Mutant) key() string { return m.pkg.rel() + "." + m.place() }

func (m *Mutant) String() string {
	short := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return fmt.Sprintf("%s:%d %s: %s -> %s", m.file, m.line, m.place(), short(m.old), short(m.new))
}

// Package is a package of the library.
type Package struct {
	ImportPath, Dir, Name                       string
	GoFiles, TestGoFiles, XTestGoFiles, Imports []string
	Module                                      struct{ Path, Dir string }

	mutants map[string][]*Mutant // by kind
}

func (p *Package) rel() string { return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/") }

func (p *Package) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// Tree is a revision of the library.
type Tree struct {
	dir     string
	all     []*Package
	numbers int // of mutants
	exports map[string]string
}

// run returns what the go command prints.
func (t *Tree) run(args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir = t.dir
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of the sample")
	flag.IntVar(&o.count, "count", 30, "mutants to try")
	packages := flag.String("packages", ".", "expression for the packages to draw from, such as ^lp")
	kinds := flag.String("kinds", ".", "expression for the kinds: rounding, context, arithmetic, comparison, constant, logic, statement")
	at := flag.String("at", "", "expression for places such as lp/star.go:231: tries every mutant there and no sample")
	floor := flag.Float64("floor", 0, "fails where a smaller share is killed")
	list := flag.Bool("list", false, "prints the mutants and tries none")
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
	os.Exit(func() (status int) {
		dir, err := os.MkdirTemp("", "mutate")
		defer os.RemoveAll(dir)
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintln(os.Stderr, "mutate:", r)
				status = 2
			}
		}()
		check(err)
		if *rev != "" {
			return compare(dir, *rev, o)
		}
		return study(dir, o, *list, *matrix, *floor)
	}())
}

// check panics with an error, which ends the program: nothing here goes on after one.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// options choose mutants, and what to find of them.
type options struct {
	seed             uint64
	count            int
	in, kind, at     *regexp.Regexp
	matrix, coverage bool
	near             bool
	within           time.Duration
}

// study tries a sample of the current tree.
func study(dir string, o options, list bool, matrix string, floor float64) (status int) {
	t := load(".")
	ms := t.draw(o)
	if list {
		for _, m := range ms {
			fmt.Println(m)
		}
		return 0
	}
	r := newRunner(t, dir, o, ms)
	tried, killed := map[string]int{}, map[string]int{}
	var table strings.Builder
	for start := time.Now(); len(ms) > 0 && time.Since(start) < o.within; ms = ms[1:] {
		m := ms[0]
		by := r.try(m)
		tried[m.kind]++
		fmt.Fprintf(&table, "%s\t%s:%d\t%s\n", m.key(), m.file, m.line, strings.Join(by, " "))
		if len(by) == 0 {
			fmt.Printf("SURVIVED %s\n", m)
			continue
		}
		killed[m.kind]++
		fmt.Printf("killed   %s (%s)\n", m, strings.Join(by, " "))
	}
	total, gone := 0, 0
	for _, k := range slices.Sorted(maps.Keys(tried)) {
		total += tried[k]
		gone += killed[k]
		fmt.Printf("%s: %d of %d killed\n", k, killed[k], tried[k])
	}
	if matrix != "" {
		check(os.WriteFile(matrix, []byte(table.String()), 0o600))
	}
	if o.matrix || o.coverage {
		r.report(os.Stdout, o)
	}
	if total > 0 {
		share := float64(gone) / float64(total)
		fmt.Printf("%d mutants, %.0f %% killed\n", total, 100*share)
		if share < floor {
			return 1
		}
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
	var same []*Mutant
	was := map[*Mutant]*Mutant{}
	for _, m := range ms {
		switch n := now.find(m); {
		case n == nil:
			fmt.Printf("gone     %s\n", m)
		case n.old != m.old || n.new != m.new:
			fmt.Printf("changed  %s; now %s\n", m, n)
		default:
			same = append(same, n)
			was[n] = m
		}
	}
	same = now.compiling(same)
	old := newRunner(before, filepath.Join(dir, "before"), o, ms)
	current := newRunner(now, filepath.Join(dir, "now"), o, same)
	both, lost := 0, 0
	for _, n := range same {
		first := old.try(was[n])
		if len(first) == 0 {
			fmt.Printf("survived %s\n", n)
			continue
		}
		by := current.try(n)
		if len(by) > 0 {
			both++
			continue
		}
		if len(old.try(was[n])) == 0 {
			fmt.Printf("unsteady %s (%s, once)\n", n, strings.Join(first, " "))
			continue
		}
		lost++
		fmt.Printf("LOST     %s (%s killed it)\n", n, strings.Join(first, " "))
	}
	fmt.Printf("%d mutants at %s, %d of them here, %d killed by both, %d no more\n", len(ms), rev, len(same), both, lost)
	return min(lost, 1)
}

// load reads the packages of the library: not the examples, nor what is for tests.
func load(dir string) *Tree {
	t := &Tree{dir: dir}
	out := must(t.run("list", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles,Imports,Module", "./..."))
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		p := &Package{mutants: map[string][]*Mutant{}}
		check(d.Decode(p))
		if aside.MatchString(p.rel()) {
			continue
		}
		for _, f := range p.GoFiles {
			p.read(f)
		}
		t.all = append(t.all, p)
	}
	return t
}

var aside = regexp.MustCompile(`^examples|^internal/(testkit|robust|arch|outward|tools)|test$`)

// draw returns the mutants of the sample, or of the places, that compile.
func (t *Tree) draw(o options) (ms []*Mutant) {
	var packages [][]*Mutant
	for _, p := range t.all {
		var kinds [][]*Mutant
		for k, list := range p.mutants {
			if o.kind.MatchString(k) && (o.at != nil || o.in.MatchString(p.rel())) {
				kinds = append(kinds, list)
			}
		}
		packages = append(packages, turns(o.seed, kinds))
	}
	order := turns(o.seed, packages)
	if o.at != nil {
		order = slices.DeleteFunc(order, func(m *Mutant) bool { return !o.at.MatchString(fmt.Sprintf("%s:%d", m.file, m.line)) })
		o.count = len(order)
	}
	for len(ms) < o.count && len(order) > 0 {
		n := min(o.count-len(ms), len(order))
		next := t.compiling(order[:n])
		ms, order = append(ms, next...), order[n:]
	}
	return ms
}

// turns returns the mutants of lists, of each in turn. Lists and what is in them are in the
// order of a hash of seed and key: for both, the least first.
func turns(seed uint64, lists [][]*Mutant) (order []*Mutant) {
	hash := map[*Mutant]uint64{}
	lists = slices.DeleteFunc(lists, func(list []*Mutant) bool { return len(list) == 0 })
	for i, list := range lists {
		for _, m := range list {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.key()))
			hash[m] = binary.BigEndian.Uint64(sum[:])
		}
		if !slices.ContainsFunc(list, func(m *Mutant) bool { return m.kind != list[0].kind }) {
			lists[i] = slices.SortedFunc(slices.Values(list), func(a, b *Mutant) int { return cmp.Compare(hash[a], hash[b]) })
		}
	}
	slices.SortFunc(lists, func(a, b []*Mutant) int { return cmp.Compare(hash[a[0]], hash[b[0]]) })
	for i := 0; len(lists) > 0; i++ {
		lists = slices.DeleteFunc(lists, func(list []*Mutant) bool { return i >= len(list) })
		for _, list := range lists {
			order = append(order, list[i])
		}
	}
	return order
}

// find returns the mutant of t that is where m is in another tree: in a function of the
// name in the package or, if it is gone from there, the only one elsewhere.
func (t *Tree) find(m *Mutant) *Mutant {
	var elsewhere []*Mutant
	for _, p := range t.all {
		for _, n := range p.mutants[m.kind] {
			if n.place() == m.place() {
				if n.key() == m.key() {
					return n
				}
				elsewhere = append(elsewhere, n)
			}
		}
	}
	if len(elsewhere) == 1 {
		return elsewhere[0]
	}
	return nil
}
