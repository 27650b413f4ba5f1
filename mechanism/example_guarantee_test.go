package mechanism_test

import (
	"fmt"

	"github.com/metricdp/metricdp/mechanism"
)

// Two mechanisms that were proved private elsewhere, run on the same place.
func ExampleNewGuarantee() {
	first := must(mechanism.NewGuarantee(0.5, 0, "km"))
	second := must(mechanism.NewGuarantee(0.25, 1e-6, "km"))
	both, err := first.Plus(second)
	fmt.Println(both, err)
	eps, delta := both.At(2) // between places 2 km apart
	fmt.Printf("%.4g %.0e\n", eps, delta)
	// Output:
	// (0.75 per km, 1e-06)-private <nil>
	// 1.5 1e-06
}
