package main

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/metric"
)

// The colors of the map.
var (
	land       = color.NRGBA{0xf4, 0xf1, 0xea, 0xff}
	watery     = color.NRGBA{0xb5, 0xd3, 0xe3, 0xff}
	grassy     = color.NRGBA{0xcd, 0xe5, 0xbf, 0xff}
	trodden    = color.NRGBA{0xb9, 0xa8, 0x8e, 0xff}
	curb       = color.NRGBA{0xc3, 0xbc, 0xb0, 0xff}
	mainRoad   = color.NRGBA{0xf8, 0xc9, 0x84, 0xff}
	largerRoad = color.NRGBA{0xfb, 0xe8, 0xa6, 0xff}
	ink        = color.NRGBA{0x30, 0x30, 0x30, 0xff}
	input      = demo.Color("original")
	output     = demo.Color("optimal")
	clear      = color.NRGBA{output.R, output.G, output.B, 0x58} // streets are seen through it
	paper      = color.NRGBA{0xff, 0xff, 0xff, 0xd8}
)

const (
	mapWidth = 7.2 * vg.Inch
	air      = 0.04 // on either side of the network, as a part of the width
	strip    = 22   // below the map, for the legend
)

// frame is what of the Earth a map shows, and how large.
type frame struct {
	west, south float64   // degrees
	x, y        vg.Length // a degree of longitude, and of latitude
	meter       vg.Length
	height      vg.Length // of the map
}

// frame fits the network that is used in a map neither flat nor high.
func (s *study) frame() frame {
	lo, hi := s.roads.at[0], s.roads.at[0]
	for _, p := range s.roads.at {
		lo.Lat, lo.Lon = min(lo.Lat, p.Lat), min(lo.Lon, p.Lon)
		hi.Lat, hi.Lon = max(hi.Lat, p.Lat), max(hi.Lon, p.Lon)
	}
	const degree = math.Pi / 180
	flat, high := 0.4, 1.3
	shrink := math.Cos((lo.Lat + hi.Lat) / 2 * degree)
	wide, tall := (hi.Lon-lo.Lon)*shrink, hi.Lat-lo.Lat
	span := max(wide, tall/high, 1e-6) // of the map's width, in degrees of latitude
	y := mapWidth * (1 - 2*air) / vg.Length(span)
	f := frame{x: y * vg.Length(shrink), y: y, meter: y / vg.Length(earth.Radius*degree)}
	f.height = max(mapWidth*vg.Length(flat), vg.Length(tall)*y+2*air*mapWidth)
	f.west = (lo.Lon+hi.Lon)/2 - float64(mapWidth/2/f.x)
	f.south = (lo.Lat+hi.Lat)/2 - float64(f.height/2/f.y)
	return f
}

func (f frame) point(p metric.LatLon) vg.Point {
	return vg.Point{X: vg.Length(p.Lon-f.west) * f.x, Y: strip + vg.Length(p.Lat-f.south)*f.y}
}

// draw writes the map.
func (s *study) draw(p *demo.Program) error {
	counts, err := s.draws()
	if err != nil {
		return err
	}
	f := s.frame()
	paint := func(c draw.Canvas) {
		m := draw.Crop(c, 0, 0, strip, 0)
		box(m, land, m.Min.X, m.Min.Y, m.Max.X, m.Max.Y)
		s.ground(m, f)
		s.streets(m, f)
		s.releases(m, f, counts)
		s.words(c, f)
	}
	for _, file := range []string{"map.png", "map.svg"} {
		if err := p.WritePicture(file, mapWidth, f.height+strip, paint); err != nil {
			return err
		}
	}
	return nil
}

// strokes are the parts of a way that the map shows.
func (s *study) strokes(c draw.Canvas, f frame, w way) (lines [][]vg.Point) {
	for _, line := range s.chart.lines(w) {
		points := make([]vg.Point, len(line))
		for k, id := range line {
			points[k] = f.point(s.chart.at[id])
		}
		lines = append(lines, points)
	}
	return c.ClipLinesXY(lines...)
}

// ground draws parks, water and paths.
func (s *study) ground(c draw.Canvas, f frame) {
	for _, layer := range []kind{green, water, river, path} {
		for _, w := range s.chart.ways {
			switch {
			case w.kind != layer:
			case layer == green || layer == water:
				for _, line := range s.chart.lines(w) {
					points := make([]vg.Point, len(line))
					for k, id := range line {
						points[k] = f.point(s.chart.at[id])
					}
					fill(c, map[kind]color.Color{green: grassy, water: watery}[layer], c.ClipPolygonXY(points)...)
				}
			case layer == river:
				c.StrokeLines(draw.LineStyle{Color: watery, Width: max(1.5, 15*f.meter)}, s.strokes(c, f, w)...)
			default:
				c.StrokeLines(draw.LineStyle{Color: trodden, Width: 0.7, Dashes: []vg.Length{2.5, 2}}, s.strokes(c, f, w)...)
			}
		}
	}
}

// streets draws the roads: first their curbs, then the narrow ones, then the wide.
func (s *study) streets(c draw.Canvas, f frame) {
	var roads []way
	for _, w := range s.chart.ways {
		if w.kind == road {
			roads = append(roads, w)
		}
	}
	slices.SortStableFunc(roads, func(a, b way) int { return cmp.Compare(a.width, b.width) })
	size := min(1, max(.25, 10*f.meter)) // of what is drawn true to size in no map
	for _, curbs := range []bool{true, false} {
		for _, w := range roads {
			sty := draw.LineStyle{Color: color.White, Width: vg.Length(w.width) * size}
			switch {
			case curbs:
				sty.Color, sty.Width = curb, sty.Width+1.1*size
			case w.width >= 4:
				sty.Color = mainRoad
			case w.width > 2:
				sty.Color = largerRoad
			}
			c.StrokeLines(sty, s.strokes(c, f, w)...)
		}
	}
}

// releases draws the places: an area for the probability of each, and a dot for each
// release.
func (s *study) releases(c draw.Canvas, f frame, counts map[int]int) {
	const dot = 1.1
	for _, y := range s.places {
		at := f.point(s.roads.at[y])
		disc(c, clear, at, 24*vg.Length(math.Sqrt(s.probability(y))))
		for i := range counts[y] { // a sunflower of dots
			r, angle := 2.4*math.Sqrt(float64(i)+.5), float64(i)*math.Pi*(3-math.Sqrt(5))
			disc(c, output, vg.Point{X: at.X + vg.Length(r*math.Cos(angle)), Y: at.Y + vg.Length(r*math.Sin(angle))}, dot)
		}
		if counts[y] == 0 {
			disc(c, output, at, 2.6)
			disc(c, color.White, at, 1.6)
		}
	}
	at := f.point(s.roads.at[s.from])
	disc(c, color.White, at, 6)
	disc(c, input, at, 4.4)
}

// words draws the legend below the map and the scale, and whose the map is.
func (s *study) words(c draw.Canvas, f frame) {
	sty := text.Style{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: 9}, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	at := vg.Point{X: c.Min.X + 12, Y: c.Min.Y + strip/2}
	for _, l := range []struct {
		text string
		mark func()
	}{
		{"an input", func() { disc(c, input, at, 4) }},
		{"its outputs, area: probability", func() { disc(c, clear, at, 6) }},
		{fmt.Sprintf("%d releases", drawn), func() { disc(c, output, at, 1.2) }},
		{fmt.Sprintf("the others of %d places", len(s.places)), func() { disc(c, output, at, 2.6); disc(c, color.White, at, 1.6) }},
	} {
		l.mark()
		c.FillText(sty, vg.Point{X: at.X + 9, Y: at.Y}, l.text)
		at.X += 30 + sty.Width(l.text)
	}
	if !s.own {
		const credit = "© OpenStreetMap contributors"
		at = vg.Point{X: c.Min.X + 6, Y: c.Min.Y + strip + 8}
		box(c, paper, c.Min.X, c.Min.Y+strip, at.X+sty.Width(credit)+6, at.Y+8)
		c.FillText(sty, at, credit)
	}

	long := math.Pow(10, math.Floor(math.Log10(float64(mapWidth/4/f.meter))))
	for _, times := range []float64{5, 2} {
		if vg.Length(times*long)*f.meter <= mapWidth/4 {
			long *= times
			break
		}
	}
	right, low := c.Max.X-14, c.Min.Y+strip+12
	left := right - vg.Length(long)*f.meter
	box(c, paper, left-6, low-5, right+6, low+16)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: 1}, []vg.Point{{X: left, Y: low + 4}, {X: left, Y: low}, {X: right, Y: low}, {X: right, Y: low + 4}})
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	c.FillText(sty, vg.Point{X: (left + right) / 2, Y: low + 2}, fmt.Sprintf("%v m", long))
}

func box(c draw.Canvas, paint color.Color, x0, y0, x1, y1 vg.Length) {
	fill(c, paint, vg.Point{X: x0, Y: y0}, vg.Point{X: x1, Y: y0}, vg.Point{X: x1, Y: y1}, vg.Point{X: x0, Y: y1})
}

func fill(c draw.Canvas, paint color.Color, points ...vg.Point) {
	if len(points) > 2 {
		c.FillPolygon(paint, points)
	}
}

func disc(c draw.Canvas, paint color.Color, at vg.Point, radius vg.Length) {
	if radius > 0 {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: paint, Radius: radius, Shape: draw.CircleGlyph{}}, at)
	}
}
