package table

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testkit.Check(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestReadHeader(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("a,b\n1,2\n"))
	w.Close()
	for _, c := range []struct {
		name, content string
		columns       []string
		want          []int // nil: an error
	}{
		{"t.csv", "a,b,c\n", []string{"c", "a"}, []int{2, 0}},
		{"t.csv", "a,b", []string{"b"}, []int{1}},
		{"t.csv", "Lat , Lon\r\n1,2\r\n", []string{"lon", "lat"}, []int{1, 0}},
		{"t.csv", "\ufeff\"Lat\",\"Lon\"\r\n1,2\r\n", []string{"lat"}, []int{0}},
		{"t.csv", "\"x,y\",b\n", []string{"b", "x,y"}, []int{1, 0}},
		{"t.csv.gz", z.String(), []string{"b"}, []int{1}},
		{"t.csv", "a,b\n", []string{"c"}, nil},
		{"t.csv", "", []string{"a"}, nil},
		{"t.csv", "a\"b,c\n", []string{"c"}, nil},
		{"t.csv.gz", "a,b\n", []string{"a"}, nil},
	} {
		h, err := ReadHeader(t.Context(), file(t, c.name, c.content), c.columns...)
		if c.want == nil && err == nil || c.want != nil && (err != nil || !slices.Equal(h.At, c.want)) {
			t.Errorf("%q: %v, %v, want %v", c.content, h.At, err, c.want)
		}
	}
	if _, err := ReadHeader(t.Context(), filepath.Join(t.TempDir(), "*.csv"), "a"); err == nil {
		t.Error("no file: no error")
	}
	if _, err := ReadHeader(t.Context(), "nowhere://file", "a"); err == nil {
		t.Error("no such file system: no error")
	}
}

func TestHeader_Fields(t *testing.T) {
	h := Header{Line: "a,b,c", At: []int{2, 0}}
	for _, c := range []struct{ line, want string }{
		{"1,2,3", "3|1"},
		{"1, 2, 3 \r", "3|1"},
		{`"x, y",2,"z"`, "z|x, y"},
		{"1,2,3,4", "3|1"},
		{",,", "|"},
		{"a,b,c", "none"},
		{"", "error"},
		{" \r", "error"},
		{"1,2", "error"},
		{`1,"2,3`, "error"},
	} {
		fields, err := h.Fields(c.line)
		got := strings.Join(fields, "|")
		switch {
		case err != nil:
			got = "error"
		case fields == nil:
			got = "none"
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
	one := Header{Line: "a", At: []int{0}}
	if fields, err := one.Fields(""); err != nil || !slices.Equal(fields, []string{""}) {
		t.Errorf("the only column is empty: %q, %v, want a row", fields, err)
	}
}

// The file does not tell the order in which lines came, and Read reads it.
func TestWrite_SortsWhatReadReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	p, s := beam.NewPipelineWithRoot()
	Write(s, path, "k,v", beam.Create(s, "b,2", "a,1", "c,"+Quote("3, \"or\" 4"), "a,1"))
	ptest.RunAndValidate(t, p)
	b, err := os.ReadFile(path)
	if want := "k,v\na,1\na,1\nb,2\nc,\"3, \"\"or\"\" 4\"\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v, want %q", b, err, want)
	}
	rows, err := Read(t.Context(), path, "v", "k")
	if err != nil || len(rows) != 4 || !slices.Equal(rows[3], []string{"3, \"or\" 4", "c"}) {
		t.Errorf("%q, %v", rows, err)
	}
	if _, err := Read(t.Context(), file(t, "t.csv", "a,b\n1\n"), "a"); err == nil {
		t.Error("a short row: no error")
	}
}

func TestJob_Prepare(t *testing.T) {
	j := &Job{Seed: -1}
	if o, err := j.Prepare(t.Context(), "x.csv"); err != nil || len(o.Key) > 0 || o.KeyFile != "" || filepath.Base(j.Output) != "x.csv" {
		t.Errorf("%+v, %v", j, err)
	}
	os.Remove(filepath.Dir(j.Output))
	path := filepath.Join(t.TempDir(), "key")
	j = &Job{Output: "y.csv", KeyFile: path, Seed: -1}
	if o, err := j.Prepare(t.Context(), "x.csv"); err != nil || o.KeyFile != path || j.Output != "y.csv" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := j.Prepare(t.Context(), "x.csv"); err == nil {
		t.Error("a second run with one key file: no error")
	}
	if _, err := (&Job{Output: "y.csv", KeyFile: path + "2", Seed: 1}).Prepare(t.Context(), "x.csv"); err == nil {
		t.Error("a seed and a key file: no error")
	}
	defer func(r string) { *ptest.Runner = r }(*ptest.Runner)
	*ptest.Runner = "dataflow"
	if _, err := (&Job{Seed: -1}).Prepare(t.Context(), "x.csv"); err == nil {
		t.Error("no output for remote workers: no error")
	}
	if _, err := (&Job{Output: "gs://b/y.csv", Seed: -1}).Prepare(t.Context(), "x.csv"); err == nil {
		t.Error("a key in a pipeline that is logged: no error")
	}
}
