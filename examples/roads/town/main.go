// Town writes the made-up town that ships with the example, as OpenStreetMap XML:
//
//	go run ./town > town.osm
//
// It lies in the sea at latitude 0, longitude 0: an old town of rings around a
// market, suburbs of crescents and dead ends, a river with two bridges, a grid of
// blocks with a park, and an islet that no road reaches.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
)

func main() {
	w := bufio.NewWriter(os.Stdout)
	newTown().write(w)
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

// point is in meters east and north of the town's origin.
type point struct{ x, y float64 }

func (p point) to(q point) float64 { return math.Hypot(q.x-p.x, q.y-p.y) }

func (p point) polar(radius, angle float64) point {
	return point{p.x + radius*math.Cos(angle), p.y + radius*math.Sin(angle)}
}

// way joins nodes; its tags alternate between keys and values.
type way struct {
	nodes []int
	tags  []string
}

type town struct {
	random *rand.Rand
	nodes  []point
	ways   []way
}

// river is where the middle of the river is, and bank half its width.
func river(y float64) float64 { return 70 + 55*math.Sin(y/330) + 22*math.Sin(y/140+1) }

const bank = 36

func newTown() *town {
	t := &town{random: rand.New(rand.NewPCG(18, 7))}
	market := point{-520, 0}
	var ring []int
	for k, radius := range []float64{50, 110, 175, 245, 320, 400, 485} {
		kind := []string{"pedestrian", "living_street", "residential", "tertiary", "residential", "residential", "primary"}[k]
		ring = t.ring(market, radius, 0, 2*math.Pi, 52+4*float64(k), kind, ring)
	}
	crescent := ring
	for range 6 {
		radius := market.to(t.nodes[crescent[len(crescent)/2]]) + 98
		crescent = t.ring(market, radius, .37*math.Pi, 1.63*math.Pi, 86, "residential", crescent)
		t.deadEnds(market, crescent)
	}
	east := t.grid(point{680, 20}, .14, 14, 19)
	for _, y := range []float64{250, -180} {
		from, to := t.nearest(ring, point{0, y}), t.nearest(east, point{150, y})
		t.road("primary", from, to)
	}
	for _, to := range []point{{1580, 420}, {1570, -260}, {1290, -960}, {1010, 990}} { // roads out of the town
		t.road("tertiary", t.nearest(east, to), t.node(to))
	}
	t.ring(point{river(900), 900}, 11, 0, 2*math.Pi, 18, "residential", nil) // the islet
	t.water()
	return t
}

func (t *town) node(p point) int {
	t.nodes = append(t.nodes, p)
	return len(t.nodes) - 1
}

func (t *town) way(nodes []int, tags ...string) {
	if len(nodes) > 1 {
		t.ways = append(t.ways, way{nodes, tags})
	}
}

// about is a random number up to d from 0.
func (t *town) about(d float64) float64 { return d * (2*t.random.Float64() - 1) }

func (t *town) nearest(nodes []int, p point) int {
	best := nodes[0]
	for _, u := range nodes {
		if t.nodes[u].to(p) < t.nodes[best].to(p) {
			best = u
		}
	}
	return best
}

// ring lays a street along a circle or a part of one, with a crossing about every
// step meters and a gap here and there, and lanes to the ring within.
func (t *town) ring(center point, radius, from, to, step float64, kind string, within []int) []int {
	const shape = 18 // meters between the points of a bend
	m := int((to - from) * radius / step)
	type place struct{ radius, angle float64 }
	places, ring := make([]place, m), make([]int, m)
	for k := range places {
		places[k] = place{radius + t.about(9), from + (to-from)*(float64(k)+t.about(.27))/float64(m)}
		ring[k] = t.node(center.polar(places[k].radius, places[k].angle))
	}
	round := to-from >= 2*math.Pi
	street := []int{ring[0]}
	for k := range places {
		next := (k + 1) % m
		if next == 0 && !round || kind == "residential" && t.random.Float64() < .07 {
			t.way(street, "highway", kind)
			street = []int{ring[next]}
			continue
		}
		a, b := places[k], places[next]
		if next == 0 {
			b.angle += 2 * math.Pi
		}
		bends := int(t.nodes[ring[k]].to(t.nodes[ring[next]]) / shape / 2)
		for i := range bends {
			s := float64(i+1) / float64(bends+1)
			street = append(street, t.node(center.polar(a.radius+s*(b.radius-a.radius), a.angle+s*(b.angle-a.angle))))
		}
		street = append(street, ring[next])
	}
	t.way(street, "highway", kind)
	for _, u := range ring {
		if len(within) > 0 && t.random.Float64() < .72 {
			t.way([]int{t.nearest(within, t.nodes[u]), u}, "highway", "residential")
		}
	}
	return ring
}

// deadEnds lays lanes outwards from some nodes, too short to meet the next ring.
func (t *town) deadEnds(center point, nodes []int) {
	for _, u := range nodes {
		if t.random.Float64() < .22 {
			p := t.nodes[u]
			angle := math.Atan2(p.y-center.y, p.x-center.x) + t.about(.3)
			middle := p.polar(26, angle)
			t.way([]int{u, t.node(middle), t.node(middle.polar(24, angle+t.about(.8)))}, "highway", "residential")
		}
	}
}

// grid lays streets of columns and rows around a center, turned by an angle, east of
// the river, with a park and gaps.
func (t *town) grid(center point, angle float64, columns, rows int) []int {
	const width, height, none = 80.0, 74.0, -1
	at := func(i, j float64) point {
		x, y := (i-float64(columns-1)/2)*width, (j-float64(rows-1)/2)*height
		return point{center.x + x*math.Cos(angle) - y*math.Sin(angle), center.y + x*math.Sin(angle) + y*math.Cos(angle)}
	}
	crossings := make([][]int, columns)
	var all []int
	for i := range crossings {
		crossings[i] = make([]int, rows)
		for j := range crossings[i] {
			p := at(float64(i)+t.about(.05), float64(j)+t.about(.05))
			park := i >= 7 && i <= 9 && j >= 8 && j <= 10
			if park || p.x < river(p.y)+bank+30 {
				crossings[i][j] = none
				continue
			}
			crossings[i][j] = t.node(p)
			all = append(all, crossings[i][j])
		}
	}
	lay := func(kind string, count int, crossing func(k int) int) {
		var street []int
		for k := range count {
			u := crossing(k)
			if u != none {
				street = append(street, u)
			}
			if u == none || kind == "residential" && t.random.Float64() < .1 {
				t.way(street, "highway", kind)
				street = nil
				if u != none {
					street = []int{u}[:t.random.IntN(2)] // the gap may be the next block
				}
			}
		}
		t.way(street, "highway", kind)
	}
	kind := func(k int) string {
		if k%6 == 0 {
			return "secondary"
		}
		return "residential"
	}
	for i := range columns {
		lay(kind(i), rows, func(j int) int { return crossings[i][j] })
	}
	for j := range rows {
		lay(kind(j+4), columns, func(i int) int { return crossings[i][j] })
	}
	var park []int
	for _, corner := range [][2]float64{{6.2, 7.2}, {9.8, 7.2}, {9.8, 10.8}, {6.2, 10.8}} {
		park = append(park, t.node(at(corner[0], corner[1])))
	}
	t.way(append(park, park[0]), "leisure", "park")
	t.way([]int{park[0], t.node(at(8.2, 9)), park[2]}, "highway", "footway")
	return all
}

// road is a winding road between two nodes.
func (t *town) road(kind string, from, to int) {
	a, b := t.nodes[from], t.nodes[to]
	street := []int{from}
	const bends = 5
	side := t.about(.12)
	for i := range bends {
		s := float64(i+1) / (bends + 1)
		d := side * math.Sin(math.Pi*s)
		street = append(street, t.node(point{a.x + s*(b.x-a.x) - d*(b.y-a.y), a.y + s*(b.y-a.y) + d*(b.x-a.x)}))
	}
	t.way(append(street, to), "highway", kind)
}

// water outlines the river.
func (t *town) water() {
	const south, north, step = -1300, 1300, 50
	var left, right []int
	for y := south; y <= north; y += step {
		x := river(float64(y))
		left = append(left, t.node(point{x - bank, float64(y)}))
		right = append([]int{t.node(point{x + bank, float64(y)})}, right...)
	}
	t.way(append(append(left, right...), left[0]), "natural", "water")
}

// write writes the nodes, 0.1 m apart at least as numbers, and the ways.
func (t *town) write(w io.Writer) {
	const degree = 111195 // meters
	fmt.Fprintln(w, `<?xml version="1.0" encoding="UTF-8"?>`)
	fmt.Fprintln(w, `<osm version="0.6" generator="metricdp/examples/roads/town, a made-up place">`)
	for u, p := range t.nodes {
		fmt.Fprintf(w, "<node id=\"%d\" lat=\"%.6f\" lon=\"%.6f\"/>\n", u+1, p.y/degree, p.x/degree)
	}
	for k, s := range t.ways {
		fmt.Fprintf(w, "<way id=\"%d\">", k+1)
		for _, u := range s.nodes {
			fmt.Fprintf(w, "<nd ref=\"%d\"/>", u+1)
		}
		for i := 0; i < len(s.tags); i += 2 {
			fmt.Fprintf(w, "<tag k=\"%s\" v=\"%s\"/>", s.tags[i], s.tags[i+1])
		}
		fmt.Fprintln(w, "</way>")
	}
	fmt.Fprintln(w, "</osm>")
}
