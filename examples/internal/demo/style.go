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

// Sizes of a picture, in points unless said otherwise: 1080 pixels wide, so that its
// text is as large as a page's where that shows 830.
const (
	pictureWidth = 7.2 * vg.Inch
	pictureDPI   = 150
	margin       = 10
	gap          = 12 // between charts, and between entries of the legend
	titleSize    = 13
	labelSize    = 11
	tickSize     = 10
	lineHeight   = 1.5  // of text, over its size
	thumb        = 26   // the width of a line in the legend
	maxMarked    = 40   // points of a line that still get a marker each
	maxCrowd     = 3000 // points of a chart that may be larger than specks
)

var (
	shadeColor = color.NRGBA{0xe6, 0x9f, 0x00, 0xff} // orange, below dark points

	ink  = color.Gray{Y: 0x30}
	rule = color.Gray{Y: 0xe2}
)

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

// styledPlot returns axes, without data and without words.
func styledPlot(logX, logY bool) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // writePicture fills the whole canvas
	styleAxis(&p.X, logX)
	p.X.Tick.Label = textStyle(tickSize, draw.XCenter, draw.YTop)
	styleAxis(&p.Y, logY)
	p.Y.Tick.Label = textStyle(tickSize, draw.XRight, draw.YCenter)
	return p
}

func styledGrid() *plotter.Grid {
	grid := plotter.NewGrid()
	grid.Horizontal = draw.LineStyle{Color: rule, Width: 0.6}
	grid.Vertical = grid.Horizontal
	return grid
}

func styleAxis(a *plot.Axis, log bool) {
	a.Padding = 0 // the axes meet
	a.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
	a.Tick.LineStyle = a.LineStyle
	a.Tick.Length = 5
	a.Scale = plot.LinearScale{}
	if log {
		a.Scale = plot.LogScale{}
	}
}
