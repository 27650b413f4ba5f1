// Package demotest is what the tests of the example programs share.
package demotest

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

// Program is an example under test.
type Program struct {
	Name string
	Main func(ctx context.Context, p *demo.Program) error // what it gives to demo.Main
	Ext  string                                           // of the files it reads, as in ".csv"
}

// run runs the program with these arguments. Its pictures are rough.
func (p Program) run(ctx context.Context, args []string) (status int, stdout, stderr string) {
	var o, e bytes.Buffer
	status = demo.Run(ctx, p.Name, args, &o, &e, func(ctx context.Context, d *demo.Program) error {
		d.Rough = true
		return p.Main(ctx, d)
	})
	return status, o.String(), e.String()
}

// Must runs the program with arguments that are right and returns the standard
// output.
func (p Program) Must(t *testing.T, args ...string) string {
	t.Helper()
	status, out, stderr := p.run(context.Background(), args)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d: %s", args, status, stderr)
	}
	return out
}

// Rejects fails t unless the program, run with the arguments of each entry,
// prints nothing but one line with the entry's key and exits with status 2.
func (p Program) Rejects(t *testing.T, bad map[string][]string) {
	t.Helper()
	for want, args := range bad {
		status, out, stderr := p.run(context.Background(), args)
		if status != 2 || out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q, want %q in one line", args, status, out, stderr, want)
		}
	}
}

// Agrees fails t unless the program has the flags that all examples share, and
// treats their misuse and an interrupt as all do.
func (p Program) Agrees(t *testing.T) {
	t.Helper()
	help := p.Must(t, "-help")
	for _, flag := range []string{"-seed ", "-out DIR", "-in FILE", "-quiet"} {
		if !strings.Contains(help, "\n  "+flag) {
			t.Errorf("no flag %s in\n%s", flag, help)
		}
	}
	p.Rejects(t, map[string][]string{
		"not defined: -color":          {"-color", "blue"},
		"flag -seed":                   {"-seed", "-1"},
		"unexpected argument \"blue\"": {"blue"},
	})
	for _, looks := range []int64{0, 1, 4, 16, 64, 512} {
		ctx := soon(looks)
		if status, _, stderr := p.run(ctx, []string{"-quiet", "-out", t.TempDir()}); ctx.Context.Err() != nil && (status != 130 || stderr != p.Name+": interrupted\n") {
			t.Errorf("interrupted after %d looks at the context: status %d, %q", looks, status, stderr)
		}
	}
}

// interrupted is a context that is canceled when it has been looked at so often.
type interrupted struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func soon(looks int64) *interrupted {
	c := &interrupted{}
	c.Context, c.cancel = context.WithCancel(context.Background())
	c.left.Store(looks)
	return c
}

func (c *interrupted) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// File writes an input file, named in with the program's extension, in a new
// folder and returns its path.
func (p Program) File(t *testing.T, content string) string {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in"+p.Ext)
	if err := os.WriteFile(in, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return in
}

// Golden fails t unless the text is the wanted one but for white space at the
// ends.
func Golden(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var lastColumn = regexp.MustCompile(`(?m) +(build time|[0-9][0-9.hmnµ]*s|-)$`)

// Untimed returns the lines of a table without its last column, that of the
// build times, with a dash where there is none.
func Untimed(table string) string { return lastColumn.ReplaceAllString(table, "") }

// Picture fails t unless the file is a PNG.
func Picture(t *testing.T, dir, name string) {
	t.Helper()
	if b := read(t, dir, name); !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("%s is no PNG", name)
	}
}

// Lines reads a CSV file with a header line, which comes first.
func Lines(t *testing.T, dir, name string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(read(t, dir, name))).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(lines), err)
	}
	return lines
}

// Table is Lines as one map for each row, by column.
func Table(t *testing.T, dir, name string) []map[string]string {
	t.Helper()
	lines := Lines(t, dir, name)
	rows := make([]map[string]string, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = map[string]string{}
		for k, cell := range line {
			rows[i][lines[0][k]] = cell
		}
	}
	return rows
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Number reads a cell of a table.
func Number(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
