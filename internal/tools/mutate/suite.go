package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Test is a test function of a suite.
type Test struct {
	name    string         // package.Function
	lines   int            // of its source
	cpu     float64        // seconds without a change
	blocks  map[string]int // what it runs alone: statements by place, as in a profile
	kills   []*Mutant
	entered map[*Mutant]bool // the functions that it calls, by their mutants
}

// short is the name in its package.
func (t *Test) short() string { return t.name[strings.LastIndex(t.name, ".")+1:] }

// Suite is the tests of a package that an expression matches, with all mutants in one binary.
type Suite struct {
	pkg    *Package
	match  string
	flags  []string // of the build
	env    []string // of a run
	alone  bool     // each test runs by itself
	binary string
	tests  []*Test // that pass without a change
}

// prepare builds a suite, and tries it without a change.
func (r *runner) prepare(s *Suite, m *Mutant) {
	s.binary = must(r.build(s.pkg, r.overlay, s.flags...))
	list := exec.Command(s.binary, "-test.list", s.match)
	list.Dir = s.pkg.Dir
	lines := s.pkg.lines()
	for name := range strings.FieldsSeq(string(must(list.Output()))) {
		s.tests = append(s.tests, &Test{name: s.pkg.rel() + "." + name, lines: lines[name], cpu: 300})
	}
	o := r.run(s, s.binary, s.tests, m, 0)
	covering, profile := "", filepath.Join(r.dir, "profile")
	if s.alone {
		covering = must(r.build(s.pkg, "", "-cover", "-covermode=set", "-coverpkg="+r.cover))
	}
	s.tests = slices.DeleteFunc(s.tests, func(t *Test) bool {
		one := o
		one.cpu /= float64(len(s.tests))
		if s.alone {
			one = r.run(s, covering, []*Test{t}, m, 0, "-test.coverprofile="+profile)
		}
		if slices.Contains(slices.Concat(o.failed, one.failed), t) {
			fmt.Printf("left out: %s fails without a change\n", t.name)
			return true
		}
		if t.cpu = one.cpu; s.alone {
			t.read(profile, r.ms)
		}
		return false
	})
}

var testFunction = regexp.MustCompile(`(?ms)^func (\w+)\([^\n]*(?:\}$|\n.*?^\})`)

// lines returns the lengths of the package's test functions.
func (p *Package) lines() map[string]int {
	lines := map[string]int{}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		for _, f := range testFunction.FindAllSubmatch(must(os.ReadFile(filepath.Join(p.Dir, name))), -1) {
			lines[string(f[1])] = strings.Count(string(f[0]), "\n") + 1
		}
	}
	return lines
}

// build compiles the tests of a package.
func (r *runner) build(p *Package, overlay string, flags ...string) (binary string, err error) {
	r.built++
	binary = filepath.Join(r.dir, fmt.Sprintf("%d.test", r.built))
	if overlay != "" {
		flags = append(flags, "-overlay", overlay)
	}
	_, err = r.tree.run(slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary}, flags, []string{p.ImportPath})...)
	return binary, err
}

// read takes what a test covers from its profile.
func (t *Test) read(profile string, ms []*Mutant) {
	t.blocks, t.entered = map[string]int{}, map[*Mutant]bool{}
	ran := map[string][]int{} // lines, by file
	for line := range strings.Lines(string(must(os.ReadFile(profile)))) {
		file, rest, _ := strings.Cut(line, ":")
		var from, column, to, end, statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &column, &to, &end, &statements, &count); err == nil && count*statements > 0 { // no heading
			t.blocks[strings.Fields(line)[0]] = statements
			ran[file] = append(ran[file], from)
		}
	}
	for _, m := range ms {
		t.entered[m] = m.decl == nil || slices.ContainsFunc(ran[m.pkg.Module.Path+"/"+m.file], func(line int) bool {
			return m.in.set.Position(m.decl.Pos()).Line <= line && line <= m.in.set.Position(m.decl.End()).Line
		})
	}
}

// outcome is what a run of tests came to.
type outcome struct {
	failed []*Test
	late   bool // the process took longer than it may
	cpu    float64
}

var verdict = regexp.MustCompile(`\x16(=== (?:RUN|CONT|NAME)|--- (?:PASS|FAIL|SKIP):) +([^\s/]+)(?:\n| \()`)

// run runs tests in a process with the mutant chosen, or none, on account of m. It has four
// times what they took of a processor before. A machine that has others to serve takes
// longer; twice and some is left for that, and ends what waits for ever.
func (r *runner) run(s *Suite, binary string, tests []*Test, m *Mutant, chosen int, flags ...string) (o outcome) {
	limit := 3.0 // seconds
	names := map[string]*Test{}
	for _, t := range tests {
		names[t.short()] = t
		limit += 4 * t.cpu
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration((2*limit+20)*float64(time.Second)))
	defer cancel()
	script := fmt.Sprintf(`ulimit -t %d; ulimit -S -v 12000000 2>/dev/null; exec "$0" "$@"`, int(math.Ceil(limit)))
	c := exec.CommandContext(ctx, "sh", slices.Concat([]string{"-c", script, binary, "-test.short", "-test.v=test2json",
		"-test.run", "^(" + strings.Join(slices.Collect(maps.Keys(names)), "|") + ")$"}, flags)...)
	c.Dir, c.WaitDelay = s.pkg.Dir, 10*time.Second
	c.Env = append(append(os.Environ(), s.env...), fmt.Sprint("METRICDP_MUTANT=", chosen))
	if m != nil {
		c.Env = append(c.Env, "METRICDP_SITE=^"+regexp.QuoteMeta(m.at())+"$")
	}
	out, err := c.Output()
	var last *Test // that began, or ended
	ended := false
	for _, found := range verdict.FindAllStringSubmatch(string(out), -1) {
		if t := names[found[2]]; t != nil {
			last, ended = t, found[1][0] == '-'
			if found[1] == "--- FAIL:" {
				o.failed = append(o.failed, t)
			}
		}
	}
	o.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	o.late = c.ProcessState.ExitCode() < 0 // killed
	switch {
	case err == nil:
	case last == nil: // before the first test
		o.failed = tests
	case !ended || len(o.failed) == 0: // in a test, or after one
		o.failed = append(o.failed, last)
	}
	return o
}

// kill tells which tests of a suite kill m: of those that run alone all, up to one that
// hangs, otherwise the first.
func (r *runner) kill(s *Suite, m *Mutant) (killers []*Test) {
	binary := s.binary
	if m.decl == nil {
		var err error
		if binary, err = r.build(s.pkg, overlay(r.dir, []*Mutant{m}), s.flags...); err != nil {
			return []*Test{{name: "the compiler"}}
		}
		defer os.Remove(binary)
	}
	size := max(1, len(s.tests))
	if s.alone {
		size = 1
	}
	for tests := range slices.Chunk(s.tests, size) {
		if s.alone && !tests[0].entered[m] {
			continue
		}
		o := r.run(s, binary, tests, m, m.id, "-test.failfast")
		killers = append(killers, o.failed...)
		if o.late {
			break
		}
	}
	return killers
}
