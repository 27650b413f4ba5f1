package ikwat22

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
)

// counts are what the size of a program counts.
var counts = []struct {
	name string
	of   func(lp.Size) int64
}{
	{"variables", func(s lp.Size) int64 { return s.Variables }},
	{"rows", func(s lp.Size) int64 { return s.Rows }},
	{"nonzeros", func(s lp.Size) int64 { return s.Nonzeros }},
}

// sizes prints the sizes of the programs for so many words, and claims how they grow
// from the first number to the last.
func sizes(ctx context.Context, r *exhibit.Run, ns []int) error {
	list := []scheme{optMech(), spannerMech(stretch), constOPTMech(neighbors, lambdas...)}
	t := demo.NewTable("words", "program", "variables", "rows", "nonzeros")
	all := make([][]lp.Size, len(list))
	smallest := true // ConstOPT, in all that counts
	for _, n := range ns {
		s := exhibit.Must(words(ctx, n, r.Seed))
		for k, m := range list {
			size := exhibit.Must(m.size(ctx, s))
			all[k] = append(all[k], size)
			t.Row(n, m.name, size.Variables, size.Rows, size.Nonzeros)
		}
		ours := all[2][len(all[2])-1]
		for _, c := range counts {
			for _, other := range all[:2] {
				smallest = smallest && c.of(ours) < c.of(other[len(other)-1])
			}
		}
	}
	r.Print(t)
	last := len(ns) - 1
	for i, c := range counts {
		var power [3]float64
		for k := range all {
			power[k] = math.Log(float64(c.of(all[k][last]))/float64(c.of(all[k][0]))) / math.Log(float64(ns[last])/float64(ns[0]))
		}
		want := []float64{2, 3, 3}[i]
		r.Say("", c.name+" of OPTMech", fmt.Sprintf("n^%v", want), fmt.Sprintf("n^%.2f", power[0]), exhibit.Near(power[0], want, .02), "")
		r.Say("", c.name+" of ConstOPT, r fixed", "grow more slowly", fmt.Sprintf("n^%.2f", power[2]),
			exhibit.If(power[2] < min(power[0], power[1]), exhibit.Holds), fmt.Sprintf("Spanner's as n^%.2f", power[1]))
	}
	part := func(k int) float64 { return float64(all[2][last].Nonzeros) / float64(all[k][last].Nonzeros) }
	r.Say("", "ConstOPT's program is the smallest", "smaller than all before",
		fmt.Sprintf("%.2g of Spanner's nonzeros, %.2g of OPTMech's", part(1), part(0)), exhibit.If(smallest, exhibit.Holds),
		fmt.Sprintf("for %d words; in variables, rows and nonzeros, for all numbers above; %s", ns[last], unseen))
	return nil
}
