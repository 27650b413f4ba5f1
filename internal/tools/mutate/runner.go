package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// runner tries mutants of a tree.
type runner struct {
	tree    *Tree
	dir     string
	overlay string
	ms      []*Mutant
	whole   []*Package        // whose tests all try each mutant
	cover   string            // their paths
	suites  map[string]*Suite // by package
	built   int
	tried   int
	near    bool
}

// newRunner writes mutants to dir.
func newRunner(t *Tree, dir string, o options, ms []*Mutant) *runner {
	r := &runner{tree: t, dir: dir, ms: ms, near: o.near, suites: map[string]*Suite{}}
	for i, m := range ms {
		m.id = i + 1
	}
	files := filepath.Join(dir, "files")
	check(os.MkdirAll(files, 0o700))
	r.overlay = overlay(files, slices.DeleteFunc(slices.Clone(ms), func(m *Mutant) bool { return m.decl == nil }))
	for _, p := range t.all {
		if (o.matrix || o.coverage) && o.in.MatchString(p.rel()) && p.tested() {
			r.whole = append(r.whole, p)
			r.cover += p.ImportPath + ","
		}
	}
	return r
}

// suite is the tests of p, built and tried without a change of m before.
func (r *runner) suite(p *Package, m *Mutant) *Suite {
	s := r.suites[p.ImportPath]
	if s == nil {
		s = &Suite{pkg: p, match: "^(Test|Example|Fuzz)", alone: slices.Contains(r.whole, p)}
		switch p.rel() {
		case "internal/robust":
			s.match, s.env = "^TestContexts_", []string{"METRICDP_LONG=1"}
		case "internal/outward":
			s.match, s.flags = "^TestEnds", []string{"-tags", "coarse"}
		}
		r.suites[p.ImportPath] = s
		r.prepare(s, m)
	}
	return s
}

// packages returns those whose tests may kill m, the likeliest first: its own or the nearest above
// it, those that try every mutant, those that are about a kind of change, and its users.
func (r *runner) packages(m *Mutant) []*Package {
	var near, watches, users []*Package
	for rel := m.pkg.rel(); near == nil && rel != "."; rel = path.Dir(rel) {
		for _, p := range r.tree.all {
			if p.rel() == rel && p.tested() {
				near = append(near, p)
			}
		}
	}
	rounds := strings.Contains(strings.Split(m.in.src, "\n")[m.line-1], "directed.")
	for _, p := range r.tree.all {
		switch name := p.rel(); {
		case name == "internal/robust" && m.kind == "context", name == "internal/outward" && rounds:
			watches = append(watches, p)
		case p.tested() && slices.Contains(p.Imports, m.pkg.ImportPath):
			users = append(users, p)
		}
	}
	if r.near {
		watches, users = nil, nil
	}
	return slices.Concat(near, r.whole, watches, users)
}

// try tells which tests kill m: one, and all of those that are to try each mutant.
func (r *runner) try(m *Mutant) (by []string) {
	r.tried++
	done := map[*Package]bool{}
	for _, p := range r.packages(m) {
		if done[p] || len(by) > 0 && !slices.Contains(r.whole, p) {
			continue
		}
		done[p] = true
		for _, t := range r.kill(r.suite(p, m), m) {
			t.kills = append(t.kills, m)
			by = append(by, t.name)
		}
	}
	return by
}

// report prints what each test of the chosen packages does, what no other of them does, and
// which could go together so that the others still do all.
func (r *runner) report(w io.Writer, o options) {
	var tests []*Test
	by := map[string]int{} // tests that see a mutant or run a block
	for _, p := range r.whole {
		for _, t := range r.suite(p, nil).tests {
			tests = append(tests, t)
			t.count(by, 1)
		}
	}
	fmt.Fprintf(w, "from %d mutants: what nothing here speaks for may still see others\n", r.tried)
	fmt.Fprintln(w, "test: lines, seconds; mutants killed, by it alone; statements covered, by it alone")
	var idle []*Test
	for _, t := range tests {
		kills, covers, statements := 0, 0, 0
		var own strings.Builder
		for _, m := range t.kills {
			if by[m.key()] == 1 {
				kills++
				fmt.Fprintf(&own, "\talone kills %s\n", m)
			}
		}
		for _, place := range slices.Sorted(maps.Keys(t.blocks)) {
			statements += t.blocks[place]
			if by[place] == 1 {
				covers += t.blocks[place]
				if o.coverage {
					fmt.Fprintf(&own, "\talone covers %s\n", place)
				}
			}
		}
		fmt.Fprintf(w, "%s: %d, %.2f; %d, %d; %d, %d\n%s", t.name, t.lines, t.cpu, len(t.kills), kills, statements, covers, &own)
		if kills+covers == 0 && strings.HasPrefix(t.short(), "Test") {
			idle = append(idle, t)
		}
	}
	slices.SortStableFunc(idle, func(a, b *Test) int { return b.lines - a.lines })
	lines := 0
	var names strings.Builder
	for _, t := range idle {
		if t.count(by, -1) == 0 {
			t.count(by, 1) // it has become the last that sees something
			continue
		}
		lines += t.lines
		fmt.Fprintf(&names, "\t%s: %d\n", t.name, t.lines)
	}
	fmt.Fprintf(w, "may go together, of those that are no example or fuzz target: %d functions, %d lines\n%s", strings.Count(names.String(), "\n"), lines, &names)
}

// count adds n to each mutant that t sees and each block that it runs, and returns the least
// that is left of one.
func (t *Test) count(by map[string]int, n int) (least int) {
	keys := slices.Collect(maps.Keys(t.blocks))
	for _, m := range t.kills {
		keys = append(keys, m.key())
	}
	least = 1
	for _, key := range keys {
		by[key] += n
		least = min(least, by[key])
	}
	return least
}
