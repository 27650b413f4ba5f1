package mechanism

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

// process is a store whose every step waits for its turn. What is the same in all orders has no
// step: the salt, and the look for records of version 1.
type process struct {
	*memory
	wait    func(bool) bool
	turn    func() (bool, bool) // until it waits, or is done
	dead    bool
	missing string // the kind of record that was not there a call ago
	done    bool
	y       [2]float64
	err     error
}

func (p *process) step() error {
	if p.wait != nil && !p.dead {
		p.wait(true)
	}
	if p.dead {
		return errCrash
	}
	return nil
}

func (p *process) Load(key string) ([]byte, bool, error) {
	kind, _, _ := strings.Cut(key, "-")
	if p.missing == kind {
		p.missing = ""
		return nil, false, nil
	}
	if kind != "salt" {
		if err := p.step(); err != nil {
			return nil, false, err
		}
	}
	value, ok, err := p.memory.Load(key)
	if !ok {
		p.missing = kind
	}
	return value, ok, err
}

func (p *process) Swap(key string, old, new []byte) (bool, error) {
	p.missing = ""
	if err := p.step(); err != nil {
		return false, err
	}
	return p.memory.Swap(key, old, new)
}

// Two processes ask once each, in every order of their steps, without patience and of a budget by levels and by
// losses; the first may die before any of its steps. Nobody draws twice for an input, all that is heard of one
// is the same, no draw is unpaid and the limit holds. Where nobody dies, an input is paid once, and answered in
// the end if it is affordable.
func TestSticky_EveryOrderOfTwoProcesses(t *testing.T) {
	defer func(f func(time.Duration)) { sleep = f }(sleep)
	sleep = func(time.Duration) {}
	for _, c := range []struct {
		inputs     [2]int
		affordable int
		byLoss     bool
		dies       bool
	}{
		{[2]int{1, 1}, 1, false, false}, {[2]int{1, 1}, 2, false, true}, {[2]int{1, 2}, 1, false, false},
		{[2]int{1, 2}, 2, false, !testing.Short()}, {[2]int{1, 2}, 1, true, false},
	} {
		runs := testkit.Orders(func(choose func(n int) int) {
			m := newCounting()
			records := newMemory()
			testkit.Must(loadSalt("", records))
			limit, each := m.g.Times(c.affordable), 1.0
			if c.byLoss {
				limit = testkit.Must(promise(2.5, 1e-6, 0, "step").Within(2)) // of one release of level 1
			}
			open := func(p *process) (*Sticky[int, [2]float64], *Budget) {
				b := testkit.Must(NewBudget(limit, &BudgetOptions{Store: p, Name: "b", ByLoss: c.byLoss}))
				s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: p, Name: "s", Budget: b}))
				s.patience = 0
				p.missing = ""
				return s, b
			}
			var ps [2]*process
			for i := range ps {
				p := &process{memory: records}
				ps[i] = p
				s, _ := open(p)
				p.turn, _ = iter.Pull(func(wait func(bool) bool) {
					p.wait = wait
					p.y, p.err = s.Release(rand.New(rand.NewPCG(uint64(i), 1)), c.inputs[i])
					p.done = true
				})
				p.turn()
			}
			died := false
			for {
				var turns []func()
				for i, p := range ps {
					if p.done {
						continue
					}
					turns = append(turns, func() { p.turn() })
					if c.dies && i == 0 && !died {
						turns = append(turns, func() {
							died, p.dead = true, true
							p.turn()
							unsettled.Clear() // it dies with the process
						})
					}
				}
				if len(turns) == 0 {
					break
				}
				turns[choose(len(turns))]()
			}
			last := &process{memory: records}
			s, b := open(last)
			spent := 0
			if rec, sum, err := b.load(""); err != nil {
				t.Fatal(err)
			} else if rec.value != nil {
				if c.byLoss {
					each = b.by.cost(1)
				}
				f, _ := sum.alpha.Float64()
				spent = int(f/each + .5)
			}
			draws := int(m.draws.Load())
			if spent < draws || spent > c.affordable || !died && spent != draws {
				t.Fatalf("%+v, died %v: %d draws, spent %d", c, died, draws, spent)
			}
			heard := map[int][2]float64{}
			check := func(x int, y [2]float64, err error, final bool) {
				switch was, ok := heard[x]; {
				case err == nil && ok && was != y:
					t.Fatalf("%+v, died %v: %d was answered by %v and %v", c, died, x, was, y)
				case err == nil:
					heard[x] = y
				case errors.Is(err, errCrash) && died || errors.Is(err, ErrBudget) && c.inputs[0] != c.inputs[1] && c.affordable == 1:
				case !errors.Is(err, ErrRefused) || final && (ok || !died):
					t.Fatalf("%+v, died %v: %d: %v", c, died, x, err)
				}
			}
			for i, p := range ps {
				check(c.inputs[i], p.y, p.err, false)
			}
			for _, x := range slices.Compact(slices.Clone(c.inputs[:])) {
				y, err := s.Release(nil, x)
				check(x, y, err, true)
			}
			if most := max(m.of[1], m.of[2]); most > 1 || !died && len(heard) != min(c.affordable, len(slices.Compact(slices.Clone(c.inputs[:])))) {
				t.Fatalf("%+v, died %v: %d draws for an input, %d answers", c, died, most, len(heard))
			}
		})
		t.Logf("%+v: %d orders", c, runs)
	}
}

// A swap that was done, and of which the store says that it failed or was not done, is done: one
// draw, paid once, and the answer is given.
func TestStore_AsksWhatASwapDid(t *testing.T) {
	for _, denies := range []bool{false, true} {
		m := newCounting()
		store := faulty{newMemory(), nil, func(_ string, _ []byte, do func() (bool, error)) (bool, error) {
			ok, err := do()
			if denies { // that it did, in place of an error
				return false, err
			}
			return ok, errors.New("who knows")
		}}
		b := testkit.Must(NewBudget(m.g.Times(3), &BudgetOptions{Store: store, Name: "a"}))
		s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "a", Budget: b}))
		for _, x := range []int{1, 2, 1, 3} {
			testkit.Must(s.Release(nil, x))
		}
		if spent := testkit.Must(b.Spent()); spent != m.g.Times(3) || m.draws.Load() != 3 {
			t.Errorf("%d draws, spent %v", m.draws.Load(), spent)
		}
	}
}
