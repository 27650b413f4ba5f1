package accountant_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/metric"
)

// A hundred thousand users of ten places each send them to a shuffler. How
// strong may the randomizer of a single place be, what is the promise of the
// one that is chosen, and what does it leave to chance?
func Example() {
	ctx := context.Background()
	s := accountant.Shuffle{Records: 1_000_000, Items: 10, Diameter: 5} // km
	budget, err := s.Budget(ctx, accountant.Promise{Alpha: 0.5, Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the randomizer may have %.3f per km by the %v\n", budget.Value, budget.Theorem)
	s.Alpha0 = 0.8
	level, err := s.Level(ctx, 1e-9)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("with 0.8 it promises %.3f per km\n", level.Value)
	slack, err := s.Delta(ctx, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("0.5 per km holds up to a delta of %.1e\n", slack.Value)
	// Output:
	// the randomizer may have 0.938 per km by the joint bound
	// with 0.8 it promises 0.298 per km
	// 0.5 per km holds up to a delta of 2.2e-20
}

// Ten answers to choose from: what the shuffled answers of a thousand users promise
// each of them, from the probabilities of the answers, and how much less no proof can
// find.
func ExampleNewRandomizer() {
	ctx := context.Background()
	answers, err := metric.NewPoints([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, metric.Discrete[int]{})
	if err != nil {
		log.Fatal(err)
	}
	logs := make([]float64, 100)
	for x := range 10 {
		logs[11*x] = 2 // the true answer is e^2 times as likely as another
	}
	channel, err := mechanism.FromLogWeights(ctx, 10, 10, logs, nil)
	if err != nil {
		log.Fatal(err)
	}
	randomizer, err := accountant.NewRandomizer(ctx, channel, answers)
	if err != nil {
		log.Fatal(err)
	}
	s := accountant.Shuffle{Records: 1000, Items: 1, Randomizer: randomizer}
	i, err := s.LevelInterval(ctx, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f by the %v\n", i.Hi, i.Theorem)
	fmt.Println("within 1 % of the truth:", i.Hi < 1.01*i.Lo)
	// Output:
	// 0.273 by the privacy blanket
	// within 1 % of the truth: true
}

// A thousand answers about one user, (1, 1e-6)-private together.
func ExampleComposeBudget() {
	item, err := accountant.ComposeBudget(context.Background(), 1000, 1, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f each, where sums allow 0.001\n", item)
	// Output:
	// 0.007495 each, where sums allow 0.001
}
