package exponential_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Animals are private by how many steps of a taxonomy they are apart; an answer
// from the wrong branch costs more the higher the branch.
func ExampleRelaxed() {
	var paths [][]string
	for _, order := range []string{"carnivore", "rodent", "ungulate", "primate"} {
		for _, family := range []string{"a", "b"} {
			for _, species := range []string{"1", "2", "3", "4", "5"} {
				paths = append(paths, []string{"mammal", order, family, species})
			}
		}
	}
	tree, err := metric.TreeFromPaths(paths)
	if err != nil {
		log.Fatal(err)
	}
	cost, err := metric.NewPoints(paths, metric.CommonPrefix[string]{})
	if err != nil {
		log.Fatal(err)
	}
	b, err := metric.NewBimetric(tree.PathMetric(), cost)
	if err != nil {
		log.Fatal(err)
	}

	m, err := exponential.Relaxed(context.Background(), b, 1, &exponential.RelaxedOptions{Accuracy: true, Unit: "step"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("clusters within %v: %d outputs\n", m.Separation, m.Outputs())
	fmt.Printf("worst loss %.3f, proved below %.3f\n", worst(&m.Mechanism, cost), m.Bound)
	std, err := exponential.Standard(context.Background(), b.Privacy, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("standard mechanism: %.3f\n", worst(std, cost))
	// Output:
	// clusters within 0.125: 8 outputs
	// worst loss 0.215, proved below 3.221
	// standard mechanism: 0.237
}
