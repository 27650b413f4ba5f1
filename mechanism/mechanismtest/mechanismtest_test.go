package mechanismtest_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// laws are the names of the laws that err says fail.
func laws(err error) []string {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var names []string
		for _, e := range j.Unwrap() {
			names = append(names, laws(e)...)
		}
		return names
	}
	var f *mechanismtest.Failure
	if errors.As(err, &f) {
		return []string{f.Law}
	}
	return []string{"no law"}
}

// only fails t where err is not about that law alone, or for want "" not nil.
func only(t *testing.T, name string, err error, want string) {
	t.Helper()
	if got := strings.Join(laws(err), ", "); got != want {
		t.Errorf("%s: laws %q, want %q: %v", name, got, want, err)
	}
}

// made is a mechanism made of two functions.
type made[X, Y any] struct {
	release   func(r *rand.Rand, x X) (Y, error)
	guarantee func() mechanism.Guarantee
}

func (m *made[X, Y]) Release(r *rand.Rand, x X) (Y, error) { return m.release(r, x) }
func (m *made[X, Y]) Guarantee() mechanism.Guarantee       { return m.guarantee() }

// inputs are three of flip, and conform what the kit says of it or a liar.
func inputs() [][]int { return [][]int{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}} }

func conform(release func(r *rand.Rand, x []int) ([]int, error), g func() mechanism.Guarantee) error {
	return mechanismtest.TestMechanism(context.Background(), &made[[]int, []int]{release, g}, inputs(), &mechanismtest.Options[[]int, []int]{Refused: [][]int{{0, 2, 0}, {-1}}})
}

func promise(alpha, delta float64) mechanism.Guarantee {
	g, err := mechanism.NewGuarantee(alpha, delta, "")
	if err != nil {
		panic(err)
	}
	return g
}

func always(g mechanism.Guarantee) func() mechanism.Guarantee {
	return func() mechanism.Guarantee { return g }
}

var errDomain = errors.New("not a sequence of bits")

// flip releases bits, each turned with probability 1/4: ln 3 per bit. It is
// right, and the base of those that are not.
func flip(r *rand.Rand, x []int) ([]int, error) {
	r, done := random.Get(r)
	defer done()
	y := make([]int, len(x))
	for k, b := range x {
		if b != 0 && b != 1 {
			return nil, errDomain
		}
		y[k] = b
		if r.IntN(4) == 0 {
			y[k] = 1 - b
		}
	}
	return y, nil
}

// threes is the guarantee of flip per bit.
var threes = promise(math.Log(3)*(1+0x1p-50), 0)

// Each liar breaks one law and is caught for that one alone.
func TestMechanism_CatchesEachLiar(t *testing.T) {
	var calls, inside atomic.Int64
	type release = func(r *rand.Rand, x []int) ([]int, error)
	alter := func(f func(r *rand.Rand, x, y []int)) release {
		return func(r *rand.Rand, x []int) ([]int, error) {
			y, err := flip(r, x)
			if err == nil {
				f(r, x, y)
			}
			return y, err
		}
	}
	for _, c := range []struct {
		name      string
		release   release
		guarantee func() mechanism.Guarantee
		law       string
	}{
		{"right", flip, nil, ""},
		{"no guarantee", flip, func() mechanism.Guarantee { return mechanism.Guarantee{} }, "guarantee"},
		{"an infinite guarantee", flip, always(promise(math.Inf(1), 0)), "guarantee"},
		{"guarantees that change", flip, func() mechanism.Guarantee { return promise(float64(calls.Add(1)), 0) }, "guarantee"},
		{"an error for a good input", func(r *rand.Rand, x []int) ([]int, error) {
			if x[0] == 1 {
				return nil, errors.New("no ones")
			}
			return flip(r, x)
		}, nil, "release"},
		{"an error of the draw", func(r *rand.Rand, x []int) ([]int, error) {
			y, err := flip(r, x)
			if err == nil && slices.Equal(y, []int{0, 0, 0}) {
				return nil, errors.New("unlucky")
			}
			return y, err
		}, nil, "release"},
		{"a generator demanded", func(r *rand.Rand, x []int) ([]int, error) {
			r.Uint64()
			return flip(r, x)
		}, nil, "release"},
		{"the generator ignored", func(r *rand.Rand, x []int) ([]int, error) { return flip(nil, x) }, nil, "repeatable"},
		{"another draw each time", func(r *rand.Rand, x []int) ([]int, error) {
			y, err := flip(r, x)
			if r != nil && calls.Add(1)%2 == 0 {
				r.Uint64()
			}
			return y, err
		}, nil, "repeatable"},
		{"a fixed seed where there is no generator", func(r *rand.Rand, x []int) ([]int, error) {
			if r == nil {
				r = random.Seeded(1)
			}
			return flip(r, x)
		}, nil, "randomness"},
		{"a fixed seed always", func(r *rand.Rand, x []int) ([]int, error) { return flip(random.Seeded(1), x) }, nil, "randomness"},
		{"no noise", alter(func(_ *rand.Rand, x, y []int) { copy(y, x) }), nil, "randomness"},
		{"a modified input", alter(func(_ *rand.Rand, x, y []int) {
			if x[2] != 0 { // once, before there are goroutines
				x[2] = 0
			}
		}), nil, "input"},
		{"an answer outside the domain", func(r *rand.Rand, x []int) ([]int, error) {
			y, err := flip(r, x)
			if errors.Is(err, errDomain) {
				return make([]int, len(x)), nil
			}
			return y, err
		}, nil, "refusal"},
		{"a panic outside the domain", func(r *rand.Rand, x []int) ([]int, error) {
			y, err := flip(r, x)
			if err != nil {
				panic(err)
			}
			return y, nil
		}, nil, "refusal"},
		{"a panic inside", func(r *rand.Rand, x []int) ([]int, error) {
			_ = x[7]
			return flip(r, x)
		}, nil, "release"},
		{"unsafe together", func(r *rand.Rand, x []int) ([]int, error) {
			alone := inside.Add(1) == 1
			runtime.Gosched()
			y, err := flip(r, x)
			if inside.Add(-1); !alone && err == nil {
				y[0] = 1 - y[0]
			}
			return y, err
		}, nil, "concurrent use"},
	} {
		if c.guarantee == nil {
			c.guarantee = always(threes)
		}
		only(t, c.name, conform(c.release, c.guarantee), c.law)
	}
}

// A mechanism that keeps things between releases breaks more than one law.
func TestMechanism_CatchesSharedState(t *testing.T) {
	var mu sync.Mutex
	var stock []int
	err := conform(func(r *rand.Rand, x []int) ([]int, error) { // noise in pairs, the second kept
		r, done := random.Get(r)
		defer done()
		mu.Lock()
		defer mu.Unlock()
		if len(stock) == 0 {
			stock = []int{r.IntN(4), r.IntN(4)}
		}
		z := stock[0]
		stock = stock[1:]
		y, err := flip(r, x)
		if err == nil && z == 0 {
			y[0] = 1 - y[0]
		}
		return y, err
	}, always(threes))
	if !slices.Contains(laws(err), "repeatable") {
		t.Error(err)
	}

	if testkit.Race {
		return // the detector would see the next one first, as it should
	}
	buffer := make([]int, 3)
	err = conform(func(r *rand.Rand, x []int) ([]int, error) {
		y, err := flip(r, x)
		if err != nil {
			return nil, err
		}
		copy(buffer, y)
		return buffer, nil
	}, always(threes))
	if !slices.Contains(laws(err), "output") {
		t.Error(err)
	}
}

// An output that cannot vary passes where that is said; pointers need a key.
func TestMechanism_Options(t *testing.T) {
	constant := &made[int, string]{func(*rand.Rand, int) (string, error) { return "none of your business", nil }, always(promise(0, 0))}
	only(t, "constant", mechanismtest.TestMechanism(t.Context(), constant, []int{1, 2}, nil), "randomness")
	only(t, "constant by intent", mechanismtest.TestMechanism(t.Context(), constant, []int{1, 2}, &mechanismtest.Options[int, string]{Constant: true}), "")

	pointer := &made[[]int, *[]int]{func(r *rand.Rand, x []int) (*[]int, error) { y, err := flip(r, x); return &y, err }, always(threes)}
	only(t, "pointer", mechanismtest.TestMechanism(t.Context(), pointer, inputs(), &mechanismtest.Options[[]int, *[]int]{
		Key: func(y *[]int) any { return [3]int(*y) },
	}), "")
	// Rare noise: some generator shows it, and two equal runs prove nothing.
	rare := &made[int, bool]{func(r *rand.Rand, x int) (bool, error) {
		r, done := random.Get(r)
		defer done()
		return r.IntN(20) == 0, nil
	}, always(promise(0, 0))}
	only(t, "rare", mechanismtest.TestMechanism(t.Context(), rare, []int{1, 2, 3}, nil), "")
}

// What is no option, distance, distribution or space is an error of every test that takes it, and so is
// what a release says.
func TestErrors(t *testing.T) {
	type options = mechanismtest.Options[int, int]
	ctx, m, bad, pair := t.Context(), coin(.3, 1, 0), errors.New("no"), space.Path(2, 1)
	c := testkit.Must(mechanism.FromWeights(ctx, 3, 1, []float64{1, 1, 1}, nil))
	short := &made[int, int]{m.Release, always(testkit.Must(promise(1, 0.1).Within(2)))}
	refusing := &made[int, int]{func(*rand.Rand, int) (int, error) { return 0, bad }, always(promise(1, 0))}
	level := func(m mechanism.Mechanism[int, int], distance float64, o *options) error {
		return testkit.Err(mechanismtest.TestLevel(ctx, m, 0, 1, distance, o))
	}
	atLeast := func(f metric.Finite, delta float64, o *options) error {
		_, _, _, err := mechanismtest.LevelAtLeast(ctx, m, f, delta, o)
		return err
	}
	rows := [][3]any{
		{mechanismtest.TestMechanism(ctx, m, nil, nil), "TestMechanism: inputs", metric.ErrEmpty},
		{mechanismtest.TestChannel(ctx, c, pair, nil), "TestChannel: rho has size 2"},
		{level(short, 3, nil), "TestLevel: distance = 3"}, {level(m, -1, nil), "distance = -1"}, {level(m, math.NaN(), nil), "distance = NaN"},
		{level(m, math.Inf(1), nil), "distance = +Inf"}, {level(refusing, 1, nil), "no", bad},
		{atLeast(pair, 1, nil), "LevelAtLeast: delta = 1"}, {atLeast(pair, math.NaN(), nil), "delta = NaN"}, {atLeast(space.Formula(0, nil), 0, nil), "rho: empty"},
		{atLeast(space.Constant(2, -1), 0, nil), "rho[0]"},
	}
	for _, p := range []map[int]float64{{0: -1}, {0: math.NaN()}, {0: 0.7, 1: 0.4}} {
		rows = append(rows, [3]any{mechanismtest.TestDistribution(ctx, m, 0, p, nil), "TestDistribution: "})
	}
	for _, o := range []options{{Samples: -1}, {FalseReject: -1}, {FalseReject: 1}, {FalseReject: math.NaN()}} {
		want := "FalseReject = "
		if o.Samples < 0 {
			want = "Samples = -1"
		}
		rows = append(rows, [3]any{mechanismtest.TestMechanism(ctx, m, []int{0}, &o), want}, [3]any{level(m, 1, &o), want},
			[3]any{mechanismtest.TestDistribution(ctx, m, 0, nil, &o), want}, [3]any{atLeast(pair, 0, &o), want})
	}
	testkit.Refused(t, rows)
}
