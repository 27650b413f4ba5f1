// Program mutate changes single tokens of the library, one at a time, and prints which of
// the changes no test of the package sees. It reads the module in the current folder and
// changes no file of it: the go command gets changed files by -overlay. .ci/mutate runs it.
//
// Mutants are drawn by a seed, package after package, in each a kind after the other, by a
// hash of package, function, kind and number there: a change elsewhere leaves a sample as it
// is. A package without tests has those of the nearest above it; a change of a context is
// also for internal/robust, one in a line that names package directed for internal/outward.
//
// github.com/go-gremlins/gremlins takes all mutants of a package or none, and has neither a
// seed nor the directions of rounding and the contexts, in which it matters most.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// pairs maps the words of a list to each other, two and two.
func pairs(list string) map[string]string {
	to := map[string]string{}
	for pair := range slices.Chunk(strings.Fields(list), 2) {
		to[pair[0]], to[pair[1]] = pair[1], pair[0]
	}
	return to
}

var (
	operators = map[string]map[string]string{"comparison": pairs("< <= > >= == !="), "arithmetic": pairs("+ - * /"), "logic": pairs("&& ||")}

	// opposite are functions and modes of the other direction.
	opposite = pairs("min max math.Min math.Max slices.Min slices.Max math.Ceil math.Floor big.ToNegativeInf big.ToPositiveInf " +
		"directed.Next directed.Prev Next Prev")

	isContext = regexp.MustCompile(`^(.*\.)?ctx$|\.late$`)
	aside     = regexp.MustCompile(`^(examples|internal/(testkit|robust|arch|outward|tools))|test$|/testdata/`)
)

// across is the name of the same function in the other direction, or "".
func across(name string) string {
	for _, ends := range [][2]string{{"Up", "Down"}, {"Down", "Up"}} {
		if stem, ok := strings.CutSuffix(name, ends[0]); ok && stem != "" {
			return stem + ends[1]
		}
	}
	return opposite[name]
}

// mutant is a change of a file.
type mutant struct {
	file, src      string
	line, from, to int // from, to: offsets
	text, key      string
	hash           [sha256.Size]byte
}

// find returns the mutants of a file by kind.
func find(file, seed string) map[string][]*mutant {
	raw, err := os.ReadFile(file)
	check(err)
	set, src := token.NewFileSet(), string(raw)
	tree, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	check(err)
	at := func(p token.Pos) int { return set.Position(p).Offset }
	all, count := map[string][]*mutant{}, map[string]int{}
	for _, d := range tree.Decls {
		name := "declarations"
		if f, ok := d.(*ast.FuncDecl); ok {
			if name = f.Name.Name; f.Recv != nil {
				name = src[at(f.Recv.List[0].Type.Pos()):at(f.Recv.List[0].Type.End())] + "." + name
			}
		}
		add := func(kind string, from, to token.Pos, text string) {
			place := name + " " + kind
			count[place]++
			key := fmt.Sprintf("%s %s#%d", filepath.Dir(file), place, count[place])
			all[kind] = append(all[kind], &mutant{file, src, set.Position(from).Line, at(from), at(to), text, key, sha256.Sum256([]byte(seed + key))})
		}
		ast.Inspect(d, func(n ast.Node) bool {
			text := func(n ast.Node) string { return src[at(n.Pos()):at(n.End())] }
			switch x := n.(type) {
			case *ast.Field, *ast.ImportSpec:
				return false
			case *ast.CallExpr:
				if call, ok := strings.CutSuffix(text(x), ".Err()"); ok && isContext.MatchString(call) {
					add("context", x.Pos(), x.End(), "error(nil)")
				}
				for _, a := range x.Args {
					if isContext.MatchString(text(a)) {
						add("context", a.Pos(), a.End(), "context.Background()")
					}
				}
				if i, ok := x.Fun.(*ast.Ident); ok && across(i.Name) != "" {
					add("rounding", i.Pos(), i.End(), across(i.Name))
				}
			case *ast.SelectorExpr:
				if o := across(text(x)); o != "" {
					add("rounding", x.Pos(), x.End(), o)
				}
			case *ast.BinaryExpr:
				for kind, to := range operators {
					if o, ok := to[x.Op.String()]; ok {
						add(kind, x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), o)
					}
				}
			case *ast.BasicLit:
				switch x.Kind {
				case token.INT:
					add("constant", x.Pos(), x.End(), "(2*"+x.Value+"+1)")
				case token.FLOAT:
					add("constant", x.Pos(), x.End(), "("+x.Value+"*2)")
				}
			case *ast.ExprStmt, *ast.IncDecStmt:
				add("statement", x.Pos(), x.End(), "")
			case *ast.AssignStmt:
				if x.Tok != token.DEFINE && text(x.Lhs[0]) != "_" {
					add("statement", x.Pos(), x.End(), "")
				}
			}
			return true
		})
	}
	return all
}

// turns returns the mutants of lists, of each in turn, those with the least hash first.
func turns(lists [][]*mutant) (order []*mutant) {
	slices.SortFunc(lists, func(a, b []*mutant) int { return slices.Compare(a[0].hash[:], b[0].hash[:]) })
	for i := 0; len(lists) > 0; i++ {
		lists = slices.DeleteFunc(lists, func(list []*mutant) bool { return i >= len(list) })
		for _, list := range lists {
			order = append(order, list[i])
		}
	}
	return order
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// try runs the tests that m is for, and tells whether it compiles and whether one fails.
func try(dir string, m *mutant, limit time.Duration) (compiles, killed bool) {
	changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "t.test")
	check(os.WriteFile(changed, []byte(m.src[:m.from]+m.text+strings.Repeat("\n", strings.Count(m.src[m.from:m.to], "\n"))+m.src[m.to:]), 0o600))
	path, err := filepath.Abs(m.file)
	check(err)
	check(os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, path, changed), 0o600))
	pkg := filepath.Dir(m.file)
	if exec.Command("go", "build", "-overlay", overlay, "./"+pkg).Run() != nil {
		return false, false
	}
	for tests, _ := filepath.Glob(filepath.Join(pkg, "*_test.go")); tests == nil && pkg != "."; tests, _ = filepath.Glob(filepath.Join(pkg, "*_test.go")) {
		pkg = filepath.Dir(pkg)
	}
	type run struct {
		pkg   string
		flags []string
	}
	runs := []run{{pkg, nil}}
	if strings.Contains(m.key, " context#") {
		runs = append(runs, run{"internal/robust", []string{"-run=^TestContexts_"}})
	}
	if strings.Contains(strings.Split(m.src, "\n")[m.line-1], "directed.") {
		runs = append(runs, run{"internal/outward", []string{"-tags=coarse", "-run=^TestEnds"}})
	}
	for _, r := range runs {
		args := slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary, "-overlay", overlay}, slices.DeleteFunc(slices.Clone(r.flags), func(f string) bool { return !strings.HasPrefix(f, "-tags") }), []string{"./" + r.pkg})
		check(exec.Command("go", args...).Run())
		args = []string{"-test.short", "-test.failfast"}
		for _, f := range r.flags {
			if rest, ok := strings.CutPrefix(f, "-run"); ok {
				args = append(args, "-test.run"+rest)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		c := exec.CommandContext(ctx, binary, args...)
		c.Dir = r.pkg
		failed := c.Run() != nil // or hangs
		cancel()
		if failed {
			return true, true
		}
	}
	return true, false
}

func main() {
	log.SetFlags(0)
	seed := flag.String("seed", "1", "of the sample")
	count := flag.Int("count", 30, "mutants to try")
	packages := flag.String("packages", ".", "expression for the packages to draw from, such as ^lp")
	kinds := flag.String("kinds", ".", "expression for the kinds: rounding, context, arithmetic, comparison, constant, logic, statement")
	at := flag.String("at", "", "expression for places such as lp/star.go:231: tries every mutant there and no sample")
	floor := flag.Float64("floor", 0, "fails where a smaller share is killed")
	limit := flag.Duration("limit", 5*time.Minute, "a package's tests that take longer have seen the mutant")
	flag.Parse()
	in, kind, place := regexp.MustCompile(*packages), regexp.MustCompile(*kinds), regexp.MustCompile(*at)
	list, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, "./...").Output()
	check(err)
	here, err := os.Getwd()
	check(err)
	byPackage := map[string]map[string][]*mutant{}
	for path := range strings.FieldsSeq(string(list)) {
		file, err := filepath.Rel(here, path)
		check(err)
		dir := filepath.Dir(file)
		if aside.MatchString(dir) || *at == "" && !in.MatchString(dir) {
			continue
		}
		if byPackage[dir] == nil {
			byPackage[dir] = map[string][]*mutant{}
		}
		for k, ms := range find(file, *seed) {
			ms = slices.DeleteFunc(ms, func(m *mutant) bool {
				return !kind.MatchString(k) || !place.MatchString(fmt.Sprintf("%s:%d", m.file, m.line))
			})
			byPackage[dir][k] = append(byPackage[dir][k], ms...)
		}
	}
	var lists [][]*mutant
	for _, byKind := range byPackage {
		var one [][]*mutant
		for _, ms := range byKind {
			if slices.SortFunc(ms, func(a, b *mutant) int {
				return cmp.Or(slices.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.file, b.file))
			}); len(ms) > 0 {
				one = append(one, ms)
			}
		}
		if len(one) > 0 {
			lists = append(lists, turns(one))
		}
	}
	dir, err := os.MkdirTemp("", "mutate") // in a folder that .ci/mutate removes
	check(err)
	tried, seen := 0, 0
	for _, m := range turns(lists) {
		if *at == "" && tried == *count {
			break
		}
		compiles, killed := try(dir, m, *limit)
		if !compiles {
			continue
		}
		tried++
		word := "SURVIVED"
		if killed {
			seen, word = seen+1, "killed"
		}
		fmt.Printf("%-8s %s:%d %s: %s -> %s\n", word, m.file, m.line, m.key, strings.Join(strings.Fields(m.src[m.from:m.to]), " "), m.text)
	}
	fmt.Printf("%d mutants, %d killed\n", tried, seen)
	if tried > 0 && float64(seen) < *floor*float64(tried) {
		os.Exit(1)
	}
}
