package walk_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/walk"
)

// Fifty-two weeks of seven days, with the scales of noise that make it private
// at level 1 to move a record to another day.
func ExampleLevels() {
	t, err := walk.Levels(52, 7)
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Len(), "leaves,", t.Nodes(), "nodes, height", t.Height())
	s, err := t.EqualScales(walk.ReplaceOne)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Level)
	// Output:
	// 364 leaves, 417 nodes, height 2
	// [4 4]
}

// Whole numbers, for counts: one draw for each child of a node.
func ExampleNewNoise() {
	noise, err := walk.NewNoise(walk.DiscreteLaplace, 4)
	if err != nil {
		panic(err)
	}
	counts := []int64{120, 80, 40}
	noise.Add(rand.New(rand.NewPCG(1, 2)), counts) // nil outside of examples
	fmt.Println(counts)
	fmt.Printf("%v of scale %v\n", noise.Distribution(), noise.Scale())
	// Output:
	// [119 92 43]
	// DiscreteLaplace of scale 4
}
