package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

// study is the input and what was asked of it.
type study struct {
	file       string
	places     [][]metric.LatLon // of every user; nil for items that are no places
	items      [][]int           // of every user: numbers of regions
	regions    []string
	points     *metric.Points[metric.LatLon] // the regions, if they are places
	space      metric.Finite                 // the distances between regions
	near, wide float64                       // the least and the largest of them
	indicators query.Query[int]              // its mean is the shares of the regions
	weighted   query.Query[int]              // its mean is the shares times weight
	weight     []float64
	model      emd.Model // of the first m items of those who have as many
	first      [][]int
	longest    int // most items of a user
	m          int
	alpha, eps float64
	seed       uint64
	move       float64    // the d_EM to hide
	rows       []emd.Move // moves of that d_EM
}

const (
	km = metric.Unit("km")
	// No two places on Earth are farther apart.
	halfway = math.Pi * metric.EarthRadiusKm
	// The linear algebra of the estimates is cubic in the number of regions.
	maxRegions = 1000
	// maxHeader is how far the columns are looked for.
	maxHeader = 4096
)

// read fills in the users, their items and the metric.
func (s *study) read(ctx context.Context, p *demo.Program, n int, regions string) error {
	f, name, err := p.Input("cities.csv", cities)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = filepath.Base(name)
	in := bufio.NewReaderSize(f, maxHeader)
	peek, _ := in.Peek(maxHeader) // the error of a short file is csvfile.Read's to find
	header, _, _ := strings.Cut(string(peek), "\n")
	has := map[string]bool{}
	for _, column := range strings.Split(header, ",") {
		has[strings.ToLower(strings.Trim(column, " \t\r\"\ufeff"))] = true
	}
	geo := slices.ContainsFunc([]string{"lat", "latitude", "lon", "lng", "long", "longitude"}, func(name string) bool { return has[name] })
	switch {
	case !geo && !has["item"] && len(peek) > 0:
		return &csvfile.Error{File: name, Line: 1, Reason: "no columns \"lat\" and \"lon\", and no \"item\""}
	case !geo && regions != "":
		return fmt.Errorf("-regions is for places, and %s has items", name)
	case geo:
		err = s.readPlaces(ctx, name, in, n, regions)
	default:
		err = s.readItems(ctx, name, in, n)
	}
	if err != nil {
		return err
	}
	return s.cut(name)
}

// readPlaces takes places to the nearest of the public regions.
func (s *study) readPlaces(ctx context.Context, name string, in io.Reader, n int, regions string) error {
	if err := s.readRegions(ctx, regions); err != nil {
		return err
	}
	at := metric.NewLocator(s.points)
	users := map[string]int{}
	columns := csvfile.Columns{Required: []string{"user"}, Place: true}
	return csvfile.Read(name, in, columns, func(r *csvfile.Row) {
		u := s.user(r, users, n, "lat")
		x := r.LatLon()
		if u < 0 {
			return
		}
		if u == len(s.places) {
			s.places = append(s.places, nil)
		}
		region, _ := at.Nearest(x)
		s.places[u], s.items[u] = append(s.places[u], x), append(s.items[u], region)
	})
}

// readRegions fills in the regions and their metric.
func (s *study) readRegions(ctx context.Context, file string) (err error) {
	f, name, err := demo.Open(file, "regions.csv", world)
	if err != nil {
		return err
	}
	defer f.Close()
	var at []metric.LatLon
	columns := csvfile.Columns{Required: []string{"name"}, Place: true}
	err = csvfile.Read(name, f, columns, func(r *csvfile.Row) {
		s.regions = append(s.regions, r.Text("name"))
		at = append(at, r.LatLon())
	})
	if err != nil {
		return err
	}
	if len(at) < 2 || len(at) > maxRegions {
		return fmt.Errorf("%s: %d regions, want 2 to %d", name, len(at), maxRegions)
	}
	if s.points, err = metric.NewPoints(at, metric.GreatCircle{}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s.space, err = metric.Densify(ctx, s.points); err != nil {
		return err
	}
	near, i, j, err := metric.NewIndex(s.space).MinDistance(ctx)
	if err != nil {
		return err
	}
	if near == 0 {
		return fmt.Errorf("%s: %s and %s are at one place", name, s.regions[i], s.regions[j])
	}
	s.near = near
	if s.wide, _, _, err = metric.Diameter(ctx, s.space); err != nil {
		return err
	}
	return s.indicate(ctx)
}

// indicate makes the queries for shares.
func (s *study) indicate(ctx context.Context) (err error) {
	s.weighted, s.weight, err = query.Shares(ctx, s.space)
	s.indicators = s.weighted
	s.indicators.Lipschitz = math.Nextafter(2/s.near, math.Inf(1))
	s.indicators.Func = func(x int, dst []float64) {
		clear(dst)
		dst[x] = 1
	}
	return err
}

// readItems takes every item that occurs for a region of its own, at distance 1
// from all others.
func (s *study) readItems(ctx context.Context, name string, in io.Reader, n int) error {
	users, items := map[string]int{}, map[string]int{}
	columns := csvfile.Columns{Required: []string{"user", "item"}}
	err := csvfile.Read(name, in, columns, func(r *csvfile.Row) {
		u := s.user(r, users, n, "item")
		if u < 0 {
			return
		}
		item := r.Text("item")
		if _, ok := items[item]; !ok {
			if len(items) == maxRegions {
				r.Fail("item", fmt.Sprintf("more than %d different items", maxRegions))
				return
			}
			items[item] = len(items)
			s.regions = append(s.regions, item)
		}
		s.items[u] = append(s.items[u], items[item])
	})
	if err != nil {
		return err
	}
	if len(items) < 2 {
		return fmt.Errorf("%s: all items are the same, want two different ones at least", name)
	}
	if s.space, err = metric.NewClustered(len(items), 1, 1); err != nil {
		return err
	}
	s.near, s.wide = 1, 1
	return s.indicate(ctx)
}

// user returns the number of the row's user, or -1 for one after the first n. A
// row without an item says that a user has none.
func (s *study) user(r *csvfile.Row, users map[string]int, n int, what string) int {
	name := r.Text("user")
	if name == "" {
		r.Fail("user", "no user")
		return -1
	}
	if r.Text(what) == "" {
		r.Fail(what, "a user needs an item")
		return -1
	}
	u, ok := users[name]
	if !ok {
		u = len(users)
		users[name] = u
		if n == 0 || u < n {
			s.items = append(s.items, nil)
		}
	}
	if n > 0 && u >= n {
		return -1
	}
	return u
}

// Moves that are hidden where -move is 0.
const (
	defaultKm    = 200
	defaultShare = 0.1
)

// cut takes the first m items of all users who have as many.
func (s *study) cut(name string) error {
	for _, items := range s.items {
		if len(items) >= s.m {
			s.first = append(s.first, items[:s.m])
		}
		s.longest = max(s.longest, len(items))
	}
	if len(s.first) == 0 {
		return fmt.Errorf("%s: no user has %d items: use a smaller -m", name, s.m)
	}
	switch {
	case s.move > s.wide:
		return fmt.Errorf("-move %v: want at most %.4g, the largest distance", s.move, s.wide)
	case s.move > 0:
	case s.places == nil:
		s.move = defaultShare
	default:
		s.move = min(defaultKm, s.wide/10)
	}
	s.model = emd.Model{Trust: emd.Central, Users: len(s.first), Items: s.m, Diameter: s.wide, Unit: s.unit()}
	return nil
}

func (s *study) unit() metric.Unit {
	if s.places != nil {
		return km
	}
	return ""
}

// total is the number of items of all users.
func (s *study) total() (n int) {
	for _, items := range s.items {
		n += len(items)
	}
	return n
}

// Of many items fewer releases are made: a row reads about maxRead items.
const (
	maxRead = 10_000_000
	fewest  = 10
)

// runs is how many releases are made where most are wanted.
func (s *study) runs(most int) int { return min(most, max(fewest, maxRead/s.total())) }
