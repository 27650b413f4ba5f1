package emd_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/exponential"
)

// stars are ratings, one to five, a quarter apart.
type stars struct{}

func (stars) Len() int                  { return 5 }
func (stars) Distance(i, j int) float64 { return math.Abs(float64(i-j)) / 4 }

// ratings is the data of users users of items ratings each.
func ratings(users, items int) emd.Users[int] {
	return func(yield func([]int) bool) {
		list := make([]int, items)
		for u := range users {
			for i := range list {
				list[i] = 2 + (u+i)%3
			}
			if !yield(list) {
				return
			}
		}
	}
}

// Which level may each of 20 ratings of 10,000 users have, so that a user is
// (5, 1e-9)-private? Ask, build a channel of that level, release.
func ExampleItemWiseBudget() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Shuffled, Users: 10_000, Items: 20, Diameter: 1}
	budget, err := emd.ItemWiseBudget(ctx, model, emd.Promise{Alpha: 5, Delta: 1e-9}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("alpha0 = %.4f by the %v; without shuffling %.2f\n", budget.Value, budget.Theorem, 5./20)

	channel, err := exponential.Standard(ctx, stars{}, budget.Value, nil)
	if err != nil {
		log.Fatal(err)
	}
	release, err := emd.NewItemWise(ctx, channel.Channel, model, &emd.ItemWiseOptions{Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	counts, err := release.Release(rand.New(rand.NewChaCha8([32]byte{1})), ratings(10_000, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts)
	g := release.Guarantee()
	fmt.Println(g.Alpha() <= 5, g.Delta())
	// Output:
	// alpha0 = 3.5573 by the joint bound; without shuffling 0.25
	// [19161 30343 47075 53630 49791]
	// true 1e-09
}

// A user shuffles its own items: the list tells how often each came out.
func ExampleNewItemWise() {
	ctx := context.Background()
	channel, err := exponential.Standard(ctx, stars{}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	release, err := emd.NewItemWise(ctx, channel.Channel, emd.Model{Trust: emd.Local, Items: 8}, &emd.ItemWiseOptions{Space: stars{}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(release.Guarantee())
	r := rand.New(rand.NewChaCha8([32]byte{1})) // nil for private data
	list, err := release.ReleaseShuffled(r, emd.One([]int{4, 4, 4, 4, 4, 3, 4, 4}))
	fmt.Println(list, err)
	// Output:
	// 11.8371-private per unit under d_EM (local, one user of 8 items, diameter 1)
	// [4 3 3 4 3 4 3 4] <nil>
}

// Users with any number of ratings: 64 of each are drawn. The plan says how
// much of delta the drawing may use, and for which level the item-wise release
// of 64 is to be built.
func ExamplePlanReduction() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Shuffled, Users: 100_000, Diameter: 1}
	target := emd.DP{Eps: 1, Delta: 1e-6}
	item := func(p emd.ReducePlan) float64 {
		b, err := emd.ItemWiseBudget(ctx, p.Model, p.Promise, nil)
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
	inner, err := emd.NewItemWise(ctx, channel.Channel, plan.Model, &emd.ItemWiseOptions{Delta: plan.Delta})
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
	// users at 0.05 are at most 0.224 apart after drawing
	// level 4.467, delta 5.8e-07, and so 4.521 an item
	// true true
}

// The promise of a sampled mechanism: 400 items drawn from every user.
func ExampleNewReduced() {
	ctx := context.Background()
	channel, err := exponential.Standard(ctx, stars{}, .05, nil)
	if err != nil {
		log.Fatal(err)
	}
	model := emd.Model{Trust: emd.Shuffled, Users: 1000, Items: 400, Diameter: 1}
	inner, err := emd.NewItemWise(ctx, channel.Channel, model, nil)
	if err != nil {
		log.Fatal(err)
	}
	release, err := emd.NewReduced(inner, emd.Sampling{Radius: .01, Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(release.Guarantee())

	users := func(yield func([]int) bool) {
		for u := 0; u < 1000 && yield([]int{0, 1, 2, 3, 4}[:1+u%5]); u++ {
		}
	}
	counts, err := release.Release(nil, users)
	if err != nil {
		log.Fatal(err)
	}
	total := int64(0)
	for _, c := range counts {
		total += c
	}
	fmt.Println(total, "outputs")
	// Output:
	// (0.809398, 1e-09)-private between users up to d_EM 0.01 (shuffled, 1000 users of any number of items, diameter 1)
	// 400000 outputs
}

// Section 3 of IRC24: moving a thirtieth of a user's items by 0.08, or all of
// them by 0.008, is to cost 0.2 at most.
func ExampleChooseAlpha() {
	alpha, err := emd.ChooseAlpha([]emd.Move{
		{Distance: .08, Fraction: 1. / 30, Eps: .2},
		{Distance: .008, Fraction: 1, Eps: .2},
	})
	fmt.Printf("%.6g %v\n", alpha, err)
	// Output: 25 <nil>
}

// What a level per km of d_EM means to a user whose places change.
func ExampleGuarantee_Protects() {
	level, err := mechanism.NewGuarantee(25, 1e-9, "km")
	if err != nil {
		log.Fatal(err)
	}
	g, err := emd.NewGuarantee(emd.Model{Trust: emd.Central, Users: 100, Unit: "km", Diameter: 1}, level)
	if err != nil {
		log.Fatal(err)
	}
	promises, err := g.Protects([]emd.Move{
		{Distance: .08, Fraction: 1. / 3},
		{Distance: .008, Fraction: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range promises {
		fmt.Println(p)
	}
	// Output:
	// moving a third of a user's items by 0.08 km on average makes no result more than 1.95 times as likely, up to a probability of 1e-09
	// moving all of a user's items by 0.008 km on average makes no result more than 1.23 times as likely, up to a probability of 1e-09
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
	back, err := g.ToItems(0)
	fmt.Println(back, err)
	// Output:
	// 5-private per unit under d_EM (local, one user of 10 items, diameter 1)
	// 0.5-private per unit <nil>
}
