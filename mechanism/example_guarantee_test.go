package mechanism_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
)

// Two mechanisms that were proved private elsewhere, run on the same place.
func ExampleNewGuarantee() {
	first, err := mechanism.NewGuarantee(0.5, 0, "km")
	if err != nil {
		log.Fatal(err)
	}
	second, err := mechanism.NewGuarantee(0.25, 1e-6, "km")
	if err != nil {
		log.Fatal(err)
	}
	both, err := first.Plus(second)
	fmt.Println(both, err)
	eps, delta := both.At(2) // between places 2 km apart
	fmt.Printf("%.4g %.0e\n", eps, delta)
	// Output:
	// (0.75 per km, 1e-06)-private <nil>
	// 1.5 1e-06
}

// A guarantee travels with what was released under it.
func ExampleGuarantee_MarshalJSON() {
	g, err := mechanism.NewGuarantee(0.1, 1e-6, "km")
	if err != nil {
		log.Fatal(err)
	}
	near, err := g.Within(50)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(near)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	var again mechanism.Guarantee
	fmt.Println(json.Unmarshal(text, &again), again)
	// Output:
	// {"unit":"km","alpha":0.1,"delta":0.000001,"reach":50}
	// <nil> (0.1 per km, 1e-06)-private up to 50 km
}
