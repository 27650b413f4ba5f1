package emd_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
)

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

// What was promised goes with what was released.
func ExampleGuarantee_MarshalJSON() {
	model := emd.Model{Trust: emd.Central, Users: 100, Diameter: 20, Unit: "km"}
	g, err := emd.NewDiscrete(model, 1, emd.DP{Eps: 0.5, Delta: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	var read emd.Guarantee
	if err := json.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read == g)
	// Output:
	// {"trust":"central","users":100,"diameter":20,"unit":"km","radius":1,"eps":0.5,"delta":1e-9}
	// true
}
