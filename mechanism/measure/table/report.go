package table

import (
	"math"

	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// parts is how many equal parts of a number's range errors tell apart, and of a place's
// region; its root is whole.
const parts = 64

// grid has the bins between which errors are told: parts of a number, whole numbers where
// they are fewer, categories, leaves; and one for what is missing.
type grid struct {
	size []int
	lo   []float64 // of the entries of a row
	step []float64 // entries in a bin
	root []int     // bins of an entry
	from []int     // the first entry of a column
}

// newGrid makes bins for columns; places have those of the rectangle that the rows fill.
func newGrid(columns []domain.Column, rows [][]float64) *grid {
	g := &grid{}
	add := func(lo, hi float64, n int) {
		g.lo, g.step, g.root = append(g.lo, lo), append(g.step, (hi-lo)/float64(n)), append(g.root, n)
	}
	for _, c := range columns {
		g.from = append(g.from, len(g.lo))
		size := parts
		switch {
		case c.Radius > 0:
			for range 2 {
				lo, hi, at := math.Inf(1), math.Inf(-1), len(g.lo)
				for _, x := range rows {
					if !math.IsNaN(x[at]) {
						lo, hi = min(lo, x[at]), max(hi, x[at])
					}
				}
				add(lo, hi, int(math.Sqrt(parts)))
			}
		case c.Categories > 0 || c.Taxonomy != nil:
			if size = c.Categories; c.Taxonomy != nil {
				size = len(c.Taxonomy.Leaves())
			}
			add(0, float64(size), size)
		case c.Whole && c.Hi-c.Lo < parts:
			size = int(math.Floor(c.Hi)-math.Ceil(c.Lo)) + 1
			add(c.Lo, c.Lo+float64(size), size)
		default:
			add(c.Lo, c.Hi, parts)
		}
		if c.Missing {
			size++
		}
		g.size = append(g.size, size)
	}
	return g
}

// binned are the bins of rows, by column.
type binned struct {
	size []int
	code [][]uint16
}

func (g *grid) bin(rows [][]float64) *binned {
	b := &binned{size: g.size}
	for a, first := range g.from {
		last := len(g.lo)
		if a+1 < len(g.from) {
			last = g.from[a+1]
		}
		code := make([]uint16, len(rows))
		for i, x := range rows {
			v := 0
			for e := first; e < last; e++ {
				if math.IsNaN(x[e]) {
					v = g.size[a] - 1
					break
				}
				v = v*g.root[e] + int(max(0, min(float64(g.root[e]-1), math.Floor((x[e]-g.lo[e])/g.step[e]))))
			}
			code[i] = uint16(v)
		}
		b.code = append(b.code, code)
	}
	return b
}

// variation is the total variation of the shares of the values of some columns together.
func variation(x, y *binned, columns ...int) float64 {
	size := 1
	for _, a := range columns {
		size *= x.size[a]
	}
	share := make([]float64, size)
	add := func(b *binned, w float64) {
		for i := range b.code[0] {
			at := 0
			for _, a := range columns {
				at = at*b.size[a] + int(b.code[a][i])
			}
			share[at] += w
		}
	}
	add(x, 1/float64(len(x.code[0])))
	add(y, -1/float64(len(y.code[0])))
	sum := 0.0
	for _, v := range share {
		sum += math.Abs(v) / 2
	}
	return sum
}
