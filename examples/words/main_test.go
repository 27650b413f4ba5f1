package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/demo"
)

func do(args ...string) (status int, stdout, stderr string) {
	var o, e bytes.Buffer
	status = demo.Run(context.Background(), "words", args, &o, &e, run)
	return status, o.String(), e.String()
}

// file writes an input file.
func file(t *testing.T, content string) string {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(in, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return in
}

// table reads table.csv of a folder: the numbers of a row by its name and
// column, where there are any.
func table(t *testing.T, dir string) map[string]map[string]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]float64{}
	for _, line := range lines[1:] {
		row := map[string]float64{}
		for k, cell := range line[1:] {
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				row[lines[0][k+1]] = v
			}
		}
		rows[line[0]] = row
	}
	return rows
}

// The table and the releases at the default seed. All but the row of Madlib, a
// simulation, are exact to rounding.
const golden = `
mechanism                   eps_tight  worst loss  95 % loss  mean loss  guessed
exponential                    0.3972       3.861      3.861      3.722   0.3989
exponential, tuned             0.6998       1.390      1.390      1.047   0.8111
exponential, tight weights     0.6999       1.342      1.342     0.9068   0.8349
Spanner                        0.6997       3.726      3.726      3.726   0.3619
ConstOPT, r = 4                0.6964       1.260      1.260      1.260   0.7551
OPTMech                        0.6999       1.243      1.243      1.243   0.7582
Madlib (simulated)                  -       6.220      6.220      6.065        -
lower bound                         -       1.243          -          -        -
word     exponential                              OPTMech
river    -> river, river, river, stream, island   -> river, river, river, river, creek
stream   -> lake, flu, stream, creek, beach       -> stream, coast, stream, stream, stream
sea      -> pain, creek, flu, sea, sea            -> cancer, sea, ocean, sea, sea
coast    -> stream, sea, ocean, flu, lake         -> ocean, coast, coast, shore, sea
island   -> island, island, lake, shore, cancer   -> island, island, ocean, island, island
cancer   -> cancer, cancer, pain, pain, sea       -> cancer, cancer, disease, virus, cancer
disease  -> disease, disease, pain, disease, flu  -> disease, disease, virus, disease, disease
stroke   -> beach, virus, stroke, beach, shore    -> stroke, stroke, stroke, stroke, stroke
`

func TestWords_Golden(t *testing.T) {
	dir := t.TempDir()
	status, out, stderr := do("-quiet", "-n", "16", "-r", "4", "-out", dir)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	// Without the build times, and the dash where there is none.
	got := regexp.MustCompile(`(?m) +(build time|[0-9.]+(ns|µs|ms|s)|-)$`).ReplaceAllString(out, "")
	if strings.TrimSpace(got) != strings.TrimSpace(golden) {
		t.Errorf("got\n%s\nwant\n%s", got, golden)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "released.csv")); err != nil || bytes.Count(b, []byte("\n")) != 16*7+1 {
		t.Errorf("released.csv: %d lines, %v", bytes.Count(b, []byte("\n")), err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "loss.png")); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("loss.png: %v", err)
	}
}

// IKWAT22's finding, on 30 words: ConstOPT loses less than all that is not
// optimal, and nearly as little as the optimum.
func TestWords_ConstOPT(t *testing.T) {
	dir := t.TempDir()
	status, _, stderr := do("-n", "30", "-r", "10", "-out", dir)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	rows := table(t, dir)
	loss := func(name string) float64 {
		v, ok := rows[name]["worst loss"]
		if !ok {
			t.Fatalf("no %q in %v", name, rows)
		}
		return v
	}
	near := loss("ConstOPT, r = 10")
	for _, other := range []string{"exponential", "exponential, tuned", "exponential, tight weights", madlibName} {
		if loss(other) < 1.1*near {
			t.Errorf("%s loses %v, ConstOPT %v", other, loss(other), near)
		}
	}
	if opt := loss(optMech); near > 1.02*opt || loss("lower bound") < opt*(1-1e-5) || loss("lower bound") > opt {
		t.Errorf("ConstOPT %v, OPTMech %v, lower bound %v", near, opt, loss("lower bound"))
	}
}

func TestWords_Inputs(t *testing.T) {
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"a 0\nb 1\n\n  c   3\n", nil, "3 words of in.txt in 1 dimensions"},
		{"a 0 0\nb 3 4\nc 3 4\n", nil, "from 0 apart (b, c) to 5 (a, b)"}, // two words with one vector
		{"a 0 0\nb 3 4\nc ?\n", []string{"-n", "2"}, "2 words"},           // what follows is not looked at
		{"a 0 0\nb 3 4\nc 1 1\n", []string{"-time", "0"}, "by star"},
		{"a 1 1\nb 1 1\n", nil, "all 2 words have one vector"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1000"}, "OPTMech"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1e-6"}, "Least worst loss"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1e-40"}, "too small"},
		{"a 0\nb 1e-300\nc 3e-300\n", nil, "too small"},
		{"a 0\nb 1e100\nc -1e100\n", nil, "Madlib"},
	} {
		args := append([]string{"-in", file(t, c.in), "-r", "1,2", "-out", t.TempDir()}, c.args...)
		status, out, stderr := do(args...)
		if status != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%q %v: status %d, no %q in\n%s%s", c.in, c.args, status, c.want, out, stderr)
		}
	}
}

func TestWords_BadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"-alpha 0: want a number in":             {"-alpha", "0"},
		"-alpha -1":                              {"-alpha", "-1"},
		"-alpha NaN":                             {"-alpha", "NaN"},
		"-alpha +Inf":                            {"-alpha", "Inf"},
		"-n 1: want 2 to 1000":                   {"-n", "1"},
		"-n 1001":                                {"-n", "1001"},
		"-time -1s: want a duration >= 0":        {"-time", "-1s"},
		"-r \"5,x\": \"x\" is not a whole":       {"-r", "5,x"},
		"\"0\" is not a whole number > 0":        {"-r", "0"},
		"\"\" is not a whole number > 0":         {"-r", ""},
		"-r 51: want at most the 50 words":       {"-r", "51"},
		"no such file":                           {"-in", "/no/such/file"},
		"0 words, want two at least":             {"-in", file(t, "\n")},
		"1 words, want two at least":             {"-in", file(t, "a 1 2\n")},
		"line 2: 1 numbers, want 2":              {"-in", file(t, "a 1 2\nb 1\n")},
		"line 1: 0 numbers, want at least one":   {"-in", file(t, "a\nb\n")},
		"line 3: \"a\" is the word of line 1":    {"-in", file(t, "a 1\nb 2\na 3\n")},
		"line 2: number 2 of \"b\" is no number": {"-in", file(t, "a 1 2\nb 1 x\n")},
		"number 1 of \"a\" is no number":         {"-in", file(t, "a NaN\n")},
		"number 1 of \"b\" is no number":         {"-in", file(t, "a 1\nb 1e101\n")},
		"a line of more than 65536 bytes":        {"-in", file(t, strings.Repeat("a", 70000))},
		"unexpected argument":                    {"river"},
	} {
		status, _, stderr := do(args...)
		if status != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q in one line", args, status, stderr, want)
		}
	}
}

// The shipped vocabulary is what DATA.md says.
func TestWords_Vocabulary(t *testing.T) {
	var s study
	if err := s.scan("words.txt", bytes.NewReader(vocabulary), maxWords); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(len(s.words), len(s.vectors[0]), s.words[0], s.words[199]); got != "200 100 river mobile\n" {
		t.Error(got)
	}
	if len(vocabulary) > 300<<10 {
		t.Errorf("%d bytes", len(vocabulary))
	}
}
