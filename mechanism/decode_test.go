package mechanism

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

const start = `{"format":"metricdp.channel/1","inputs":2,"outputs":2,"log":true,`

// endless is a document that goes on with the same text for ever, as long as it is
// read. It counts the bytes and stops at a limit.
type endless struct {
	head, again string
	read        int
}

var errReadOn = errors.New("read on and on")

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 4<<20 {
		return 0, errReadOn
	}
	for i := range p {
		if k := e.read + i; k < len(e.head) {
			p[i] = e.head[k]
		} else {
			p[i] = e.again[(k-len(e.head))%len(e.again)]
		}
	}
	e.read += len(p)
	return len(p), nil
}

// flaky has one error at a byte, and then goes on.
type flaky struct {
	r    io.Reader
	left int
}

func (f *flaky) Read(p []byte) (int, error) {
	if f.left == 0 {
		f.left = -1
		return 0, errReadOn
	}
	if f.left > 0 {
		p = p[:min(len(p), f.left)]
		f.left -= len(p)
	}
	return f.r.Read(p)
}

// An error of the reader is returned wherever it comes, behind the document too, and a
// byte order mark is skipped.
func TestReadChannel_LosesNoError(t *testing.T) {
	const text = start + `"weights":[[0,-1],[-1,0]]}` + "\n"
	for k := range len(text) + 1 {
		for _, mark := range []string{"", "\ufeff"} {
			r := &flaky{strings.NewReader(mark + text), len(mark) + k}
			if _, err := ReadChannel(t.Context(), r, space.Path(2, 1), nil); !errors.Is(err, errReadOn) {
				t.Errorf("an error at byte %d: %v", k, err)
			}
		}
	}
	for _, r := range []io.Reader{strings.NewReader("\ufeff" + text), iotest.OneByteReader(strings.NewReader("\ufeff" + text)), iotest.DataErrReader(strings.NewReader(text))} {
		if _, err := ReadChannel(t.Context(), r, space.Path(2, 1), nil); err != nil {
			t.Error(err)
		}
	}
}

// A document that cannot become a channel is refused where that is clear, whatever comes after it.
func TestReadChannel_ChecksBeforeItReadsOn(t *testing.T) {
	f := space.Path(2, 1)
	for _, c := range []struct{ name, head, again, want string }{
		{"white space", "", " ", "of over 64 KiB, at byte 0"},
		{"brackets", "", "[", `have [, want {, at byte 1`},
		{"a name", `{"`, "x", "of over 64 KiB"},
		{"an unknown value", `{"x":`, "[", `"x" is an unknown name`},
		{"a number", start + `"alpha":1`, "0", "alpha: a number, a string"},
		{"other inputs", `{"format":"metricdp.channel/1","inputs":3,"outputs":2,"log":true,"weights":[`, "[0,0],", "rho has size 2, want the file's 3 inputs"},
		{"many outputs", `{"format":"metricdp.channel/1","inputs":2,"outputs":2000000000,"log":true,"weights":[[`, "0,", "needs 29.8 GiB, the limit is "},
		{"weights first", `{"weights":[`, "[0,0],", `weights: before "format"`},
		{"labels first", `{"labels":[`, "0,", "labels: before the outputs"},
		{"labels", start + `"labels":[`, "0,", "labels has size 3, want 2"},
		{"brackets for weights", start + `"weights":[`, "[", "weights[0]: [0]: have [, want a number or null"},
		{"more", start + `"weights":[[0,0],[0,0]]}`, "\n0", "more after the channel"},
		{"more of it", start + `"weights":[[0,0],[0,0]],"alpha":1`, ",", `"alpha" after the weights, which come last`},
	} {
		r := &endless{head: c.head, again: c.again}
		if _, err := ReadChannel(t.Context(), r, f, nil); err == nil || !strings.Contains(err.Error(), c.want) || r.read > 256<<10 {
			t.Errorf("%s: %v after %d bytes, want %q", c.name, err, r.read, c.want)
		}
	}
}

// An error names what is wrong, its value and where it is.
func TestReadChannel_ErrorsSayWhere(t *testing.T) {
	f := space.Path(2, 1)
	for in, want := range map[string]string{
		``:                                        "mechanism: ReadChannel: unexpected EOF, at byte 0",
		start + `"weights":[[0,-1],[-1,`:          "mechanism: ReadChannel: weights[1]: unexpected EOF, at byte 87",
		start + `"weights":[[0,-1],[-1,x`:         "weights[1]: invalid character 'x' looking for beginning of value, at byte 87",
		start + `"weights":[[0,-1],[1e999,0]]}`:   "weights[1][0] = +Inf, want a finite number, at byte 89",
		start + `"weights":[[0,-1],["NaN",0]]}`:   `weights[1]: [0]: have "NaN", want a number or null`,
		start + `"weights":[[0,-1],[null,null]]}`: "row 1 has no positive weight: empty input, at byte 94",
		start + `"weights":[[0,-1]]}`:             "weights has size 1, want 2",
		start + `"weights":[[0,-1],[0]]}`:         "weights[1] has size 1, want 2",
		start + `"inputs":2`:                      `"inputs" a second time, at byte 73`,
		start + `"weights":[[0,-1],[-1,0]],"weights":[[0,-1],[-1,0]]}`: `"weights" a second time`,
		start + `"Inputs":2`:             `"Inputs" is an unknown name`,
		start + `"alpha":-1`:             "alpha = -1, want a finite number >= 0",
		start + `"alpha":"NaN"`:          `alpha: have "NaN", want a number`,
		start + `"alpha":null`:           "alpha: have null, want a number",
		start + `"delta":1`:              "delta = 1, want a number in [0, 1)",
		start + `"reach":0`:              "reach = 0, want a finite number > 0",
		start + `"unit":"k\u0000"`:       "unit = \"k\\x00\" has at byte 1 the control character U+0000",
		start + `"labels":[0,-5]`:        "labels[1] = -5, want a whole number >= 0",
		start + `"labels":[0,2.5]`:       "labels[1] = 2.5, want a whole number >= 0",
		start + `"alpha":1}`:             "weights: empty input",
		`{"format":"metricdp.channel/2"`: `format: have "metricdp.channel/2", want "metricdp.channel/1", at byte 30`,
		`{"inputs":9e99`:                 "inputs = 9e+99, want a whole number >= 1",
		`{"inputs":0`:                    "inputs = 0, want a whole number >= 1",
		`{"log":0`:                       "log: have 0, want true or false",
		`{"format":"metricdp.channel/1","inputs":2,"outputs":2,"weights":[`:                                               `weights: before "log"`,
		strings.Replace(start, "true", "false", 1) + `"weights":[[0,-1],`:                                                 "weights[0][1] = -1, want a finite number >= 0",
		strings.Replace(start, "true", "false", 1) + `"weights":[[null,-1],`:                                              "weights[0][0] = NaN, want a number: null is for logarithmic weights",
		strings.Replace(strings.Replace(start, "true", "false", 1), `"inputs":2`, `"inputs":1`, 1) + `"weights":[[0,-1],`: "rho has size 2, want the file's 1 inputs",
	} {
		_, err := ReadChannel(t.Context(), strings.NewReader(in), f, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ", at byte ") || strings.Count(err.Error(), "mechanism: ") != 1 {
			t.Errorf("%s\n%v\nwant %q", in, err, want)
		}
	}
	var value *fault.ValueError
	_, err := ReadChannel(t.Context(), strings.NewReader(start+`"weights":[[0,-1],[1e999,0]]}`), f, nil)
	if !errors.As(err, &value) || value.Arg != "weights[1]" || value.Index != 0 || !math.IsInf(value.Value, 1) {
		t.Errorf("%v carries %+v", err, value)
	}
}

// ending calls f when its reader has come to the end.
type ending struct {
	io.Reader
	f func()
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF && e.f != nil {
		e.f()
		e.f = nil
	}
	return n, err
}

// A claim is refuted by the audit's lower end, and by nothing less; a file without one is audited.
func TestReadChannel_ClaimAtTheEndsOfTheAudit(t *testing.T) {
	f := space.Path(2, 1)
	c := testkit.Must(FromLogWeights(t.Context(), 2, 2, []float64{0, -1, -1, 0}, nil))
	a, err := c.Audit(t.Context(), f, nil)
	if err != nil || !(a.Lo < a.Hi) {
		t.Fatal(a, err)
	}
	for claim, want := range map[float64]error{math.Inf(1): nil, a.Hi: nil, a.Lo: nil, math.Nextafter(a.Lo, 0): ErrClaim} {
		if d, err := reread(t, c.WithGuarantee(promise(claim, 0, 0, "")), f); !errors.Is(err, want) || err == nil && d.Guarantee().Alpha() != a.Hi {
			t.Errorf("claim %v of %v: %v", claim, a, err)
		}
	}
}

// A claim that is true up to a distance is read as it was written, audited up to that
// distance, and refused where it does not hold there.
func TestReadChannel_KeepsTheReach(t *testing.T) {
	f := space.Path(3, 1)
	// Neighbors differ by a factor e, the ends by e^5.
	c := testkit.Must(FromLogWeights(t.Context(), 3, 2, []float64{0, -5, 0, -4, 0, 0}, nil))
	for _, k := range []struct {
		alpha, delta, reach float64
		keeps               bool
	}{
		{4.1, 0, 1, true},
		{3, 0, 1, false},
		{3, .5, 1, true},
		{2.6, 0, 2, false},
		{4.1, 0, 0, true},
		{3, 0, .5, true}, // no pair is so near
	} {
		g := promise(k.alpha, k.delta, k.reach, "km")
		d, err := reread(t, c.WithGuarantee(g), f)
		if k.keeps != (err == nil) || err != nil && !errors.Is(err, ErrClaim) {
			t.Errorf("%v: %v", g, err)
		}
		if err == nil && (d.Guarantee().Reach() != g.Reach() || d.Guarantee().Delta() != g.Delta() || d.Guarantee().Unit() != "km" || !(d.Guarantee().Alpha() <= k.alpha)) {
			t.Errorf("%v is read as %v", g, d.Guarantee())
		}
	}
}

// At the end of a document in which weights are two bytes each, 24 bytes a weight are held at the most.
func TestReadChannel_MemoryIsLinear(t *testing.T) {
	const m = 1 << 18
	doc := fmt.Sprintf(`{"format":"metricdp.channel/1","inputs":2,"outputs":%d,"log":true,"weights":[[0%s],[0%s]]}`, m, strings.Repeat(",0", m-1), strings.Repeat(",0", m-1))
	before, end := testkit.Heap(), 0.0
	r := &ending{strings.NewReader(doc), func() { end = testkit.Heap() }}
	if _, err := ReadChannel(t.Context(), r, space.Path(2, 1), nil); err != nil {
		t.Fatal(err)
	}
	if limit := before + 24*2*m + 256<<10; end == 0 || end > limit {
		t.Errorf("%.0f bytes held, %.0f before, limit %.0f", end, before, limit)
	}
}
