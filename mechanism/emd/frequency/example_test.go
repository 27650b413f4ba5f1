package frequency_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/metric"
)

// A thousand users hold 20 purchases each, of six articles in two
// departments. That a quarter of a user's purchases were of other articles of
// the same department is to be hidden. Each user randomizes its own, a shuffler
// mixes them, and everybody may learn how the purchases of all are distributed.
func Example() {
	ctx := context.Background()
	articles, err := metric.NewClustered(2, 3, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	shop := emd.Model{Trust: emd.Shuffled, Users: 1000, Items: 20, Diameter: 1}

	hidden := []emd.Move{{Distance: 0.2, Fraction: 0.25, Eps: 0.1}}
	alpha, err := emd.ChooseAlpha(hidden)
	if err != nil {
		log.Fatal(err)
	}
	budget, err := frequency.ItemWiseBudget(ctx, shop, emd.Promise{Alpha: alpha, Delta: 1e-9}, nil)
	if err != nil {
		log.Fatal(err)
	}
	randomizer, err := frequency.NewGKRR(articles, budget.Value)
	if err != nil {
		log.Fatal(err)
	}
	f, err := frequency.NewClustered(ctx, randomizer, shop, &frequency.Options{Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	promises, err := f.Guarantee().Protects(hidden)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("alpha = %.0f allows %.2f an item by the %v\n", alpha, budget.Value, budget.Theorem)
	fmt.Println(promises[0])

	users := func(yield func([]int) bool) {
		for u := 0; u < 1000 && yield([]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3, 3, 5, 5, u % 6}); u++ {
		}
	}
	counts, err := f.Release(rand.New(rand.NewPCG(1, 2)), users) // nil for private data
	if err != nil {
		log.Fatal(err)
	}
	estimate, err := f.Estimate(counts)
	if err != nil {
		log.Fatal(err)
	}
	p, _, err := f.Distribution(ctx, estimate)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", p)
	// Output:
	// alpha = 2 allows 1.35 an item by the joint bound
	// moving a quarter of a user's items by 0.2 on average makes no result more than 1.071 times as likely, up to a probability of 1e-09
	// [0.393 0.212 0.020 0.239 0.013 0.123]
}
