package fault

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestDecimal_TakesPlainDecimalsAlone(t *testing.T) {
	for s, want := range map[string]float64{
		"10": 10, "-.5": -0.5, "+2.": 2, "1e3": 1000, "1E-3": 0.001, "Inf": math.Inf(1), "-infinity": math.Inf(-1),
	} {
		if x, err := Decimal(s); x != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", s, x, err, want)
		}
	}
	x, err := Decimal("NaN")
	y, tooLarge := Decimal("1e999")
	if !math.IsNaN(x) || err != nil || !math.IsInf(y, 1) || !errors.Is(tooLarge, strconv.ErrRange) {
		t.Errorf("NaN: %v, %v; 1e999: %v, %v", x, err, y, tooLarge)
	}
	for _, s := range []string{"", "1_0", "0x1p4", "0X10P0", "0x_1p0", "1p4", "0b1", "0o7", "1,5", " 1", "1 ", "١"} {
		if x, err := Decimal(s); !errors.Is(err, strconv.ErrSyntax) {
			t.Errorf("%q: %v, %v", s, x, err)
		}
	}
}

func TestName_RefusesWhatCannotBeSeen(t *testing.T) {
	for _, s := range []string{"", "a b", "Åland", "Αθήνα", "日本", "می\u200cخواهم", "\ufffd", "👩‍🔬", "a'b\"c"} {
		if err := Name("p: F", "unit", s); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ s, want string }{
		{"a\x00", `p: F: unit = "a\x00" has at byte 1 the control character U+0000`},
		{"\tb", `p: F: unit = "\tb" has at byte 0 the control character U+0009`},
		{"a\nb", `p: F: unit = "a\nb" has at byte 1 the control character U+000A`},
		{"\x7f", `p: F: unit = "\x7f" has at byte 0 the control character U+007F`},
		{"\u0085", `p: F: unit = "\u0085" has at byte 0 the control character U+0085`},
		{"é\xffz", `p: F: unit = "é\xffz" has at byte 2 the byte 0xff, which is no UTF-8`},
		{"\xc3", `p: F: unit = "\xc3" has at byte 0 the byte 0xc3, which is no UTF-8`},
	} {
		if err := Name("p: F", "unit", c.s); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v\nwant %s", c.s, err, c.want)
		}
	}
	var marks []rune
	for r := rune(0xa0); r < 0x3000; r++ { // above the controls
		if at, what := Text("ab" + string(r)); at == 2 && what != "" {
			marks = append(marks, r)
		}
	}
	if got := fmt.Sprintf("%x", marks); got != "[61c 200e 200f 202a 202b 202c 202d 202e 2066 2067 2068 2069]" {
		t.Errorf("marks %s", got)
	}
}

func TestQuantity_HasItsUnit(t *testing.T) {
	type unit string
	for want, got := range map[string]string{
		"1.23 km": Quantity(1.2345, 3, unit("km")), "1.2345": Quantity(1.2345, 6, unit("")), "0": Quantity(0, 3, ""), "+Inf m": Quantity(math.Inf(1), 6, "m"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The text is never below the number, and less than a unit of its last digit above.
func TestAtMost_IsRoundedUp(t *testing.T) {
	for want, got := range map[string]string{
		"0": AtMost(0, 1), "0.7": AtMost(.625, 1), "0.6": AtMost(.6, 1), "1e-13": AtMost(9.1e-14, 1), "10": AtMost(9.91, 2), "0.013": AtMost(.01201, 2),
		"+Inf": AtMost(math.Inf(1), 2), "NaN": AtMost(math.NaN(), 2), "100": AtMost(100, 3), "-1.2": AtMost(-1.24, 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		v, digits := math.Ldexp(r.Float64(), r.IntN(1900)-950), 1+r.IntN(9)
		got, err := strconv.ParseFloat(AtMost(v, digits), 64)
		if unit := math.Pow(10, math.Floor(math.Log10(v))-float64(digits-1)); err != nil || got < v || got-v > unit*(1+1e-9) {
			t.Fatalf("%v to %d digits: %v, %v", v, digits, got, err)
		}
	}
}
