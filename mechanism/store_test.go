package mechanism

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// shared is a store for several goroutines, whose every call lets others go first.
type shared struct {
	mu      sync.Mutex
	records memory
	saves   map[string]int
}

func newShared() *shared { return &shared{records: memory{}, saves: map[string]int{}} }

func (s *shared) Load(key string) ([]byte, bool, error) {
	runtime.Gosched()
	defer runtime.Gosched()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records.Load(key)
}

func (s *shared) Save(key string, value []byte) error {
	runtime.Gosched()
	defer runtime.Gosched()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves[key]++
	return s.records.Save(key, value)
}

// distant is a mechanism of another type, with the same guarantee.
type distant struct{ *counting }

func (distant) String() string { return "another" }

// Of Stickies and Budgets that every request makes anew, on one store under one name,
// no two answer differently or spend for the same input, nor all more than there is;
// also where there are two mechanisms under the name. An answer is drawn once: of
// several draws the fastest would have another distribution.
func TestStore_RequestsTakeTurns(t *testing.T) {
	const values, askers, affordable = 12, 8, 9
	for _, two := range []bool{false, true} {
		store, m := newShared(), newCounting()
		budget := func() *Budget {
			return testkit.Must(NewBudget(m.g.Times(affordable), &BudgetOptions{Store: store, Name: "ann"}))
		}
		var mu sync.Mutex
		heard := map[int][2]float64{}
		var wg sync.WaitGroup
		for a := range askers {
			wg.Go(func() {
				for _, x := range rand.New(rand.NewPCG(uint64(a), 1)).Perm(values) {
					mech := Mechanism[int, [2]float64](m)
					if two && a%2 == 0 {
						mech = distant{m}
					}
					s := testkit.Must(NewSticky(mech, &StickyOptions[int]{Store: store, Name: "ann", Budget: budget()}))
					y, err := s.Release(nil, x)
					if errors.Is(err, ErrBudget) {
						continue
					} else if err != nil {
						t.Error(err)
					}
					mu.Lock()
					if was, ok := heard[x]; ok && was != y {
						t.Errorf("%d was answered by %v and %v", x, was, y)
					}
					heard[x] = y
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if spent := testkit.Must(budget().Spent()); len(heard) != affordable || spent != m.g.Times(affordable) {
			t.Errorf("%d answers, spent %v", len(heard), spent)
		}
		for key, n := range store.saves {
			if strings.HasPrefix(key, "sticky") && n != 1 || strings.HasPrefix(key, "budget") && n != affordable {
				t.Errorf("%s was saved %d times", key, n)
			}
		}
		if n := int(m.draws.Load()); !two && n > affordable+askers*(values-affordable) {
			t.Errorf("%d draws", n)
		}
	}
	if len(turns.locks) != 0 {
		t.Errorf("turns of nobody: %v", turns.locks)
	}
}

// Of many that ask for one new input at once, one draws.
func TestStore_OneDraws(t *testing.T) {
	for range 20 {
		store, m := newShared(), newCounting()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				testkit.Must(testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "a"})).Release(nil, 1))
			})
		}
		wg.Wait()
		if n := m.draws.Load(); n != 1 {
			t.Fatalf("%d draws for one answer", n)
		}
	}
}

func TestStore_BudgetsTakeTurns(t *testing.T) {
	const affordable = 50
	store := newShared()
	limit := promise(0.1, 0, 0, "").Times(affordable)
	var spent [8]int
	var wg sync.WaitGroup
	for i := range spent {
		wg.Go(func() {
			for testkit.Must(NewBudget(limit, &BudgetOptions{Store: store, Name: "ann"})).Spend(promise(0.1, 0, 0, "")) == nil {
				spent[i]++
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range spent {
		sum += n
	}
	if sum != affordable {
		t.Errorf("%d draws, want %d", sum, affordable)
	}
}

// paid spends from a budget of its own at every release.
type paid[X, Y any] struct {
	Mechanism[X, Y]
	b *Budget
}

func (p paid[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
	if err := p.b.Spend(p.Guarantee()); err != nil {
		return y, err
	}
	return p.Mechanism.Release(rng, x)
}

// Mechanisms that hold a Sticky or spend, all under one name, on one store or on two, do
// not wait for themselves.
func TestStore_NestedUnderOneName(t *testing.T) {
	type answer = [2]float64
	for _, other := range []*shared{nil, newShared()} {
		store, m := newShared(), newCounting()
		inner := store
		if other != nil {
			inner = other
		}
		budget := func() *Budget {
			return testkit.Must(NewBudget(m.g.Times(8), &BudgetOptions{Store: store, Name: "a"}))
		}
		kept := func(s Store, m Mechanism[int, answer]) Mechanism[int, answer] {
			return testkit.Must(NewSticky(m, &StickyOptions[int]{Store: s, Name: "a", Budget: budget()}))
		}
		stacked := func() Mechanism[int, answer] {
			return kept(store, kept(inner, paid[int, answer]{kept(inner, m), budget()}))
		}
		var wg sync.WaitGroup
		answers := make([]answer, 8)
		for i := range answers {
			wg.Go(func() { answers[i] = testkit.Must(stacked().Release(nil, 7)) })
		}
		wg.Wait()
		for _, y := range answers {
			if y != answers[0] || y == (answer{}) {
				t.Fatal(fmt.Sprint(answers))
			}
		}
		// On one store the innermost pays for all three, and paid does.
		want := 2
		if other != nil {
			want = 3
		}
		if spent := testkit.Must(budget().Spent()); spent != m.g.Times(want) || m.draws.Load() != 1 {
			t.Errorf("spent %v, %d draws", spent, m.draws.Load())
		}
	}
}
