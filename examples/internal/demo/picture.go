package demo

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// picture is charts in rows and columns, the words around them and, below, one legend
// for all and their notes. Names of axes and labels of ticks stand at the left and at
// the bottom only.
type picture struct {
	charts        []*Chart
	x, y          *axisRange
	rows, columns int

	looks  map[string]look
	legend [][]entry // in lines
	notes  []string
	titles [][]string // in lines

	title         font.Length // the size of the titles
	width, depth  vg.Length   // of the data of a chart
	left, below   vg.Length   // room for the labels, in the first column and the last row
	top           vg.Length   // room for a title
	points        int         // of the largest chart
	lineOfLegend  vg.Length
	lineOfCaption vg.Length
}

// entry is one of the legend.
type entry struct {
	words string
	draw  func(c draw.Canvas, at vg.Point) // from the left middle
	width vg.Length                        // of what is drawn
}

func newPicture(charts []*Chart, x, y *axisRange) *picture {
	p := &picture{charts: charts, x: x, y: y, rows: 1, title: titleSize,
		lineOfLegend: lineHeight * tickSize, lineOfCaption: lineHeight * tickSize}
	if len(charts) > 3 {
		p.rows = 2
	}
	p.columns = (len(charts) + p.rows - 1) / p.rows
	if len(charts) > 1 {
		p.title = labelSize
	}
	for _, c := range charts {
		n := 0
		for _, s := range c.Series {
			n += len(s.X)
		}
		p.points = max(p.points, n)
		if c.Note != "" && !slices.Contains(p.notes, c.Note) {
			p.notes = append(p.notes, c.Note)
		}
	}
	p.fit()
	p.entries()
	for k, note := range p.notes {
		p.notes[k] = strings.Join(wrap(textStyle(tickSize, draw.XLeft, draw.YTop), note, pictureWidth-2*margin), "\n")
	}
	return p
}

// fit finds the sizes. The room that labels need depends on how many there are, and
// so on the sizes: once more settles it.
func (p *picture) fit() {
	const flat, square = 0.56, 0.95 // the shape of one chart, and of several
	p.left, p.below = 40, 20
	for range 2 {
		word := vg.Length(lineHeight * labelSize)
		n := vg.Length(p.columns)
		p.width = (pictureWidth - 2*margin - word - p.left - (n-1)*gap) / n
		p.depth = p.width * square
		if len(p.charts) == 1 {
			p.depth = p.width * flat
		}
		axes := p.axes(true, true)
		room := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: p.width + p.left, Y: p.depth + p.below}}}
		data := axes.DataCanvas(room)
		p.left, p.below = data.Min.X, data.Min.Y
		p.width -= room.Max.X - data.Max.X // half of the last label
	}
	p.titles = nil
	lines := 0
	for _, c := range p.charts {
		sty := textStyle(p.title, draw.XCenter, draw.YTop)
		t := wrap(sty, c.Title, p.width)
		for narrow := p.width; len(t) > 1 && narrow > 0; narrow -= gap { // lines of about one length
			balanced := wrap(sty, c.Title, narrow)
			if len(balanced) > len(t) {
				break
			}
			t = balanced
		}
		p.titles = append(p.titles, t)
		lines = max(lines, len(t))
	}
	p.top = vg.Length(lines)*lineHeight*vg.Length(p.title) + gap/2
}

// entries makes the legend.
func (p *picture) entries() {
	var names []string
	names, p.looks = looks(p.charts)
	var all []entry
	for _, name := range names {
		l := p.looks[name]
		if name[0] == 0 {
			continue // unnamed
		}
		e := entry{words: printable(name), width: thumb}
		if l.cloud {
			e.width = 8
			if p.points > maxCrowd {
				l.mark.Shape = draw.CircleGlyph{}
			}
		}
		e.draw = func(c draw.Canvas, at vg.Point) {
			if !l.cloud {
				c.StrokeLine2(l.line, at.X, at.Y, at.X+thumb, at.Y)
			}
			if l.marked {
				c.DrawGlyphNoClip(l.mark, vg.Point{X: at.X + e.width/2, Y: at.Y})
			}
		}
		all = append(all, e)
	}
	for _, c := range p.charts {
		if c.Shade != nil && c.Shade.Name != "" {
			all = append(all, entry{words: printable(c.Shade.Name), width: 2 * thumb, draw: gradient})
			break
		}
	}
	sty := textStyle(tickSize, draw.XLeft, draw.YCenter)
	room := vg.Length(0)
	for _, e := range all {
		width := e.width + 5 + sty.Width(e.words) + 1.5*gap
		if room -= width; room < -1.5*gap || len(p.legend) == 0 {
			p.legend = append(p.legend, nil)
			room = pictureWidth - 2*margin - width
		}
		last := &p.legend[len(p.legend)-1]
		*last = append(*last, e)
	}
}

// gradient draws the shades that there are.
func gradient(c draw.Canvas, at vg.Point) {
	const steps, high = 26, 8
	for k := range steps {
		x := at.X + vg.Length(k)*2*thumb/steps
		box := []vg.Point{{X: x, Y: at.Y - high/2}, {X: x + 2*thumb/steps, Y: at.Y - high/2}, {X: x + 2*thumb/steps, Y: at.Y + high/2}, {X: x, Y: at.Y + high/2}}
		c.FillPolygon(tint(0.8*(float64(k)+0.5)/steps), box)
	}
}

// caption is the height of what stands below the charts.
func (p *picture) caption() vg.Length {
	high := vg.Length(len(p.legend)) * p.lineOfLegend
	for _, note := range p.notes {
		high += vg.Length(1+strings.Count(note, "\n"))*p.lineOfCaption + gap/4
	}
	if high > 0 {
		high += gap
	}
	return high
}

func (p *picture) height() vg.Length {
	rows := vg.Length(p.rows)
	return 2*margin + rows*(p.top+p.depth) + (rows-1)*gap + p.below + lineHeight*labelSize + p.caption()
}

func (p *picture) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	low := c.Min.Y + p.caption()
	p.write(c)
	word := vg.Length(lineHeight * labelSize)
	for k, chart := range p.charts {
		i, j := k/p.columns, k%p.columns
		corner := vg.Point{
			X: c.Min.X + word + p.left + vg.Length(j)*(p.width+gap),
			Y: low + word + p.below + vg.Length(p.rows-1-i)*(p.depth+p.top+gap),
		}
		data := c
		data.Rectangle = vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: p.width, Y: p.depth})}
		last := k+p.columns >= len(p.charts) // no chart below it
		p.chart(data, k, last, j == 0)
		if j == 0 && (i == 0 || chart.Y != "") {
			sty := textStyle(labelSize, draw.XCenter, draw.YTop)
			sty.Rotation = math.Pi / 2
			c.FillText(sty, vg.Point{X: c.Min.X, Y: data.Center().Y}, printable(chart.Y))
		}
		if last {
			c.FillText(textStyle(labelSize, draw.XCenter, draw.YTop), vg.Point{X: data.Center().X, Y: corner.Y - p.below - 2}, printable(chart.X))
		}
	}
}

// write writes the legend and the notes at the bottom of c.
func (p *picture) write(c draw.Canvas) {
	at := vg.Point{X: c.Min.X, Y: c.Min.Y + p.caption() - gap}
	sty := textStyle(tickSize, draw.XLeft, draw.YCenter)
	for _, line := range p.legend {
		x, y := at.X, at.Y-p.lineOfLegend/2
		for _, e := range line {
			e.draw(c, vg.Point{X: x, Y: y})
			c.FillText(sty, vg.Point{X: x + e.width + 5, Y: y}, e.words)
			x += e.width + 5 + sty.Width(e.words) + 1.5*gap
		}
		at.Y -= p.lineOfLegend
	}
	sty.YAlign = draw.YTop
	for _, note := range p.notes {
		at.Y -= gap / 4
		for line := range strings.SplitSeq(note, "\n") {
			c.FillText(sty, at, printable(line))
			at.Y -= p.lineOfCaption
		}
	}
}

// axes are those of a chart, with labels at them or not.
func (p *picture) axes(labelX, labelY bool) *plot.Plot {
	a := styledPlot(p.x.log, p.y.log)
	p.x.apply(&a.X)
	p.y.apply(&a.Y)
	mark := func(axis *plot.Axis, r *axisRange, long vg.Length, labeled bool, size func(label string) vg.Length) {
		axis.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
			marks := ticks(lo, hi, r.log, func(marks []plot.Tick) bool {
				return apart(marks, func(v float64) vg.Length { return long * vg.Length(axis.Norm(v)) }, size)
			})
			for k := range marks {
				if !labeled && marks[k].Label != "" {
					marks[k].Label = " " // a grid line, which minor ticks have none
				}
			}
			return marks
		})
	}
	mark(&a.X, p.x, p.width, labelX, func(label string) vg.Length { return a.X.Tick.Label.Width(label) + gap/2 })
	mark(&a.Y, p.y, p.depth, labelY, func(string) vg.Length { return lineHeight * tickSize })
	return a
}

// apart tells whether labels of such sizes, centered on an axis, leave each other room.
func apart(marks []plot.Tick, at func(v float64) vg.Length, size func(label string) vg.Length) bool {
	end := vg.Length(math.Inf(-1))
	for _, m := range marks {
		if m.Label == "" {
			continue
		}
		half := size(m.Label) / 2
		if at(m.Value)-half < end {
			return false
		}
		end = at(m.Value) + half
	}
	return true
}

// chart draws the k-th chart, its data on the canvas and its title and its labels
// around it.
func (p *picture) chart(data draw.Canvas, k int, labelX, labelY bool) {
	c := p.charts[k]
	a := p.axes(labelX, labelY)
	if c.Shade != nil {
		a.Add(c.Shade.image())
	}
	a.Add(styledGrid())
	var above []plot.Plotter
	for i, s := range c.Series {
		l := p.looks[s.key(i)]
		mark := l.mark
		switch {
		case p.points > maxCrowd:
			mark.Radius, mark.Shape = 0.6, draw.CircleGlyph{}
		case s.Cloud && p.points > maxMarked:
			mark.Radius = 1.5
		}
		if r, g, b, _ := mark.Color.RGBA(); mark.Radius < l.mark.Radius {
			mark.Color = color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xb0}
		}
		for _, r := range runs(len(s.X), func(i int) bool { return s.band(c, i) }) {
			a.Add(bandPolygon(s, r[0], r[1], l.band)) // bands lie below all lines
		}
		if !s.Cloud {
			for _, r := range runs(len(s.X), func(i int) bool { return c.shows(s.X[i], s.Y[i]) }) {
				above = append(above, &plotter.Line{XYs: pairs(s.X[r[0]:r[1]], s.Y[r[0]:r[1]]), LineStyle: l.line})
			}
		}
		if l.marked {
			marks := &plotter.Scatter{GlyphStyle: mark}
			for i := range s.X {
				if c.shows(s.X[i], s.Y[i]) {
					marks.XYs = append(marks.XYs, plotter.XY{X: s.X[i], Y: s.Y[i]})
				}
			}
			above = append(above, marks)
		}
	}
	a.Add(above...)
	p.x.apply(&a.X) // plotters have widened them
	p.y.apply(&a.Y)

	// What DataCanvas takes away around the data is added before.
	around := data
	for range 2 {
		inner := a.DataCanvas(around)
		around.Min = around.Min.Add(data.Min.Sub(inner.Min))
		around.Max = around.Max.Add(data.Max.Sub(inner.Max))
	}
	a.Draw(around)

	sty := textStyle(p.title, draw.XCenter, draw.YTop)
	at := vg.Point{X: data.Center().X, Y: data.Max.Y + gap/2 + vg.Length(len(p.titles[k]))*lineHeight*vg.Length(p.title)}
	for _, line := range p.titles[k] {
		data.FillText(sty, at, printable(line))
		at.Y -= lineHeight * vg.Length(p.title)
	}
}

// wrap breaks a text into lines of that width where its words allow.
func wrap(sty text.Style, words string, width vg.Length) (lines []string) {
	for word := range strings.FieldsSeq(words) {
		if k := len(lines) - 1; k >= 0 && sty.Width(lines[k]+" "+word) <= width {
			lines[k] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
