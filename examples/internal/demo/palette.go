package demo

import (
	"cmp"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette has one look for each mechanism, in all pictures: that of the longest key
// that the name of a series begins with. Among the colors are Okabe and Ito's, which
// the color-blind can tell apart; dashes and markers tell lines apart in gray too.
var palette = []struct {
	mechanism    string
	color        color.RGBA
	dash, marker int
}{
	{"optimal", color.RGBA{0x00, 0x72, 0xb2, 0xff}, dotted, circle}, // blue
	{"OPTMech", color.RGBA{0x00, 0x72, 0xb2, 0xff}, dotted, circle}, // its name in the literature
	{"ConstOPT", color.RGBA{0x56, 0xb4, 0xe9, 0xff}, solid, ring},
	{"Spanner", color.RGBA{0x5e, 0x3c, 0x99, 0xff}, dashDot, cross},
	{"exponential", color.RGBA{0xd5, 0x5e, 0x00, 0xff}, solid, box}, // vermilion
	{"exponential, tuned", color.RGBA{0xe6, 0x9f, 0x00, 0xff}, dashed, pyramid},
	{"exponential, tight", color.RGBA{0xcc, 0x79, 0xa7, 0xff}, dashDot, cross},
	{"relaxed", color.RGBA{0x8c, 0x51, 0x0a, 0xff}, solid, pyramid},
	{"relaxed, tuned", color.RGBA{0x8a, 0x8a, 0x00, 0xff}, dashed, cross},
	{"noise", color.RGBA{0x00, 0x9e, 0x73, 0xff}, dashed, ring}, // bluish green
	{"Madlib", color.RGBA{0x00, 0x9e, 0x73, 0xff}, dashed, ring},
	{"constant", color.RGBA{0x80, 0x80, 0x80, 0xff}, solid, circle},
	{"distribution", color.RGBA{0x3f, 0x51, 0xb5, 0xff}, solid, box},
	{"distribution, local", color.RGBA{0x7e, 0x9b, 0xe8, 0xff}, dashDot, pyramid},
	{"user DP", color.RGBA{0xb0, 0x1e, 0x68, 0xff}, solid, circle},
	{"synthetic", color.RGBA{0x00, 0x61, 0x6b, 0xff}, solid, circle},
	// What is no mechanism.
	{"lower bound", color.RGBA{0x30, 0x30, 0x30, 0xff}, solid, circle},
	{"original", color.RGBA{0x30, 0x30, 0x30, 0xff}, solid, circle},
}

// others are the colors of series that are no mechanism's, in turn.
var others = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// The numbers of dashes and markers.
const (
	solid = iota
	dashed
	dotted
	dashDot
)

const (
	circle = iota
	box
	pyramid
	cross
	ring
)

var (
	dashes  = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}}
)

// find is the number in the palette of the mechanism of this name, -1 if it is none.
func find(name string) int {
	best := -1
	for k, p := range palette {
		if strings.HasPrefix(name, p.mechanism) && (best < 0 || len(p.mechanism) > len(palette[best].mechanism)) {
			best = k
		}
	}
	return best
}

// Color is that of the mechanism of this name in every picture. It panics where there
// is none.
func Color(name string) color.RGBA { return palette[find(name)].color }

// look is how a series is drawn.
type look struct {
	line   draw.LineStyle
	band   color.Color
	mark   draw.GlyphStyle
	cloud  bool // no line
	marked bool // a mark at each point
}

// key tells the k-th series of a chart from those that look otherwise.
func (s *Series) key(k int) string { return cmp.Or(s.Name, fmt.Sprintf("\x00%d", k)) }

// looks are those of all series of a picture by their keys, in the order in which
// they first come. Series of one mechanism differ by dashes and markers, and so do
// those of none, whose colors come again.
func looks(charts []*Chart) (keys []string, by map[string]look) {
	by = map[string]look{}
	times := map[int]int{} // that a mechanism has come
	for _, c := range charts {
		for i, s := range c.Series {
			key := s.key(i)
			if _, known := by[key]; known {
				continue
			}
			keys = append(keys, key)
			m := find(s.Name)
			k := times[m]
			times[m]++
			shade, dash, marker := others[k%len(others)], k, k
			if m >= 0 {
				shade, dash, marker = palette[m].color, palette[m].dash+k, palette[m].marker+k
			}
			by[key] = look{
				line:   draw.LineStyle{Color: shade, Width: 1.6, Dashes: dashes[dash%len(dashes)]},
				band:   color.NRGBA{shade.R, shade.G, shade.B, 0x38},
				mark:   draw.GlyphStyle{Color: shade, Radius: 2.8, Shape: markers[marker%len(markers)]},
				cloud:  s.Cloud,
				marked: s.Cloud || len(s.X) <= maxMarked,
			}
		}
	}
	return keys, by
}
