package walk_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/walk"
)

// Accidents in six months, two quarters of three, released at level 1 if one of
// them may have been in another month.
func Example() {
	months := []int64{30, 12, 5, 8, 20, 25}
	t, err := walk.Levels(2, 3)
	if err != nil {
		log.Fatal(err)
	}
	scales, err := t.EqualScales(walk.ReplaceOne)
	if err != nil {
		log.Fatal(err)
	}
	w, err := walk.New(t, walk.DiscreteLaplace, scales)
	if err != nil {
		log.Fatal(err)
	}
	counts := make([]int64, t.Nodes())
	if err := t.CountsInt(counts, months); err != nil {
		log.Fatal(err)
	}
	if err := w.AddCounts(rand.New(rand.NewPCG(1, 2)), counts); err != nil { // nil in production
		log.Fatal(err)
	}
	fmt.Println("released:", counts)
	noisy := make([]float64, len(counts))
	for v, c := range counts {
		noisy[v] = float64(c)
	}
	if err := t.Center(noisy); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("consistent: %.4g\n", noisy)
	rms, err := w.RMS(nil)
	fmt.Printf("error of partial sums %.1f %v\n", rms, err)
	// Output:
	// released: [100 46 65 33 18 2 0 20 23]
	// consistent: [100 40.5 59.5 28.83 13.83 -2.167 5.5 25.5 28.5]
	// error of partial sums 4.4 <nil>
}
