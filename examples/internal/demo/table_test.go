package demo

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

func ExampleTable() {
	t := NewTable("mechanism", "loss (km)", "places", "build")
	t.Row("exponential", 12.3456, 300, 12345*time.Microsecond)
	t.Row("tight weights", math.NaN(), 12, 2*time.Second)
	t.WriteText(os.Stdout)
	// Output:
	// mechanism      loss (km)  places   build
	// exponential        12.35     300  12.3ms
	// tight weights          -      12      2s
}

func TestTable_CSVKeepsEveryBit(t *testing.T) {
	tab := NewTable("name", "x", "t (s)")
	tab.Row("Nice, \"FR\"", 0x1.3333333333334p-2, 1500*time.Millisecond)
	tab.Row("é", math.Inf(1), time.Duration(0))
	tab.Row("none", math.NaN(), time.Minute)
	var b strings.Builder
	testkit.Check(t, tab.WriteCSV(&b))
	want := "name,x,t (s)\n\"Nice, \"\"FR\"\"\",0.30000000000000004,1.5\né,+Inf,0\nnone,,60\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestTable_NoControlCharactersInText(t *testing.T) {
	tab := NewTable("name", "n")
	tab.Row("\x1b[2Jécran\n", 1)
	var b strings.Builder
	testkit.Check(t, tab.WriteText(&b))
	if want := "name        n\n?[2Jécran?  1\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }
