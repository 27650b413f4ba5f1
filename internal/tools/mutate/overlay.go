package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a source file of the library.
type File struct {
	path, src string
	set       *token.FileSet
	tree      *ast.File
}

func (f *File) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *File) text(n ast.Node) string { return f.src[f.offset(n.Pos()):f.offset(n.End())] }

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

// apply returns f with edits made, which do not overlap.
func (f *File) apply(edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	done := 0
	for _, e := range append(edits, edit{len(f.src), len(f.src), ""}) {
		out.WriteString(f.src[done:e.from] + e.text)
		done = e.to
	}
	return out.String()
}

// change is the edit that m is. It keeps the lines that follow where they are.
func (m *Mutant) change() edit {
	return edit{m.from, m.to, m.new + strings.Repeat("\n", strings.Count(m.old, "\n")-strings.Count(m.new, "\n"))}
}

// dispatch makes a function call the copy of it that is chosen, each with one of ms and a name
// of its own, at the end of the file. Lines count as in the original: package directed and
// the tests that watch it name its callers.
func dispatch(ms []*Mutant) (edits []edit) {
	f, d := ms[0].in, ms[0].decl
	named := func(list *ast.FieldList) (names []string) {
		for _, field := range list.List {
			idents := field.Names
			if len(idents) == 0 {
				idents = []*ast.Ident{{NamePos: field.Pos()}}
			}
			for _, n := range idents {
				name := n.Name
				if name == "" || name == "_" {
					name = fmt.Sprintf("unnamed%d_ ", len(edits))
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
	form := "%s(" + strings.Join(named(d.Type.Params), ", ") + ")"
	if d.Type.TypeParams != nil {
		form = strings.Replace(form, "(", "["+strings.Join(named(d.Type.TypeParams), ", ")+"](", 1)
	}
	if d.Recv != nil {
		form = named(d.Recv)[0] + "." + form
	}
	if d.Type.Results != nil {
		form = "return " + form
	} else {
		form += "; return"
	}
	var cases, copies strings.Builder
	for _, m := range ms {
		name := fmt.Sprintf("mutant%d_%s", m.id, d.Name.Name)
		fmt.Fprintf(&cases, "case %d: "+form+"; ", m.id, name)
		rename := edit{f.offset(d.Name.Pos()), f.offset(d.Name.End()), name}
		fmt.Fprintf(&copies, "\n//line %s:%d\n%s\n", f.path, f.set.Position(d.Pos()).Line, f.apply(edit{0, f.offset(d.Pos()), ""}, rename, m.change(), edit{f.offset(d.End()), len(f.src), ""}))
	}
	start := f.offset(d.Body.Lbrace) + 1
	return append(edits, edit{start, start, " if chosenMutant != 0 { switch chosenMutant { " + cases.String() + "} }; "}, edit{len(f.src), len(f.src), copies.String()})
}

// chooser is the file that a package with mutants gets.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("METRICDP_MUTANT"))
`

// overlay writes what the go command reads in place of the tree's files: ms in copies of their
// functions, or one mutant outside of functions.
func overlay(dir string, ms []*Mutant) string {
	replace := map[string]string{}
	put := func(path, text string) {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		check(os.WriteFile(replace[path], []byte(text), 0o600))
	}
	functions := map[*ast.FuncDecl][]*Mutant{}
	edits := map[*File][]edit{}
	for _, m := range ms {
		if m.decl == nil {
			edits[m.in] = append(edits[m.in], m.change())
		} else {
			functions[m.decl] = append(functions[m.decl], m)
		}
	}
	choosers := map[*Package]bool{}
	for _, list := range functions {
		m := list[0]
		edits[m.in] = append(edits[m.in], dispatch(list)...)
		choosers[m.pkg] = true
	}
	for p := range choosers {
		put(filepath.Join(p.Dir, "chosen_mutant.go"), fmt.Sprintf(chooser, p.Name))
	}
	for f, list := range edits {
		put(f.path, f.apply(list...))
	}
	path := filepath.Join(dir, "overlay.json")
	check(os.WriteFile(path, must(json.Marshal(map[string]any{"Replace": replace})), 0o600))
	return path
}
