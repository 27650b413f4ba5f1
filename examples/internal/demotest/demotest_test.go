package demotest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

// echo copies its input to out.csv and prints a table.
var echo = Program{Name: "echo", Ext: ".csv", Main: func(ctx context.Context, p *demo.Program) error {
	p.ReadsFile("anything")
	if err := p.Parse(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f, name, err := p.Input("none", nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := p.WriteFile("out.csv", func(w io.Writer) error { _, err := io.Copy(w, f); return err }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "name    loss  build time\n%.0s  a    1.50      12.3ms\n  b    2.50      1m2.5s\nno time    2           -\n", name)
	return err
}}

func TestProgram_RunsReadsAndWrites(t *testing.T) {
	echo.Agrees(t)
	echo.Rejects(t, map[string][]string{"no such file": {"-in", "/no/such/file"}})
	dir := t.TempDir()
	out := echo.Must(t, "-quiet", "-in", echo.File(t, "a,b\n1,x\n2.5,y\n"), "-out", dir)
	Golden(t, Untimed(out), "name    loss\n  a    1.50\n  b    2.50\nno time    2\n")
	rows := Table(t, dir, "out.csv")
	if len(rows) != 2 || rows[1]["b"] != "y" || Number(t, rows[1]["a"]) != 2.5 || Lines(t, dir, "out.csv")[0][1] != "b" {
		t.Error(rows)
	}
}
