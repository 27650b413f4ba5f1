package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var comparisons = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL}
var arithmetic = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL}
var logic = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}

// opposite are functions and modes of the other direction, and what may stand before
// them.
var opposite = map[string]string{
	"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min", "math.Ceil": "math.Floor", "math.Floor": "math.Ceil",
	"big.ToNegativeInf": "big.ToPositiveInf", "big.ToPositiveInf": "big.ToNegativeInf", "slices.Min": "slices.Max", "slices.Max": "slices.Min",
	"directed.Next": "directed.Prev", "directed.Prev": "directed.Next", "Next": "Prev", "Prev": "Next",
}

// across is the name of the same function in the other direction, if it has one.
func across(name string) (string, bool) {
	if o, ok := opposite[name]; ok {
		return o, true
	}
	if s, ok := strings.CutSuffix(name, "Up"); ok && s != "" {
		return s + "Down", true
	}
	if s, ok := strings.CutSuffix(name, "Down"); ok && s != "" {
		return s + "Up", true
	}
	return "", false
}

// context tells whether an expression looks like a context.Context.
func isContext(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "ctx"
	case *ast.SelectorExpr:
		return x.Sel.Name == "ctx" || x.Sel.Name == "late"
	}
	return false
}

// read finds the mutants of a file.
func (p *Package) read(name string) {
	path := filepath.Join(p.Dir, name)
	src := must(os.ReadFile(path))
	set := token.NewFileSet()
	tree := must(parser.ParseFile(set, path, src, parser.SkipObjectResolution))
	f := &File{path: path, src: string(src), set: set}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if fn.Body != nil && fn.Name.Name != "_" {
				p.find(f, name, tree.Imports, fn, function(f, fn), fn)
			}
			continue
		}
		for _, spec := range d.(*ast.GenDecl).Specs {
			switch x := spec.(type) {
			case *ast.ValueSpec:
				p.find(f, name, tree.Imports, x, x.Names[0].Name, nil)
			case *ast.TypeSpec:
				p.find(f, name, tree.Imports, x, x.Name.Name, nil)
			}
		}
	}
}

// function names a function of a package: Type.Method for a method.
func function(f *File, fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	receiver := f.text(fn.Recv.List[0].Type)
	receiver, _, _ = strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
	return receiver + "." + fn.Name.Name
}

// find finds the mutants of a declaration.
func (p *Package) find(f *File, file string, imports []*ast.ImportSpec, root ast.Node, name string, decl *ast.FuncDecl) {
	imported := slices.ContainsFunc(imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"context"` })
	count := map[string]int{}
	add := func(kind string, from, to token.Pos, text string) {
		count[kind]++
		a, b := f.offset(from), f.offset(to)
		p.mutants[kind] = append(p.mutants[kind], &Mutant{pkg: p, in: f, file: filepath.Join(p.rel(), file), line: f.set.Position(from).Line, from: a, to: b,
			old: f.src[a:b], new: text, kind: kind, name: name, nth: count[kind], decl: decl})
	}
	operator := func(x *ast.BinaryExpr) {
		for kind, swap := range map[string]map[token.Token]token.Token{"comparison": comparisons, "arithmetic": arithmetic, "logic": logic} {
			if to, ok := swap[x.Op]; ok {
				add(kind, x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), to.String())
			}
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			if s, ok := x.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Err" && isContext(s.X) {
				add("context", x.Pos(), x.End(), "error(nil)")
			}
			for _, a := range x.Args {
				if imported && isContext(a) {
					add("context", a.Pos(), a.End(), "context.Background()")
				}
			}
			if i, ok := x.Fun.(*ast.Ident); ok {
				if o, ok := across(i.Name); ok {
					add("rounding", i.Pos(), i.End(), o)
				}
			}
		case *ast.SelectorExpr:
			if o, ok := across(f.text(x)); ok {
				add("rounding", x.Pos(), x.End(), o)
			}
		case *ast.BinaryExpr:
			operator(x)
		case *ast.BasicLit:
			switch x.Kind {
			case token.INT:
				add("constant", x.Pos(), x.End(), "(2*"+x.Value+"+1)")
			case token.FLOAT:
				add("constant", x.Pos(), x.End(), "("+x.Value+"*2)")
			}
		case *ast.ExprStmt:
			add("statement", x.Pos(), x.End(), "")
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE && f.text(x.Lhs[0]) != "_" {
				add("statement", x.Pos(), x.End(), "")
			}
		case *ast.IncDecStmt:
			add("statement", x.Pos(), x.End(), "")
		}
		return true
	})
}
