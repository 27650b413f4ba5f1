package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/metricdp/metricdp/metric"
)

const (
	demoUsers = 100_000
	demoSeed  = 1
	// maxPlaces is how many places a made-up user has at most.
	maxPlaces = 9
	// restless is how often a place is not in the user's home region.
	restless = 0.2
	// spread is how far places lie around the middle of a region, in degrees.
	spread = 1.0
)

// writeDemo writes made-up users, in no order, mostly at home in one region.
func writeDemo(w io.Writer, users int, regions []metric.LatLon) error {
	r := rand.New(rand.NewPCG(demoSeed, 0))
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "user,lat,lon") // the error comes with Flush
	k := len(regions)
	left := make([]int, users)
	home := make([]int, users)
	for u := range users {
		left[u] = 1 + r.IntN(maxPlaces)
		home[u] = min(r.IntN(k), r.IntN(k), r.IntN(k))
	}
	for rows := true; rows; {
		rows = false
		for u := range users {
			if left[u] == 0 {
				continue
			}
			left[u]--
			rows = true
			at := regions[home[u]]
			if r.Float64() < restless {
				at = regions[r.IntN(k)]
			}
			fmt.Fprintf(b, "u%d,%.4f,%.4f\n", u, max(-90, min(90, at.Lat+spread*(r.Float64()-0.5))), at.Lon+spread*(r.Float64()-0.5))
		}
	}
	return b.Flush()
}
