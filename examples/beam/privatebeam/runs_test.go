package privatebeam

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
)

// watched is the item of the user whom an observer of two runs wants to know of; Prism
// runs pipelines in the process of the test.
var watched int

func watchedFn(b block, emit func(User)) {
	for u := b.From; u < b.To; u++ {
		x := u % 9
		if u == 0 {
			x = watched
		}
		emit(User{ID: name(u), Items: []int{x}})
	}
}

var keptReduced []string

func keepReducedFn(_ []byte, in func(*User) bool) {
	keptReduced = nil
	for u := (User{}); in(&u); u = (User{}) {
		keptReduced = append(keptReduced, fmt.Sprint(u))
	}
	slices.Sort(keptReduced)
}

func init() {
	register.Function2x0(watchedFn)
	register.Function2x0(keepReducedFn)
	register.Iter1[User]()
}

func watchedUsers(s beam.Scope) beam.PCollection {
	return beam.ParDo(s, watchedFn, beam.CreateList(s, []block{{0, 500}, {500, 1000}}))
}

// A pipeline that is built once and run twice makes two releases that share no noise. Of
// ItemWise the second run is on another item of one user: were the noise of the others the
// same, the sums would differ by that user's outputs alone, in two places at most, and tell
// them. They share none: each of nine differences has a deviation above 10, and all are
// within that with a probability below 1e-9, as are two independent outputs of the other
// transforms equal.
func TestTransforms_TwoRunsOfAPipelineShareNoNoise(t *testing.T) {
	w := testkit.Must(line{9, emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}}.itemWise())
	key := NewKey()
	records := func(o SyntheticOptions) *SyntheticOptions {
		o.Key, o.Records = key, 100
		return &o
	}
	for name, c := range map[string]struct {
		keep  any
		build func(beam.Scope) (beam.PCollection, error)
		out   func() string
	}{
		"Reduce": {keepReducedFn, func(s beam.Scope) (beam.PCollection, error) {
			return Reduce(s, 64, beam.ParDo(s, &groupFn{}, beam.GroupByKey(s, userSource(s, 100))), &Options{Key: key})
		}, func() string { return strings.Join(keptReduced, " ") }},
		"SyntheticData": {keepFn, func(s beam.Scope) (beam.PCollection, error) {
			return SyntheticData(s, unit, 1, source(s, 1000), records(SyntheticOptions{}))
		}, func() string { return fmt.Sprint(sorted(kept.records)) }},
		"SyntheticPersons": {keepFn, func(s beam.Scope) (beam.PCollection, error) {
			return SyntheticPersons(s, unit, 1, owned(s, 1000), records(*perPerson(SyntheticOptions{})))
		}, func() string { return fmt.Sprint(sorted(kept.records)) }},
		"ItemWise": {keepSumsFn, func(s beam.Scope) (beam.PCollection, error) {
			return ItemWise(s, w, watchedUsers(s), &Options{Key: key})
		}, nil},
	} {
		p, s := beam.NewPipelineWithRoot()
		out := testkit.Must(c.build(s))
		keep(s, c.keep, out)
		var runs []string
		var sums []Multiset
		for _, watched = range []int{0, 8} {
			testkit.Check(t, ptest.Run(p))
			if c.out != nil {
				runs = append(runs, c.out())
				continue
			}
			sums = append(sums, keptUsers.sums...)
		}
		if c.out != nil {
			if runs[0] == runs[1] || len(runs[0]) < 100 {
				t.Errorf("%s: two runs, one output: %.100s", name, runs[0])
			}
			continue
		}
		apart := int64(0)
		for y, n := range sums[0].Counts {
			apart += max(n-sums[1].Counts[y], sums[1].Counts[y]-n)
		}
		if apart <= 2 {
			t.Errorf("%s: the sums differ by the outputs of one user: %v, %v", name, sums[0].Counts, sums[1].Counts)
		}
	}
}

// What a run draws for a transform is kept by a Reshuffle before anything is drawn with
// it, or a retry would draw it anew and be another release.
func TestNonce_IsKeptBeforeItIsRead(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	w := testkit.Must(line{9, emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}}.itemWise())
	users := watchedUsers(s)
	_, err1 := Reduce(s, 1, users, nil)
	_, err2 := ItemWise(s, w, users, nil)
	_, err3 := SyntheticData(s, unit, 1, source(s, 10), nil)
	_, err4 := SyntheticPersons(s, unit, 1, owned(s, 10), perPerson(SyntheticOptions{}))
	edges, _, err5 := p.Build()
	for _, err := range []error{err1, err2, err3, err4, err5} {
		testkit.Check(t, err)
	}
	drawn := map[int]bool{}
	for _, e := range edges {
		if e.DoFn != nil && e.DoFn.Recv != nil {
			if _, ok := e.DoFn.Recv.(*nonceFn); ok {
				drawn[e.Output[0].To.ID()] = true
			}
		}
	}
	if len(drawn) != 4 {
		t.Errorf("%d nonces for four transforms", len(drawn))
	}
	for _, e := range edges {
		for _, in := range e.Input {
			if drawn[in.From.ID()] && e.Op != graph.Reshuffle {
				t.Errorf("%v reads a nonce that is not kept", e)
			}
		}
	}
}
