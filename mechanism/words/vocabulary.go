package words

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Vocabulary is a public list of words, each with a vector of float32. Word i is the point i of
// [Vocabulary.Points]. It is immutable and safe for concurrent use.
type Vocabulary struct {
	words   []string
	index   map[string]int
	vectors [][]float32
	points  *metric.Points[[]float32]

	once    sync.Once // makes phrases
	phrases phrases   // for Split
}

// Step is that of the lattice on which [Read] puts vectors, a millionth: words on a lattice are known to
// coincide or to lie apart without looking at all pairs, which exponential.Truncated makes use of.
const Step = 0x1p-20

// Limits of Read against input that is not what it says.
const (
	maxLine   = 1 << 20 // bytes: some tens of thousands of numbers and a word
	maxDim    = 1 << 16
	maxNumber = 1e30 // in size; its square times the dimension is a float32
	maxRatio  = 100  // of the sizes of a text and of what it is packed in; numbers have 2 to 4
)

// ReadOptions tune [Read]. Nil and the zero value mean the defaults.
type ReadOptions struct {
	Name string // of the file, for messages
	Max  int    // the words to read, from the top; 0: all. What follows is not looked at.
	// Bytes is the most text to read, after unpacking; more is an error. 0 means 16 GiB
	// and, where it is packed, no more than 1 MiB and 100 times what it is packed in.
	Bytes int64
}

// New returns the vocabulary of the words, which must differ, be valid UTF-8 and not be empty, and
// their vectors, of one length >= 1, finite numbers. The vectors are not copied, and must not be
// modified afterwards.
func New(words []string, vectors [][]float32) (*Vocabulary, error) {
	const op = "words: New"
	if err := cmp.Or(fault.Empty(op, "words", len(words)), fault.Size(op, "vectors", len(vectors), len(words))); err != nil {
		return nil, err
	}
	v := &Vocabulary{words: slices.Clone(words), index: make(map[string]int, len(words)), vectors: slices.Clone(vectors)}
	for i, w := range words {
		if w == "" {
			return nil, fmt.Errorf("%s: words[%d] is empty", op, i)
		}
		if !utf8.ValidString(w) {
			return nil, fmt.Errorf("%s: words[%d] = %.40q is not valid UTF-8", op, i, w)
		}
		if j, ok := v.index[w]; ok {
			return nil, fmt.Errorf("%s: words[%d] = %.40q is words[%d] too", op, i, w, j)
		}
		v.index[w] = i
	}
	return v.made(op)
}

func (v *Vocabulary) made(op string) (*Vocabulary, error) {
	var err error
	if v.points, err = metric.NewPoints(v.vectors, metric.Float32[metric.Euclidean]{}); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return v, nil
}

// Read reads a vocabulary as text: a line for each word, the word and its numbers, parted by blanks or tabs, as
// GloVe has it (Pennington, Socher, Manning, 2014), or after a first line with the number of words and of
// dimensions, two whole numbers, as word2vec's text output and fastText's .vec files. Input that begins as gzip
// does is unpacked. Empty lines and a byte order mark are skipped.
//
// Where a line but the first has more fields than a word and the numbers, the word is all that comes before the
// numbers, blanks within it. Numbers are decimals of at most 1e30 in size, rounded to multiples of [Step] and to
// float32; levels are per unit of the distance between the rounded vectors.
//
// An error names the line and the word: a number that is none, a line with fewer than the others, a word that
// occurred before or is not valid UTF-8, a line of more than a megabyte, more than [ReadOptions.Bytes] or 65,536
// dimensions, a file without words or with fewer or more than its header says. ctx ends the reading every 64 KiB
// of text. One pass, 4 bytes a number and about 100 a word; a vocabulary of more than 16 GiB is a
// [*metric.MemoryError].
func Read(ctx context.Context, r io.Reader, o *ReadOptions) (*Vocabulary, error) {
	const op = "words: Read"
	if o == nil {
		o = &ReadOptions{}
	}
	if r == nil {
		return nil, fault.Empty(op, "r", 0)
	}
	if o.Max < 0 || o.Bytes < 0 {
		return nil, fault.Value(op, "Max and Bytes", float64(min(int64(o.Max), o.Bytes)), "integers >= 0")
	}
	rd := &reader{op: op, file: cmp.Or(o.Name, op), max: o.Max, v: &Vocabulary{index: make(map[string]int)}}
	if err := rd.read(ctx, r, o.Bytes); err != nil {
		return nil, err
	}
	return rd.v.made(op)
}

// reader is the state of one Read.
type reader struct {
	op, file string
	max      int
	line     int
	dim      int       // 0 before the first line
	want     int       // the words that the header says; 0: no header
	rest     []float32 // of the block that vectors are cut from
	v        *Vocabulary
}

func (rd *reader) fail(format string, args ...any) error {
	return &csvfile.Error{File: rd.file, Line: rd.line, Reason: fmt.Sprintf(format, args...)}
}

// source hands out bytes of r until ctx is done or r has an error, which stays.
type source struct {
	ctx    context.Context
	r      io.Reader
	n      int64
	most   int64   // bytes
	packed *source // if not nil, what it comes from, which it may exceed maxRatio times
	err    error
}

func (s *source) Read(p []byte) (n int, err error) {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil {
		return 0, s.err
	}
	n, s.err = s.r.Read(p)
	switch s.n += int64(n); {
	case s.n > s.most:
		s.err = fmt.Errorf("more than %d bytes of text", s.most)
	case s.packed != nil && s.n > 1<<20+maxRatio*s.packed.n:
		s.err = fmt.Errorf("packed in less than a %dth of its size: set Bytes, if that is meant", maxRatio)
	}
	return n, s.err
}

func (rd *reader) read(ctx context.Context, r io.Reader, most int64) error {
	raw := &source{ctx: ctx, r: r, most: math.MaxInt64}
	buffered := bufio.NewReaderSize(raw, 1<<16)
	text := &source{ctx: ctx, r: buffered, most: cmp.Or(most, 16<<30)}
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%s: %w", rd.file, err)
		}
		if text.r = unpacked; most == 0 {
			text.packed = raw
		}
	}
	lines := bufio.NewScanner(bounded.WithoutMark(text))
	lines.Buffer(nil, maxLine)
	for !rd.full() && lines.Scan() {
		rd.line++
		if text := strings.TrimRight(lines.Text(), " \t\r"); text != "" {
			if err := rd.add(text); err != nil && lines.Err() == nil { // else the line was cut short
				return err
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		rd.line++
		return rd.fail("longer than %d bytes", maxLine)
	case err != nil:
		return fmt.Errorf("%s: after line %d: %w", rd.file, rd.line, err)
	}
	switch n := len(rd.v.words); {
	case n == 0:
		return fmt.Errorf("%s: no words", rd.file)
	case n < rd.want && !rd.full():
		return fmt.Errorf("%s: %d words, and the first line says %d", rd.file, n, rd.want)
	}
	return nil
}

func (rd *reader) full() bool { return rd.max > 0 && len(rd.v.words) >= rd.max }

// add takes a line.
func (rd *reader) add(text string) error {
	if n, dim, ok := counts(text); ok && rd.dim == 0 {
		if rd.want, rd.dim = n, dim; dim > maxDim {
			return rd.wide()
		}
		return nil
	}
	return rd.word(text)
}

func (rd *reader) wide() error {
	return rd.fail("%d dimensions, want at most %d", rd.dim, maxDim)
}

// number reads one.
func number(field string) (x float64, ok bool) {
	x, err := fault.Decimal(field)
	return x, err == nil && math.Abs(x) <= maxNumber
}

// counts reads a header.
func counts(text string) (n, dim int, ok bool) {
	f := fields(text)
	if len(f) != 2 {
		return 0, 0, false
	}
	n, err1 := strconv.Atoi(f[0])
	dim, err2 := strconv.Atoi(f[1])
	return n, dim, err1 == nil && err2 == nil && n > 0 && dim > 0
}

// fields parts a line at blanks and tabs alone: words may hold other white space.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
}

// word takes the line of a word.
func (rd *reader) word(text string) error {
	f := fields(text)
	if rd.dim == 0 {
		rd.dim = len(f) - 1
	}
	switch n := len(f) - 1; {
	case n < 1:
		return rd.fail("%.40q has no numbers", f[0])
	case n < rd.dim:
		return rd.fail("%.40q has %d numbers, want %d", f[0], n, rd.dim)
	case rd.dim > maxDim:
		return rd.wide()
	case rd.want > 0 && len(rd.v.words) == rd.want:
		return rd.fail("%.40q is one word more than the %d that the first line says", f[0], rd.want)
	}
	word := strings.Join(f[:len(f)-rd.dim], " ")
	if i, ok := rd.v.index[word]; ok {
		return rd.fail("%.40q is word %d already", word, i+1)
	}
	if !utf8.ValidString(word) {
		return rd.fail("%.40q is not valid UTF-8", word)
	}
	word = strings.Clone(word) // not the line
	if len(rd.rest) < rd.dim {
		n := float64(len(rd.v.words)+block) * float64(rd.dim)
		if err := fault.Memory(rd.op, n, 4); err != nil {
			return err
		}
		rd.rest = make([]float32, max(1, min(block, 1<<20/rd.dim))*rd.dim)
	}
	vector := rd.rest[:rd.dim:rd.dim]
	for k, field := range f[len(f)-rd.dim:] {
		x, ok := number(field)
		if !ok {
			return rd.fail("number %d of %.40q is no number of at most 1e30: %.20q", k+1, word, field)
		}
		vector[k] = float32(math.RoundToEven(x/Step)*Step) + 0 // one zero
	}
	rd.rest = rd.rest[rd.dim:]
	rd.v.index[word] = len(rd.v.words)
	rd.v.words, rd.v.vectors = append(rd.v.words, word), append(rd.v.vectors, vector)
	return nil
}

// block is for how many words memory is taken at a time.
const block = 1024

// Len returns the number of words, 0 for nil.
func (v *Vocabulary) Len() int {
	if v == nil {
		return 0
	}
	return len(v.words)
}

// Dim returns the length of the vectors.
func (v *Vocabulary) Dim() int {
	if v.Len() == 0 {
		return 0
	}
	return len(v.vectors[0])
}

// Words returns the words in order, for mechanism.Labels. It must not be modified.
func (v *Vocabulary) Words() []string { return v.words }

// Vectors returns the vectors in order, for additive.NewMadlib. They must not be modified.
func (v *Vocabulary) Vectors() [][]float32 { return v.vectors }

// Index returns the number of a word; ok is false for a word that is not in the list.
func (v *Vocabulary) Index(word string) (i int, ok bool) {
	i, ok = v.index[word]
	return i, ok
}

// Points returns the words as points under the Euclidean distance of their vectors.
func (v *Vocabulary) Points() *metric.Points[[]float32] { return v.points }

// String is for people: "50000 words in 100 dimensions".
func (v *Vocabulary) String() string {
	return fmt.Sprintf("%d words in %d dimensions", v.Len(), v.Dim())
}

// Nearest returns the k words nearest to word, nearest first. The error reports a word that is not
// in the list or a k outside [1, Len()-1]. O(Len()*Dim()).
func (v *Vocabulary) Nearest(word string, k int) ([]string, error) {
	const op = "words: Vocabulary.Nearest"
	i, ok := v.index[word]
	if !ok {
		return nil, fmt.Errorf("%s: %.40q is none of the %d words", op, word, v.Len())
	}
	if k < 1 || k >= v.Len() {
		return nil, fault.Value(op, "k", float64(k), fmt.Sprintf("an integer in [1, %d]", v.Len()-1))
	}
	near := make([]string, k)
	for j, y := range metric.NewIndex(v.points).Neighbors(i, k, nil) {
		near[j] = v.words[y]
	}
	return near, nil
}

// Reach returns a number at least as large as every distance of two words, and at most twice the
// largest, for additive.Norm.AlphaForLevel: twice the largest distance from their mean.
// As a reach of exponential.Truncated it truncates nothing. O(Len()*Dim()).
func (v *Vocabulary) Reach(ctx context.Context) (float64, error) {
	if v.Len() == 0 {
		return 0, fault.Empty("words: Vocabulary.Reach", "the vocabulary", 0)
	}
	mean := make([]float64, v.Dim())
	for _, x := range v.vectors {
		for j, c := range x {
			mean[j] += float64(c) / float64(v.Len())
		}
	}
	far := 0.0
	for i, x := range v.vectors {
		if i%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		s := 0.0
		for j, c := range x {
			s += float64((float64(c) - mean[j]) * (float64(c) - mean[j]))
		}
		far = max(far, s)
	}
	return 2 * math.Sqrt(far) * (1 + 0x1p-30), nil
}
