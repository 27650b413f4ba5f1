package main

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	cpu     float64        // seconds
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
	flags  []string               // of the build
	env    func(*Mutant) []string // of a run
	alone  bool                   // each test runs by itself too, for what it covers
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
		s.tests = append(s.tests, &Test{name: s.pkg.rel() + "." + name, lines: lines[name]})
	}
	const patience = 1200 // seconds, without a change
	o := r.run(s, s.binary, s.tests, patience, s.env(m))
	for _, t := range s.tests {
		t.cpu = o.cpu / float64(len(s.tests))
	}
	if s.alone {
		covering := must(r.build(s.pkg, "", "-cover", "-covermode=set", "-coverpkg="+strings.Join(r.cover, ",")))
		profile := filepath.Join(r.dir, "profile")
		for _, t := range s.tests {
			one := r.run(s, covering, []*Test{t}, patience, s.env(m), "-test.coverprofile="+profile)
			o.failed = append(o.failed, one.failed...)
			if t.cpu = one.cpu; len(one.failed) == 0 {
				t.read(profile, r.ms)
			}
		}
	}
	s.tests = slices.DeleteFunc(s.tests, func(t *Test) bool {
		failed := slices.Contains(o.failed, t)
		if failed {
			fmt.Printf("left out: %s fails without a change\n", t.name)
		}
		return failed
	})
}

// lines returns the lengths of the package's test functions.
func (p *Package) lines() map[string]int {
	lines := map[string]int{}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		set := token.NewFileSet()
		for _, d := range must(parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)).Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				lines[fn.Name.Name] = set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
			}
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
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &column, &to, &end, &statements, &count); err == nil && count > 0 { // no heading
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
	left   []*Test // that did not run: one before ended the process
	late   bool    // a test took longer than it may
	cpu    float64
}

var verdict = regexp.MustCompile(`\x16(=== (?:RUN|CONT|NAME)|--- (?:PASS|FAIL|SKIP):) +([^\s/]+)(?:$| \()`)

// run runs tests in a process that may take limit seconds of one processor. A machine that
// has others to serve takes longer; twice and some is left for that, and ends what waits
// for ever.
func (r *runner) run(s *Suite, binary string, tests []*Test, limit float64, env []string, flags ...string) *outcome {
	o := &outcome{}
	if len(tests) == 0 {
		return o
	}
	names := map[string]*Test{}
	var run []string
	for _, t := range tests {
		names[t.short()] = t
		run = append(run, t.short())
	}
	wall := time.Duration((2*limit + 20) * float64(time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), wall+10*time.Second)
	defer cancel()
	script := fmt.Sprintf(`ulimit -S -t %d; ulimit -S -v 12000000 2>/dev/null; exec "$0" "$@"`, int(math.Ceil(limit)))
	c := exec.CommandContext(ctx, "sh", slices.Concat([]string{"-c", script, binary, "-test.short", "-test.v=test2json", "-test.run", "^(" + strings.Join(run, "|") + ")$",
		"-test.timeout", wall.String()}, flags)...)
	c.Dir, c.Env, c.WaitDelay = s.pkg.Dir, append(os.Environ(), env...), 10*time.Second
	pipe := must(c.StdoutPipe())
	start := time.Now()
	check(c.Start())
	ended := map[*Test]bool{}
	var last *Test
	for in := bufio.NewReader(pipe); ; {
		line, _, err := in.ReadLine()
		if err != nil {
			break
		}
		for _, found := range verdict.FindAllStringSubmatch(string(line), -1) {
			t := names[found[2]]
			switch {
			case t == nil:
			case found[1][0] == '=':
				last = t
			default:
				ended[t] = true
				if found[1] == "--- FAIL:" {
					o.failed = append(o.failed, t)
				}
			}
		}
	}
	err := c.Wait()
	o.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	for _, t := range tests {
		if !ended[t] {
			o.left = append(o.left, t)
		}
	}
	o.late = o.cpu >= limit-1 || time.Since(start) >= wall
	switch {
	case err == nil:
	case last == nil: // before the first test
		o.failed, o.left = tests, nil
	case !ended[last]:
		o.failed = append(o.failed, last)
		o.left = slices.DeleteFunc(o.left, func(t *Test) bool { return t == last })
	case len(o.failed) == 0: // after the last test, or between two
		o.failed, o.left = append(o.failed, last), nil
	}
	return o
}

// kill tells which tests of a suite kill m: all of a suite whose tests are known alone,
// otherwise the first.
func (r *runner) kill(s *Suite, m *Mutant) (killers []*Test) {
	binary := s.binary
	if m.decl == nil {
		var err error
		if binary, err = r.build(s.pkg, overlay(r.dir, []*Mutant{m}), s.flags...); err != nil {
			return []*Test{{name: "the compiler"}}
		}
		defer os.Remove(binary)
	}
	var left []*Test
	for _, t := range s.tests {
		if t.entered == nil || t.entered[m] {
			left = append(left, t)
		}
	}
	var flags []string
	if !s.alone {
		flags = []string{"-test.failfast"}
	}
	for len(left) > 0 {
		limit := 3.0
		for _, t := range left {
			limit += 4 * t.cpu
		}
		o := r.run(s, binary, left, limit, append(s.env(m), fmt.Sprint("METRICDP_MUTANT=", m.id)), flags...)
		killers = append(killers, o.failed...)
		if len(o.failed) == 0 || !s.alone || o.late { // another that hangs would tell little
			break
		}
		left = o.left
	}
	return killers
}
