package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/walk"
)

func tuneFamilies(d int) []family {
	each := func(start func(r *rand.Rand) func() []float64) func(*rand.Rand, int) [][]float64 {
		return func(r *rand.Rand, n int) [][]float64 {
			next, x := start(r), make([][]float64, n)
			for i := range x {
				x[i] = next()
			}
			return x
		}
	}
	tight := func(s float64) func(r *rand.Rand) func() []float64 {
		return func(r *rand.Rand) func() []float64 {
			c := anywhere(r, d)
			return func() []float64 { return around(r, c, s) }
		}
	}
	return []family{
		{"half", each(func(r *rand.Rand) func() []float64 {
			return func() []float64 { x := anywhere(r, d); x[0] /= 2; return x }
		})},
		{"tight2", each(tight(1e-2))},
		{"tight4", each(tight(1e-4))},
		{"cauchy", each(func(r *rand.Rand) func() []float64 {
			c := anywhere(r, d)
			return func() []float64 { return around(r, c, .01*math.Abs(math.Tan(math.Pi*(r.Float64()-.5)))) }
		})},
		{"ring", each(func(r *rand.Rand) func() []float64 {
			return func() []float64 {
				t := r.Float64() * 2 * math.Pi
				x := []float64{.5 + .4*math.Cos(t), .5 + .4*math.Sin(t), .3}[:d]
				return around(r, x, .002)
			}
		})},
		{"halfatoms", each(func(r *rand.Rand) func() []float64 {
			c := [][]float64{anywhere(r, d), anywhere(r, d), anywhere(r, d), anywhere(r, d), anywhere(r, d)}
			return func() []float64 {
				if r.IntN(2) == 0 {
					return anywhere(r, d)
				}
				return slices.Clone(c[r.IntN(5)])
			}
		})},
		{"cantor", each(func(r *rand.Rand) func() []float64 {
			return func() []float64 {
				x := make([]float64, d)
				for a := range x {
					s := 2. / 3
					for range 12 {
						x[a] += s * float64(r.IntN(2))
						s /= 3
					}
				}
				return clipped(x)
			}
		})},
	}
}

func TestZZTune(t *testing.T) {
	type inst struct {
		d, n, seeds int
		name        string
		grid        *Grid
		j           []*judge
		c           []*Counts
		fixed, hist float64
	}
	fam := families
	if os.Getenv("TUNE") == "tune" {
		fam = tuneFamilies
	}
	var all []*inst
	for _, d := range []int{1, 2, 3} {
		for _, f := range fam(d) {
			for _, n := range []int{100, 1000, 10000} {
				in := &inst{d: d, n: n, name: fmt.Sprintf("%d/%s/%d", d, f.name, n), grid: dyadic(d), seeds: max(8, min(40, 30_000/n))}
				for seed := range in.seeds {
					r := random.Seeded(uint64(seed + 100))
					x := f.draw(r, n)
					in.j, in.c = append(in.j, newJudge(r, x, d)), append(in.c, count(x, d))
				}
				all = append(all, in)
			}
		}
	}
	b := NewBudget(walk.ReplaceOne, 1)
	cost := func(in *inst, rule Rule) float64 {
		sum := 0.0
		for s := range in.seeds {
			r := random.Seeded(uint64(s))
			rel := Draw(r, in.grid, func(v Place) int64 { return in.c[s].Between(in.grid.Cells(v)) }, b, rule, 1<<22)
			sum += in.j[s].w1(rel)
		}
		return sum / float64(in.seeds)
	}
	par := func(f func(in *inst)) {
		var wg sync.WaitGroup
		ch := make(chan *inst)
		for range 2 {
			wg.Go(func() {
				for in := range ch {
					f(in)
				}
			})
		}
		for _, in := range all {
			ch <- in
		}
		close(ch)
		wg.Wait()
	}
	best := map[string]string{}
	var mu sync.Mutex
	par(func(in *inst) {
		in.fixed, in.hist = math.Inf(1), math.Inf(1)
		for _, f := range fixedRules(in.d, in.n) {
			c := cost(in, f)
			if c < in.fixed {
				in.fixed = c
				mu.Lock()
				best[in.name] = fmt.Sprint(f)
				mu.Unlock()
			}
		}
		for _, f := range histogramRules(in.d, in.n) {
			in.hist = min(in.hist, cost(in, f))
		}
	})
	report := func(label string, verbose bool) {
		res := map[string]float64{}
		par(func(in *inst) { c := cost(in, Adaptive{}); mu.Lock(); res[in.name] = c; mu.Unlock() })
		var out [4]struct {
			sum, worst, hist float64
			n                int
			at               string
		}
		for _, in := range all {
			g := res[in.name] / in.fixed
			for _, k := range []int{0, in.d} {
				o := &out[k]
				o.sum += math.Log(g)
				o.n++
				if g > o.worst {
					o.worst, o.at = g, in.name
				}
				o.hist = max(o.hist, res[in.name]/in.hist)
			}
			if verbose {
				fmt.Printf("  %-20s %.3f hist %.3f  best %s\n", in.name, g, res[in.name]/in.hist, best[in.name])
			}
		}
		fmt.Printf("%-34s", label)
		for _, o := range out {
			fmt.Printf(" | %.3f worst %.2f %-18s hist %.2f", math.Exp(o.sum/float64(o.n)), o.worst, o.at, o.hist)
		}
		fmt.Println()
	}
	report("default", os.Getenv("V") != "")
	for _, spec := range strings.Fields(os.Getenv("SPECS")) {
		pc0, pm0, qm0, sh0, sl0 := topExp, gBelow, qmin, shift, slope
		t0, k0, rdim, d0, ls0, lsh0, ms0 := threshold, kappa, rootDim, decay, leastSpread, leastShare, mostShare
		for _, kv := range strings.Split(spec, ",") {
			k, v, _ := strings.Cut(kv, "=")
			var x float64
			fmt.Sscan(v, &x)
			*map[string]*float64{"t": &threshold, "k": &kappa, "r": &rootDim, "d": &decay, "ls": &leastSpread, "lsh": &leastShare, "ms": &mostShare, "pc": &topExp, "pm": &gBelow, "qm": &qmin, "sh": &shift, "sl": &slope}[k] = x
		}
		report(spec, false)
		topExp, gBelow, qmin, shift, slope = pc0, pm0, qm0, sh0, sl0
		threshold, kappa, rootDim, decay, leastSpread, leastShare, mostShare = t0, k0, rdim, d0, ls0, lsh0, ms0
	}
}
