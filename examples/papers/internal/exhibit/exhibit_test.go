package exhibit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

// What Must finds ends the program as an error that is returned does.
func TestMust_EndsTheExhibit(t *testing.T) {
	exhibittest.Program(exhibit.Exhibit{Name: "X/y", Run: func(context.Context, *exhibit.Run) {
		exhibit.Must(0, errors.New("no number"))
	}}).Rejects(t, map[string][]string{"papers: X/y: no number\n": {"-out", t.TempDir()}})
}
