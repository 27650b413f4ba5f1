package arch

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// fusable are the files where a compiler may fuse x*y+z into one rounding, with the reason why
// nothing proved depends on it. A folder stands for its files. The rule is in package directed.
var fusable = map[string]string{
	"examples":                "no library code",
	"internal/testkit":        "no library code",
	"mechanism/mechanismtest": "statistics, with error far above rounding",

	"internal/ipm": solver,

	"mechanism/exponential/internal/cells":        "weights, whose exact values are audited",
	"mechanism/measure/table/internal/population": "rows that fit public counts, and levels that a ledger of whole quanta holds",

	"internal/random/variates.go": "real noise, for simulation",
	"mechanism/additive/arc.go":   quantiles,
	"mechanism/additive/knorm.go": quantiles,
}

const (
	solver    = "an iteration that nothing trusts: its result is proved elsewhere"
	quantiles = "what a mechanism is said to do on average, and no level"
)

// strict are files of fusable folders where the rule holds all the same.
var strict = []string{"internal/ipm/certificate.go", "internal/ipm/constopt/certificate.go", "internal/ipm/lift.go", "internal/ipm/solve.go"}

// TestFused_NoProductOfAProof compiles the module for machines that fuse, and
// fails for every fused product outside the files above. It takes a compiler for
// each of the architectures in METRICDP_FUSED, such as "arm64", and minutes where
// the standard library has not been compiled for them.
func TestFused_NoProductOfAProof(t *testing.T) {
	arches := strings.Fields(os.Getenv("METRICDP_FUSED"))
	if len(arches) == 0 {
		t.Skip("METRICDP_FUSED names no architecture")
	}
	root := testkit.Must(filepath.Abs("../.."))
	for _, arch := range arches {
		cmd := exec.Command("go", "build", "-gcflags="+module+"/...=-S", "./...")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
		listing, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", arch, err, listing)
		}
		known := 0
		for _, at := range fusedAt(listing) {
			rel, err := filepath.Rel(root, at.Filename)
			if err != nil || strings.HasPrefix(rel, "..") {
				continue // inlined from the standard library
			}
			rel = filepath.ToSlash(rel)
			line, harmless := readLine(t, at)
			if strings.Contains(line, "math.FMA") {
				known++
			} else if !harmless && !mayFuse(rel) {
				t.Errorf("%s fuses a product at %s:%d: %s", arch, rel, at.Line, strings.TrimSpace(line))
			}
		}
		if known == 0 { // TwoProd asks for one
			t.Errorf("%s: no fused instruction was recognized", arch)
		}
	}
}

// fusedAt returns where a listing of the compiler has fused instructions, once each.
func fusedAt(listing []byte) []token.Position {
	instruction := regexp.MustCompile(`^\s+0x[0-9a-f]+ \d+ \(([^()]+):(\d+)\)\s+(FN?M(ADD|SUB)[DS]?|VFN?M(ADD|SUB)\d+S[DS])\s`)
	seen := map[token.Position]bool{}
	var out []token.Position
	for line := range bytes.Lines(listing) {
		m := instruction.FindSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := constant.Uint64Val(constant.MakeFromLiteral(string(m[2]), token.INT, 0))
		at := token.Position{Filename: string(m[1]), Line: int(n)}
		if !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	return out
}

func mayFuse(file string) bool {
	if slices.Contains(strict, file) {
		return false
	}
	for name := range fusable {
		if within(file, name) {
			return true
		}
	}
	return false
}

// readLine returns a line of a file, and whether it has products and all of them
// are exact: one factor is a power of two, so that fusing changes nothing.
func readLine(t *testing.T, at token.Position) (line string, exact bool) {
	t.Helper()
	src := testkit.Must(os.ReadFile(at.Filename))
	line = strings.Split(string(src), "\n")[at.Line-1]
	fset := token.NewFileSet()
	file := testkit.Must(parser.ParseFile(fset, at.Filename, src, parser.SkipObjectResolution))
	return line, exactProducts(fset, file, at.Line)
}

// exactProducts tells whether a line has products or quotients by a constant power
// of two, and no other product among its terms.
func exactProducts(fset *token.FileSet, file *ast.File, line int) bool {
	exact, others := 0, 0
	term := func(e ast.Expr) {
		if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && fset.Position(b.OpPos).Line == line {
			switch {
			case b.Op == token.MUL && (powerOfTwo(b.X) || powerOfTwo(b.Y)), b.Op == token.QUO && powerOfTwo(b.Y):
				exact++
			case b.Op == token.MUL:
				others++
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.IndexExpr:
			return false // products of integers
		case *ast.BinaryExpr:
			if e.Op == token.ADD || e.Op == token.SUB {
				term(e.X)
				term(e.Y)
			}
		case *ast.AssignStmt:
			if e.Tok == token.ADD_ASSIGN || e.Tok == token.SUB_ASSIGN {
				term(e.Rhs[0])
			}
		}
		return true
	})
	return exact > 0 && others == 0
}

func powerOfTwo(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.INT && l.Kind != token.FLOAT {
		return false
	}
	v, _ := constant.Float64Val(constant.ToFloat(constant.MakeFromLiteral(l.Value, l.Kind, 0)))
	frac, _ := math.Frexp(v)
	return frac == 0.5
}

func TestFused_Reading(t *testing.T) {
	const listing = `
	0x001c 00028 (/m/directed.go:33)	FMADDD	F0, F2, F1, F2
	0x001c 00028 (/m/directed.go:33)	FMADDD	F0, F2, F1, F2
	0x0020 00032 (/m/a.go:5)	FNMSUBD	F3, F0, F1, F1
	0x0021 00033 (/m/b.go:7)	VFMADD231SD	X0, X1, X2
	0x0022 00034 (/m/b.go:8)	FMULD	F0, F1, F2
`
	if got := fusedAt([]byte(listing)); len(got) != 3 || got[2] != (token.Position{Filename: "/m/b.go", Line: 7}) {
		t.Errorf("fused at %v", got)
	}
	const src = `package p
var (
	a = x + 0x1p-49*math.Abs(y)
	b = lo + (hi-lo)/2
	c = x + 0x1p-49*y*z
	d = x + y
	e = x*3 + y
	f = float64(x*3) + 2*y
	g = x[i*n+j] - y/4
)`
	fset := token.NewFileSet()
	file := testkit.Must(parser.ParseFile(fset, "", src, 0))
	for line, want := range map[int]bool{3: true, 4: true, 5: false, 6: false, 7: false, 8: true, 9: true} {
		if exactProducts(fset, file, line) != want {
			t.Errorf("line %d: %v", line, !want)
		}
	}
	for name := range fusable {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Errorf("fusable names what is not there: %v", err)
		}
	}
	if !mayFuse("internal/ipm/step.go") || mayFuse("internal/ipm/certificate.go") || mayFuse("internal/exact/exp.go") {
		t.Error("mayFuse")
	}
}

// inexact is a random number in real arithmetic: its last bits are no part of what is proved.
var inexact = regexp.MustCompile(`\brandom\.(Uniform|Symmetric|Exponential|Laplace|Normals|FillNormal)\(|\.(Increments|NormFloat64|ExpFloat64|Float32)\(|\br(ng)?\.Float64\(|\b(n|noise\[.*\])\.[dD]raw\(`)

// simulated are the files of the library that draw such numbers, and why no release tells
// anything by them.
var simulated = map[string]string{
	"mechanism/emd/distribution/choose.go":                      "plans, before any data",
	"mechanism/emd/distribution/histogram.go":                   "the error of a release, from the release",
	"mechanism/measure/internal/column/globe.go":                "records within a cell, from a release",
	"mechanism/measure/internal/column/number.go":               "records within a cell, from a release",
	"mechanism/measure/internal/samples/families.go":            "records for tests",
	"mechanism/measure/table/internal/population/population.go": "rows, from a release",
	"mechanism/measure/table/internal/population/sweep.go":      "rows, from a release",
	"mechanism/words/kept.go":                                   "how often words stay, before any data",
	"walk/noise.go":                                             "Noise.Draw, for simulation",
	"walk/walk.go":                                              "Walk.Increments, for simulation",
}

// TestDraws_OfReleasesAreExact: no file of the library but those above draws in real arithmetic.
func TestDraws_OfReleasesAreExact(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || within(name, "internal") || within(name, "examples") {
			continue
		}
		for i, line := range strings.Split(page(name), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if !inexact.MatchString(code) {
				continue
			}
			if seen[name] = true; simulated[name] == "" {
				t.Errorf("%s:%d draws in real arithmetic: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
	for name := range simulated {
		if !seen[name] {
			t.Errorf("%s draws nothing in real arithmetic: it needs no reason", name)
		}
	}
}
