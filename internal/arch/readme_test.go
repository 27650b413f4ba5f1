package arch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// numbered is the output of a program with places, as {48.2 16.4}, numbered in the order
// in which they appear first: where they lie is random, which are the same is not.
func numbered(out string) string {
	var seen []string
	return regexp.MustCompile(`\{\S+ \S+\}`).ReplaceAllStringFunc(out, func(place string) string {
		if !slices.Contains(seen, place) {
			seen = append(seen, place)
		}
		return fmt.Sprintf("{place %d}", slices.Index(seen, place))
	})
}

// TestReadme_ProgramsRun runs the README's programs and compares what they print with
// what the README says.
func TestReadme_ProgramsRun(t *testing.T) {
	root := filepath.Join("..", "..")
	readme := testkit.Must(os.ReadFile(filepath.Join(root, "README.md")))
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```\n\n((?:    [^\n]*\n)+)").FindAllSubmatch(readme, -1)
	if len(programs) != 3 || strings.Count(string(readme), "```go") != len(programs) {
		t.Fatalf("README.md has %d programs followed by their output, want 3", len(programs))
	}
	touch(t, root)
	for i, m := range programs {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("program%d.go", i))
		if err := os.WriteFile(file, m[1], 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", file)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want := regexp.MustCompile("(?m)^    ").ReplaceAllString(string(m[2]), "")
		if numbered(string(out)) != numbered(want) {
			t.Errorf("program %d prints\n%s\nthe README says\n%s", i, out, want)
		}
	}
}
