// Package table is what the programs share: tables in CSV, a row a line, on any
// file system that Beam knows.
package table

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/internal/csvfile"
)

// Header is the first line of a table, and where the named columns are.
type Header struct {
	Line string
	At   []int
}

// maxHeader is more than any header is long.
const maxHeader = 1 << 20

// ReadHeader finds the columns by name, in any case, in the first of the files of a
// pattern. All files of the pattern must have the same header.
func ReadHeader(ctx context.Context, pattern string, names ...string) (Header, error) {
	line, err := firstLine(ctx, pattern)
	if err != nil {
		return Header{}, err
	}
	fields, err := Split(strings.TrimPrefix(line, "\ufeff"))
	if err != nil {
		return Header{}, fmt.Errorf("%s: header: %w", pattern, err)
	}
	h := Header{Line: line}
	for _, name := range names {
		at := slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(strings.TrimSpace(f), name) })
		if at < 0 {
			return Header{}, fmt.Errorf("%s: no column %q in the header %q", pattern, name, line)
		}
		h.At = append(h.At, at)
	}
	return h, nil
}

func firstLine(ctx context.Context, pattern string) (string, error) {
	f, name, err := open(ctx, pattern)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxHeader)).ReadString('\n')
	if err != nil && (err != io.EOF || line == "") {
		return "", fmt.Errorf("%s: no header: %w", name, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// open opens the first file of a pattern.
func open(ctx context.Context, pattern string) (io.ReadCloser, string, error) {
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, "", err
	}
	defer fs.Close()
	files, err := fs.List(ctx, pattern)
	if err != nil {
		return nil, "", err
	}
	if len(files) == 0 {
		return nil, "", fmt.Errorf("%s: no such file", pattern)
	}
	slices.Sort(files)
	f, err := fs.OpenRead(ctx, files[0])
	if err != nil || !strings.HasSuffix(files[0], ".gz") { // as textio tells
		return f, files[0], err
	}
	z, err := gzip.NewReader(f)
	return struct {
		io.Reader
		io.Closer
	}{z, f}, files[0], err
}

// Read reads the named columns of a small table, here and now.
func Read(ctx context.Context, path string, names ...string) (rows [][]string, err error) {
	f, name, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = csvfile.Read(name, f, csvfile.Columns{Required: names}, func(row *csvfile.Row) {
		fields := make([]string, len(names))
		for i, n := range names {
			fields[i] = row.Text(n)
		}
		rows = append(rows, fields)
	})
	return rows, err
}

// Fields returns the named columns of a line; none, without an error, for the header. An empty line
// is a row whose field is missing where the table has a single column, and elsewhere an error: no
// row vanishes.
func (h *Header) Fields(line string) (named []string, err error) {
	switch {
	case line == h.Line:
		return nil, nil
	case strings.TrimSpace(line) == "" && strings.Contains(h.Line, ","):
		return nil, errShort
	}
	all, err := Split(line)
	if err != nil {
		return nil, err
	}
	for _, at := range h.At {
		if at >= len(all) {
			return nil, errShort
		}
		named = append(named, strings.TrimSpace(all[at]))
	}
	return named, nil
}

var errShort = errors.New("a row with too few columns")

// Split cuts a line into its fields, which may be quoted, but not hold a line break.
func Split(line string) ([]string, error) {
	line = strings.TrimSuffix(line, "\r")
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	return csv.NewReader(strings.NewReader(line)).Read()
}

// Write writes a header and the lines of a PCollection<string>, in ascending order,
// to one file: the same bytes however often and in whatever order a runner hands
// them over. They must fit a worker's memory. Without lines there is no file.
func Write(s beam.Scope, path, header string, lines beam.PCollection) {
	s = s.Scope("table.Write")
	filesystem.ValidateScheme(path)
	beam.ParDo0(s, &writeFn{Path: path, Header: header}, beam.GroupByKey(s, beam.AddFixedKey(s, lines)))
}

func init() {
	register.DoFn3x1[context.Context, int, func(*string) bool, error](&writeFn{})
	register.Iter1[string]()
}

type writeFn struct{ Path, Header string }

func (f *writeFn) ProcessElement(ctx context.Context, _ int, in func(*string) bool) error {
	var lines []string
	for line := ""; in(&line); {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	fs, err := filesystem.New(ctx, f.Path)
	if err != nil {
		return err
	}
	defer fs.Close()
	file, err := fs.OpenWrite(ctx, f.Path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for _, line := range append([]string{f.Header}, lines...) {
		w.WriteString(line) // the error comes with Flush
		w.WriteByte('\n')
	}
	return errors.Join(w.Flush(), file.Close())
}

// Quote is a field as CSV wants it.
func Quote(field string) string {
	if !strings.ContainsAny(field, "\",\r\n") && field == strings.TrimSpace(field) {
		return field
	}
	return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
}
