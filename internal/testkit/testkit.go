// Package testkit holds what the tests of several packages share.
package testkit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Slow skips, where the race detector is on or an int has 32 bits, a test that they make take
// four to ten times as long and have nothing to find in: it draws in one goroutine until
// frequencies show, or shorter tests take its paths too.
func Slow(t *testing.T) {
	t.Helper()
	if (Race || strconv.IntSize == 32) && testing.Short() {
		t.Skip("seconds under the race detector or on 32 bits, which have nothing to find here")
	}
}

// Rounding marks a quick test that fails where a proved end is rounded the wrong way or
// a product is fused into a sum: .ci/run repeats those for processors that fuse.
func Rounding(testing.TB) {}

// Garbage is collected less often than by default: tests are short, and a twentieth of
// their time goes to it.
func init() { debug.SetGCPercent(400) }

// Sweep is how many cases a test looks at: few by default, many with METRICDP_LONG,
// which .ci/run sets for some.
func Sweep(few, many int) int {
	if os.Getenv("METRICDP_LONG") != "" {
		return many
	}
	return few
}

// Swept skips, but with METRICDP_LONG, a test whose claim shorter tests check too.
func Swept(t *testing.T) {
	t.Helper()
	if Sweep(0, 1) == 0 {
		t.Skip("METRICDP_LONG is not set; shorter tests check the same")
	}
}

// ChiSquare fails t where the counts disagree with the probabilities p at false-reject
// probability level (for the large counts it is made for). Cells with an expectation below 10
// are pooled; a count in a cell of probability 0 fails at once.
func ChiSquare(t *testing.T, count []int, p []float64, level float64) {
	t.Helper()
	total, mass := 0, 0.0
	for i, c := range count {
		total += c
		mass += p[i]
		if p[i] == 0 && c > 0 {
			t.Errorf("outcome %d has probability 0 and was drawn %d times", i, c)
		}
	}
	if math.Abs(mass-1) > 1e-9 {
		t.Fatalf("probabilities sum to %v", mass)
	}
	n := float64(total)
	stat, cells := 0.0, 0
	poolC, poolE := 0.0, 0.0
	for i, c := range count {
		e := n * p[i]
		if e < 10 {
			poolC += float64(c)
			poolE += e
			continue
		}
		d := float64(c) - e
		stat += d * d / e
		cells++
	}
	if poolE >= 10 {
		d := poolC - poolE
		stat += d * d / poolE
		cells++
	} else if poolC > poolE+20+10*math.Sqrt(poolE) {
		t.Errorf("rare outcomes: %v draws, %v expected", poolC, poolE) // Poisson tail below 1e-6
	}
	if cells < 2 {
		return
	}
	limit := distuv.ChiSquared{K: float64(cells - 1)}.Quantile(1 - level)
	if stat > limit {
		t.Errorf("chi-square %.1f over %d cells, limit %.1f at level %g", stat, cells, limit, level)
	}
}

// Err returns the error of a call with one other result, and Err2 of one with two.
func Err[T any](_ T, err error) error { return err }

func Err2[S, T any](_ S, _ T, err error) error { return err }

// Must returns v, and panics where there is an error: for what a test sets up and is not about.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Looked is a context that is done after a number of looks at it.
type Looked struct {
	context.Context
	left, looks atomic.Int64
}

// Looking returns a context that is done after so many looks.
func Looking(looks int64) *Looked {
	c := &Looked{Context: context.Background()}
	c.left.Store(looks)
	return c
}

func (c *Looked) Err() error {
	if c.looks.Add(1) > c.left.Load() {
		return context.Canceled
	}
	return nil
}

// Looks is how often Err was asked for.
func (c *Looked) Looks() int64 { return c.looks.Load() }

// Check ends t where there is an error: Must for what returns nothing else.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Heap is how many bytes are on the heap and in use.
func Heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// Bench times call, as the sub-benchmark of that name.
func Bench(b *testing.B, name string, call func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call()
		}
	})
}

// Uniform fails t where the numbers, sorted in place, are not uniform on [0, 1]: Kolmogorov and
// Smirnov, with the Dvoretzky-Kiefer-Wolfowitz bound P{sup > e} <= 2 exp(-2 n e^2), so that the
// false-reject probability is at most 1e-7.
func Uniform(t *testing.T, name string, u []float64) {
	t.Helper()
	slices.Sort(u)
	n := float64(len(u))
	worst := 0.0
	for i, v := range u {
		worst = max(worst, v-float64(i)/n, float64(i+1)/n-v)
	}
	if limit := math.Sqrt(math.Log(2/1e-7) / (2 * n)); !(worst <= limit) {
		t.Errorf("%s: Kolmogorov-Smirnov %.5f, limit %.5f", name, worst, limit)
	}
}

// Distribution is n random probabilities. Those that zero tells, unless it is
// nil, are 0; should that be all, a random one is 1.
func Distribution(rng *rand.Rand, n int, zero func(i int) bool) []float64 {
	p := make([]float64, n)
	sum := 0.0
	for i := range p {
		if zero == nil || !zero(i) {
			p[i] = rng.ExpFloat64()
		}
		sum += p[i]
	}
	if sum == 0 {
		p[rng.IntN(n)], sum = 1, 1
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// words is a source of words with the same upper 56 bits; the others are random, lest a
// real number that is compared with all of them be one of theirs for ever.
type words struct {
	upper uint64
	lower *rand.PCG
}

func (w words) Uint64() uint64 { return w.upper | w.lower.Uint64()>>56 }

// Dithered returns v as whole + part/2^56, the latter to within one, where round returns
// floor(v + U) for a uniform number U whose upper 64 bits are a word of the generator.
func Dithered(round func(rng *rand.Rand) int64) (whole int64, part uint64) {
	at := func(i uint64) int64 { return round(rand.New(words{i << 8, rand.NewPCG(1, 2)})) }
	whole = at(0)
	lo, hi := uint64(0), uint64(1<<56) // of the first word that rounds up
	for lo < hi {
		if mid := (lo + hi) / 2; at(mid) > whole {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return whole, 1<<56 - lo
}

// Masses returns the exact probabilities of the outputs -reach to reach of a draw, by bisection over
// its word: the output is monotone in the upper 63 bits, falling where the lowest is 0, else rising.
func Masses(reach int, draw func(word uint64) float64) []float64 {
	p := make([]float64, 2*reach+1)
	for low := range uint64(2) {
		turn := func(k float64) uint64 { // the first upper bits of an output beyond k
			lo, hi := uint64(0), uint64(1)<<63
			for lo < hi {
				if mid := lo + (hi-lo)/2; (draw(mid<<1|low) < k) == (low == 0) {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			return lo
		}
		for j := range p {
			a, b := turn(float64(j-reach)-0.5), turn(float64(j-reach)+0.5)
			p[j] += float64(max(a, b)-min(a, b)) * 0x1p-64
		}
	}
	return p
}

// Multisets lists all multisets of m points of n.
func Multisets(n, m int) [][]int {
	if m == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, s := range Multisets(n, m-1) {
		for x := range n {
			if len(s) == 0 || x >= s[len(s)-1] {
				all = append(all, append(slices.Clone(s), x))
			}
		}
	}
	return all
}

// Reusing walks the lists, handing out one slice again and again, as a reader of files would.
func Reusing[P any](lists ...[]P) func(yield func([]P) bool) {
	return func(yield func([]P) bool) {
		var buf []P
		for _, u := range lists {
			buf = append(buf[:0], u...)
			if !yield(buf) {
				return
			}
		}
	}
}

// Ratio is a finite x as a rational number.
func Ratio(x float64) *big.Rat {
	q := new(big.Rat).SetFloat64(x)
	if q == nil {
		panic(fmt.Sprintf("%v is not finite", x))
	}
	return q
}

// Refused checks rows of an error, a string that it must have and, where not nil, the error
// that it must be.
func Refused(t testing.TB, all [][3]any) {
	t.Helper()
	for i, row := range all {
		err, _ := row[0].(error)
		is, _ := row[2].(error)
		if err == nil || !strings.Contains(err.Error(), row[1].(string)) || is != nil && !errors.Is(err, is) {
			t.Errorf("%d: %v, want %q", i, err, row[1])
		}
	}
}
