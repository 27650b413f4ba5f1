package mechanismtest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// maxInputs are released from; the rows of all are checked.
const maxInputs = 16

// TestChannel checks all laws but level, with one Options.FalseReject for the frequencies of all inputs. It
// releases from up to 16. rho is the privacy metric, with a point for each input. A guarantee must be
// set: see [mechanism.Channel.Certify]. Other errors: a [*metric.SizeError] for rho, a [*metric.ValueError] for
// an option.
func TestChannel(ctx context.Context, c *mechanism.Channel, rho metric.Finite, o *Options[int, int]) error {
	const op = "mechanismtest: TestChannel"
	opt, err := settings(op, o)
	if err != nil {
		return err
	}
	n := c.Len()
	if got := fault.Len(rho); got != n {
		return &metric.SizeError{Op: op, Arg: "rho", Got: got, Want: fmt.Sprint(n)}
	}
	inputs := make([]int, min(n, maxInputs)) // evenly spread
	for k := range inputs {
		inputs[k] = k * n / len(inputs)
	}
	opt.Refused = append(slices.Clone(opt.Refused), -1, n)
	t := &law.Trial{Op: op}
	if !t.Law("rows", func() error { return checkRows(c) }) {
		return t.Err()
	}
	m := until[int, int]{ctx, c}
	behavior[int, int](t, m, inputs, &opt)
	t.Law("frequencies", func() error {
		for _, x := range inputs {
			// Release and Sampler have one distribution, and half of the errors each.
			if err := drawsRow(c, m, x, &opt, opt.FalseReject/float64(2*len(inputs))); err != nil {
				return refused(x, err)
			}
		}
		return nil
	})
	t.Law("audit", func() error { return auditAgrees(ctx, c, rho) })
	return ended(ctx, t)
}

func checkRows(c *mechanism.Channel) error {
	var row, again []float64
	for x := range c.Len() {
		row = c.Row(x, row)
		if len(row) != c.Outputs() {
			return fmt.Errorf("Row(%d) has %d entries of %d", x, len(row), c.Outputs())
		}
		sum := 0.0
		for y, p := range row {
			if !(p >= 0 && p <= 1+massSlack) {
				return fmt.Errorf("Row(%d)[%d] = %v", x, y, p)
			}
			sum += p
		}
		if !(math.Abs(sum-1) <= massSlack) {
			return fmt.Errorf("Row(%d) sums to %v", x, sum)
		}
		if again = c.Row(x, again); !slices.Equal(row, again) {
			return fmt.Errorf("Row(%d) is %v after %v", x, again, row)
		}
		for _, y := range []int{0, x % len(row), len(row) - 1} {
			if p := c.Prob(x, y); p != row[y] {
				return fmt.Errorf("Prob(%d, %d) = %v, Row(%d)[%d] = %v", x, y, p, x, y, row[y])
			}
		}
	}
	return nil
}

func drawsRow(c *mechanism.Channel, m until[int, int], x int, o *Options[int, int], falseReject float64) error {
	p := map[int]float64{} // of points: several outputs may stand for one
	for y, v := range c.Row(x, nil) {
		p[c.Output(y)] += v
	}
	s, err := c.Sampler(x)
	if err != nil {
		return err
	}
	released, drawn := map[int]int{}, map[int]int{}
	r, q := o.generator(2), o.generator(3)
	for range o.Samples {
		y, err := m.Release(r, x)
		if err != nil {
			return err
		}
		released[y]++
		drawn[s.Draw(q)]++
	}
	if err := disagree(released, p, 0, falseReject); err != nil {
		return fmt.Errorf("calling Release: %w", err)
	}
	if err := disagree(drawn, p, 0, falseReject); err != nil {
		return fmt.Errorf("calling Sampler: %w", err)
	}
	return nil
}

// auditAgrees checks that no pair within reach refutes the guarantee.
func auditAgrees(ctx context.Context, c *mechanism.Channel, rho metric.Finite) error {
	g := c.Guarantee()
	a, err := c.Audit(ctx, rho, &mechanism.AuditOptions{Delta: g.Delta()})
	if err != nil {
		return err
	}
	if a.Lo > g.Alpha() && rho.Distance(a.X, a.XPrime) <= g.Reach() {
		return fmt.Errorf("%w: promised %v, audited %v", mechanism.ErrClaim, g, a)
	}
	return nil
}
