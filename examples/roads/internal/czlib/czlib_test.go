package czlib

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

func TestNewReader(t *testing.T) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	io.WriteString(w, "a map")
	w.Close()
	r, err := NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); string(text) != "a map" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := NewReader(bytes.NewReader([]byte("no zlib"))); err == nil {
		t.Error("accepts what is not zlib")
	}
}
