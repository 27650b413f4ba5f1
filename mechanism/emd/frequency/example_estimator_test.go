package frequency_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// A thousand users with ten purchases each, of six articles in two departments.
// Each randomizes its own; the shop sees sums only.
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
	fmt.Println(f.Guarantee())

	users := func(yield func([]int) bool) {
		for range 1000 {
			if !yield([]int{0, 0, 0, 0, 1, 1, 1, 3, 3, 3}) {
				return
			}
		}
	}
	seeded := rand.New(rand.NewPCG(1, 2)) // nil outside of examples
	counts, err := f.Collect(context.Background(), seeded, users)
	if err != nil {
		log.Fatal(err)
	}
	e, err := f.Estimate(counts)
	if err != nil {
		log.Fatal(err)
	}
	p, _, err := f.Distribution(context.Background(), e)
	if err != nil {
		log.Fatal(err)
	}
	for x := range p {
		fmt.Printf("%d: %6.3f +- %.3f, %.3f\n", x, e.Mean[x], e.StdErr[x], p[x])
	}
	off, _ := wasserstein.Distance(context.Background(), articles, p, []float64{0.4, 0.3, 0, 0.3, 0, 0})
	fmt.Printf("off by %.3f, at most about %.3f in expectation\n", off, 2*f.ErrorBound(counts.Items))
	// Output:
	// 30-private per unit under d_EM (local, one user of 10 items, diameter 1)
	// 0:  0.426 +- 0.020, 0.426
	// 1:  0.250 +- 0.019, 0.250
	// 2:  0.021 +- 0.018, 0.021
	// 3:  0.300 +- 0.014, 0.300
	// 4:  0.002 +- 0.013, 0.002
	// 5:  0.002 +- 0.013, 0.002
	// off by 0.012, at most about 0.024 in expectation
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
	users := func(yield func([]int) bool) {
		for range 1000 {
			if !yield([]int{0, 0, 0, 0, 0, 1, 1, 2, 2, 2}) {
				return
			}
		}
	}
	seeded := rand.New(rand.NewPCG(1, 2)) // nil outside of examples
	r, err := f.Release(seeded, users)
	if err != nil {
		log.Fatal(err)
	}
	e, err := f.Estimate(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Guarantee())
	fmt.Printf("%.4f, off by %.4f at most in expectation\n", e.Mean, f.ErrorBound(e.Items))
	// Output:
	// (0.5, 0)-private between users up to d_EM 1 (central, 1000 users of 10 items, diameter 1)
	// [0.4981 0.1991 0.3127 0.0031], off by 0.0098 at most in expectation
}

// Any pure channel on any metric: here the exponential mechanism on a street of
// five houses. Counts of parts of the users are merged.
func ExampleNew() {
	street, err := metric.NewPoints([]float64{0, 0.25, 0.5, 0.75, 1}, metric.Func[float64](func(x, y float64) float64 { return max(x-y, y-x) }))
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

func ExampleNewHadamard() {
	h, err := frequency.NewHadamard(1000, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	y, err := h.Release(nil, 17)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Outputs(), y < h.Outputs())
	// Output:
	// 1024 true
}

// stars are ratings, one to five, a quarter apart.
type stars struct{}

func (stars) Len() int                  { return 5 }
func (stars) Distance(i, j int) float64 { return math.Abs(float64(i-j)) / 4 }

// A user shuffles its own items: the list tells how often each came out.
func ExampleNewItemWise() {
	ctx := context.Background()
	channel, err := exponential.Standard(ctx, stars{}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	release, err := frequency.NewItemWise(ctx, channel.Channel, emd.Model{Trust: emd.Local, Items: 8}, &frequency.ItemWiseOptions{Space: stars{}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(release.Guarantee())
	r := rand.New(rand.NewChaCha8([32]byte{1})) // nil for private data
	list, err := release.ReleaseShuffled(r, emd.One([]int{4, 4, 4, 4, 4, 3, 4, 4}))
	fmt.Println(list, err)
	// Output:
	// 11.8371-private per unit under d_EM (local, one user of 8 items, diameter 1)
	// [4 3 3 4 3 4 3 4] <nil>
}
