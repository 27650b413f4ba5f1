package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// File is a source file of the library.
type File struct {
	path, src string
	set       *token.FileSet
}

func (f *File) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *File) text(n ast.Node) string { return f.src[f.offset(n.Pos()):f.offset(n.End())] }

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

// apply returns src[from:to] with the edits made, which do not overlap.
func apply(src string, from, to int, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	for _, e := range edits {
		out.WriteString(src[from:e.from] + e.text)
		from = e.to
	}
	return out.String() + src[from:to]
}

// change is the edit that m is. It keeps the lines that follow where they are.
func (m *Mutant) change() edit {
	return edit{m.from, m.to, m.new + strings.Repeat("\n", strings.Count(m.old, "\n")-strings.Count(m.new, "\n"))}
}

// copied is the function of m changed, under a name of its own, in lines that count as
// those of the original: package directed and the tests that watch it name its callers.
func (m *Mutant) copied() string {
	d := m.decl
	rename := edit{m.in.offset(d.Name.Pos()), m.in.offset(d.Name.End()), m.function()}
	text := apply(m.in.src, m.in.offset(d.Pos()), m.in.offset(d.End()), []edit{rename, m.change()})
	return fmt.Sprintf("\n//line %s:%d\n%s\n", m.in.path, m.in.set.Position(d.Pos()).Line, text)
}

func (m *Mutant) function() string { return fmt.Sprintf("mutant%d_%s", m.id, m.decl.Name.Name) }

// dispatch makes a function call the copy that is chosen. All have it as their own.
func dispatch(ms []*Mutant) []edit {
	f, d := ms[0].in, ms[0].decl
	var edits []edit
	unnamed := 0
	named := func(list *ast.FieldList) []string {
		var names []string
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				unnamed++
				name := fmt.Sprintf("unnamed%d_", unnamed)
				edits = append(edits, edit{f.offset(field.Pos()), f.offset(field.Pos()), name + " "})
				names = append(names, name)
			}
			for _, n := range field.Names {
				name := n.Name
				if name == "_" {
					unnamed++
					name = fmt.Sprintf("unnamed%d_", unnamed)
					edits = append(edits, edit{f.offset(n.Pos()), f.offset(n.End()), name})
				}
				names = append(names, name)
			}
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				names[len(names)-1] += "..."
			}
		}
		return names
	}
	var before, after string
	if d.Recv != nil {
		before = named(d.Recv)[0] + "."
	}
	if list := named(d.Type.TypeParams); list != nil {
		after = "[" + strings.Join(list, ", ") + "]"
	}
	after += "(" + strings.Join(named(d.Type.Params), ", ") + ")"
	var cases strings.Builder
	for _, m := range ms {
		call := before + m.function() + after
		if d.Type.Results != nil {
			call = "return " + call
		} else {
			call += "; return"
		}
		fmt.Fprintf(&cases, "case %d: %s; ", m.id, call)
	}
	at := f.offset(d.Body.Lbrace) + 1
	return append(edits, edit{at, at, " if chosenMutant != 0 { switch chosenMutant { " + cases.String() + "} }; "})
}

// chooser is the file that a package with mutants gets.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("METRICDP_MUTANT"))
`

// texts returns the changed files of a package: ms, each in a copy of its function, or
// one mutant outside of functions. Copies are where in its file each mutant's copy is.
func texts(ms []*Mutant) (files map[string]string, copies map[*Mutant][2]int) {
	files, copies = map[string]string{}, map[*Mutant][2]int{}
	if m := ms[0]; m.decl == nil {
		files[m.in.path] = apply(m.in.src, 0, len(m.in.src), []edit{m.change()})
		copies[m] = [2]int{0, len(files[m.in.path])}
		return files, copies
	}
	in := map[*File]map[*ast.FuncDecl][]*Mutant{}
	for _, m := range ms {
		if in[m.in] == nil {
			in[m.in] = map[*ast.FuncDecl][]*Mutant{}
		}
		in[m.in][m.decl] = append(in[m.in][m.decl], m)
	}
	for f, functions := range in {
		var edits []edit
		for _, list := range functions {
			edits = append(edits, dispatch(list)...)
		}
		text := apply(f.src, 0, len(f.src), edits)
		for _, m := range ms {
			if m.in == f {
				start := len(text)
				text += m.copied()
				copies[m] = [2]int{start, len(text)}
			}
		}
		files[f.path] = text
	}
	p := ms[0].pkg
	files[filepath.Join(p.Dir, "chosen_mutant.go")] = fmt.Sprintf(chooser, p.Name)
	return files, copies
}

// overlay writes what the go command reads in place of the tree's files.
func overlay(dir string, ms []*Mutant) string {
	replace := map[string]string{}
	for _, list := range byPackage(ms) {
		files, _ := texts(list)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
			check(os.WriteFile(replace[path], []byte(files[path]), 0o600))
		}
	}
	text := must(json.Marshal(map[string]any{"Replace": replace}))
	path := filepath.Join(dir, "overlay.json")
	check(os.WriteFile(path, text, 0o600))
	return path
}

func byPackage(ms []*Mutant) map[*Package][]*Mutant {
	by := map[*Package][]*Mutant{}
	for _, m := range ms {
		by[m.pkg] = append(by[m.pkg], m)
	}
	return by
}

// compiling numbers ms and returns those that compile.
func (t *Tree) compiling(ms []*Mutant) []*Mutant {
	for _, m := range ms {
		t.numbers++
		m.id = t.numbers
	}
	bad := map[*Mutant]bool{}
	for p, list := range byPackage(ms) {
		inside := slices.DeleteFunc(slices.Clone(list), func(m *Mutant) bool { return m.decl == nil })
		groups := [][]*Mutant{inside}
		for _, m := range list {
			if m.decl == nil {
				groups = append(groups, []*Mutant{m})
			}
		}
		for _, group := range groups {
			group = slices.DeleteFunc(group, func(m *Mutant) bool {
				if m.decl != nil {
					_, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+m.copied(), parser.SkipObjectResolution)
					bad[m] = err != nil
				}
				return bad[m]
			})
			for len(group) > 0 {
				wrong := t.check(p, group)
				if len(wrong) == 0 {
					break
				}
				maps.Copy(bad, wrong)
				group = slices.DeleteFunc(group, func(m *Mutant) bool { return wrong[m] })
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(ms), func(m *Mutant) bool { return bad[m] })
}

// check tells which mutants of a package have errors of types.
func (t *Tree) check(p *Package, ms []*Mutant) map[*Mutant]bool {
	files, copies := texts(ms)
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		if _, ok := files[path]; !ok {
			src := must(os.ReadFile(path))
			files[path] = string(src)
		}
	}
	set := token.NewFileSet()
	var trees []*ast.File
	for path, text := range files {
		tree, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil && ms[0].decl == nil {
			return map[*Mutant]bool{ms[0]: true}
		}
		check(err)
		trees = append(trees, tree)
	}
	wrong := map[*Mutant]bool{}
	var stray error
	config := types.Config{Importer: importer.ForCompiler(set, "gc", t.export), Sizes: types.SizesFor("gc", runtime.GOARCH), Error: func(err error) {
		at := set.PositionFor(err.(types.Error).Pos, false)
		for m, span := range copies {
			if m.in.path == at.Filename && span[0] <= at.Offset && at.Offset < span[1] || m.decl == nil {
				wrong[m] = true
				return
			}
		}
		if !strings.HasPrefix(err.(types.Error).Msg, "\t") { // the rest of an error
			stray = err
		}
	}}
	_, _ = config.Check(p.ImportPath, set, trees, nil)
	check(stray)
	return wrong
}

// export opens what the compiler keeps of a package for those that import it.
func (t *Tree) export(path string) (io.ReadCloser, error) {
	if t.exports == nil {
		args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "os", "strconv"}
		for _, p := range t.all {
			args = append(args, p.ImportPath)
		}
		out := must(t.run(args...))
		t.exports = map[string]string{}
		for line := range strings.Lines(out) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
			t.exports[name] = file
		}
	}
	return os.Open(t.exports[path])
}
