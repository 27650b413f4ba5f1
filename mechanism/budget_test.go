package mechanism

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// spendAll spends g until it is refused, and returns how often it was not.
func spendAll(t *testing.T, b *Budget, g Guarantee) (n int) {
	t.Helper()
	for ; n < 1e6; n++ {
		if err := b.Spend(g); err != nil {
			if !errors.Is(err, ErrBudget) {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no end")
	return 0
}

// The sum of what was spent is exact: a budget affords as many draws as its limit holds
// in rational arithmetic, and Times(n) holds n.
func TestBudget_AffordsWhatRationalsSay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		cost := math.Exp(4 * r.NormFloat64())
		limit := cost * 30 * r.Float64()
		want := new(big.Rat).Quo(new(big.Rat).SetFloat64(limit), new(big.Rat).SetFloat64(cost))
		floor := new(big.Int).Quo(want.Num(), want.Denom()).Int64()
		if n := spendAll(t, testkit.Must(NewBudget(promise(limit, 0, 0, ""), nil)), promise(cost, 0, 0, "")); int64(n) != floor {
			t.Errorf("limit %v, cost %v: %d draws, want %d", limit, cost, n, floor)
		}
		n := r.IntN(40)
		if got := spendAll(t, testkit.Must(NewBudget(promise(cost, 0, 0, "").Times(n), nil)), promise(cost, 0, 0, "")); got != n {
			t.Errorf("%d times %v affords %d", n, cost, got)
		}
	}
	// Nothing is lost between the largest and the least number.
	b := testkit.Must(NewBudget(promise(math.MaxFloat64, 0, 0, ""), nil))
	for _, a := range []float64{5e-324, math.MaxFloat64 / 2, 5e-324} {
		testkit.Check(t, b.Spend(promise(a, 0, 0, "")))
	}
	if err := b.Spend(promise(math.MaxFloat64/2, 0, 0, "")); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
	testkit.Check(t, b.Spend(promise(math.Nextafter(math.MaxFloat64/2, 0), 0, 0, "")))
	if n := spendAll(t, testkit.Must(NewBudget(promise(1, 0, 0, ""), nil)), promise(0.1, 0, 0, "")); n != 9 {
		t.Errorf("0.1 goes %d times into 1 and is a little more than a tenth", n)
	}
}

// What is spent and what is left bracket the limit.
func TestBudget_SpentAndLeft(t *testing.T) {
	b := testkit.Must(NewBudget(promise(1, 1e-6, 0, "km"), nil))
	for range 9 {
		testkit.Check(t, b.Spend(promise(0.1, 1e-7, 0, "km")))
	}
	spent, left := testkit.Must(b.Spent()), testkit.Must(b.Left())
	exact := new(big.Rat).Mul(big.NewRat(9, 1), new(big.Rat).SetFloat64(0.1))
	if new(big.Rat).SetFloat64(spent.Alpha()).Cmp(exact) < 0 || spent.Alpha() > 0.9+1e-15 || spent.Unit() != "km" || spent.Delta() < 9e-7 {
		t.Errorf("spent %v", spent)
	}
	if left.Alpha() > 0.1 || left.Alpha() < 0.1-1e-15 || left.Delta() > 1.1e-7 || left.Delta() < 0.9e-7 {
		t.Errorf("left %v", left)
	}
	if s := left.String(); !strings.HasPrefix(s, "level 0.0999999") || !strings.Contains(s, " per km and delta ") || !strings.HasSuffix(s, "e-07 left, by which odds change by at most 1.11 at 1 km") {
		t.Error(s)
	}
	err := b.Spend(promise(0.1, 1e-7, 0, "km"))
	if !errors.Is(err, ErrBudget) ||
		!strings.HasPrefix(err.Error(), "mechanism: Budget.Spend: the budget is spent: level 0.1 per km and delta 1e-07 asked, level 0.0999999") || !strings.HasSuffix(err.Error(), "at 1 km") {
		t.Error(err)
	}
	if after := testkit.Must(b.Spent()); after != spent {
		t.Errorf("a refusal spends: %v", after)
	}
	testkit.Check(t, b.Spend(left.Guarantee))
	// What is left can be spent, to the last bit of sums that are no float64s.
	r := random.Seeded(31)
	for range 100 {
		size := func() float64 { return math.Exp2(-60*r.Float64()) / 2 }
		b := testkit.Must(NewBudget(promise(1+r.Float64(), (1+r.Float64())/2, 0, ""), nil))
		testkit.Check(t, b.Spend(promise(size(), size(), 0, "")))
		if err := b.Spend(testkit.Must(b.Left()).Guarantee); err != nil {
			t.Fatal(err)
		}
	}
	if n := spendAll(t, testkit.Must(NewBudget(promise(5, 2.5e-7, 0, ""), nil)), promise(1, 1e-7, 0, "")); n != 2 {
		t.Errorf("delta affords %d", n)
	}
}

func TestBudget_Refuses(t *testing.T) {
	none, lossy := Guarantee{}, byLoss(t, 2.5, 1e-6, BudgetOptions{})
	b := testkit.Must(NewBudget(promise(1, 0, 10, "km"), nil))
	kept := BudgetOptions{Store: newMemory(), Name: "ann"}
	testkit.Check(t, byLoss(t, 2.5, 1e-6, kept).Spend(promise(.05, 0, 0, "km")))
	keptByLoss := kept
	keptByLoss.ByLoss = true
	opened := func(limit Guarantee, o *BudgetOptions) error { return testkit.Err(NewBudget(limit, o)) }
	testkit.Refused(t, [][3]any{
		{opened(none, nil), "mechanism: NewBudget: limit.Alpha() = +Inf"}, {opened(promise(math.Inf(1), 0, 0, "km"), nil), "mechanism: NewBudget: limit.Alpha() = +Inf"},
		{opened(promise(1, 0, 0, "k\nm"), nil), "mechanism: NewBudget: "}, {opened(promise(1, 0, 0, ""), &BudgetOptions{Store: newMemory()}), "mechanism: NewBudget: a Store and no Name"},
		{opened(promise(1, 0, 0, ""), &BudgetOptions{Name: "\xff"}), `mechanism: NewBudget: Name = "\xff" is not valid UTF-8`},
		{opened(promise(1, 0, 2, "km"), &BudgetOptions{ByLoss: true}), "limit.Delta() = 0"}, {opened(promise(1, 1e-6, 0, "km"), &BudgetOptions{ByLoss: true}), "limit.Reach() = +Inf"},
		{opened(promise(0, 1e-6, 2, "km"), &BudgetOptions{ByLoss: true}), "a level > 0"},
		{opened(promise(2.5, 1e-6, 0, "km"), &kept), "", ErrRecord}, {opened(promise(2.5, 1e-6, 3, "km"), &keptByLoss), "", ErrRecord},
		{b.Spend(promise(1, 0, 9, "km")), "mechanism: Budget.Spend: g.Reach() = 9, want at least the limit's, 10"}, {b.Spend(promise(1, 0, 0, "m")), "", ErrUnit},
		{b.Spend(none), "", ErrBudget}, {b.Spend(promise(math.Inf(1), 0, 0, "km")), "", ErrBudget}, {b.Spend(promise(1, 1e-9, 0, "km")), "", ErrBudget},
		{b.Spend(promise(1.5, 0, 0, "km")), "", ErrBudget}, {lossy.Spend(promise(2, 0, 0, "km")), "", ErrBudget}, {lossy.Spend(none), "", ErrBudget},
	})
	testkit.Check(t, b.Spend(promise(1, 0, 10, "km")))
}

// Another budget of the same name and store, with another limit, has the same spent.
func TestBudget_IsKept(t *testing.T) {
	store := newMemory()
	open := func(limit Guarantee, name string) (*Budget, error) {
		return NewBudget(limit, &BudgetOptions{Store: store, Name: name})
	}
	b := testkit.Must(open(promise(1, 0, 0, "km"), "a"))
	testkit.Check(t, b.Spend(promise(0.75, 0, 0, "km")))
	higher := testkit.Must(open(promise(2, 0, 0, "km"), "a"))
	if n := spendAll(t, higher, promise(0.5, 0, 0, "km")); n != 2 {
		t.Errorf("%d, want 2", n)
	}
	if left := testkit.Must(b.Left()); left.Alpha() != 0 || left.String() != "nothing left" {
		t.Errorf("the lower limit has %v left", left)
	}
	if n := spendAll(t, testkit.Must(open(promise(2, 0, 0, "km"), "b")), promise(0.5, 0, 0, "km")); n != 4 {
		t.Errorf("another name has %d, want 4", n)
	}
	if _, err := open(promise(1, 0, 0, "m"), "a"); !errors.Is(err, ErrUnit) {
		t.Error(err)
	}
}

// Damaged records are errors at every door.
func TestBudget_RefusesBadRecords(t *testing.T) {
	salted := newMemory()
	r := testkit.Must(loadHashed("", salted, "budget", "a"))
	key := r.key
	record := func(body string) []byte { return sealed(nil, key, []byte(body)).value }
	for name, value := range map[string][]byte{
		"empty": {}, "no JSON": record("1"), "nothing": record("{}"), "null": record("null"),
		"negative": record(`{"unit":"","alpha":"-1","delta":"0"}`), "infinite": record(`{"unit":"","alpha":"Inf","delta":"0"}`),
		"none": record(`{"unit":"","alpha":null,"delta":"0"}`), "no delta": record(`{"unit":"","alpha":"0"}`),
		"a word": record(`{"unit":"","alpha":"much","delta":"0"}`), "no sum": []byte(`{"unit":"","alpha":"0","delta":"0"}`),
	} {
		store := copied(salted.records)
		b := testkit.Must(NewBudget(promise(1, 0, 0, ""), &BudgetOptions{Store: store, Name: "a"}))
		store.records[key] = value
		_, err1 := b.Spent()
		_, err2 := b.Left()
		_, err3 := NewBudget(promise(1, 0, 0, ""), &BudgetOptions{Store: store, Name: "a"})
		for _, err := range []error{err1, err2, err3, b.Spend(promise(0.5, 0, 0, ""))} {
			if !errors.Is(err, ErrRecord) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	huge := copied(salted.records)
	huge.records[key] = record(`{"unit":"","alpha":"1e400","delta":"0"}`)
	b := testkit.Must(NewBudget(promise(1, 0, 0, ""), &BudgetOptions{Store: huge, Name: "a"}))
	if spent := testkit.Must(b.Spent()); !math.IsInf(spent.Alpha(), 1) || !errors.Is(b.Spend(promise(0, 0, 0, "")), ErrBudget) {
		t.Errorf("spent %v", spent)
	}
}

// Of budgets that share what is spent no two spend the same.
func TestBudget_TakesTurns(t *testing.T) {
	store, _ := shared()
	each := promise(.05, 0, 0, "km")
	limit := each.Times(100)
	one := testkit.Must(NewBudget(limit, nil))
	lossy := byLoss(t, 2.5, 1e-6, BudgetOptions{Store: newMemory(), Name: "ann"}) // of which a load sets the filter
	for name, c := range map[string]struct {
		open func() *Budget
		want int64
	}{
		"one":     {func() *Budget { return one }, 100},
		"anew":    {func() *Budget { return testkit.Must(NewBudget(limit, &BudgetOptions{Store: store, Name: "ann"})) }, 100},
		"by loss": {func() *Budget { return lossy }, 79},
	} {
		var spent atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for c.open().Spend(each) == nil {
					spent.Add(1)
					testkit.Must(c.open().Left())
				}
			})
		}
		wg.Wait()
		if spent.Load() != c.want {
			t.Errorf("%s: %d draws, want %d", name, spent.Load(), c.want)
		}
	}
}
