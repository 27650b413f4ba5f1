package bounded

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// lines reads the lines of a text, each a record of at most so many bytes.
func lines(text string, most int64) (n int, err error) {
	b := &Reader{R: strings.NewReader(text), Max: most, What: "a line"}
	in := bufio.NewReaderSize(b, 16)
	for at := 0; ; n++ {
		b.Begin(int64(at))
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		at += len(line)
	}
}

func TestReader_EndsLongRecords(t *testing.T) {
	short := strings.Repeat("12345678\n", 1000)
	if n, err := lines(short, 40); n != 1000 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	long := new(Error)
	n, err := lines(short+strings.Repeat("x", 1<<20)+"\n"+short, 40)
	if n != 1000 || !errors.As(err, &long) || err.Error() != "a line is longer than 40 bytes" {
		t.Errorf("%d lines, %v", n, err)
	}
}

func TestWithoutMark(t *testing.T) {
	broken := errors.New("broken")
	for text, want := range map[string]string{"": "", "a": "a", "\ufeff": "", "\ufeffab": "ab", "\ufeff\ufeff": "\ufeff", "abc": "abc", "\xef\xbb": "\xef\xbb", "\xef\xbbab": "\xef\xbbab"} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got, err := io.ReadAll(iotest.OneByteReader(WithoutMark(r))); string(got) != want || err != nil {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
		if got, err := io.ReadAll(WithoutMark(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))); string(got) != want || err != broken {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
