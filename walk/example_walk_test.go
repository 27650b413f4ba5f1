package walk_test

import (
	"fmt"
	"log"
	"math"

	"math/rand/v2"

	"github.com/metricdp/metricdp/walk"
)

func ExampleSuperregular() {
	w, err := walk.Superregular(1 << 12)
	if err != nil {
		log.Fatal(err)
	}
	loss, _ := w.Tree().Loss(walk.AddRemoveOne, w.Scales()) // per unit of l1
	rms, _ := w.RMS(nil)
	fmt.Printf("regular: %v\n", loss)
	fmt.Printf("its partial sums: %.1f\n", rms)
	fmt.Printf("those of independent Laplace noise: %.1f\n", math.Sqrt(2*(1<<12+1)/2.))

	z := make([]float64, 1<<12)
	if err := w.Increments(rand.New(rand.NewPCG(1, 2)), z); err != nil { // nil in production
		log.Fatal(err)
	}
	for k := 1; k < len(z); k++ { // the walk
		z[k] += z[k-1]
	}
	// Output:
	// regular: 1
	// its partial sums: 21.7
	// those of independent Laplace noise: 64.0
}

// Four ways to make noise for a thousand points, compared without a draw.
func ExampleNew() {
	for _, c := range []struct {
		arities []int
		dist    walk.Distribution
	}{
		{[]int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, walk.KNorm},
		{[]int{32, 32}, walk.DiscreteLaplace},
		{[]int{32, 32}, walk.KNorm},
		{[]int{10, 10, 10}, walk.KNorm},
	} {
		t, err := walk.Levels(c.arities...)
		if err != nil {
			log.Fatal(err)
		}
		scales, err := t.EqualScales(walk.ReplaceOne)
		if err != nil {
			log.Fatal(err)
		}
		w, err := walk.New(t, c.dist, scales)
		if err != nil {
			log.Fatal(err)
		}
		rms, err := w.RMS(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%4d leaves, height %2d, scale %2v, %v: RMS %.2f\n", t.Len(), t.Height(), scales.Level[0], c.dist, rms)
	}
	// Output:
	// 1024 leaves, height 10, scale 20, KNorm: RMS 26.67
	// 1024 leaves, height  2, scale  4, DiscreteLaplace: RMS 18.28
	// 1024 leaves, height  2, scale  4, KNorm: RMS 18.18
	// 1000 leaves, height  3, scale  6, KNorm: RMS 17.78
}

// Where 500 people live, at level 100 per unit of total variation: 0.2 for one who moves.
func ExampleWalk_AddShares() {
	t, err := walk.Levels(4)
	if err != nil {
		log.Fatal(err)
	}
	unit, err := t.EqualScales(walk.ReplaceOne)
	if err != nil {
		log.Fatal(err)
	}
	scales, err := unit.At(100) // per unit of total variation
	if err != nil {
		log.Fatal(err)
	}
	w, err := walk.New(t, walk.KNorm, scales)
	if err != nil {
		log.Fatal(err)
	}
	shares := make([]float64, t.Nodes())
	people := []float64{250, 120, 80, 50}
	if err := w.AddShares(rand.New(rand.NewPCG(4, 2)), shares, people); err != nil { // nil in production
		log.Fatal(err)
	}
	err = t.Center(shares)
	fmt.Printf("%.3f %v\n", shares[1:], err)
	// Output:
	// [0.477 0.264 0.163 0.096] <nil>
}
