package mechanism

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// shared is a store in memory, whose every call lets others go first, and how often records were swapped.
func shared() (faulty, map[string]int) {
	swaps, mu := map[string]int{}, new(sync.Mutex)
	return faulty{newMemory(), func(string) error { runtime.Gosched(); return nil }, func(key string, _ []byte, do func() (bool, error)) (bool, error) {
		runtime.Gosched()
		defer runtime.Gosched()
		ok, err := do()
		mu.Lock()
		defer mu.Unlock()
		if ok {
			swaps[key]++
		}
		return ok, err
	}}, swaps
}

// distant is a mechanism of another type, with the same guarantee.
type distant struct{ *counting }

func (distant) String() string { return "another" }

// Of Stickies and Budgets that every request makes anew, on one store under one name, no two answer differently
// or spend for the same input, nor all more than there is; also of two mechanisms under the name, or one Sticky.
func TestStore_RequestsTakeTurns(t *testing.T) {
	const values, askers, affordable = 12, 8, 9
	for _, mode := range []string{"anew", "two mechanisms", "one Sticky"} {
		store, swaps := shared()
		m := newCounting()
		budget := func() *Budget {
			return testkit.Must(NewBudget(m.g.Times(affordable), &BudgetOptions{Store: store, Name: "ann"}))
		}
		sticky := func(m Mechanism[int, [2]float64]) *Sticky[int, [2]float64] {
			return testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "ann", Budget: budget()}))
		}
		one := sticky(m)
		var mu sync.Mutex
		heard := map[int][2]float64{}
		var wg sync.WaitGroup
		for a := range askers {
			wg.Go(func() {
				for _, x := range rand.New(rand.NewPCG(uint64(a), 1)).Perm(values) {
					s := one
					if mode == "two mechanisms" && a%2 == 0 {
						s = sticky(distant{m})
					} else if mode != "one Sticky" {
						s = sticky(m)
					}
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
		for key, n := range swaps {
			// An input that was claimed when another one took the last of the budget is open again.
			kind, _, _ := strings.Cut(key, "-")
			if want := map[string]int{"sticky": 2, "budget": affordable, "salt": 1}[kind]; n != want && !(kind == "sticky" && n%2 == 0) {
				t.Errorf("%s was swapped %d times", key, n)
			}
		}
		if n := int(m.draws.Load()); n != affordable {
			t.Errorf("%d draws", n)
		}
	}
}

// Records have other keys in another store, which nobody can compute without the salt; they
// are found again, and many that begin a store at once make one salt.
func TestStore_KeysAreSalted(t *testing.T) {
	use := func(store Store, name string) {
		b := testkit.Must(NewBudget(promise(1, 0, 0, "step"), &BudgetOptions{Store: store, Name: name}))
		testkit.Must(testkit.Must(NewSticky(newCounting(), &StickyOptions[int]{Store: store, Name: name, Budget: b})).Release(nil, 1))
	}
	one, two := newMemory(), newMemory()
	use(one, "a")
	use(two, "a")
	for key := range one.records {
		if _, ok := two.records[key]; ok != (key == "salt") {
			t.Errorf("%s in both: %v", key, ok)
		}
	}
	if len(one.records) != 3 || bytes.Equal(one.records["salt"], two.records["salt"]) {
		t.Errorf("%d records", len(one.records))
	}
	before := len(one.records)
	use(one, "a")
	if len(one.records) != before {
		t.Error("an answer was not found again")
	}

	store, swaps := shared()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { use(store, fmt.Sprint(i)) })
	}
	wg.Wait()
	for i := range 8 {
		use(store, fmt.Sprint(i))
	}
	if n := swaps["salt"]; n != 1 || len(store.records) != 17 {
		t.Errorf("%d salts, %d records", n, len(store.records))
	}

	// Version 2, as other processes have it.
	fixed := newMemory()
	fixed.records["salt"] = sealed(nil, "salt", fmt.Appendf(nil, "metricdp.store/2 %064x", 1)).value
	use(fixed, "a")
	for _, key := range []string{"budget-cd264dd738e9b8b632cb71f45b2af89c7f67d1d0371eabfb49c9c7f13cab6035", "sticky-0ddaccbf52e069bf31dcb6e578579a55783a5b607c5f5bd721fe5a6d213ac1a8"} {
		if _, ok := fixed.records[key]; !ok {
			t.Errorf("no %s in %v", key, slices.Sorted(maps.Keys(fixed.records)))
		}
	}
}

// A key without salt, by which whoever reads a log can try guesses of the input, is in no error.
func TestStore_ErrorsHaveNoKeysWithoutSalt(t *testing.T) {
	old := fmt.Sprintf("sticky-%x", sha256.Sum256(frame(frame(nil, "ann"), appendValue(nil, reflect.ValueOf(7)))))
	found := newMemory()
	found.records[old] = []byte("1")
	unreadable := faulty{newMemory(), func(key string) error { // and its errors name it
		if key == old {
			return fmt.Errorf("open record-%s: %w", key, errCrash)
		}
		return nil
	}, func(_ string, _ []byte, do func() (bool, error)) (bool, error) { return do() }}
	for i, store := range []Store{found, unreadable} {
		_, err := testkit.Must(NewSticky(newCounting(), &StickyOptions[int]{Store: store, Name: "ann"})).Release(nil, 7)
		if err == nil || strings.Contains(err.Error(), old) || i > 0 && !errors.Is(err, errCrash) {
			t.Error(err)
		}
	}
}

// A store that takes no salt is not asked again.
func TestStore_TakesNoSalt(t *testing.T) {
	if salt, err := loadSalt("op", shaky(newMemory(), 1, false, false)); salt != nil || !errors.Is(err, errCrash) {
		t.Errorf("%x, %v", salt, err)
	}
}

// Records of version 1, which had no salt, are not passed over; a salt of another version or
// that is damaged is an error.
func TestStore_RefusesOtherVersions(t *testing.T) {
	old := func(kind string, parts ...string) string {
		var b []byte
		for _, p := range parts {
			b = frame(b, p)
		}
		return fmt.Sprintf("%s-%x", kind, sha256.Sum256(b))
	}
	record := func(key, body string) *memory {
		m := newMemory()
		m.records[key] = sealed(nil, key, []byte(body)).value
		return m
	}
	damaged := record("salt", "metricdp.store/2 "+strings.Repeat("0", 64))
	damaged.records["salt"][3] ^= 1
	for _, c := range []struct {
		name, want string
		store      *memory
		budget     bool
	}{
		{"old answer", "earlier version", record(old("sticky", "a", string(appendValue(nil, reflect.ValueOf(7)))), `{"guarantee":{"unit":"step","alpha":1},"output":[1,2]}`), false},
		{"old budget", "earlier version", record(old("budget", "a"), `{"unit":"step","alpha":"0x.8p+1","delta":"0"}`), true},
		{"later", `another version of this library: "metricdp.store/4`, record("salt", "metricdp.store/4 "+strings.Repeat("0", 64)), true},
		{"short", ErrRecord.Error(), record("salt", "metricdp.store/2 00"), true},
		{"long", ErrRecord.Error(), record("salt", "metricdp.store/3 "+strings.Repeat("0", 66)), true},
		{"no digits", ErrRecord.Error(), record("salt", "metricdp.store/2 "+strings.Repeat("x", 64)), true},
		{"damaged", ErrRecord.Error(), damaged, true},
	} {
		m := newCounting()
		_, err := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: c.store, Name: "a"})).Release(nil, 7)
		if c.budget {
			var other error
			_, other = NewBudget(m.g, &BudgetOptions{Store: c.store, Name: "a"})
			if c.name == "old budget" {
				err = other
			} else if other == nil {
				t.Errorf("%s: a budget is opened", c.name)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || c.name != "old budget" && m.draws.Load() != 0 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
