package arch

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/citation"
)

// page reads a file of the repository.
func page(name string) string {
	return string(testkit.Must(os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))))
}

// random is what differs from run to run in what the programs of the pages print: a
// place, a word, a row of CSV and a list of numbers.
var random = regexp.MustCompile(`\{\S+ \S+\}|-> \w+|(?m:^\w+,[\d.]+,\d+$)|\[[\d ]+\]`)

// numbered is the output of a program with what is random numbered in the order in which
// it appears first: what it is differs, what is the same as before does not.
func numbered(out string) string {
	var seen []string
	return random.ReplaceAllStringFunc(out, func(drawn string) string {
		if !slices.Contains(seen, drawn) {
			seen = append(seen, drawn)
		}
		return fmt.Sprintf("<%d>", slices.Index(seen, drawn))
	})
}

// source makes a file of package main of a block of Go: a program's main and statements become
// the function of that name, after the imports of what is named.
func source(block, name string) string {
	if strings.HasPrefix(block, "package ") {
		return strings.Replace(block, "func main()", "func "+name+"()", 1)
	}
	if !strings.HasPrefix(block, "func ") {
		block = "func " + name + "() {\n" + block + "}\n"
	}
	imports := "package main\n\n"
	for _, p := range slices.Concat([]string{"context", "fmt", "log", "os", "slices"}, slices.Sorted(maps.Keys(rooms))) {
		if regexp.MustCompile(`\b` + path.Base(p) + `\.`).MatchString(block) {
			if _, public := rooms[p]; public {
				p = module + "/" + p
			}
			imports += fmt.Sprintf("import %q\n", p)
		}
	}
	return imports + block
}

// TestReadme_ProgramsRun runs every block of Go on both pages, a file each of one program, as
// [source] makes it, and compares what it prints with the indented lines below it.
func TestReadme_ProgramsRun(t *testing.T) {
	touch(t)
	type shown struct{ page, block, said string }
	var programs []shown
	fix := regexp.MustCompile(`Release\(nil, metric\.LatLon{Lat: (\S+), Lon: (\S+)}`)
	dir, files, calls := t.TempDir(), []string{"run"}, ""
	write := func(name, source string) {
		files = append(files, filepath.Join(dir, name+".go"))
		testkit.Check(t, os.WriteFile(files[len(files)-1], []byte(source), 0o644))
	}
	for name, want := range map[string]int{"README.md": 2, "examples/README.md": 5} {
		text, count := page(name), 0
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```\n\n?((?:    [^\n]*\n)*)").FindAllStringSubmatch(text, -1)
		if len(blocks) != strings.Count(text, "```go") {
			t.Errorf("%s: %d blocks, want %d", name, len(blocks), strings.Count(text, "```go"))
		}
		for _, b := range blocks {
			block, said := b[1], regexp.MustCompile("(?m)^    ").ReplaceAllString(b[2], "")
			if formatted, err := format.Source([]byte(block)); err != nil || string(formatted) != block {
				t.Errorf("%s: not formatted (%v):\n%s", name, err, block)
			}
			function := fmt.Sprintf("program%d", len(files))
			write(function, source(block, function))
			if strings.HasPrefix(block, "func ") {
				continue
			}
			count++
			programs, calls = append(programs, shown{name, block, said}), calls+function+`(); print("\x00");`
			if name == "README.md" && count == 1 && (strings.Count(block, "\n") != 6 || !fix.MatchString(block)) {
				t.Errorf("no fix in six lines:\n%s", block)
			}
		}
		if count != want {
			t.Errorf("%s has %d programs, want %d", name, count, want)
		}
	}
	write("main", "package main\n\nfunc main() { "+calls+" }\n")
	cmd := exec.Command("go", files...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, out := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		p := programs[i]
		if numbered(out) != numbered(p.said) {
			t.Errorf("%s says\n%s\nand what is printed is\n%s", p.page, p.said, out)
		}
		if at := fix.FindStringSubmatch(p.block); at != nil {
			if strings.Contains(out, at[1]+" "+at[2]) {
				t.Errorf("of a fix comes %s", out)
			}
			if digits := regexp.MustCompile(`\{\S+\.\d{1,7} \S+\.\d{1,7}\} `); !digits.MatchString(out) || !digits.MatchString(p.said) {
				t.Errorf("digits beyond those of the grid: %s", out)
			}
		}
	}
}

// TestReadme_ShortAndInOrder: a stranger reads README.md in a few minutes, and finds what
// decides first at the top.
func TestReadme_ShortAndInOrder(t *testing.T) {
	text := page("README.md")
	if n := len(strings.Fields(text)); n >= 700 {
		t.Errorf("%d words, want fewer than 700", n)
	}
	first := `^# metricdp\n\n[^#!]+?\.\n\nIn a clone of this repository:\n\n {4}go run \./examples/location +# .+: .* s.*\n {4}go test \./\.\.\. +# .*minute.*\n\n!\[`
	if !regexp.MustCompile(first).MatchString(text) {
		t.Errorf("it does not begin with two sentences and what to run, with the time that it takes:\n%.700s", text)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(?:## (.*)|(!)\[.*)$`).FindAllStringSubmatch(text, -1) {
		got = append(got, m[1]+m[2])
	}
	want := []string{"!", "A GPS fix in six lines", "The best answer from a list", "Who should not use it", "Packages", "Guarantees", "The rest"}
	if !slices.Equal(got, want) {
		t.Errorf("headings, and ! for pictures: %q, want %q", got, want)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(.*?)` \\|").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if public := slices.Sorted(maps.Keys(rooms)); !slices.Equal(listed, public) {
		t.Errorf("packages %q, want %q", listed, public)
	}
}

// TestReadme_LinksLead: the files, folders, headings and benchmarks that the pages point to are there.
func TestReadme_LinksLead(t *testing.T) {
	benchmarks := ""
	for _, name := range files(t) {
		if strings.HasSuffix(name, "_test.go") {
			benchmarks += strings.Join(regexp.MustCompile(`(?m)^func Benchmark\w+`).FindAllString(page(name), -1), " ")
		}
	}
	for _, name := range []string{"README.md", "examples/README.md", "examples/MEASURED.md", ".github/CONTRIBUTING.md", ".github/CHANGELOG.md"} {
		for _, m := range regexp.MustCompile(`-bench[= ]'?([\w|]+)`).FindAllStringSubmatch(page(name), -1) {
			for one := range strings.SplitSeq(m[1], "|") {
				if !strings.Contains(benchmarks, one) {
					t.Errorf("%s: no benchmark %s", name, one)
				}
			}
		}
		prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page(name), "")
		for _, m := range regexp.MustCompile(`\]\(([^):]*)\)`).FindAllStringSubmatch(prose, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if to = path.Join(path.Dir(name), to); strings.HasPrefix(m[1], "#") {
				to = name
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if anchor != "" && !slices.Contains(anchors(page(to)), anchor) {
				t.Errorf("%s: no heading #%s in %s", name, anchor, to)
			}
		}
		for _, m := range regexp.MustCompile(`(?:go run \./|cd )(examples/\w+)`).FindAllStringSubmatch(prose, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// anchors are the names by which links reach the headings of a page, as GitHub makes them.
func anchors(text string) (names []string) {
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}

// TestCitations_AreInThePapers reads all comments and strings of the repository, and its
// Markdown: what is cited of the five papers is among what they number. A citation that
// names no paper is of one that its folder names.
func TestCitations_AreInThePapers(t *testing.T) {
	found, folders := 0, map[string]bool{}
	for _, path := range files(t) {
		folders[filepath.Dir(path)] = true
	}
	for dir := range folders {
		if filepath.Base(dir) == "citation" {
			continue
		}
		texts := texts(filepath.Join(root, dir))
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
	}
	if found < 100 {
		t.Errorf("only %d citations found", found)
	}
}

// texts returns the comments and strings of a folder's Go files and the paragraphs of its
// Markdown, by where they begin.
func texts(dir string) map[string]string {
	all := map[string]string{}
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "*.md"))) {
		line := 1
		for part := range strings.SplitSeq(string(testkit.Must(os.ReadFile(file))), "\n\n") {
			for i, row := range strings.Split(strings.ReplaceAll(part, "\n|", "\x00|"), "\x00") { // tables by rows
				all[file+":"+strconv.Itoa(line+i)] = row
			}
			line += strings.Count(part, "\n") + 2
		}
	}
	fset := token.NewFileSet()
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "*.go"))) {
		parsed := testkit.Must(parser.ParseFile(fset, file, nil, parser.ParseComments))
		for _, c := range parsed.Comments {
			all[fset.Position(c.Pos()).String()] = c.Text()
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				all[fset.Position(s.Pos()).String()] = testkit.Must(strconv.Unquote(s.Value))
			}
			return true
		})
	}
	return all
}
