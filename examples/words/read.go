package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

const (
	maxLine = 64 << 10 // bytes: some thousand numbers and a word
	// maxCoordinate keeps sums of squares, and alpha times them, finite.
	maxCoordinate = 1e100
)

// read takes the first n words of the file of -in, or of the one that ships,
// and their metric.
func (s *study) read(ctx context.Context, p *demo.Program, n int, shipped string, text []byte) error {
	f, name, err := p.Input(shipped, text)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = filepath.Base(name)
	if err := s.scan(name, f, n); err != nil {
		return err
	}
	points, err := metric.NewPoints(s.vectors, metric.Euclidean{})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.space, err = metric.Densify(ctx, points)
	return err
}

// scan reads up to n lines "word v1 v2 ...". What follows them is not looked at.
func (s *study) scan(file string, r io.Reader, n int) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	known := map[string]int{}
	for line := 1; len(s.words) < n && lines.Scan(); line++ {
		fail := func(format string, args ...any) error {
			return &csvfile.Error{File: file, Line: line, Reason: fmt.Sprintf(format, args...)}
		}
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		word := fields[0]
		if first, ok := known[word]; ok {
			return fail("%q is the word of line %d", word, first)
		}
		known[word] = line
		vector := make([]float64, len(fields)-1)
		for k, field := range fields[1:] {
			v, err := fault.Decimal(field)
			if err != nil || !(math.Abs(v) <= maxCoordinate) {
				return fail("number %d of %q is no number of at most 1e100: %.20q", k+1, word, field)
			}
			vector[k] = v
		}
		if len(s.vectors) > 0 && len(vector) != len(s.vectors[0]) || len(vector) == 0 {
			want := "at least one"
			if len(s.vectors) > 0 {
				want = fmt.Sprint(len(s.vectors[0]))
			}
			return fail("%d numbers, want %s", len(vector), want)
		}
		s.words, s.vectors = append(s.words, word), append(s.vectors, vector)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s: a line of more than %d bytes", file, maxLine)
	} else if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(s.words) < 2 {
		return fmt.Errorf("%s: %d words, want two at least", file, len(s.words))
	}
	return nil
}
