package mechanism

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/metricdp/metricdp/internal/law"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// taped is a channel on 0, 1, 2 whose draws are read off a tape of digits 0, ..., 3:
// on all tapes of a length together it has exactly the probabilities weights/4.
type taped struct {
	tape []int
	g    Guarantee
}

// On the path 0 - 1 - 2 neighbors' weights are at most twice each other.
var tapedWeights = [3][3]int{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}}

func (m *taped) Guarantee() Guarantee { return m.g }

func (m *taped) Release(_ *rand.Rand, x int) (int, error) {
	digit := m.tape[0]
	m.tape = m.tape[1:]
	y := 0
	for digit >= tapedWeights[x][y] {
		digit -= tapedWeights[x][y]
		y++
	}
	return y, nil
}

// sequences are all sequences of n digits below base.
func sequences(base, n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, head := range sequences(base, n-1) {
		for d := range base {
			out = append(out, append(slices.Clone(head), d))
		}
	}
	return out
}

// pattern numbers the distinct entries of xs in the order of their first places.
func pattern(xs []int) (p, firsts []int) {
	for _, x := range xs {
		i := slices.Index(firsts, x)
		if i < 0 {
			i = len(firsts)
			firsts = append(firsts, x)
		}
		p = append(p, i)
	}
	return p, firsts
}

// Over all draws the joint distribution of all answers is private between any two sequences of one pattern under
// the sum of distances of distinct inputs, also with a budget that ends early. Without sticking it is not.
func TestSticky_IsPrivateForThePattern(t *testing.T) {
	const n, refused = 3, 3
	g := promise(math.Nextafter(math.Ln2, 1), 0, 0, "")
	joint := func(xs []int, sticky bool, draws int) map[string]int {
		law := map[string]int{}
		for _, tape := range sequences(4, n) {
			m := &taped{tape, g}
			budget := testkit.Must(NewBudget(g.Times(draws), nil))
			s := Mechanism[int, int](testkit.Must(NewSticky(m, &StickyOptions[int]{Budget: budget})))
			if !sticky {
				s = m
			}
			var ys []int
			for _, x := range xs {
				y, err := s.Release(nil, x)
				if errors.Is(err, ErrBudget) {
					y, err = refused, nil
				}
				testkit.Check(t, err)
				ys = append(ys, y)
			}
			law[fmt.Sprint(ys)]++
		}
		return law
	}
	worst := func(sticky bool, draws int) (excess float64) {
		excess = math.Inf(-1)
		laws := map[string]map[string]int{}
		groups := map[string][][]int{}
		for _, xs := range sequences(3, n) {
			if !sticky && xs[0] != xs[1] {
				continue // enough to see it
			}
			p, _ := pattern(xs)
			groups[fmt.Sprint(p)] = append(groups[fmt.Sprint(p)], xs)
			laws[fmt.Sprint(xs)] = joint(xs, sticky, draws)
		}
		for _, group := range groups {
			for _, xs := range group {
				for _, zs := range group {
					_, a := pattern(xs)
					_, b := pattern(zs)
					sum := 0.0
					for j := range a {
						sum += math.Abs(float64(a[j] - b[j]))
					}
					for ys, p := range laws[fmt.Sprint(xs)] {
						q := laws[fmt.Sprint(zs)][ys]
						excess = max(excess, math.Log(float64(p)/float64(q))-sum*g.Alpha())
					}
				}
			}
		}
		return excess
	}
	for _, draws := range []int{3, 2, 1} {
		if e := worst(true, draws); e > 1e-12 || e < -1e-12 {
			t.Errorf("%d draws: the worst ratio is e^%v times what is promised, want 1", draws, e)
		}
	}
	if testing.Short() {
		return
	}
	if e := worst(false, 3); e < 1 {
		t.Errorf("without sticking the worst ratio is e^%v times what is promised: the test is blind", e)
	}
}

// counting is noise of level 1 on integers that counts its draws.
type counting struct {
	draws atomic.Int64
	mu    sync.Mutex
	of    map[int]int // draws of an input
	g     Guarantee
}

func newCounting() *counting {
	g, _ := NewGuarantee(1, 0, "step")
	return &counting{of: map[int]int{}, g: g}
}

func (m *counting) Guarantee() Guarantee { return m.g }

var errDomain = errors.New("outside")

func (m *counting) Release(rng *rand.Rand, x int) ([2]float64, error) {
	if x < 0 {
		return [2]float64{}, errDomain
	}
	m.draws.Add(1)
	m.mu.Lock()
	m.of[x]++
	m.mu.Unlock()
	runtime.Gosched() // for those who test what happens at once
	r := Rand(rng)
	return [2]float64{float64(x) + r.NormFloat64(), r.Float64()}, nil
}

// Draws derived for many at once are those for one.
func TestSticky_DerivesForManyAtOnce(t *testing.T) {
	s := testkit.Must(NewSticky(newCounting(), &StickyOptions[int]{Secret: bytes.Repeat([]byte("s"), 32), Name: "test"}))
	var want [20][2]float64
	for x := range want {
		want[x] = testkit.Must(s.Release(nil, x))
	}
	var wg sync.WaitGroup
	for a := range 8 {
		wg.Go(func() {
			for i := range want {
				x := (i + 5*a) % len(want)
				if y, err := s.Release(nil, x); err != nil || y != want[x] {
					t.Errorf("%d: %v, want %v, %v", x, y, want[x], err)
				}
			}
		})
	}
	wg.Wait()
}

// copied is a store with the same records.
func copied(records map[string][]byte) *memory { return &memory{records: maps.Clone(records)} }

// faulty is a store on another that outlives it: load and swap come before and around its calls.
type faulty struct {
	*memory
	load func(key string) error
	swap func(key string, new []byte, do func() (bool, error)) (bool, error)
}

func (s faulty) Load(key string) ([]byte, bool, error) {
	if s.load != nil {
		if err := s.load(key); err != nil {
			return nil, false, err
		}
	}
	return s.memory.Load(key)
}

func (s faulty) Swap(key string, old, new []byte) (bool, error) {
	return s.swap(key, new, func() (bool, error) { return s.memory.Swap(key, old, new) })
}

var errCrash = errors.New("crash")

// shaky is one whose calls fail from one of them on, or that one only, with or without having swapped;
// a failAt of -1 is never.
func shaky(records *memory, failAt int, once, swaps bool) Store {
	calls := -1
	fails := func() bool {
		calls++
		return failAt >= 0 && (calls == failAt || calls > failAt && !once)
	}
	return faulty{records, func(string) error {
		if fails() {
			return errCrash
		}
		return nil
	}, func(_ string, _ []byte, do func() (bool, error)) (bool, error) {
		if !fails() {
			return do()
		}
		if swaps && calls == failAt {
			do()
		}
		return false, errCrash
	}}
}

// A crash at any step of the store, before a save or after it, and a process that goes
// on, or a store that fails once: no value ever has two draws, and the draws never cost more
// than what is spent, nor that more than the limit.
func TestSticky_SurvivesACrashAtEveryStep(t *testing.T) {
	const affordable = 4
	inputs := []int{1, 2, 1, 3, 4, 2, 5, 6, 1}
	for k := range 4 * 60 {
		failAt, once, swaps := k/4, k%2 == 1, k/2%2 == 1
		records := newMemory()
		m := newCounting()
		answers := map[int][2]float64{}
		for life, store := range []Store{shaky(records, failAt, once, swaps), shaky(records, failAt/2, once, swaps), shaky(records, -1, false, false)} {
			unsettled.Clear() // another process
			b, err := NewBudget(m.g.Times(affordable), &BudgetOptions{Store: store, Name: "b"})
			if err != nil {
				if life == 2 || !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				continue
			}
			s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "s", Budget: b}))
			s.patience = 0
			for _, x := range inputs {
				y, err := s.Release(nil, x)
				switch {
				case err == nil:
					if was, ok := answers[x]; ok && was != y {
						t.Fatalf("fail at %d: %d was %v and is %v", failAt, x, was, y)
					}
					answers[x] = y
				case y != [2]float64{}:
					t.Fatalf("released %v with %v", y, err)
				case errors.Is(err, errCrash) && life < 2, errors.Is(err, ErrBudget), errors.Is(err, ErrRefused):
				default:
					t.Fatal(err)
				}
			}
			if life == 2 {
				spent := testkit.Must(b.Spent())
				if draws := m.draws.Load(); int(draws) < len(answers) || float64(draws) > spent.Alpha() || spent.Alpha() > affordable {
					t.Fatalf("fail at %d: %d answers, %d draws, spent %v", failAt, len(answers), draws, spent)
				}
				for x, n := range m.of {
					if n > 1 {
						t.Fatalf("fail at %d: %d draws for %d", failAt, n, x)
					}
				}
			}
		}
	}
}

// Records that were changed, cut, swapped or made under another guarantee are errors,
// and never a fresh draw.
func TestSticky_RefusesBadRecords(t *testing.T) {
	m := newCounting()
	g2, _ := NewGuarantee(2, 0, "step")
	other := &counting{of: map[int]int{}, g: g2}
	build := func(m *counting) (*Sticky[int, [2]float64], map[string][]byte) {
		records := map[string][]byte{}
		s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: &memory{records: records}, Name: "a"}))
		for x := range 2 {
			testkit.Must(s.Release(nil, x))
		}
		return s, records
	}
	first, whole := build(m)
	keys := make([]string, 0, 2)
	for x := range 2 {
		r := testkit.Must(loadHashed("", copied(whole), "sticky", "a", string(testkit.Must(first.value(x)))))
		if keys = append(keys, r.key); r.value == nil || len(r.key) > 80 {
			t.Fatalf("no record %s", r.key)
		}
	}
	record := func(body string) []byte {
		return sealed(nil, keys[0], []byte(body)).value
	}
	for _, c := range []struct {
		name  string
		value []byte
		want  error
	}{
		{"empty", []byte{}, ErrRecord},
		{"cut", whole[keys[0]][:70], ErrRecord},
		{"cut by one", whole[keys[0]][:len(whole[keys[0]])-1], ErrRecord},
		{"longer", append(slices.Clone(whole[keys[0]]), ' '), ErrRecord},
		{"another's", whole[keys[1]], ErrRecord},
		{"a bit", flip(whole[keys[0]], 90), ErrRecord},
		{"the sum", flip(whole[keys[0]], 3), ErrRecord},
		{"no JSON", record("x"), ErrRecord},
		{"no output", record(`{"guarantee":{"unit":"step","alpha":1}}`), ErrRecord},
		{"another output", record(`{"guarantee":{"unit":"step","alpha":1},"output":"x"}`), ErrRecord},
		{"another unit", record(`{"guarantee":{"unit":"m","alpha":1},"output":[1,2]}`), nil},
		{"no guarantee", record(`{"output":[1,2]}`), nil},
	} {
		records := maps.Clone(whole)
		s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: &memory{records: records}, Name: "a"}))
		records[keys[0]] = c.value
		drawn := m.draws.Load()
		y, err := s.Release(nil, 0)
		if err == nil || y != [2]float64{} || m.draws.Load() != drawn || !bytes.Equal(records[keys[0]], c.value) {
			t.Errorf("%s: %v, %v", c.name, y, err)
		}
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !strings.Contains(err.Error(), "another Name") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// The records of another mechanism are not this one's, but under another name.
	_, records := build(other)
	s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: &memory{records: records}, Name: "a"}))
	if _, err := s.Release(nil, 0); err == nil || !strings.Contains(err.Error(), `{"unit":"step","alpha":2} and the mechanism {"unit":"step","alpha":1}`) {
		t.Error(err)
	}
	s = testkit.Must(NewSticky(m, &StickyOptions[int]{Store: &memory{records: records}, Name: "b"}))
	testkit.Must(s.Release(nil, 0))
}

func flip(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}

// here releases places as they are.
type here struct{ g Guarantee }

func (h here) Guarantee() Guarantee { return h.g }

func (h here) Release(_ *rand.Rand, x metric.LatLon) (metric.LatLon, error) { return x, nil }

// What is no place costs nothing and is not stored, whatever the mechanism, unless a Check takes it.
func TestSticky_RefusesWhatIsNoPlace(t *testing.T) {
	m := Mechanism[metric.LatLon, metric.LatLon](here{testkit.Must(NewGuarantee(1, 0, "km"))})
	other := Then(m, func(y metric.LatLon) (metric.LatLon, error) { return y, nil })
	for _, bad := range []metric.LatLon{{Lat: 90.1}, {Lat: -148}, {Lat: math.NaN()}, {Lon: math.Inf(1)}} {
		for _, m := range []Mechanism[metric.LatLon, metric.LatLon]{m, other} {
			store := newMemory()
			b := testkit.Must(NewBudget(m.Guarantee(), nil))
			s := testkit.Must(NewSticky(m, &StickyOptions[metric.LatLon]{Store: store, Name: "a", Budget: b}))
			_, err := s.Release(nil, bad)
			var value *metric.ValueError
			if !errors.As(err, &value) || errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "148") || len(store.records) > 0 {
				t.Errorf("%v: %v, %v", bad, err, store)
			}
			testkit.Must(s.Release(nil, metric.LatLon{Lat: 90, Lon: 722}))
		}
	}
	s := testkit.Must(NewSticky(m, &StickyOptions[metric.LatLon]{Check: func(metric.LatLon) error { return nil }}))
	testkit.Must(s.Release(nil, metric.LatLon{Lat: 91}))
}

// An input that is refused without a draw costs nothing and is not stored; another error of
// the mechanism may depend on the draw, is spent, and stays.
func TestSticky_ErrorsOfTheMechanism(t *testing.T) {
	c := Mechanism[int, int](certified(t, expo(t, space.Path(2, 1), 1, false), space.Path(2, 1), "m"))
	words := testkit.Must(Labels(c, []string{"a", "b"}, []string{"a", "b"}))
	two := testkit.Must(Compose(words, words))
	long := Then(two, func(y []string) (int, error) { return len(y), nil })
	store := newMemory()
	b := testkit.Must(NewBudget(long.Guarantee().Times(1), nil))
	s := testkit.Must(NewSticky(long, &StickyOptions[string]{Store: store, Name: "a", Budget: b}))
	for range 3 {
		if _, err := s.Release(nil, "c"); !errors.Is(err, ErrNotAPoint) || len(store.records) > 0 {
			t.Error(err, store)
		}
	}
	testkit.Must(s.Release(nil, "a"))
	if _, err := NewSticky[string, int](s, nil); !errors.Is(err, ErrMemoized) {
		t.Error(err)
	}

	more := testkit.Must(metric.NewPoints([]string{"a", "b", "c"}, metric.Levenshtein{})) // than the channel has inputs
	store = newMemory()
	lifted := testkit.Must(NewSticky(On(c, more), &StickyOptions[string]{Store: store, Name: "a"}))
	if _, err := lifted.Release(nil, "c"); err == nil || errors.Is(err, ErrRefused) || len(store.records) > 0 {
		t.Error(err, store)
	}

	m := newCounting()
	b = testkit.Must(NewBudget(m.g.Times(2), nil))
	own := testkit.Must(NewSticky(m, &StickyOptions[int]{Budget: b}))
	for range 3 {
		if _, err := own.Release(nil, -1); !errors.Is(err, ErrRefused) || errors.Is(err, errDomain) {
			t.Error(err)
		}
	}
	checked := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "b", Check: func(x int) error {
		if x < 0 {
			return errDomain
		}
		return nil
	}}))
	before := len(store.records)
	if _, err := checked.Release(nil, -1); err != errDomain || len(store.records) != before {
		t.Error(err, store)
	}
	testkit.Must(checked.Release(nil, 1))
	y := testkit.Must(own.Release(nil, 1))
	if _, err := own.Release(nil, 2); !errors.Is(err, ErrBudget) || !strings.HasSuffix(err.Error(), "asked, nothing left") {
		t.Error(err)
	}
	if again, err := own.Release(nil, 1); err != nil || again != y {
		t.Errorf("%v, then %v, %v", y, again, err)
	}
}

// Over all draws, all that is seen of a secret asked for three times, where one of its three draws cannot be
// given, in every way that there is, keeps the level of one draw: with a budget, without one, and with one that
// another input has spent. (Were a draw refused before it is paid, the refusals would tell the secret.)
func TestSticky_RefusalsCostWhatTheyTell(t *testing.T) {
	const asked = 3
	g := promise(math.Nextafter(math.Ln2, 1), 0, 0, "")
	text := func(y int) string { return [...]string{"a", "b", "long"}[y] }
	ways := map[string]func(y int) (string, error){
		"an error of Then": func(y int) (string, error) {
			if y == 2 {
				return "", fmt.Errorf("a draw of %d", y)
			}
			return text(y), nil
		},
		"no JSON": func(y int) (string, error) { return [...]string{"a", "b", "\xff"}[y], nil },
		"a panic": func(y int) (string, error) { return [...]string{"a", "b"}[y], nil },
		"a store": func(y int) (string, error) { return text(y), nil },
	}
	for way, f := range ways {
		for affordable := range 2 {
			for _, before := range []bool{false, true}[:affordable+1] {
				laws := [3]map[string]int{}
				for x := range laws {
					laws[x] = map[string]int{}
					for _, tape := range sequences(4, asked+1) {
						picky := faulty{newMemory(), nil, func(_ string, new []byte, do func() (bool, error)) (bool, error) {
							if bytes.Contains(new, []byte(`"long"`)) {
								return false, errors.New("too long")
							}
							return do()
						}}
						o := &StickyOptions[[2]int]{Store: picky, Name: "a"}
						if affordable > 0 {
							o.Budget = testkit.Must(NewBudget(g.Times(affordable), nil))
						}
						m := &taped{tape, g}
						s := testkit.Must(NewSticky(Then(ofTwo{m}, f), o))
						ask := func(x [2]int) (seen string) {
							defer func() {
								if p := recover(); p != nil {
									seen = fmt.Sprint(p)
								}
							}()
							y, err := s.Release(nil, x)
							return fmt.Sprint(y, err)
						}
						var seen []string
						if before {
							seen = append(seen, ask([2]int{0, 1}))
						}
						for range asked {
							seen = append(seen, ask([2]int{1, x}))
						}
						if last := seen[len(seen)-1]; strings.Contains(last, "draw of") || last != seen[len(seen)-2] {
							t.Fatalf("%s: %q", way, seen)
						}
						laws[x][strings.Join(seen, "|")]++
					}
				}
				for x, law := range laws {
					for z := range laws {
						for seen, p := range law {
							if q := laws[z][seen]; float64(p) > math.Exp(g.Alpha()*math.Abs(float64(x-z)))*float64(q)*(1+1e-12) {
								t.Fatalf("%s, budget %d, another before %v: %q has %d and %d of %d draws for %d and %d", way, affordable, before, seen, p, q, 1<<(2*asked+2), x, z)
							}
						}
					}
				}
			}
		}
	}
}

// ofTwo is a mechanism for the second of two numbers; the first tells inputs apart.
type ofTwo struct{ Mechanism[int, int] }

func (m ofTwo) Release(rng *rand.Rand, x [2]int) (int, error) { return m.Mechanism.Release(rng, x[1]) }

// What a secret gives is the same in every process, and differs with the name, the secret, the guarantee, the
// type and the string of the mechanism and the input; as a draw it has the distribution of the mechanism.
func TestSticky_DerivedDraws(t *testing.T) {
	const golden = "[0.49684730393273036 0.8603750388836557] [4.179916406473462 0.47654786856705067] [2.8930387670345037 0.7043059629056788]"
	secret := bytes.Repeat([]byte{7}, 32)
	m := newCounting()
	with := func(m Mechanism[int, [2]float64], name string, secret []byte) *Sticky[int, [2]float64] {
		return testkit.Must(NewSticky(m, &StickyOptions[int]{Secret: secret, Name: name}))
	}
	base := testkit.Must(with(m, "n", secret).Release(nil, 3))
	if again := testkit.Must(with(newCounting(), "n", slices.Clone(secret)).Release(random.Seeded(1), 3)); again != base {
		t.Errorf("%v, then %v", base, again)
	}
	g2, _ := NewGuarantee(2, 0, "step")
	type another struct{ *counting }
	for name, s := range map[string]*Sticky[int, [2]float64]{
		"name": with(m, "o", secret), "secret": with(m, "n", flip(secret, 31)), "long secret": with(m, "n", append(slices.Clone(secret), 0, 1)),
		"guarantee": with(&counting{of: map[int]int{}, g: g2}, "n", secret), "type": with(another{m}, "n", secret),
		"string": with(called{m, "a"}, "n", secret), "other string": with(called{m, "b"}, "n", secret),
	} {
		if y := testkit.Must(s.Release(nil, 3)); y[0] == base[0] || y[1] == base[1] {
			t.Errorf("another %s: %v and %v", name, y, base)
		}
	}
	if y := testkit.Must(with(m, "n", secret).Release(nil, 4)); y[0]-4 == base[0]-3 || y[1] == base[1] {
		t.Errorf("another input: %v and %v", y, base)
	}
	a, b := testkit.Must(with(called{m, "a"}, "n", secret).Release(nil, 3)), testkit.Must(with(called{m, "b"}, "n", secret).Release(nil, 3))
	if a[0] == b[0] || a[1] == b[1] {
		t.Errorf("another string of one type: %v and %v", a, b)
	}
	wrapped := Then(Mechanism[int, [2]float64](m), func(y [2]float64) ([2]float64, error) { return y, nil })
	if got := fmt.Sprint(base, a, testkit.Must(with(wrapped, "n", secret).Release(nil, 3))); got != golden {
		t.Errorf("%s, want %s", got, golden)
	}
	c := certified(t, expo(t, space.Path(4, 1), 0.5, false), space.Path(4, 1), "step")
	count, p := make([]int, 4), make([]float64, 4)
	for y := range p {
		p[y] = c.Prob(1, y)
	}
	for k := range 20_000 {
		s := testkit.Must(NewSticky(Mechanism[int, int](c), &StickyOptions[int]{Secret: secret, Name: fmt.Sprint(k)}))
		count[testkit.Must(s.Release(nil, 1))]++
	}
	testkit.ChiSquare(t, count, p, 1e-7)
}

// called is the mechanism that says it is so.
type called struct {
	*counting
	name string
}

func (c called) String() string { return c.name }

// Inputs are one as Go's == says, and as the elements of slices are equal.
func TestSticky_TellsInputsApart(t *testing.T) {
	type place struct {
		Lat, Lon float64
		name     string
		tags     []string
	}
	sameness(t, "places", []place{
		{1, 2, "a", nil}, {1, 2, "b", nil}, {2, 1, "a", nil}, {1, math.Nextafter(2, 3), "a", nil},
		{1, 2, "a", []string{""}}, {1, 2, "a", []string{"", ""}}, {1, 2, "", []string{"a"}},
	})
	sameness(t, "strings", [][2]string{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"b", "a"}})
	sameness(t, "vectors", [][]float64{nil, {0}, {0, 0}, {1}, {math.Inf(1)}, {math.SmallestNonzeroFloat64}})
	sameness(t, "pairs of vectors", [][2][]float64{{{1}, nil}, {nil, {1}}, {nil, nil}})
	sameness(t, "integers", []int8{-1, 0, 1, 127, -128})
	sameness(t, "numbers", []uint64{0, 1, 1 << 63, math.MaxUint64})
	sameness(t, "single", []float32{0, 1, math.MaxFloat32, math.SmallestNonzeroFloat32})
	sameness(t, "complex", []complex128{0, 1, 1i, complex(1, 1)})
	sameness(t, "truth", []bool{false, true})
	zero := math.Copysign(0, -1)
	if !bytes.Equal(appendValue(nil, reflect.ValueOf(zero)), appendValue(nil, reflect.ValueOf(0.0))) {
		t.Error("0 and -0 are two inputs")
	}
}

// sameness checks that all xs are different inputs, and each equal to itself.
func sameness[X any](t *testing.T, what string, xs []X) {
	t.Helper()
	draws := 0
	s := testkit.Must(NewSticky(Mechanism[X, int](function[X](func(X) int { draws++; return draws })), nil))
	for range 2 {
		for i, x := range xs {
			if y := testkit.Must(s.Release(nil, x)); y != i+1 {
				t.Errorf("%s: %v is input %d, want %d", what, x, y, i+1)
			}
		}
	}
}

// function is a mechanism without a promise.
type function[X any] func(X) int

func (f function[X]) Guarantee() Guarantee                         { return Guarantee{} }
func (f function[X]) Release(_ *rand.Rand, x X) (y int, err error) { return f(x), nil }

// With a key of one's own, the first input of a key is the one released.
func TestSticky_Key(t *testing.T) {
	s := testkit.Must(NewSticky(Mechanism[float64, int](function[float64](func(x float64) int { return int(10 * x) })),
		&StickyOptions[float64]{Key: func(x float64) string { return fmt.Sprint(math.Floor(x)) }}))
	bytes := testkit.Must(NewSticky(Mechanism[int, int](function[int](func(x int) int { t.Error("drawn"); return x })), &StickyOptions[int]{Key: func(int) string { return "\xff" }}))
	track := testkit.Must(NewTrack(bytes, nil))
	_, err1 := bytes.Release(nil, 1)
	_, err2 := track.Release(nil, []int{1})
	_, err3 := track.Level([]int{1})
	for _, err := range []error{err1, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "the Key is not valid UTF-8") {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		x    float64
		want int
	}{{1.5, 15}, {1.25, 15}, {2.75, 27}, {1, 15}, {2.5, 27}} {
		if y := testkit.Must(s.Release(nil, c.x)); y != c.want {
			t.Errorf("%v: %d, want %d", c.x, y, c.want)
		}
	}
}

func TestNewSticky_Refuses(t *testing.T) {
	m := newCounting()
	store, long := newMemory(), bytes.Repeat([]byte("k"), 32)
	with := func(o StickyOptions[int]) error { return testkit.Err(NewSticky(m, &o)) }
	kilometers := testkit.Must(NewBudget(promise(1, 0, 0, "km"), nil))
	c := certified(t, expo(t, space.Path(2, 1), 1, false), space.Path(2, 1), "bad\x00unit")
	refuse(t, []refused{
		{with(StickyOptions[int]{Store: store}), "NewSticky: a Store or a Secret, and no Name"},
		{with(StickyOptions[int]{Secret: long}), "NewSticky: a Store or a Secret, and no Name"},
		{with(StickyOptions[int]{Secret: long[:31], Name: "a"}), "NewSticky: Secret has size 31, want at least 32"},
		{with(StickyOptions[int]{Secret: []byte{}, Name: "a"}), "NewSticky: Secret has size 0"},
		{with(StickyOptions[int]{Secret: long, Name: "a", Store: store}), "NewSticky: a Secret, and a Store"},
		{with(StickyOptions[int]{Secret: long, Name: "a", Key: func(int) string { return "" }}), "NewSticky: a Secret, and a Store, Key or Budget"},
		{with(StickyOptions[int]{Secret: long, Name: "a", Budget: testkit.Must(NewBudget(m.g, nil))}), "NewSticky: a Secret, and"},
		{with(StickyOptions[int]{Budget: kilometers}), "NewSticky: "},
		{with(StickyOptions[int]{Store: store, Name: "\xff"}), `NewSticky: Name = "\xff" is not valid UTF-8`},
		{with(StickyOptions[int]{Budget: new(Budget)}), "NewSticky: a Budget that is not from NewBudget"},
		{testkit.Err(NewSticky[int, int](nil, nil)), "NewSticky: "},
		{testkit.Err(NewSticky(Mechanism[int, int](c), nil)), "NewSticky: "},
	})
	if err := with(StickyOptions[int]{Budget: kilometers}); !errors.Is(err, ErrUnit) {
		t.Error(err)
	}
	type list []list
	for _, err := range []error{
		typeError[*int](), typeError[map[int]int](), typeError[any](), typeError[func()](), typeError[struct{ a, b []chan int }](), typeError[list](), typeError[error](),
	} {
		if err == nil || !strings.Contains(err.Error(), "no Key, and ") {
			t.Error(err)
		}
	}
}

func typeError[X any]() error {
	_, err := NewSticky(Mechanism[X, int](function[X](func(X) int { return 0 })), nil)
	return err
}

// An output that JSON changes is not released, and not drawn again.
func TestSticky_RefusesOutputsThatAreNotStored(t *testing.T) {
	for name, err := range map[string]error{
		"hidden fields": released(struct{ a int }{1}), "bytes": released("\xff"), "an interface": released(any(1)), "NaN": released(math.NaN()), "a function": released(func() {}),
	} {
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{"nil": released([]int(nil)), "none": released([]int{}), "large": released(uint64(math.MaxUint64)), "<&>": released("<&>\u2028"), "near 0": released(5e-324)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// released is the error of a second release of y.
func released[Y any](y Y) error {
	draws := 0
	m := Then(Mechanism[int, int](function[int](func(int) int { draws++; return 0 })), func(int) (Y, error) { return y, nil })
	s, err := NewSticky(m, nil)
	if err != nil {
		return err
	}
	s.Release(nil, 0)
	if _, err = s.Release(nil, 0); draws != 1 {
		return fmt.Errorf("%d draws", draws)
	}
	return err
}

// What no constructor made releases nothing and promises nothing.
func TestZeroValues_Refuse(t *testing.T) {
	testkit.Unmade[Sticky[int, int]](t, "NewSticky", "Memoized")
	testkit.Unmade[Track[int, int]](t, "NewTrack", "Memoized")
	testkit.Unmade[Budget](t, "NewBudget")
	testkit.Unmade[Channel](t, "NewChannel", "Len", "Outputs", "Output", "Prob", "Row", "String", "UnmarshalJSON", "WithGuarantee")
	testkit.Unmade[Composition](t, "NewComposition", "String")
	testkit.Unmade[Sampler](t, "Sampler")
	for _, call := range []func(){func() { On[string](nil, nil) }, func() { Then[int, int, int](new(Channel), nil) }} {
		if !law.Panics(call) {
			t.Error("a nil argument of On or Then")
		}
	}
}

// A String tells mechanisms under one secret apart.
func TestString_TellsMechanismsApart(t *testing.T) {
	c := Mechanism[int, int](expo(t, space.Path(2, 1), 1, true))
	kept := testkit.Must(NewSticky(c, nil))
	for want, s := range map[string]any{
		"2 x 2 lazy channel, no guarantee":                                              c,
		"one draw for each input, kept in memory: 2 x 2":                                kept,
		"one draw for each input, kept in a store: 2 x 2":                               testkit.Must(NewSticky(c, &StickyOptions[int]{Store: faulty{}, Name: "a"})),
		"one draw for each input, derived from a secret (computational): 2 x 2":         testkit.Must(NewSticky(c, &StickyOptions[int]{Secret: make([]byte, 32), Name: "a"})),
		"track without 1 inputs at each end; one draw for each input, kept in memory: ": testkit.Must(NewTrack(kept, &TrackOptions{Ends: 1})),
		"post-processed: 2 x 2 lazy channel":                                            Then(c, func(y int) (int, error) { return y, nil }),
		"42 releases of 1 mechanisms, no guarantee":                                     testkit.Must(NewComposition(Repeated{c.(*Channel), 42})),
	} {
		if got := fmt.Sprint(s); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
