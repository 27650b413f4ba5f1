package demo

import (
	"image/color"
	"testing"
)

// Every mechanism has a color, no two have the same, but for other names of one.
func TestColor_OnePerMechanism(t *testing.T) {
	names := map[color.RGBA]string{}
	for _, p := range palette {
		if other, taken := names[p.color]; taken && other+p.mechanism != "optimalOPTMech" && other+p.mechanism != "noiseMadlib" && other+p.mechanism != "lower boundoriginal" {
			t.Errorf("%s and %s have one color", other, p.mechanism)
		}
		names[p.color] = p.mechanism
	}
	for name, want := range map[string]string{
		"exponential, standard":        "exponential",
		"exponential, tuned":           "exponential, tuned",
		"exponential, tight weights":   "exponential, tight",
		"noise on the sphere, snapped": "Madlib",
		"OPTMech":                      "OPTMech",
		"ConstOPT, r = 5":              "ConstOPT",
		"distribution":                 "distribution",
		"distribution, local":          "distribution, local",
	} {
		if c := Color(name); names[c] != want {
			t.Errorf("%s has the color of %q", name, names[c])
		}
	}
	if find("a town") >= 0 {
		t.Error("a town has the color of a mechanism")
	}
}

// A name has one look in all charts of a picture, and mechanisms of one color differ
// in their lines.
func TestLooks(t *testing.T) {
	line := func(names ...string) *Chart {
		c := new(Chart)
		for _, name := range names {
			c.Series = append(c.Series, Series{Name: name})
		}
		return c
	}
	names, by := looks([]*Chart{line("ConstOPT, r = 5", "town", "ConstOPT, r = 10"), line("village", "town")})
	if len(names) != 4 || names[3] != "village" {
		t.Error(names)
	}
	a, b := by["ConstOPT, r = 5"], by["ConstOPT, r = 10"]
	if a.line.Color != b.line.Color || len(a.line.Dashes) == len(b.line.Dashes) && a.line.Dashes[0] == b.line.Dashes[0] {
		t.Errorf("%v, %v", a, b)
	}
	if by["town"].line.Color == by["village"].line.Color {
		t.Error("a town and a village look alike")
	}
}
