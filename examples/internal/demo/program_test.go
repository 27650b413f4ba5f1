package demo

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// runDemo runs f as the example "demo" and returns what it printed.
func runDemo(f func(context.Context, *Program) error, args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(context.Background(), "demo", args, &out, &errs, f)
	return status, out.String(), errs.String()
}

func TestRun_Flags(t *testing.T) {
	status, _, stderr := runDemo(func(_ context.Context, p *Program) error {
		p.ReadsFile("anything")
		n := p.Flags.Int("n", 5, "count")
		err := p.Parse()
		if p.Seed != 7 || p.In != "x.csv" || !p.Quiet || *n != 3 {
			t.Errorf("seed %d, in %q, quiet %v, n %d", p.Seed, p.In, p.Quiet, *n)
		}
		return err
	}, "-seed", "7", "-in=x.csv", "-quiet", "-n", "3")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	_, _, stderr = runDemo(func(context.Context, *Program) error { return errors.Join(io.EOF, io.ErrNoProgress) })
	if want := "demo: EOF; " + io.ErrNoProgress.Error() + "\n"; stderr != want {
		t.Errorf("two errors: %q, want one line %q", stderr, want)
	}
}

func TestProgram_WriteFile(t *testing.T) {
	write := func(_ context.Context, p *Program) error {
		if err := p.Parse(); err != nil {
			return err
		}
		return p.WriteFile("a.txt", func(w io.Writer) error {
			_, err := io.WriteString(w, "text")
			return err
		})
	}
	check := func(path string) {
		t.Helper()
		if b, err := os.ReadFile(path); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "deep", "out")
	file := filepath.Join(dir, "a.txt")
	if status, stdout, _ := runDemo(write, "-out", dir); status != 0 || stdout != "wrote "+file+"\n" {
		t.Errorf("status %d, %q", status, stdout)
	}
	check(file)
	if _, stdout, _ := runDemo(write, "-out", dir, "-quiet"); stdout != "" {
		t.Errorf("-quiet printed %q", stdout)
	}

	t.Setenv("TMPDIR", t.TempDir())
	_, stdout, _ := runDemo(write, "-quiet")
	tmp, ok := strings.CutPrefix(strings.TrimSpace(stdout), "files go to ")
	if !ok || filepath.Dir(tmp) != os.TempDir() {
		t.Fatalf("a new folder was not printed: %q", stdout)
	}
	check(filepath.Join(tmp, "a.txt"))
}

// A folder that cannot be written is refused before the work, and one that can
// is left as it was.
func TestProgram_ChecksOutFirst(t *testing.T) {
	worked := false
	work := func(_ context.Context, p *Program) error {
		if err := p.Parse(); err != nil {
			return err
		}
		worked = true
		return nil
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	testkit.Check(t, os.WriteFile(file, nil, 0o644))
	for _, out := range []string{file, filepath.Join(file, "below")} {
		status, _, stderr := runDemo(work, "-out", out)
		if status != 2 || worked || !strings.HasPrefix(stderr, "demo: -out "+out+": ") {
			t.Errorf("-out %s: status %d, worked %v, %q", out, status, worked, stderr)
		}
	}
	status, _, stderr := runDemo(work, "-out", dir)
	entries, err := os.ReadDir(dir)
	if status != 0 || !worked || err != nil || len(entries) != 1 {
		t.Errorf("status %d, %q, %d entries, %v", status, stderr, len(entries), err)
	}
}
