package mechanism

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// formatName opens every encoded channel; a reader refuses any other.
const formatName = "metricdp.channel/1"

// header is everything in the file but the weights, which follow it: row by row,
// null for a weight of 0 in a logarithmic channel.
type header struct {
	Format  string `json:"format"`
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
	Log     bool   `json:"log"`
	Labels  []int  `json:"labels,omitempty"`
	claim
}

// claim is a guarantee in a file.
type claim struct {
	Unit  string   `json:"unit,omitempty"`
	Alpha *float64 `json:"alpha,omitempty"` // none: promises nothing
	Delta float64  `json:"delta,omitempty"`
	Reach float64  `json:"reach,omitempty"` // none: all distances
}

func (g Guarantee) claim() claim {
	c := claim{Unit: string(g.Unit()), Delta: g.Delta()}
	if a := g.Alpha(); !math.IsInf(a, 1) {
		c.Alpha = &a
	}
	if r := g.Reach(); !math.IsInf(r, 1) {
		c.Reach = r
	}
	return c
}

// MarshalJSON implements json.Marshaler: {"unit":"km","alpha":0.1}, with "delta"
// where it is positive, "reach" where it is finite, no "alpha" where that is +Inf.
func (g Guarantee) MarshalJSON() ([]byte, error) {
	if err := fault.Name("mechanism: Guarantee.MarshalJSON", "unit", string(g.unit)); err != nil {
		return nil, err
	}
	return json.Marshal(g.claim())
}

// UnmarshalJSON implements json.Unmarshaler. What is read is a claim of whoever
// wrote it, checked as by [NewGuarantee]; other names are an error.
func (g *Guarantee) UnmarshalJSON(b []byte) error {
	const op = "mechanism: Guarantee.UnmarshalJSON"
	var c claim
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := fault.Name(op, "unit", c.Unit); err != nil {
		return err
	}
	if c == (claim{}) {
		*g = Guarantee{}
		return nil
	}
	alpha := math.Inf(1)
	if c.Alpha != nil {
		alpha = *c.Alpha
	}
	have, err := NewGuarantee(alpha, c.Delta, metric.Unit(c.Unit))
	if err == nil && c.Reach != 0 {
		have, err = have.Within(c.Reach)
	}
	if err == nil {
		*g = have
	}
	return err
}

// MarshalJSON implements json.Marshaler by [Channel.WriteJSON], also for a mechanism
// that embeds a channel and has no encoding of its own.
func (c *Channel) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := c.WriteJSON(&b)
	return b.Bytes(), err
}

// UnmarshalJSON is always an error: [ReadChannel] audits what it reads.
func (c *Channel) UnmarshalJSON([]byte) error {
	return errors.New("mechanism: Channel.UnmarshalJSON: a channel has to be audited under its metric: use ReadChannel")
}

// WriteJSON encodes the channel: sizes, labels, unit, guarantee and, row by row, the weights,
// which read back to the same bits (a lazy channel dense). A unit with a control character, a
// mark of text direction or invalid UTF-8 is an error.
func (c *Channel) WriteJSON(w io.Writer) error {
	const op = "mechanism: Channel.WriteJSON"
	if err := c.built(op); err != nil {
		return err
	}
	if err := fault.Name(op, "unit", string(c.g.Unit())); err != nil {
		return err
	}
	head, err := json.Marshal(header{formatName, c.n, c.m, c.log, c.labels, c.g.claim()})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s,\"weights\":[", head[:len(head)-1])
	var buf []float64
	before := "\n["
	for x := range c.n {
		r, err := c.read(op, x, &buf)
		if err != nil {
			return err
		}
		for _, v := range r.W {
			b.WriteString(before)
			if math.IsInf(v, -1) {
				b.WriteString("null")
			} else {
				b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', -1, 64))
			}
			before = ","
		}
		before = "],\n["
	}
	b.WriteString("]]}\n")
	return b.Flush()
}

// ErrClaim reports a file whose channel is not as private as it says.
var ErrClaim = errors.New("the channel does not keep the guarantee it claims")

// maxFile is the largest document read: 20 bytes for each of 10^8 weights.
const maxFile = 2 << 30

// maxToken bounds one number, string or name with the white space before it.
const maxToken = 64 << 10

// ReadChannel decodes what [Channel.WriteJSON] wrote and trusts none of it: it is checked as by
// [NewChannel] and audited under rho at the delta of its guarantee (0 if it claims nothing), over the
// pairs of inputs within its reach. The channel has the audited level, with that delta and reach; a level
// above the file's claim is [ErrClaim]. rho must be the privacy metric that the file's unit names: another
// unit ([metric.UnitOf]) is [ErrUnit]. o.Delta must be 0.
//
// Sizes come before labels and weights, and are checked first. Reading takes at most 24 bytes a weight
// read and 128 KiB. A document that is damaged, of another format, over 2 GiB, with an unknown or repeated
// name, or followed by more data is an error that says where, and so is one of r. A byte order mark is
// skipped. ctx ends the reading between two calls of r.Read, and the audit.
func ReadChannel(ctx context.Context, r io.Reader, rho metric.Finite, o *AuditOptions) (*Channel, error) {
	audit := o.auditing(readOp)
	if audit.Delta != 0 {
		return nil, fault.Value(readOp, "Delta", audit.Delta, "0: the file has it")
	}
	d := &decoder{ctx: ctx, r: r}
	d.json = json.NewDecoder(bounded.WithoutMark(d))
	d.json.UseNumber()
	w, h, err := d.document(fault.Len(rho))
	if err != nil {
		return nil, fmt.Errorf("%w, at byte %d", err, d.json.InputOffset())
	}
	c, err := fromSlice(ctx, readOp, h.Inputs, h.Outputs, w, h.Log, &ChannelOptions{Labels: h.Labels, Workers: audit.Workers})
	if err != nil {
		return nil, err
	}
	audit.Delta = h.Delta
	if h.Reach > 0 {
		audit.reach = h.Reach
	}
	c, a, err := c.certify(ctx, rho, metric.Unit(h.Unit), audit)
	if err != nil {
		return nil, err
	}
	if h.Alpha != nil && !(a.Lo <= *h.Alpha) {
		return nil, fmt.Errorf("%s: %w: claims alpha = %v, audited %v", readOp, ErrClaim, *h.Alpha, a)
	}
	return c, nil
}

const readOp = "mechanism: ReadChannel"

var errLong = fmt.Errorf("a number, a string or white space of over %d KiB", maxToken>>10)

// decoder reads a document token by token.
type decoder struct {
	ctx  context.Context
	r    io.Reader
	n    int64 // bytes read of it
	most int64 // that may be read for the next token
	err  error // of r, which ends the reading
	json *json.Decoder
	at   string // what is being read, as "weights[2]"
}

// Read hands out up to maxToken bytes for one token, until ctx is done or r has an error,
// which stays: the json.Decoder forgets one that comes before the next token.
func (d *decoder) Read(p []byte) (int, error) {
	if d.ctx.Err() != nil {
		return 0, d.ctx.Err()
	}
	if d.err != nil {
		return 0, d.err
	}
	if d.n >= d.most {
		return 0, errLong
	}
	n, err := d.r.Read(p[:min(int64(len(p)), d.most-d.n)])
	d.n, d.err = d.n+int64(n), err
	return n, err
}

// wrong is an error about what is being read.
func (d *decoder) wrong(format string, args ...any) error {
	op := readOp
	if d.at != "" {
		op += ": " + d.at
	}
	return fmt.Errorf("%s: %w", op, fmt.Errorf(format, args...))
}

// value is an error about v, the index-th of what is read, or all of it at -1.
func (d *decoder) value(index int, v float64, want string) error {
	return &fault.ValueError{Op: readOp, Arg: d.at, Index: index, Value: v, Want: want}
}

func (d *decoder) size(got, want int) error {
	return &fault.SizeError{Op: readOp, Arg: d.at, Got: got, Want: fmt.Sprint(want)}
}

// allow lets Read reach the next token.
func (d *decoder) allow() { d.most = min(d.json.InputOffset()+maxToken, maxFile+1) }

// more tells whether the array or object that is being read goes on.
func (d *decoder) more() bool {
	d.allow()
	return d.json.More()
}

// token returns the next one: a json.Delim, json.Number, string, bool or nil.
func (d *decoder) token() (json.Token, error) {
	d.allow()
	t, err := d.json.Token()
	switch {
	case err == nil:
		return t, nil
	case d.n > maxFile:
		return nil, &fault.MemoryError{Op: readOp, Bytes: maxFile + 1, Limit: maxFile}
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return nil, d.wrong("%w", err)
}

// next returns the next token as the T that is wanted.
func next[T json.Token](d *decoder, want string) (v T, err error) {
	t, err := d.token()
	if err != nil {
		return v, err
	}
	v, ok := t.(T)
	if !ok {
		return v, d.wrong("have %s, want %s", showToken(t), want)
	}
	return v, nil
}

// showToken is a token for an error message.
func showToken(t json.Token) string {
	if t == nil {
		return "null"
	}
	return show(t)
}

// bracket reads one.
func (d *decoder) bracket(want json.Delim) error {
	have, err := next[json.Delim](d, want.String())
	if err == nil && have != want {
		err = d.wrong("have %v, want %v", have, want)
	}
	return err
}

// whole reads a whole number of at least least.
func (d *decoder) whole(index, least int) (int, error) {
	t, err := next[json.Number](d, "a whole number")
	if err != nil {
		return 0, err
	}
	v, err := strconv.Atoi(string(t))
	if err != nil || v < least {
		f, _ := t.Float64()
		return 0, d.value(index, f, fmt.Sprintf("a whole number >= %d, of %d bits", least, strconv.IntSize))
	}
	return v, nil
}

// number reads one that check allows.
func (d *decoder) number(check func(op, arg string, v float64) error) (float64, error) {
	t, err := next[json.Number](d, "a number")
	if err != nil {
		return 0, err
	}
	v, _ := t.Float64() // +Inf where it is too large
	return v, check(readOp, d.at, v)
}

// document reads the weights of a channel on n inputs and what its file says of it.
func (d *decoder) document(n int) (w []float64, h *header, err error) {
	h = &header{}
	seen := map[string]bool{}
	if err := d.bracket('{'); err != nil {
		return nil, nil, err
	}
	for d.more() {
		d.at = ""
		key, err := next[string](d, "a name")
		if err != nil {
			return nil, nil, err
		}
		switch {
		case seen[key]:
			return nil, nil, d.wrong("%.40q a second time", key)
		case seen["weights"]:
			return nil, nil, d.wrong("%.40q after the weights, which come last", key)
		}
		seen[key] = true
		d.at = key
		switch key {
		case "format":
			h.Format, err = next[string](d, "a string")
			if err == nil && h.Format != formatName {
				err = d.wrong("have %.40q, want %q", h.Format, formatName)
			}
		case "inputs":
			h.Inputs, err = d.whole(-1, 1)
			if err == nil && h.Inputs != n {
				err = &fault.SizeError{Op: readOp, Arg: "rho", Got: n, Want: fmt.Sprintf("the file's %d inputs", h.Inputs)}
			}
		case "outputs":
			h.Outputs, err = d.whole(-1, 1)
		case "log":
			h.Log, err = next[bool](d, "true or false")
		case "labels":
			if !seen["outputs"] {
				return nil, nil, d.wrong("before the outputs that they are for")
			}
			err = d.array(h.Outputs, func(y int) error {
				p, err := d.whole(y, 0)
				h.Labels = append(h.Labels, p)
				return err
			})
		case "unit":
			if h.Unit, err = next[string](d, "a string"); err == nil {
				err = fault.Name(readOp, d.at, h.Unit)
			}
		case "alpha":
			h.Alpha = new(float64)
			*h.Alpha, err = d.number(fault.NonNegative)
		case "delta":
			h.Delta, err = d.number(fault.Delta)
		case "reach":
			h.Reach, err = d.number(fault.Positive)
		case "weights":
			for _, name := range []string{"format", "inputs", "outputs", "log"} {
				if !seen[name] {
					return nil, nil, d.wrong("before %q", name)
				}
			}
			w, err = d.weights(h)
		default:
			d.at = ""
			err = d.wrong("%.40q is an unknown name", key)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	d.at = ""
	if err := d.bracket('}'); err != nil {
		return nil, nil, err
	}
	if !seen["weights"] {
		return nil, nil, d.wrong("weights: %w", fault.ErrEmpty)
	}
	d.allow()
	if _, err := d.json.Token(); err != io.EOF {
		if err != nil && !errors.As(err, new(*json.SyntaxError)) {
			return nil, nil, d.wrong("after the channel: %w", err)
		}
		return nil, nil, d.wrong("more after the channel")
	}
	return w, h, nil
}

// array reads want elements by read, which gets the index of each.
func (d *decoder) array(want int, read func(k int) error) error {
	if err := d.bracket('['); err != nil {
		return err
	}
	n, at := 0, d.at
	for ; d.more(); n++ {
		if n == want {
			return d.size(n+1, want)
		}
		if err := read(n); err != nil {
			return err
		}
		d.at = at
	}
	if err := d.bracket(']'); err != nil {
		return err
	}
	if n < want {
		return d.size(n, want)
	}
	return nil
}

// weights reads the rows.
func (d *decoder) weights(h *header) (w []float64, err error) {
	n, m := h.Inputs, h.Outputs
	if err := fault.Memory(readOp, float64(n)*float64(m), 8); err != nil {
		return nil, err
	}
	err = d.array(n, func(x int) error {
		d.at = fmt.Sprintf("weights[%d]", x)
		err := d.array(m, func(y int) error {
			v, err := d.weight(y, h.Log)
			if err == nil && len(w) == cap(w) { // no more than there is to come
				w = append(make([]float64, 0, min(2*int64(len(w))+1024, int64(n)*int64(m))), w...)
			}
			w = append(w, v)
			return err
		})
		if err == nil {
			err = (&Channel{log: h.Log}).checkRow(readOp, x, w[x*m:])
		}
		return err
	})
	return w, err
}

// weight reads the y-th of a row.
func (d *decoder) weight(y int, log bool) (float64, error) {
	t, err := d.token()
	if err != nil {
		return 0, err
	}
	switch t := t.(type) {
	case nil:
		if !log {
			return 0, d.value(y, math.NaN(), "a number: null is for logarithmic weights")
		}
		return math.Inf(-1), nil
	case json.Number:
		v, _ := t.Float64() // infinite where it is too large
		if math.IsInf(v, 0) || v < 0 && !log {
			want := "a finite number"
			if !log {
				want += " >= 0"
			}
			return 0, d.value(y, v, want)
		}
		return v, nil
	}
	return 0, d.wrong("[%d]: have %s, want a number or null", y, showToken(t))
}
