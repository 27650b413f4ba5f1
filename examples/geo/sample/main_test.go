package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// The files that ship are what this program writes.
func TestFiles(t *testing.T) {
	for name, write := range files {
		var b bytes.Buffer
		testkit.Check(t, write(&b))
		shipped := testkit.Must(os.ReadFile(filepath.Join("..", name)))
		if !bytes.Equal(b.Bytes(), shipped) {
			t.Errorf("%s is another: go run ./sample", name)
		}
	}
}
