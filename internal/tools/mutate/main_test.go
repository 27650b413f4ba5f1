package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each operator finds its places, and replaces what stands there.
func TestRead_FindsEachKind(t *testing.T) {
	const src = `package p

import "context"

func f(ctx context.Context, a, b float64) float64 {
	if a < b && ctx.Err() != nil {
		g(ctx)
	}
	n := 3
	n++
	return directed.MulUp(a, b) + max(a, b)
}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Package{Dir: dir, mutants: map[string][]*Mutant{}}
	if err := p.read("p.go"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, list := range p.mutants {
		for _, m := range list {
			if src[m.from:m.to] != m.old {
				t.Errorf("%v does not stand at its place", m)
			}
			got = append(got, fmt.Sprintf("%d %s: %s -> %s", m.line, m.kind, m.old, m.new))
		}
	}
	for _, want := range []string{
		"6 context: ctx.Err() -> error(nil)", "7 context: ctx -> context.Background()",
		"11 rounding: directed.MulUp -> directed.MulDown", "11 rounding: max -> min",
		"9 constant: 3 -> (2*3+1)", "7 statement: g(ctx) -> ", "10 statement: n++ -> ",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
