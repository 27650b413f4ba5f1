package fault

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// Every check accepts its domain, refuses everything else, and names the
// argument, the index and the value.
func TestChecks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		err  error
		want string // "" for none
	}{
		{"positive", Positive("p: F", "a", 5e-324), ""},
		{"zero", Positive("p: F", "a", 0), "p: F: a = 0, want a finite number > 0"},
		{"NaN", Positive("p: F", "a", nan), "p: F: a = NaN"},
		{"Inf", Positive("p: F", "a", inf), "p: F: a = +Inf"},
		{"non-negative", NonNegative("p: F", "a", 0), ""},
		{"negative", NonNegative("p: F", "a", -1), "a = -1, want a finite number >= 0"},
		{"delta", Delta("p: F", "d", 0), ""},
		{"delta 1", Delta("p: F", "d", 1), "d = 1, want a number in [0, 1)"},
		{"delta NaN", Delta("p: F", "d", nan), "d = NaN"},
		{"fraction", Fraction("p: F", "d", 0.5), ""},
		{"fraction 0", Fraction("p: F", "d", 0), "d = 0, want a number in (0, 1)"},
		{"fraction 1", Fraction("p: F", "d", 1), "d = 1, want a number in (0, 1)"},
		{"index", Index("p: F", "i", 2, 3), ""},
		{"index 3 of 3", Index("p: F", "i", 3, 3), "i = 3, want an index in [0, 3)"},
		{"indices", Indices("p: F", "x", []int{0, -1}, 3), "x[1] = -1, want an index in [0, 3)"},
		{"permutation", Permutation("p: F", "x", []int{2, 0, 1}, 3), ""},
		{"short permutation", Permutation("p: F", "x", []int{0}, 3), "x has size 1, want 3"},
		{"repeated index", Permutation("p: F", "x", []int{1, 0, 1}, 3), "x[2] = 1, want each index once"},
		{"no permutation", Permutation("p: F", "x", []int{0, 2}, 2), "x[1] = 2, want an index in [0, 2)"},
		{"finite", AllFinite("p: F", "x", []float64{0, 1}), ""},
		{"infinite", AllFinite("p: F", "x", []float64{0, -inf}), "x[1] = -Inf, want a finite number"},
		{"weights", AllNonNegative("p: F", "x", []float64{0, nan}), "x[1] = NaN"},
		{"prior", Distribution("p: F", "x", []float64{0.5, 0.5}, 2, 1e-9), ""},
		{"short prior", Distribution("p: F", "x", []float64{1}, 2, 1e-9), "x has size 1, want 2"},
		{"negative prior", Distribution("p: F", "x", []float64{2, -1}, 2, 1e-9), "x[1] = -1"},
		{"heavy prior", Distribution("p: F", "x", []float64{1, 1}, 2, 1e-9), "sum of x = 2, want 1"},
		{"value", Value("p: F", "a", 3, "2"), "p: F: a = 3, want 2"},
		{"made", Made(true, "p: F", "T", "NewT"), ""},
		{"not made", Made(false, "p: F", "T", "NewT"), "p: F: a T that is not from NewT"},
		{"empty", Empty("p: F", "x", 0), "p: F: x: empty input"},
		{"fewer than none", Empty("p: F", "x", -1), "p: F: x has size -1, want at least 1"},
		{"least", Empty("p: F", "x", math.MinInt), "x has size -"},
		{"points", Empty("p: F", "x", MemoryLimit/8), ""},
		{"too many points", Empty("p: F", "x", MemoryLimit/8+1), "p: F: needs "},
		{"most points", Empty("p: F", "x", math.MaxInt), "GiB, the limit is "},
		{"nil", Empty("p: F", "x", Len(nil)), "p: F: x: empty input"},
		{"nil pointer", Empty("p: F", "x", Len((*points)(nil))), "p: F: x: empty input"},
		{"given", Given("p: F", "x", true), ""},
		{"not given", Given("p: F", "x", false), "p: F: x is nil: empty input"},
		{"pointer", Empty("p: F", "x", Len(&points{3})), ""},
		{"value", Empty("p: F", "x", Len(points{-3})), "x has size -3"},
		{"enough", AtLeast("p: F", "x", 3, 3), ""},
		{"too few", AtLeast("p: F", "x", 2, 3), "p: F: x has size 2, want at least 3"},
		{"memory", Memory("p: F", 1e6, 8), ""},
		{"too much memory", Memory("p: F", 1e12, 8), fmt.Sprintf("p: F: needs 7.45e+03 GiB, the limit is %d GiB", MemoryLimit>>30)},
		{"little memory", &MemoryError{"p: F", 3 << 20, 1 << 20}, "p: F: needs 3 MiB, the limit is 1 MiB"},
	} {
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("%s: %v", c.name, c.err)
		case c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	var v *ValueError
	if err := Indices("p: F", "x", []int{9}, 3); !errors.As(err, &v) || v.Arg != "x" || v.Index != 0 || v.Value != 9 {
		t.Errorf("the error carries %+v", v)
	}
	if !errors.Is(Empty("p: F", "x", 0), ErrEmpty) {
		t.Error("ErrEmpty is not wrapped")
	}
}

type points struct{ n int }

func (p points) Len() int { return p.n }

func TestReason_IsOneLineWithoutTheNames(t *testing.T) {
	err := errors.Join(errors.New("p: method: too slow"), errors.New("q: no"))
	for want, names := range map[string][]string{
		"too slow; q: no":            {"p", "method"},
		"method: too slow; q: no":    {"p", "q"},
		"p: method: too slow; q: no": {"method"},
	} {
		if got := Reason(err, names...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWithin_NamesThePackageOnce(t *testing.T) {
	for _, c := range []struct{ op, err, want string }{
		{"metric: NewPoints: pts[1]", "metric: Plane: x[0] = NaN", "metric: NewPoints: pts[1]: Plane: x[0] = NaN"},
		{"metric: NewPoints: pts[1]", "mine: no place", "metric: NewPoints: pts[1]: mine: no place"},
	} {
		inner := errors.New(c.err)
		if err := Within(c.op, inner); err.Error() != c.want || !errors.Is(err, inner) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// What is private stays out of the message and in reach of who asks.
func TestPrivate_KeepsTheValueOutOfTheMessage(t *testing.T) {
	own := errors.New("765432 is bad")
	for want, err := range map[string]error{
		"p: F: x[2], want y":    &ValueError{Op: "p: F", Arg: "x", Index: 2, Value: 765432, Want: "y"},
		"p: F: x, want y":       Value("p: F", "x", 765432, "y"),
		"p: F: x, want size 3":  Size("p: F", "x", 765432, 3),
		"p: G: F: x, want y":    Within("p: G", Value("p: F", "x", 765432, "y")),
		"p: H: G: F: x, want y": Within("p: H", Within("p: G", Value("p: F", "x", 765432, "y"))),
		"not in the domain (what is wrong is as private as the value: see errors.Unwrap)": own,
	} {
		got := Private(err)
		if strings.Contains(got.Error(), "765432") || got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
		var v *ValueError
		if errors.As(got, &v) && (v.Value != 765432 || !v.Private) {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(err.Error(), "765432") {
			t.Errorf("%v has changed", err)
		}
	}
	if !errors.Is(Private(own), own) || Private(nil) != nil {
		t.Error(Private(own))
	}
}

func TestUnit_IsTheOneGiven(t *testing.T) {
	for _, c := range []struct{ given, metric, want string }{{"", "", ""}, {"", "km", "km"}, {"km", "", "km"}, {"km", "km", "km"}} {
		if u, err := Unit("p: F", c.given, c.metric); u != c.want || err != nil {
			t.Errorf("%q under %q: %q, %v", c.given, c.metric, u, err)
		}
	}
	if _, err := Unit("p: F", "mile", "km"); !errors.Is(err, ErrUnit) || err.Error() != `p: F: different units: Unit is "mile", the metric's "km"` {
		t.Error(err)
	}
}

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
