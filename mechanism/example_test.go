package mechanism_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// An answer on a scale of five, given truly with weight 8 and, for every step away,
// with half of that: made by hand, proved, measured, kept in a file and used.
func Example() {
	ctx := context.Background()
	scale, err := metric.NewPoints([]int{1, 2, 3, 4, 5}, metric.Func[int](func(x, y int) float64 { return float64(max(x-y, y-x)) }))
	if err != nil {
		log.Fatal(err)
	}
	channel, err := mechanism.NewChannel(ctx, mechanism.Rows{Inputs: 5, Outputs: 5, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = 8 / float64(int(1)<<max(x-y, y-x))
		}
	}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	channel, _, err = channel.Certify(ctx, scale, "step", nil)
	if err != nil {
		log.Fatal(err)
	}
	losses, err := channel.Loss(ctx, scale)
	if err != nil {
		log.Fatal(err)
	}
	loss, at := losses.Worst()
	fmt.Printf("%v; answers to %d are off by %.2f on average\n", channel.Guarantee(), scale.At(at), loss)

	var file bytes.Buffer
	if err := channel.WriteJSON(&file); err != nil {
		log.Fatal(err)
	}
	again, err := mechanism.ReadChannel(ctx, &file, scale, nil) // audits it
	if err != nil {
		log.Fatal(err)
	}
	ask := mechanism.On(again, scale)
	fmt.Println(ask.Release(seeded(), 4)) // in earnest with nil in place of a seed
	// Output:
	// 0.896747-private per step; answers to 1 are off by 0.84 on average
	// 2 <nil>
}
