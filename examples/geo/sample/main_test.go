package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The files that ship are what this program writes.
func TestFiles(t *testing.T) {
	for name, write := range files {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		shipped, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), shipped) {
			t.Errorf("%s is another: go run ./sample", name)
		}
	}
}
