package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pairs maps the words of a list to each other, two and two.
func pairs(list string) map[string]string {
	to := map[string]string{}
	for pair := range slices.Chunk(strings.Fields(list), 2) {
		to[pair[0]], to[pair[1]] = pair[1], pair[0]
	}
	return to
}

var operators = map[string]map[string]string{"comparison": pairs("< <= > >= == !="), "arithmetic": pairs("+ - * /"), "logic": pairs("&& ||")}

// opposite are functions and modes of the other direction.
var opposite = pairs("min max math.Min math.Max slices.Min slices.Max math.Ceil math.Floor big.ToNegativeInf big.ToPositiveInf " +
	"directed.Next directed.Prev Next Prev")

// across is the name of the same function in the other direction, or "".
func across(name string) string {
	for _, ends := range [][2]string{{"Up", "Down"}, {"Down", "Up"}} {
		if stem, ok := strings.CutSuffix(name, ends[0]); ok && stem != "" {
			return stem + ends[1]
		}
	}
	return opposite[name]
}

// isContext is what is taken for a context.Context.
var isContext = regexp.MustCompile(`^(.*\.)?ctx$|\.late$`)

// read finds the mutants of a file.
func (p *Package) read(set *token.FileSet, name string) {
	path := filepath.Join(p.Dir, name)
	f := &File{path: path, src: string(must(os.ReadFile(path))), set: set}
	f.tree = must(parser.ParseFile(set, path, f.src, parser.SkipObjectResolution))
	p.files = append(p.files, f)
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				receiver, _, _ := strings.Cut(strings.TrimPrefix(f.text(d.Recv.List[0].Type), "*"), "[")
				name = receiver + "." + name
			}
			if d.Body != nil && name != "_" {
				p.find(f, d, name, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch x := spec.(type) {
				case *ast.ValueSpec:
					p.find(f, x, x.Names[0].Name, nil)
				case *ast.TypeSpec:
					p.find(f, x, x.Name.Name, nil)
				}
			}
		}
	}
}

// find finds the mutants of a declaration.
func (p *Package) find(f *File, root ast.Node, name string, decl *ast.FuncDecl) {
	imported := slices.ContainsFunc(f.tree.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"context"` })
	count := map[string]int{}
	add := func(kind string, n ast.Node, text string) {
		count[kind]++
		p.mutants[kind] = append(p.mutants[kind], &Mutant{pkg: p, in: f, file: filepath.Join(p.rel(), filepath.Base(f.path)), line: f.set.Position(n.Pos()).Line,
			from: f.offset(n.Pos()), to: f.offset(n.End()), old: f.text(n), new: text, kind: kind, name: name, nth: count[kind], decl: decl})
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			return false
		case *ast.CallExpr:
			if call, ok := strings.CutSuffix(f.text(x), ".Err()"); ok && isContext.MatchString(call) {
				add("context", x, "error(nil)")
			}
			for _, a := range x.Args {
				if imported && isContext.MatchString(f.text(a)) {
					add("context", a, "context.Background()")
				}
			}
			if i, ok := x.Fun.(*ast.Ident); ok && across(i.Name) != "" {
				add("rounding", i, across(i.Name))
			}
		case *ast.SelectorExpr:
			if o := across(f.text(x)); o != "" {
				add("rounding", x, o)
			}
		case *ast.BinaryExpr:
			for kind, to := range operators {
				if o, ok := to[x.Op.String()]; ok {
					add(kind, &ast.Ident{NamePos: x.OpPos, Name: x.Op.String()}, o)
				}
			}
		case *ast.BasicLit:
			switch x.Kind {
			case token.INT:
				add("constant", x, "(2*"+x.Value+"+1)")
			case token.FLOAT:
				add("constant", x, "("+x.Value+"*2)")
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
			add("statement", x, "")
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE && f.text(x.Lhs[0]) != "_" {
				add("statement", x, "")
			}
		}
		return true
	})
}
