// Program mutate changes one token of the library at a time and tells whether a
// test sees it. It reads the module in the current folder and changes no file of
// it: the go command gets the changed file by -overlay. .ci/mutate runs it.
//
// Mutants are drawn by a seed, package after package, in each a kind first and then
// a place. One that does not compile is drawn again. The others go to the tests of
// their package, of the nearest package above it with tests, where package directed is
// called to the watch on rounding, internal/outward, and of the kind context to that of
// internal/robust; all with -short.
// The first that fails kills. One that takes longer than it may is killed too.
//
// The kinds that other tools have are here as well (arithmetic, comparisons,
// constants, logic, statements): github.com/go-gremlins/gremlins, which builds and
// runs here, takes all mutants of a package or none, and has neither a seed nor
// the directions of rounding and the contexts, in which it matters most.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
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
	pkg      *Package
	file     string // relative to the module
	line     int
	from, to int // offsets in the file
	old, new string
	kind     string
}

func (m Mutant) String() string {
	short := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return fmt.Sprintf("%s:%d %s: %s -> %s", m.file, m.line, m.kind, short(m.old), short(m.new))
}

// Package is a package of the library.
type Package struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Module                             struct{ Path, Dir string }

	mutants map[string][]Mutant // by kind
}

func (p *Package) rel() string { return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/") }

func main() {
	seed := flag.Uint64("seed", 1, "of the sample")
	count := flag.Int("count", 30, "mutants to try")
	packages := flag.String("packages", ".", "expression for the packages to draw from, such as ^lp")
	kinds := flag.String("kinds", ".", "expression for the kinds: rounding, context, arithmetic, comparison, constant, logic, statement")
	at := flag.String("at", "", "expression for places such as lp/star.go:231: tries every mutant there and no sample")
	floor := flag.Float64("floor", 0, "fails where a smaller share is killed")
	list := flag.Bool("list", false, "prints the mutants and tries none")
	flag.Parse()
	all, err := load()
	check(err)
	in, kind := regexp.MustCompile(*packages), regexp.MustCompile(*kinds)
	all = slices.DeleteFunc(all, func(p *Package) bool {
		maps.DeleteFunc(p.mutants, func(k string, _ []Mutant) bool { return !kind.MatchString(k) })
		return len(p.mutants) == 0
	})
	r := runner{all: all, limit: map[string]time.Duration{}}
	r.dir, err = os.MkdirTemp("", "mutate")
	check(err)
	defer os.RemoveAll(r.dir)
	var todo func() (Mutant, bool)
	if *at != "" {
		todo = every(all, regexp.MustCompile(*at))
		*count = -1
	} else {
		todo = sample(slices.DeleteFunc(slices.Clone(all), func(p *Package) bool { return !in.MatchString(p.rel()) }), rand.New(rand.NewPCG(*seed, 0)))
	}
	tried, killed := map[string]int{}, map[string]int{}
	survived := 0
	for n := 0; n != *count; {
		m, ok := todo()
		if !ok {
			break
		}
		if *list {
			fmt.Println(m)
			n++
			continue
		}
		by, valid, err := r.try(m)
		check(err)
		if !valid {
			continue
		}
		n++
		tried[m.kind]++
		if by == "" {
			survived++
			fmt.Printf("SURVIVED %s\n", m)
			continue
		}
		killed[m.kind]++
		fmt.Printf("killed   %s (%s)\n", m, by)
	}
	total := 0
	for _, k := range slices.Sorted(maps.Keys(tried)) {
		total += tried[k]
		fmt.Printf("%s: %d of %d killed\n", k, killed[k], tried[k])
	}
	if total > 0 {
		share := 1 - float64(survived)/float64(total)
		fmt.Printf("%d mutants, %.0f %% killed\n", total, 100*share)
		if share < *floor {
			os.RemoveAll(r.dir)
			os.Exit(1)
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
}

// load reads the packages of the library: not the examples, nor what is for tests.
func load() ([]*Package, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Module", "./...").Output()
	if err != nil {
		return nil, err
	}
	var all []*Package
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		p := &Package{mutants: map[string][]Mutant{}}
		if err := d.Decode(p); err != nil {
			return nil, err
		}
		if aside.MatchString(p.rel()) {
			continue
		}
		for _, f := range p.GoFiles {
			if err := p.read(f); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

var aside = regexp.MustCompile(`^examples|^internal/(testkit|robust|arch|outward)|test$`)

// sample returns mutants drawn from packages in turn, each at most once.
func sample(all []*Package, rng *rand.Rand) func() (Mutant, bool) {
	var turn []*Package
	drawn := map[string]bool{}
	return func() (Mutant, bool) {
		for range 1000 {
			if len(turn) == 0 {
				turn = slices.Clone(all)
				rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
			}
			if len(turn) == 0 {
				break
			}
			p := turn[0]
			turn = turn[1:]
			kinds := slices.Sorted(maps.Keys(p.mutants))
			ms := p.mutants[kinds[rng.IntN(len(kinds))]]
			m := ms[rng.IntN(len(ms))]
			key := fmt.Sprint(m.file, m.from, m.new)
			if !drawn[key] {
				drawn[key] = true
				return m, true
			}
		}
		return Mutant{}, false
	}
}

// every returns the mutants of the places.
func every(all []*Package, at *regexp.Regexp) func() (Mutant, bool) {
	var ms []Mutant
	for _, p := range all {
		for _, k := range slices.Sorted(maps.Keys(p.mutants)) {
			for _, m := range p.mutants[k] {
				if at.MatchString(fmt.Sprintf("%s:%d", m.file, m.line)) {
					ms = append(ms, m)
				}
			}
		}
	}
	return func() (Mutant, bool) {
		if len(ms) == 0 {
			return Mutant{}, false
		}
		m := ms[0]
		ms = ms[1:]
		return m, true
	}
}

var comparisons = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL}
var arithmetic = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL}
var logic = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}

// opposite are functions and modes of the other direction, and what may stand before
// them.
var opposite = map[string]string{
	"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min", "math.Ceil": "math.Floor", "math.Floor": "math.Ceil",
	"big.ToNegativeInf": "big.ToPositiveInf", "big.ToPositiveInf": "big.ToNegativeInf", "slices.Min": "slices.Max", "slices.Max": "slices.Min",
	"directed.Next": "directed.Prev", "directed.Prev": "directed.Next", "Next": "Prev", "Prev": "Next",
}

// across is the name of the same function in the other direction, if it has one.
func across(name string) (string, bool) {
	if o, ok := opposite[name]; ok {
		return o, true
	}
	if s, ok := strings.CutSuffix(name, "Up"); ok && s != "" {
		return s + "Down", true
	}
	if s, ok := strings.CutSuffix(name, "Down"); ok && s != "" {
		return s + "Up", true
	}
	return "", false
}

// context tells whether an expression looks like a context.Context.
func isContext(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "ctx"
	case *ast.SelectorExpr:
		return x.Sel.Name == "ctx" || x.Sel.Name == "late"
	}
	return false
}

// read finds the mutants of a file.
func (p *Package) read(name string) error {
	path := filepath.Join(p.Dir, name)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	imported := slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"context"` })
	add := func(kind string, from, to token.Pos, text string) {
		a, b := set.Position(from).Offset, set.Position(to).Offset
		p.mutants[kind] = append(p.mutants[kind], Mutant{p, filepath.Join(p.rel(), name), set.Position(from).Line, a, b, string(src[a:b]), text, kind})
	}
	text := func(n ast.Node) string { return string(src[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]) }
	operator := func(x *ast.BinaryExpr) {
		for kind, swap := range map[string]map[token.Token]token.Token{"comparison": comparisons, "arithmetic": arithmetic, "logic": logic} {
			if to, ok := swap[x.Op]; ok {
				add(kind, x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), to.String())
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			if s, ok := x.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Err" && isContext(s.X) {
				add("context", x.Pos(), x.End(), "error(nil)")
			}
			for _, a := range x.Args {
				if imported && isContext(a) {
					add("context", a.Pos(), a.End(), "context.Background()")
				}
			}
			if i, ok := x.Fun.(*ast.Ident); ok {
				if o, ok := across(i.Name); ok {
					add("rounding", i.Pos(), i.End(), o)
				}
			}
		case *ast.SelectorExpr:
			if o, ok := across(text(x)); ok {
				add("rounding", x.Pos(), x.End(), o)
			}
		case *ast.BinaryExpr:
			operator(x)
		case *ast.BasicLit:
			switch x.Kind {
			case token.INT:
				add("constant", x.Pos(), x.End(), "(2*"+x.Value+"+1)")
			case token.FLOAT:
				add("constant", x.Pos(), x.End(), "("+x.Value+"*2)")
			}
		case *ast.ExprStmt:
			add("statement", x.Pos(), x.End(), "")
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE && text(x.Lhs[0]) != "_" {
				add("statement", x.Pos(), x.End(), "")
			}
		case *ast.IncDecStmt:
			add("statement", x.Pos(), x.End(), "")
		}
		return true
	})
	return nil
}

// runner tries mutants.
type runner struct {
	all   []*Package
	dir   string
	limit map[string]time.Duration // of a package's tests
}

// try tells what killed m, "" where nothing did, and whether it compiles.
func (r *runner) try(m Mutant) (by string, valid bool, err error) {
	path := filepath.Join(m.pkg.Module.Dir, m.file)
	src, err := os.ReadFile(path)
	if err != nil {
		return "", false, err
	}
	changed, overlay := filepath.Join(r.dir, "changed.go"), filepath.Join(r.dir, "overlay.json")
	text := string(src[:m.from]) + m.new + string(src[m.to:])
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", false, err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", false, err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", false, err
	}
	if exec.Command("go", "build", "-overlay", overlay, "-o", os.DevNull, m.pkg.ImportPath).Run() != nil {
		return "", false, nil
	}
	if m.kind == "context" {
		if by, err = r.test("the watch on contexts", []string{"-run", "^TestContexts_", "./internal/robust"}, overlay, "METRICDP_LONG=1"); by != "" || err != nil {
			return by, true, err
		}
	}
	lines := strings.SplitAfter(string(src), "\n")
	if strings.Contains(lines[m.line-1], "directed.") {
		watch := []string{"-tags", "coarse", "-run", "^TestEnds", "./internal/outward"}
		if by, err = r.test("the watch", watch, overlay, "METRICDP_SITE=^"+regexp.QuoteMeta(fmt.Sprintf("%s:%d", m.file, m.line))+"$"); by != "" || err != nil {
			return by, true, err
		}
	}
	for p := m.pkg.ImportPath; strings.HasPrefix(p, m.pkg.Module.Path); p = above(p) {
		i := slices.IndexFunc(r.all, func(q *Package) bool { return q.ImportPath == p })
		if i < 0 || len(r.all[i].TestGoFiles)+len(r.all[i].XTestGoFiles) == 0 {
			continue
		}
		if by, err = r.test(r.all[i].rel(), []string{"-failfast", p}, overlay); by != "" || err != nil || p != m.pkg.ImportPath {
			break
		}
	}
	return by, true, err
}

func above(p string) string { return p[:max(0, strings.LastIndex(p, "/"))] }

// test runs go test and returns name where it fails on the mutant. What it may take is
// six times what it takes without it, and a minute for the compiler.
func (r *runner) test(name string, args []string, overlay string, env ...string) (by string, err error) {
	run := func(limit time.Duration, overlay ...string) (bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		c := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-short", "-vet=off", "-count=1", "-timeout", limit.String()}, overlay, args)...)
		c.Env = append(os.Environ(), env...)
		c.WaitDelay = 10 * time.Second
		err := c.Run()
		var failed *exec.ExitError
		if err == nil || errors.As(err, &failed) || ctx.Err() != nil {
			return err == nil, nil
		}
		return false, err
	}
	if _, ok := r.limit[name]; !ok {
		start := time.Now()
		ok, err := run(20 * time.Minute)
		if err != nil || !ok {
			return "", errors.Join(err, fmt.Errorf("%s fails without a change", name))
		}
		r.limit[name] = 6*time.Since(start) + time.Minute
	}
	if ok, err := run(r.limit[name], "-overlay", overlay); ok || err != nil {
		return "", err
	}
	return name, nil
}
