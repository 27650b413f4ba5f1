package measure

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// schedules are those that tests go through; Least is small.
var schedules = []StreamOptions{
	{Growth: 1.25, Least: 2}, {Growth: 2, Least: 1}, {Growth: 1.01, Least: 3},
	{Growth: 2, Least: 1, Halves: 0.5}, {Growth: 1.5, Least: 1, Halves: 0.9}, {Growth: 3, Least: 2, Halves: 0.75},
}

// Blocks are cut at max(n+128, 1.25 n).
func TestStream_CutsAtPublicCounts(t *testing.T) {
	s := testkit.Must(NewStream(samples.Unit(1, domain.BoxOptions{}), 1, nil))
	var cuts []int64
	parts, _ := s.opt.plan(2000)
	for _, p := range parts {
		cuts = append(cuts, p.to)
	}
	if want := []int64{128, 256, 384, 512, 640, 800, 1000, 1250, 1563, 1954}; !slices.Equal(cuts, want) {
		t.Errorf("cuts at %d, want %d", cuts, want)
	}
	if _, next := s.opt.plan(1953); next != 1954 {
		t.Errorf("next cut at %d", next)
	}
	if parts, next := s.opt.plan(math.MaxInt64 - 1); len(parts) > 200 || next < 1<<62 {
		t.Errorf("%d parts, and %d, at the end", len(parts), next)
	}
}

// Of every plan the last part alone is new, and takes the place of whole parts of the one before;
// and the parts that one arrival is ever in have levels that sum to eps at most, and for some to
// eps but for the rounding of levels.
func TestStream_PlansSpendLevel(t *testing.T) {
	const n = 600
	for _, o := range schedules {
		s := testkit.Must(NewStream(samples.Tiny()["pair"], 0.7, &o))
		eps := new(big.Rat).SetFloat64(0.7)
		spent, lost := make([]*big.Rat, n), make([]*big.Rat, n)
		for i := range spent {
			spent[i], lost[i] = new(big.Rat), new(big.Rat)
		}
		before, next := s.opt.plan(0)
		for now := int64(1); now <= n; now++ {
			parts, after := s.opt.plan(now)
			if now < next {
				if !slices.Equal(parts, before) || after != next {
					t.Fatalf("%+v: at %d a plan changes before %d", o, now, next)
				}
				continue
			}
			last := len(parts) - 1
			p, from := parts[last], int64(0)
			if now != next || p.to != now || !slices.Equal(parts[:last], before[:last]) || len(before) > last && before[last].from != p.from {
				t.Fatalf("%+v: at %d %v, before %v", o, now, parts, before)
			}
			for _, p := range parts {
				if p.from != from || p.to <= p.from {
					t.Fatalf("%+v: at %d %v", o, now, parts)
				}
				from = p.to
			}
			enough := func(i int) bool { // records in a part, for their share of eps
				return float64((p.to-p.from)>>i)*math.Pow(o.Halves, float64(i)) >= float64(o.Least)
			}
			if p.halved == 0 && (p.depth > 0 && !enough(p.depth) || o.Halves > 0 && enough(p.depth+1) || o.Halves == 0 && p.depth > 0) {
				t.Fatalf("%+v: a block of %d is halved %d times", o, p.to-p.from, p.depth)
			}
			level, loss := new(big.Rat).SetFloat64(s.level(p)), new(big.Rat).SetFloat64(testkit.Must(s.synthesizer(p)).budget.Loss())
			for i := p.from; i < p.to; i++ {
				spent[i].Add(spent[i], level)
				lost[i].Add(lost[i], loss)
			}
			before, next = parts, after
		}
		most := slices.MaxFunc(spent, (*big.Rat).Cmp)
		if stated := new(big.Rat).SetFloat64(s.g.Alpha()); slices.MaxFunc(lost, (*big.Rat).Cmp).Cmp(stated) > 0 {
			t.Errorf("%+v: an arrival loses more than is stated", o)
		}
		if ratio, _ := new(big.Rat).Quo(most, eps).Float64(); most.Cmp(eps) > 0 || ratio < 1-1e-9 {
			t.Errorf("%+v: an arrival spends %v of eps", o, ratio)
		}
	}
}

// drawn are all releases of a stream, in their order: the counts that they are of, and the rates
// of their noise, in each node.
type drawn struct {
	at     part
	counts []int64
	rates  []float64
}

// draws feeds two streams alike: one of so high a level that its counts are the true ones, and one
// of the level, of which the rates are.
func draws(t *testing.T, o StreamOptions, eps float64, feed func(s *Stream[int], look func())) (all []drawn) {
	d := samples.Tiny()["pair"]
	for i, level := range []float64{1e6, eps} {
		s, k := testkit.Must(NewStream(d, level, &o)), 0
		var at []part
		feed(s, func() {
			if slices.Equal(s.parts, at) {
				return
			}
			at = slices.Clone(s.parts)
			last := drawn{at: at[len(at)-1]}
			tree := s.shown[len(at)-1].tree
			for _, n := range tree.Nodes {
				last.counts = append(last.counts, n.Count)
				last.rates = append(last.rates, float64(n.Quanta)*tree.Budget.Loss()/(1<<30))
			}
			if o.Blocks == nil || o.Blocks.Relation == ReplaceOne {
				for j := range last.rates {
					last.rates[j] /= 2
				}
			}
			if i == 0 {
				all = append(all, last)
			} else {
				if all[k].at != last.at {
					t.Fatalf("%+v: at one level %v is released, at another one %v", o, all[k].at, last.at)
				}
				all[k].rates = last.rates
			}
			k++
		})
		if k != len(all) {
			t.Fatalf("%+v: %d and %d releases", o, len(all), k)
		}
	}
	return all
}

// loss is the largest logarithm of the quotient of the probabilities of an output, over all
// outputs of the noisy counts.
func loss(t *testing.T, x, y []drawn) (sum float64) {
	if len(x) != len(y) {
		t.Fatalf("%d releases, and %d of a neighbor", len(x), len(y))
	}
	for i := range x {
		if x[i].at != y[i].at || !slices.Equal(x[i].rates, y[i].rates) {
			t.Fatalf("neighbors are released as %v and %v", x[i], y[i])
		}
		for j, rate := range x[i].rates {
			a, b, worst := x[i].counts[j], y[i].counts[j], int64(0)
			if rate == 0 && a != b {
				t.Fatalf("%v: a public number is %d and %d", x[i].at, a, b)
			}
			for z := int64(-2); z <= 20; z++ {
				worst = max(worst, max(z-b, b-z)-max(z-a, a-z))
			}
			sum += rate * float64(worst)
		}
	}
	return sum
}

// Two streams that differ in the record at one position, or in one that is added in a tick, which
// changes no cut, have releases, all together, whose probabilities differ by at most e to the stated
// level, exactly, and by that much for some: all positions, and the outputs of all cuts.
func TestStream_ExactLevel(t *testing.T) {
	const eps = 1.5
	for rel, n := range map[Relation]int{ReplaceOne: 17, AddRemoveOne: 9} {
		for _, o := range schedules {
			o.Blocks = &SynthesizerOptions{Relation: rel}
			r := random.Seeded(3)
			stated := testkit.Must(NewStream(samples.Tiny()["pair"], eps, &o)).Guarantee().Alpha()
			worst := 0.0
			for range testkit.Sweep(4, 40) {
				x := make([][]int, n) // of ticks, or single records
				for i := range x {
					k := 1
					if rel == AddRemoveOne {
						k = r.IntN(3)
					}
					x[i] = slices.Repeat([]int{r.IntN(2)}, k)
				}
				run := func() []drawn {
					return draws(t, o, eps, func(s *Stream[int], look func()) {
						for _, v := range x {
							testkit.Check(t, s.Add(random.Seeded(1), v))
							look()
							if s.clocked {
								testkit.Check(t, s.Tick(random.Seeded(1)))
								look()
							}
						}
					})
				}
				all := run()
				for i, old := range x {
					if rel == ReplaceOne {
						x[i] = []int{1 - old[0]}
						worst = max(worst, loss(t, all, run()))
					}
					for v := 0; v < 2 && rel == AddRemoveOne; v++ {
						x[i] = append(slices.Clone(old), v)
						more := run()
						worst = max(worst, loss(t, all, more), loss(t, more, all))
					}
					x[i] = old
				}
			}
			if worst > stated*(1+1e-12) || stated > eps || worst < stated*(1-1e-6) {
				t.Errorf("%v, %+v: largest log ratio %v, stated %v, asked for %v", rel, o, worst, stated, eps)
			}
		}
	}
}

// A release is the mixture of the parts by their numbers of records, of which the last has those
// that ride too: as a density in every cell, as a total, and where the noise is nothing as the
// shares of the records themselves.
func TestStream_ReleaseIsMixture(t *testing.T) {
	for name, d := range samples.Domains() {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			for _, eps := range []float64{1, 1e6} {
				s := testkit.Must(NewStream(d, eps, &StreamOptions{Growth: 1.5, Least: 4, Halves: 0.5, Blocks: &SynthesizerOptions{Relation: rel}}))
				r := random.Seeded(1)
				for range 150 {
					testkit.Check(t, s.Add(r, []int{r.IntN(1 + r.IntN(d.Len()))}))
					if rel == AddRemoveOne {
						testkit.Check(t, s.Tick(r))
					}
				}
				out := testkit.Must(s.Release())
				if _, err := samples.Mass(out.Weights); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				last := s.parts[len(s.parts)-1]
				if s.now == last.to || len(s.parts) < 3 {
					t.Fatal("nothing rides")
				}
				weights, total := []float64(nil), 0.0
				for i, p := range s.parts {
					w := s.shown[i].tree.Nodes[0].Mass
					if p == last {
						w *= 1 + float64(s.now-p.to)/float64(p.to-p.from)
					}
					weights, total = append(weights, w), total+w
				}
				if math.Abs(out.Total-total) > .5+1e-9*total || (rel == ReplaceOne || eps > 1) && out.Total != 150 {
					t.Errorf("%s: total %v, want %v", name, out.Total, total)
				}
				checkNoise(t, s, out, eps > 1)
				density := out.Density()
				next := 0
				for i := range out.Weights {
					if lo, hi := out.Cells(i); lo < next || hi <= lo {
						t.Fatalf("%s: regions overlap", name)
					} else {
						next = hi
					}
				}
				for p := range d.Len() {
					want := 0.0
					for i, part := range s.shown {
						want += weights[i] / total * part.Density()(p)
					}
					if got := density(p); math.Abs(got-want) > 1e-9*(1+want) {
						t.Fatalf("%s, %v: density %v, want %v", name, rel, got, want)
					}
				}
			}
		}
	}
	// Regions that leave out cells, and categories, are gone through.
	for name, d := range samples.Masked(true) {
		s := testkit.Must(NewStream(d, 1, &StreamOptions{Growth: 1.5, Least: 4, Halves: 0.5}))
		r := random.Seeded(1)
		inside := samples.Inside(d)
		for range 150 {
			p := inside.At(r, inside.Regions.Cell(r.IntN(inside.Cells)))
			if _, err := d.Cell(p); err == nil { // and not impossible
				testkit.Check(t, s.Add(r, [][]float64{p}))
			}
		}
		out := testkit.Must(s.Release())
		if _, err := samples.Mass(out.Weights); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		testkit.Must(out.Records(r, 0, nil))
		testkit.Must(out.Error(t.Context(), r, 0.9, &ErrorOptions{Draws: 5}))
	}
}

// checkNoise compares the standard deviations of the noise of a mixture with those of its leaves, and
// what the truth might be, where the noise is nothing, with the masses.
func checkNoise[P any](t *testing.T, s *Stream[P], out *Release[P], exact bool) {
	cells := s.space.Regions.Cells
	root, rng, moved, want := out.tree.Nodes[0], random.Seeded(2), 0.0, 0.0
	for range 50 { // what the truth might be has the noise of the parts
		again := out.again(rng)
		for j := root.First; j < root.First+root.Parts; j++ {
			moved += math.Pow(again.Nodes[j].Mass-out.tree.Nodes[j].Mass, 2)
			want += math.Pow(out.noise(j), 2)
		}
	}
	if !exact && moved < want/40 {
		t.Errorf("truths are off by %v on square average, the noise is %v", moved, want)
	}
	truth, r := out.again(rng), 0.0
	for _, k := range out.mixture.leaves {
		lo, hi := cells(out.tree.Nodes[k].At)
		variance, least, most := 0.0, 0.0, 0.0
		for i, part := range s.shown {
			for _, j := range leavesOf(part.tree) {
				n := part.tree.Nodes[j]
				from, to := cells(n.At)
				mass := out.mixture.scale[i] * n.Mass
				if to <= lo || from >= hi {
					continue
				}
				most += mass
				if from >= lo && to <= hi {
					least += mass
				}
				d := out.mixture.scale[i] * part.tree.Deviation(j) * min(1, float64(hi-lo)/float64(to-from))
				variance += d * d
			}
		}
		r += variance
		if got := out.noise(k); math.Abs(got*got-variance) > 1e-9*variance {
			t.Errorf("cells %d to %d: noise %v, want %v", lo, hi, got, math.Sqrt(variance))
		}
		if m := truth.Nodes[k].Mass; exact && (m < least-1e-6 || m > most+1e-6) {
			t.Errorf("cells %d to %d: mass %v, want one in [%v, %v]", lo, hi, m, least, most)
		}
	}
	if got := out.noise(0); math.Abs(got*got-r) > 1e-9*r {
		t.Errorf("noise of all %v, want %v", got, math.Sqrt(r))
	}
}

// failing is a store that fails before or after it has swapped, says that it has not, and cannot
// always be read.
type failing struct {
	mu     sync.Mutex
	values map[string][]byte
	rng    *rand.Rand // nil: nothing fails
	first  func()     // called once, before a Swap
	denied error      // of the next Swap, which is done
	then   func()     // called once, after it
}

var errDisk = errors.New("the disk is full")

func (f *failing) chance() int {
	if f.rng == nil {
		return 9
	}
	return f.rng.IntN(10)
}

func (f *failing) Load(key string) ([]byte, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.chance() == 0 {
		return nil, false, errDisk
	}
	v, ok := f.values[key]
	return v, ok, nil
}

func (f *failing) Swap(key string, old, new []byte) (bool, error) {
	if first := f.first; first != nil {
		f.first = nil
		first()
	}
	then := f.then
	if f.then = nil; then != nil {
		defer then()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	how := f.chance()
	if then != nil {
		how = 2
		if f.denied != nil {
			how = 1
		}
	}
	if v, ok := f.values[key]; how == 0 {
		return false, errDisk
	} else if ok != (old != nil) || !bytes.Equal(v, old) {
		return false, nil
	}
	f.values[key] = new
	switch how {
	case 1:
		return false, errDisk
	case 2:
		return false, nil // as a database that tried twice
	}
	return true, nil
}

// With any failures of the store, ends of the process and other processes on the same stream, a
// record is counted once, and a part is drawn once: whoever releases it, when, it is the same.
func TestStream_DrawsOnceAndLosesNothing(t *testing.T) {
	d := samples.Tiny()["binary"]
	for seed := range testkit.Sweep(12, 60) {
		r := random.Seeded(uint64(seed))
		eps := []float64{1, 1e6}[seed/3%2] // draws differ, or are the records
		store := &failing{values: map[string][]byte{}, rng: r}
		o := StreamOptions{Growth: 1.5, Least: 5, Halves: float64(seed%2) / 2, Store: store, Name: "visits"}
		if seed%3 == 2 {
			o.Blocks = &SynthesizerOptions{Relation: AddRemoveOne}
		}
		var of [2]*Stream[int] // processes
		seen := map[part]string{}
		const n = 200
		x := make([]int, n)
		for i := range x {
			x[i] = r.IntN(d.Len())
		}
		for done, ticks := int64(0), int64(0); done < n; {
			k := r.IntN(2)
			if of[k] == nil || r.IntN(10) == 0 { // or the process ends
				s, err := NewStream(d, eps, &o)
				if err != nil && !errors.Is(err, errDisk) {
					t.Fatal(err)
				}
				of[k] = s
				if err != nil {
					of[k] = nil
					continue
				}
			}
			s := of[k]
			var err error
			if done, ticks, err = s.Len(); err != nil {
				continue
			}
			if s.clocked && ticks < done {
				err = s.Tick(nil)
			} else if done < n {
				err = s.Add(nil, x[done:min(n, done+1+r.Int64N(9))])
			}
			if err != nil && !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			if _, err := s.Release(); err != nil {
				if !errors.Is(err, errDisk) && !errors.Is(err, metric.ErrEmpty) {
					t.Fatal(err)
				}
				continue
			}
			for i, p := range s.parts {
				tree := fmt.Sprint(s.shown[i].tree.Nodes)
				if old, ok := seen[p]; ok && old != tree || s.seeds[i] != nil {
					t.Fatalf("seed %d: %v was drawn twice, or its seed %x is kept", seed, p, s.seeds[i])
				}
				seen[p] = tree
			}
		}
		store.rng = nil
		s := testkit.Must(NewStream(d, eps, &o))
		for i, p := range s.parts {
			if (s.private[i] == nil) != (p.halved == 0) {
				t.Errorf("seed %d: %v, with counts: %v", seed, p, s.private[i])
			}
			if s.clocked || eps == 1 {
				continue
			}
			c := testkit.Must(CountAll(t.Context(), d, x[p.from:p.to], nil))
			leaves := NewCounts(d)
			for _, j := range leavesOf(s.shown[i].tree) {
				at := s.shown[i].tree.Nodes[j]
				lo, _ := s.space.Regions.Cells(at.At)
				testkit.Check(t, leaves.add(lo, at.Count))
			}
			if at := fmt.Sprint(c.snapshot().run); at != fmt.Sprint(leaves.snapshot().run) {
				t.Errorf("seed %d: %v has %v, want %v", seed, p, leaves.snapshot(), at)
			}
		}
		if out := testkit.Must(s.Release()); s.records != n || !s.clocked && out.Total != n {
			t.Errorf("seed %d: %d records, total %v", seed, s.records, out.Total)
		}
	}
}

// stepping is the store of a process that waits before every step, and says whether it changes
// something; it dies where yield is false.
type stepping struct {
	*failing
	yield func(changes bool) bool
	dead  bool
	tried [][]byte // to be stored
}

func (p *stepping) step(changes bool) error {
	if p.dead = p.dead || p.yield != nil && !p.yield(changes); p.dead {
		return errDisk
	}
	return nil
}

func (p *stepping) Load(key string) ([]byte, bool, error) {
	if err := p.step(false); err != nil {
		return nil, false, err
	}
	return p.failing.Load(key)
}

func (p *stepping) Swap(key string, old, new []byte) (bool, error) {
	if p.tried = append(p.tried, new); p.step(true) != nil {
		return false, errDisk
	}
	return p.failing.Swap(key, old, new)
}

// Two processes add a record or a tick each, of which the first makes a block whole, and release, in
// every order of their steps, and the first may die before any that changes the store. All that is
// ever drawn for the block is the same, and where nobody dies both are counted.
func TestStream_EveryOrderOfTwoProcesses(t *testing.T) {
	d := samples.Tiny()["pair"]
	for relation := range Relation(testkit.Sweep(1, 2)) {
		o := StreamOptions{Growth: 2, Least: 2, Blocks: &SynthesizerOptions{Relation: relation}}
		runs := testkit.Orders(func(choose func(n int) int) {
			records := &failing{values: map[string][]byte{}}
			o := o
			o.Store, o.Name = records, "visits"
			s := testkit.Must(NewStream(d, 1, &o))
			add := func(s *Stream[int], x int) error {
				if s.clocked {
					return s.Tick(nil)
				}
				return s.Add(nil, []int{x})
			}
			if s.clocked {
				testkit.Check(t, s.Add(nil, []int{0, 1}))
			}
			testkit.Check(t, add(s, 0))
			var ps [2]*stepping
			var next [2]func() (bool, bool)
			var changes [2]bool // in the next step
			var stop [2]func()
			published := map[string]bool{}
			for i := range ps {
				p := &stepping{failing: records}
				ps[i], o.Store = p, p
				s := testkit.Must(NewStream(d, 1, &o))
				next[i], stop[i] = iter.Pull(func(yield func(bool) bool) {
					p.yield = yield
					err := add(s, i)
					if _, bad := s.Release(); bad == nil {
						published[fmt.Sprint(s.shown[0].tree.Nodes)] = true
					} else if err == nil {
						err = bad
					}
					if err != nil && !p.dead {
						t.Error(err)
					}
				})
				changes[i], _ = next[i]()
			}
			running, mortal := []int{0, 1}, true
			step := func(i int) (ok bool) {
				changes[i], ok = next[i]()
				return ok
			}
			for len(running) > 0 {
				choices := len(running)
				if mortal && changes[0] {
					choices++
				}
				if k := choose(choices); k == len(running) { // the first dies
					stop[0]()
					running, mortal = slices.DeleteFunc(running, func(i int) bool { return i == 0 }), false
				} else if i := running[k]; !step(i) {
					mortal = mortal && i != 0
					running = slices.Delete(running, k, k+1)
				}
			}
			for _, p := range ps {
				for _, value := range p.tried {
					a, _, err := s.decode("", value)
					testkit.Check(t, err)
					for _, r := range a.shown {
						if r != nil {
							published[fmt.Sprint(r.tree.Nodes)] = true
						}
					}
				}
			}
			out := testkit.Must(s.Release())
			published[fmt.Sprint(s.shown[0].tree.Nodes)] = true
			if len(published) != 1 || s.now < 2 || s.now > 3 || !ps[0].dead && s.now != 3 || !s.clocked && out.Total != float64(s.now) {
				t.Fatalf("relation %v: %d counted, total %v, drawn %v", relation, s.now, out.Total, published)
			}
		})
		t.Logf("%d orders", runs)
	}
}

// Where two processes add the same at the same time, what the other one has stored is not taken for
// one's own.
func TestStream_CountsEqualAddsTwice(t *testing.T) {
	store := &failing{values: map[string][]byte{}}
	var of [2]*Stream[int]
	for i := range of {
		of[i] = testkit.Must(NewStream(samples.Tiny()["pair"], 1, &StreamOptions{Store: store, Name: "visits"}))
	}
	store.first = func() { testkit.Check(t, of[1].Add(nil, []int{1})) }
	testkit.Check(t, of[0].Add(nil, []int{1}))
	if n, ticks, err := of[1].Len(); n != 2 || ticks != 0 || err != nil {
		t.Error(n, ticks, err)
	}
}

// A change that a store has made and denies is not made again, where another process has gone on
// from it too: a record would be in two places. After so many changes that nobody knows it is an
// error.
func TestStream_CountsDeniedChangeOnce(t *testing.T) {
	for _, denied := range []error{nil, errDisk} {
		for _, others := range []int{1, 3, remembered - 1, remembered, 2 * remembered} {
			for before := range 2 {
				store := &failing{values: map[string][]byte{}, denied: denied}
				o := &StreamOptions{Store: store, Name: "visits"}
				a, b := testkit.Must(NewStream(samples.Tiny()["pair"], 1, o)), testkit.Must(NewStream(samples.Tiny()["pair"], 1, o))
				for range before {
					testkit.Check(t, a.Add(nil, []int{0}))
				}
				store.then = func() {
					for range others {
						testkit.Check(t, b.Add(nil, []int{1}))
					}
				}
				err := a.Add(nil, []int{1})
				n, _, bad := b.Len()
				if (err == nil) != (others < remembered) || n != int64(before+1+others) || bad != nil {
					t.Errorf("%d changes after one that was denied with %v: %d records, %v, %v", others, denied, n, err, bad)
				}
			}
		}
	}
}

// An open stream refuses a store that lost it, or has an earlier state or that of another name, or
// went on from one: blocks would be released again.
func TestStream_RefusesToGoBack(t *testing.T) {
	d, store := samples.Tiny()["pair"], &failing{values: map[string][]byte{}}
	open := func(name string) *Stream[int] {
		return testkit.Must(NewStream(d, 1, &StreamOptions{Least: 2, Store: store, Name: name}))
	}
	s, other := open("visits"), open("sales")
	testkit.Check(t, s.Add(nil, []int{0}))
	early := store.values[s.key]
	testkit.Check(t, s.Add(nil, []int{0, 1}))
	testkit.Check(t, other.Add(nil, []int{0, 1, 1, 1}))
	late := store.values[s.key]
	refused := func(what string) {
		t.Helper()
		for _, err := range []error{s.Add(nil, []int{1}), testkit.Err(s.Release())} {
			if !errors.Is(err, mechanism.ErrRecord) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	delete(store.values, s.key)
	refused("lost")
	store.values[s.key] = early
	refused("an earlier state")
	store.values[s.key] = store.values[other.key]
	refused("another name")
	if err := testkit.Err(NewStream(d, 1, &StreamOptions{Least: 2, Store: store, Name: "visits"})); !errors.Is(err, mechanism.ErrRecord) {
		t.Errorf("a new stream, another name: %v", err)
	}
	store.values[s.key] = late
	testkit.Check(t, s.Add(nil, []int{1}))
	store.values[s.key] = early
	testkit.Check(t, open("visits").Add(nil, []int{0, 1, 1, 1, 1}))
	refused("gone on from an earlier state, to more records")
	store.values[s.key] = early
	again := open("visits")
	for range 2 * remembered {
		testkit.Check(t, again.Add(nil, nil))
	}
	refused("gone on for so many changes that none can tell, with fewer records")
}

// breaking is a source that ends with a panic, as one that reads a device may.
type breaking struct{ left int }

func (b *breaking) Uint64() uint64 {
	if b.left--; b.left < 0 {
		panic("no more random bits")
	}
	return uint64(b.left) * 0x9e3779b97f4a7c15
}

// After a panic of the rng, which some servers go on from, what memory has of a stream is refused: a
// part would count twice what it is made of. A stream in a store is as it was.
func TestStream_EndsWithPanic(t *testing.T) {
	for _, o := range []StreamOptions{{}, {Store: &failing{values: map[string][]byte{}}, Name: "visits"}} {
		o.Growth, o.Least, o.Halves = 2, 2, 0.5
		s := testkit.Must(NewStream(samples.Tiny()["pair"], 1e6, &o)) // no noise
		x := slices.Repeat([]int{1}, 30)
		testkit.Check(t, s.Add(nil, x))
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			testkit.Check(t, s.Add(rand.New(&breaking{}), x))
		}()
		err := s.Add(nil, x)
		if o.Store == nil {
			if _, bad := s.Release(); err == nil || bad == nil {
				t.Error("a stream goes on after a panic")
			}
			continue
		}
		testkit.Check(t, err)
		for i, p := range s.parts {
			if n := s.shown[i].tree.Nodes[0].Count; n != p.to-p.from {
				t.Errorf("%v has %d records", p, n)
			}
		}
	}
}

// What a store holds is refused where a byte is another, and where it is of another stream.
func TestStream_RefusesDamage(t *testing.T) {
	d, store := samples.Tiny()["pair"], &failing{values: map[string][]byte{}}
	o := StreamOptions{Least: 2, Store: store, Name: "visits"}
	s := testkit.Must(NewStream(d, 1, &o))
	testkit.Check(t, s.Add(nil, []int{0, 1, 1}))
	good := store.values[s.key]
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		store.values[s.key] = bad
		if _, err := NewStream(d, 1, &o); !errors.Is(err, mechanism.ErrRecord) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := s.Release(); !errors.Is(err, mechanism.ErrRecord) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	store.values[s.key] = good
	for i, other := range []StreamOptions{
		{}, {}, {Growth: 2, Least: 2}, {Least: 3}, {Halves: .5, Least: 2}, {Least: 2, Blocks: &SynthesizerOptions{Relation: AddRemoveOne}},
		{Least: 2, Blocks: &SynthesizerOptions{Levels: []int{}}},
	} {
		eps, d := 1., d
		switch i {
		case 0:
			eps, other.Least = 2, 2
		case 1:
			d, other.Least = samples.Tiny()["three"], 2
		}
		if other.Store, other.Name = store, "visits"; testkit.Err(NewStream(d, eps, &other)) == nil {
			t.Errorf("at level %v on a %v %+v is taken for the same stream", eps, d, other)
		}
	}
	if again := testkit.Must(NewStream(d, 1, &o)); !reflect.DeepEqual(again.shown[0].tree, s.shown[0].tree) || again.records != 3 {
		t.Errorf("%v, want %v", again.arrivals, s.arrivals)
	}
}

// What a caller writes into its options later is not read.
func TestStream_KeepsItsOptions(t *testing.T) {
	levels, shares := []int{4, 4}, []float64{1, 2}
	s := testkit.Must(NewStream(samples.Unit(1, domain.BoxOptions{Depth: 8}), 1, &StreamOptions{Least: 2, Halves: 0.5, Blocks: &SynthesizerOptions{Levels: levels, Shares: shares}}))
	levels[0], shares[0] = 100, -1
	testkit.Check(t, s.Add(nil, slices.Repeat([][]float64{{0.5}}, 100)))
}

// A record without a cell ends a stream under ReplaceOne, after restarts too, and what was released
// stays; under AddRemoveOne it is left out.
func TestStream_RefusesToSkip(t *testing.T) {
	d := samples.Tiny()["pair"]
	o := StreamOptions{Least: 2, Store: &failing{values: map[string][]byte{}}, Name: "visits"}
	s := testkit.Must(NewStream(d, 1, &o))
	testkit.Check(t, s.Add(nil, []int{0, 1, 1}))
	if err := s.Add(nil, []int{1, 2}); err == nil || errors.Is(err, ErrSkipped) {
		t.Error(err)
	}
	for range 2 {
		if err := s.Add(nil, []int{1}); !errors.Is(err, ErrSkipped) || s.records != 3 {
			t.Error(err, s.records)
		}
		testkit.Must(s.Release())
		s = testkit.Must(NewStream(d, 1, &o))
	}
	s = testkit.Must(NewStream(d, 1, &StreamOptions{Blocks: &SynthesizerOptions{Relation: AddRemoveOne}}))
	if err := s.Add(nil, []int{1, 2}); err == nil {
		t.Error("no error")
	}
	testkit.Check(t, s.Add(nil, []int{1}))
	testkit.Check(t, s.Tick(nil))
	testkit.Must(s.Release())
}

// UpperBound is the mean of those of the parts, and of the diameter for what rides.
func TestStream_UpperBoundIsTheMean(t *testing.T) {
	space := samples.Unit(1, domain.BoxOptions{Depth: 8})
	o := &StreamOptions{Halves: 0.5, Blocks: &SynthesizerOptions{Levels: []int{4, 4}}}
	for _, n := range []int{128, 1000, 5000} {
		s := testkit.Must(NewStream(space, 1, o))
		bound := testkit.Must(s.UpperBound(float64(n)))
		parts, _ := s.opt.plan(int64(n))
		want := float64(int64(n)-parts[len(parts)-1].to) / float64(n)
		for _, p := range parts {
			by := testkit.Must(NewSynthesizer(space, s.level(p), o.Blocks))
			want += float64(p.to-p.from) / float64(n) * testkit.Must(by.UpperBound(float64(p.to-p.from)))
		}
		if want = min(1, want); bound < want || bound > want*(1+1e-9) {
			t.Errorf("%d records: bound %v, want %v", n, bound, want)
		}
	}
}

// Goroutines may add, and read, at once.
func TestStream_Concurrent(t *testing.T) {
	s := testkit.Must(NewStream(samples.Tiny()["pair"], 1, &StreamOptions{Least: 1}))
	testkit.Check(t, parallel.Each(t.Context(), 400, 1, func(int) error {
		return errors.Join(s.Add(nil, []int{1}), testkit.Err(s.Release()))
	}))
	if out := testkit.Must(s.Release()); out.Total != 400 {
		t.Errorf("total %v", out.Total)
	}
}

// A folder keeps a stream: every fourth Add is of a new Stream.
func TestStream_GoesOnFromFolder(t *testing.T) {
	store, err := mechanism.OpenFileStore(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	testkit.Check(t, err)
	space := samples.Unit(1, domain.BoxOptions{})
	x := arriving(random.Seeded(1), 1, false, 5000)
	o := &StreamOptions{Halves: 0.25, Store: store, Name: "visits"}
	var s *Stream[[]float64]
	for i := 0; i < len(x); i += 250 {
		if i%1000 == 0 {
			s = testkit.Must(NewStream(space, 1, o))
		}
		testkit.Check(t, s.Add(nil, x[i:i+250]))
	}
	out := testkit.Must(testkit.Must(NewStream(space, 1, o)).Release())
	if w := distanceTo(t, x, out); out.Total != 5000 || w > 0.02 {
		t.Errorf("total %v, W1 %v", out.Total, w)
	}
}
