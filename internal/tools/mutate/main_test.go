package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const source = `package p

func (t *T) f(ctx context.Context, n int) (float64, error) {
	if n < 3 && ctx.Err() == nil {
		n++
	}
	g(ctx)
	return directed.MulUp(0.5, float64(max(n, 2)+n)), nil
}
`

// Every kind is found where it is, by a name that a change elsewhere leaves as it is, and what
// it makes of the file is Go.
func TestFind_EveryKind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	check(os.WriteFile(file, []byte(source), 0o600))
	all := find(file, "seed")
	var texts []string
	for kind, list := range all {
		for _, m := range list {
			changed := m.src[:m.from] + m.text + m.src[m.to:]
			if _, err := parser.ParseFile(token.NewFileSet(), "", changed, 0); err != nil || changed == source {
				t.Errorf("%s, line %d, %q: %v", kind, m.line, m.text, err)
			}
			texts = append(texts, kind+": "+m.src[m.from:m.to]+" -> "+m.text)
		}
	}
	slices.Sort(texts)
	for _, text := range []string{"arithmetic: + -> -", "comparison: < -> <=", "constant: 0.5 -> (0.5*2)", "context: ctx -> context.Background()",
		"context: ctx.Err() -> error(nil)", "logic: && -> ||", "rounding: directed.MulUp -> directed.MulDown", "rounding: max -> min", "statement: n++ -> "} {
		if _, ok := slices.BinarySearch(texts, text); !ok {
			t.Errorf("%q is missing of %q", text, texts)
		}
	}
	again, other := find(file, "seed"), find(file, "another")
	if all["logic"][0].hash != again["logic"][0].hash || all["logic"][0].hash == other["logic"][0].hash {
		t.Error("the order is not that of the seed")
	}
}
