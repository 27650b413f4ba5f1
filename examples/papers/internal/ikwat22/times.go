package ikwat22

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// times prints how long the programs take on words, that of ConstOPT for one lambda.
func times(ctx context.Context, r *exhibit.Run, ns []int) error {
	t := demo.NewTable("words", "program", "time", "gap")
	var small, whole time.Duration // of ConstOPT and OPTMech on as many words as OPTMech can
	var most int
	var gap float64
	for _, n := range ns {
		s := exhibit.Must(words(ctx, n, r.Seed))
		list := within(n)[1:] // without the exponential mechanism
		for _, m := range list {
			if m.name == optimum {
				o := exhibit.Must(lp.Optimal(ctx, metric.Same(s), fixed, &lp.Options{Tolerance: tolerance}))
				most, gap, whole = n, o.Gap, o.Elapsed
				t.Row(n, m.name, o.Elapsed, o.Gap)
				continue
			}
			start := time.Now()
			if _, err := m.builds[0](ctx, s, fixed); err != nil {
				return err
			}
			took := time.Since(start)
			if m.name == ours && len(list) == len(schemes())-1 {
				small = took
			}
			t.Row(n, m.name, took, math.NaN())
		}
	}
	r.Print(t)
	r.Say("", fmt.Sprintf("%s takes less time than OPTMech, %d words", ours, most), "scales", fmt.Sprintf("%.2g times", small.Seconds()/whole.Seconds()),
		exhibit.If(small < whole, exhibit.Holds), "both by solvers of this library, made for the program")
	r.Say("", fmt.Sprintf("OPTMech on %d words", most), "impractical", fmt.Sprintf("gap %.2g", gap), exhibit.If(gap <= tolerance, exhibit.Better),
		"a general solver gives up at some 75 points; lp.Optimal never writes the program out")
	return nil
}
