package words

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The formats of GloVe, word2vec and fastText, with and without the header line, with the ends of
// lines that they have, and packed.
func TestRead_Formats(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "a 1 2\nb 3 4\n")
	testkit.Check(t, z.Close())
	for _, c := range []struct {
		name, text, words string
		max, dim          int
		last              []float32
	}{
		{"GloVe", "a 1 2\nb 3 4\n", "a b", 0, 2, []float32{3, 4}},
		{"no end", "a 1 2\nb 3 -4.5e0", "a b", 0, 2, []float32{3, -4.5}},
		{"byte order mark", "\ufeff2 2\na 1 2\nb 3 4\n", "a b", 0, 2, []float32{3, 4}},
		{"header", "2 2\na 1 2\nb 3 4\n", "a b", 0, 2, []float32{3, 4}},
		{"blanks at the ends", "2 2 \na 1 2 \r\nb 3 4 \r\n", "a b", 0, 2, []float32{3, 4}},
		{"tabs", "a\t1\t2\nb\t3\t4\n", "a b", 0, 2, []float32{3, 4}},
		{"more than the header says", "2 1\na 1\nb 3\nc ?", "a b", 0, 1, []float32{3}},
		{"a number as a word", "2 1 7\n3 4 5\n", "2 3", 0, 2, []float32{4, 5}},
		{"a number in one dimension", "7 2\nb 3\n", "7 b", 0, 1, []float32{3}},
		{"one line that could be a header", "7 2\n", "7", 0, 1, []float32{2}},
		{"blanks within a word", "a 1 2\n. . . 3 4\n", "a .|.|.", 0, 2, []float32{3, 4}},
		{"other white space is part of a word", "a 1 2\nb\u00a0c 3 4\n", "a b\u00a0c", 0, 2, []float32{3, 4}},
		{"empty lines", "\n\na 1 2\n\n b 3 4\n", "a b", 0, 2, []float32{3, 4}},
		{"from the top", "a 1 2\nb 3 4\nc ?", "a b", 2, 2, []float32{3, 4}},
		{"from the top, header", "9 2\na 1 2\nb 3 4\nc ?", "a b", 2, 2, []float32{3, 4}},
		{"rounded", "a 1 2\nb 0.1 -1e-9\n", "a b", 0, 2, []float32{104858. / (1 << 20), 0}},
		{"gzip", packed.String(), "a b", 0, 2, []float32{3, 4}},
	} {
		v, err := Read(iotest.OneByteReader(strings.NewReader(c.text)), &ReadOptions{Max: c.max})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := strings.Split(c.words, " ")
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "|", " ")
			if j, ok := v.Index(want[i]); j != i || !ok {
				t.Errorf("%s: %q is word %d", c.name, want[i], j)
			}
		}
		if !slices.Equal(v.Words(), want) || v.Dim() != c.dim || !slices.Equal(v.Vectors()[v.Len()-1], c.last) {
			t.Errorf("%s: %q in %d dimensions, the last %v", c.name, v.Words(), v.Dim(), v.Vectors()[v.Len()-1])
		}
	}
}

func TestRead_BadInput(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.Copy(z, generated(100, 5))
	testkit.Check(t, z.Close())
	for text, want := range map[string]string{
		"":                             "f: no words",
		"\n \n":                        "f: no words",
		"a\n":                          `f: line 1: "a" has no numbers`,
		"a 1 2\nb 1\n":                 `f: line 2: "b" has 1 numbers, want 2`,
		"a 1 2\n\nb 1 x\n":             `f: line 3: number 2 of "b" is no number of at most 1e30: "x"`,
		"a 1 2\nb 1 2 x\n":             `number 2 of "b 1" is no number of at most 1e30: "x"`,
		"a NaN\n":                      `number 1 of "a" is no number`,
		"a 1\nb 1e31\n":                `number 1 of "b" is no number`,
		"a 1\nb 0x1p4\n":               `number 1 of "b" is no number`,
		"a 1\nb 1_0\n":                 `number 1 of "b" is no number`,
		"a 1\nb 2\na 3\n":              `f: line 3: "a" is word 1 already`,
		"3 2\na 1 2\nb 3 4\n":          "f: 2 words, and the first line says 3",
		"2 2\na 1 2\nb 3\n":            `f: line 3: "b" has 1 numbers, want 2`,
		strings.Repeat("a", 2<<20):     "f: line 1: longer than 1048576 bytes",
		"\x1f\x8bnot gzip":             "f: ",
		packed.String()[:400]:          "f: after line",
		"2 2000000000\na 1 2\nb 2 3\n": `f: line 2: "a" has 2 numbers, want 2000000000`,
		"2 3\na 1 2\nb 2 3\n":          `f: line 2: "a" has 2 numbers, want 3`,
	} {
		if _, err := Read(strings.NewReader(text), &ReadOptions{Name: "f"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := Read(io.MultiReader(strings.NewReader("a 1\nb 2\n"), iotest.ErrReader(broken)), nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := Read(nil, nil); err == nil {
		t.Error("no reader is read")
	}
	if _, err := Read(strings.NewReader("a 1\n"), &ReadOptions{Max: -1}); err == nil || !strings.Contains(err.Error(), "words: Read: Max = -1") {
		t.Error(err)
	}
}

func TestNew_BadInput(t *testing.T) {
	one := [][]float32{{1}, {2}}
	nan := float32(math.NaN())
	for _, c := range []struct {
		words   []string
		vectors [][]float32
		want    string
	}{
		{nil, nil, "words: New: words: empty"},
		{[]string{"a"}, one, "words: New: vectors has size 2, want 1"},
		{[]string{"a", ""}, one, "words: New: words[1] is empty"},
		{[]string{"a", "a"}, one, `words: New: words[1] = "a" is words[0] too`},
		{[]string{"a", "b"}, [][]float32{{1}, {1, 2}}, "pts[1]"},
		{[]string{"a", "b"}, [][]float32{{1}, {nan}}, "pts[1]"},
	} {
		if _, err := New(c.words, c.vectors); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// generated is a file of n words in d dimensions, in clusters of ten.
func generated(n, d int) *bytes.Buffer {
	rng := random.Seeded(7)
	var b bytes.Buffer
	fmt.Fprintln(&b, n, d)
	center, x := make([]float64, d), make([]float64, d)
	for i := range n {
		if i%10 == 0 {
			random.FillNormal(rng, center)
		}
		random.FillNormal(rng, x)
		line := fmt.Appendf(b.AvailableBuffer(), "w%d", i)
		for j := range x {
			line = strconv.AppendFloat(append(line, ' '), .6*center[j]+.2*x[j], 'f', 3, 64)
		}
		b.Write(append(line, '\n'))
	}
	return &b
}

func TestVocabulary_NearestAndReach(t *testing.T) {
	v := testkit.Must(Read(generated(500, 30), nil))
	near := testkit.Must(v.Nearest("w123", 4))
	x, _ := v.Index("w123")
	for k, w := range near {
		y, _ := v.Index(w)
		if y/10 != 12 || k > 0 && v.Points().Distance(x, y) < v.Points().Distance(x, testkit.Must(find(v, near[k-1]))) {
			t.Errorf("near w123: %v", near)
		}
	}
	wide, _, _, err := metric.Diameter(t.Context(), v.Points())
	testkit.Check(t, err)
	if r := testkit.Must(v.Reach(t.Context())); r < wide || r > 2*wide {
		t.Errorf("reach %v, diameter %v", r, wide)
	}
	for _, c := range []struct {
		word string
		k    int
		want string
	}{{"x", 1, `"x" is none of the 500 words`}, {"w1", 0, "k = 0"}, {"w1", 500, "k = 500"}} {
		if _, err := v.Nearest(c.word, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	var zero Vocabulary
	if _, err := zero.Reach(t.Context()); zero.Len() != 0 || zero.Dim() != 0 || err == nil {
		t.Error("the zero Vocabulary has words")
	}
}

func find(v *Vocabulary, word string) (int, error) {
	i, ok := v.Index(word)
	if !ok {
		return 0, errors.New(word)
	}
	return i, nil
}

// A vocabulary of 50,000 words is read and used at once; what is released are words that were
// made near the one given more often than others.
func TestRead_FiftyThousand(t *testing.T) {
	const n, d = 50_000, 25
	v := testkit.Must(Read(generated(n, d), nil))
	if v.Len() != n || v.Dim() != d {
		t.Fatal(v)
	}
	for name, m := range map[string]mechanism.Mechanism[int, int]{
		"Madlib":    testkit.Must(additive.NewMadlib(v.Vectors(), 14, nil)),
		"truncated": testkit.Must(exponential.Truncated(t.Context(), v.Points(), 6, 5, nil)),
	} {
		named, rng, kept, near := testkit.Must(mechanism.Labels(m, v.Words())), random.Seeded(8), 0, 0
		for k := range 40 {
			x := k * (n / 40)
			y := testkit.Must(find(v, testkit.Must(named.Release(rng, v.Words()[x]))))
			if y == x {
				kept++
			} else if y/10 == x/10 {
				near++
			}
		}
		if kept < 5 || kept > 38 || near < 1 {
			t.Errorf("%s: of 40 words %d stay and %d become one of the nearest nine", name, kept, near)
		}
	}
}

// A release from 50,000 words.
func BenchmarkRelease(b *testing.B) {
	for _, d := range []int{100, 300} {
		text := generated(50_000, d).Bytes()
		b.Run(fmt.Sprintf("Read/d=%d", d), func(b *testing.B) {
			for b.Loop() {
				testkit.Must(Read(bytes.NewReader(text), nil))
			}
		})
		v, rng := testkit.Must(Read(bytes.NewReader(text), nil)), random.Seeded(9)
		m, tem := testkit.Must(additive.NewMadlib(v.Vectors(), 20, nil)), testkit.Must(exponential.Truncated(b.Context(), v.Points(), 8, 4, nil))
		testkit.Bench(b, fmt.Sprintf("Madlib/d=%d", d), func() { _, _ = m.Release(rng, 17) })
		testkit.Bench(b, fmt.Sprintf("Truncated/d=%d", d), func() { _, _ = tem.Release(rng, 17) })
	}
}
