package fault

import (
	"errors"
	"fmt"
	"math"
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

func TestMust_PanicsWithTheError(t *testing.T) {
	err := errors.New("no")
	defer func() {
		if p := recover(); p != err {
			t.Errorf("panic %v", p)
		}
	}()
	Must(Must(3, nil), err)
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
