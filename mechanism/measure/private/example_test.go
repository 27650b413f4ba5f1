package private_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
)

func Example() {
	pts, err := metric.NewPoints([][]float64{{0, 0}, {0, 1}, {1, 0}, {5, 5}}, metric.Euclidean{})
	check(err)
	d, err := domain.NewFinite(context.Background(), pts, nil)
	check(err)
	m, err := private.New(d, 50, nil)
	check(err)
	fmt.Println(m.Guarantee())
	mu, err := d.Weights([]int{0, 1, 3}, []float64{0.5, 0.25, 0.25})
	check(err)
	nu, err := m.Release(seeded(), mu)
	for c, w := range nu {
		fmt.Printf("%v: %.3f, now %.3f\n", pts.At(d.Point(c)), mu[c], w)
	}
	fmt.Println(err)
	// Output:
	// 50-private per TV
	// [0 0]: 0.500, now 0.485
	// [0 1]: 0.250, now 0.206
	// [1 0]: 0.000, now 0.093
	// [5 5]: 0.250, now 0.216
	// <nil>
}

// seeded makes examples repeatable. Releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func ExampleNew() {
	d, err := domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{4, 4}, {4, 4}, {4, 4}}})
	check(err)
	m, err := private.New(d, 10_000, nil) // 10,000 records at eps 1
	check(err)
	b, err := m.Bound() // before any data are read
	check(err)
	least, err := m.LowerBound(context.Background())
	fmt.Printf("at most %.4f and half a cell %.4f; nothing does better than %.5f, %v\n", b.Weighted, b.Resolution, least, err)
	// Output:
	// at most 0.1125 and half a cell 0.0078; nothing does better than 0.00078, <nil>
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
