package measure_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// A thousand waiting times become a private measure, which answers every question about averages, and
// of which synthetic times are made.
func Example() {
	ctx := context.Background()
	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, &domain.BoxOptions{Splits: [][]int{{8}, {8}}})
	check(err)
	s, err := measure.NewSynthesizer(d, 1, nil)
	check(err)
	fmt.Println(s)
	counts, err := measure.CountAll(ctx, d, waits(), nil)
	check(err)
	rel, err := s.Release(seeded(), counts) // nil in production
	check(err)
	short := rel.Mean(func(x []float64) float64 { return max(0, 1-x[0]/10) })
	fmt.Printf("%.3f\n", short)
	records, err := rel.Records(seeded(), 4, nil)
	fmt.Printf("four synthetic times: %.1f %v\n", records, err)
	// Output:
	// 1-private per record replaced, on a box of 1 column: 64 cells, 2 levels of arity 8
	// 0.561
	// four synthetic times: [[0.8] [2.6] [4.9] [11.0]] <nil>
}

// seeded makes examples repeatable. Releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// waits are 1,000 waiting times in minutes, between 0 and 30.
func waits() [][]float64 {
	r := seeded()
	x := make([][]float64, 1000)
	for i := range x {
		x[i] = []float64{min(30, 5*r.ExpFloat64())}
	}
	return x
}

func ExampleNewSynthesizer() {
	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil)
	check(err)
	s, err := measure.NewSynthesizer(d, 1, nil)
	check(err)
	records, err := s.Synthetic(context.Background(), seeded(), waits(), 0)
	fmt.Println(len(records), "synthetic records,", s.Guarantee(), err)
	// Output:
	// 1000 synthetic records, 1-private per record replaced <nil>
}

func ExampleRelease_Error() {
	d := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil))
	s := must(measure.NewSynthesizer(d, 1, nil))
	c := must(measure.CountAll(context.Background(), d, waits(), nil))
	r := must(s.Release(seeded(), c))
	w1 := must(r.Error(context.Background(), seeded(), 0.95, nil))
	fmt.Printf("every mean is within %.2f minutes, with probability 0.95\n", w1.Quantile)
	mean := func(r *measure.Release[[]float64]) float64 { return r.Mean(func(x []float64) float64 { return x[0] }) }
	bar := must(r.ErrorOf(context.Background(), seeded(), mean, 0.95, nil))
	fmt.Printf("the mean is %.1f, within %.2f\n", mean(r), bar.Quantile)
	// Output:
	// every mean is within 0.43 minutes, with probability 0.95
	// the mean is 4.9, within 0.33
}

func ExampleCount() {
	d := must(domain.NewSphere(0, &domain.SphereOptions{Depth: 8}))
	// Records from a file or a network, one after the other; here along a
	// spiral.
	places := func(yield func(metric.LatLon, error) bool) {
		for i := range 100_000 {
			z := 1 - (2*float64(i)+1)/100_000
			if !yield(metric.LatLon{Lat: math.Asin(z) * 180 / math.Pi, Lon: 137.5 * float64(i)}, nil) {
				return
			}
		}
	}
	counts := must(measure.Count(context.Background(), d, places, nil))
	b, err := counts.MarshalBinary()
	fmt.Println(counts.Len(), "records in", d.Len(), "cells,", len(b) < 1e5, err)
	// Output:
	// 100000 records in 49152 cells, true <nil>
}

// Records in memory are counted on every core; two lists, read anywhere, make
// one data set.
func ExampleCountAll() {
	ages := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 100}}, &domain.BoxOptions{Depth: 4}))
	c := must(measure.CountAll(context.Background(), ages, [][]float64{{31}, {34}, {67}}, nil))
	more := must(measure.CountAll(context.Background(), ages, [][]float64{{5}, {102}}, nil)) // 102 is clipped
	check(c.Merge(more))
	fmt.Println(c.Domain())
	fmt.Println(c.Len(), "records")
	// Output:
	// box of 1 column: 16 cells, 4 levels of arity 2
	// 5 records
}

// A release that protects persons, with all their records, needs counts of a few
// records each: the first two here. Each of these has half of the level.
func ExampleCountPersons() {
	hours := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 24}}, &domain.BoxOptions{Depth: 4}))
	type visit = measure.Row[string, []float64]
	visits := []visit{{"Ann", []float64{8}}, {"Bob", []float64{9}}, {"Ann", []float64{12}}, {"Ann", []float64{13}}, {"Ann", []float64{17}}}
	c := must(measure.CountPersons(context.Background(), hours, func(yield func(visit, error) bool) {
		for _, v := range visits {
			if !yield(v, nil) {
				return
			}
		}
	}, 2, nil))
	fmt.Println(c.Len(), "of", len(visits), "records")
	s := must(measure.NewSynthesizer(hours, 1, &measure.SynthesizerOptions{Relation: measure.AddRemoveOne, PerPerson: 2}))
	fmt.Println(s.Guarantee())
	must(s.Release(nil, c))
	// Output:
	// 3 of 5 records
	// 1-private per person added or removed
}

// Each day another process goes on where the last one was: there is a release of all records until
// then, and a record costs eps once. The sizes of days are private.
func ExampleNewStream() {
	d := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil))
	dir := must(os.MkdirTemp("", "stream"))
	defer os.RemoveAll(dir)
	store := must(mechanism.OpenFileStore(dir))
	rng := seeded() // nil in production
	for range 10 {
		s := must(measure.NewStream(d, 1, &measure.StreamOptions{Store: store, Name: "waits",
			Blocks: &measure.SynthesizerOptions{Relation: measure.AddRemoveOne}}))
		from, day, err := s.Len()
		check(err)
		// A process that ended between Add and Tick left from > 100*day: nothing is added twice.
		check(s.Add(rng, waits()[from:100*(day+1)]))
		check(s.Tick(rng)) // at midnight
		if out := must(s.Release()); day%3 == 0 {
			fmt.Printf("day %d: about %.0f records, mean %.1f minutes\n", day, out.Total, out.Mean(func(x []float64) float64 { return x[0] }))
		}
	}
	// Output:
	// day 0: about 97 records, mean 4.5 minutes
	// day 3: about 390 records, mean 4.9 minutes
	// day 6: about 702 records, mean 5.1 minutes
	// day 9: about 1010 records, mean 5.2 minutes
}

// Rows that come grouped by person need no memory of who was there.
func ExampleNewCounts() {
	hours := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 24}}, &domain.BoxOptions{Depth: 4}))
	c := measure.NewCounts(hours)
	for _, visits := range [][][]float64{{{8}, {12}, {13}, {17}}, {{9}}} {
		check(c.AddPerson(visits, 2))
	}
	fmt.Println(c.Len(), "records")
	// Output: 3 records
}

// How far off can synthetic data be at most, and what can no mechanism avoid? Known before
// anything is spent, for any data.
func ExampleSynthesizer_UpperBound() {
	plane := must(domain.NewBox([]domain.Column{{Hi: 1}, {Hi: 1}}, &domain.BoxOptions{P: math.Inf(1)}))
	// Each division is of two levels, into 4 x 4 parts. The error of a budget is about the
	// number of nodes times their side: 4 times more, one division deeper.
	o := &measure.SynthesizerOptions{Levels: []int{2, 2, 2}, Shares: []float64{1, 2, 4}}
	s := must(measure.NewSynthesizer(plane, 1, o))
	most := must(s.UpperBound(1e5))
	least, err := families.PrivateCubeBound(2, 1e5, 1)
	fmt.Printf("between %.5f and %.5f of the side, %v\n", least, most, err)
	// Output:
	// between 0.00073 and 0.01542 of the side, <nil>
}

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
