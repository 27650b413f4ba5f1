package demo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a picture of some series over common axes.
type Chart struct {
	Title      string
	X, Y       string // axis labels, with the unit: "alpha (per km)"
	LogX, LogY bool
	Series     []Series
	Shade      *Shade // below the series, or nil
	Note       string // below the picture: what its readers would ask, or ""
}

// Shade colors a rectangle, on axes that are not logarithmic: At gives how dark a
// point is, from 0 to 1, and NaN where it has no color.
type Shade struct {
	Name               string // for the legend; "" stays out of it
	LoX, HiX, LoY, HiY float64
	At                 func(x, y float64) float64
}

// Series is one line, or one cloud of points, of a [Chart]. A point that is
// not finite, or not positive on a logarithmic axis, or past 1e100, is left out
// and breaks the line.
type Series struct {
	Name   string    // for the legend; "" stays out of it. See [Color]
	X, Y   []float64 // of one length
	Lo, Hi []float64 // the band shaded around Y, or nil: both of the length of X
	Cloud  bool      // points without a line
}

// writeCharts writes charts to w, as "png" or "svg", side by side, four and more in
// two rows, with one range of the axes and one legend. It refuses series of unequal
// lengths, a chart without a point to show, and axes that are logarithmic in one chart
// only; w is untouched then.
func writeCharts(w io.Writer, format string, dpi int, charts ...*Chart) error {
	if len(charts) == 0 {
		return errors.New("demo: no charts")
	}
	x, y := newRange(charts[0].LogX), newRange(charts[0].LogY)
	for _, c := range charts {
		if err := c.ranges(x, y); err != nil {
			return err
		}
	}
	p := newPicture(charts, x, y)
	return writePicture(w, format, dpi, pictureWidth, p.height(), p.draw)
}

// writePicture paints a canvas white, has it drawn on and writes it.
func writePicture(w io.Writer, format string, dpi int, width, height vg.Length, paint func(draw.Canvas)) error {
	on := func(canvas vg.CanvasSizer) {
		all := draw.New(canvas)
		all.SetColor(color.White)
		all.Fill(all.Path())
		paint(all)
	}
	switch strings.ToLower(format) {
	case "png":
		canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		on(canvas)
		return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, few(canvas.Image()))
	case "svg":
		canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
		on(canvas)
		var picture bytes.Buffer
		if _, err := canvas.WriteTo(&picture); err != nil {
			return err
		}
		// Arial has the same widths and is what a machine without Liberation has.
		_, err := w.Write(bytes.ReplaceAll(picture.Bytes(),
			[]byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")))
		return err
	}
	return fmt.Errorf("demo: pictures are png or svg, not %q", format)
}

// few returns an image in its 256 most frequent colors, and in the nearest of them
// where it has others: those of edges, mostly. A file of it is a third as large.
func few(img image.Image) image.Image {
	const most = 256
	times := map[color.RGBA]int{}
	area := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			times[at(x, y)]++
		}
	}
	order := func(c color.RGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }
	colors := slices.SortedFunc(maps.Keys(times), func(a, b color.RGBA) int {
		return cmp.Or(times[b]-times[a], cmp.Compare(order(a), order(b)))
	})
	var palette color.Palette
	for _, c := range colors[:min(most, len(colors))] {
		palette = append(palette, c)
	}
	index := make(map[color.RGBA]uint8, len(colors))
	for _, c := range colors {
		index[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	return small
}

// ranges widens the ranges of the axes to what they must show.
func (c *Chart) ranges(x, y *axisRange) error {
	if c.LogX != x.log || c.LogY != y.log {
		return fmt.Errorf("demo: chart %q has other axes than the one before it", c.Title)
	}
	empty := true
	if h := c.Shade; h != nil {
		if c.LogX || c.LogY {
			return fmt.Errorf("demo: chart %q has a shade on logarithmic axes", c.Title)
		}
		for k, v := range []float64{h.LoX, h.HiX} {
			x.add(v)
			y.add([]float64{h.LoY, h.HiY}[k])
		}
		empty = false
	}
	for _, s := range c.Series {
		if len(s.Y) != len(s.X) || (s.Lo != nil || s.Hi != nil) && (len(s.Lo) != len(s.X) || len(s.Hi) != len(s.X)) {
			return fmt.Errorf("demo: series %q has %d x, %d y, %d lo, %d hi", s.Name, len(s.X), len(s.Y), len(s.Lo), len(s.Hi))
		}
		for i := range s.X {
			if c.shows(s.X[i], s.Y[i]) {
				x.add(s.X[i])
				y.add(s.Y[i])
				empty = false
			}
			if s.band(c, i) {
				x.add(s.X[i])
				y.add(s.Lo[i])
				y.add(s.Hi[i])
				empty = false
			}
		}
	}
	if empty {
		return fmt.Errorf("demo: chart %q has no point to show", c.Title)
	}
	return nil
}

// image is the shade in steps finer than a pixel's.
func (h *Shade) image() plot.Plotter {
	const steps = 500
	img := image.NewNRGBA(image.Rect(0, 0, steps, steps))
	for i := range steps {
		for j := range steps {
			x, y := (float64(i)+0.5)/steps, (float64(j)+0.5)/steps
			if dark := h.At(h.LoX+x*(h.HiX-h.LoX), h.LoY+y*(h.HiY-h.LoY)); dark > 0 {
				img.SetNRGBA(i, steps-1-j, tint(dark))
			}
		}
	}
	return plotter.NewImage(img, h.LoX, h.LoY, h.HiX, h.HiY)
}

// tint is the color of a shade. It is opaque: a picture that mixed it itself would
// round what is nearly white to other colors.
func tint(dark float64) color.NRGBA {
	mix := func(c uint8) uint8 { return uint8(math.Round(255 - min(1, dark)*(255-float64(c)))) }
	return color.NRGBA{mix(shadeColor.R), mix(shadeColor.G), mix(shadeColor.B), 0xff}
}

// shows says whether a point has a place on the chart.
func (c *Chart) shows(x, y float64) bool {
	return onAxis(x, c.LogX) && onAxis(y, c.LogY)
}

// band says whether the band of s has both its ends at point i.
func (s *Series) band(c *Chart, i int) bool {
	return s.Lo != nil && c.shows(s.X[i], s.Lo[i]) && c.shows(s.X[i], s.Hi[i])
}

// bandPolygon outlines the band of the points lo to hi-1.
func bandPolygon(s Series, lo, hi int, fill color.Color) plot.Plotter {
	there, back := pairs(s.X[lo:hi], s.Lo[lo:hi]), pairs(s.X[lo:hi], s.Hi[lo:hi])
	slices.Reverse(back)
	return &plotter.Polygon{XYs: []plotter.XYs{append(there, back...)}, Color: fill}
}

// runs returns the maximal ranges [lo, hi) of [0, n) on which ok holds.
func runs(n int, ok func(int) bool) (ranges [][2]int) {
	for lo := 0; lo < n; lo++ {
		hi := lo
		for hi < n && ok(hi) {
			hi++
		}
		if hi > lo {
			ranges = append(ranges, [2]int{lo, hi})
		}
		lo = hi
	}
	return ranges
}

func pairs(x, y []float64) plotter.XYs {
	xys := make(plotter.XYs, len(x))
	for i := range x {
		xys[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return xys
}
