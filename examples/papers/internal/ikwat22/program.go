package ikwat22

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// byProgram draws the loss at one level against the nonzeros of the program behind it:
// ConstOPT by r, Spanner by its stretch, and OPTMech.
func byProgram(ctx context.Context, r *exhibit.Run, n int) error {
	s := exhibit.Must(words(ctx, n, r.Seed))
	draw := func(name string, list ...scheme) (demo.Series, error) {
		line := demo.Series{Name: name}
		for _, m := range list {
			size, err := m.size(ctx, s)
			if err != nil {
				return line, err
			}
			p, err := m.at(ctx, s, fixed)
			if err != nil {
				return line, err
			}
			line.X, line.Y = append(line.X, float64(size.Nonzeros)), append(line.Y, p.loss)
		}
		return line, nil
	}
	ours := exhibit.Must(draw("ConstOPT, r = 2, 5, 10, 20", constOPTMech(2, lambdas...), constOPTMech(5, lambdas...), constOPTMech(10, lambdas...), constOPTMech(20, lambdas...)))
	theirs := exhibit.Must(draw("Spanner, t = 3, 2, 1.5", spannerMech(3), spannerMech(2), spannerMech(1.5)))
	whole := exhibit.Must(draw("OPTMech", optMech()))
	err := r.WriteCharts("ikwat22-fig3.png", &demo.Chart{
		Title: fmt.Sprintf("%s, eps_tight = %v at delta = %v", s.title, fixed, delta),
		X:     "nonzeros of the program", LogX: true,
		Y:      axis(s),
		Series: []demo.Series{ours, theirs, whole},
	})
	end := len(ours.Y) - 1
	r.Say("", "a larger r loses less", "trades size for utility", fmt.Sprintf("%.4g to %.4g", ours.Y[0], ours.Y[end]),
		exhibit.If(falls(ours.Y), exhibit.Holds), fmt.Sprintf("to %v %%, to which levels are equal; %s", 100*near, unseen))
	// A Spanner is beaten where some ConstOPT has no larger program and no larger loss.
	beaten := 0
	for i := range theirs.X {
		for k := range ours.X {
			if ours.X[k] <= theirs.X[i] && ours.Y[k] <= theirs.Y[i] {
				beaten++
				break
			}
		}
	}
	r.Say("", "Spanners that a ConstOPT beats in size and loss", "superior trade-off", fmt.Sprintf("%d of %d", beaten, len(theirs.X)),
		exhibit.If(beaten == len(theirs.X), exhibit.Holds), "")
	return err
}

// falls says whether no entry is above the one before it by more than levels may differ.
func falls(y []float64) bool {
	for i := range len(y) - 1 {
		if y[i+1] > (1+near)*y[i] {
			return false
		}
	}
	return true
}
