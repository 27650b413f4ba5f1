package mechanism_test

import (
	"context"
	"errors"
	"fmt"
	"os"

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

// Where somebody is, asked every hour: a town by name, drawn once for each town that it is true of.
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
			}
			fmt.Print(answer, ", ")
		}
		fmt.Println(must(budget.Spent()))
	}
	// Output:
	// Vienna, Bratislava, no answer, 0.02-private per km
	// Vienna, Bratislava, no answer, 0.02-private per km
	// Vienna, Bratislava, Vienna, 0.01-private per km
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

// Three questions about one place, until the budget is spent.
func ExampleNewBudget() {
	budget := must(mechanism.NewBudget(must(mechanism.NewGuarantee(0.625, 0, "km")), nil))
	noise := must(additive.NewSphere(0.25, nil))
	for range 3 {
		if err := budget.Spend(noise.Guarantee()); err != nil { // before the release
			fmt.Println(err)
			continue
		}
		must(noise.Release(nil, metric.LatLon{Lat: 48.21, Lon: 16.37}))
		fmt.Println(budget.Spent())
	}
	// Output:
	// 0.25-private per km <nil>
	// 0.5-private per km <nil>
	// mechanism: Budget.Spend: the budget is spent: level 0.25 per km asked, level 0.125 per km left, by which odds change by at most 1.14 at 1 km
}
