package words

import (
	"bytes"
	"compress/gzip"
	"context"
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
		{"from the top of more than the header says", "2 1\na 1\nb 3\nc ?", "a b", 2, 1, []float32{3}},
		{"a number as a word", "2 1 7\n3 4 5\n", "2 3", 0, 2, []float32{4, 5}},
		{"blanks within a word", "a 1 2\n. . . 3 4\n", "a .|.|.", 0, 2, []float32{3, 4}},
		{"blanks within the first word, header", "2 3\nice cream 1 0 0\na 1 2 3\n", "ice|cream a", 0, 3, []float32{1, 2, 3}},
		{"other white space is part of a word", "a 1 2\nb\u00a0c 3 4\n", "a b\u00a0c", 0, 2, []float32{3, 4}},
		{"empty lines", "\n\na 1 2\n\n b 3 4\n", "a b", 0, 2, []float32{3, 4}},
		{"from the top", "a 1 2\nb 3 4\nc ?", "a b", 2, 2, []float32{3, 4}},
		{"from the top, header", "9 2\na 1 2\nb 3 4\nc ?", "a b", 2, 2, []float32{3, 4}},
		{"rounded", "a 1 2\nb 0.1 -1e-9\n", "a b", 0, 2, []float32{104858. / (1 << 20), 0}},
		{"gzip", packed.String(), "a b", 0, 2, []float32{3, 4}},
	} {
		v, err := Read(t.Context(), iotest.OneByteReader(strings.NewReader(c.text)), &ReadOptions{Max: c.max})
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
		"":                                  "f: no words",
		"\n \n":                             "f: no words",
		"a\n":                               `f: line 1: "a" has no numbers`,
		"a 1 2\nb 1\n":                      `f: line 2: "b" has 1 numbers, want 2`,
		"a 1 2\n\nb 1 x\n":                  `f: line 3: number 2 of "b" is no number of at most 1e30: "x"`,
		"a 1 2\nb 1 2 x\n":                  `number 2 of "b 1" is no number of at most 1e30: "x"`,
		"a NaN\n":                           `number 1 of "a" is no number`,
		"a 1\nb 1e31\n":                     `number 1 of "b" is no number`,
		"a 1\nb 0x1p4\n":                    `number 1 of "b" is no number`,
		"a 1\nb 1_0\n":                      `number 1 of "b" is no number`,
		"a 1\nb 2\na 3\n":                   `f: line 3: "a" is word 1 already`,
		"3 2\na 1 2\nb 3 4\n":               "f: 2 words, and the first line says 3",
		"2 2\na 1 2\nb 3\n":                 `f: line 3: "b" has 1 numbers, want 2`,
		strings.Repeat("a", 2<<20):          "f: line 1: longer than 1048576 bytes",
		"\x1f\x8bnot gzip":                  "f: ",
		packed.String()[:400]:               "f: after line",
		"2 2000000000\na 1 2\nb 2 3\n":      `f: line 1: 2000000000 dimensions, want at most 65536`,
		"2 3\na 1 2\nb 2 3\n":               `f: line 2: "a" has 2 numbers, want 3`,
		"2 1\na 1\nb 2\n\nc 3\n":            `f: line 5: "c" is one word more than the 2 that the first line says`,
		"a 1 x 2 3\nb 1 2 3 4\n":            `f: line 1: number 2 of "a" is no number of at most 1e30: "x"`,
		"a 1\n\xff 2\n":                     `f: line 2: "\xff" is not valid UTF-8`,
		"a" + strings.Repeat(" 1", 1<<16+1): `f: line 1: 65537 dimensions, want at most 65536`,
		"9 65537\na 1 2\n":                  `f: line 1: 65537 dimensions, want at most 65536`,
	} {
		if _, err := Read(t.Context(), strings.NewReader(text), &ReadOptions{Name: "f"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := Read(t.Context(), io.MultiReader(strings.NewReader("a 1\nb 2\n"), iotest.ErrReader(broken)), nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := Read(t.Context(), nil, nil); err == nil {
		t.Error("no reader is read")
	}
}

// packed is n lines of text, packed.
func packed(t *testing.T, n int, line func(i int) string) *bytes.Buffer {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range n {
		io.WriteString(z, line(i))
	}
	testkit.Check(t, z.Close())
	return &b
}

// What is packed in less than a hundredth of its size ends the reading before it fills memory
// or takes long, and so do limits and a context.
func TestRead_Limits(t *testing.T) {
	long := strings.Repeat("a", 1<<16)
	for name, line := range map[string]func(i int) string{
		"long words": func(i int) string { return fmt.Sprint(long, i, " 1\n") },
		"no words":   func(int) string { return strings.Repeat("\n", 1<<16) },
		"wide":       func(i int) string { return fmt.Sprint(i, strings.Repeat(" 1", 1<<15), "\n") },
	} {
		b := packed(t, 24, line)
		size := int64(b.Len())
		_, err := Read(t.Context(), b, &ReadOptions{Name: "f"})
		if err == nil || !strings.Contains(err.Error(), "packed in less than a 100th of its size") {
			t.Errorf("%s: %v", name, err)
		}
		if size > 100<<10 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
	text := "a 1\nb 2\nc 3\n"
	for _, c := range []struct {
		o    ReadOptions
		want string
	}{
		{ReadOptions{Bytes: 12}, ""},
		{ReadOptions{Bytes: math.MaxInt64}, ""},
		{ReadOptions{Bytes: 11}, "more than 11 bytes of text"},
		{ReadOptions{Bytes: -1}, "words: Read: Max and Bytes = -1"},
		{ReadOptions{Max: -1}, "words: Read: Max and Bytes = -1"},
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text)), packed(t, 3, func(i int) string { return text[4*i : 4*i+4] })} {
			if _, err := Read(t.Context(), r, &c.o); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v", c.o, err)
			}
		}
	}
	// Text that is meant to be packed so well.
	line := func(i int) string { return fmt.Sprint(i, strings.Repeat(" 0", 1<<12), "\n") }
	if v, err := Read(t.Context(), packed(t, 200, line), &ReadOptions{Bytes: 1 << 21}); err != nil || v.Len() != 200 {
		t.Error(v, err)
	}
	if _, err := Read(t.Context(), packed(t, 200, line), nil); err == nil {
		t.Error("no limit")
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := 0
	endless := reading(func(p []byte) (int, error) {
		if ended++; ended == 5 {
			cancel()
		} else if ended > 100 {
			return 0, errors.New("read on")
		}
		return copy(p, fmt.Sprintf("w%d 1\n", ended)), nil
	})
	if _, err := Read(ctx, endless, nil); !errors.Is(err, context.Canceled) || ended != 5 {
		t.Errorf("%v after %d reads", err, ended)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(late, strings.NewReader(text), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// reading is a reader of one function.
type reading func(p []byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

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
	v := testkit.Must(Read(t.Context(), generated(500, 30), nil))
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
}

func find(v *Vocabulary, word string) (int, error) {
	i, ok := v.Index(word)
	if !ok {
		return 0, errors.New(word)
	}
	return i, nil
}
