// Package exhibittest is what the tests of exhibits share.
package exhibittest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/testkit/citation"
)

// Program runs exhibits, at their default sizes, as the program papers does.
func Program(exhibits ...exhibit.Exhibit) demotest.Program {
	return demotest.Program{Name: "papers", Main: func(ctx context.Context, p *demo.Program) error {
		if err := p.Parse(); err != nil {
			return err
		}
		return exhibit.RunAll(ctx, p, exhibits, false)
	}}
}

// Hold fails t unless all exhibits but those named slow run, each with claims of which
// none fails and all have a place in the paper, and leave the pictures. The slow ones run in the program, as .ci/run does.
func Hold(t *testing.T, exhibits []exhibit.Exhibit, slow []string, pictures ...string) {
	t.Helper()
	quick := slices.DeleteFunc(slices.Clone(exhibits), func(e exhibit.Exhibit) bool { return slices.Contains(slow, e.Name) })
	if len(quick) != len(exhibits)-len(slow) {
		t.Fatalf("%d of %d exhibits are not among %q", len(quick), len(exhibits), slow)
	}
	dir := t.TempDir()
	Program(quick...).Must(t, "-out", dir)
	claims := map[string]int{}
	for _, row := range demotest.Table(t, dir, "verdicts.csv") {
		claims[row["exhibit"]]++
		paper, _, _ := strings.Cut(row["exhibit"], "/")
		if err := citation.Place(paper, row["place"]); err != nil {
			t.Errorf("%s, %s: %v", row["exhibit"], row["claim"], err)
		}
	}
	if len(claims) != len(quick) {
		t.Error("claims:", claims)
	}
	for _, name := range pictures {
		demotest.Picture(t, dir, name)
	}
}
