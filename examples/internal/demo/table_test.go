package demo

import (
	"context"
	"errors"
	"io"
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

func TestTable_WriteErrors(t *testing.T) {
	tab := NewTable("x")
	tab.Row(1.0)
	if tab.WriteText(broken{}) == nil || tab.WriteCSV(broken{}) == nil {
		t.Error("a failed write went unnoticed")
	}
	print := func(_ context.Context, p *Program) error { p.Print(tab); return nil }
	if status := Run(context.Background(), "demo", nil, broken{}, io.Discard, print); status != 2 {
		t.Errorf("status %d after a table that was not printed", status)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a short row")
		}
	}()
	tab.Row()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.000", -1: "-1.000", 0.05: "0.05000", 9.9999: "10.00", 12345: "12345", 123.456: "123.5",
		0.0001: "0.0001000", 0.00009: "9.000e-05", 9999999: "9999999", 1e7: "1.000e+07", -2.5e-300: "-2.500e-300",
		math.Inf(1): "+Inf", math.Inf(-1): "-Inf", 999.96: "1000",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %s, want %s", v, got, want)
		}
	}
	if got := Number(math.NaN()); got != "NaN" {
		t.Error(got)
	}
}
