package mechanism

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// Release, Sampler and Prob speak of one law; lazy and dense agree draw by draw.
func TestChannel_ReleaseLaw(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(3)
	f := space.Uniform(12, r)
	c, lazy := expo(t, f, 8, false), expo(t, f, 8, true)
	count := make([]int, 12)
	s := testkit.Must(lazy.Sampler(5))
	a, b, d := random.Seeded(9), random.Seeded(9), random.Seeded(9)
	for range 200_000 {
		y, err := c.Release(a, 5)
		z, err2 := lazy.Release(b, 5)
		if v := s.Draw(d); y != z || y != v || err != nil || err2 != nil {
			t.Fatalf("dense %d, lazy %d, sampler %d, %v, %v", y, z, v, err, err2)
		}
		count[y]++
	}
	testkit.ChiSquare(t, count, c.Row(5, nil), 1e-6) // false-reject probability 1e-6
	for y := range 12 {
		if p := lazy.Prob(5, y); p != c.Prob(5, y) || p != c.Row(5, nil)[y] {
			t.Errorf("Prob(5, %d): lazy %v, dense %v", y, p, c.Prob(5, y))
		}
	}
	for range 100 { // the secure generator
		if y, err := c.Release(nil, 5); err != nil || y < 0 || y >= 12 {
			t.Fatal(y, err)
		}
		s.Draw(nil)
	}
}

// What internal/robust does not ask: rows without weight, sizes that do not fit one
// another, more than there is memory for, and rows of a lazy channel.
func TestChannel_BadInput(t *testing.T) {
	nan, fill := math.NaN(), func(int, []float64) {}
	f := space.Path(3, 1)
	c := expo(t, f, 1, false)
	lazy := testkit.Must(NewChannel(t.Context(), Rows{3, 2, false, func(x int, dst []float64) { dst[0], dst[1] = 1, float64(x)*nan }}, &ChannelOptions{Lazy: true}))
	three, two := []string{"a", "b", "c"}, []int{1, 2}
	mixed := testkit.Must(c.Relabel([]int{1, 0, 1}))
	refuse(t, []refused{
		{testkit.Err(FromWeights(t.Context(), 1, 2, []float64{1, -1}, nil)), "FromWeights: rows[0][1] = -1, want a finite weight >= 0"},
		{testkit.Err(FromLogWeights(t.Context(), 1, 2, []float64{1, math.Inf(1)}, nil)), "FromLogWeights: rows[0][1] = +Inf, want a finite log-weight or -Inf"},
		{testkit.Err(FromWeights(t.Context(), 2, 2, []float64{1, 1, 1}, nil)), "FromWeights: w has size 3, want 2 x 2, both positive"},
		{testkit.Err(FromWeights(t.Context(), 2, 2, []float64{1, 1, 0, 0}, nil)), "FromWeights: row 1 has no positive weight"},
		{testkit.Err(NewChannel(t.Context(), Rows{1 << 20, 1 << 20, true, fill}, nil)), "NewChannel: needs 8.19e+03 GiB, the limit is "},
		{testkit.Err(NewChannel(t.Context(), Rows{1, 2, true, fill}, &ChannelOptions{Labels: []int{1}})), "NewChannel: Labels has size 1, want 2"},
		{testkit.Err(c.Audit(t.Context(), space.Path(4, 1), nil)), "Channel.Audit: rho has size 4, want 3"},
		{testkit.Err(c.Loss(t.Context(), space.Path(4, 1))), "Channel.Loss: rho has size 4, want 3"},
		{testkit.Err(lazy.Release(nil, 1)), "Channel.Release: rows[x][1], want a finite weight >= 0"},
		{testkit.Err(lazy.Audit(t.Context(), f, nil)), "Channel.Audit: rows[0][1] = NaN, want a finite weight >= 0"},
		{certified(t, c, f, "k\x00").WriteJSON(io.Discard), `Channel.WriteJSON: unit = "k\x00"`},
		{testkit.Err(ReadChannel(t.Context(), strings.NewReader(""), f, &AuditOptions{Delta: .1})), "ReadChannel: Delta = 0.1, want 0"},
		{lazy.WriteJSON(io.Discard), "Channel.WriteJSON: rows[0][1] = NaN, want a finite weight >= 0"},
		{testkit.Err(lazy.Sampler(1)), "Channel.Sampler: rows[x][1], want a finite"},
		{testkit.Err(lazy.LossAt(1, space.Path(3, 1))), "Channel.LossAt: rows[1][1] = NaN"},
		{testkit.Err(c.AdversaryError(t.Context(), nil, space.Path(2, 1))), "Channel.AdversaryError: rho has size 2, want at least 3"},
		{testkit.Err(c.Relabel([]int{-1, 0, 0})), "Channel.Relabel: labels[0] = -1"},
		{testkit.Err(c.Relabel([]int{0, math.MaxInt, 0})), "Channel.Relabel: labels[1] = "},
		{testkit.Err(c.Audit(t.Context(), space.Constant(3, -1), nil)), "Channel.Audit: rho.Distance(0, 1)"},
		{testkit.Err(Labels(mixed, three[:2], two)), "Labels: inputs has size 2, want 3"},
		{testkit.Err(Labels(mixed, three, two[:1])), "Labels: outputs has size 1, want 2 or more"},
		{testkit.Err(Labels(mixed, []string{"a", "b", "a"}, two)), `Labels: inputs[2] = "a" is inputs[0] too`},
		{testkit.Err(Labels(Mechanism[int, int](unsized{mixed}), three[:0], two)), "Labels: inputs: empty input"},
		{testkit.Err(Labels(Mechanism[int, int](unsized{mixed}), three, two[:0])), "Labels: outputs: empty input"},
		{testkit.Err(Labels(mixed, []float64{0, math.NaN(), 1}, two)), "Labels: inputs[1] = NaN cannot be "},
	})
	if p := lazy.Prob(1, 0); !math.IsNaN(p) {
		t.Errorf("bad lazy row: %v", p)
	}
}

// refused is an error and how it begins: the call, the argument, the index and the value.
type refused struct {
	err  error
	want string
}

func refuse(t *testing.T, cases []refused) {
	t.Helper()
	for _, c := range cases {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "mechanism: "+c.want) {
			t.Errorf("%v, want mechanism: %s", c.err, c.want)
		}
	}
}

// However often an input is drawn from, the bits are those of its first draw, and so is the memory bounded.
func TestRelease_KeptRowsDrawTheSame(t *testing.T) {
	f := space.Uniform(60, random.Seeded(7))
	for _, lazy := range []bool{false, true} {
		for _, bytes := range []int64{keptBytes, 20 * 24 * 60, 0} {
			c := expo(t, f, 5, lazy)
			c.kept.left.Store(bytes)
			r, s := random.Seeded(8), random.Seeded(8)
			for i := range 600 {
				x := i * i % 60
				got, want := testkit.Must(c.Release(r, x)), 0
				if fresh := expo(t, f, 5, true); i%7 == 0 {
					want = testkit.Must(fresh.Release(s, x))
				} else {
					want = testkit.Must(fresh.Sampler(x)).Draw(s)
				}
				if got != want {
					t.Fatalf("lazy %v: draw %d of input %d is %d, want %d", lazy, i, x, got, want)
				}
			}
			tables := 0
			c.kept.rows.Range(func(_, v any) bool {
				if v.(*exact.Table) != nil {
					tables++
				}
				return true
			})
			if left := c.kept.left.Load(); left < 0 || bytes == keptBytes && tables == 0 || int64(tables)*24*60 > bytes {
				t.Errorf("lazy %v: %d tables, %d bytes left of %d", lazy, tables, left, bytes)
			}
		}
	}
	// What float64 does not decide is decided by the row's own weights, whatever was drawn in between.
	c := testkit.Must(NewChannel(t.Context(), Rows{Inputs: 2, Outputs: 2, Fill: func(x int, dst []float64) {
		dst[0], dst[1] = 1, float64(1+x*254)
	}}, &ChannelOptions{Lazy: true}))
	for _, x := range []int{0, 0, 1, 0} {
		if y := testkit.Must(c.Release(rand.New(belowHalf{}), x)); y != x {
			t.Errorf("input %d: below 1/2 lies output %d", x, y)
		}
	}
}

type belowHalf struct{}

func (belowHalf) Uint64() uint64 { return 1<<63 - 1 }

func BenchmarkRelease(b *testing.B) {
	r := random.Seeded(6)
	for _, lazy := range []bool{false, true} {
		c := expo(b, space.Uniform(500, r), 5, lazy)
		for _, inputs := range []int{1, 500} {
			i := 0
			testkit.Bench(b, fmt.Sprintf("lazy=%v/inputs=%d", lazy, inputs), func() { testkit.Must(c.Release(r, i%inputs)); i++ })
		}
	}
}

// Rows whose sums are within the tolerance of 1, to the last bit, are those of FromWeights;
// others are refused, in a lazy channel too.
func TestFromProbabilities_ChecksTheSums(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		o := &ChannelOptions{Lazy: lazy}
		from := func(tolerance float64, p ...float64) (*Channel, error) {
			return FromProbabilities(t.Context(), len(p)/2, 2, p, tolerance, o)
		}
		for _, c := range []struct {
			tolerance float64
			p         []float64
		}{{0, []float64{.75, .25, 0, 1}}, {1e-9, []float64{.7, .3, .1, .9 + 1e-10}}, {0x1p-60, []float64{1, 0x1p-60}}, {.02, []float64{.67, .34}}} {
			got := testkit.Must(from(c.tolerance, c.p...))
			want := testkit.Must(FromWeights(t.Context(), len(c.p)/2, 2, c.p, nil))
			for x := range got.Len() {
				if !slices.Equal(got.Row(x, nil), want.Row(x, nil)) {
					t.Errorf("%v: %v, want %v", c, got.Row(x, nil), want.Row(x, nil))
				}
			}
		}
		refuse(t, []refused{
			{testkit.Err(from(.015, .75, .25, .625, .6875)), "FromProbabilities: row sums[1] = 1.3125, want 1 within 0.015"},
			{testkit.Err(from(0, 1, 0x1p-60)), "FromProbabilities: row sums[0] = 1, want 1 within 0"},
			{testkit.Err(from(.015, .25, .25)), "FromProbabilities: row sums[0] = 0.5, want 1 within 0.015"},
			{testkit.Err(from(.015, 1e308, 1e308)), "FromProbabilities: row sums[0] = +Inf, want 1 within 0.015"},
			{testkit.Err(from(.015, 1, 0, -.5, 1.5)), "FromProbabilities: rows[1][0] = -0.5, want a finite weight >= 0"},
			{testkit.Err(from(1, 1, 0)), "FromProbabilities: tolerance = 1, want a number in [0, 1)"},
			{testkit.Err(from(math.NaN(), 1, 0)), "FromProbabilities: tolerance = NaN, want a number in [0, 1)"},
			{testkit.Err(from(0, 1, 0, 0)), "FromProbabilities: w has size 3, want 1 x 2, both positive"},
		})
	}
}

func FuzzFromWeights(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 0.5, false)
	f.Add(math.Inf(-1), 0.0, -1e6, math.NaN(), 0.0, true)
	f.Add(5e-324, 1e308, 1e-300, 0.0, 1e-9, false)
	f.Fuzz(func(t *testing.T, a, b, c, d, delta float64, log bool) {
		from := FromWeights
		if log {
			from = FromLogWeights
		}
		ch, err := from(t.Context(), 2, 2, []float64{a, b, c, d}, nil)
		if err != nil {
			return
		}
		sum := ch.Prob(0, 0) + ch.Prob(0, 1)
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities sum to %v", sum)
		}
		au, err := ch.Audit(t.Context(), space.Path(2, 1), &AuditOptions{Delta: delta})
		if err != nil {
			return
		}
		if !(au.Lo >= 0 && au.Lo <= au.Hi) {
			t.Fatalf("%v", au)
		}
		if _, err := ch.Release(nil, 0); err != nil {
			t.Fatal(err)
		}
	})
}

// Of draws that make the table of a row at once, one is counted.
func TestChannel_KeptRowsAreCountedOnce(t *testing.T) {
	const n, m = 40, 2000
	c, err := NewChannel(t.Context(), Rows{n, m, true, func(_ int, dst []float64) { clear(dst) }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rng := random.Seeded(uint64(g))
			for x := range 3 * n {
				if _, err := c.Release(rng, x%n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for x := range n {
		if c.kept.table(x) == nil {
			t.Errorf("row %d is not kept", x)
		}
	}
	if got, least := keptBytes-c.kept.left.Load(), int64(n*(128+24*m)); got < least || got >= least+24*m {
		t.Errorf("%d bytes, want %d", got, least)
	}
}
