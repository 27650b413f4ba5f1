package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// runner tries mutants of a tree.
type runner struct {
	tree    *Tree
	dir     string
	overlay string
	ms      []*Mutant
	whole   map[*Package]bool // whose tests all try each mutant
	cover   []string          // packages to know the coverage of
	suites  map[string]*Suite
	built   int
	tried   int
	near    bool
}

// newRunner writes mutants to dir.
func newRunner(t *Tree, dir string, o options, ms []*Mutant) *runner {
	r := &runner{tree: t, dir: dir, ms: ms, near: o.near, whole: map[*Package]bool{}, suites: map[string]*Suite{}}
	var inside []*Mutant
	for _, m := range ms {
		if m.decl != nil {
			inside = append(inside, m)
		}
	}
	files := filepath.Join(dir, "files")
	check(os.MkdirAll(files, 0o700))
	r.overlay = overlay(files, inside)
	for _, p := range t.all {
		if (o.matrix || o.coverage) && o.in.MatchString(p.rel()) {
			r.whole[p] = true
			r.cover = append(r.cover, p.ImportPath)
		}
	}
	return r
}

// suite is the tests of a package.
func (r *runner) suite(p *Package) *Suite {
	return &Suite{pkg: p, match: "^(Test|Example|Fuzz)", env: func(*Mutant) []string { return nil }, alone: r.whole[p]}
}

// watches returns the tests beside the packages that are about a kind of change.
func (r *runner) watches(m *Mutant) (suites []*Suite) {
	beside := func(name string) *Package {
		p := *m.pkg
		p.ImportPath, p.Dir = p.Module.Path+"/"+name, filepath.Join(p.Module.Dir, filepath.FromSlash(name))
		p.TestGoFiles, p.XTestGoFiles = nil, nil
		return &p
	}
	if m.kind == "context" {
		suites = append(suites, &Suite{pkg: beside("internal/robust"), match: "^TestContexts_", env: func(*Mutant) []string { return []string{"METRICDP_LONG=1"} }})
	}
	if line := strings.Split(m.in.src, "\n")[m.line-1]; strings.Contains(line, "directed.") {
		suites = append(suites, &Suite{pkg: beside("internal/outward"), match: "^TestEnds", flags: []string{"-tags", "coarse"}, env: func(m *Mutant) []string {
			return []string{"METRICDP_SITE=^" + regexp.QuoteMeta(fmt.Sprintf("%s:%d", m.file, m.line)) + "$"}
		}})
	}
	return suites
}

// prepared returns s as it was prepared before, or prepares it.
func (r *runner) prepared(s *Suite, m *Mutant) *Suite {
	if known := r.suites[s.pkg.ImportPath]; known != nil {
		return known
	}
	r.suites[s.pkg.ImportPath] = s
	r.prepare(s, m)
	return s
}

// try tells which tests kill m: one, and all of those that are to try each mutant.
func (r *runner) try(m *Mutant) (by []string) {
	r.tried++
	var near, all, users []*Suite
	for path := m.pkg.ImportPath; near == nil && strings.HasPrefix(path, m.pkg.Module.Path); path = above(path) {
		for _, p := range r.tree.all {
			if p.ImportPath == path && p.tested() {
				near = append(near, r.suite(p))
			}
		}
	}
	for _, p := range r.tree.all {
		switch {
		case !p.tested() || len(near) > 0 && p == near[0].pkg:
		case r.whole[p]:
			all = append(all, r.suite(p))
		case slices.Contains(p.Imports, m.pkg.ImportPath):
			users = append(users, r.suite(p))
		}
	}
	suites := append(near, all...)
	if !r.near {
		suites = slices.Concat(suites, r.watches(m), users)
	}
	for _, s := range suites {
		if len(by) > 0 && !s.alone {
			continue
		}
		s = r.prepared(s, m)
		killers := r.kill(s, m)
		for _, t := range killers {
			t.kills = append(t.kills, m)
			by = append(by, t.name)
		}
	}
	return by
}

func above(path string) string { return path[:max(0, strings.LastIndex(path, "/"))] }

// report prints what each test of the chosen packages does, what no other of them does, and
// which could go together so that the others still do all.
func (r *runner) report(w io.Writer, o options) {
	var tests []*Test
	for _, p := range r.tree.all {
		if r.whole[p] && p.tested() {
			tests = append(tests, r.prepared(r.suite(p), nil).tests...)
		}
	}
	killers, coverers := map[*Mutant]int{}, map[string]int{}
	count := func(t *Test, by int) {
		for _, m := range t.kills {
			killers[m] += by
		}
		for place := range t.blocks {
			coverers[place] += by
		}
	}
	for _, t := range tests {
		count(t, 1)
	}
	own := func(t *Test) (kills []*Mutant, places []string, statements int) {
		for _, m := range t.kills {
			if killers[m] == 1 {
				kills = append(kills, m)
			}
		}
		for _, place := range slices.Sorted(maps.Keys(t.blocks)) {
			if coverers[place] == 1 && t.blocks[place] > 0 {
				places = append(places, place)
				statements += t.blocks[place]
			}
		}
		return kills, places, statements
	}
	places := 0
	for p := range r.whole {
		for _, list := range p.mutants {
			places += len(list)
		}
	}
	fmt.Fprintf(w, "from %d mutants of about %d: what nothing here speaks for may still see one of the others\n", r.tried, places)
	fmt.Fprintln(w, "test: lines, seconds; mutants killed, by it alone; statements covered, by it alone")
	var idle []*Test
	for _, t := range tests {
		kills, places, statements := own(t)
		covered := 0
		for _, n := range t.blocks {
			covered += n
		}
		fmt.Fprintf(w, "%s: %d, %.2f; %d, %d; %d, %d\n", t.name, t.lines, t.cpu, len(t.kills), len(kills), covered, statements)
		for _, m := range kills {
			fmt.Fprintf(w, "\talone kills %s\n", m)
		}
		for _, place := range places {
			if o.coverage {
				fmt.Fprintf(w, "\talone covers %s\n", place)
			}
		}
		if len(kills)+statements == 0 {
			idle = append(idle, t)
		}
	}
	lines := func(list []*Test) (sum int) {
		for _, t := range list {
			sum += t.lines
		}
		return sum
	}
	fmt.Fprintf(w, "nothing of their own: %d of %d functions, %d of %d lines\n", len(idle), len(tests), lines(idle), lines(tests))
	for _, t := range idle {
		fmt.Fprintf(w, "\t%s\n", t.name)
	}
	var gone []*Test
	slices.SortStableFunc(idle, func(a, b *Test) int { return b.lines - a.lines })
	for _, t := range idle {
		kills, _, statements := own(t)
		if len(kills)+statements == 0 && strings.HasPrefix(t.short(), "Test") {
			count(t, -1)
			gone = append(gone, t)
		}
	}
	fmt.Fprintf(w, "may go together, of those that are no example or fuzz target: %d functions, %d lines\n", len(gone), lines(gone))
	for _, t := range gone {
		fmt.Fprintf(w, "\t%s: %d\n", t.name, t.lines)
	}
}
