package fault

import (
	"errors"
	"math"
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
	if x, err := Decimal("NaN"); !math.IsNaN(x) || err != nil {
		t.Errorf("NaN: %v, %v", x, err)
	}
	if x, err := Decimal("1e999"); !math.IsInf(x, 1) || !errors.Is(err, strconv.ErrRange) {
		t.Errorf("1e999: %v, %v", x, err)
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
	var marks int
	for r := rune(0x80); r < 0x3000; r++ {
		if at, what := Text("ab" + string(r)); at >= 0 && r > 0x9f {
			if marks++; at != 2 || what == "" {
				t.Errorf("%U: at %d, %s", r, at, what)
			}
		}
	}
	for _, r := range []rune{0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069} {
		if at, _ := Text(string(r)); at != 0 {
			t.Errorf("%U passes", r)
		}
	}
	if marks != 12 {
		t.Errorf("%d characters besides controls, want the 12 marks", marks)
	}
}
