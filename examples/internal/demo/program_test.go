package demo

import (
	"context"
	"errors"
	"fmt"
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
		if err := p.Parse(); err != nil {
			return err
		}
		if p.Seed != 7 || p.In != "x.csv" || !p.Quiet || *n != 3 {
			t.Errorf("seed %d, in %q, quiet %v, n %d", p.Seed, p.In, p.Quiet, *n)
		}
		return nil
	}, "-seed", "7", "-in=x.csv", "-quiet", "-n", "3")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	status, stdout, stderr := runDemo(func(_ context.Context, p *Program) error {
		if p.Seed != 1 || p.Quiet {
			t.Errorf("defaults: seed %d, quiet %v", p.Seed, p.Quiet)
		}
		return p.Parse()
	}, "-help")
	if status != 0 || stderr != "" || !strings.Contains(stdout, "-seed") {
		t.Errorf("-help: status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestRun_BadInputIsOneLineAndStatus2(t *testing.T) {
	parse := func(_ context.Context, p *Program) error { return p.Parse() }
	fail := func(context.Context, *Program) error {
		return errors.Join(errors.New("first"), errors.New("second"))
	}
	for _, c := range []struct {
		run  func(context.Context, *Program) error
		args []string
		want string
	}{
		{parse, []string{"-sed", "1"}, "demo: flag provided but not defined: -sed (-help lists the flags)\n"},
		{parse, []string{"-seed", "x"}, "demo: invalid value \"x\" for flag -seed: parse error (-help lists the flags)\n"},
		{parse, []string{"cities.csv"}, "demo: unexpected argument \"cities.csv\" (-help lists the flags)\n"},
		{fail, nil, "demo: first; second\n"},
	} {
		if status, stdout, stderr := runDemo(c.run, c.args...); status != 2 || stderr != c.want || stdout != "" {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

func TestRun_Interrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs strings.Builder
	status := Run(ctx, "demo", nil, &out, &errs, func(ctx context.Context, _ *Program) error {
		cancel()
		return fmt.Errorf("net: %w", ctx.Err())
	})
	if status != 130 || errs.String() != "demo: interrupted\n" {
		t.Errorf("status %d, %q", status, errs.String())
	}
}

func TestProgram_Input(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.csv")
	testkit.Check(t, os.WriteFile(file, []byte("mine"), 0o644))
	read := func(_ context.Context, p *Program) error {
		p.ReadsFile("anything")
		if err := p.Parse(); err != nil {
			return err
		}
		f, name, err := p.Input("cities.csv", []byte("built in"))
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprint(p.Stdout, name+": ")
		_, err = io.Copy(p.Stdout, f)
		return err
	}
	for in, want := range map[string]string{"": "cities.csv: built in", file: file + ": mine", file + ".missing": ""} {
		status, stdout, stderr := runDemo(read, "-in", in)
		if stdout != want || (status == 0) != (want != "") || want == "" && !strings.Contains(stderr, "mine.csv.missing") {
			t.Errorf("-in %s: status %d, %q, want %q, %q", in, status, stdout, want, stderr)
		}
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

func TestProgram_WriteChart(t *testing.T) {
	dir := t.TempDir()
	write := func(_ context.Context, p *Program) error {
		return errors.Join(p.Parse(), p.WriteCharts("a.png", sample()), p.WriteCharts("a.svg", sample()), p.WriteCharts("a.gif", sample()))
	}
	if status, _, stderr := runDemo(write, "-out", dir); status != 2 || !strings.Contains(stderr, `not "gif"`) {
		t.Errorf("status %d, %q", status, stderr)
	}
	for file, magic := range map[string]string{"a.png": "\x89PNG", "a.svg": "<?xml"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.HasPrefix(string(b), magic) {
			t.Errorf("%s: %.8q, %v", file, b, err)
		}
	}
}
