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
	if err != nil {
		log.Fatal(err)
	}
	s, err := measure.NewSynthesizer(d, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	counts, err := measure.CountAll(ctx, d, waits(), nil)
	if err != nil {
		log.Fatal(err)
	}
	rel, err := s.Release(seeded(), counts) // nil in production
	if err != nil {
		log.Fatal(err)
	}
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
	if err != nil {
		log.Fatal(err)
	}
	s, err := measure.NewSynthesizer(d, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Guarantee())
	records, err := s.Synthetic(context.Background(), seeded(), waits(), 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(records), "synthetic records")
	// Output:
	// 1-private per record replaced
	// 1000 synthetic records
}

func ExampleRelease_Error() {
	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	s, err := measure.NewSynthesizer(d, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	c, err := measure.CountAll(context.Background(), d, waits(), nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := s.Release(seeded(), c)
	if err != nil {
		log.Fatal(err)
	}
	w1, err := r.Error(context.Background(), seeded(), 0.95, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("every mean is within %.2f minutes, with probability 0.95\n", w1.Quantile)
	long := func(r *measure.Release[[]float64]) float64 {
		return r.Mean(func(x []float64) float64 {
			if x[0] > 10 {
				return 1
			}
			return 0
		})
	}
	share, err := r.ErrorOf(context.Background(), seeded(), long, 0.95, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("share of more than 10 minutes: %.3f, within %.3f\n", long(r), share.Quantile)
	// Output:
	// every mean is within 0.43 minutes, with probability 0.95
	// share of more than 10 minutes: 0.139, within 0.031
}

func ExampleCount() {
	d, err := domain.NewSphere(0, &domain.SphereOptions{Depth: 8})
	if err != nil {
		log.Fatal(err)
	}
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
	counts, err := measure.Count(context.Background(), d, places, nil)
	if err != nil {
		log.Fatal(err)
	}
	b, err := counts.MarshalBinary()
	fmt.Println(counts.Len(), "records in", d.Len(), "cells,", len(b) < 1e5, err)
	// Output:
	// 100000 records in 49152 cells, true <nil>
}

// Records in memory are counted on every core; two lists, read anywhere, make
// one data set.
func ExampleCountAll() {
	ages, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 100}}, &domain.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	c, err := measure.CountAll(context.Background(), ages, [][]float64{{31}, {34}, {67}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	more, err := measure.CountAll(context.Background(), ages, [][]float64{{5}, {102}}, nil) // 102 is clipped
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Merge(more); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Domain())
	fmt.Println(c.Len(), "records")
	// Output:
	// box of 1 column: 16 cells, 4 levels of arity 2
	// 5 records
}

// A release that protects persons, with all their records, needs counts of a few
// records each: the first two here. Each of these has half of the level.
func ExampleCountPersons() {
	hours, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 24}}, &domain.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	type visit = measure.Row[string, []float64]
	visits := []visit{{"Ann", []float64{8}}, {"Bob", []float64{9}}, {"Ann", []float64{12}}, {"Ann", []float64{13}}, {"Ann", []float64{17}}}
	c, err := measure.CountPersons(context.Background(), hours, func(yield func(visit, error) bool) {
		for _, v := range visits {
			if !yield(v, nil) {
				return
			}
		}
	}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Len(), "of", len(visits), "records")
	s, err := measure.NewSynthesizer(hours, 1, &measure.SynthesizerOptions{Relation: measure.AddRemoveOne, PerPerson: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Guarantee())
	if _, err := s.Release(nil, c); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 of 5 records
	// 1-private per person added or removed
}

// Counts of every day: there is a release on each, of all records until then, and a record costs eps
// once. The sizes of days are private. Each day is another process, which goes on where the last was.
func ExampleNewStream() {
	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 30}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "stream")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := mechanism.OpenFileStore(dir)
	if err != nil {
		log.Fatal(err)
	}
	rng := seeded() // nil in production
	all := waits()
	for range 10 {
		s, err := measure.NewStream(d, 1, &measure.StreamOptions{Store: store, Name: "waits",
			Blocks: &measure.SynthesizerOptions{Relation: measure.AddRemoveOne}})
		if err != nil {
			log.Fatal(err)
		}
		from, day, err := s.Len()
		if err != nil {
			log.Fatal(err)
		}
		if day == 0 {
			fmt.Println(s.Guarantee())
		}
		// A process that ended between Add and Tick left from > 100*day: nothing is added twice.
		if err := s.Add(rng, all[from:100*(day+1)]); err != nil {
			log.Fatal(err)
		}
		if err := s.Tick(rng); err != nil { // at midnight
			log.Fatal(err)
		}
		out, err := s.Release()
		if err != nil {
			log.Fatal(err)
		}
		if day%3 == 0 {
			fmt.Printf("day %d: about %.0f records, mean %.1f minutes\n", day, out.Total, out.Mean(func(x []float64) float64 { return x[0] }))
		}
	}
	// Output:
	// 1-private per record added or removed
	// day 0: about 97 records, mean 4.5 minutes
	// day 3: about 390 records, mean 4.9 minutes
	// day 6: about 702 records, mean 5.1 minutes
	// day 9: about 1010 records, mean 5.2 minutes
}

// Rows that come grouped by person need no memory of who was there.
func ExampleNewCounts() {
	hours, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 24}}, &domain.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	c := measure.NewCounts(hours)
	for _, visits := range [][][]float64{{{8}, {12}, {13}, {17}}, {{9}}} {
		if err := c.AddPerson(visits, 2); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(c.Len(), "records")
	// Output: 3 records
}

// How far off can synthetic data be at most, and what can no mechanism avoid? Known before
// anything is spent, for any data.
func ExampleSynthesizer_UpperBound() {
	plane, err := domain.NewBox([]domain.Column{{Hi: 1}, {Hi: 1}}, &domain.BoxOptions{P: math.Inf(1)})
	if err != nil {
		log.Fatal(err)
	}
	// Each division is of two levels, into 4 x 4 parts. The error of a budget is about the
	// number of nodes times their side: 4 times more, one division deeper.
	o := &measure.SynthesizerOptions{Levels: []int{2, 2, 2}, Shares: []float64{1, 2, 4}}
	s, err := measure.NewSynthesizer(plane, 1, o)
	if err != nil {
		log.Fatal(err)
	}
	most, err := s.UpperBound(1e5)
	if err != nil {
		log.Fatal(err)
	}
	least, err := families.PrivateCubeBound(2, 1e5, 1)
	fmt.Printf("between %.5f and %.5f of the side, %v\n", least, most, err)
	// Output:
	// between 0.00073 and 0.01542 of the side, <nil>
}
