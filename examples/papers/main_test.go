package main

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var papers = demotest.Program{Name: "papers", Main: run}

func TestPapers_Rejects(t *testing.T) {
	papers.Rejects(t, map[string][]string{
		`-only "XYZ99": no exhibit's name begins so`: {"-only", "XYZ99"},
	})
}

func TestPapers_ListsEach(t *testing.T) {
	out := papers.Must(t, "-list")
	for _, e := range exhibits {
		if !strings.Contains(out, e.Name) || strings.Count(e.Name, "/") != 1 {
			t.Errorf("%q is not listed, or no place in a paper", e.Name)
		}
	}
}
