package frequency_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Each user randomizes ten purchases of its own, of six articles in two departments.
func ExampleNewClustered() {
	articles, err := metric.NewClustered(2, 3, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	g, err := frequency.NewGKRR(articles, 3)
	if err != nil {
		log.Fatal(err)
	}
	f, err := frequency.NewClustered(context.Background(), g, emd.Model{Trust: emd.Local, Items: 10}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v\nd_EM %.3f in expectation, of a thousand users\n", f.Guarantee(), f.ErrorBound(10_000))
	// Output:
	// 30-private per unit under d_EM (local, one user of 10 items, diameter 1)
	// d_EM 0.012 in expectation, of a thousand users
}

// What ordinary user-level privacy costs a curator, to compare with.
func ExampleNewLaplaceBaseline() {
	articles, err := metric.NewClustered(2, 2, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	f, err := frequency.NewLaplaceBaseline(context.Background(), articles, emd.Model{Trust: emd.Central, Users: 1000, Items: 10}, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Guarantee())
	fmt.Printf("off by %.4f at most in expectation\n", f.ErrorBound(10_000))
	// Output:
	// (0.5, 0)-private between users up to d_EM 1 (central, 1000 users of 10 items, diameter 1)
	// off by 0.0098 at most in expectation
}

// Any pure channel on any metric: here the exponential mechanism on a street of
// five houses. Counts of parts of the users are merged.
func ExampleNew() {
	street, err := metric.NewPoints([]float64{0, 0.25, 0.5, 0.75, 1}, metric.Numbers[float64]{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := exponential.Standard(context.Background(), street, 8, nil)
	if err != nil {
		log.Fatal(err)
	}
	f, err := frequency.New(context.Background(), c.Channel, street, emd.Model{Trust: emd.Local, Items: 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	seeded := rand.New(rand.NewPCG(1, 2))
	var all emd.Report
	for range 5000 { // one release a user
		counts, err := f.Release(seeded, emd.One([]int{0, 0, 1, 4}))
		if err != nil {
			log.Fatal(err)
		}
		if err := all.Merge(counts); err != nil {
			log.Fatal(err)
		}
	}
	e, err := f.Estimate(&all)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("condition %.1f, %d users, %.2f\n", f.Condition(), e.Users, e.Mean)
	// Output:
	// condition 4.0, 5000 users, [0.50 0.26 0.00 -0.01 0.25]
}

// Hadamard response hides far and near changes of a user alike.
func ExampleNewHadamardBaseline() {
	space, err := metric.NewClustered(2, 2, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	model := emd.Model{Trust: emd.Central, Users: 2, Items: 3}
	h, err := frequency.NewHadamardBaseline(context.Background(), space, model, emd.DP{Eps: 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Guarantee())
	// Output:
	// (3, 0)-private between users up to d_EM 1 (central, 2 users of 3 items, diameter 1)
}

// The nearest distribution moves mass as little as it can: the 0.2 too much
// beside the hole fills it.
func ExampleProject() {
	space, err := metric.NewClustered(2, 2, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	p, dist, err := frequency.Project(context.Background(), space, []float64{0.7, -0.2, 0.3, 0.2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, moved %.2f\n", p, dist)
	// Output:
	// [0.50 0.00 0.30 0.20], moved 0.02
}

func ExampleNewGKRR() {
	c, err := metric.NewClustered(2, 3, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	if c, err = c.Scaled(10, "km"); err != nil {
		log.Fatal(err)
	}
	g, err := frequency.NewGKRR(c, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	y, err := g.Release(rand.New(rand.NewPCG(1, 2)), 4) // nil outside of examples
	fmt.Printf("%v: 4 as %d %v\n", g.Guarantee(), y, err)
	// Output:
	// 0.1-private per km: 4 as 0 <nil>
}

// A user shuffles its own ratings, one to five, a quarter apart, and says how often each came out.
func ExampleNewItemWise() {
	ctx := context.Background()
	stars, err := metric.NewPoints([]float64{0, 0.25, 0.5, 0.75, 1}, metric.Numbers[float64]{})
	if err != nil {
		log.Fatal(err)
	}
	channel, err := exponential.Standard(ctx, stars, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	release, err := frequency.NewItemWise(ctx, channel.Channel, emd.Model{Trust: emd.Local, Items: 8}, &frequency.ItemWiseOptions{Space: stars})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(release.Guarantee())
	r := rand.New(rand.NewChaCha8([32]byte{1})) // nil for private data
	counts, err := release.Release(r, emd.One([]int{4, 4, 4, 4, 4, 3, 4, 4}))
	fmt.Println(counts, err)
	// Output:
	// 11.8371-private per unit under d_EM (local, one user of 8 items, diameter 1)
	// [0 0 0 4 4] <nil>
}
