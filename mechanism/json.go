package mechanism

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/metricdp/metricdp/internal/fault"
)

// formatName opens every encoded channel; a reader refuses any other.
const formatName = "metricdp.channel/1"

// header is everything in the file but the weights, which follow it: row by row,
// null for a weight of 0 in a logarithmic channel.
type header struct {
	Format  string   `json:"format"`
	Inputs  int      `json:"inputs"`
	Outputs int      `json:"outputs"`
	Log     bool     `json:"log"`
	Labels  []int    `json:"labels,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Alpha   *float64 `json:"alpha,omitempty"` // none: promises nothing
	Delta   float64  `json:"delta,omitempty"`
	Reach   float64  `json:"reach,omitempty"` // none: all distances
}

// WriteJSON encodes the channel: sizes, labels, unit and guarantee, and the
// weights row by row. Weights are written so that they read back to the same bits.
// A lazy channel is written row by row too, and reads back dense. A unit with a
// control character, a mark of the direction of text or bytes that are no UTF-8
// is an error, in writing and in reading.
func (c *Channel) WriteJSON(w io.Writer) error {
	const op = "mechanism: Channel.WriteJSON"
	if err := c.built(op); err != nil {
		return err
	}
	if err := fault.Name(op, "unit", string(c.g.Unit())); err != nil {
		return err
	}
	h := header{Format: formatName, Inputs: c.n, Outputs: c.m, Log: c.log, Labels: c.labels, Unit: string(c.g.Unit()), Delta: c.g.Delta()}
	if a := c.g.Alpha(); !math.IsInf(a, 1) {
		h.Alpha = &a
	}
	if r := c.g.Reach(); !math.IsInf(r, 1) {
		h.Reach = r
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.Write(head[:len(head)-1])
	b.WriteString(",\"weights\":[")
	var buf []float64
	var num []byte
	for x := range c.n {
		r, err := c.read(x, &buf)
		if err != nil {
			return err
		}
		sep := "\n["
		if x > 0 {
			sep = ",\n["
		}
		b.WriteString(sep)
		for y, v := range r.W {
			num = num[:0]
			if y > 0 {
				num = append(num, ',')
			}
			if math.IsInf(v, -1) {
				num = append(num, "null"...)
			} else {
				num = strconv.AppendFloat(num, v, 'g', -1, 64)
			}
			b.Write(num)
		}
		b.WriteByte(']')
	}
	b.WriteString("]}\n")
	return b.Flush()
}
