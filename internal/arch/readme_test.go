package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// TestReadme_ProgramRuns runs the README's program and compares the first line
// of its output, which does not depend on chance, with what the README says.
func TestReadme_ProgramRuns(t *testing.T) {
	root := filepath.Join("..", "..")
	readme := testkit.Must(os.ReadFile(filepath.Join(root, "README.md")))
	m := regexp.MustCompile("(?s)```go\n(package main.*?)```\n\n    ([^\n]*)\n").FindSubmatch(readme)
	if m == nil {
		t.Fatal("README.md has no program followed by its output")
	}
	touch(t, root)
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, m[1], 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", file)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, rest, _ := strings.Cut(string(out), "\n")
	if first != string(m[2]) || !strings.HasSuffix(strings.TrimSpace(rest), "<nil>") {
		t.Errorf("the program prints\n%s\nthe README says\n%s", out, m[2])
	}
}
