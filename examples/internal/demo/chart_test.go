package demo

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

func sample() *Chart {
	return &Chart{
		Title: "Loss against alpha", X: "alpha (per km)", Y: "loss (km)", LogX: true, LogY: true,
		Series: []Series{
			{Name: "a & b", X: []float64{0.001, 0.01, 0.1}, Y: []float64{300, 40, 5},
				Lo: []float64{200, 30, 4}, Hi: []float64{400, 50, math.NaN()}},
			{Name: "cloud", X: []float64{0.002, 0.05}, Y: []float64{100, 10}, Cloud: true},
		},
	}
}

// Charts side by side have one legend, with a name once, one range of the axes, and
// below them their note, all of it in XML.
func TestWriteCharts_Words(t *testing.T) {
	one, two := sample(), sample()
	one.Note, two.Note, two.Title = "Lines end where they do.", one.Note, "The other"
	two.Series = append(two.Series[1:], Series{Name: "far", X: []float64{3}, Y: []float64{2000}})
	var b bytes.Buffer
	testkit.Check(t, writeCharts(&b, "svg", pictureDPI, one, two))
	var words []string
	d := xml.NewDecoder(&b)
	tok, err := d.Token()
	for ; err == nil; tok, err = d.Token() {
		if s, ok := tok.(xml.CharData); ok && strings.TrimSpace(string(s)) != "" {
			words = append(words, strings.TrimSpace(string(s)))
		}
	}
	if got, want := strings.Join(words, ", "), "a & b, cloud, far, Lines end where they do., 0.001, 0.01, 0.1, 1, 10, 30, 100, 300, 1000, Loss against alpha, loss (km), alpha (per km), 0.001, 0.01, 0.1, 1, The other, alpha (per km)"; got != want || err != io.EOF {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// A shade is as dark as it says, where it says, points have their color, and four charts
// make two rows.
func TestWriteCharts_Shade(t *testing.T) {
	half := &Chart{Title: "t", Shade: &Shade{HiX: 10, HiY: 10, At: func(x, y float64) float64 {
		if x > 5 && y > 5 {
			return 7 // as dark as can be
		}
		return math.NaN()
	}}}
	plain := &Chart{Title: "t", Series: []Series{{X: []float64{0, 10}, Y: []float64{0, 10}, Cloud: true}}}
	var b bytes.Buffer
	testkit.Check(t, writeCharts(&b, "png", pictureDPI, half, plain, plain, plain))
	img := testkit.Must(png.Decode(&b))
	size := img.Bounds().Size()
	dark, points := map[[2]bool]int{}, 0
	for y := range size.Y {
		for x := range size.X {
			switch c := color.NRGBAModel.Convert(img.At(x, y)); c {
			case shadeColor:
				dark[[2]bool{x < size.X/2+20, y < size.Y/2}]++
			case color.NRGBAModel.Convert(others[0]):
				points++
			}
		}
	}
	if points == 0 {
		t.Error("the points are not to be seen")
	}
	// The axes are some 450 pixels long: a quarter of the chart is shaded.
	if n := dark[[2]bool{true, true}]; len(dark) != 1 || n < 35_000 || n > 70_000 {
		t.Errorf("%v pixels are dark", dark)
	}
}

func TestChart_OddData(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	big, tiny := math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, v := range [][]float64{
		{1}, {0}, {-5, -5}, {0, 1}, {nan, 1, inf, 2, -inf}, {1, 1 + 0x1p-52}, {-1e100, 1e100}, {1e-100, 1e100},
		{tiny, 2 * tiny, 1}, {big, 1, 2}, {0, tiny}, {1e-99, 1e-98},
	} {
		for _, log := range []bool{false, true} {
			c := Chart{Title: "odd", LogX: log, LogY: log, Series: []Series{{Name: "v", X: v, Y: v, Lo: v, Hi: v}}}
			shown := false
			for _, x := range v {
				shown = shown || onAxis(x, log)
			}
			if err := writeCharts(io.Discard, "svg", pictureDPI, &c); (err == nil) != shown {
				t.Errorf("%v, log %v: %v", v, log, err)
			}
		}
	}
}

func TestChart_Refuses(t *testing.T) {
	two, one := []float64{1, 2}, []float64{1}
	for want, s := range map[string]Series{
		`series "s" has 2 x, 1 y`:     {Name: "s", X: two, Y: one},
		`2 y, 1 lo, 2 hi`:             {X: two, Y: two, Lo: one, Hi: two},
		`2 y, 2 lo, 0 hi`:             {X: two, Y: two, Lo: two},
		`chart "t" has no point`:      {},
		`chart "t" has no point to s`: {X: one, Y: []float64{math.NaN()}},
	} {
		c := Chart{Title: "t", Series: []Series{s}}
		if err := writeCharts(io.Discard, "png", pictureDPI, &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, charts := range map[string][]*Chart{
		"no charts":              {},
		`chart "e" has no point`: {sample(), {Title: "e", LogX: true, LogY: true}},
		`chart "h" has a shade`:  {{Title: "h", LogX: true, Shade: &Shade{}}},
		`chart "l" has other ax`: {sample(), {Title: "l", LogX: true, Series: []Series{{X: one, Y: one}}}},
	} {
		if err := writeCharts(io.Discard, "png", pictureDPI, charts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := writeCharts(io.Discard, "gif", pictureDPI, sample()); err == nil || !strings.Contains(err.Error(), `not "gif"`) {
		t.Error(err)
	}
	for _, format := range []string{"png", "svg"} {
		if err := writeCharts(broken{}, format, pictureDPI, sample()); err == nil {
			t.Errorf("%s: a failed write went unnoticed", format)
		}
	}
}

// Colors that are frequent stay as they are, and the others come out near.
func TestFew(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 100, 40))
	for k := range 4000 {
		c := color.RGBA{0x10, 0x20, 0x30, 0xff}
		if k%2 == 0 && k < 2000 { // 1,000 colors, once each
			c = color.RGBA{uint8(k / 20), uint8(k % 200), 0x80, 0xff}
		}
		img.SetRGBA(k%100, k/100, c)
	}
	small, ok := few(img).(*image.Paletted)
	if !ok || len(small.Palette) != 256 {
		t.Fatalf("%T", small)
	}
	for k := range 4000 {
		a, b := img.RGBAAt(k%100, k/100), color.RGBAModel.Convert(small.At(k%100, k/100)).(color.RGBA)
		if d := math.Abs(float64(a.R)-float64(b.R)) + math.Abs(float64(a.G)-float64(b.G)) + math.Abs(float64(a.B)-float64(b.B)); d > 120 || a.B == 0x30 && d > 0 {
			t.Fatalf("%v became %v", a, b)
		}
	}
}
