package privatebeam

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/metric"
)

// Two releases under one key, the second without a person, each (1/2, 1e-6)-private
// at user level. Were the noise of the others the same in both, the difference of
// the counts would be that person's output alone, and the item guessed from it
// right in four runs of five, where (1, 2e-6) is promised of the two together.
// They share none: the difference then has a deviation above 18, and is the item
// with probability below 0.025, so in more than 20 of 100 runs with probability
// below 1e-12.
func TestItemWise_TwoReleasesShareNoNoise(t *testing.T) {
	const n, runs = 1000, 100
	space := testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	release := func(users int) *frequency.ItemWise {
		t.Helper()
		m := emd.Model{Trust: emd.Central, Users: users, Items: 1, Diameter: 1}
		o := &frequency.ItemWiseOptions{Delta: 1e-6}
		budget := testkit.Must(frequency.ItemWiseBudget(t.Context(), emd.Model{Trust: emd.Central, Users: n - 1, Items: 1, Diameter: 1}, emd.Promise{Alpha: 0.5, Delta: 1e-6}, nil))
		c := testkit.Must(exponential.Tuned(t.Context(), space, budget.Value, nil))
		w := testkit.Must(frequency.NewItemWise(t.Context(), c.Channel, m, o))
		if p := w.Guarantee().UserLevel(); p.Eps > 0.5 || p.Delta > 1e-6 {
			t.Fatalf("claimed %+v", p)
		}
		return w
	}
	with, without := release(n), release(n-1)
	counts := func(w *frequency.ItemWise, o *Options, first, item int) (ones int) {
		f := testkit.Must(newDraw("test", w, o))
		f = copied(t, f)
		testkit.Check(t, f.Setup(t.Context()))
		nonce := (&nonceFn{}).ProcessElement(nil)
		for u := first; u < n; u++ {
			x := u % 2
			if u == 0 {
				x = item
			}
			ones += f.ProcessElement(User{ID: name(u), Items: []int{x}}, nonce).Y[0]
		}
		return ones
	}
	r := rand.New(rand.NewPCG(1, 0))
	right := 0
	for range runs {
		item, o := r.IntN(2), &Options{Key: NewKey()}
		if y := counts(with, o, 0, item) - counts(without, o, 1, item); y == item {
			right++
		}
	}
	if right > 20 {
		t.Errorf("the item is told rightly from the difference of two releases in %d of %d runs", right, runs)
	}
}

// Any two transforms under one key or one key file, the same in all else, draw
// apart, as their nonces do, while what traveled to another worker draws again what it drew.
func TestTransforms_ShareNoNoise(t *testing.T) {
	w := testkit.Must(line{9, emd.Model{Trust: emd.Local, Items: 64, Diameter: 1}}.itemWise())
	u := User{ID: "u", Items: make([]int, 64)}
	for i := range u.Items {
		u.Items[i] = i % 9
	}
	c := direct(t, 1000)
	file := filepath.Join(t.TempDir(), "key")
	testkit.Check(t, NewKeyFile(t.Context(), file))
	for use, o := range map[string]Options{"key": {Key: NewKey()}, "file": {KeyFile: file}, "none": {}} {
		// Each makes a new transform, and returns what a worker draws with it. That
		// two that are independent draw the same has a probability far below 1e-9.
		for name, transform := range map[string]func() func() string{
			"Reduce": func() func() string {
				f := testkit.Must(newReduce("test", 64, &o))
				nonce := (&nonceFn{}).ProcessElement(nil)
				return func() string {
					f := copied(t, f)
					testkit.Check(t, f.Setup(t.Context()))
					return fmt.Sprint(f.ProcessElement(u, nonce))
				}
			},
			"ItemWise": func() func() string {
				f := testkit.Must(newDraw("test", w, &o))
				nonce := (&nonceFn{}).ProcessElement(nil)
				return func() string {
					f := copied(t, f)
					testkit.Check(t, f.Setup(t.Context()))
					return fmt.Sprint(f.ProcessElement(u, nonce))
				}
			},
			"SyntheticData": func() func() string {
				f := testkit.Must(newRelease[[]float64]("test", unit, 1, &SyntheticOptions{Key: o.Key, KeyFile: o.KeyFile}))
				nonce := (&nonceFn{}).ProcessElement(nil)
				return func() string {
					f := copied(t, f)
					testkit.Check(t, f.Setup(t.Context()))
					return fmt.Sprint(released(t, f, c, nonce))
				}
			},
		} {
			one, two := transform(), transform()
			if first, again := one(), one(); first != again {
				t.Errorf("%s, %s: a worker that gets the transform again draws something else", name, use)
			}
			if one() == two() {
				t.Errorf("%s, %s: two transforms draw the same", name, use)
			}
		}
	}
	q := testkit.Must(measure.NewSynthesizer(c.Domain(), 1, nil))
	a := testkit.Must(Synthetic(q, c, nil, &SyntheticOptions{}))
	if b, err := Synthetic(q, c, nil, &SyntheticOptions{}); err != nil || equal(a, b) {
		t.Errorf("two releases without a key agree, %v", err)
	}
}
