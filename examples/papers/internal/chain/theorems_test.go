package chain

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// TestTheorems has the upper bounds by the scales, which package entropy states,
// against exact optima on random spaces of 3 to 8 points and on the known bad ones.
// What it logs is how near the optimum comes to each.
func TestTheorems(t *testing.T) {
	count := testkit.Sweep(400, 3000)
	nearest := map[string]float64{}
	for i := range count {
		r := random.Seeded(uint64(i))
		q := questions[i%len(questions)]
		n := 3 + r.IntN(6)
		p := q.start(r, n)
		if k := r.IntN(8); k < 4 {
			p = q.known(n)[k]
		}
		b := p.space()
		opt, err := lp.Optimal(t.Context(), b, 1, &lp.Options{Tolerance: 1e-4, Workers: 1})
		testkit.Check(t, err)
		below := func(name string, bound float64) {
			if !(opt.DualBound <= bound) {
				t.Errorf("space %d: optimum %v above %v of %s\n%v", i, opt.DualBound, bound, name, p)
			}
			if bound > 0 {
				nearest[name] = max(nearest[name], opt.DualBound/bound)
			}
		}
		scales := func(b metric.Bimetric, c, d float64) (s, so float64) {
			return testkit.Must(scale.Entropic(t.Context(), b, []float64{c}, nil))[0].Hi,
				testkit.Must(scale.Diametric(t.Context(), b, []float64{d}, nil))[0].Hi
		}
		c := 0.45 * r.Float64()
		d := (0.49 - c) * r.Float64()
		if r.IntN(2) == 0 || d == 0 || c == 0 {
			c, d = 1./3, 1./7
		}
		constant := (0.5 - d) / (0.5 - c - d)
		s, _ := scales(metric.Same(b.Privacy), c, d)
		_, so := scales(b, c, d)
		below("the net of rho1", constant*math.Exp((c+d)*s)*so)

		s, so = scales(b, c, d)
		net := testkit.Must(metric.Net(t.Context(), b.Utility, s, nil))
		k := 1
		for w := range n {
			near := 0
			for _, y := range net {
				if b.Utility.Distance(w, y) <= 2*s*(1+1e-12) {
					near++
				}
			}
			k = max(k, near)
		}
		below("the relaxed mechanism", s+(constant*float64(k)-1)*so)
		if metric.ValidateUltrametric(t.Context(), b.Utility, 0) == nil {
			below("the relaxed mechanism on an ultrametric", s+(constant-1)*so)
		}
		if s, so := scales(b, 1./3, 1./7); b.OneMetric() {
			below("25 max(s, s_o)", 25*max(s, so))
		}
		uppers := testkit.Must(entropy.UpperBounds(t.Context(), b, 1, nil))
		for _, u := range uppers {
			below(u.Name, u.Value)
		}
	}
	var names []string
	for name := range nearest {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("optimum at most %.4f of %s", nearest[name], name)
	}
}

// BenchmarkUpperBounds reports how many times the optimum the best upper bound is.
func BenchmarkUpperBounds(b *testing.B) {
	const n = 30
	for _, s := range []named{
		{"plane", metric.Same(space.Uniform(n, random.Seeded(1)))},
		{"ultrametric", metric.Same(ultra(b, n, random.Seeded(2)))},
		{"path", metric.Same(space.Path(n, 1./n))},
		{"simplex", metric.Same(space.Simplex(n, 1))},
		{"two metrics", metric.Bimetric{Privacy: space.Uniform(n, random.Seeded(3)), Utility: space.Uniform(n, random.Seeded(4))}},
	} {
		for _, alpha := range []float64{1, 5, 20, 80, 200, 3000} {
			b.Run(fmt.Sprintf("%s/alpha=%v", s.name, alpha), func(b *testing.B) {
				opt := testkit.Must(lp.Optimal(b.Context(), s.Bimetric, alpha, &lp.Options{Tolerance: 1e-4}))
				var best entropy.Bound
				for b.Loop() {
					best = testkit.Must(entropy.UpperBounds(b.Context(), s.Bimetric, alpha, nil))[0]
				}
				b.ReportMetric(best.Value/opt.DualBound, "above_optimum")
			})
		}
	}
}
