package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// The map that ships is what this program writes.
func TestTown(t *testing.T) {
	var b bytes.Buffer
	newTown().write(&b)
	shipped := testkit.Must(os.ReadFile("../town.osm"))
	if !bytes.Equal(b.Bytes(), shipped) {
		t.Error("town.osm is another: go run ./town > town.osm")
	}
	if len(shipped) > 200<<10 {
		t.Errorf("%d bytes", len(shipped))
	}
}
