package walk_test

import (
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/walk"
)

func ExampleBalanced() {
	t, err := walk.Balanced(5, 2)
	if err != nil {
		log.Fatal(err)
	}
	for v := range t.Nodes() {
		lo, hi := t.LeafRange(v)
		fmt.Printf("depth %d: leaves [%d, %d)\n", t.Depth(v), lo, hi)
	}
	fmt.Println("sensitivities:", t.Sensitivity(walk.ReplaceOne), t.Sensitivity(walk.AddRemoveOne))
	// Output:
	// depth 0: leaves [0, 5)
	// depth 1: leaves [0, 3)
	// depth 1: leaves [3, 5)
	// depth 2: leaves [0, 2)
	// depth 2: leaves [2, 3)
	// depth 2: leaves [3, 4)
	// depth 2: leaves [4, 5)
	// depth 3: leaves [0, 1)
	// depth 3: leaves [1, 2)
	// sensitivities: 5 4
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

// On the cells of a square, quartered level by level: scales prop. to the root of
// a node's side.
func ExampleTree_Normalize() {
	t, err := walk.Levels(4, 4, 4)
	if err != nil {
		log.Fatal(err)
	}
	s, err := t.Normalize(walk.ReplaceOne, walk.Scales{Level: []float64{1, math.Sqrt(1. / 2), 1. / 2}})
	if err != nil {
		log.Fatal(err)
	}
	loss, err := t.Loss(walk.ReplaceOne, s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, loss %.3f\n", s.Level, loss)
	s, err = s.At(0.5) // for level 0.5
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", s.Level)
	// Output:
	// [8.83 6.24 4.41], loss 1.000
	// [17.66 12.49 8.83]
}
