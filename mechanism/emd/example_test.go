package emd_test

import (
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
)

// Section 3 of IRC24: moving a thirtieth of a user's items by 0.08 km, or all of them by
// 0.008, is to cost 0.2 at most. What that level means to a user whose places change more:
func Example() {
	alpha, err := emd.ChooseAlpha([]emd.Move{
		{Distance: .08, Fraction: 1. / 30, Eps: .2},
		{Distance: .008, Fraction: 1, Eps: .2},
	})
	if err != nil {
		log.Fatal(err)
	}
	level, err := mechanism.NewGuarantee(alpha, 1e-9, "km")
	if err != nil {
		log.Fatal(err)
	}
	g, err := emd.NewGuarantee(emd.Model{Trust: emd.Central, Users: 100, Unit: "km", Diameter: 1}, level)
	if err != nil {
		log.Fatal(err)
	}
	promises, err := g.Protects([]emd.Move{{Distance: .08, Fraction: 1. / 3}, {Distance: .008, Fraction: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	for _, p := range promises {
		fmt.Println(p)
	}
	// Output:
	// (25 per km, 1e-09)-private under d_EM (central, 100 users of any number of items, diameter 1 km)
	// moving a third of a user's items by 0.08 km on average makes no result more than 1.95 times as likely, up to a probability of 1e-09
	// moving all of a user's items by 0.008 km on average makes no result more than 1.23 times as likely, up to a probability of 1e-09
}
