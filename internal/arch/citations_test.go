package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/citation"
)

// TestCitations_AreInThePapers reads all comments and strings of the repository, and its
// Markdown: what is cited of the five papers is among what they number. A citation that
// names no paper is of one that its folder names.
func TestCitations_AreInThePapers(t *testing.T) {
	found := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); strings.HasPrefix(name, ".") && name != ".." || name == "out" || name == "citation" {
			return filepath.SkipDir
		}
		texts, err := texts(dir)
		if err != nil {
			return err
		}
		var folder []string
		for _, text := range texts {
			folder = append(folder, citation.Papers(text)...)
		}
		found += len(folder)
		for place, text := range texts {
			for _, wrong := range citation.Wrong(text, folder...) {
				t.Errorf("%s cites %s, which is not in the paper", place, wrong)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 100 {
		t.Errorf("only %d citations found", found)
	}
}

// texts returns the comments and strings of a folder's Go files and the paragraphs of its
// Markdown, by where they begin.
func texts(dir string) (map[string]string, error) {
	all := map[string]string{}
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "*.md"))) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		line := 1
		for part := range strings.SplitSeq(string(text), "\n\n") {
			for i, row := range strings.Split(strings.ReplaceAll(part, "\n|", "\x00|"), "\x00") { // tables by rows
				all[file+":"+strconv.Itoa(line+i)] = row
			}
			line += strings.Count(part, "\n") + 2
		}
	}
	fset := token.NewFileSet()
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "*.go"))) {
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, c := range parsed.Comments {
			all[fset.Position(c.Pos()).String()] = c.Text()
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				all[fset.Position(s.Pos()).String()], err = strconv.Unquote(s.Value)
			}
			return err == nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
