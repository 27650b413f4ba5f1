package emd_test

import (
	"fmt"

	"github.com/metricdp/metricdp/mechanism/emd"
)

// A hundred thousand users of ten items each send them through a channel of
// level 1 per kilometre; only the multiset of the outputs is published.
func ExampleShuffleLevel() {
	level, err := emd.ShuffleLevel(emd.Shuffle{
		Records:  1_000_000,
		Items:    10,
		Alpha0:   1, // per km
		Diameter: 5, // km
		Delta:    1e-9,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("alpha = %.4f per km by the %v, 10 without shuffling\n", level.Value, level.Bound)
	// Output:
	// alpha = 0.6257 per km by the joint bound, 10 without shuffling
}

// The example of IRC24: a hundred thousand users of a thousand items, alpha =
// 25. Shuffling by a trusted party allows a far weaker channel than each user alone.
func ExampleShuffleBudget() {
	s := emd.Shuffle{Items: 1000, Alpha: 25, Delta: 1e-12, Diameter: 1}
	for _, s.Records = range []int64{1000, 100_000_000} {
		alpha0, err := emd.ShuffleBudget(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("N = %d: alpha0 = %.4f\n", s.Records, alpha0.Value)
	}
	// Output:
	// N = 1000: alpha0 = 0.0807
	// N = 100000000: alpha0 = 4.2994
}

// At one user's level, the delta that is left.
func ExampleShuffleDelta() {
	delta, err := emd.ShuffleDelta(emd.Shuffle{Records: 1_000_000, Items: 100, Alpha0: 2, Alpha: 3, Diameter: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1e\n", delta.Value)
	// Output:
	// 3.0e-10
}

// One item that moves by a tenth of the diameter.
func ExampleItemDelta() {
	delta, err := emd.ItemDelta(emd.Shuffle{Records: 1000, Alpha0: 1, Diameter: 1}, emd.Change{Distance: 0.1, Eps: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2e\n", delta)
	// Output:
	// 5.50e-05
}

// A thousand answers about one user, (1, 1e-6)-private together.
func ExampleComposeBudget() {
	item, err := emd.ComposeBudget(emd.Composition{Count: 1000, Eps: 1, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.6f each, where sums allow 0.001\n", item)
	// Output:
	// 0.007495 each, where sums allow 0.001
}

func ExampleComposeLevel() {
	eps, err := emd.ComposeLevel(emd.Composition{Count: 1000, Item: 0.01, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", eps)
	// Output:
	// 1.3654
}

func ExampleComposeDelta() {
	delta, err := emd.ComposeDelta(emd.Composition{Count: 1000, Item: 0.01, Eps: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1e\n", delta)
	// Output:
	// 1.1e-04
}
