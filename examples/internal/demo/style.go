package demo

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a chart: 1080 x 660 pixels, text as large as a page's.
const (
	chartWidth  = 7.2 * vg.Inch
	chartHeight = 4.4 * vg.Inch
	chartDPI    = 150
	margin      = 10 // points
	titleSize   = 13
	labelSize   = 11
	tickSize    = 10
	maxMarked   = 40   // points of a line that still get a marker each
	maxCrowd    = 3000 // points of a chart that may be larger than specks
)

// palette is Okabe and Ito's, which the color-blind can tell apart, without
// its yellow and black; dashes and markers tell the series apart in gray too.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

var (
	dashes  = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}}

	shadeColor = color.NRGBA{0xe6, 0x9f, 0x00, 0} // orange, below blue points

	ink  = color.Gray{Y: 0x30}
	rule = color.Gray{Y: 0xe2}
)

// seriesStyle is the look of the k-th series, its markers small in a crowd:
// colors, dashes and markers cycle with the coprime-enough lengths 6, 4 and 5, so
// that 60 series differ.
func seriesStyle(k int, crowd bool) (line draw.LineStyle, fill color.Color, mark draw.GlyphStyle) {
	c := palette[k%len(palette)]
	line = draw.LineStyle{Color: c, Width: 1.6, Dashes: dashes[k%len(dashes)]}
	mark = draw.GlyphStyle{Color: c, Radius: 2.8, Shape: markers[k%len(markers)]}
	if crowd {
		mark.Color, mark.Radius = color.NRGBA{c.R, c.G, c.B, 0xb0}, 1.5
	}
	return line, color.NRGBA{c.R, c.G, c.B, 0x38}, mark
}

// textStyle is horizontal text that lies at its point as the alignments say.
func textStyle(size font.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  x,
		YAlign:  y,
		Handler: plot.DefaultTextHandler,
	}
}

// styledPlot returns axes and a grid, without data and without words.
func styledPlot(logX, logY bool) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // writePicture fills the whole canvas
	styleAxis(&p.X, logX)
	p.X.Tick.Label = textStyle(tickSize, draw.XCenter, draw.YTop)
	styleAxis(&p.Y, logY)
	p.Y.Tick.Label = textStyle(tickSize, draw.XRight, draw.YCenter)

	grid := plotter.NewGrid()
	grid.Horizontal = draw.LineStyle{Color: rule, Width: 0.6}
	grid.Vertical = grid.Horizontal
	p.Add(grid)
	return p
}

func styleAxis(a *plot.Axis, log bool) {
	a.Padding = 0 // the axes meet
	a.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
	a.Tick.LineStyle = a.LineStyle
	a.Tick.Length = 5
	a.Tick.Marker = plot.TickerFunc(linearTicks)
	a.Scale = plot.LinearScale{}
	if log {
		a.Tick.Marker = plot.TickerFunc(logTicks)
		a.Scale = plot.LogScale{}
	}
}

func styledLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.Padding = 5
	l.ThumbnailWidth = 26
	l.YPosition = draw.PosCenter
	l.TextStyle = textStyle(tickSize, draw.XLeft, draw.YBottom)
	return l
}
