package mechanism

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// formatName opens every encoded channel; a reader refuses any other.
const formatName = "metricdp.channel/1"

// header is everything in the file but the weights.
type header struct {
	Format  string   `json:"format"`
	Inputs  int      `json:"inputs"`
	Outputs int      `json:"outputs"`
	Log     bool     `json:"log"`
	Labels  []int    `json:"labels,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Alpha   *float64 `json:"alpha,omitempty"` // none: promises nothing
	Delta   float64  `json:"delta,omitempty"`
}

// file is the whole document. A weight of 0 in a logarithmic channel is null.
type file struct {
	header
	Weights [][]*float64 `json:"weights"`
}

// WriteJSON encodes the channel: sizes, weights row by row, labels, unit and
// guarantee. Weights are written so that they read back to the same bits. A
// lazy channel is written row by row too, and reads back dense. A unit with a
// control character, a mark of the direction of text or bytes that are no UTF-8
// is an error, in writing and in reading.
func (c *Channel) WriteJSON(w io.Writer) error {
	if err := fault.Name("mechanism: Channel.WriteJSON", "unit", string(c.g.Unit())); err != nil {
		return err
	}
	h := header{Format: formatName, Inputs: c.n, Outputs: c.m, Log: c.log, Labels: c.labels, Unit: string(c.g.Unit()), Delta: c.g.Delta()}
	if a := c.g.Alpha(); !math.IsInf(a, 1) {
		h.Alpha = &a
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

// ErrClaim reports a file whose channel is not as private as it says.
var ErrClaim = errors.New("the channel does not keep the guarantee it claims")

// maxFile is the largest document that ReadChannel looks at: about 20 bytes a
// weight for the 10^8 weights of a channel on 10,000 points.
const maxFile = 2 << 30

// ReadChannel decodes what [Channel.WriteJSON] wrote and trusts none of it:
// sizes, weights and labels are checked as [NewChannel] does, and the channel
// is audited under rho at the delta of its guarantee. The channel returned
// carries the level just audited. [ErrClaim] says that this level is above the
// file's claim; a file that claims nothing is audited at delta 0. A document
// that is damaged, of another format, over 2 GiB or followed by more data is an
// error that says where. rho must be the privacy metric that the file's unit
// names; nothing in the file can prove that it is.
func ReadChannel(r io.Reader, rho metric.Finite, o *AuditOptions) (*Channel, error) {
	const op = "mechanism: ReadChannel"
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	dec := json.NewDecoder(limited)
	dec.DisallowUnknownFields()
	var f file
	if err := dec.Decode(&f); err != nil {
		if limited.N == 0 {
			return nil, &fault.MemoryError{Op: op, Bytes: maxFile + 1, Limit: maxFile}
		}
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: more data after the channel, at byte %d", op, dec.InputOffset())
	}
	if f.Format != formatName {
		return nil, fmt.Errorf("%s: format %q, want %q", op, f.Format, formatName)
	}
	if err := fault.Name(op, "unit", f.Unit); err != nil {
		return nil, err
	}
	if len(f.Weights) != f.Inputs {
		return nil, &fault.SizeError{Op: op, Arg: "weights", Got: len(f.Weights), Want: fmt.Sprint(f.Inputs)}
	}
	for x, row := range f.Weights {
		if len(row) != f.Outputs {
			return nil, &fault.SizeError{Op: op, Arg: fmt.Sprintf("weights[%d]", x), Got: len(row), Want: fmt.Sprint(f.Outputs)}
		}
		for y, v := range row {
			if v == nil && !f.Log {
				return nil, &fault.ValueError{Op: op, Arg: fmt.Sprintf("weights[%d]", x), Index: y, Value: math.NaN(), Want: "a number: null is for logarithmic weights"}
			}
		}
	}
	c, err := NewChannel(Rows{f.Inputs, f.Outputs, f.Log, func(x int, dst []float64) {
		for y, v := range f.Weights[x] {
			dst[y] = math.Inf(-1)
			if v != nil {
				dst[y] = *v
			}
		}
	}}, &ChannelOptions{Labels: f.Labels})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var audit AuditOptions
	if o != nil {
		audit = *o
	}
	audit.Delta = f.Delta
	c, a, err := c.Certify(rho, metric.Unit(f.Unit), &audit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if f.Alpha != nil && !(a.Lo <= *f.Alpha) {
		return nil, fmt.Errorf("%s: %w: claims alpha = %v, audited %v", op, ErrClaim, *f.Alpha, a)
	}
	return c, nil
}
