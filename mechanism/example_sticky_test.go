package mechanism_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// towns is a mechanism on the names of three towns.
func towns() mechanism.Mechanism[string, string] {
	places := []metric.LatLon{{Lat: 48.21, Lon: 16.37}, {Lat: 48.14, Lon: 17.11}, {Lat: 47.50, Lon: 19.04}}
	pts := must(metric.NewPoints(places, metric.GreatCircle{}))
	m := must(exponential.Tuned(context.Background(), pts, 0.01, nil))
	names := []string{"Vienna", "Bratislava", "Budapest"}
	byName := must(mechanism.Labels(m, names, names))
	return byName
}

// Whoever moves about a town asks often, at a small level each time: by the sum of levels the
// limit is reached after 49 new places.
func ExampleBudget_byLoss() {
	limit := must(must(mechanism.NewGuarantee(2.5, 1e-6, "km")).Within(2))
	each := must(mechanism.NewGuarantee(0.05, 0, "km"))
	for _, byLoss := range []bool{false, true} {
		budget := must(mechanism.NewBudget(limit, &mechanism.BudgetOptions{ByLoss: byLoss}))
		n := 0
		for budget.Spend(each) == nil {
			n++
		}
		fmt.Println(n, "releases;", must(budget.Left()))
	}
	// Output:
	// 49 releases; level 0.04999999999999982 per km up to 2 km and delta 1e-06 left, by which odds change by at most 1.11 at 2 km
	// 79 releases; level 0.027899578117010278 per km up to 2 km and delta 5e-07 left, by which odds change by at most 1.06 at 2 km
}

// Where somebody is, asked every hour: a town by name, drawn once for each town that
// it is true of.
func ExampleNewSticky() {
	sticky := must(mechanism.NewSticky(towns(), nil))
	rng := seeded() // in earnest nil
	for _, town := range []string{"Vienna", "Vienna", "Vienna", "Budapest", "Budapest", "Vienna"} {
		answer := must(sticky.Release(rng, town))
		fmt.Println(town, "->", answer)
	}
	fmt.Println(sticky.Guarantee().Times(2), "where both towns are other ones, as far away")
	// Output:
	// Vienna -> Vienna
	// Vienna -> Vienna
	// Vienna -> Vienna
	// Budapest -> Bratislava
	// Budapest -> Bratislava
	// Vienna -> Vienna
	// 0.02-private per km where both towns are other ones, as far away
}

// Answers and what they cost survive the process, and others on the machine share them. There are
// two new towns a day.
func ExampleOpenFileStore() {
	dir := must(os.MkdirTemp("", "sticky"))
	defer os.RemoveAll(dir)
	m, rng := towns(), seeded()
	for _, day := range []string{"2026-11-26", "2026-11-26", "2026-11-27"} { // lives of the process, or processes
		store := must(mechanism.OpenFileStore(dir))
		budget := must(mechanism.NewBudget(m.Guarantee().Times(2), &mechanism.BudgetOptions{Store: store, Name: "ann " + day}))
		sticky := must(mechanism.NewSticky(m, &mechanism.StickyOptions[string]{Store: store, Name: "ann", Budget: budget}))
		for _, town := range []string{"Vienna", "Budapest", "Bratislava"} {
			answer, err := sticky.Release(rng, town)
			if errors.Is(err, mechanism.ErrBudget) {
				answer = "no answer"
			} else if err != nil {
				log.Fatal(err)
			}
			fmt.Println(town, "->", answer)
		}
		fmt.Println(budget.Spent())
	}
	// Output:
	// Vienna -> Vienna
	// Budapest -> Bratislava
	// Bratislava -> no answer
	// 0.02-private per km <nil>
	// Vienna -> Vienna
	// Budapest -> Bratislava
	// Bratislava -> no answer
	// 0.02-private per km <nil>
	// Vienna -> Vienna
	// Budapest -> Bratislava
	// Bratislava -> Vienna
	// 0.01-private per km <nil>
}

// A route by names of towns, without its first and last.
func ExampleNewTrack() {
	sticky := must(mechanism.NewSticky(towns(), nil))
	track := must(mechanism.NewTrack(sticky, &mechanism.TrackOptions{Ends: 1}))
	route := []string{"Vienna", "Bratislava", "Budapest", "Bratislava", "Vienna"}
	fmt.Println(track.Release(seeded(), route))
	fmt.Println(track.Level(route))
	// Output:
	// [Vienna Bratislava Vienna] <nil>
	// 0.02-private per km <nil>
}

// A day of towns by its hours, of which four are released: each anew, so that nothing shows
// which are equal.
func ExampleTrackOptions() {
	route := strings.Fields("Vienna Vienna Vienna Vienna Vienna Vienna Vienna Bratislava Bratislava Budapest Budapest Budapest " +
		"Budapest Budapest Budapest Bratislava Vienna Vienna Vienna Vienna Vienna Vienna Vienna Vienna")
	track := must(mechanism.NewTrack(towns(), &mechanism.TrackOptions{Every: 6}))
	released := must(track.Release(seeded(), route))
	for _, hour := range []int{3, 9, 15, 21} {
		fmt.Println(hour, released[hour])
	}
	fmt.Println(track.Level(route))
	// Output:
	// 3 Vienna
	// 9 Bratislava
	// 15 Vienna
	// 21 Bratislava
	// 0.04-private per km <nil>
}

// Three questions about one place, until the budget is spent.
func ExampleNewBudget() {
	limit := must(mechanism.NewGuarantee(0.625, 0, "km"))
	budget := must(mechanism.NewBudget(limit, nil))
	noise := must(additive.NewSphere(0.25, nil))
	for range 3 {
		if err := budget.Spend(noise.Guarantee()); err != nil { // before the release
			fmt.Println(err)
			continue
		}
		if _, err := noise.Release(nil, metric.LatLon{Lat: 48.21, Lon: 16.37}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(budget.Spent())
	}
	left := must(budget.Left())
	fmt.Println(left)
	fmt.Println(budget.Spend(left.Guarantee))
	fmt.Println(budget.Left())
	// Output:
	// 0.25-private per km <nil>
	// 0.5-private per km <nil>
	// mechanism: Budget.Spend: the budget is spent: level 0.25 per km asked, level 0.125 per km left, by which odds change by at most 1.14 at 1 km
	// level 0.125 per km left, by which odds change by at most 1.14 at 1 km
	// <nil>
	// nothing left <nil>
}
