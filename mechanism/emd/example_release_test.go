package emd_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
)

// stars are ratings, one to five, a quarter apart.
type stars struct{}

func (stars) Len() int                  { return 5 }
func (stars) Distance(i, j int) float64 { return math.Abs(float64(i-j)) / 4 }

// Users with any number of ratings: 64 of each are drawn. The plan says how
// much of delta the drawing may use, and for which level the item-wise release
// of 64 is to be built.
func ExampleNewReduced() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Shuffled, Users: 1000, Diameter: 1}
	target := emd.DP{Eps: 1, Delta: 1e-6}
	item := func(p emd.ReducePlan) float64 {
		b, err := frequency.ItemWiseBudget(ctx, p.Model, p.Promise, nil)
		if err != nil {
			return math.Inf(-1)
		}
		return b.Value
	}
	plan, err := emd.PlanReduction(ctx, model, .05, target, &emd.PlanOptions{Samples: []int{64}, Value: item})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("users at %.2f are at most %.3f apart after drawing\n", .05, plan.SampleDistance)
	fmt.Printf("level %.3f, delta %.1e, and so %.3f an item\n", plan.Alpha, plan.Delta, plan.Value)

	channel, err := exponential.Standard(ctx, stars{}, plan.Value, nil)
	if err != nil {
		log.Fatal(err)
	}
	inner, err := frequency.NewItemWise(ctx, channel.Channel, plan.Model, &frequency.ItemWiseOptions{Delta: plan.Delta})
	if err != nil {
		log.Fatal(err)
	}
	release, err := emd.NewReduced(inner, plan.Sampling)
	if err != nil {
		log.Fatal(err)
	}
	p := release.Guarantee().At(.05)
	fmt.Println(p.Eps <= target.Eps, p.Delta <= target.Delta)
	// Output:
	// users at 0.05 are at most 0.223 apart after drawing
	// level 4.480, delta 5.4e-07, and so 1.710 an item
	// true true
}

// What ordinary user-level privacy is worth under d_EM: the level pays for the
// smallest difference there can be.
func ExampleModel_FromUserLevel() {
	model := emd.Model{Trust: emd.Central, Users: 100, Items: 10, Diameter: 1}
	g, err := model.FromUserLevel(emd.DP{Eps: .5}, .25)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	fmt.Println("back at user level:", g.UserLevel().Eps)
	// Output:
	// 20-private per unit under d_EM (central, 100 users of 10 items, diameter 1)
	// back at user level: 20
}

// A channel that is 0.5-private an item: ten items of a user are 5-private.
func ExampleModel_FromItems() {
	item, err := mechanism.NewGuarantee(.5, 0, "")
	if err != nil {
		log.Fatal(err)
	}
	g, err := emd.Model{Trust: emd.Local, Items: 10, Diameter: 1}.FromItems(item)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	// Output:
	// 5-private per unit under d_EM (local, one user of 10 items, diameter 1)
}

// A mechanism that a curator runs on the places of a hundred users, and whose
// level was proved elsewhere.
func ExampleNewGuarantee() {
	model := emd.Model{Trust: emd.Central, Users: 100, Diameter: 20, Unit: "km"}
	level, err := mechanism.NewGuarantee(0.1, 0, "km")
	if err != nil {
		log.Fatal(err)
	}
	g, err := emd.NewGuarantee(model, level)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	fmt.Printf("a fifth of the places moved by 3 km: eps = %.2f\n", g.At(0.2*3).Eps)
	fmt.Printf("all of them, to anywhere: eps = %.2f\n", g.UserLevel().Eps)
	// Output:
	// 0.1-private per km under d_EM (central, 100 users of any number of items, diameter 20 km)
	// a fifth of the places moved by 3 km: eps = 0.06
	// all of them, to anywhere: eps = 2.00
}

// One pair for users up to 1 km apart, and steps of that length beyond.
func ExampleNewDiscrete() {
	model := emd.Model{Trust: emd.Local, Diameter: 20, Unit: "km"}
	g, err := emd.NewDiscrete(model, 1, emd.DP{Eps: 0.5, Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	for _, d := range []float64{0.3, 1, 2.5} {
		p := g.At(d)
		fmt.Printf("%.1f km: (%.2f, %.1e)\n", d, p.Eps, p.Delta)
	}
	// Output:
	// (0.5, 1e-09)-private between users up to d_EM 1 km (local, one user of any number of items, diameter 20 km)
	// 0.3 km: (0.50, 1.0e-09)
	// 1.0 km: (0.50, 1.0e-09)
	// 2.5 km: (1.50, 5.4e-09)
}
