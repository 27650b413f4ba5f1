package walk_test

import (
	"fmt"
	"log"
	"math"
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

// must and check keep the other examples short: a program handles its errors.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleBalanced() {
	t := must(walk.Balanced(5, 2))
	for v := range t.Nodes() {
		lo, hi := t.LeafRange(v)
		fmt.Printf("[%d, %d) ", lo, hi)
	}
	fmt.Println("sensitivities:", t.Sensitivity(walk.ReplaceOne), t.Sensitivity(walk.AddRemoveOne))
	// Output: [0, 5) [0, 3) [3, 5) [0, 2) [2, 3) [3, 4) [4, 5) [0, 1) [1, 2) sensitivities: 5 4
}

// A taxonomy is a tree as it is.
func ExampleNewTree() {
	items := []string{"bread", "food", "goods", "milk", "saw", "tools"}
	parent := []int{1, 2, -1, 1, 5, 2}
	t, order, err := walk.NewTree(parent)
	if err != nil {
		log.Fatal(err)
	}
	for i := range t.Len() {
		fmt.Println("leaf", i, "is", items[order[t.LeafNode(i)]])
	}
	// Where both move, from bread to saw: goods and food divide anew; a saw is
	// all that tools has, so nothing more.
	fmt.Println("sensitivity:", t.Sensitivity(walk.ReplaceOne))
	// Output:
	// leaf 0 is bread
	// leaf 1 is milk
	// leaf 2 is saw
	// sensitivity: 3
}

// On the cells of a square, quartered level by level: scales prop. to the root of a node's side.
func ExampleTree_Normalize() {
	t := must(walk.Levels(4, 4, 4))
	s := must(t.Normalize(walk.ReplaceOne, walk.Scales{Level: []float64{1, math.Sqrt(1. / 2), 1. / 2}}))
	loss := must(t.Loss(walk.ReplaceOne, s))
	fmt.Printf("%.2f, loss %.3f\n", s.Level, loss)
	s = must(s.At(0.5)) // for level 0.5
	fmt.Printf("%.2f\n", s.Level)
	// Output:
	// [8.83 6.24 4.41], loss 1.000
	// [17.66 12.49 8.83]
}

// Fifty-two weeks of seven days, with the scales of noise that make it private
// at level 1 to move a record to another day.
func ExampleLevels() {
	t := must(walk.Levels(52, 7))
	fmt.Println(t.Len(), "leaves,", t.Nodes(), "nodes, height", t.Height())
	s := must(t.EqualScales(walk.ReplaceOne))
	fmt.Println(s.Level)
	// Output:
	// 364 leaves, 417 nodes, height 2
	// [4 4]
}

// Whole numbers, for counts: one draw for each child of a node.
func ExampleNewNoise() {
	noise := must(walk.NewNoise(walk.DiscreteLaplace, 4))
	counts := []int64{120, 80, 40}
	noise.Add(rand.New(rand.NewPCG(1, 2)), counts) // nil outside of examples
	fmt.Println(counts)
	// Output:
	// [119 92 43]
}

func ExampleSuperregular() {
	w := must(walk.Superregular(1 << 12))
	fmt.Printf("regular: %v\n", must(w.Tree().Loss(walk.AddRemoveOne, w.Scales()))) // per unit of l1
	fmt.Printf("its partial sums: %.1f\n", must(w.RMS(nil)))
	fmt.Printf("those of independent Laplace noise: %.1f\n", math.Sqrt(2*(1<<12+1)/2.))
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
		t := must(walk.Levels(c.arities...))
		scales := must(t.EqualScales(walk.ReplaceOne))
		w := must(walk.New(t, c.dist, scales))
		rms := must(w.RMS(nil))
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
	t := must(walk.Levels(4))
	unit := must(t.EqualScales(walk.ReplaceOne))
	scales := must(unit.At(100)) // per unit of total variation
	w := must(walk.New(t, walk.KNorm, scales))
	shares := make([]float64, t.Nodes())
	people := []float64{250, 120, 80, 50}
	check(w.AddShares(rand.New(rand.NewPCG(4, 2)), shares, people)) // nil in production
	check(t.Center(shares))
	fmt.Printf("%.3f\n", shares[1:])
	// Output:
	// [0.477 0.264 0.163 0.096]
}
