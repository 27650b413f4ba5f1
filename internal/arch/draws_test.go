package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// inexact is a random number in real arithmetic: its last bits are no part of what is proved.
var inexact = regexp.MustCompile(`\brandom\.(Uniform|Symmetric|Exponential|Laplace|Normals|FillNormal)\(|\.(Increments|NormFloat64|ExpFloat64|Float32)\(|\br(ng)?\.Float64\(|\b(n|noise\[.*\])\.[dD]raw\(`)

// simulated are the files of the library that draw such numbers, and why no release tells
// anything by them.
var simulated = map[string]string{
	"mechanism/emd/distribution/finite.go":                      "plans, before any data",
	"mechanism/emd/distribution/histogram.go":                   "the error of a release, from the release",
	"mechanism/measure/internal/column/globe.go":                "records within a cell, from a release",
	"mechanism/measure/internal/column/number.go":               "records within a cell, from a release",
	"mechanism/measure/internal/samples/families.go":            "records for tests",
	"mechanism/measure/private/bound.go":                        "the mean error, before any data",
	"mechanism/measure/table/internal/population/population.go": "rows, from a release",
	"mechanism/measure/table/internal/population/sweep.go":      "rows, from a release",
	"mechanism/words/kept.go":                                   "how often words stay, before any data",
	"walk/noise.go":                                             "Noise.Draw, for simulation",
	"walk/walk.go":                                              "Walk.Increments, for simulation",
}

// TestDraws_OfReleasesAreExact: no file of the library but those above draws in real arithmetic.
func TestDraws_OfReleasesAreExact(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	for _, folder := range folders {
		if folder == "internal" || folder == "examples" || folder == "out" {
			continue
		}
		testkit.Check(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := filepath.ToSlash(testkit.Must(filepath.Rel(root, path)))
			for i, line := range strings.Split(string(testkit.Must(os.ReadFile(path))), "\n") {
				code, _, _ := strings.Cut(line, "//")
				if !inexact.MatchString(code) {
					continue
				}
				if seen[name] = true; simulated[name] == "" {
					t.Errorf("%s:%d draws in real arithmetic: %s", name, i+1, strings.TrimSpace(line))
				}
			}
			return nil
		}))
	}
	for name := range simulated {
		if !seen[name] {
			t.Errorf("%s draws nothing in real arithmetic: it needs no reason", name)
		}
	}
}
