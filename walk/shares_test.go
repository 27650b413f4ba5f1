package walk

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// oddWeights are of sizes that float64 sums lose.
func oddWeights(rng *rand.Rand, n int) []float64 {
	w := make([]float64, n)
	kind := rng.IntN(4)
	for i := range w {
		switch kind {
		case 0:
			w[i] = float64(rng.IntN(5)) // counts
		case 1:
			w[i] = math.Ldexp(rng.Float64(), -rng.IntN(120))
		case 2:
			w[i] = []float64{5e-324, 1e300, 1, 0, 1e-30}[rng.IntN(5)]
		case 3:
			w[i] = 5e-324 * float64(rng.IntN(1000))
		}
	}
	w[rng.IntN(n)] += math.Ldexp(1, []int{0, 0, 0, -1000}[kind])
	return w
}

// negLog is -ln u to some 2^-150: by Newton's step from float64, and three terms of ln(1+d).
func negLog(u *big.Float) *big.Float {
	near, _ := u.Float64()
	e := math.Log(near)
	exp, _ := exact.ExpBounds(big.NewFloat(e), 300)
	nf := func() *big.Float { return new(big.Float).SetPrec(300) }
	d := nf().Sub(nf().Quo(u, exp), big.NewFloat(1))
	cube := nf().Mul(d, nf().Mul(d, d))
	ln := nf().Sub(d, nf().Quo(nf().Mul(d, d), big.NewFloat(2)))
	ln.Add(ln, cube.Quo(cube, big.NewFloat(3)))
	return ln.Neg(ln.Add(ln, big.NewFloat(e)))
}

// TestAddShares_RoundTheIdealRelease: every number is the multiple of Step next to the sum of
// exact shares and noise, computed anew by math/big from the same words. That errs by the cells
// of words, 2^-63 each, or 2^-31 steps.
func TestAddShares_RoundTheIdealRelease(t *testing.T) {
	rng := random.Seeded(31)
	seen := 0
	for trial := range uint64(testkit.Sweep(150, 3000)) {
		tree := randomTree(rng, 2+rng.IntN(30))
		dist := []Distribution{Laplace, KNorm}[trial%2]
		scales := randomScales(rng, tree)
		for l := range scales.Level {
			scales.Level[l] *= math.Pow(10, float64(rng.IntN(20)-12))
		}
		w := testkit.Must(New(tree, dist, scales))
		weights := oddWeights(rng, tree.Len())
		dst := make([]float64, tree.Nodes())
		testkit.Check(t, w.AddShares(random.Seeded(trial), dst, weights))

		sum := make([]*big.Rat, tree.Nodes())
		for v := len(sum) - 1; v >= 0; v-- {
			sum[v] = new(big.Rat)
			lo, hi := tree.Children(v)
			if lo == hi {
				first, _ := tree.LeafRange(v)
				sum[v].SetFloat64(weights[first])
			}
			for _, s := range sum[lo:hi] {
				sum[v].Add(sum[v], s)
			}
		}
		words := random.Seeded(trial)
		noise := func(n Noise, sign float64) *big.Float {
			word := words.Uint64()
			if sign == 0 {
				sign = 1 - 2*float64(word&1)
			}
			u := new(big.Float).SetPrec(80).SetUint64(word &^ 1)
			u.Add(u, big.NewFloat(1))
			z := negLog(u.SetMantExp(u, -64))
			z.Quo(z, big.NewFloat(n.rate))
			return z.Mul(z, big.NewFloat(sign))
		}
		near := func(v int, want *big.Float, n Noise) {
			t.Helper()
			off := new(big.Float).Sub(big.NewFloat(dst[v]), want)
			x, _ := off.Quo(off, big.NewFloat(n.Step())).Float64()
			if k := dst[v] / n.Step(); k != math.Round(k) || !(math.Abs(x) <= 0.5+0x1p-20) {
				t.Fatalf("trial %d, %v, node %d: %v is %v steps off", trial, dist, v, k, x)
			}
			seen++
		}
		share := func(v int) *big.Float {
			return new(big.Float).SetPrec(400).SetRat(new(big.Rat).Quo(sum[v], sum[0]))
		}
		if scales.Total > 0 {
			near(0, new(big.Float).Add(big.NewFloat(1), noise(w.total, 0)), w.total)
		} else if dst[0] != 1 {
			t.Fatalf("total %v", dst[0])
		}
		for l := range scales.Level {
			first, last := tree.Level(l)
			for u := first; u < last; u++ {
				lo, hi := tree.Children(u)
				if hi == lo+1 && dst[lo] != dst[u] {
					t.Fatalf("an only child has %v of %v", dst[lo], dst[u])
				}
				if hi < lo+2 {
					continue
				}
				n, sides := w.level[l], exact.NewSides(hi-lo)
				var from *big.Float
				for c := lo; c < hi; c++ {
					z := new(big.Float)
					if dist == Laplace {
						z = noise(n, 0)
					} else if side := sides.Next(words); side != 0 {
						z = noise(n, side)
					}
					z = new(big.Float).SetPrec(400).Add(z, share(c))
					if dist == KNorm {
						if c == lo {
							from = z
						}
						z = new(big.Float).SetPrec(400).Sub(z, from)
					}
					near(c, z, n)
				}
			}
		}
	}
	if seen < 1000 {
		t.Errorf("%d numbers", seen)
	}
}

// TestShares_ErrorBound: what is computed before the noise is off by no more than is said.
func TestShares_ErrorBound(t *testing.T) {
	rng := random.Seeded(34)
	worst := 0.0
	for trial := range testkit.Sweep(300, 3000) {
		tree := randomTree(rng, 2+rng.IntN(60))
		if trial%3 == 0 {
			tree = testkit.Must(Levels(40))
		}
		weights := oddWeights(rng, tree.Len())
		near := testkit.Must(tree.shares("test", weights))
		err := tree.sharesErr(near[0])
		total := exact.BigSum(weights)
		for v := 1; v < len(near) && err < 1; v++ {
			lo, hi := tree.LeafRange(v)
			want := new(big.Float).SetPrec(400).Quo(exact.BigSum(weights[lo:hi]), total)
			want.Sub(want, big.NewFloat(near[v].Hi))
			off, _ := want.Sub(want, big.NewFloat(near[v].Lo)).Float64()
			if worst = max(worst, math.Abs(off)/err); worst > 1 {
				t.Fatalf("node %d of %v: share off by %v, within %v", v, tree, off, err)
			}
		}
		if math.IsInf(err, 1) != (near[0].Hi < 0x1p-500) {
			t.Fatalf("total %v: within %v", near[0], err)
		}
	}
	if worst < 0x1p-10 {
		t.Errorf("the bound is never nearer than %v times the error", 1/worst)
	}
}

// TestAddShares_DivideExactly: weights in another unit are the same measure, to the last bit
// of what is released.
func TestAddShares_DivideExactly(t *testing.T) {
	rng := random.Seeded(32)
	for trial := range uint64(40) {
		tree := randomTree(rng, 2+rng.IntN(40))
		w := testkit.Must(New(tree, []Distribution{Laplace, KNorm}[trial%2], randomScales(rng, tree)))
		counts := make([]float64, tree.Len())
		for i := range counts {
			counts[i] = float64(rng.IntN(1000))
		}
		counts[0]++
		var want []float64
		for _, unit := range []float64{1, 3, 1e6 + 3, 0x1p-1070, 0x1p1000} {
			weights, dst := slices.Clone(counts), make([]float64, tree.Nodes())
			for i := range weights {
				weights[i] *= unit
			}
			testkit.Check(t, w.AddShares(random.Seeded(trial), dst, weights))
			if want == nil {
				want = dst
			}
			if !slices.Equal(dst, want) {
				t.Fatalf("unit %v: %v, want %v", unit, dst, want)
			}
		}
	}
}

// TestStep_IsPublicAndFine: within its bounds at all scales.
func TestStep_IsPublicAndFine(t *testing.T) {
	for e := -99.9; e <= 100; e += 0.37 {
		b := math.Pow(10, e)
		for _, dist := range dists {
			n := testkit.Must(NewNoise(dist, b))
			step := n.Step()
			frac, _ := math.Frexp(step)
			fine := step == 0x1p-52 && b < 0x1p-21 || step > b*0x1p-31 && step <= b*0x1p-30
			if dist.Discrete() {
				fine = step == 1
			}
			if frac != 0.5 || !fine {
				t.Fatalf("%v of scale %v: step %v", dist, b, step)
			}
		}
	}
}

// words gives stored words, then others.
type words struct {
	w    []uint64
	next int
}

func (s *words) Uint64() uint64 {
	if s.next++; s.next <= len(s.w) {
		return s.w[s.next-1]
	}
	return 0x5a5a5a5a5a5a5a5a
}

// TestAddShares_ExactAudit: the probabilities of what two leaves get, on a grid as wide as the
// noise, are found by bisection over the words of the code. For all pairs of weights, of
// other totals too, their ratio is at most e^(Loss TV), TV the exact total variation of the
// exact measures; and that somewhere.
func TestAddShares_ExactAudit(t *testing.T) {
	const b, reach = 0x1.8p-52, 4
	tree := testkit.Must(Levels(2))
	for _, dist := range []Distribution{Laplace, KNorm} {
		w := testkit.Must(New(tree, dist, Scales{Level: []float64{b}}))
		step := w.level[0].Step()
		loss := testkit.Must(tree.Loss(ReplaceOne, w.Scales()))
		inputs := [][]float64{{1, 1}, {1 + 0x1p-52, 1}, {3, 3 - 0x1p-51}, {1 << 50, 1<<50 + 1}, {5e-324, 5e-324}, {1, 1 + 0x1p-50}, {0.1, 0.1 - 0x1p-55}}
		prob := make([][]float64, len(inputs))
		for i, weights := range inputs {
			prob[i] = testkit.Masses(reach, func(word uint64) float64 { // in steps from where no noise would be near
				dst, s := make([]float64, 3), []uint64{word, 1 << 63} // the second leaf's does not matter
				if dist == KNorm {
					s = []uint64{word&1 - 1, word &^ 1} // all bits 1 or 0
				}
				testkit.Check(t, w.AddShares(rand.New(&words{w: s}), dst, weights))
				if dist == KNorm {
					return dst[2] / step
				}
				return (dst[1] - 0.5) / step
			})
		}
		share := func(x []float64) *big.Rat {
			a, c := new(big.Rat).SetFloat64(x[0]), new(big.Rat).SetFloat64(x[1])
			return new(big.Rat).Quo(a, c.Add(a, c))
		}
		tight := 0.0
		for i, p := range prob {
			for j, q := range prob {
				d := share(inputs[i])
				tv, _ := d.Abs(d.Sub(d, share(inputs[j]))).Float64()
				level := loss * tv
				if dist == Laplace { // of the first leaf alone, half of it
					level /= 2
				}
				for k := range p {
					ratio := math.Log(p[k] / q[k])
					if tight = max(tight, ratio-level); !(ratio <= level+1e-12) {
						t.Errorf("%v: %v and %v, output %d: loss %v, at most %v", dist, inputs[i], inputs[j], k-reach, ratio, level)
					}
				}
			}
		}
		if tight < -1e-12 {
			t.Errorf("%v: the loss is never nearer than %v to what is allowed", dist, tight)
		}
	}
}

// TestAddShares_OverlapsItsWeights: what is drawn is written when weights are read no more, of
// which those below 2^-500 in all are read to the end.
func TestAddShares_OverlapsItsWeights(t *testing.T) {
	tree := testkit.Must(Balanced(9, 3))
	for _, dist := range []Distribution{Laplace, KNorm} {
		w := testkit.Must(New(tree, dist, testkit.Must(tree.EqualScales(ReplaceOne))))
		buf := make([]float64, tree.Nodes())
		for i := range tree.Len() {
			buf[i] = math.Ldexp(float64(i+1), -600)
		}
		want := make([]float64, tree.Nodes())
		testkit.Check(t, w.AddShares(random.Seeded(3), want, buf[:tree.Len()]))
		testkit.Check(t, w.AddShares(random.Seeded(3), buf, buf[:tree.Len()]))
		if !slices.Equal(buf, want) {
			t.Errorf("%v: %v, want %v", dist, buf, want)
		}
	}
}
