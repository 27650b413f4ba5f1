package kernel

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/mechanism"
)

// Base is a channel on some inputs, those of a local program for the whole space. Its
// columns are extended to all inputs, X[., w] to the geometric mean of the greatest
// exp(-r rho1(u, s)) X[s,w] and the least exp(r rho1(u, s)) X[s,w], whose logarithms
// change by r rho1 at most. A kernel takes a share of them, and single columns fill up the
// rows.
type Base struct {
	inputs []int
	label  []int     // by column: the output
	logs   []float64 // by column, of the inputs
}

// NewBase reads the channel of a local program, whose labels are outputs.
func NewBase(inputs []int, c *mechanism.Channel) *Base {
	b := &Base{inputs: inputs, logs: make([]float64, len(inputs)*c.Outputs())}
	for y := range c.Outputs() {
		b.label = append(b.label, c.Output(y))
	}
	var row []float64
	for i := range inputs {
		row = c.Row(i, row)
		for y, p := range row {
			b.logs[y*len(inputs)+i] = directed.Log(p)
		}
	}
	return b
}

// add adds share of the base's row to logarithms of weights, column y to that of label
// at[y], for an input at the distances from.
func (b *Base) add(dst []float64, at []int, from []float64, rate, share float64) {
	n, logShare := len(b.inputs), math.Log(share)
	exponent := make([]float64, n)
	for i, s := range b.inputs {
		exponent[i] = float64(rate * from[s])
	}
	for y, w := range at {
		low, high := math.Inf(-1), math.Inf(1)
		for i, l := range b.logs[y*n : (y+1)*n] {
			low, high = max(low, l-exponent[i]), min(high, l+exponent[i])
		}
		if low > math.Inf(-1) {
			addLog(&dst[w], logShare+low/2+high/2)
		}
	}
}
