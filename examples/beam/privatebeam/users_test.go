package privatebeam

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// line is an estimator on points of the interval, a channel of level 6 each.
type line struct {
	Points int
	Model  emd.Model
}

func (l line) space() (metric.Finite, error) {
	at := make([]float64, l.Points)
	for i := range at {
		at[i] = float64(i) / float64(l.Points-1)
	}
	return metric.NewPoints(at, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }))
}

func (l line) options() *frequency.ItemWiseOptions { return &frequency.ItemWiseOptions{Delta: 1e-9} }

// channel is the exponential mechanism on the space.
func (l line) channel(ctx context.Context) (*mechanism.Channel, metric.Finite, error) {
	f, err := l.space()
	if err != nil {
		return nil, nil, err
	}
	c, err := exponential.Standard(ctx, f, 6, nil)
	if err != nil {
		return nil, nil, err
	}
	return c.Channel, f, nil
}

func (l line) itemWise() (*frequency.ItemWise, error) {
	c, _, err := l.channel(context.Background())
	if err != nil {
		return nil, err
	}
	return frequency.NewItemWise(context.Background(), c, l.Model, l.options())
}

func (l line) Frequencies(ctx context.Context) (*frequency.Estimator, error) {
	c, f, err := l.channel(ctx)
	if err != nil {
		return nil, err
	}
	return frequency.New(ctx, c, f, l.Model, &frequency.Options{Delta: 1e-9})
}

// item i of user u; users hold 1 to 40 of them.
func items(u int) []int {
	x := make([]int, 1+u%40)
	for i := range x {
		x[i] = (u*u + 3*i) % 9
	}
	slices.Sort(x)
	return x
}

func usersFn(b block, emit func(string, int)) {
	for u := b.From; u < b.To; u++ {
		for _, x := range items(u) {
			emit(name(u), x)
		}
	}
}

func name(u int) string { return fmt.Sprintf("user %d", u) }

func userSource(s beam.Scope, n int) beam.PCollection {
	var in []block
	for i := range blocks {
		in = append(in, block{i * n / blocks, (i + 1) * n / blocks})
	}
	return beam.ParDo(s, usersFn, beam.Reshuffle(s, beam.CreateList(s, in)))
}

var keptUsers struct {
	sums      []Multiset
	estimates []Estimate
}

func keepSumsFn(_ []byte, in func(*Multiset) bool) {
	keptUsers.sums = nil
	for m := (Multiset{}); in(&m); m = (Multiset{}) {
		keptUsers.sums = append(keptUsers.sums, m)
	}
}

func keepEstimatesFn(_ []byte, in func(*Estimate) bool) {
	keptUsers.estimates = nil
	for e := (Estimate{}); in(&e); e = (Estimate{}) {
		keptUsers.estimates = append(keptUsers.estimates, e)
	}
}

func init() {
	register.Function2x0(usersFn)
	register.Function2x0(keepSumsFn)
	register.Iter1[Multiset]()
	register.Function2x0(keepEstimatesFn)
	register.Emitter2[string, int]()
	register.Iter1[Estimate]()
	RegisterEstimator[line]()
}

// 10^4 users through grouping, drawing, channel and inverse; and the same with
// the library alone, a user after another.
func TestItemWise_IsTheDirectRelease(t *testing.T) {
	const users, samples = 10_000, 16
	l := line{9, emd.Model{Trust: emd.Central, Users: users, Items: samples, Diameter: 1}}
	w := testkit.Must(l.itemWise())
	o := &Options{Key: SeededKey(5)}
	p, s := beam.NewPipelineWithRoot()
	reduced := testkit.Must(Reduce(s, samples, Users(s, userSource(s, users)), o))
	sums := testkit.Must(ItemWise(s, w, reduced, o))
	estimates := testkit.Must(Frequencies(s, l, sums))
	keep(s, keepSumsFn, sums)
	keep(s, keepEstimatesFn, estimates)
	ptest.RunAndValidate(t, p)

	want := Multiset{Counts: make([]int64, 9), Users: users}
	use := testkit.Must(ItemWiseUse(w))
	for u := range users {
		user := User{ID: name(u), Items: items(u)}
		r, drawn := user.Stream(5, fmt.Sprintf("Reduce %d", samples)), make([]int, samples)
		for i := range drawn {
			drawn[i] = user.Items[r.IntN(len(user.Items))]
		}
		slices.Sort(drawn)
		user.Items = drawn
		r = user.Stream(5, use)
		for _, x := range drawn {
			y := testkit.Must(w.Channel().Release(r, x))
			want.Counts[y]++
		}
	}
	if len(keptUsers.sums) != 1 || keptUsers.sums[0].Users != users || !slices.Equal(keptUsers.sums[0].Counts, want.Counts) {
		t.Fatalf("counts through Beam are %v, directly %v", keptUsers.sums, want)
	}

	f := testkit.Must(l.Frequencies(t.Context()))
	direct := testkit.Must(estimate(t.Context(), f, want))
	if len(keptUsers.estimates) != 1 {
		t.Fatalf("%d estimates", len(keptUsers.estimates))
	}
	got := keptUsers.estimates[0]
	if fmt.Sprint(got) != fmt.Sprint(direct) || got.Users != users || got.Items != users*samples {
		t.Errorf("estimate through Beam %v, directly %v", got, direct)
	}
}

// A bundle that is run again draws the same, whatever order its items come in;
// another key draws something else.
func TestItemWise_RetryDrawsTheSame(t *testing.T) {
	l := line{9, emd.Model{Trust: emd.Local, Items: 64, Diameter: 1}}
	w := testkit.Must(l.itemWise())
	_, s := beam.NewPipelineWithRoot()
	if _, err := ItemWise(s, w, Users(s, userSource(s, 1)), nil); err != nil {
		t.Fatal(err)
	}
	encoded := encodeChannel(t, w)
	run := func(order []int, key Key) string {
		var u User
		next := 0
		(&groupFn{}).ProcessElement("u", func(x *int) bool {
			if next < len(order) {
				*x = order[next]
			}
			next++
			return next <= len(order)
		}, func(v User) { u = v })
		g := copied(t, &reduceFn{Samples: 64, Secret: secret{Key: key}})
		testkit.Check(t, g.Setup(t.Context()))
		f := copied(t, &drawFn{Channel: encoded, Inputs: 9, Items: 64, Secret: secret{Key: key}})
		testkit.Check(t, f.Setup(t.Context()))
		reduced := g.ProcessElement(u, "nonce")
		return fmt.Sprint(reduced, f.ProcessElement(reduced, "nonce"))
	}
	key := NewKey()
	if run([]int{0, 8, 3, 3}, key) != run([]int{3, 0, 3, 8}, key) {
		t.Error("the bundle run again draws something else")
	}
	if run([]int{0, 8, 3, 3}, key) == run([]int{0, 8, 3, 3}, NewKey()) {
		t.Error("two keys, the same draws")
	}
}

// Two channels have two uses of a key, one channel the same on every machine: the
// same user through two of them draws independently.
func TestItemWiseUse_NamesTheChannel(t *testing.T) {
	use := func(points int) string {
		w := testkit.Must(line{points, emd.Model{Trust: emd.Local, Items: 2, Diameter: 1}}.itemWise())
		return testkit.Must(ItemWiseUse(w))
	}
	if first, again, other := use(9), use(9), use(8); first != again || first == other {
		t.Errorf("uses %q and %q of one channel, and %q of another", first, again, other)
	}
}

// Elements belong to the runner, and their order does not count.
func TestUser_StreamLeavesItems(t *testing.T) {
	w := testkit.Must(line{9, emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}}.itemWise())
	draw := &drawFn{Channel: encodeChannel(t, w), Inputs: 9, Items: 3, Secret: secret{Key: SeededKey(1)}}
	testkit.Check(t, draw.Setup(t.Context()))
	reduce := &reduceFn{Samples: 5, streams: SeededKey(1).streams}
	for n := range 20 { // other draws would come out alike now and then
		u, v := User{ID: name(n), Items: []int{3, 1, 2}}, User{ID: name(n), Items: []int{1, 2, 3}}
		all := func(u User) string {
			return fmt.Sprint(u.Stream(1, "A").Uint64(), reduce.ProcessElement(u, "").Items, draw.ProcessElement(u, "").Y)
		}
		if a, b := all(u), all(v); a != b || !slices.Equal(u.Items, []int{3, 1, 2}) {
			t.Errorf("the order of items shows: %s and %s, or they became %v", a, b, u.Items)
		}
	}
}

func encodeChannel(t *testing.T, w *frequency.ItemWise) []byte {
	t.Helper()
	return testkit.Must(packChannel(w.Channel()))
}

// What the promise does not cover fails before anything is published, with the error
// told here, to the end of its line: without a word on whose items are wrong, or which.
func TestItemWise_RefusesOtherUsers(t *testing.T) {
	testkit.Slow(t) // and where a bundle fails Beam closes a channel that it still sends on
	const users = 10
	central := func(users, items int) emd.Model {
		return emd.Model{Trust: emd.Central, Users: users, Items: items, Diameter: 1}
	}
	for _, c := range []struct {
		name     string
		declared emd.Model
		users    int
		samples  int
		points   int
		want     string // "" for none
	}{
		{"as declared", central(users, 3), users, 3, 9, ""},
		{"local", emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}, users, 3, 9, ""},
		{"fewer users", central(users+1, 3), users, 3, 9, "10 users, in a model of 11, which the promise is for"},
		{"more users", central(users-1, 3), users, 3, 9, "10 users, in a model of 9, which the promise is for"},
		{"no users", emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}, 0, 3, 9, "no users"},
		{"more items", central(users, 3), users, 4, 9, "a user without the 3 items of the model: Reduce makes them so"},
		{"fewer items", central(users, 3), users, 2, 9, "a user without the 3 items of the model: Reduce makes them so"},
		{"other space", central(users, 3), users, 3, 2, "an item that is no input of the channel"},
	} {
		w := testkit.Must(line{c.points, c.declared}.itemWise())
		p, s := beam.NewPipelineWithRoot()
		reduced := testkit.Must(Reduce(s, c.samples, Users(s, userSource(s, c.users)), nil))
		sums := testkit.Must(ItemWise(s, w, reduced, nil))
		keptUsers.sums = nil
		keep(s, keepSumsFn, sums)
		err := ptest.Run(p)
		switch {
		case c.want == "" && (err != nil || len(keptUsers.sums) != 1):
			t.Errorf("%s: %v, %v", c.name, err, keptUsers.sums)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), "\nprivatebeam: ItemWise: "+c.want+"\n") || len(keptUsers.sums) > 0):
			t.Errorf("%s: %v, %v, want %q", c.name, err, keptUsers.sums, c.want)
		}
	}
}

// One bad user among good ones is noted wherever bundles are cut and merged.
func TestSumFn_KeepsWhatIsWrong(t *testing.T) {
	f := &sumFn{Outputs: 2}
	good := func() sums { return f.AddInput(f.CreateAccumulator(), draws{Y: []int{0, 1, 1}}) }
	bad := func() sums { return f.AddInput(f.CreateAccumulator(), draws{Bad: "bad"}) }
	for i, m := range []sums{
		f.MergeAccumulators(good(), bad()),
		f.MergeAccumulators(bad(), good()),
		f.AddInput(bad(), draws{Y: []int{0, 1, 1}}),
	} {
		if m.Bad != "bad" || m.Users != 2 || !slices.Equal(m.Counts, []int64{1, 2}) {
			t.Errorf("merge %d: %+v", i, m)
		}
	}
}

// BenchmarkItemWise tells items a second through Prism, from grouping on.
func BenchmarkItemWise(b *testing.B) {
	const users, samples = 10_000, 20
	l := line{9, emd.Model{Trust: emd.Central, Users: users, Items: samples, Diameter: 1}}
	w := testkit.Must(l.itemWise())
	throughput(b, fmt.Sprintf("users=%d/beam", users), "items/s", users*samples, piped(keepSumsFn, func(s beam.Scope) (beam.PCollection, error) {
		reduced, err := Reduce(s, samples, Users(s, userSource(s, users)), nil)
		if err != nil {
			return reduced, err
		}
		return ItemWise(s, w, reduced, nil)
	}))
	r := testkit.Must(emd.NewReduced(w, emd.Sampling{Radius: .1, Delta: 1e-9}))
	throughput(b, fmt.Sprintf("users=%d/direct", users), "items/s", users*samples, func() error {
		_, err := r.Release(nil, func(yield func([]int) bool) {
			for u := range users {
				if !yield(items(u)) {
					return
				}
			}
		})
		return err
	})
}
