// Package arch keeps the house in order: it holds no code, only the test that
// the packages lie in the rooms listed here and import downward only.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

const module = "github.com/metricdp/metricdp"

// root is the folder of the module.
var root = filepath.Join("..", "..")

// files returns the paths from the root of the repository's files, but for hidden ones and those
// in out, which git ignores.
func files(t *testing.T) (all []string) {
	t.Helper()
	testkit.Check(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && path != "." || name == "out"):
			return fs.SkipDir
		case !d.IsDir():
			all = append(all, path)
		}
		return nil
	}))
	return all
}

// rooms lists every public package and what it may use of ours, directly or
// through others, besides internal/. A new package or arrow is a decision
// about the architecture first and a line here second.
var rooms = map[string][]string{
	"metric":                     {},
	"entropy":                    {"metric", "entropy/scale"},
	"entropy/scale":              {"metric"},
	"entropy/families":           {"metric", "wasserstein", "entropy/scale"}, // W1 for its net of measures
	"walk":                       {},
	"tsp":                        {"metric"},
	"wasserstein":                {"metric"},
	"mechanism":                  {"metric"},
	"mechanism/exponential":      {"metric", "wasserstein", "entropy", "entropy/scale", "mechanism"},
	"mechanism/exponential/kl10": {"metric", "wasserstein", "entropy/scale", "mechanism"},
	"mechanism/additive":         {"metric", "mechanism"},
	"mechanism/words":            {"metric", "mechanism", "mechanism/additive"},
	"mechanism/measure/domain":   {"metric", "walk", "tsp"},
	"mechanism/measure":          {"metric", "entropy/scale", "entropy/families", "walk", "tsp", "wasserstein", "mechanism", "mechanism/measure/domain"},
	"mechanism/measure/private":  {"metric", "entropy/scale", "entropy/families", "walk", "tsp", "wasserstein", "mechanism", "mechanism/measure/domain"},
	"mechanism/measure/table":    {"metric", "entropy/scale", "entropy/families", "walk", "tsp", "wasserstein", "mechanism", "mechanism/measure", "mechanism/measure/domain"},
	"mechanism/emd":              {"metric", "mechanism", "mechanism/emd/accountant"},
	"mechanism/emd/query":        {"metric", "mechanism", "mechanism/additive", "mechanism/emd", "mechanism/emd/accountant"},
	"mechanism/emd/frequency":    {"metric", "wasserstein", "mechanism", "mechanism/emd", "mechanism/emd/accountant"},
	"mechanism/emd/distribution": {"metric", "wasserstein", "mechanism", "mechanism/emd", "mechanism/emd/accountant"},
	"mechanism/emd/accountant":   {"metric", "mechanism"},
	"lp":                         {"metric", "wasserstein", "entropy", "entropy/scale", "mechanism", "mechanism/exponential", "mechanism/exponential/kl10"}, // Choose compares them
	"lp/anywhere":                {"metric", "wasserstein", "entropy", "entropy/scale", "mechanism", "mechanism/additive", "mechanism/exponential", "mechanism/exponential/kl10", "lp"},

	// Kits that test implementations of the interfaces of these packages.
	"metric/metrictest":       {"metric"},
	"mechanism/mechanismtest": {"metric", "mechanism"},
}

// kits are the packages for tests alone, the only ones that may use testing.
var kits = []string{"internal/testkit", "examples/internal/demotest", "examples/papers/internal/exhibittest"}

// folders are all that may lie at the top, besides hidden ones and out, which git ignores.
var folders = []string{"metric", "entropy", "walk", "tsp", "wasserstein", "mechanism", "lp", "internal", "examples", "out"}

// pkg is the part of `go list -json` that the rules read.
type pkg struct {
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
	Deps                               []string
	Error                              *struct{ Err string }
}

// room is the path of the package inside the module, and whether it is ours.
func room(path string) (string, bool) {
	rel, ok := strings.CutPrefix(path, module+"/")
	return rel, ok
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// hidden tells whether a package lies in a folder internal, of the module or of
// one of its rooms: Go lets nobody outside that room import it.
func hidden(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// violations returns one line for every rule that p breaks.
func violations(p pkg, standard map[string]bool) []string {
	var bad []string
	say := func(words ...string) { bad = append(bad, p.ImportPath+" "+strings.Join(words, " ")) }
	name, _ := room(p.ImportPath)
	example := within(name, "examples")
	allowed, public := rooms[name]
	if !public && !hidden(name) && !within(name, "examples") {
		say("has no room in this test")
	}
	for _, d := range p.Deps {
		if public {
			if r, ours := room(d); ours && !hidden(r) && !slices.Contains(allowed, r) {
				say("may not depend on", r)
			}
		}
		if r, ours := room(d); ours && within(name, "internal") && !within(name, "internal/testkit") && !within(r, "internal") {
			say("lies below", r)
		}
		if d == "testing" && !slices.Contains(kits, name) {
			say("depends on testing: a test kit is in the library")
		}
		if !example && within(d, "gonum.org/v1/plot") {
			say("depends on", d, "which is for the examples' pictures")
		}
	}
	for _, d := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
		_, ours := room(d)
		switch {
		case ours, standard[d], d == "C", within(d, "gonum.org/v1/gonum"), d == "golang.org/x/exp/constraints":
		case example && within(d, "gonum.org/v1/plot"):
		default:
			say("imports", d, "which is not among the module's dependencies")
		}
	}
	for _, d := range p.Imports { // tests may compare with them
		if name == "internal/testkit" {
			break
		}
		if d == "math/rand" || d == "gonum.org/v1/gonum/stat/distuv" {
			say("draws from", d, "and not from internal/random")
		}
	}
	return bad
}

// TestImports_PointDownward reads the imports of every package of the module off the go command.
func TestImports_PointDownward(t *testing.T) {
	touch(t)
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Imports,TestImports,XTestImports,Deps,Error", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var ours []pkg
	standard := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		standard[p.ImportPath] = p.Standard
		if _, ok := room(p.ImportPath); ok {
			ours = append(ours, p)
		}
	}
	// What only tests import is not in -deps; the standard library's paths
	// have no dot in their first element.
	for _, p := range ours {
		for _, d := range slices.Concat(p.TestImports, p.XTestImports) {
			if first, _, _ := strings.Cut(d, "/"); !strings.Contains(first, ".") {
				standard[d] = true
			}
		}
	}
	if len(ours) < 5 {
		t.Fatalf("go list found %d packages of %s", len(ours), module)
	}
	for _, p := range ours {
		if p.Error != nil {
			t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		for _, v := range violations(p, standard) {
			t.Error(v)
		}
	}
}

// TestFolders_AreTheFixedOnes: nothing else, and no Go file, at the top.
func TestFolders_AreTheFixedOnes(t *testing.T) {
	for _, e := range testkit.Must(os.ReadDir(root)) {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."):
		case e.IsDir() && !slices.Contains(folders, name):
			t.Errorf("folder %s/ has no room in this test", name)
		case !e.IsDir() && filepath.Ext(name) == ".go":
			t.Errorf("Go file %s at the top", name)
		}
	}
}

// TestViolations_AreSeen tests the test: each rule, broken once.
func TestViolations_AreSeen(t *testing.T) {
	std := map[string]bool{"fmt": true, "testing": true, "math/rand": true}
	for _, c := range []struct {
		name string
		p    pkg
		want string // "" for none
	}{
		{"metric", pkg{Deps: []string{"fmt", module + "/internal/fault"}, Imports: []string{"fmt", module + "/internal/fault"}}, ""},
		{"examples/location", pkg{Imports: []string{"gonum.org/v1/plot"}, Deps: []string{module + "/lp", "gonum.org/v1/plot"}}, ""},
		{"walk", pkg{TestImports: []string{"gonum.org/v1/gonum/stat/distuv"}}, ""},
		{"wasserstein", pkg{Deps: []string{module + "/wasserstein/internal/simplex"}}, ""},
		{"wasserstein/simplex", pkg{}, "has no room"},
		{"internal/testkit", pkg{Imports: []string{"gonum.org/v1/gonum/stat/distuv"}}, ""},
		{"mechanism", pkg{Deps: []string{module + "/mechanism/additive"}}, "may not depend on mechanism/additive"},
		{"walk", pkg{Deps: []string{module + "/metric"}}, "may not depend on metric"},
		{"examples/internal/demotest", pkg{Deps: []string{"testing", "gonum.org/v1/plot"}}, ""},
		{"metric", pkg{Deps: []string{"testing"}}, "depends on testing"},
		{"lp", pkg{Deps: []string{"gonum.org/v1/plot/vg"}}, "for the examples' pictures"},
		{"lp", pkg{XTestImports: []string{"github.com/stretchr/testify"}}, "not among the module's dependencies"},
		{"tsp", pkg{Imports: []string{"golang.org/x/exp/slices"}}, "not among the module's dependencies"},
		{"internal/random", pkg{Imports: []string{"math/rand"}}, "not from internal/random"},
		{"internal/csvfile", pkg{Deps: []string{module + "/metric"}}, "lies below metric"},
	} {
		c.p.ImportPath = module + "/" + c.name
		got := violations(c.p, std)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s %+v: %q, want %q", c.name, c.p, got, c.want)
		}
	}
}

// touch looks at every Go file. The go command reuses a test's last result while the
// files that the test itself looked at are unchanged, and it cannot see what its child
// process reads.
func touch(t *testing.T) {
	for _, path := range files(t) {
		if filepath.Ext(path) == ".go" {
			testkit.Must(os.Stat(filepath.Join(root, path)))
		}
	}
}

// TestFiles_ShareNoPrefix: three files of a folder whose names begin alike, as in
// simplex_start.go, are a package that has not been made yet.
func TestFiles_ShareNoPrefix(t *testing.T) {
	count, read := map[string]int{}, 0
	for _, path := range files(t) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		read++
		if prefix, _, cut := strings.Cut(filepath.Base(path), "_"); cut {
			begin := filepath.Join(filepath.Dir(path), prefix)
			if count[begin]++; count[begin] == 3 {
				t.Errorf("three files begin with %s_", begin)
			}
		}
	}
	if read < 200 {
		t.Errorf("%d files", read)
	}
}
