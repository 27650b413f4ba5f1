package exponential_test

import (
	"context"
	"fmt"

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
	tree := must(metric.TreeFromPaths(paths))
	cost := must(metric.NewPoints(paths, metric.CommonPrefix[string]{}))
	b := must(metric.NewBimetric(tree.PathMetric(), cost))

	m := must(exponential.Relaxed(context.Background(), b, 1, &exponential.RelaxedOptions{Options: exponential.Options{Unit: "step"}, Accuracy: true}))
	fmt.Printf("clusters within %v: %d outputs\n", m.Separation, m.Outputs())
	fmt.Printf("worst loss %.3f, proved below %.3f\n", worst(&m.Mechanism, cost), m.Bound)
	std := must(exponential.Standard(context.Background(), b.Privacy, 1, nil))
	fmt.Printf("standard mechanism: %.3f\n", worst(std, cost))
	// Output:
	// clusters within 0.125: 8 outputs
	// worst loss 0.215, proved below 3.221
	// standard mechanism: 0.237
}
